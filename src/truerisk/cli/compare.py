"""`truerisk compare`: test whether two stored estimates differ, paired by the rows both tested."""

from __future__ import annotations

from pathlib import Path

import click

from truerisk.cli.options import confidence_option, json_option, results_size_option
from truerisk.cli.output import show
from truerisk.core.registry import check_present


@click.command()
@click.argument("first", metavar="A.json", type=click.Path(path_type=Path))
@click.argument("second", metavar="B.json", type=click.Path(path_type=Path))
@click.option(
    "--test",
    default="nadeau-bengio",
    show_default=True,
    type=click.Choice(["nadeau-bengio", "bayes", "sharp", "mcnemar", "5x2"]),
    metavar="WORD",
    help="nadeau-bengio, bayes, sharp, mcnemar or 5x2.",
)
@click.option(
    "--rope",
    type=float,
    help="For bayes: risks that differ by at most this much count as equal.  [default: 0.01]",
)
@confidence_option("--level")
@results_size_option
@json_option
def compare(
    first: Path,
    second: Path,
    test: str,
    rope: float | None,
    confidence: float,
    max_bytes: int | None,
    as_json: bool,
) -> int:
    """Compare two estimates that `estimate --json` wrote, made on the same splits.

    \b
    truerisk estimate data.csv --target y --model knn --json > a.json
    truerisk estimate data.csv --target y --model lda --json > b.json
    truerisk compare a.json b.json
    """  # noqa: D301 - \b is for click
    check_present("truerisk.comparison.paired")
    from truerisk.comparison.paired import compare as compared
    from truerisk.results.interval import DEFAULT_ROPE
    from truerisk.results.records import MAX_BYTES
    from truerisk.results.results import RiskEstimate

    max_result_bytes = max_bytes or MAX_BYTES
    first_estimate, second_estimate = (
        RiskEstimate.from_json(file, max_bytes=max_result_bytes) for file in (first, second)
    )
    rope_half_width = DEFAULT_ROPE if rope is None else rope
    comparison = compared(
        first_estimate,
        second_estimate,
        test=test,
        rope=rope_half_width,
        confidence_level=confidence,
    )
    show(comparison.to_json() if as_json else str(comparison))
    return 0
