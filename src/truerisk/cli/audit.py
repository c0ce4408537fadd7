"""`truerisk audit`: check the score that a search claims; exit code 4 if it is refuted."""

from __future__ import annotations

from typing import Any

import click

from truerisk.cli.gate import bound_options
from truerisk.cli.options import (
    checks_option,
    confidence_option,
    json_option,
    n_jobs_option,
    page_options,
    pass_options_as_namespace,
    read_splits,
)
from truerisk.cli.source import (
    outcome_options,
    reading_options,
    source_options,
    time_and_block_options,
)
from truerisk.core.registry import check_present


@click.command()
@click.argument("search", metavar="SEARCH.py:NAME")
@source_options
@outcome_options
@time_and_block_options
@click.option(
    "--level",
    type=click.Choice(["scores", "bbc", "pairs", "nested"]),
    default="pairs",
    show_default=True,
    help="By the kept scores, by a bootstrap of the replayed splits, by testing the choice in the "
    "folds of the search (as HonestSearchCV does), or by repeating the search in outer folds.",
)
@click.option(
    "--positive",
    metavar="LABEL",
    help="The class that precision, recall, F1 and the like are of.  [default: the label 1]",
)
@click.option(
    "--outer",
    metavar="METHOD",
    callback=read_splits,
    help="Outer folds of level nested.  [default: 5-fold]",
)
@confidence_option()
@checks_option
@bound_options
@page_options
@click.option("--allow-import", is_flag=True, help="Run the code of SEARCH.py.")
@json_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@n_jobs_option
@reading_options
@pass_options_as_namespace
def audit(args: Any) -> int:
    """Audit a search on FILE: NAME in SEARCH.py, or what the function NAME returns.

    The function is called without arguments, or with X and y if it takes two. A search that is not
    fitted is fitted first. Exit code 4: its score lies outside the honest interval, above or below,
    or a bound is missed.

    \b
    truerisk audit search.py:make data.csv --target y --allow-import
    """  # noqa: D301 - \b is for click
    check_present("truerisk.auditing")
    from truerisk.cli.bodies.audit import run

    return run(args)
