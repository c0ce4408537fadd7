"""Read a table of candidates from an array, a mapping, a frame or a file, wide or long.

A wide table holds losses, or values of the score that is named: an array of shape (candidates,
rows), a mapping from each candidate to its values, or a frame or file with a column for each
candidate. A long table has a line for each candidate and row:

candidate, row, [y], loss | prediction | probability_<class>..., [fold, repeat, group, order]
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_a
from truerisk.core.registry import check_present, suggestion_for
from truerisk.data.rows import is_missing
from truerisk.external.predictions import (
    RatedSets,
    class_names,
    encoded_predictions,
    finite_numbers,
    group_codes,
    label_text,
    loss_without_outcomes,
    named,
    outcome_data,
    refuse_missing,
    requested_loss,
)
from truerisk.losses.loss import RowLoss
from truerisk.results.interval import Scale
from truerisk.results.records import FINITE_RANGE

CANDIDATE, ROW, OUTCOME, LOSS, PREDICTION = "candidate", "row", "y", "loss", "prediction"
PROBABILITY = "probability_"
LONG_COLUMNS = {OUTCOME, LOSS, PREDICTION, "fold", "repeat", "group", "order"}
"""Names of columns of long tables. No candidate of a wide table can have one of these names."""
MAX_CELLS, MAX_BYTES = 50_000_000, 512 * 2**20
LEFT_OUT_NOTE = "{} has a different value in every row, so it is no candidate and is left out"
RIGHT_NOTE = "1 is read as a right answer, and 0 as a wrong one"
WRONG_NOTE = (
    "1 is read as a wrong answer, and 0 as a right one; if 1 is right, the scoring is 'accuracy'"
)
ROUNDING = 1e-9  # by which a loss may lie beyond its bounds
ROW_NAMES = {"", ROW, "index", "Unnamed: 0", "__index_level_0__", "...1", "column 1"}
"""Names that programs give to a column of row names; our readers name it "column 1"."""


@frozen(eq=False)
class CandidateTable:
    """Losses of all candidates on the same rows, and what is known about candidates and rows.

    `losses[c, i]` is the mean loss of candidate c on row i. For a score of whole sets of rows,
    `rated_sets` holds the predictions, and `losses` is the score's risk plus the influence of each
    row on it. `order` holds the candidates in the order in which they were tried, if it is known.
    `one_row` is the amount by which each candidate's risk changes if the predicted label of one row
    changes. It is 0 if the predictions are not labels.
    """

    names: tuple[str, ...]
    losses: np.ndarray
    scoring: str
    scale: Scale
    positive: Any = None
    groups: np.ndarray | None = None
    order: np.ndarray | None = None
    rated_sets: RatedSets | None = None
    one_row: np.ndarray | float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def risks(self) -> np.ndarray:
        """Each candidate's risk on all rows."""
        return self.losses.mean(axis=1) if self.rated_sets is None else self.rated_sets.risks()


