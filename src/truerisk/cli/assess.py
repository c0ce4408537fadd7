"""`truerisk assess`: compare tuned learners on a table."""

from __future__ import annotations

from typing import Any

import click

from truerisk.cli.gate import bound_options
from truerisk.cli.options import (
    check_store_folder,
    checks_option,
    confidence_option,
    json_option,
    n_jobs_option,
    page_options,
    pass_options_as_namespace,
    read_splits,
    scoring_option,
    store_path_type,
)
from truerisk.cli.reviews import add_validation_options
from truerisk.cli.source import (
    outcome_options,
    reading_options,
    source_options,
    time_and_block_options,
)
from truerisk.core.registry import check_present


@click.command()
@source_options
@outcome_options
@time_and_block_options
@click.option(
    "--models",
    metavar="WORDS",
    help="Learners with commas: knn,lda,logistic,svm,tree,forest,boosting, ...",
)
@scoring_option
@click.option(
    "--cv",
    metavar="WORDS",
    help="The splits that choose settings: a word of `truerisk methods`, or K unshuffled folds; "
    "further ones, with commas, are shown beside it.  [default: 5-fold; holdout above 10,000 rows]",
)
@click.option(
    "--outer", callback=read_splits, help="How tuned models are tested.  [default: pairs of --cv]"
)
@click.option(
    "--rule", default="min", show_default=True, help="How a setting is chosen: min, 1-se."
)
@click.option(
    "--learning-curve",
    metavar="WORDS",
    help="Measure learning curves, too: cheap, all, or learners with commas.",
)
@click.option("--validate", is_flag=True, help="Also give calibration, net benefit, optimism.")
@add_validation_options(replicates=None)
@confidence_option()
@checks_option
@bound_options
@page_options
@json_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@n_jobs_option
@click.option(
    "--store",
    type=store_path_type,
    callback=check_store_folder,
    help="Keep every fit in this file; a second run makes only the missing ones.",
)
@click.option("--mixed-versions", is_flag=True, help="With --store: use fits of other versions.")
@click.option("--dry-run", is_flag=True, help="Say how many fits and seconds, and stop.")
@reading_options
@pass_options_as_namespace
def assess(args: Any) -> int:
    """Compare tuned learners on FILE and say how wrong the best one is.

    \b
    truerisk assess data.csv --target y --report out.html
    truerisk assess --dataset breast-cancer --models knn,svm --n-jobs 2
    truerisk assess data.csv --target y --models forest --store runs.db
    truerisk assess data.csv --target y --scoring roc_auc --min-score roc_auc=.75
    """  # noqa: D301 - \b is for click
    check_present("truerisk.assessment")
    from truerisk.cli.bodies.assess import run

    return run(args)
