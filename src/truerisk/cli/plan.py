"""`truerisk plan`: how many test rows, and how tuning and testing share what there is."""

from __future__ import annotations

import click

__all__ = ["plan"]

Known = tuple[int | None, float]


def _read(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[Known]:
    """Errors, each with its training rows where they are named: .15, 120:.15."""
    found: list[Known] = []
    for text in given:
        rows, colon, error = text.rpartition(":")
        try:
            found.append(((int(rows) if colon else None), float(error)))
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is neither an error (.15) nor rows and their error (120:.15)."
            ) from None
    return found


@click.command()
@click.option(
    "--error",
    "errors",
    callback=_read,
    multiple=True,
    required=True,
    metavar="[ROWS:]ERROR",
    help="The error to expect; with ROWS, after training on so many. Repeat for a learning curve.",
)
@click.option("--width", type=float, help="Width of the interval that is wanted.")
@click.option("--rows", type=int, metavar="N", help="Rows that tuning and testing share.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Of the interval.")
@click.option(
    "--assurance",
    type=float,
    default=0.9,
    show_default=True,
    help="Probability with which the interval shall be no wider.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def plan(
    errors: list[Known],
    width: float | None,
    rows: int | None,
    level: float,
    assurance: float,
    as_json: bool,
) -> int:
    """Plan a test: how many rows for an interval of a width, how tuning and testing share N rows.

    \b
    truerisk plan --error .15 --width .05
    truerisk plan --error 30:.25 --error 60:.21 --error 150:.19 --rows 180
    """  # noqa: D301 - \b is for click
    from truerisk.api.plan_sample import plan_sample

    if width is None and rows is None:
        raise click.UsageError("say what to plan: --width, --rows, or both.")
    sizes = [size for size, _ in errors]
    if len(errors) > 1 and None in sizes:
        raise click.UsageError("several --error are a learning curve: write each as ROWS:ERROR.")
    if len(set(sizes)) < len(sizes):
        raise click.UsageError("two --error are of the same number of training rows.")
    curve = {size: error for size, error in errors if size is not None}
    found = plan_sample(
        curve or errors[0][1],
        width=width,
        n=rows,
        confidence_level=level,
        assurance=assurance,
    )
    click.echo(found.to_json() if as_json else str(found))
    return 0