def read_candidate_table(
    source: Any, *, scoring: Any, positive: Any, groups: Any, order: Any, axis: int | None
) -> CandidateTable:
    """Read and check a wide or long table from any source."""
    columns = columns_of(source)
    if columns is None:
        losses, notes = _losses_of_array(source, axis)
        names = [str(number) for number in range(len(losses))]
        return _table_of_losses(
            names, losses, scoring, notes, groups, _trials(order, len(names)), is_wide=True
        )
    if axis is not None:
        raise BadArgument(
            f"{mention('axis', axis)} is for an array: the names of this table say what its "
            "candidates are."
        )
    if isinstance(groups, str):
        complaint = f"{mention('groups', groups)} is no column of the table"
        name = known_column(groups, columns, complaint)
        groups = columns[name] if CANDIDATE in columns else columns.pop(name)
    if CANDIDATE in columns:
        if isinstance(order, str):
            complaint = f"{mention('order', order)} is no column of the table"
            columns["order"] = columns[known_column(order, columns, complaint)]
        elif order is not None and order is not False:
            raise BadArgument(
                f"{mention('order', order)}: this table has a line for each candidate and row, so "
                "order is the name of a column."
            )
        return _read_long_table(columns, scoring, positive, groups)
    if isinstance(order, str):
        raise BadArgument(
            f"{mention('order', order)}: the columns of this table are candidates, so order is "
            "a number for each of them, or True. At the command line, give a line for each "
            "candidate and row, with a column for order."
        )
    reserved = [name for name in columns if name in LONG_COLUMNS]
    if reserved:
        raise BadData(
            f"the columns {', '.join(map(repr, reserved))} are no candidates: a table with "
            "outcomes, folds or predictions has a line for each candidate and row, with the "
            f"columns {CANDIDATE!r} and {ROW!r}. Leave them out of a table of losses."
        )
    row_names = [n for n in columns if _names_rows(columns[n], is_expected=n in ROW_NAMES)]
    names = [n for n in columns if n not in row_names]
    if not names:
        raise BadData("the table has no candidate.")
    losses = np.array([_losses_as_floats(columns[n], f"column {n!r}") for n in names])
    return _table_of_losses(
        names,
        losses,
        scoring,
        [LEFT_OUT_NOTE.format(named([n])) for n in row_names if n not in ROW_NAMES],
        groups,
        _trials(order, len(names)),
        is_wide=True,
    )


def columns_of(source: Any) -> dict[str, np.ndarray] | None:
    """Return the columns of a mapping, frame or file by name; None for an array."""
    if isinstance(source, str | os.PathLike):
        check_present("truerisk.readers.table")
        from truerisk.external.files import read_named_columns

        return read_named_columns(source, max_cells=MAX_CELLS, max_bytes=MAX_BYTES)
    if isinstance(source, Mapping):
        columns = list(source.items())
    elif is_a(source, "polars:LazyFrame"):
        raise BadArgument("a LazyFrame holds no values: give what its method collect() returns.")
    elif hasattr(source, "columns") and hasattr(source, "__getitem__"):
        # The attribute `columns` of pyarrow's tables holds the values.
        has_names_apart = hasattr(type(source), "column_names")
        names = list(source.column_names if has_names_apart else source.columns)
        _refuse_repeated(names)
        columns = [(name, source[name]) for name in names]
    else:
        return None
    _refuse_repeated([name for name, _ in columns])
    arrays = {str(name): np.asarray(values) for name, values in columns}
    if not arrays:
        raise BadData("the table has no candidate.")
    first_name, first = next(iter(arrays.items()))
    for name, values in arrays.items():
        if values.ndim != 1 or len(values) != len(first):
            raise BadData(
                f"{name!r} has shape {values.shape} and {first_name!r} has shape {first.shape}: "
                "each needs one value for each of the same rows."
            )
    if not len(first):
        raise BadData("the table has no row.")
    return arrays


def _refuse_repeated(names: Sequence[Any]) -> None:
    """Raise BadData if two names are equal as texts."""
    texts = [str(name) for name in names]
    repeated = next((text for text in dict.fromkeys(texts) if texts.count(text) > 1), None)
    if repeated is not None:
        raise BadData(f"two columns have the name {repeated!r}: give each its own.")


def known_column(name: str, columns: Mapping[str, Any], complaint: str) -> str:
    """Return the name; raise UnknownName with the complaint if no column has it."""
    if name not in columns:
        raise UnknownName(f"{complaint}{suggestion_for(name, list(columns)) or '.'}")
    return name


def _names_rows(values: np.ndarray, *, is_expected: bool) -> bool:
    """Return True if a column has a different text in each row.

    Of a column that is expected to name the rows, whole numbers count as texts.
    """
    cells = values.tolist()
    if is_expected and not (values.dtype.kind == "f" and (values % 1 != 0).any()):
        cells = list(map(str, cells))
    elif any(not isinstance(cell, str) or _is_float(cell) for cell in cells):
        return False
    return len(set(cells)) == len(cells)


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
    losses = _losses_as_floats(source, "the table")
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


