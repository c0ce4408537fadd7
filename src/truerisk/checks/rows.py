"""The checks that every call makes of its rows, the same for all functions, once per call.

Structure among rows makes the estimates of shuffled folds too good: near copies, rows in order, and
columns that hold the number of a group. Few rows of a class, or few events, make a score uncertain.
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
from truerisk.checks.copies import Copies, Scale, find_copies
from truerisk.checks.group_numbers import (
    FEWEST_VALUES,
    MOST_ROWS_OF_NAMED,
    GroupNumber,
    group_number,
)
from truerisk.core.formats import clean, listed
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import codes_of_cells, column_at, column_names, n_columns
from truerisk.losses.loss import Events, Loss
from truerisk.results.finding import Finding

MOST_ROWS = 5000  # largest number of rows among which neighbours are searched
MOST_ROWS_OF_GROUPS = 20_000
MOST_ROWS_IN_ORDER = 50_000
MOST_ROWS_EXPLAINED = 1000  # largest number of rows whose y is regressed on the columns
MOST_CELLS, MOST_COLUMNS = 100_000, 200  # limits for one check
ROWS_OF_BLOCK = 8192  # rows that fit in the processor's cache if the table has few columns
# A value that more than this share of rows have is a category, even in a measured column.
LUMP = 0.1
FEWEST_VALUES_OF_LUMPS = 20
LONGEST_LABEL = 200  # A longer cell, in characters, does not name a group.
FEWEST_DISTINCT = 8  # A numeric column with fewer values is a category.
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
    found: list[Finding] = []
    whole: Whole = {}
    for check in (_copies, _order, _group_numbers):
        finding = check(data, np.random.default_rng([seed, data.n_rows]), whole)
        if finding is not None:
            found.append(finding)
    return found


# ---------------------------------------------------------------- the table


@frozen(eq=False)
class _Columns:
    """Columns of a table in some of its rows, each as one line of `numbers` and one of `codes`.

    Parameters
    ----------
    X : array or frame
        The whole table.
    positions : sequence of int
        Positions of these columns in the table.
    numbers : ndarray of shape (p, n)
        The cells as finite numbers, with gaps filled by the median. Rows of columns without
        `is_number` have no meaning.
    is_number : ndarray of shape (p,)
        True for columns of numbers with few gaps that are not constant.
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
        """Read these columns in these rows."""
        numbers, is_number = _read_numbers(X, positions, rows)
        codes = np.empty(numbers.shape, dtype=np.int64)
        for j in np.flatnonzero(~is_number).tolist():
            codes[j] = _codes_of_texts(_cells(X, positions[j], rows))
        some = numbers[is_number]
        order = np.argsort(some, axis=1)
        ordered = np.take_along_axis(some, order, axis=1)
        ranks, ranked = np.zeros(some.shape, dtype=np.int64), np.empty(some.shape, dtype=np.int64)
        np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=ranks[:, 1:])
        np.put_along_axis(ranked, order, ranks, axis=1)
        codes[is_number] = ranked
        return cls(X, positions, numbers, is_number, codes, codes.max(axis=1) + 1)

    def steps(self, which: np.ndarray) -> np.ndarray:
        """Return the median difference of neighbouring distinct numbers for these columns."""
        gaps = np.diff(np.sort(self.numbers[which], axis=1), axis=1)
        gaps.sort(axis=1)  # Differences of equal numbers, which are 0, come first.
        each, n_gaps = np.arange(len(which)), self.n_values[which] - 1
        first = gaps.shape[1] - n_gaps
        low, high = gaps[each, first + (n_gaps - 1) // 2], gaps[each, first + n_gaps // 2]
        return np.asarray((low + high) / 2)


Whole = dict[tuple[int, ...], _Columns]
"""Columns in all rows, by their positions. They are cached because several checks use them."""


def _read_numbers(
    X: Any, positions: Sequence[int], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns as finite numbers, and a mask of the numeric ones that vary."""
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
    low, high = numbers.min(axis=1), numbers.max(axis=1)
    for j in np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))).tolist():
        present = np.isfinite(numbers[j])
        if present.mean() < 0.8:
            low[j] = high[j] = 0.0
        else:
            numbers[j] = np.where(present, numbers[j], np.median(numbers[j][present]))
            low[j], high[j] = numbers[j].min(), numbers[j].max()
    largest = np.maximum(-low, high)
    extreme = (largest > 0) & ~((largest > 1e-100) & (largest < 1e100))
    # Squares of such numbers would overflow or underflow.
    numbers[extreme] /= largest[extreme, None]
    return numbers, is_number & (low < high)


def _cells(X: Any, position: int, rows: np.ndarray) -> np.ndarray:
    """Return the cells of a column in these rows."""
    return np.asarray(column_at(X, position))[rows]


def _codes_of_texts(cells: np.ndarray) -> np.ndarray:
    """Return a code for each cell of a column that is constant or not numeric."""
    if any(len(str(cell)) > LONGEST_LABEL for cell in cells[:FEWEST_ROWS].tolist()):
        return np.arange(len(cells))  # Long texts name no group, and comparing them takes long.
    return codes_of_cells(cells)


def _columns(
    data: Data, rows: np.ndarray, most: int, rng: np.random.Generator, whole: Whole
) -> _Columns:
    """Read the columns, or a random selection of them if there are more than `most`.

    Columns with a name like the number of a group are always selected, and in an array, columns of
    integers are selected before others.
    """
    X, most = data.X, min(most, MOST_COLUMNS)
    if not n_columns(X) or hasattr(X, "tocsr"):
        return _Columns.read(np.empty((data.n_rows, 0)), (), rows)
    names = column_names(X)
    X = np.asarray(X) if names is None else X
    width = X.shape[1]
    chosen = np.arange(width)
    if width > most:
        named = [j for j, name in enumerate(names or ()) if NAME_OF_GROUP.search(name)][:most]
        others = rng.permutation(np.setdiff1d(chosen, named))
        if names is None and X.dtype.kind == "f":
            head = X[:FEWEST_ROWS]
            is_whole = (head == np.floor(head)).all(axis=0)
            others = others[np.argsort(~is_whole[others], kind="stable")]
        chosen = np.sort(np.r_[named, others[: most - len(named)]].astype(np.int64))
    positions = tuple(chosen.tolist())
    if len(rows) < data.n_rows:
        return _Columns.read(X, positions, rows)
    if positions not in whole:
        whole[positions] = _Columns.read(X, positions, rows)
    return whole[positions]


def _rows_of_slices(
    X: Any, positions: Sequence[int], n: int, most: int, rng: np.random.Generator
) -> list[np.ndarray | None]:
    """Return, for each column, about `most` rows of n whose numbers lie between two bounds.

    Rows with equal or nearly equal numbers stay together, unlike in a random sample. The entry is
    None if the column is not numeric, or if too many rows share a few numbers.
    """
    drawn = [(rng.choice(n, 2000), rng.random()) for _ in positions]
    share = most / n
    found: list[np.ndarray] | None = None
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        samples = [X[rows, j] for (rows, _), j in zip(drawn, positions, strict=True)]
        bounds = [_bounds(x, start, share) for x, (_, start) in zip(samples, drawn, strict=True)]
        found = _rows_between(X, positions, np.array(bounds).reshape(-1, 2))
    slices: list[np.ndarray | None] = []
    for i, (position, (sampled, start)) in enumerate(zip(positions, drawn, strict=True)):
        rows = np.arange(n) if found is None else found[i]
        if found is None:
            (numbers,), (is_number,) = _read_numbers(X, [position], rows)
            if is_number:
                low, high = _bounds(numbers[sampled], start, share)
                rows = np.flatnonzero((numbers >= low) & (numbers <= high))
        slices.append(rows if len(rows) <= 2 * most else None)
    return slices


def _bounds(sample: np.ndarray, start: float, share: float) -> tuple[float, float]:
    """Return two quantiles of a sample between which a given share of it lies."""
    first, last = start * (1 - share), start * (1 - share) + share
    low, high = np.sort(sample)[[int(len(sample) * first), min(1999, int(len(sample) * last))]]
    return float(low), float(high)


def _rows_between(
    table: np.ndarray, chosen: Sequence[int], bounds: np.ndarray
) -> list[np.ndarray] | None:
    """Return the rows of each chosen column between its bounds, or None if a cell is not finite.

    Blocks of rows are transposed in the processor's cache, because reading one column of a table in
    row-major order reads all of the table.
    """
    low, high = bounds.T[:, :, None]
    found: list[list[np.ndarray]] = [[] for _ in chosen]
    for start in range(0, len(table), ROWS_OF_BLOCK):
        block = np.ascontiguousarray(table[start : start + ROWS_OF_BLOCK, chosen].T)
        if not np.isfinite(block.sum()):
            return None
        for rows, inside in zip(found, (block >= low) & (block <= high), strict=True):
            rows.append(np.flatnonzero(inside) + start)
    return [np.concatenate(rows) for rows in found]


# ---------------------------------------------------------------- near copies


def _copies(data: Data, rng: np.random.Generator, whole: Whole) -> Finding | None:
    if data.groups is not None or data.dependent:
        return None
    n = data.n_rows
    is_large = n > MOST_ROWS
    rows = np.sort(rng.choice(n, MOST_ROWS, replace=False)) if is_large else np.arange(n)
    columns = _columns(data, rows, max(2, MOST_CELLS // len(rows)), rng, whole)
    is_measured = columns.is_number & (columns.n_values >= FEWEST_DISTINCT)
    is_category = (columns.n_values > 1) & (columns.n_values - 1 < len(rows) / 2) & ~is_measured
    measured, categories = np.flatnonzero(is_measured), np.flatnonzero(is_category)
    if len(measured) < 2:
        return None
    spread = columns.numbers[measured].std(axis=1)
    if is_large:
        finest = columns.positions[measured[columns.n_values[measured].argmax()]]
        (sliced,) = _rows_of_slices(columns.X, [finest], n, MOST_ROWS, rng)
        if sliced is not None:
            rows, columns = sliced, _Columns.read(columns.X, columns.positions, sliced)
    outcome = outcome_of(data.codes, data.y, rows)
    retained = columns.is_number[measured]  # A slice of the rows may be constant in this column.
    measured, spread = measured[retained], spread[retained]
    if outcome is None or len(measured) < 2:
        return None
    X = np.ascontiguousarray(columns.numbers[measured].T)
    scale = Scale(spread, columns.n_values[measured], columns.steps(measured))
    patterns = _lumps(columns.codes[measured])
    found = find_copies(X, _combined(patterns) if patterns else None, outcome, rng, scale)
    if len(categories) and (found is None or not found.is_found):
        patterns += list(columns.codes[categories])
        found = find_copies(X, _combined(patterns), outcome, rng, scale)
    return _copies_finding(found) if found is not None and found.is_found else None


def _lumps(codes: np.ndarray) -> list[np.ndarray]:
    """Find values that many rows share, such as zero, and give each of them a code.

    All other cells have the code 0. Rows with such a common value lie in a plane of their own, and
    distances within the plane have another distribution than distances to rows outside. Columns
    without such values are left out.
    """
    found = []
    for column in codes:
        counts = np.bincount(column)
        frequent = np.flatnonzero(counts > LUMP * len(column))
        if len(frequent) and len(counts) > FEWEST_VALUES_OF_LUMPS:
            code = np.zeros(len(counts), dtype=np.int64)
            code[frequent] = 1 + np.arange(len(frequent))
            found.append(code[column])
    return found


def _combined(codes: Sequence[np.ndarray]) -> np.ndarray:
    """Return one code for each combination of codes."""
    combined = codes[0]
    for more in codes[1:]:
        together = combined * (int(more.max()) + 1) + more
        combined = np.unique(together, return_inverse=True)[1].ravel()
    return combined


def _copies_finding(found: Copies) -> Finding:
    size = round(found.size)
    others = "another row is" if size == 2 else f"about {size - 1} other rows are"
    sentence = (
        f"{found.share:.0%} of the rows lie in small clusters: {others} much nearer to them than "
        f"the next one, which is {found.ratio:.1f} times as far away (of independent rows 5% do)."
    )
    if found.errors > 3 and found.inside - found.outside > 0.1:
        sentence += (
            f" Within a cluster y agree by {found.inside:.2f}, with the rows beyond by "
            f"{found.outside:.2f} (0 is chance, 1 is equal)."
        )
    return Finding(
        "near-copies",
        sentence,
        "If a case was measured several times, give groups and split by them: folds that test a "
        "row by its own copy promise too much.",
    )


# ---------------------------------------------------------------- rows in order


def _order(data: Data, rng: np.random.Generator, whole: Whole) -> Finding | None:
    if data.dependent:
        return None
    rows = _stretch(np.arange(data.n_rows), MOST_ROWS_IN_ORDER, rng)
    outcome = outcome_of(data.codes, data.y, rows)
    if outcome is None:
        return None
    found = order_of_outcomes(outcome, None if data.groups is None else data.groups[rows])
    if found is None:
        return None
    rows = _stretch(rows, MOST_ROWS_EXPLAINED, rng)
    columns = _columns(data, rows, MOST_CELLS // len(rows), rng, whole)
    numbers = np.where(columns.is_number[:, None], columns.numbers, columns.codes)
    X = np.ascontiguousarray(numbers[columns.n_values > 1].T)
    ordered = columns_in_order(X)
    residual, part = "", outcome_of(data.codes, data.y, rows)
    if len(ordered) and part is not None:
        value, bound = order_given_columns(X[:, ordered], part)
        found = replace(found, residual=value, residual_bound=bound)
        residual = f", and by {value:.2f} after what columns of X explain"
    if not found.is_found:
        return None
    return Finding(
        "rows-in-order",
        f"Rows that follow each other have similar y: they agree by {found.correlation:.2f}"
        f"{residual} (0 is chance; a random order of the rows exceeds {found.bound:.2f} in 1 of "
        "2,000 tables).",
        "If the rows were taken one after the other, give time=; if rows of one case stand "
        "together, give groups. Shuffled folds test a row by its neighbours.",
    )


def _stretch(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most `most` consecutive rows, beginning at a random one."""
    if len(rows) <= most:
        return rows
    start = int(rng.integers(len(rows) - most + 1))
    return rows[start : start + most]


# ---------------------------------------------------------------- group numbers


def _group_numbers(data: Data, rng: np.random.Generator, whole: Whole) -> Finding | None:
    if data.groups is not None:
        return None
    n, names = data.n_rows, column_names(data.X)
    rows = np.arange(min(n, MOST_ROWS_OF_GROUPS))
    outcome_of_all = outcome_of(data.codes, data.y, rows)
    columns = _columns(data, rows, max(8, MOST_CELLS // len(rows)), rng, whole)
    slices: dict[int, np.ndarray | None] = {}
    if n > MOST_ROWS_OF_GROUPS:
        numeric = [columns.positions[j] for j in np.flatnonzero(columns.is_number).tolist()]
        sliced = _rows_of_slices(columns.X, numeric, n, MOST_ROWS_OF_GROUPS, rng)
        slices = dict(zip(numeric, sliced, strict=True))
    by_name, by_agreement = [], []
    for j, position in enumerate(columns.positions):
        outcome, codes, seen = outcome_of_all, columns.codes[j], rows
        if position in slices:
            own_rows = slices[position]
            if own_rows is None:
                continue
            seen, outcome = own_rows, outcome_of(data.codes, data.y, own_rows)
            (codes,) = _Columns.read(columns.X, [position], seen).codes
        n_values = int(codes.max()) + 1
        if outcome is None or not FEWEST_VALUES <= n_values <= len(codes) / 2:
            continue
        if _only_repeats_rows(data, seen, n_values):
            continue
        name = f"column {position}" if names is None else repr(clean(names[position], 40))
        found = group_number(codes, outcome, has_order=bool(columns.is_number[j]))
        if found is not None and found.is_found:
            by_agreement.append((name, found))
        elif (
            names is not None
            and NAME_OF_GROUP.search(name)
            and len(codes) <= MOST_ROWS_OF_NAMED * n_values
        ):
            by_name.append((name, n_values, len(codes)))
    return _groups_finding(by_agreement, by_name) if by_agreement or by_name else None


def _only_repeats_rows(data: Data, rows: np.ndarray, n_values: int) -> bool:
    """Return True if cells repeat only in exact copies of rows, which are another finding."""
    keys = data.row_keys
    if keys is None or n_columns(data.X) == 1:
        return False
    return len(np.unique(keys[rows])) == n_values


def _groups_finding(
    by_agreement: list[tuple[str, GroupNumber]], by_name: list[tuple[str, int, int]]
) -> Finding:
    names = [name for name, _ in by_agreement] + [name for name, *_ in by_name]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more columns" if names[3:] else "")
    look = "looks like the number" if len(names) == 1 else "look like numbers"
    if by_agreement:
        name, found = by_agreement[0]
        neighbours = "those of the next numbers" if found.has_order else "rows of other values"
        seen = (
            f"{name} has {found.n_values} values of {found.size:.1f} rows each, whose y agree by "
            f"{found.inside:.2f}, and with {neighbours} by {found.outside:.2f} (0 is chance, 1 is "
            "equal)."
        )
    else:
        name, n_values, n = by_name[0]
        seen = (
            f"{name} is named like one, and has {n_values} values of {n / n_values:.1f} rows each."
        )
    return Finding(
        "group-numbers",
        f"{shown} {look} of a group of rows. {seen}",
        "If new rows come from other groups, drop the column and give it as groups (--groups at "
        "the command line), so that splits keep a group together, as GroupKFold does.",
    )


# ---------------------------------------------------------------- few events


def event_findings(data: Data, losses: Iterable[Loss]) -> Iterator[Finding]:
    """Yield a finding for losses that rest on few rows of a class or on few events."""
    few: dict[Events, list[str]] = {}
    for loss in losses:
        events = loss.events(data)
        if events is not None and events.n < events.enough:
            few.setdefault(events, []).append(clean(loss.name, 60))
    for events, words in few.items():
        names = list(dict.fromkeys(words))
        who = f"{listed(names)} rest" + ("s" if len(names) == 1 else "")
        yield _few(events, who)


def rarest_class_findings(data: Data) -> Iterator[Finding]:
    """Yield a finding for a class with few rows: ROC curves and rates at a threshold rest on it."""
    if data.codes is None:
        return
    events = Events.of_class(data)
    if events.n < events.enough:
        yield _few(events, "The ROC curve and the rates at its thresholds rest")


def _few(events: Events, who: str) -> Finding:
    return Finding(
        "few-events",
        f"{who} on {events.n} {events.noun}, fewer than {events.enough}: each of them moves the "
        "value much, and the interval may hold the truth less often than it says.",
        "Gather more of them before the value is relied on.",
    )
