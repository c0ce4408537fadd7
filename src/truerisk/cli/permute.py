"""`truerisk permute`: whether a tuned learner learns anything from a table."""

from __future__ import annotations

from typing import Any

import click

from truerisk.cli.options import (
    cv_option,
    gathered,
    json_option,
    n_jobs_option,
    scoring_option,
)
from truerisk.cli.output import show, shown_progress, worded_warnings
from truerisk.cli.source import (
    outcome_options,
    reading_options,
    search_of,
    source_of,
    source_options,
    time_option,
)
from truerisk.core.registry import check_present


@click.command()
@source_options
@outcome_options
@time_option
@click.option("--model", required=True, metavar="WORD", help="knn, lda, logistic, tree, …: tuned.")
@click.option(
    "--permutations",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Number of permutations; the smallest p-value is 1/(1 + N).",
)
@cv_option
@scoring_option
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the folds and of the permutations.",
)
@json_option
@n_jobs_option
@reading_options
@gathered
def permute(requested: Any) -> None:
    """Tune and test one learner on FILE again and again with permuted labels.

    A small p-value says that it does better than chance.

    \b
    truerisk permute data.csv --target y --model knn
    truerisk permute data.csv --target y --model lda --permutations 199 --n-jobs 2
    """  # noqa: D301 - \b is for click
    if isinstance(requested.scoring, list):
        raise click.UsageError("--scoring: a permutation test is of one score; name one.")
    source = source_of(requested)
    check_present("truerisk.diagnostics.permutation_test")
    from truerisk.diagnostics.permutation_test import permutation_test

    words = {name: getattr(requested, name) for name in ("cv", "scoring")}
    words |= {"random_state": requested.seed}
    search = search_of(requested.model, source, **words)
    rows = {"groups": source.groups, "time": source.time}
    options = {
        "n_permutations": requested.permutations,
        "n_jobs": requested.n_jobs,
        "random_state": requested.seed,
    }
    with worded_warnings(), shown_progress():
        found = permutation_test(search, source.X, source.y, **rows, **options)
    show(found.to_json() if requested.as_json else str(found))
