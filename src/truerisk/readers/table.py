"""Read a file as features and target, with notes on what was inferred about its columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, BriefRepr
from truerisk.core.frozen import frozen
from truerisk.core.mentions import Sentence
from truerisk.data.times import parse_dates
from truerisk.readers.cells import format_count, join_columns, join_quoted, quote, to_cells
from truerisk.readers.columnar import Column, ColumnKind, holds_row_numbers, read_column
from truerisk.readers.formats import read_columns
from truerisk.readers.roles import (
    RowLabelColumns,
    TargetColumn,
    TaskName,
    column_index,
    read_survival_outcome,
    read_target,
)

MAX_CELLS = 10_000_000
MAX_BYTES = 256 * 2**20


class NoFeatures(BadData):
    """Error that is raised if no column of a file can be a feature.

    `exclusion_reasons` has the reason for each column.
    """

    def __init__(self, sentence: str, left_out: Mapping[str, str]) -> None:
        super().__init__(sentence)
        self.exclusion_reasons = left_out


@frozen(eq=False)
class Table(BriefRepr):
    r"""Features and target of a file, as `read_table` returns them.

    Parameters
    ----------
    X : array of float, shape (n_rows, n_features)
        The features: numbers as they are, text as positions in its sorted levels, missing cells as
        NaN.
    y : array, shape (n_rows,)
        Integers or text for a classification, floats for a regression. For an outcome in time pairs
        of an event indicator and a time, as in scikit-survival.
    target : str
        Name of the target, or of the event.
    task : {"classification", "regression", "survival"}
        The task.
    feature_names : tuple of str
        Names of the features.
    kinds : tuple of {"number", "text"}
        The kind of each feature.
    levels : tuple of tuples of str
        The levels of each text column; empty for numbers.
    missing : tuple of int
        The number of missing cells of each feature.
    left_out : tuple of str
        Columns that carry no information and are no features.
    notes : tuple of str
        What was inferred or left out, one sentence each.
    groups : array, shape (n_rows,), optional
        The cells of the column that names groups; it is no feature.
    time : array, shape (n_rows,), optional
        The cells of the column of times; it is no feature.
    block : array, optional
        The cells of the columns of places, which are no features: labels (n_rows,) of one column,
        or coordinates (n_rows, n_columns).
    reasons : tuple of str, optional
        The reason why each column was left out, such as "is constant".
    dates : mapping of str to array, optional
        The cells of date columns that were left out because every row has a date of its own.

    See Also
    --------
    truerisk.datasets.read_table : Read a table from a file.

    Examples
    --------
    >>> import tempfile, truerisk as tr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/table.csv"
    ...     with open(path, "w") as file:
    ...         _ = file.write("age,colour,ill\n31,red,no\n45,blue,yes\n52,red,yes\n28,blue,no\n")
    ...     table = tr.datasets.read_table(path, "ill")
    >>> table.X[0].tolist(), str(table.y[0]), table.kinds
    ([31.0, 1.0], 'no', ('number', 'text'))
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    target: str
    task: TaskName
    feature_names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    levels: tuple[tuple[str, ...], ...]
    missing: tuple[int, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    groups: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    block: NDArray[Any] | None = None
    reasons: tuple[str, ...] = ()
    dates: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        columns = f"{len(self.numeric)} columns of numbers, {len(self.text)} of text"
        target = f"target {quote(self.target)}, {self.task}"
        return "\n".join([f"{self.n_rows} rows; {columns}; {target}", *self.notes])

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        """Number of classes, or 0 if there are none."""
        return len(np.unique(self.y)) if self.task == "classification" else 0

    @property
    def n_missing(self) -> int:
        """Number of missing cells of all features."""
        return sum(self.missing)

    @property
    def numeric(self) -> tuple[int, ...]:
        """Indices of the numeric features among the columns of X."""
        return tuple(j for j, kind in enumerate(self.kinds) if kind == "number")

    @property
    def text(self) -> tuple[int, ...]:
        """Indices of the text features among the columns of X."""
        return tuple(j for j, kind in enumerate(self.kinds) if kind == "text")


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    event: str | None = None,
    time_to_event: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    block: Sequence[str] = (),
    target_type: TaskName | None = None,
    delimiter: str | None = None,
    max_cells: int = MAX_CELLS,
    max_bytes: int = MAX_BYTES,
) -> Table:
    r"""Read a table of named columns: CSV, TSV, ARFF, LIBSVM, Parquet or Arrow.

    Text files are UTF-8, plain or packed by gzip, bzip2, xz or zip. Parquet and Arrow need polars
    (``pip install 'truerisk[io]'``). A LIBSVM file (.libsvm, .svmlight, .svm) has the target
    ``label`` and the columns x1, x2, ...

    Parameters
    ----------
    path : path
        The file.
    target : str, optional
        The column to predict.
    event : str, optional
        For an outcome in time, instead of `target`: the column that holds whether the event
        happened, 1 or 0, true or false. ``"status=dead"`` names the label of the event in a column
        with two labels.
    time_to_event : str, optional
        For an outcome in time: the column of the time until the event, or until the row was last
        observed without it.
    groups : str, optional
        The column of groups of rows that belong together, such as the rows of one patient. It is no
        feature. In a LIBSVM file it may be ``qid``.
    time : str, optional
        The column of the times of the rows. It is no feature.
    block : sequence of str, optional
        The columns of coordinates, or the column of labels of blocks. They are no features.
    target_type : {"classification", "regression"}, optional
        The task. By default text is classified, integers with at most ten different values as well,
        and all other numbers are regression targets.
    delimiter : str, optional
        The delimiter of cells. The default is a comma for .csv, a tab for .tsv and .tab, otherwise
        the one of , ; tab | that splits the first rows evenly.
    max_cells : int, default=10000000
        The largest number of cells. A larger file is refused before it is held in memory.
    max_bytes : int, default=268435456
        The largest number of decompressed bytes. A larger file is refused before it is held in
        memory.

    Returns
    -------
    Table
        Features, target, and notes on what was inferred.

    Raises
    ------
    BadData
        If the file cannot be read: one sentence with the error, its line or column, and a remedy.
    UnknownName
        If the file has no column with a given name; the message contains the closest name.

    See Also
    --------
    truerisk.datasets.load : Return a bundled data set.

    Examples
    --------
    >>> import tempfile, truerisk as tr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/table.csv"
    ...     with open(path, "w") as file:
    ...         _ = file.write("age,colour,ill\n31,red,no\n45,blue,yes\n52,red,yes\n28,blue,no\n")
    ...     table = tr.datasets.read_table(path, target="ill")
    >>> table.feature_names, table.task
    (('age', 'colour'), 'classification')
    """
    if not isinstance(path, str | os.PathLike):
        raise BadArgument(f"{mention('path', path)}: give the path of a file.")
    if target is not None or target_type is not None:
        for name, value in {"event": event, "time_to_event": time_to_event}.items():
            if value is not None:
                raise BadArgument(
                    f"{mention(name, value)} stands instead of {mention('target')} and "
                    f"{mention('target_type')}: give these or that."
                )
    target_name_by_role, event_label = _find_target_names(target, event, time_to_event)
    row_columns = RowLabelColumns.from_names(target_name_by_role, groups, time, block)
    separator = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if separator is not None and (len(separator) != 1 or separator in '\r\n" '):
        raise BadData(
            f"{mention('delimiter', separator, quote(separator))} is not a single separating "
            "character."
        )
    file_columns = read_columns(
        path,
        delimiter=separator,
        max_cells=max_cells,
        max_bytes=max_bytes,
        separate_names={
            *(name.strip() for name in target_name_by_role.values()),
            *row_columns.names,
        },
    )
    target_names = [
        file_columns.names[column_index(name, file_columns)]
        for name in target_name_by_role.values()
    ]
    file_columns, row_labels_by_role = row_columns.split_off(file_columns)
    target_indices = [file_columns.names.index(name) for name in target_names]
    names, cells, start_lines = file_columns.names, file_columns.cells, file_columns.start_lines
    target_cells, *time_cells = (to_cells(cells[index]) for index in target_indices)
    if time_cells:
        target_column = read_survival_outcome(
            target_names[0], event_label, target_cells, target_names[1], time_cells[0], start_lines
        )
    else:
        if target_names[0] in file_columns.text_columns and target_type is None:
            target_type = "classification"
        target_column = read_target(target_names[0], target_cells, start_lines, target_type)
    columns = [
        read_column(name, to_cells(column), start_lines, is_text=name in file_columns.text_columns)
        for j, (name, column) in enumerate(zip(names, cells, strict=True))
        if j not in target_indices
    ]
    if 0 not in target_indices:
        columns = _exclude_row_numbers(columns)
    table = _table(target_names, target_column, columns)
    notes = [] if file_columns.note is None else [file_columns.note]
    notes += [
        Sentence(
            f"column {quote(name)} is no feature; if its rows belong together: "
            f"{mention('groups', name, repr(name))}"
        )
        for name in file_columns.non_features
        if name not in row_columns.names
    ]
    return replace(table, **row_labels_by_role, notes=table.notes + tuple(notes))


