"""A delimited file as features and target, with what was inferred said in sentences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.registry import closest
from truerisk.datasets.cells import Cells, cells_of, side_by_side
from truerisk.datasets.columns import MISSING, Column, Kind, number, numbers_rows, read_column
from truerisk.datasets.formats import read_columns
from truerisk.datasets.grid import Columns
from truerisk.datasets.target import Target, Task, read_target
from truerisk.datasets.wording import counted, listed, quoted

__all__ = ["MAX_BYTES", "MAX_CELLS", "Table", "read_table"]

MAX_CELLS = 10_000_000
MAX_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class Table:
    """Features and target of a file.

    Attributes
    ----------
    X : float64 array (n_rows, n_features)
        Numbers as they are, text as positions in its sorted levels, missing cells as NaN.
    y : array (n_rows,)
        Integers or text for a classification, floats for a regression.
    target, task : str
        The target's name, and "classification" or "regression".
    feature_names : tuple of str
    kinds : tuple of "number" or "text"
    levels : tuple of tuples of str
        The levels of each text column; empty for numbers.
    missing : tuple of int
        Missing cells of each feature.
    left_out : tuple of str
        Columns that carry nothing and are no features.
    notes : tuple of str
        What was inferred or left out, one sentence each.
    groups : array (n_rows,) of text, optional
        The cells of the column that was named as groups; it is no feature.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    target: str
    task: Task
    feature_names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[tuple[str, ...], ...]
    missing: tuple[int, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    groups: NDArray[Any] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        """Number of classes, 0 for a regression."""
        return len(np.unique(self.y)) if self.task == "classification" else 0

    @property
    def n_missing(self) -> int:
        return sum(self.missing)

    @property
    def numeric(self) -> tuple[int, ...]:
        """Positions of the columns of numbers."""
        return tuple(j for j, kind in enumerate(self.kinds) if kind == "number")

    @property
    def text(self) -> tuple[int, ...]:
        """Positions of the columns of text."""
        return tuple(j for j, kind in enumerate(self.kinds) if kind == "text")


def read_table(
    path: str | os.PathLike[str],
    target: str,
    *,
    groups: str | None = None,
    target_type: Task | None = None,
    delimiter: str | None = None,
    max_cells: int = MAX_CELLS,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Read a table of named columns: CSV, TSV, ARFF, LIBSVM, Parquet or Arrow.

    Text files are UTF-8, plain or packed by gzip, bzip2, xz or zip. Parquet and Arrow need polars
    (``pip install 'truerisk[io]'``). A LIBSVM file (.libsvm, .svmlight, .svm) has the target
    ``label`` and the columns x1, x2, ...

    Parameters
    ----------
    path : str or path
    target : str
        The column to predict.
    groups : str, optional
        The column that says which rows belong together, such as those of one patient. It is
        no feature. Of a LIBSVM file it may be ``qid``.
    target_type : "classification" or "regression", optional
        By default text is classified, integers with at most ten different values too,
        and all other numbers are regressed on.
    delimiter : str, optional
        By default a comma for .csv, a tab for .tsv and .tab, else the one of , ; tab |
        that splits the first rows evenly.
    max_cells, max_bytes : int
        Caps on the cells and on the decompressed bytes; beyond them the file is refused
        before it is held in memory.

    Raises
    ------
    BadData
        One sentence: what is wrong, on which line or column, what to do. The options it
        names are those of the command line; here they are arguments (--target-type is
        `target_type`).
    UnknownName
        The file has no column `target` or `groups`; the closest one is named.
    """
    if not isinstance(path, str | os.PathLike):
        raise BadArgument(f"path={shown(path)}: give the path of a file.")
    if not isinstance(target, str):
        raise BadArgument(f"target={shown(target)}: give the name of the column to predict.")
    if groups is not None and not isinstance(groups, str):
        raise BadArgument(f"groups={shown(groups)}: give the name of the column of groups.")
    found = read_columns(
        path,
        delimiter=_checked(delimiter),
        max_cells=max_cells,
        max_bytes=max_bytes,
        aside={name.strip() for name in (target, groups) if name is not None},
    )
    found, together = _apart(found, groups)
    place = _place_of(target, found, groups)
    names, cells, lines = found.names, found.cells, found.lines
    if names[place] in found.text and target_type is None:
        target_type = "classification"
    goal = read_target(names[place], cells_of(cells[place]), lines, target_type)
    columns = [
        read_column(name, cells_of(column), lines, as_text=name in found.text)
        for j, (name, column) in enumerate(zip(names, cells, strict=True))
        if j != place
    ]
    if place > 0:
        columns = _without_numbering(columns)
    table = _table(names[place], goal, columns)
    said = [] if found.note is None else [found.note]
    said += [
        f"column {quoted(name)} is no feature; if its rows belong together: --groups {name}"
        for name in found.aside
        if name != groups
    ]
    return replace(table, groups=together, notes=table.notes + tuple(said))


def _apart(found: Columns, groups: str | None) -> tuple[Columns, NDArray[Any] | None]:
    """The columns without that of the groups, and its cells."""
    if groups is None:
        return found, None
    bare = groups.strip()
    if bare in found.aside:
        return found, _group_labels(bare, cells_of(found.aside[bare]), found.lines)
    place = _place_of(groups, replace(found, names=[*found.names, *found.aside]))
    labels = _group_labels(bare, cells_of(found.cells[place]), found.lines)
    kept = [j for j in range(len(found.names)) if j != place]
    names, cells = [found.names[j] for j in kept], [found.cells[j] for j in kept]
    return replace(found, names=names, cells=cells), labels


def _group_labels(name: str, cells: Cells, lines: Sequence[int]) -> NDArray[Any]:
    cells = cells.as_words()
    told = cells.tally
    labels = [word.strip() for word in told.words]
    nameless = [label in MISSING for label in labels]
    if any(nameless):
        raise BadData(
            f"column {quoted(name)} says no group on line {lines[told.first_row(nameless)]}: give "
            "every row one, a group of its own if it stands alone."
        )
    return np.array(labels)[cells.codes()]


def _checked(delimiter: str | None) -> str | None:
    named = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if named is not None and (len(named) != 1 or named in '\r\n" '):
        raise BadData(f"--delimiter {quoted(named)} is not a single separating character.")
    return named


def _place_of(target: str, grid: Columns, groups: str | None = None) -> int:
    bare = target.strip()
    if groups is not None and bare == groups.strip():
        raise BadData(f"column {quoted(bare)} is named as the target and as the groups.")
    if bare in grid.names:
        return grid.names.index(bare)
    folded = [name.casefold() for name in grid.names]
    if folded.count(bare.casefold()) == 1:
        hint = f"; did you mean {quoted(grid.names[folded.index(bare.casefold())])}?"
    else:
        hint = closest(quoted(bare)[1:-1], [quoted(name)[1:-1] for name in grid.names])
    if not hint and all(number(name) is not None for name in grid.names):
        hint = "; its first line holds only numbers: is the header missing?"
    raise UnknownName(
        f"the file has no column {quoted(bare)}{hint or '.'} Its columns: {listed(grid.names)}."
    )


def _without_numbering(columns: list[Column]) -> list[Column]:
    """The columns with the first left out if it counts the rows and is not the only feature."""
    first, *others = columns
    if first.kind == "text" or not numbers_rows(first):
        return columns
    if all(column.left_out is not None for column in others):
        return columns
    return [replace(first, left_out="numbers the rows"), *others]


def _table(target: str, goal: Target, columns: Sequence[Column]) -> Table:
    features = [column for column in columns if column.left_out is None]
    if not features:
        raise BadData(_no_features(target, columns))
    return Table(
        X=side_by_side([(column.cells, column.of_words) for column in features]),
        y=goal.y,
        target=target,
        task=goal.task,
        feature_names=tuple(column.name for column in features),
        kinds=tuple(column.kind for column in features),
        levels=tuple(column.levels for column in features),
        missing=tuple(column.n_missing for column in features),
        left_out=tuple(column.name for column in columns if column.left_out is not None),
        notes=tuple(_notes(goal, columns, features)),
    )


def _no_features(target: str, columns: Sequence[Column]) -> str:
    if not columns:
        return f"the file has no column but the target {quoted(target)}: add features."
    reasons = "; ".join(f"{quoted(c.name)} {c.left_out}" for c in columns[:3])
    more = "; ..." if len(columns) > 3 else ""
    return f"no column is left to learn from ({reasons}{more}): add features that vary."


def _notes(goal: Target, columns: Sequence[Column], features: Sequence[Column]) -> list[str]:
    notes = [goal.note]
    for column in columns:
        if column.left_out is not None:
            notes.append(f"column {quoted(column.name)} {column.left_out} and is left out")
        elif column.note is not None:
            notes.append(column.note)
    return notes + _preparation_notes(features)


def _preparation_notes(features: Sequence[Column]) -> list[str]:
    notes = []
    text = [column.name for column in features if column.kind == "text"]
    if text:
        verb = "is" if len(text) == 1 else "are"
        which = counted(len(text), "text column")
        notes.append(f"{which} ({listed(text)}) {verb} one-hot encoded inside the folds")
    holes = [column for column in features if column.n_missing]
    if holes:
        notes.append(_missing_note(holes, sum(column.n_rows for column in features)))
    return notes


def _missing_note(holes: Sequence[Column], n_cells: int) -> str:
    n_missing = sum(column.n_missing for column in holes)
    one = n_missing == 1
    fate = {
        "number": "is imputed inside the folds" if one else "are imputed inside the folds",
        "text": "counts as a level of its own" if one else "count as a level of their own",
    }
    kinds = [kind for kind in fate if any(column.kind == kind for column in holes)]
    said = (
        fate[kinds[0]]
        if len(kinds) == 1
        else "are imputed inside the folds (numbers) or count as a level of their own (text)"
    )
    return (
        f"{counted(n_missing, 'empty cell')} ({100 * n_missing / n_cells:.1f} %) in "
        f"{counted(len(holes), 'column')} {said}"
    )
