"""Read a table of candidates from an array, a mapping, a frame or a file, wide or long.

A wide table holds losses: an array of shape (candidates, rows), a mapping from each candidate to
its losses, or a frame or file with a column for each candidate. A long table, a frame or file, has
a line for each candidate and row, with a loss, or with the outcome and the prediction.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.registry import check_present, suggestion_for
from truerisk.external.candidate_table import (
    CANDIDATE,
    LOSS,
    OUTCOME,
    PREDICTION,
    ROW,
    CandidateTable,
    checked_mapping,
    group_numbers_of,
    losses_as_floats,
    table_of_losses,
    trial_order,
)
from truerisk.external.long_table import read_long_table

LONG_COLUMNS = {OUTCOME, LOSS, PREDICTION, "fold", "repeat", "group", "order"}
"""Columns of long tables, which no candidate of a wide table can be."""
MAX_CELLS, MAX_BYTES = 50_000_000, 512 * 2**20
ROW_NUMBERS = {"", ROW, "index", "Unnamed: 0"}
"""Names under which other programs write the number of the row."""


def read_candidate_table(
    source: Any, *, scoring: Any, positive: Any, groups: Any, order: Any, axis: int | None
) -> CandidateTable:
    """Read and check a wide or long table from any source."""
    columns = columns_of(source)
    if columns is not None and axis is not None:
        raise BadArgument(
            f"{mention('axis', axis)} is for an array: the names of this table say what its "
            "candidates are."
        )
    if columns is None:
        losses, notes = _losses_of_array(source, axis)
        names = tuple(str(number) for number in range(len(losses)))
    else:
        if isinstance(groups, str):
            groups = columns.pop(*_known_column("groups", groups, columns))
        if CANDIDATE in columns:
            if isinstance(order, str):
                columns["order"] = columns.pop(*_known_column("order", order, columns))
                order = None
            return read_long_table(columns, scoring, positive, groups, order)
        if isinstance(order, str):
            raise BadArgument(
                f"{mention('order', order)}: the columns of this table are candidates, so order is "
                "a number for each of them, or True."
            )
        reserved = [name for name in columns if name in LONG_COLUMNS]
        if reserved:
            raise BadData(
                f"the columns {', '.join(map(repr, reserved))} are no candidates: a table with "
                "outcomes, folds or predictions has a line for each candidate and row, with the "
                f"columns {CANDIDATE!r} and {ROW!r}. Leave them out of a table of losses."
            )
        is_numbering = {n for n in columns if n in ROW_NUMBERS and _counts_rows(columns[n])}
        names = tuple(name for name in columns if name not in is_numbering)
        if not names:
            raise BadData("the table has no candidate.")
        losses = np.array([losses_as_floats(columns[n], f"column {n!r}") for n in names])
        notes = []
    return table_of_losses(
        names,
        losses,
        scoring,
        notes,
        groups=group_numbers_of(groups, losses.shape[1]),
        order=trial_order(order, len(losses)),
    )


def columns_of(source: Any) -> dict[str, np.ndarray] | None:
    """Return the columns of a mapping, frame or file by name; None for an array."""
    if isinstance(source, str | os.PathLike):
        check_present("truerisk.readers.table")
        from truerisk.external.files import read_named_columns

        return read_named_columns(source, max_cells=MAX_CELLS, max_bytes=MAX_BYTES)
    if isinstance(source, Mapping):
        return checked_mapping({str(name): values for name, values in source.items()})
    if not hasattr(source, "columns") or not hasattr(source, "__getitem__"):
        return None
    names = [str(name) for name in source.columns]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise BadData(f"two columns have the name {repeated[0]!r}: give each its own.")
    return checked_mapping({str(name): source[name] for name in source.columns})


def _known_column(argument: str, name: str, columns: Mapping[str, Any]) -> tuple[str]:
    if name not in columns:
        raise UnknownName(
            f"{mention(argument, name)} is no column of the table"
            f"{suggestion_for(name, list(columns)) or '.'}"
        )
    return (name,)


def _counts_rows(values: np.ndarray) -> bool:
    """Return True if a column contains nothing but row numbers, from 0 or from 1."""
    positions = np.arange(len(values))
    return any(np.array_equal(values, positions + first) for first in (0, 1))


def _losses_of_array(source: Any, axis: int | None) -> tuple[np.ndarray, list[str]]:
    """Return the losses of an array, which has a row for each candidate unless axis=1."""
    if axis not in (None, 0, 1) or isinstance(axis, bool):
        raise BadArgument(
            f"{mention('axis', axis)}: 0 if the candidates are the rows of the array, 1 if they "
            "are its columns."
        )
    losses = losses_as_floats(source, "the table")
    if losses.ndim != 2 or not losses.size:
        raise BadData(f"the table has shape {losses.shape}: it needs candidates and rows.")
    n_lines, n_columns = losses.shape
    if axis is None and n_lines == n_columns:
        raise BadArgument(
            f"the table has {n_lines} rows and as many columns: write axis=0 if the candidates are "
            "its rows, axis=1 if they are its columns, or give names."
        )
    notes = []
    if axis is None and n_lines > n_columns:
        notes.append(
            f"the array was read as {n_lines} candidates on {n_columns} rows; write axis=1 if the "
            "candidates are its columns"
        )
    return (losses.T if axis == 1 else losses), notes