def _find_target_names(
    target: Any, event: Any, time_to_event: Any
) -> tuple[dict[str, str], str | None]:
    """Return the names of the target columns by their role, and the label of the event (or None).

    A survival outcome has two target columns, the event and the time to event.
    """
    if event is None and time_to_event is None:
        if not isinstance(target, str):
            raise BadArgument(
                f"{mention('target', target)}: give the name of the column to predict."
            )
        return {"the target": target}, None
    for argument, name in {"event": event, "time_to_event": time_to_event}.items():
        if not isinstance(name, str):
            raise BadArgument(
                f"{mention(argument, name)}: an outcome in time needs the names of two columns, "
                f"{mention('event')} and {mention('time_to_event')}."
            )
    column, equals_sign, label = event.rpartition("=")
    target_name_by_role = {
        "the event": column if equals_sign else event,
        "the time to event": time_to_event,
    }
    return target_name_by_role, label.strip() if equals_sign else None


def _exclude_row_numbers(columns: list[Column]) -> list[Column]:
    """Exclude the first column from the features if it only numbers the rows.

    It is not excluded if it is the only feature.
    """
    first_column, *other_columns = columns
    if first_column.kind == "text" or not holds_row_numbers(first_column):
        return columns
    if all(column.left_out is not None for column in other_columns):
        return columns
    return [replace(first_column, left_out="numbers the rows"), *other_columns]