def _table_of_losses(
    names: Sequence[str],
    losses: np.ndarray,
    scoring: Any,
    notes: list[str],
    groups: Any,
    order: np.ndarray | None,
    *,
    is_wide: bool = False,
) -> CandidateTable:
    """Return a table of row losses, without the candidates that have no loss at all.

    A wide table holds scores instead if `scoring` is a score, whose larger values are better. The
    column 'loss' of a long table always holds losses.
    """
    name, scale, n_rows = LOSS, Scale(), losses.shape[1]
    low, high = -np.inf, np.inf
    if scoring is not None:
        loss = loss_without_outcomes(scoring)
        if not isinstance(loss, RowLoss):
            raise Refusal(
                f"{mention('scoring', scoring)} rates whole sets of rows and cannot be computed "
                "from losses of single rows: give a line for each candidate and row, with the "
                f"columns {CANDIDATE!r}, {ROW!r}, {OUTCOME!r} and {PREDICTION!r}."
            )
        name, scale = loss.name, loss.scale
        low = -np.inf if loss.lower is None else loss.lower
        high = np.inf if loss.upper is None else loss.upper
    perfect = scale.perfect if is_wide else None
    if perfect is not None:
        perfect = perfect if np.isfinite(perfect) else 0.0  # A score is then minus the loss.
        low, high = perfect - high, perfect - low
    n_known = np.isfinite(losses).sum(axis=1)
    _refuse_gaps(names, np.where(n_known > 0, n_known, n_rows), n_rows)
    kept = np.flatnonzero(n_known).tolist()
    if not kept:
        raise BadData("no candidate has a loss.")
    if len(kept) < len(names):
        failed = [names[c] for c in np.flatnonzero(n_known == 0).tolist()]
        notes = [*notes, f"candidates without losses were left out: {named(failed)}"]
        order = None if order is None else np.searchsorted(kept, order[np.isin(order, kept)])
    ids = [names[c] for c in kept if _looks_like_ids(losses[c])]
    if 0 < len(ids) < len(kept) and is_wide and order is None and np.isfinite((low, high)).all():
        # Values between two bounds cannot number the rows, so these are no candidates.
        notes = [*notes, *(LEFT_OUT_NOTE.format(named([n])) for n in ids)]
        kept = [c for c in kept if names[c] not in ids]
    elif ids:
        raise BadData(
            f"{named(ids)} {'looks' if len(ids) == 1 else 'look'} like a number of the row and not "
            "like losses: whole numbers that increase from row to row, or that count the rows. "
            f"Leave it out, or name it by {mention('groups')} if it numbers groups."
        )
    losses = losses[kept]
    noun = "loss" if perfect is None else "score"
    _refuse_other_numbers([names[c] for c in kept], losses, (low, high), name, noun)
    if is_wide and np.isin(losses, (0, 1)).all() and name in (LOSS, "zero-one", "accuracy"):
        notes = [*notes, WRONG_NOTE if perfect is None else RIGHT_NOTE]
    if perfect is not None:
        losses = perfect - losses
    return CandidateTable(
        names=tuple(names[c] for c in kept),
        losses=losses,
        scoring=name,
        scale=scale,
        groups=group_codes(groups, n_rows),
        order=order,
        one_row=1.0 / n_rows if np.isin(losses, (0, 1)).all() else 0.0,
        notes=tuple(notes),
    )


def _refuse_other_numbers(
    names: Sequence[str],
    losses: np.ndarray,
    limits: tuple[float, float],
    scoring: str,
    noun: str,
) -> None:
    """Raise BadData for numbers that no loss or score (`noun`) can have."""
    low, high = limits
    is_outside = (losses < low - ROUNDING) | (losses > high + ROUNDING)
    if is_outside.any():
        candidate, row = np.argwhere(is_outside)[0]
        bounds = f"at least {low:.15g}" if high == np.inf else f"at most {high:.15g}"
        if np.isfinite((low, high)).all():
            bounds = f"between {low:.15g} and {high:.15g}"
        raise BadData(
            f"{named([names[candidate]])} holds {losses[candidate, row]:.15g}, and a {noun} for "
            f"{mention('scoring', scoring)} is {bounds}. Name a column of groups by "
            f"{mention('groups')}, and leave out columns that are no candidates."
        )


