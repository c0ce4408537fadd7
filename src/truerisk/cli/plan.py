"""`truerisk plan`: how many rows to train on and to test, and how tuning and testing share them."""

from __future__ import annotations

import json
from typing import Any

import click

from truerisk.cli.options import confidence_option, executor_of, worker_options
from truerisk.cli.output import say, show, shown_progress, worded_warnings
from truerisk.cli.source import Source, read_source, reading_options, search_of, source_options
from truerisk.core.errors import BadData

FEWEST_ROWS = 10  # two in each of the usual five folds

Known = tuple[int | None, float]


def _read(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> list[Known]:
    """Errors, each with its training rows where they are named: .15, 120:.15."""
    errors: list[Known] = []
    for text in texts:
        rows, colon, error = text.rpartition(":")
        try:
            errors.append(((int(rows) if colon else None), float(error)))
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is neither an error (.15) nor rows and their error (120:.15)."
            ) from None
    return errors


@click.command()
@source_options
@click.option(
    "--error",
    "errors",
    callback=_read,
    multiple=True,
    metavar="[ROWS:]ERROR",
    help="The expected error; with ROWS, after training on so many. Repeat for a learning curve.",
)
@click.option(
    "--model", metavar="WORD", help="Measure the learning curve of this learner, tuned, on FILE."
)
@click.option("--width", type=float, help="Width of the interval that is wanted.")
@click.option("--rows", type=int, metavar="N", help="Rows that tuning and testing share.")
@confidence_option("--level")
@click.option(
    "--assurance",
    type=float,
    default=0.9,
    show_default=True,
    help="Probability with which the interval shall be no wider.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@worker_options
@reading_options
def plan(
    errors: list[Known],
    model: str | None,
    width: float | None,
    rows: int | None,
    confidence: float,
    assurance: float,
    seed: int,
    as_json: bool,
    jobs: int | None,
    executor: str | None,
    **where: Any,
) -> int:
    """Plan a test: how many rows for an interval of a width, how tuning and testing share N rows.

    \b
    truerisk plan --error .15 --width .05
    truerisk plan --error 30:.25 --error 60:.21 --error 150:.19 --rows 180
    truerisk plan pilot.csv --target y --model knn --rows 400
    """  # noqa: D301 - \b is for click
    from truerisk.api.plan_sample import plan_sample

    pilot = model is not None or any(given is not None for given in where.values())
    if pilot and errors:
        raise click.UsageError("--error and FILE both give the error to expect: leave one out.")
    if not pilot and not errors:
        raise click.UsageError("Missing option '--error', or FILE with --target and --model.")
    if not pilot and width is None and rows is None:
        raise click.UsageError("say what to plan: --width, --rows, or both.")
    wanted = {"width": width, "n": rows, "confidence_level": confidence, "assurance": assurance}
    if not pilot:
        sample = plan_sample(_error_curve(errors), **wanted)  # type: ignore[arg-type]
        show(sample.to_json() if as_json else str(sample))
        return 0
    source, planned = read_source(**where), width is not None or rows is not None
    if planned and source.task != "classification":
        raise BadData(
            "--width and --rows plan a test of the share of errors, and the target holds numbers: "
            "leave them out to see the learning curve alone."
        )
    curve = _measured(model, source, confidence, seed, executor_of(jobs, executor))
    content, parts = {"curve": curve.to_dict()}, [str(curve)]
    if planned:
        sample = plan_sample(curve, **wanted)  # type: ignore[arg-type]
        content, parts = {**content, **sample.to_dict()}, [*parts, str(sample)]
    show(json.dumps(content, allow_nan=False) if as_json else "\n\n".join(parts))
    return 0


def _error_curve(errors: list[Known]) -> Any:
    """One error, or errors by the rows that were trained on."""
    sizes = [size for size, _ in errors]
    if len(errors) > 1 and None in sizes:
        raise click.UsageError("several --error are a learning curve: write each as ROWS:ERROR.")
    if len(set(sizes)) < len(sizes):
        raise click.UsageError("two --error are of the same number of training rows.")
    curve = {size: error for size, error in errors if size is not None}
    return curve or errors[0][1]


def _measured(model: str | None, source: Source, level: float, seed: int, executor: Any) -> Any:
    """The learning curve of a learner on a table, tuned by settings that its smallest size has."""
    if model is None:
        raise click.UsageError("--model is missing: the learning curve of which learner?")
    for note in source.notes:
        say(f"note: {note}")
    from truerisk.api.learning_curve import learning_curve
    from truerisk.api.tested_learner import WIDEST

    n_rows = len(source.y)
    search = search_of(
        model,
        source,
        n_rows=max(FEWEST_ROWS, n_rows // (2 * WIDEST)),
        confidence_level=level,
        executor=executor,
        random_state=seed,
    )
    with worded_warnings(), shown_progress():
        return learning_curve(search, source.X, source.y, groups=source.groups)