def _table(names: Sequence[str], target_column: TargetColumn, columns: Sequence[Column]) -> Table:
    features = [column for column in columns if column.left_out is None]
    if not features:
        raise NoFeatures(_no_features_message(names, columns), _exclusion_reasons(columns))
    # Columns of dates are no features, but are kept, as the user may pass one of them as `time`.
    cells_by_column = {
        column.name: np.array(column.levels)[column.values.astype(np.intp)]
        for column in columns
        if column.left_out is not None and len(column.levels) > 1 and not column.n_missing
    }
    dates = {
        name: cells for name, cells in cells_by_column.items() if parse_dates(cells) is not None
    }
    return Table(
        X=join_columns([(column.cells, column.of_words) for column in features]),
        y=target_column.y,
        target=names[0],
        task=target_column.task,
        feature_names=tuple(column.name for column in features),
        kinds=tuple(column.kind for column in features),
        levels=tuple(column.levels for column in features),
        missing=tuple(column.n_missing for column in features),
        left_out=tuple(_exclusion_reasons(columns)),
        reasons=tuple(_exclusion_reasons(columns).values()),
        notes=tuple(_collect_notes(target_column, columns, features, dates)),
        dates=dates,
    )


def _exclusion_reasons(columns: Sequence[Column]) -> dict[str, str]:
    """Return, by column name, why each excluded column is not a feature."""
    return {column.name: column.left_out for column in columns if column.left_out is not None}


def _no_features_message(target_names: Sequence[str], columns: Sequence[Column]) -> str:
    if not columns:
        return f"the file has no column but the target {join_quoted(target_names)}: add features."
    reasons = "; ".join(f"{quote(column.name)} {column.left_out}" for column in columns[:3])
    ellipsis = "; ..." if len(columns) > 3 else ""
    return f"no column is left to learn from ({reasons}{ellipsis}): add features that vary."


def _collect_notes(
    target_column: TargetColumn,
    columns: Sequence[Column],
    features: Sequence[Column],
    dates: Mapping[str, NDArray[Any]],
) -> list[str]:
    notes = [target_column.note]
    for column in columns:
        if column.left_out is not None:
            column_note = f"column {quote(column.name)} {column.left_out} and is left out"
            if column.name in dates:
                time_argument = mention("time", column.name, repr(column.name))
                column_note += f"; if its dates are the times of the rows: {time_argument}"
            notes.append(Sentence(column_note))
        elif column.note is not None:
            notes.append(column.note)
    return notes + _preparation_notes(features)


def _preparation_notes(features: Sequence[Column]) -> list[str]:
    notes = []
    text_columns = [column.name for column in features if column.kind == "text"]
    if text_columns:
        verb = "is" if len(text_columns) == 1 else "are"
        columns_text = format_count(len(text_columns), "text column")
        notes.append(
            f"{columns_text} ({join_quoted(text_columns)}) {verb} one-hot encoded inside the folds"
        )
    incomplete_columns = [column for column in features if column.n_missing]
    if incomplete_columns:
        notes.append(_missing_note(incomplete_columns, sum(column.n_rows for column in features)))
    return notes


def _missing_note(incomplete_columns: Sequence[Column], n_cells: int) -> str:
    n_missing = sum(column.n_missing for column in incomplete_columns)
    is_single = n_missing == 1
    treatment_by_kind = {
        "number": "is imputed inside the folds" if is_single else "are imputed inside the folds",
        "text": "counts as a level of its own" if is_single else "count as a level of their own",
    }
    incomplete_kinds = [
        column_kind
        for column_kind in treatment_by_kind
        if any(column.kind == column_kind for column in incomplete_columns)
    ]
    treatment_text = (
        treatment_by_kind[incomplete_kinds[0]]
        if len(incomplete_kinds) == 1
        else "are imputed inside the folds (numbers) or count as a level of their own (text)"
    )
    return (
        f"{format_count(n_missing, 'empty cell')} ({100 * n_missing / n_cells:.1f} %) in "
        f"{format_count(len(incomplete_columns), 'column')} {treatment_text}"
    )
