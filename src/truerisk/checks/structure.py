"""Checks for structure among rows that makes shuffled folds too good: copies, order, groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.checks.agreement import FEWEST_ROWS, Outcome, outcome_of
from truerisk.checks.copies import Copies, find_copies
from truerisk.checks.group_numbers import GroupNumber, group_number, has_repeated_values
from truerisk.checks.order import (
    columns_in_order,
    order_given_columns,
    order_of_outcomes,
)
from truerisk.core.finding import Finding
from truerisk.core.present import clean
from truerisk.core.table.data import Data
from truerisk.core.table.rows import codes_of_cells, column_names, n_columns, take_rows

MOST_ROWS = 5000  # of which neighbours are sought
MOST_CELLS = 200_000  # looked at by one check
MOST_ROWS_IN_ORDER = 1000
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
        The table. Nothing is said on copies and group numbers if it has groups, nor on order if it
        has times, nor on either if it has places.
    seed : int, default 0
        Seed of the samples of rows and columns that are taken of large tables.

    Returns
    -------
    list of Finding
        Findings with the codes `near-copies`, `rows-in-order` and `group-numbers`. The list is
        empty for tables whose rows cannot be compared.
    """
    try:
        outcome = outcome_of(data.codes, data.y)
        if outcome is None or data.n_rows < FEWEST_ROWS:
            return []
        rng = np.random.default_rng([seed, data.n_rows])
        return [
            *_copies(data, outcome, rng),
            *_order(data, outcome, rng),
            *_group_numbers(data, outcome, rng),
        ]
    except Exception:  # noqa: BLE001  a check of a foreign table must not end the call it is part of
        return []


# ---------------------------------------------------------------- the table


@dataclass(frozen=True, eq=False)
class _Column:
    """One column of a sample of rows."""

    name: str
    cells: np.ndarray

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The column as finite numbers, gaps filled by the median; None if it is no such column."""
        if self.cells.dtype.kind in "mMc":
            return None
        try:
            numbers = self.cells.astype(np.float64)
        except (TypeError, ValueError):
            return None
        present = np.isfinite(numbers)
        if present.mean() < 0.8:
            return None
        if not present.all():
            numbers = np.where(present, numbers, np.median(numbers[present]))
        return numbers if numbers.min() < numbers.max() else None

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for each cell, the same for equal cells, in the order of numbers."""
        return codes_of_cells(self.cells if self.numbers is None else self.numbers)


def _columns(X: Any, rows: np.ndarray, most: int, rng: np.random.Generator) -> list[_Column]:
    """Return columns of some rows; a random choice of them if there are more than `most`.

    Columns named like the number of a group are always among them.
    """
    width = n_columns(X)
    if not width or hasattr(X, "tocsr"):
        return []
    names = column_names(X)
    chosen = np.arange(width)
    if width > most:
        named = [j for j, name in enumerate(names or ()) if NAME_OF_GROUP.search(name)][:most]
        others = rng.permutation(np.setdiff1d(chosen, named))[: most - len(named)]
        chosen = np.sort(np.r_[named, others].astype(np.int64))
    if names is None:
        cells = np.asarray(X)[rows[:, None], chosen]
        return [_Column(f"column {j}", cells[:, i]) for i, j in enumerate(chosen.tolist())]
    part = take_rows(X, rows)
    shown = [repr(clean(names[j], 40)) for j in chosen.tolist()]
    if hasattr(part, "iloc"):
        return [
            _Column(name, np.asarray(part.iloc[:, j]))
            for name, j in zip(shown, chosen.tolist(), strict=True)
        ]
    return [
        _Column(name, np.asarray(part[names[j]]))
        for name, j in zip(shown, chosen.tolist(), strict=True)
    ]