def _looks_like_ids(values: np.ndarray) -> bool:
    """Return True for whole numbers that increase, or that count the rows in any order."""
    if len(values) < 3 or (values % 1 != 0).any():
        return False
    return bool((np.diff(values) > 0).all()) or _counts_rows(np.sort(values))


def _refuse_gaps(names: Sequence[str], n_known: np.ndarray, n_rows: int) -> None:
    """Raise BadData with the candidates that lack the losses or predictions of some rows."""
    gaps = np.flatnonzero(n_known < n_rows).tolist()
    if gaps:
        examples = [f"{names[c]} ({n_known[c]} of {n_rows} rows)" for c in gaps]
        raise BadData(
            f"{len(gaps)} of {len(names)} candidates {'lacks' if len(gaps) == 1 else 'lack'} some "
            f"rows: {named(examples)}. Candidates are compared on the same rows: complete them, or "
            "leave these candidates or rows out."
        )


def _losses_as_floats(values: Any, owner: str) -> np.ndarray:
    """Convert losses to floats, missing ones to NaN; raise BadData for others and infinity."""
    try:
        cells: np.ndarray = np.ma.asarray(values)
        if cells.dtype.kind == "O":
            is_gap = np.frompyfunc(is_missing, 1, 1)(np.ma.filled(cells, np.nan))
            cells = np.where(np.asarray(is_gap, dtype=bool), np.nan, cells)
        if cells.dtype.kind in "cmM":  # NumPy converts complex numbers and dates to floats.
            raise TypeError(cells.dtype)
        numbers = np.ma.filled(cells.astype(np.float64), np.nan)
    except (TypeError, ValueError, OverflowError):
        objects = np.ravel(np.asarray(values, dtype=object)).tolist()
        first_strange = next((one for one in objects if not _is_float(one)), objects[0])
        raise BadData(
            f"{owner} holds {repr_on_one_line(first_strange)}, which is no loss and no score. "
            "Give a column of numbers for each candidate, such as 1 for right and 0 for wrong with "
            f"{mention('scoring', 'accuracy')}, and name a column of groups by "
            f"{mention('groups')}; or give a line for each candidate and row, with the columns "
            f"{CANDIDATE!r} and {ROW!r}."
        ) from None
    if (np.abs(numbers) > FINITE_RANGE.high).any():
        raise BadData(f"{owner} holds an infinite loss: a mean of such losses says nothing.")
    return numbers


