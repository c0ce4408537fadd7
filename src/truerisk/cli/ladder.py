"""`truerisk ladder`: a holdout that reports only scores that beat the best beyond noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from truerisk.cli.options import (
    check_store_folder,
    json_option,
    pass_options_as_namespace,
    store_path_type,
)
from truerisk.cli.output import show
from truerisk.core.registry import check_present

NOT_ACCEPTED = 4
store_option = click.option(
    "--store",
    type=store_path_type,
    required=True,
    callback=check_store_folder,
    help="The file that keeps the submissions.",
)


@click.command()
@click.argument("predictions", metavar="PREDICTIONS")
@click.option("--holdout", required=True, metavar="FILE", help="The file with the outcomes.")
@click.option("--target", required=True, metavar="COL", help="The column of outcomes in FILE.")
@click.option("--groups", metavar="COL", help="The column of groups in FILE.")
@click.option("--scoring", metavar="SCORE", help="As in scikit-learn, or zero-one, log, brier, …")
@click.option("--positive", metavar="LABEL", help="The class to which a score of one class refers.")
@click.option("--name", metavar="TEXT", help="Name of the submission.  [default: the file's name]")
@store_option
@json_option
@pass_options_as_namespace
def submit(args: Any) -> int:
    """Submit predictions for a holdout; exit code 4 if they are not accepted.

    They are accepted if they are better than the best ones so far by more than the noise.
    PREDICTIONS has a line for each row of the holdout, in the same order, with the column
    prediction or a column probability_CLASS for each class.

    \b
    truerisk ladder submit mine.csv --holdout truth.csv --target y --store ladder.jsonl
    """  # noqa: D301 - \b is for click
    check_present("truerisk.external.ladder")
    from truerisk.external.ladder import Ladder, predictions_in, rows_in

    y, groups = rows_in(args.holdout, args.target, args.groups)
    ladder = Ladder(
        y,
        scoring=args.scoring,
        groups=groups,
        positive=args.positive,
        store=args.store,
    )
    predictions = predictions_in(args.predictions, y, as_labels=ladder.compares_labels)
    submission = ladder.submit(predictions, name=args.name or Path(args.predictions).stem)
    show(submission.to_json() if args.as_json else str(submission))
    return 0 if submission.accepted else NOT_ACCEPTED


@click.command()
@store_option
@pass_options_as_namespace
def status(args: Any) -> None:
    """Show the accepted submissions of a store; the outcomes are not needed.

    \b
    truerisk ladder status --store ladder.jsonl
    """  # noqa: D301 - \b is for click
    check_present("truerisk.external.ladder")
    from truerisk.external.ladder import status_of

    show(status_of(args.store))
