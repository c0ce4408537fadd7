"""`truerisk validate`: discrimination, calibration and net benefit of a model on a table."""

from __future__ import annotations

from typing import Any

import click

from truerisk.cli.gate import bound_options
from truerisk.cli.options import (
    confidence_option,
    cv_option,
    json_option,
    n_jobs_option,
    page_options,
    pass_options_as_namespace,
    scoring_option,
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
@click.option("--model", default="logistic", show_default=True, metavar="WORD", help="A learner.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the model, which is then not tuned.",
)
@click.option(
    "--predictions",
    metavar="COL",
    help="Validate the predictions in this column, of a finished model of any program, and fit "
    "nothing: probabilities of the event, or numbers. With --event: risks by --horizon, or linear "
    "predictors if there is no --horizon.",
)
@cv_option
@scoring_option
@add_validation_options(replicates=50)
@bound_options
@confidence_option()
@page_options
@click.option(
    "--checklist", metavar="PATH", type=click.Path(), help="Write it: .docx, .xlsx or .csv."
)
@json_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@n_jobs_option
@reading_options
@pass_options_as_namespace
def validate(args: Any) -> int:
    """Validate a tuned learner on FILE: discrimination, calibration, net benefit.

    \b
    truerisk validate data.csv --target y --report validation.html
    truerisk validate --dataset breast-cancer --model forest --clip .001 --replicates 50
    truerisk validate others.csv --target y --predictions p
    truerisk validate others.csv --event e --time-to-event t --predictions risk5 --horizon 5
    """  # noqa: D301 - \b is for click
    check_present("truerisk.validation")
    from truerisk.cli.bodies.validate import run

    return run(args)