def _is_float(cell: Any) -> bool:
    """Return True if a cell can be converted to a float."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _trials(order: Any, n_candidates: int) -> np.ndarray | None:
    """Return the candidates in the order in which they were tried, or None if it is unknown."""
    if order is None or order is False:
        return None
    numbers = np.arange(n_candidates) if order is True else finite_numbers(order, "order")
    if numbers.shape != (n_candidates,):
        raise BadData(
            f"order has shape {numbers.shape}: it needs one trial number for each of "
            f"{n_candidates} candidates, or True if they stand in the order of the trials."
        )
    if len(np.unique(numbers)) < n_candidates:
        raise BadData("order needs a different trial number for each candidate.")
    return np.argsort(numbers, kind="stable")


# ---------------------------------------------------------------- long tables


def _read_long_table(
    columns: dict[str, np.ndarray], scoring: Any, positive: Any, groups: Any
) -> CandidateTable:
    """Build a table of candidates from the columns of a long table.

    `groups`, if given, holds a label for each line.
    """
    classes = [n.removeprefix(PROBABILITY) for n in columns if n.startswith(PROBABILITY)]
    missing = [n for n in (ROW, OUTCOME) if n not in columns and (n == ROW or LOSS not in columns)]
    if LOSS not in columns and PREDICTION not in columns and not classes:
        missing.append(f"{PREDICTION} (or {PROBABILITY}<class>, or {LOSS})")
    if missing:
        raise BadData(
            f"a table with the column {CANDIDATE!r} has a line for each candidate and row, and "
            f"this one lacks: {', '.join(missing)}. It has: {named(list(columns))}."
        )
    lines = _Lines.from_columns(columns)
    group_of_line = columns.get("group") if groups is None else np.asarray(groups)
    groups = None if group_of_line is None else lines.value_by_row("group", group_of_line)
    order = None
    if "order" in columns:
        trials = _one_value("order", columns["order"], lines.candidate_of_line, lines.candidates)
        order = _trials(trials, len(lines.candidates))
    if LOSS in columns:
        losses = lines.mean_by_row(lines.spread(_losses_as_floats(columns[LOSS], "column 'loss'")))
        return _table_of_losses(lines.candidates, losses, scoring, [], groups, order)
    data = outcome_data(lines.value_by_row(OUTCOME, columns[OUTCOME]), scoring, bool(classes))
    loss = requested_loss(scoring, data, positive)
    probabilities, labels = None, class_names(data)
    if classes:
        if set(classes) != set(labels):
            raise BadData(
                f"y has the classes {named(labels)}, and the columns of probabilities are of "
                f"{named(classes)}: each class needs a column {PROBABILITY}<class>."
            )
        names = [f"{PROBABILITY}{label}" for label in labels]
        probabilities = np.column_stack(
            [finite_numbers(columns[n], f"column {n!r}") for n in names]
        )
    encoded = encoded_predictions(data, loss, columns.get(PREDICTION), probabilities)
    values, rows = lines.spread(encoded), lines.row_of_position
    common: dict[str, Any] = {
        "names": lines.candidates,
        "scoring": loss.name,
        "scale": loss.scale,
        "positive": loss.label(data),
        "groups": group_codes(groups, data.n_rows),
        "order": order,
    }
    if isinstance(loss, RowLoss):
        losses = lines.mean_by_row(loss.of_rows(data, rows, values))
        if not np.isfinite(losses).all():
            c, row = np.argwhere(~np.isfinite(losses))[0]
            raise BadData(
                f"candidate {lines.candidates[c]!r} has an infinite loss on row {lines.rows[row]}: "
                "its probability of the observed class is 0."
            )
        is_error_count = loss.response == "label" and loss.binary
        one_row = 1.0 / data.n_rows if is_error_count else 0.0
        return CandidateTable(losses=losses, one_row=one_row, **common)
    rated_sets = RatedSets(data, loss, rows, values, lines.test_sets)
    # A loss that takes no weights raises Refusal here. The bootstrap would leave its sets out.
    first_set = lines.test_sets[0]
    loss.of_set(data, rows[first_set], values[:, first_set], np.ones(len(rows[first_set])))
    return CandidateTable(
        losses=rated_sets.losses_by_influence(),
        one_row=rated_sets.one_row_effects(),
        rated_sets=rated_sets,
        **common,
    )


@frozen(eq=False)
class _Lines:
    """Candidate and row of each line of a long table, and the lines sorted by candidate.

    The lines of each candidate are sorted by repeat, fold and row. They are the same for all
    candidates, and a test set is a slice of them. `row_of_position` holds their rows.
    """

    candidates: tuple[str, ...]
    rows: tuple[str, ...]
    candidate_of_line: np.ndarray
    row_of_line: np.ndarray
    sorted_lines: np.ndarray
    row_of_position: np.ndarray
    test_sets: tuple[slice, ...]

    @classmethod
    def from_columns(cls, columns: Mapping[str, np.ndarray]) -> _Lines:
        """Sort the lines; raise if a candidate lacks a row, has it twice or has other folds."""
        candidates, candidate_of_line = _numbered(CANDIDATE, columns)
        rows, row_of_line = _numbered(ROW, columns, sort=True)
        repeat, fold = (
            _numbered(n, columns, sort=True)[1] if n in columns else np.zeros_like(row_of_line)
            for n in ("repeat", "fold")
        )
        tests, test_of_line = np.unique(repeat * len(rows) + row_of_line, return_inverse=True)
        cells = candidate_of_line * len(tests) + test_of_line
        counts = np.bincount(cells, minlength=len(candidates) * len(tests))
        counts = counts.reshape(len(candidates), len(tests))
        if counts.max() > 1:
            c, test = np.argwhere(counts > 1)[0]
            remedy = "" if "repeat" in columns else " Number repeated tests in a column 'repeat'."
            raise BadData(
                f"candidate {candidates[c]!r} has {counts[c, test]} lines for row "
                f"{rows[tests[test] % len(rows)]}{' in one repeat' if not remedy else ''}.{remedy}"
            )
        _refuse_gaps(candidates, counts.sum(axis=1), len(tests))
        fold_of_test = np.empty(len(tests), dtype=np.int64)
        fold_of_test[test_of_line] = fold
        differs = np.flatnonzero(fold_of_test[test_of_line] != fold)
        if len(differs):
            raise BadData(
                f"row {rows[row_of_line[differs[0]]]} is in one fold for a candidate and in "
                "another for a second one: candidates are compared on the same folds."
            )
        set_of_line = repeat * (1 + fold.max()) + fold
        sorted_lines = np.lexsort((row_of_line, set_of_line, candidate_of_line))
        positions = sorted_lines[: len(tests)]  # They are the lines of the first candidate.
        starts = np.flatnonzero(np.diff(set_of_line[positions], prepend=-1)).tolist()
        return cls(
            candidates,
            rows,
            candidate_of_line,
            row_of_line,
            sorted_lines,
            row_of_line[positions],
            tuple(map(slice, starts, [*starts[1:], len(tests)])),
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Arrange the values of lines in an array of shape (candidates, positions, ...)."""
        shape = len(self.candidates), len(self.row_of_position), *values.shape[1:]
        return values[self.sorted_lines].reshape(shape)

    def mean_by_row(self, losses: np.ndarray) -> np.ndarray:
        """Return the mean loss of each row over its positions, which are its repeats."""
        sums = [np.bincount(self.row_of_position, one) for one in losses]
        return np.asarray(np.array(sums) / np.bincount(self.row_of_position))

    def value_by_row(self, name: str, values: np.ndarray) -> np.ndarray:
        """Return the value of each row in a column; raise BadData if a row has two values."""
        return _one_value(name, values, self.row_of_line, self.rows)


