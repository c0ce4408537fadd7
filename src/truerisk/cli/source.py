"""Read the file or bundled data set of a command: X, y, and facts on the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from inspect import signature
from pathlib import PurePath
from typing import Any

import click

from truerisk.cli.options import combine_options
from truerisk.cli.output import print_stderr, reword_for_command_line, split_at_commas
from truerisk.core.errors import BadData, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present


@frozen(eq=False)
class Source:
    """The data that a command reads; `name` is the name of the file, without its folders.

    `exclusion_reasons` maps columns that are not used as features to the reason. `option_by_column`
    maps columns that the user named in an option to that option, such as {"site": "--groups"}.
    """

    name: str
    X: Any
    y: Any
    task: Any
    n_classes: int
    column_layout: Mapping[str, Any]
    notes: tuple[str, ...]
    columns: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = ()
    groups: Any = None
    time: Any = None
    block: Any = None
    date_columns: Mapping[str, Any] = field(default_factory=dict)
    exclusion_reasons: Mapping[str, str] = field(default_factory=dict)
    option_by_column: Mapping[str, str] = field(default_factory=dict)

    @property
    def row_arguments(self) -> dict[str, Any]:
        """Groups, times and blocks of the rows, as arguments of estimation functions."""
        return {"groups": self.groups, "time": self.time, "block": self.block}

    def column(self, name: str) -> Any:
        """Return the cells of a feature as in the file: text columns as text, not as codes."""
        column_index = self.columns.index(name)
        cells, levels = self.X[:, column_index], self.levels[column_index]
        return (
            [levels[int(level_code)] if level_code == level_code else None for level_code in cells]
            if levels
            else cells
        )


def _single_target(
    ctx: click.Context, option: click.Parameter, target_names: tuple[str, ...]
) -> str | None:
    """Return the name of the single target column, or None; raise if the user named several."""
    if len(target_names) > 1:
        raise click.UsageError(f"one target is predicted, and these are {', '.join(target_names)}.")
    return target_names[0] if target_names else None


source_options = combine_options(  # These options name the FILE and its columns.
    click.argument("file", required=False, type=click.Path()),
    click.option(
        "--target",
        metavar="COL",
        multiple=True,
        callback=_single_target,
        help="The column to predict.",
    ),
    click.option(
        "--dataset", metavar="NAME", help="A data set that comes along (see `truerisk datasets`)."
    ),
    click.option(
        "--groups", metavar="COL", help="The column of rows that belong together; no feature."
    ),
)
outcome_options = combine_options(  # These options define a survival outcome instead of --target.
    click.option(
        "--event",
        metavar="COL",
        help="Of an outcome in time, instead of --target: the column of whether the event came, 1 "
        "or 0; COL=LABEL of two other labels.",
    ),
    click.option(
        "--time-to-event",
        metavar="COL",
        help="And that of the time until it, or until the row was last seen.",
    ),
)
# These options correct how FILE is read. They stand at the end of each help text.
reading_options = combine_options(
    click.option(
        "--target-type",
        type=click.Choice(["classification", "regression"]),
        help="What the target is, if the guess is wrong.",
    ),
    click.option("--delimiter", metavar="CHAR", help="The character between cells: , ; | or tab."),
    click.option("--max-cells", type=click.IntRange(1), help="Refuse tables with more cells."),
    click.option("--max-bytes", type=click.IntRange(1), help="Refuse files that unpack to more."),
)

time_option = click.option(
    "--time",
    metavar="COL",
    help="The column of times or dates at which rows were taken (no follow-up time); no feature.",
)
time_and_block_options = (
    combine_options(  # Commands that split rows accept the rows' times and places.
        time_option,
        click.option(
            "--block",
            metavar="COLS",
            help="The columns of coordinates, with commas, or of labels of blocks; not used as "
            "features.",
        ),
    )
)
positive_option = click.option(
    "--positive",
    metavar="LABEL",
    help="The class that precision, recall, F1 and the like are of.  [default: the greater of two]",
)


TIME_NOTE = (
    "--time takes column {!r} for when each row was taken, not for how long it was followed: the "
    "usual splits test later rows"
)


OPTION_BY_ARGUMENT = {"groups": "--groups", "time": "--time", "target_type": "--target-type"}


def read_source(
    file: str | None,
    target: str | None,
    groups: str | None,
    target_type: Any,
    delimiter: str | None,
    max_cells: int | None,
    max_bytes: int | None,
    dataset: str | None,
    time: str | None = None,
    block: str | None = None,
    event: str | None = None,
    time_to_event: str | None = None,
) -> Source:
    """Return the data of the file or bundled data set that the options of a command name."""
    survival_options = {"--event": event, "--time-to-event": time_to_event}
    given_survival_options = [
        option for option, name in survival_options.items() if name is not None
    ]
    if len(given_survival_options) == 1:
        raise click.UsageError("--event and --time-to-event go together: name both columns.")
    if given_survival_options and (target is not None or target_type is not None):
        raise click.UsageError(
            "--event and --time-to-event stand instead of --target and --target-type: give these "
            "or those."
        )
    if dataset is not None:
        if file is not None:
            raise click.UsageError("give a FILE or --dataset, not both.")
        if target is not None or target_type is not None or given_survival_options:
            option = given_survival_options[0] if given_survival_options else "--target"
            raise click.UsageError(f"a --dataset has its own target: leave {option} out.")
        for option, name in (("--groups", groups), ("--time", time), ("--block", block)):
            if name is not None:
                raise click.UsageError(f"{option} names a column of a FILE: a --dataset has none.")
        check_present("truerisk.datasets")
        from truerisk.datasets import load

        bundled_data = load(dataset)
        return Source(
            name=dataset,
            X=bundled_data.X,
            y=bundled_data.y,
            task=bundled_data.task,
            n_classes=len(bundled_data.class_names),
            column_layout={"n_features": bundled_data.X.shape[1], "missing": False},
            notes=(f"{bundled_data.description} ({bundled_data.source})",),
        )
    if not file:
        raise click.UsageError("give a FILE with --target COL, or --dataset NAME.")
    if file == "-":
        raise click.UsageError("FILE cannot be stdin: save the table as a file first.")
    if target is None and not given_survival_options:
        raise click.UsageError("--target COL is missing: which column is to be predicted?")
    if delimiter is not None and len(delimiter) != 1 and delimiter not in ("tab", "\\t"):
        raise click.UsageError(f"--delimiter {delimiter!r} is not one character; write ';' or tab.")
    check_present("truerisk.readers.table")
    from truerisk.readers.table import read_table

    size_limits = {"max_cells": max_cells, "max_bytes": max_bytes}
    reader_options: dict[str, Any] = {
        "event": event,
        "time_to_event": time_to_event,
        "groups": groups,
        "time": time,
        "block": split_at_commas("--block", block, "column", "longitude,latitude") or (),
        "target_type": target_type,
        "delimiter": delimiter,
        **{name: value for name, value in size_limits.items() if value is not None},
    }
    try:
        table = read_table(file, target, **reader_options)
    except UnknownName as error:  # A missing column is an error of the data.
        raise BadData(error.sentence.marked_text) from error
    return Source(
        name=PurePath(file).name,
        X=table.X,
        y=table.y,
        task=table.task,
        n_classes=table.n_classes,
        column_layout={
            "n_features": table.n_features,
            "numeric": table.numeric,
            "text": table.text,
            "missing": table.n_missing > 0,
        },
        notes=(
            *(
                reword_for_command_line(table_note, OPTION_BY_ARGUMENT)
                for table_note in table.notes
            ),
            *([] if time is None else [TIME_NOTE.format(time)]),
        ),
        columns=table.feature_names,
        levels=table.levels,
        groups=table.groups,
        time=table.time,
        block=table.block,
        date_columns=table.dates,
        exclusion_reasons=dict(zip(table.left_out, table.reasons, strict=True)),
        option_by_column=_options_by_column(
            table, groups, time, reader_options["block"], time_to_event
        ),
    )


def _options_by_column(
    table: Any, groups: str | None, time: str | None, block: Any, time_to_event: str | None
) -> dict[str, str]:
    """Map each column that an option uses, and that is therefore no feature, to that option."""
    column_by_option = {"--groups": groups, "--time": time, "--time-to-event": time_to_event}
    column_by_option["--target" if time_to_event is None else "--event"] = table.target
    option_by_column = {
        name.strip(): option for option, name in column_by_option.items() if name is not None
    }
    return {**option_by_column, **{name.strip(): "--block" for name in block}}


def source_arguments(args: Any) -> dict[str, Any]:
    """Return the options of a command that are arguments of `read_source`, by name."""
    known_options = signature(read_source).parameters
    return {name: value for name, value in vars(args).items() if name in known_options}


def read_source_and_print_notes(args: Any) -> Source:
    """Read the file or data set that the options name, print notes about it, and return it."""
    source = read_source(**source_arguments(args))
    for source_note in source.notes:
        print_stderr(f"note: {source_note}")
    return source


def label_from_text(source: Source, positive: str | None) -> Any:
    """Return the class label of the target whose text is `positive`; raise if there is none.

    Return None if `positive` is None, and the text itself if the target is no classification.
    """
    if positive is not None and source.task == "survival":
        raise click.UsageError(
            "--positive names a class; the event of an outcome in time is named by --event "
            "COL=LABEL."
        )
    if positive is None or source.task != "classification":
        return positive  # For a numeric target, later code refuses --positive.
    for label in source.y:
        if str(label) == positive:
            return label
    from truerisk.core.formats import escape_and_truncate

    known_labels = escape_and_truncate(", ".join(sorted({str(label) for label in source.y})), 160)
    raise BadData(
        f"--positive {escape_and_truncate(positive, 40)} is no class of the target, which has "
        f"{known_labels}."
    )


def make_search(name: str, source: Source, *, n_rows: int | None = None, **options: Any) -> Any:
    """Return an unfitted search over a learner's default grid, which suits `n_rows` rows.

    By default the grid suits the number of rows of the source.
    """
    check_present("truerisk.models.learners")
    from truerisk.estimation.outer_splits import max_n_parts
    from truerisk.models.learners import learner
    from truerisk.search.search import HonestSearchCV

    n_grid_rows = len(source.y) if n_rows is None else n_rows
    data_layout = {"n_rows": n_grid_rows, "n_classes": source.n_classes, **source.column_layout}
    data_layout["parts"] = max_n_parts(source, [options.get("cv")])
    return HonestSearchCV(*learner(name, source.task, **data_layout), **options)
