"""Checks for structure among rows that makes shuffled folds too good: copies, order, groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.checks.agreement import FEWEST_ROWS, Outcome, outcome_of
from truerisk.checks.copies import Copies, Scale, find_copies
from truerisk.checks.group_numbers import (
    MOST_ROWS_OF_NAMED,
    GroupNumber,
    group_number,
    has_repeated_values,
)
from truerisk.checks.order import columns_in_order, order_given_columns, order_of_outcomes
from truerisk.core.present import clean
from truerisk.data.data import Data
from truerisk.data.rows import codes_of_cells, column_at, column_names, n_columns
from truerisk.results.finding import Finding

MOST_ROWS = 5000  # among which neighbours are sought
MOST_ROWS_OF_GROUPS = 20_000
MOST_ROWS_IN_ORDER = 50_000
MOST_ROWS_EXPLAINED = 1000  # whose y the columns are asked to explain
MOST_CELLS, MOST_COLUMNS = 100_000, 200  # looked at by one check
ROWS_OF_BLOCK = 8192  # of a table of few columns, which fit in the cache of a processor
LUMP = 0.1  # share of rows with one value of a measured column, from which it is a category
FEWEST_VALUES_OF_LUMPS = 20
LONGEST_WORD = 200  # characters of a cell that may name a group
FEWEST_DISTINCT = 8  # a number with fewer values is a category
WORDS_OF_GROUPS = (
    "id|ids|patient|subject|person|user|customer|donor|group|family|site|batch|animal|mouse|case"
)
NAME_OF_GROUP = re.compile(rf"(?:^|[^a-z])(?:{WORDS_OF_GROUPS})(?:[^a-z]|$)", re.IGNORECASE)


def structure_findings(data: Data, seed: int = 0) -> list[Finding]:
    """Look for near copies, rows in order and columns that hold group numbers.

    Parameters
    ----------
    data : Data
        The table. Nothing is said on copies and group numbers if it has groups, on copies and order
        if it has times or places.
    seed : int, default 0
        Seed of the samples of rows and columns that are taken of large tables.

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
        found += check(data, np.random.default_rng([seed, data.n_rows]), whole)
    return found


# ---------------------------------------------------------------- the table