def _sample(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


# ---------------------------------------------------------------- near copies


def _copies(data: Data, outcome: Outcome, rng: np.random.Generator) -> Iterator[Finding]:
    if data.groups is not None or data.dependent:
        return
    rows = _sample(data.n_rows, MOST_ROWS, rng)
    columns = _columns(data.X, rows, max(2, MOST_CELLS // len(rows)), rng)
    numbers, categories = [], []
    for column in columns:
        if column.numbers is not None and int(column.codes.max()) + 1 >= FEWEST_DISTINCT:
            numbers.append(column.numbers)
        elif 0 < column.codes.max() < len(rows) / 2:
            categories.append(column.codes)
    if len(numbers) < 2:
        return
    X, sampled = np.column_stack(numbers), outcome.take(rows)
    found = find_copies(X, None, sampled, rng)
    if (found is None or not found.is_found) and categories:
        combination = np.unique(np.column_stack(categories), axis=0, return_inverse=True)[1]
        found = find_copies(X, combination.ravel(), sampled, rng)
    if found is not None and found.is_found:
        yield _copies_finding(found)


def _copies_finding(found: Copies) -> Finding:
    size = round(found.size)
    others = "another row that is" if size == 2 else f"about {size - 1} other rows that are"
    sentence = (
        f"{found.share:.0%} of the rows have {others} far nearer than the next one, which is "
        f"{found.ratio:.1f} times as far (by chance 5% would)."
    )
    if found.errors > 3 and found.inside - found.outside > 0.1:
        sentence += (
            f" Their y agree by {found.inside:.2f}, with rows beyond by {found.outside:.2f} "
            "(0 is chance, 1 is equal)."
        )
    return Finding(
        "near-copies",
        sentence,
        "If a case was measured several times, give groups and split by them: folds that test a "
        "row by its own copy promise too much.",
    )


# ---------------------------------------------------------------- rows in order


def _order(data: Data, outcome: Outcome, rng: np.random.Generator) -> Iterator[Finding]:
    if data.dependent:
        return
    found = order_of_outcomes(outcome, data.groups)
    if found is None or not found.is_suspected:
        return
    start = int(rng.integers(max(1, data.n_rows - MOST_ROWS_IN_ORDER + 1)))
    rows = np.arange(start, min(data.n_rows, start + MOST_ROWS_IN_ORDER))
    columns = _columns(data.X, rows, MOST_CELLS // len(rows), rng)
    numbers = [
        column.codes.astype(np.float64) if column.numbers is None else column.numbers
        for column in columns
        if column.codes.max() > 0
    ]
    X = np.column_stack(numbers) if numbers else np.empty((len(rows), 0))
    ordered = columns_in_order(X)
    residual = ""
    if len(ordered):
        value, bound = order_given_columns(X[:, ordered], outcome.take(rows))
        found = replace(found, residual=value, residual_bound=bound)
        residual = f", and by {value:.2f} after what columns of X explain"
    if not found.is_found:
        return
    yield Finding(
        "rows-in-order",
        f"y of rows that follow each other agree by {found.correlation:.2f}{residual} (0 is "
        f"chance; a random order of the rows exceeds {found.bound:.2f} in 1 of 2,000 tables).",
        "If the rows were taken one after the other, give time=; if rows of one case stand "
        "together, give groups. Shuffled folds test a row by its neighbours.",
    )


# ---------------------------------------------------------------- group numbers


def _group_numbers(data: Data, outcome: Outcome, rng: np.random.Generator) -> Iterator[Finding]:
    if data.groups is not None:
        return
    rows = np.arange(min(data.n_rows, 4 * MOST_ROWS))
    columns = _columns(data.X, rows, max(8, MOST_CELLS // len(rows)), rng)
    sampled = outcome if len(rows) == data.n_rows else outcome.take(rows)
    has_names = column_names(data.X) is not None
    by_name, by_agreement = [], []
    for column in columns:
        codes = column.codes
        if not has_repeated_values(codes):
            continue
        found = group_number(codes, sampled, has_order=column.numbers is not None)
        if found is not None and found.is_found:
            by_agreement.append((column.name, found))
        elif has_names and NAME_OF_GROUP.search(column.name):
            by_name.append((column.name, int(codes.max()) + 1, len(rows)))
    yield from _group_findings(by_agreement, by_name)


def _group_findings(
    by_agreement: list[tuple[str, GroupNumber]], by_name: list[tuple[str, int, int]]
) -> Iterator[Finding]:
    names = [name for name, _ in by_agreement] + [name for name, *_ in by_name]
    if not names:
        return
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more columns" if names[3:] else "")
    if by_agreement:
        name, found = by_agreement[0]
        beside = "those of the next numbers" if found.has_order else "rows of other values"
        seen = (
            f" {found.n_values} values of {name} have {found.size:.1f} rows each, whose y agree by "
            f"{found.inside:.2f}, with {beside} by {found.outside:.2f} (0 is chance, 1 is equal)."
        )
    else:
        name, n_values, n = by_name[0]
        each = n / n_values
        seen = f" {name} is named like one, and its {n_values} values have {each:.1f} rows each."
    yield Finding(
        "group-numbers",
        f"{shown} looks like the number of a group of rows.{seen}",
        "If new rows come from other groups, drop the column and give it as groups (--groups at "
        "the command line), so that splits keep a group together, as GroupKFold does.",
    )
