"""Checks of the rows that every call makes once: near copies, order, group numbers, few events.

Structure among rows makes the estimates of shuffled folds too good. Structure means near copies,
rows in order, and columns that hold the number of a group. Few rows of a class, or few events, make
a score uncertain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.checks.agreement import (
    FEWEST_ROWS,
    columns_in_order,
    order_given_columns,
    order_of_outcomes,
    outcome_of,
)
from truerisk.checks.copies import ColumnScales, NearCopies, find_copies
from truerisk.checks.group_numbers import (
    FEWEST_VALUES,
    MOST_ROWS_OF_NAMED,
    GroupNumber,
    group_number,
)
from truerisk.core.formats import escape_and_truncate, join_words
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import codes_of_cells, column_at, column_names, n_columns
from truerisk.losses.loss import Events, Loss
from truerisk.results.finding import Finding

MOST_ROWS = 5000  # largest number of rows among which neighbours are searched
MOST_ROWS_OF_GROUPS = 20_000  # largest number of rows in the search for group numbers
MOST_ROWS_IN_ORDER = 50_000  # largest number of rows in the test for an order of y
MOST_ROWS_EXPLAINED = 1000  # largest number of rows for the regression of y on the columns
MOST_CELLS, MOST_COLUMNS = 100_000, 200  # largest numbers of cells and of columns in one check
ROWS_OF_BLOCK = 8192  # A block of this many rows fits into the processor's cache.
# A value that a larger share of the rows has is a category, even in a column of measurements.
LUMP_SHARE = 0.1
FEWEST_VALUES_OF_LUMPS = 20  # Frequent values are sought in columns with more distinct values.
LONGEST_LABEL = 200  # Cells with more characters do not name a group.
FEWEST_NUMERIC_VALUES = 8  # A numeric column with fewer values is a category.
WORDS_OF_GROUPS = (
    "id|ids|patient|subject|person|user|customer|donor|group|family|site|batch|animal|mouse|case"
)
NAME_OF_GROUP = re.compile(rf"(?:^|[^a-z])(?:{WORDS_OF_GROUPS})(?:[^a-z]|$)", re.IGNORECASE)


def structure_findings(data: Data, seed: int = 0) -> list[Finding]:
    """Look for near copies, rows in order and columns that hold group numbers.

    Parameters
    ----------
    data : Data
        The table. If it has groups, it is not checked for copies and group numbers; if it has times
        or places, not for copies and order.
    seed : int, default 0
        Seed of the random samples of rows and columns that are taken from large tables.

    Returns
    -------
    list of Finding
        Findings with the codes `near-copies`, `rows-in-order` and `group-numbers`. Sparse tables,
        lists and arrays without columns are only checked for an order of y.
    """
    if data.n_rows < FEWEST_ROWS:
        return []
    findings: list[Finding] = []
    column_cache: ColumnCache = {}
    for check in (_copies_check, _order_check, _group_numbers):
        finding = check(data, np.random.default_rng([seed, data.n_rows]), column_cache)
        if finding is not None:
            findings.append(finding)
    return findings


# ---------------------------------------------------------------- columns of the table


@frozen(eq=False)
class _Columns:
    """Some columns of a table for some of its rows; each column is one row of the arrays.

    Parameters
    ----------
    X : array or frame
        The whole table.
    positions : sequence of int
        Positions of these columns in the table.
    numbers : ndarray of shape (p, n)
        The cells as finite numbers; missing values are replaced by the median. The numbers of a
        column without `is_number` have no meaning.
    is_number : ndarray of shape (p,)
        True for numeric columns with few missing values that are not constant.
    codes : ndarray of shape (p, n)
        A code for each cell, the same for equal cells, in the order of the numbers.
    n_values : ndarray of shape (p,)
        Numbers of distinct values.
    """

    X: Any
    positions: Sequence[int]
    numbers: np.ndarray
    is_number: np.ndarray
    codes: np.ndarray
    n_values: np.ndarray

    @classmethod
    def read(cls, X: Any, positions: Sequence[int], rows: np.ndarray) -> _Columns:
        """Read the columns at these positions, for these rows."""
        numbers, is_number = _read_numbers(X, positions, rows)
        codes = np.empty(numbers.shape, dtype=np.int64)
        for j in np.flatnonzero(~is_number).tolist():
            codes[j] = _codes_of_texts(_cells(X, positions[j], rows))
        numeric = numbers[is_number]
        row_order = np.argsort(numeric, axis=1)
        sorted_numbers = np.take_along_axis(numeric, row_order, axis=1)
        ranks, codes_of_numeric = (
            np.zeros(numeric.shape, dtype=np.int64),
            np.empty(numeric.shape, dtype=np.int64),
        )
        np.cumsum(sorted_numbers[:, 1:] > sorted_numbers[:, :-1], axis=1, out=ranks[:, 1:])
        np.put_along_axis(codes_of_numeric, row_order, ranks, axis=1)
        codes[is_number] = codes_of_numeric
        return cls(X, positions, numbers, is_number, codes, codes.max(axis=1) + 1)

    def steps(self, which: np.ndarray) -> np.ndarray:
        """Return the median step between neighbouring distinct numbers of each of these columns."""
        gaps = np.diff(np.sort(self.numbers[which], axis=1), axis=1)
        gaps.sort(axis=1)  # The differences of equal numbers, which are 0, come first.
        columns, n_gaps = np.arange(len(which)), self.n_values[which] - 1
        first_gaps = gaps.shape[1] - n_gaps
        lower_steps, upper_steps = (
            gaps[columns, first_gaps + (n_gaps - 1) // 2],
            gaps[columns, first_gaps + n_gaps // 2],
        )
        return np.asarray((lower_steps + upper_steps) / 2)


ColumnCache = dict[tuple[int, ...], _Columns]
"""Cache of columns that were read for all rows, by their positions. Several checks use them."""


def _read_numbers(
    X: Any, positions: Sequence[int], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns as finite numbers, and a mask of those that are numeric and vary."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        block = X[np.ix_(rows, np.array(positions, dtype=np.intp))]
        numbers = np.ascontiguousarray(block.T, dtype=np.float64)
        is_number = np.full(len(positions), True)
    else:
        numbers = np.zeros((len(positions), len(rows)))
        is_number = np.full(len(positions), False)
        for j, position in enumerate(positions):
            cells = _cells(X, position, rows)
            if cells.dtype.kind not in "mMc":
                with suppress(TypeError, ValueError, OverflowError):
                    numbers[j] = cells.astype(np.float64)
                    is_number[j] = True
    lowest, highest = numbers.min(axis=1), numbers.max(axis=1)
    for j in np.flatnonzero(~(np.isfinite(lowest) & np.isfinite(highest))).tolist():
        is_finite = np.isfinite(numbers[j])
        if is_finite.mean() < 0.8:
            lowest[j] = highest[j] = 0.0
        else:
            numbers[j] = np.where(is_finite, numbers[j], np.median(numbers[j][is_finite]))
            lowest[j], highest[j] = numbers[j].min(), numbers[j].max()
    largest = np.maximum(-lowest, highest)
    extreme = (largest > 0) & ~((largest > 1e-100) & (largest < 1e100))
    # Extreme columns are rescaled; otherwise squares of their numbers overflow or underflow.
    numbers[extreme] /= largest[extreme, None]
    return numbers, is_number & (lowest < highest)


def _cells(X: Any, position: int, rows: np.ndarray) -> np.ndarray:
    """Return the cells of one column for these rows."""
    return np.asarray(column_at(X, position))[rows]


def _codes_of_texts(cells: np.ndarray) -> np.ndarray:
    """Return a category code for each cell of a column that is constant or not numeric."""
    if any(len(str(cell)) > LONGEST_LABEL for cell in cells[:FEWEST_ROWS].tolist()):
        return np.arange(len(cells))  # Long texts name no group, and comparing them is slow.
    return codes_of_cells(cells)


def _read_columns(
    data: Data,
    rows: np.ndarray,
    most_columns: int,
    rng: np.random.Generator,
    column_cache: ColumnCache,
) -> _Columns:
    """Read the columns of the table, or at most `most` of them, selected at random.

    Columns whose name suggests a group number are always selected. In an array without names,
    columns of integers are selected before others.
    """
    X, most_columns = data.X, min(most_columns, MOST_COLUMNS)
    if not n_columns(X) or hasattr(X, "tocsr"):
        return _Columns.read(np.empty((data.n_rows, 0)), (), rows)
    names = column_names(X)
    X = np.asarray(X) if names is None else X
    n_columns_of_X = X.shape[1]
    chosen_columns = np.arange(n_columns_of_X)
    if n_columns_of_X > most_columns:
        named_columns = [j for j, name in enumerate(names or ()) if NAME_OF_GROUP.search(name)][
            :most_columns
        ]
        other_columns = rng.permutation(np.setdiff1d(chosen_columns, named_columns))
        if names is None and X.dtype.kind == "f":
            first_rows = X[:FEWEST_ROWS]
            is_whole = (first_rows == np.floor(first_rows)).all(axis=0)
            other_columns = other_columns[np.argsort(~is_whole[other_columns], kind="stable")]
        chosen_columns = np.sort(
            np.r_[named_columns, other_columns[: most_columns - len(named_columns)]].astype(
                np.int64
            )
        )
    positions = tuple(chosen_columns.tolist())
    if len(rows) < data.n_rows:
        return _Columns.read(X, positions, rows)
    if positions not in column_cache:
        column_cache[positions] = _Columns.read(X, positions, rows)
    return column_cache[positions]


def _rows_of_slices(
    X: Any, positions: Sequence[int], n: int, most_rows: int, rng: np.random.Generator
) -> list[np.ndarray | None]:
    """Return, for each column, the rows whose number lies in an interval.

    Each interval is chosen to contain about `most_rows` rows. Rows with equal or nearly equal
    numbers stay together, unlike in a random sample. The entry is None if the column is not
    numeric, or if too many rows share a few numbers.
    """
    random_draws = [(rng.choice(n, 2000), rng.random()) for _ in positions]
    share = most_rows / n
    rows_by_column: list[np.ndarray] | None = None
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        samples = [X[rows, j] for (rows, _), j in zip(random_draws, positions, strict=True)]
        bounds = [
            _bounds(sample, start, share)
            for sample, (_, start) in zip(samples, random_draws, strict=True)
        ]
        rows_by_column = _rows_between(X, positions, np.array(bounds).reshape(-1, 2))
    slices: list[np.ndarray | None] = []
    for i, (position, (sampled, start)) in enumerate(zip(positions, random_draws, strict=True)):
        rows = np.arange(n) if rows_by_column is None else rows_by_column[i]
        if rows_by_column is None:
            (numbers,), (is_number,) = _read_numbers(X, [position], rows)
            if is_number:
                lower_bound, upper_bound = _bounds(numbers[sampled], start, share)
                rows = np.flatnonzero((numbers >= lower_bound) & (numbers <= upper_bound))
        slices.append(rows if len(rows) <= 2 * most_rows else None)
    return slices


def _bounds(sample: np.ndarray, start: float, share: float) -> tuple[float, float]:
    """Return two quantiles of a sample that enclose the given share of it."""
    start_share, end_share = start * (1 - share), start * (1 - share) + share
    lower_bound, upper_bound = np.sort(sample)[
        [int(len(sample) * start_share), min(1999, int(len(sample) * end_share))]
    ]
    return float(lower_bound), float(upper_bound)


def _rows_between(
    table: np.ndarray, column_numbers: Sequence[int], bounds: np.ndarray
) -> list[np.ndarray] | None:
    """Return, for each chosen column, the rows with numbers between its bounds.

    Return None if a cell is not finite. Blocks of rows are transposed in the processor's cache,
    because reading one column of a row-major table reads the whole table.
    """
    lower_bounds, upper_bounds = bounds.T[:, :, None]
    row_blocks: list[list[np.ndarray]] = [[] for _ in column_numbers]
    for start in range(0, len(table), ROWS_OF_BLOCK):
        block = np.ascontiguousarray(table[start : start + ROWS_OF_BLOCK, column_numbers].T)
        if not np.isfinite(block.sum()):
            return None
        for rows, is_inside in zip(
            row_blocks, (block >= lower_bounds) & (block <= upper_bounds), strict=True
        ):
            rows.append(np.flatnonzero(is_inside) + start)
    return [np.concatenate(rows) for rows in row_blocks]


# ---------------------------------------------------------------- near copies


def _copies_check(
    data: Data, rng: np.random.Generator, column_cache: ColumnCache
) -> Finding | None:
    if data.groups is not None or data.dependent:
        return None
    n = data.n_rows
    is_large = n > MOST_ROWS
    rows = np.sort(rng.choice(n, MOST_ROWS, replace=False)) if is_large else np.arange(n)
    columns = _read_columns(data, rows, max(2, MOST_CELLS // len(rows)), rng, column_cache)
    is_measured = columns.is_number & (columns.n_values >= FEWEST_NUMERIC_VALUES)
    is_category = (columns.n_values > 1) & (columns.n_values - 1 < len(rows) / 2) & ~is_measured
    measured_columns, category_columns = np.flatnonzero(is_measured), np.flatnonzero(is_category)
    if len(measured_columns) < 2:
        return None
    spread = columns.numbers[measured_columns].std(axis=1)
    if is_large:
        finest_column = columns.positions[
            measured_columns[columns.n_values[measured_columns].argmax()]
        ]
        (slice_rows,) = _rows_of_slices(columns.X, [finest_column], n, MOST_ROWS, rng)
        if slice_rows is not None:
            rows, columns = slice_rows, _Columns.read(columns.X, columns.positions, slice_rows)
    outcome = outcome_of(data.codes, data.y, rows)
    # A column may be constant in the slice of rows, and then it has no numbers.
    is_numeric_in_rows = columns.is_number[measured_columns]
    measured_columns, spread = measured_columns[is_numeric_in_rows], spread[is_numeric_in_rows]
    if outcome is None or len(measured_columns) < 2:
        return None
    X = np.ascontiguousarray(columns.numbers[measured_columns].T)
    scale = ColumnScales(
        spread, columns.n_values[measured_columns], columns.steps(measured_columns)
    )
    category_codes = _codes_of_frequent_values(columns.codes[measured_columns])
    copies = find_copies(
        X, _combine_codes(category_codes) if category_codes else None, outcome, rng, scale
    )
    if len(category_columns) and (copies is None or not copies.is_found):
        category_codes += list(columns.codes[category_columns])
        copies = find_copies(X, _combine_codes(category_codes), outcome, rng, scale)
    return _copies_finding(copies) if copies is not None and copies.is_found else None


def _codes_of_frequent_values(codes: np.ndarray) -> list[np.ndarray]:
    """Code the values that many rows share, such as zero, for each column that has such values.

    All other cells have the code 0. Rows with such a common value lie in a plane of their own, and
    distances within the plane have another distribution than distances to rows outside. Columns
    without such values are left out.
    """
    codes_of_lumps = []
    for column in codes:
        counts = np.bincount(column)
        frequent = np.flatnonzero(counts > LUMP_SHARE * len(column))
        if len(frequent) and len(counts) > FEWEST_VALUES_OF_LUMPS:
            code = np.zeros(len(counts), dtype=np.int64)
            code[frequent] = 1 + np.arange(len(frequent))
            codes_of_lumps.append(code[column])
    return codes_of_lumps


def _combine_codes(codes: Sequence[np.ndarray]) -> np.ndarray:
    """Return one code for each combination of the codes of several columns."""
    combined_codes = codes[0]
    for further_codes in codes[1:]:
        pair_codes = combined_codes * (int(further_codes.max()) + 1) + further_codes
        combined_codes = np.unique(pair_codes, return_inverse=True)[1].ravel()
    return combined_codes


def _copies_finding(copies: NearCopies) -> Finding:
    cluster_size = round(copies.size)
    other_rows = (
        "another row is" if cluster_size == 2 else f"about {cluster_size - 1} other rows are"
    )
    sentence = (
        f"{copies.share:.0%} of the rows lie in small clusters: {other_rows} much nearer to "
        "them than "
        f"the next one, which is {copies.ratio:.1f} times as far away (of independent rows 5% do)."
    )
    if copies.errors > 3 and copies.inside - copies.outside > 0.1:
        sentence += (
            f" Within a cluster y agree by {copies.inside:.2f}, with the rows beyond by "
            f"{copies.outside:.2f} (0 is chance, 1 is equal)."
        )
    return Finding(
        "near-copies",
        sentence,
        "If a case was measured several times, give groups and split by them: folds that test a "
        "row by its own copy promise too much.",
    )


# ---------------------------------------------------------------- rows in order


def _order_check(data: Data, rng: np.random.Generator, column_cache: ColumnCache) -> Finding | None:
    if data.dependent:
        return None
    rows = _consecutive_rows(np.arange(data.n_rows), MOST_ROWS_IN_ORDER, rng)
    outcome = outcome_of(data.codes, data.y, rows)
    if outcome is None:
        return None
    order_found = order_of_outcomes(outcome, None if data.groups is None else data.groups[rows])
    if order_found is None:
        return None
    rows = _consecutive_rows(rows, MOST_ROWS_EXPLAINED, rng)
    columns = _read_columns(data, rows, MOST_CELLS // len(rows), rng, column_cache)
    numbers = np.where(columns.is_number[:, None], columns.numbers, columns.codes)
    X = np.ascontiguousarray(numbers[columns.n_values > 1].T)
    ordered_columns = columns_in_order(X)
    residual_text, explained_outcome = "", outcome_of(data.codes, data.y, rows)
    if len(ordered_columns) and explained_outcome is not None:
        residual_correlation, residual_bound = order_given_columns(
            X[:, ordered_columns], explained_outcome
        )
        order_found = replace(
            order_found, residual=residual_correlation, residual_bound=residual_bound
        )
        residual_text = f", and by {residual_correlation:.2f} after what columns of X explain"
    if not order_found.is_found:
        return None
    return Finding(
        "rows-in-order",
        f"Rows that follow each other have similar y: they agree by {order_found.correlation:.2f}"
        f"{residual_text} (0 is chance; a random order of the rows exceeds "
        f"{order_found.bound:.2f} in 1 of "
        "2,000 tables).",
        "If the rows were taken one after the other, give time=; if rows of one case stand "
        "together, give groups. Shuffled folds test a row by its neighbours.",
    )


def _consecutive_rows(rows: np.ndarray, most_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most `most_rows` consecutive rows, starting at a random row."""
    if len(rows) <= most_rows:
        return rows
    start = int(rng.integers(len(rows) - most_rows + 1))
    return rows[start : start + most_rows]


