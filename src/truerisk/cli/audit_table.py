"""`truerisk audit-table`: correct the best score of a search from its table of losses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import Any

import click

from truerisk.cli.gate import EXIT_CLAIM_OR_BOUND_MISSED, bound_options, judge_bounds
from truerisk.cli.options import (
    confidence_option,
    format_command_line,
    json_option,
    page_options,
    pass_options_as_namespace,
)
from truerisk.cli.output import print_stderr, print_warnings_at_end, show, write_page
from truerisk.core.registry import check_present

WHERE_AND_HOW = ("report", "figures", "as_json")
"""Options of `truerisk audit-table` that do not affect any number in the result."""


@click.command("audit-table")
@click.argument("file")
@click.option("--scoring", metavar="SCORE", help="As in scikit-learn, or zero-one, log, brier, …")
@click.option("--groups", metavar="COL", help="Rows with one value of COL belong together.")
@click.option("--order", metavar="COL", help="COL holds the number of each candidate's trial.")
@click.option("--adaptive", is_flag=True, help="Earlier scores decided which candidates came next.")
@click.option("--positive", metavar="LABEL", help="The class to which a score of one class refers.")
@click.option(
    "--not-trained",
    "trained",
    flag_value=False,
    default=True,
    help="No row of FILE has trained a candidate: prompts, fixed rules.",
)
@click.option("--replicates", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@confidence_option()
@bound_options
@page_options
@json_option
@pass_options_as_namespace
def audit_table(args: Any) -> int:
    """Audit the losses or predictions of many candidates on the same rows.

    FILE (CSV, TSV, Parquet, Arrow, JSON lines) has a line for each row, and a column for each
    candidate: a prompt, a model, a setting. It holds losses, which are smaller if they are better;
    with --scoring accuracy it holds 1 for a right answer and 0 for a wrong one. FILE may also have
    a line for each candidate and row. Its columns are then candidate and row, and either loss, or y
    with prediction or with probability_CLASS. The exit code is 4 if a bound is missed, or if the
    best score lies outside the honest interval.

    \b
    truerisk audit-table losses.csv
    truerisk audit-table answers.csv --scoring accuracy --min-score accuracy=.6 --not-trained
    truerisk audit-table predictions.csv --scoring roc_auc --min-score roc_auc=.75
    """  # noqa: D301 - \b is for click
    check_present("truerisk.external.audit_table")
    from truerisk.external.audit_table import audit_table as audited

    with print_warnings_at_end():
        result = audited(
            args.file,
            scoring=args.scoring,
            groups=args.groups,
            order=args.order,
            positive=args.positive,
            adaptive=args.adaptive or None,
            trained=args.trained,
            replicates=args.replicates,
            confidence_level=args.confidence,
            random_state=args.seed,
        )
    command = format_command_line(click.get_current_context(), WHERE_AND_HOW)
    result = replace(result, source=PurePath(args.file).name, command=command)
    show(result.to_json() if args.as_json else str(result))
    write_page(result, args.report, args.figures)
    exit_code = judge_bounds(result, args.fail_above, args.min_score)
    if result.refuted:
        print_stderr("the best score is refuted: it lies outside the honest interval.")
    return EXIT_CLAIM_OR_BOUND_MISSED if result.refuted else exit_code