def _one_value(
    name: str, values: np.ndarray, owner_of_line: np.ndarray, owners: tuple[str, ...]
) -> np.ndarray:
    """Return the value in a column of each row, or of each candidate for the column 'order'."""
    if values.shape != owner_of_line.shape:
        raise BadData(
            f"{name} has shape {values.shape} for {len(owner_of_line)} lines: a table with a line "
            "for each candidate and row needs one for each line, or the name of a column."
        )
    refuse_missing(f"column {name!r}", values)
    found = np.empty(len(owners), dtype=values.dtype)
    found[owner_of_line] = values
    differs = np.flatnonzero(found[owner_of_line] != values)
    if len(differs):
        line, noun = differs[0], CANDIDATE if name == "order" else ROW
        owner = owner_of_line[line]
        raise BadData(
            f"column {name!r} has {values[line]!s} and {found[owner]!s} for {noun} "
            f"{owners[owner]}: give each {noun} one value."
        )
    return found


def _numbered(
    name: str, columns: Mapping[str, np.ndarray], *, sort: bool = False
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the distinct values of a column as texts and the number of each line's value.

    The values stand in the order in which they first occur. With `sort`, numbers are sorted by size
    and texts by letters.
    """
    refuse_missing(f"column {name!r}", columns[name])
    texts = [label_text(value) for value in columns[name].tolist()]
    names = list(dict.fromkeys(texts))
    if sort:
        names.sort(key=float if columns[name].dtype.kind in "iuf" else str)
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(names), np.array([numbers[text] for text in texts], dtype=np.int64)