# ---------------------------------------------------------------- group numbers


def _group_numbers(
    data: Data, rng: np.random.Generator, column_cache: ColumnCache
) -> Finding | None:
    if data.groups is not None:
        return None
    n, names = data.n_rows, column_names(data.X)
    rows = np.arange(min(n, MOST_ROWS_OF_GROUPS))
    outcome_of_all = outcome_of(data.codes, data.y, rows)
    columns = _read_columns(data, rows, max(8, MOST_CELLS // len(rows)), rng, column_cache)
    slices: dict[int, np.ndarray | None] = {}
    if n > MOST_ROWS_OF_GROUPS:
        numeric_positions = [
            columns.positions[j] for j in np.flatnonzero(columns.is_number).tolist()
        ]
        slice_rows = _rows_of_slices(columns.X, numeric_positions, n, MOST_ROWS_OF_GROUPS, rng)
        slices = dict(zip(numeric_positions, slice_rows, strict=True))
    by_name, by_agreement = [], []
    for j, position in enumerate(columns.positions):
        outcome, codes, column_rows = outcome_of_all, columns.codes[j], rows
        if position in slices:
            rows_of_slice = slices[position]
            if rows_of_slice is None:
                continue
            column_rows, outcome = rows_of_slice, outcome_of(data.codes, data.y, rows_of_slice)
            (codes,) = _Columns.read(columns.X, [position], column_rows).codes
        n_values = int(codes.max()) + 1
        if outcome is None or not FEWEST_VALUES <= n_values <= len(codes) / 2:
            continue
        if _only_repeats_rows(data, column_rows, n_values):
            continue
        name = (
            f"column {position}"
            if names is None
            else repr(escape_and_truncate(names[position], 40))
        )
        agreement = group_number(codes, outcome, has_order=bool(columns.is_number[j]))
        if agreement is not None and agreement.is_found:
            by_agreement.append((name, agreement))
        elif (
            names is not None
            and NAME_OF_GROUP.search(name)
            and len(codes) <= MOST_ROWS_OF_NAMED * n_values
        ):
            by_name.append((name, n_values, len(codes)))
    return _groups_finding(by_agreement, by_name) if by_agreement or by_name else None


def _only_repeats_rows(data: Data, rows: np.ndarray, n_values: int) -> bool:
    """Return True if a column's cells repeat only because whole rows are repeated.

    Exact copies of rows are reported by another finding.
    """
    keys = data.row_keys
    if keys is None or n_columns(data.X) == 1:
        return False
    return len(np.unique(keys[rows])) == n_values


def _groups_finding(
    by_agreement: list[tuple[str, GroupNumber]], by_name: list[tuple[str, int, int]]
) -> Finding:
    names = [name for name, _ in by_agreement] + [name for name, *_ in by_name]
    shown_names = ", ".join(names[:3]) + (
        f" and {len(names) - 3} more columns" if names[3:] else ""
    )
    look_text = "looks like the number" if len(names) == 1 else "look like numbers"
    if by_agreement:
        name, agreement = by_agreement[0]
        neighbour_text = (
            "those of the next numbers" if agreement.has_order else "rows of other values"
        )
        evidence = (
            f"{name} has {agreement.n_values} values of {agreement.mean_rows:.1f} rows each, whose "
            "y "
            "agree by "
            f"{agreement.inside:.2f}, and with {neighbour_text} by {agreement.outside:.2f} (0 "
            "is chance, 1 is "
            "equal)."
        )
    else:
        name, n_values, n_cells = by_name[0]
        evidence = (
            f"{name} is named like one, and has {n_values} values of {n_cells / n_values:.1f} "
            "rows each."
        )
    return Finding(
        "group-numbers",
        f"{shown_names} {look_text} of a group of rows. {evidence}",
        "If new rows come from other groups, drop the column and give it as groups (--groups at "
        "the command line), so that splits keep a group together, as GroupKFold does.",
    )


# ---------------------------------------------------------------- few events


def event_findings(data: Data, losses: Iterable[Loss]) -> Iterator[Finding]:
    """Yield a finding for losses that depend on few rows of a class or on few events."""
    names_by_events: dict[Events, list[str]] = {}
    for loss in losses:
        events = loss.events(data)
        if events is not None and events.count < events.enough:
            names_by_events.setdefault(events, []).append(escape_and_truncate(loss.name, 60))
    for events, loss_names in names_by_events.items():
        names = list(dict.fromkeys(loss_names))
        subject = f"{join_words(names)} rest" + ("s" if len(names) == 1 else "")
        yield _few_events_finding(events, subject)


def rarest_class_findings(data: Data) -> Iterator[Finding]:
    """Yield a finding if a class has too few rows for a ROC curve and its rates."""
    if data.codes is None:
        return
    events = Events.of_class(data)
    if events.count < events.enough:
        yield _few_events_finding(events, "The ROC curve and the rates at its thresholds rest")


def _few_events_finding(events: Events, subject: str) -> Finding:
    return Finding(
        "few-events",
        f"{subject} on {events.count} {events.noun}, fewer than {events.enough}: each of them "
        "moves "
        "the "
        "value much, and the interval may hold the truth less often than it says.",
        "Gather more of them before the value is relied on.",
    )