@dataclass(frozen=True, eq=False)
class _Column:
    """One column of a table, in some of its rows."""

    X: Any
    position: int
    names: list[str] | None
    rows: np.ndarray | slice

    @property
    def name(self) -> str:
        """The name of the column, as messages show it."""
        if self.names is None:
            return f"column {self.position}"
        return repr(clean(self.names[self.position], 40))

    @cached_property
    def cells(self) -> np.ndarray:
        """The cells of these rows."""
        is_frame = self.names is not None
        whole = column_at(self.X, self.position) if is_frame else self.X[:, self.position]
        return np.asarray(whole)[self.rows]

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The column as finite numbers, gaps filled by the median; None if it is no such column."""
        if self.cells.dtype.kind in "mMc":
            return None
        try:
            numbers = self.cells.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
        low, high = numbers.min(), numbers.max()
        if not np.isfinite([low, high]).all():
            present = np.isfinite(numbers)
            if present.mean() < 0.8:
                return None
            numbers = np.where(present, numbers, np.median(numbers[present]))
            low, high = numbers.min(), numbers.max()
        largest = max(-low, high)
        if not 1e-100 < largest < 1e100 and largest > 0:
            numbers = numbers / largest  # squares of such numbers are infinite or 0
        return numbers if low < high else None

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct numbers in order, and the position of each cell's among them."""
        assert self.numbers is not None
        return np.unique(self.numbers, return_inverse=True)

    @property
    def n_numbers(self) -> int:
        """The number of distinct numbers."""
        return len(self._distinct[0])

    @cached_property
    def step(self) -> float:
        """The median difference of neighbouring distinct numbers."""
        gaps = np.sort(np.diff(self._distinct[0]))
        return float(gaps[(len(gaps) - 1) // 2] + gaps[len(gaps) // 2]) / 2

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for each cell, the same for equal cells, in the order of numbers."""
        if self.numbers is not None:
            return self._distinct[1]
        first = self.cells[:FEWEST_ROWS].tolist()
        if any(len(str(cell)) > LONGEST_WORD for cell in first):
            return np.arange(len(self.cells))  # whole texts name no group, and take long to compare
        return codes_of_cells(self.cells)

    @property
    def is_measured(self) -> bool:
        """True for numbers of which there are more than a few."""
        return self.numbers is not None and self.n_numbers >= FEWEST_DISTINCT

    def in_rows(self, rows: np.ndarray | slice) -> _Column:
        """Return the column in other rows."""
        return replace(self, rows=rows)


Whole = dict[int, _Column]
"""The columns in all rows, by their position: several checks look at them."""


def _columns(
    data: Data, rows: np.ndarray, most: int, rng: np.random.Generator, whole: Whole
) -> list[_Column]:
    """Return the columns, or a random choice of them if there are more than `most`.

    Columns named like the number of a group are always among them, and before others the columns of
    whole numbers of an array.
    """
    X, most = data.X, min(most, MOST_COLUMNS)
    names = column_names(X)
    if not n_columns(X) or hasattr(X, "tocsr"):
        return []
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
    columns = [_Column(X, j, names, rows) for j in chosen.tolist()]
    if len(rows) < data.n_rows:
        return columns
    return [whole.setdefault(column.position, column) for column in columns]


def _outcome(data: Data, rows: np.ndarray) -> Outcome | None:
    if data.codes is None:
        return outcome_of(None, data.y[rows])
    codes = np.unique(data.codes[rows], return_inverse=True)[1]  # a class may have no row here
    return outcome_of(codes.ravel(), data.y)


def _rows_of_slices(
    columns: list[_Column], n: int, most: int, rng: np.random.Generator
) -> list[np.ndarray | None]:
    """Return for each column about `most` of n rows whose numbers lie between two bounds.

    Rows with equal or nearly equal numbers stay together, unlike in a random sample. A column has
    None if it is no column of numbers, or if too many rows share a few of them.
    """
    drawn = [(rng.choice(n, 2000), rng.random()) for _ in columns]
    share, table = most / n, columns[0].X if columns else None
    chosen = [column.position for column in columns]
    found: list[np.ndarray] | None = None
    if isinstance(table, np.ndarray) and table.dtype == np.float64:
        samples = [table[rows, j] for (rows, _), j in zip(drawn, chosen, strict=True)]
        bounds = [_bounds(x, start, share) for x, (_, start) in zip(samples, drawn, strict=True)]
        found = _rows_between(table, chosen, np.array(bounds).reshape(-1, 2))
    slices: list[np.ndarray | None] = []
    for i, (column, (sampled, start)) in enumerate(zip(columns, drawn, strict=True)):
        numbers = None if found is not None else column.in_rows(slice(None)).numbers
        if numbers is not None:
            low, high = _bounds(numbers[sampled], start, share)
            rows = np.flatnonzero((numbers >= low) & (numbers <= high))
        else:
            rows = np.arange(n) if found is None else found[i]
        slices.append(rows if len(rows) <= 2 * most else None)
    return slices


def _bounds(sample: np.ndarray, start: float, share: float) -> tuple[float, float]:
    """Return two quantiles of a sample between which a share of it lies."""
    first, last = start * (1 - share), start * (1 - share) + share
    low, high = np.sort(sample)[[int(len(sample) * first), min(1999, int(len(sample) * last))]]
    return float(low), float(high)


def _rows_between(
    table: np.ndarray, chosen: list[int], bounds: np.ndarray
) -> list[np.ndarray] | None:
    """Return the rows of each chosen column that lie between its bounds; None if any is not finite.

    Blocks of rows are turned in the cache of the processor: to read a column of a table by itself
    reads all of the table.
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


def _copies(data: Data, rng: np.random.Generator, whole: Whole) -> Iterator[Finding]:
    if data.groups is not None or data.dependent:
        return
    n = data.n_rows
    is_large = n > MOST_ROWS
    rows = np.sort(rng.choice(n, MOST_ROWS, replace=False)) if is_large else np.arange(n)
    columns = _columns(data, rows, max(2, MOST_CELLS // len(rows)), rng, whole)
    measured = [column for column in columns if column.is_measured]
    if len(measured) < 2:
        return
    spread = np.array([np.std(column.numbers) for column in measured])  # type: ignore[arg-type]
    categories = [
        column
        for column in columns
        if column not in measured and 0 < column.codes.max() < len(rows) / 2
    ]
    if is_large:
        finest = max(measured, key=lambda column: int(column.codes.max()))
        (sliced,) = _rows_of_slices([finest], n, MOST_ROWS, rng)
        if sliced is not None:
            rows = sliced
            measured = [column.in_rows(rows) for column in measured]
            categories = [column.in_rows(rows) for column in categories]
    outcome = _outcome(data, rows)
    if outcome is None:
        return
    numbers = [column.numbers for column in measured]
    kept = [j for j, values in enumerate(numbers) if values is not None]  # a slice may be constant
    if len(kept) < 2:
        return
    X = np.column_stack([values for values in numbers if values is not None])
    lumps = [_lumps(measured[j]) for j in kept]
    patterns = [codes for codes in lumps if codes.any()]
    n_values = np.array([measured[j].n_numbers for j in kept])
    steps = np.array([measured[j].step for j in kept])
    scale = Scale(spread[kept], n_values, steps)
    found = find_copies(X, _combined(patterns), outcome, rng, scale)
    if (found is None or not found.is_found) and categories:
        patterns += [column.codes for column in categories]
        found = find_copies(X, _combined(patterns), outcome, rng, scale)
    if found is not None and found.is_found:
        yield _copies_finding(found)


def _lumps(column: _Column) -> np.ndarray:
    """Return 0 for most cells and a code for each value that many rows share, such as zero.

    Rows with a common value in such a column lie in a plane of their own. Distances within it and
    to rows outside do not follow one law.
    """
    counts = np.bincount(column.codes)
    frequent = np.flatnonzero(counts > LUMP * len(column.codes))
    code = np.zeros(len(counts), dtype=np.int64)
    if len(counts) > FEWEST_VALUES_OF_LUMPS:
        code[frequent] = 1 + np.arange(len(frequent))
    return code[column.codes]


def _combined(codes: list[np.ndarray]) -> np.ndarray | None:
    """Return one code for each combination of codes."""
    if not codes:
        return None
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


def _order(data: Data, rng: np.random.Generator, whole: Whole) -> Iterator[Finding]:
    if data.dependent:
        return
    rows = _stretch(np.arange(data.n_rows), MOST_ROWS_IN_ORDER, rng)
    outcome = _outcome(data, rows)
    if outcome is None:
        return
    found = order_of_outcomes(outcome, None if data.groups is None else data.groups[rows])
    if found is None or not found.is_suspected:
        return
    rows = _stretch(rows, MOST_ROWS_EXPLAINED, rng)
    columns = _columns(data, rows, MOST_CELLS // len(rows), rng, whole)
    numbers = [
        column.codes.astype(np.float64) if column.numbers is None else column.numbers
        for column in columns
        if column.codes.max() > 0
    ]
    X = np.column_stack(numbers) if numbers else np.empty((len(rows), 0))
    ordered = columns_in_order(X)
    residual, part = "", _outcome(data, rows)
    if len(ordered) and part is not None:
        value, bound = order_given_columns(X[:, ordered], part)
        found = replace(found, residual=value, residual_bound=bound)
        residual = f", and by {value:.2f} after what columns of X explain"
    if not found.is_found:
        return
    yield Finding(
        "rows-in-order",
        f"Rows that follow each other have similar y: they agree by {found.correlation:.2f}"
        f"{residual} (0 is chance; a random order of the rows exceeds {found.bound:.2f} in 1 of "
        "2,000 tables).",
        "If the rows were taken one after the other, give time=; if rows of one case stand "
        "together, give groups. Shuffled folds test a row by its neighbours.",
    )


def _stretch(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most so many consecutive rows, from a random one on."""
    start = int(rng.integers(max(1, len(rows) - most + 1)))
    return rows[start : start + most]


# ---------------------------------------------------------------- group numbers


def _group_numbers(data: Data, rng: np.random.Generator, whole: Whole) -> Iterator[Finding]:
    if data.groups is not None:
        return
    n = data.n_rows
    rows = np.arange(min(n, MOST_ROWS_OF_GROUPS))
    outcome_of_all = _outcome(data, rows)
    has_names = column_names(data.X) is not None
    by_name, by_agreement = [], []
    columns = _columns(data, rows, max(8, MOST_CELLS // len(rows)), rng, whole)
    numeric = [c for c in columns if n > MOST_ROWS_OF_GROUPS and c.numbers is not None]
    slices = dict(zip(numeric, _rows_of_slices(numeric, n, MOST_ROWS_OF_GROUPS, rng), strict=True))
    for column in columns:
        outcome = outcome_of_all
        if column in slices:
            sliced = slices[column]
            if sliced is None:
                continue
            column = column.in_rows(sliced)
            outcome = _outcome(data, sliced)
        codes = column.codes
        if outcome is None or not has_repeated_values(codes) or _only_repeats_rows(data, column):
            continue
        found = group_number(codes, outcome, has_order=column.numbers is not None)
        if found is not None and found.is_found:
            by_agreement.append((column.name, found))
        elif (
            has_names
            and NAME_OF_GROUP.search(column.name)
            and len(codes) <= MOST_ROWS_OF_NAMED * (int(codes.max()) + 1)
        ):
            by_name.append((column.name, int(codes.max()) + 1, len(codes)))
    yield from _group_findings(by_agreement, by_name)


def _only_repeats_rows(data: Data, column: _Column) -> bool:
    """Return True if cells repeat in exact copies of rows alone, which are another finding."""
    keys = data.row_keys
    if keys is None or n_columns(data.X) == 1:
        return False
    return len(np.unique(keys[column.rows])) == int(column.codes.max()) + 1


def _group_findings(
    by_agreement: list[tuple[str, GroupNumber]], by_name: list[tuple[str, int, int]]
) -> Iterator[Finding]:
    names = [name for name, _ in by_agreement] + [name for name, *_ in by_name]
    if not names:
        return
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more columns" if names[3:] else "")
    look = "looks like the number" if len(names) == 1 else "look like numbers"
    if by_agreement:
        name, found = by_agreement[0]
        beside = "those of the next numbers" if found.has_order else "rows of other values"
        seen = (
            f"{name} has {found.n_values} values of {found.size:.1f} rows each, whose y agree by "
            f"{found.inside:.2f}, and with {beside} by {found.outside:.2f} (0 is chance, 1 is "
            "equal)."
        )
    else:
        name, n_values, n = by_name[0]
        seen = (
            f"{name} is named like one, and has {n_values} values of {n / n_values:.1f} rows each."
        )
    yield Finding(
        "group-numbers",
        f"{shown} {look} of a group of rows. {seen}",
        "If new rows come from other groups, drop the column and give it as groups (--groups at "
        "the command line), so that splits keep a group together, as GroupKFold does.",
    )
