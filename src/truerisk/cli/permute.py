"""`truerisk permute`: test by permuted labels whether a tuned learner beats chance."""

from __future__ import annotations

from typing import Any

import click

from truerisk.cli.options import (
    cv_option,
    json_option,
    n_jobs_option,
    pass_options_as_namespace,
    scoring_option,
)
from truerisk.cli.output import print_warnings_at_end, show, show_progress
from truerisk.cli.source import (
    make_search,
    outcome_options,
    read_source_and_print_notes,
    reading_options,
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
@pass_options_as_namespace
def permute(args: Any) -> None:
    """Tune and test one learner on FILE again and again with permuted labels.

    A small p-value says that it does better than chance.

    \b
    truerisk permute data.csv --target y --model knn
    truerisk permute data.csv --target y --model lda --permutations 199 --n-jobs 2
    """  # noqa: D301 - \b is for click
    if isinstance(args.scoring, list):
        raise click.UsageError("--scoring: a permutation test is of one score; name one.")
    source = read_source_and_print_notes(args)
    check_present("truerisk.diagnostics.permutation_test")
    from truerisk.diagnostics.permutation_test import permutation_test

    search_options = {name: getattr(args, name) for name in ("cv", "scoring")}
    search_options |= {"random_state": args.seed}
    search = make_search(args.model, source, **search_options)
    row_arguments = {"groups": source.groups, "time": source.time}
    test_options = {
        "n_permutations": args.permutations,
        "n_jobs": args.n_jobs,
        "random_state": args.seed,
    }
    with print_warnings_at_end(), show_progress():
        result = permutation_test(search, source.X, source.y, **row_arguments, **test_options)
    show(result.to_json() if args.as_json else str(result))
