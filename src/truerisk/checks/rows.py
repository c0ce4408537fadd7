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
    MIN_CHECKED_ROWS,
    correlation_given_columns,
    find_ordered_columns,
    lag_one_correlation,
    make_outcome,
)
from truerisk.checks.copies import ColumnScales, NearCopies, find_copies
from truerisk.checks.group_numbers import (
    MAX_ROWS_PER_NAMED_VALUE,
    MIN_DISTINCT_VALUES,
    GroupAgreement,
    measure_agreement,
)
from truerisk.core.formats import escape_and_truncate, join_words
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import codes_of_cells, column_at, column_names, n_columns
from truerisk.losses.loss import Events, Loss
from truerisk.results.finding import Finding

MAX_SEARCHED_ROWS = 5000  # largest number of rows among which neighbours are searched
MAX_GROUP_ROWS = 20_000  # largest number of rows in the search for group numbers
MAX_ORDER_ROWS = 50_000  # largest number of rows in the test for an order of y
MAX_REGRESSION_ROWS = 1000  # largest number of rows for the regression of y on the columns
MOST_CELLS, MOST_COLUMNS = 100_000, 200  # largest numbers of cells and of columns in one check
ROWS_PER_BLOCK = 8192  # A block of this many rows fits into the processor's cache.
# If a larger share of the rows has the same value, the value is treated as a category, even in a
# column of measurements.
FREQUENT_VALUE_SHARE = 0.1
# Frequent values are sought only in columns with more distinct values.
MIN_DISTINCT_FOR_FREQUENT = 20
MAX_LABEL_LENGTH = 200  # Cells with more characters do not name a group.
FEWEST_NUMERIC_VALUES = 8  # A numeric column with fewer values is a category.
GROUP_WORDS = (
    "id|ids|patient|subject|person|user|customer|donor|group|family|site|batch|animal|mouse|case"
)
GROUP_NAME_PATTERN = re.compile(rf"(?:^|[^a-z])(?:{GROUP_WORDS})(?:[^a-z]|$)", re.IGNORECASE)


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
    if data.n_rows < MIN_CHECKED_ROWS:
        return []
    findings: list[Finding] = []
    column_cache: ColumnCache = {}
    for check in (_check_copies, _check_order, _group_numbers):
        finding = check(data, np.random.default_rng([seed, data.n_rows]), column_cache)
        if finding is not None:
            findings.append(finding)
    return findings


# ---------------------------------------------------------------- columns of the table


@frozen(eq=False)
class _Columns:
    """Cells of selected columns and rows of a table.

    Each column of the table is one row of the arrays.

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
    def from_table(cls, X: Any, table_positions: Sequence[int], rows: np.ndarray) -> _Columns:
        """Read the cells of a table at the given column positions and rows."""
        numeric_cells, is_number = _read_numbers(X, table_positions, rows)
        codes = np.empty(numeric_cells.shape, dtype=np.int64)
        for j in np.flatnonzero(~is_number).tolist():
            codes[j] = _codes_of_texts(_cells_of_column(X, table_positions[j], rows))
        numeric_rows = numeric_cells[is_number]
        row_order = np.argsort(numeric_rows, axis=1)
        sorted_numbers = np.take_along_axis(numeric_rows, row_order, axis=1)
        ranks, numeric_codes = (
            np.zeros(numeric_rows.shape, dtype=np.int64),
            np.empty(numeric_rows.shape, dtype=np.int64),
        )
        np.cumsum(sorted_numbers[:, 1:] > sorted_numbers[:, :-1], axis=1, out=ranks[:, 1:])
        np.put_along_axis(numeric_codes, row_order, ranks, axis=1)
        codes[is_number] = numeric_codes
        return cls(X, table_positions, numeric_cells, is_number, codes, codes.max(axis=1) + 1)

    def median_steps(self, chosen_columns: np.ndarray) -> np.ndarray:
        """Return each chosen column's median difference between neighbouring distinct numbers."""
        sorted_gaps = np.diff(np.sort(self.numbers[chosen_columns], axis=1), axis=1)
        sorted_gaps.sort(axis=1)  # The differences of equal numbers, which are 0, come first.
        column_numbers, n_gaps = np.arange(len(chosen_columns)), self.n_values[chosen_columns] - 1
        first_positive_gaps = sorted_gaps.shape[1] - n_gaps
        lower_median_steps, upper_median_steps = (
            sorted_gaps[column_numbers, first_positive_gaps + (n_gaps - 1) // 2],
            sorted_gaps[column_numbers, first_positive_gaps + n_gaps // 2],
        )
        return np.asarray((lower_median_steps + upper_median_steps) / 2)


ColumnCache = dict[tuple[int, ...], _Columns]
"""Cache of columns that were read for all rows, by their positions. Several checks use them."""


def _read_numbers(
    X: Any, table_positions: Sequence[int], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns as finite numbers, and a mask of the usable columns.

    The mask is True for columns that are numeric and not constant.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        selected_cells = X[np.ix_(rows, np.array(table_positions, dtype=np.intp))]
        numeric_cells = np.ascontiguousarray(selected_cells.T, dtype=np.float64)
        is_number = np.full(len(table_positions), True)
    else:
        numeric_cells = np.zeros((len(table_positions), len(rows)))
        is_number = np.full(len(table_positions), False)
        for j, table_position in enumerate(table_positions):
            cells = _cells_of_column(X, table_position, rows)
            if cells.dtype.kind not in "mMc":
                with suppress(TypeError, ValueError, OverflowError):
                    numeric_cells[j] = cells.astype(np.float64)
                    is_number[j] = True
    smallest_numbers, largest_numbers = numeric_cells.min(axis=1), numeric_cells.max(axis=1)
    for j in np.flatnonzero(
        ~(np.isfinite(smallest_numbers) & np.isfinite(largest_numbers))
    ).tolist():
        is_finite = np.isfinite(numeric_cells[j])
        if is_finite.mean() < 0.8:
            smallest_numbers[j] = largest_numbers[j] = 0.0
        else:
            numeric_cells[j] = np.where(
                is_finite, numeric_cells[j], np.median(numeric_cells[j][is_finite])
            )
            smallest_numbers[j], largest_numbers[j] = numeric_cells[j].min(), numeric_cells[j].max()
    largest_magnitudes = np.maximum(-smallest_numbers, largest_numbers)
    is_extreme = (largest_magnitudes > 0) & ~(
        (largest_magnitudes > 1e-100) & (largest_magnitudes < 1e100)
    )
    # Extreme columns are rescaled; otherwise squares of their numbers overflow or underflow.
    numeric_cells[is_extreme] /= largest_magnitudes[is_extreme, None]
    return numeric_cells, is_number & (smallest_numbers < largest_numbers)


def _cells_of_column(X: Any, table_position: int, rows: np.ndarray) -> np.ndarray:
    """Return the cells of one column for these rows."""
    return np.asarray(column_at(X, table_position))[rows]


def _codes_of_texts(cells: np.ndarray) -> np.ndarray:
    """Return a category code for each cell of a column that is constant or not numeric."""
    if any(len(str(cell)) > MAX_LABEL_LENGTH for cell in cells[:MIN_CHECKED_ROWS].tolist()):
        return np.arange(len(cells))  # Long texts name no group, and comparing them is slow.
    return codes_of_cells(cells)


def _read_columns(
    data: Data,
    rows: np.ndarray,
    max_columns: int,
    rng: np.random.Generator,
    column_cache: ColumnCache,
) -> _Columns:
    """Read the columns of the table, or at most `max_columns` of them, selected at random.

    Columns whose name suggests a group number are always selected. In an array without names,
    columns of integers are selected before others.
    """
    X, max_columns = data.X, min(max_columns, MOST_COLUMNS)
    if not n_columns(X) or hasattr(X, "tocsr"):
        return _Columns.from_table(np.empty((data.n_rows, 0)), (), rows)
    all_column_names = column_names(X)
    X = np.asarray(X) if all_column_names is None else X
    n_columns_of_X = X.shape[1]
    chosen_columns = np.arange(n_columns_of_X)
    if n_columns_of_X > max_columns:
        named_columns = [
            j
            for j, column_name in enumerate(all_column_names or ())
            if GROUP_NAME_PATTERN.search(column_name)
        ][:max_columns]
        other_columns = rng.permutation(np.setdiff1d(chosen_columns, named_columns))
        if all_column_names is None and X.dtype.kind == "f":
            first_rows = X[:MIN_CHECKED_ROWS]
            is_integer_column = (first_rows == np.floor(first_rows)).all(axis=0)
            other_columns = other_columns[
                np.argsort(~is_integer_column[other_columns], kind="stable")
            ]
        chosen_columns = np.sort(
            np.r_[named_columns, other_columns[: max_columns - len(named_columns)]].astype(np.int64)
        )
    table_positions = tuple(chosen_columns.tolist())
    if len(rows) < data.n_rows:
        return _Columns.from_table(X, table_positions, rows)
    if table_positions not in column_cache:
        column_cache[table_positions] = _Columns.from_table(X, table_positions, rows)
    return column_cache[table_positions]


def _rows_of_slices(
    X: Any, table_positions: Sequence[int], n_rows: int, max_rows: int, rng: np.random.Generator
) -> list[np.ndarray | None]:
    """Return, for each column, the rows whose number in this column lies in a random interval.

    Each interval is chosen to contain about `max_rows` rows. Rows with equal or nearly equal
    numbers stay together, unlike in a random sample. The entry is None if the column is not
    numeric, or if too many rows share a few numbers.
    """
    random_draws = [(rng.choice(n_rows, 2000), rng.random()) for _ in table_positions]
    slice_share = max_rows / n_rows
    rows_by_column: list[np.ndarray] | None = None
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        sampled_numbers = [
            X[row_sample, j]
            for (row_sample, _), j in zip(random_draws, table_positions, strict=True)
        ]
        slice_bounds = [
            _random_quantile_interval(sample, random_start, slice_share)
            for sample, (_, random_start) in zip(sampled_numbers, random_draws, strict=True)
        ]
        rows_by_column = _rows_between(X, table_positions, np.array(slice_bounds).reshape(-1, 2))
    rows_of_slices: list[np.ndarray | None] = []
    for i, (table_position, (sampled_rows, random_start)) in enumerate(
        zip(table_positions, random_draws, strict=True)
    ):
        slice_rows = np.arange(n_rows) if rows_by_column is None else rows_by_column[i]
        if rows_by_column is None:
            (column_numbers,), (is_number,) = _read_numbers(X, [table_position], slice_rows)
            if is_number:
                lower_bound, upper_bound = _random_quantile_interval(
                    column_numbers[sampled_rows], random_start, slice_share
                )
                slice_rows = np.flatnonzero(
                    (column_numbers >= lower_bound) & (column_numbers <= upper_bound)
                )
        rows_of_slices.append(slice_rows if len(slice_rows) <= 2 * max_rows else None)
    return rows_of_slices


def _random_quantile_interval(
    sampled_numbers: np.ndarray, random_start: float, enclosed_share: float
) -> tuple[float, float]:
    """Return two quantiles of a sample, at a random place, that enclose the given share of it."""
    lower_share, upper_share = (
        random_start * (1 - enclosed_share),
        random_start * (1 - enclosed_share) + enclosed_share,
    )
    lower_bound, upper_bound = np.sort(sampled_numbers)[
        [
            int(len(sampled_numbers) * lower_share),
            min(1999, int(len(sampled_numbers) * upper_share)),
        ]
    ]
    return float(lower_bound), float(upper_bound)


def _rows_between(
    feature_table: np.ndarray, column_numbers: Sequence[int], interval_bounds: np.ndarray
) -> list[np.ndarray] | None:
    """Return, for each chosen column, the rows whose numbers lie within the column's bounds.

    Return None if a cell is not finite. Blocks of rows are transposed in the processor's cache,
    because reading one column of a row-major table reads the whole table.
    """
    lower_bounds, upper_bounds = interval_bounds.T[:, :, None]
    found_rows_by_column: list[list[np.ndarray]] = [[] for _ in column_numbers]
    for block_start in range(0, len(feature_table), ROWS_PER_BLOCK):
        block_columns = np.ascontiguousarray(
            feature_table[block_start : block_start + ROWS_PER_BLOCK, column_numbers].T
        )
        if not np.isfinite(block_columns.sum()):
            return None
        for found_rows, is_inside in zip(
            found_rows_by_column,
            (block_columns >= lower_bounds) & (block_columns <= upper_bounds),
            strict=True,
        ):
            found_rows.append(np.flatnonzero(is_inside) + block_start)
    return [np.concatenate(found_rows) for found_rows in found_rows_by_column]


# ---------------------------------------------------------------- near copies


def _check_copies(
    data: Data, rng: np.random.Generator, column_cache: ColumnCache
) -> Finding | None:
    if data.groups is not None or data.dependent:
        return None
    n_rows = data.n_rows
    is_large = n_rows > MAX_SEARCHED_ROWS
    searched_rows = (
        np.sort(rng.choice(n_rows, MAX_SEARCHED_ROWS, replace=False))
        if is_large
        else np.arange(n_rows)
    )
    columns = _read_columns(
        data, searched_rows, max(2, MOST_CELLS // len(searched_rows)), rng, column_cache
    )
    is_continuous = columns.is_number & (columns.n_values >= FEWEST_NUMERIC_VALUES)
    is_category = (
        (columns.n_values > 1) & (columns.n_values - 1 < len(searched_rows) / 2) & ~is_continuous
    )
    continuous_columns, category_columns = (
        np.flatnonzero(is_continuous),
        np.flatnonzero(is_category),
    )
    if len(continuous_columns) < 2:
        return None
    std_by_column = columns.numbers[continuous_columns].std(axis=1)
    if is_large:
        most_varied_column = columns.positions[
            continuous_columns[columns.n_values[continuous_columns].argmax()]
        ]
        (slice_rows,) = _rows_of_slices(
            columns.X, [most_varied_column], n_rows, MAX_SEARCHED_ROWS, rng
        )
        if slice_rows is not None:
            searched_rows, columns = (
                slice_rows,
                _Columns.from_table(columns.X, columns.positions, slice_rows),
            )
    outcome = make_outcome(data.codes, data.y, searched_rows)
    # A column that is constant in the slice of rows has no usable numbers.
    is_numeric_in_rows = columns.is_number[continuous_columns]
    continuous_columns, std_by_column = (
        continuous_columns[is_numeric_in_rows],
        std_by_column[is_numeric_in_rows],
    )
    if outcome is None or len(continuous_columns) < 2:
        return None
    X = np.ascontiguousarray(columns.numbers[continuous_columns].T)
    column_scales = ColumnScales(
        std_by_column,
        columns.n_values[continuous_columns],
        columns.median_steps(continuous_columns),
    )
    category_codes = _codes_of_frequent_values(columns.codes[continuous_columns])
    near_copies = find_copies(
        X, _combine_codes(category_codes) if category_codes else None, outcome, rng, column_scales
    )
    if len(category_columns) and (near_copies is None or not near_copies.is_found):
        category_codes += list(columns.codes[category_columns])
        near_copies = find_copies(X, _combine_codes(category_codes), outcome, rng, column_scales)
    return (
        _copies_finding(near_copies) if near_copies is not None and near_copies.is_found else None
    )


def _codes_of_frequent_values(value_codes: np.ndarray) -> list[np.ndarray]:
    """Code the values that many rows share, such as zero, for each column that has such values.

    All other cells have the code 0. Rows with such a common value lie in a plane of their own, and
    distances within the plane have another distribution than distances to rows outside. Columns
    without such values are left out.
    """
    category_codes = []
    for column_codes in value_codes:
        value_counts = np.bincount(column_codes)
        frequent_values = np.flatnonzero(value_counts > FREQUENT_VALUE_SHARE * len(column_codes))
        if len(frequent_values) and len(value_counts) > MIN_DISTINCT_FOR_FREQUENT:
            category_of_value = np.zeros(len(value_counts), dtype=np.int64)
            category_of_value[frequent_values] = 1 + np.arange(len(frequent_values))
            category_codes.append(category_of_value[column_codes])
    return category_codes


def _combine_codes(codes_by_column: Sequence[np.ndarray]) -> np.ndarray:
    """Return one code for each combination of the codes of several columns."""
    combined_codes = codes_by_column[0]
    for further_codes in codes_by_column[1:]:
        pair_codes = combined_codes * (int(further_codes.max()) + 1) + further_codes
        combined_codes = np.unique(pair_codes, return_inverse=True)[1].ravel()
    return combined_codes


def _copies_finding(copies: NearCopies) -> Finding:
    cluster_size = round(copies.cluster_size)
    other_rows_text = (
        "another row is" if cluster_size == 2 else f"about {cluster_size - 1} other rows are"
    )
    nearness_text = (
        f"much nearer to them than the next one, which is {copies.gap_ratio:.1f} times as far away"
        if copies.gap_ratio < np.inf
        else "equal to them in all numbers of X, and the next one is not"
    )
    sentence = (
        f"{copies.gap_share:.0%} of the rows lie in small clusters: {other_rows_text} "
        f"{nearness_text} (of independent rows 5% do)."
    )
    if copies.drop_in_std_errors > 3 and copies.agreement_inside - copies.agreement_outside > 0.1:
        sentence += (
            f" Within a cluster y agree by {copies.agreement_inside:.2f}, with the rows beyond by "
            f"{copies.agreement_outside:.2f} (0 is chance, 1 is equal)."
        )
    return Finding(
        "near-copies",
        sentence,
        "If a case was measured several times, give groups and split by them: folds that test a "
        "row by its own copy promise too much.",
    )


# ---------------------------------------------------------------- rows in order


def _check_order(data: Data, rng: np.random.Generator, column_cache: ColumnCache) -> Finding | None:
    if data.dependent:
        return None
    rows = _consecutive_rows(np.arange(data.n_rows), MAX_ORDER_ROWS, rng)
    outcome = make_outcome(data.codes, data.y, rows)
    if outcome is None:
        return None
    order_of_rows = lag_one_correlation(outcome, None if data.groups is None else data.groups[rows])
    if order_of_rows is None:
        return None
    rows = _consecutive_rows(rows, MAX_REGRESSION_ROWS, rng)
    columns = _read_columns(data, rows, MOST_CELLS // len(rows), rng, column_cache)
    numbers_or_codes = np.where(columns.is_number[:, None], columns.numbers, columns.codes)
    X = np.ascontiguousarray(numbers_or_codes[columns.n_values > 1].T)
    ordered_columns = find_ordered_columns(X)
    residual_text, regression_outcome = "", make_outcome(data.codes, data.y, rows)
    if len(ordered_columns) and regression_outcome is not None:
        residual_correlation, residual_bound = correlation_given_columns(
            X[:, ordered_columns], regression_outcome
        )
        order_of_rows = replace(
            order_of_rows,
            residual_correlation=residual_correlation,
            residual_critical_value=residual_bound,
        )
        residual_text = f", and by {residual_correlation:.2f} after what columns of X explain"
    if not order_of_rows.is_found:
        return None
    return Finding(
        "rows-in-order",
        f"Rows that follow each other have similar y: they agree by {order_of_rows.correlation:.2f}"
        f"{residual_text} (0 is chance; a random order of the rows exceeds "
        f"{order_of_rows.critical_value:.2f} in 1 of "
        "2,000 tables).",
        "If the rows were taken one after the other, give time=; if rows of one case stand "
        "together, give groups. Shuffled folds test a row by its neighbours.",
    )


def _consecutive_rows(rows: np.ndarray, max_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most `max_rows` consecutive rows, starting at a random row."""
    if len(rows) <= max_rows:
        return rows
    first_position = int(rng.integers(len(rows) - max_rows + 1))
    return rows[first_position : first_position + max_rows]


# ---------------------------------------------------------------- group numbers


def _group_numbers(
    data: Data, rng: np.random.Generator, column_cache: ColumnCache
) -> Finding | None:
    if data.groups is not None:
        return None
    n_rows, all_column_names = data.n_rows, column_names(data.X)
    rows = np.arange(min(n_rows, MAX_GROUP_ROWS))
    outcome_of_first_rows = make_outcome(data.codes, data.y, rows)
    columns = _read_columns(data, rows, max(8, MOST_CELLS // len(rows)), rng, column_cache)
    rows_by_position: dict[int, np.ndarray | None] = {}
    if n_rows > MAX_GROUP_ROWS:
        numeric_positions = [
            columns.positions[j] for j in np.flatnonzero(columns.is_number).tolist()
        ]
        slice_rows = _rows_of_slices(columns.X, numeric_positions, n_rows, MAX_GROUP_ROWS, rng)
        rows_by_position = dict(zip(numeric_positions, slice_rows, strict=True))
    name_matches, agreement_matches = [], []
    for j, table_position in enumerate(columns.positions):
        outcome, value_codes, column_rows = outcome_of_first_rows, columns.codes[j], rows
        if table_position in rows_by_position:
            rows_of_slice = rows_by_position[table_position]
            if rows_of_slice is None:
                continue
            column_rows, outcome = rows_of_slice, make_outcome(data.codes, data.y, rows_of_slice)
            (value_codes,) = _Columns.from_table(columns.X, [table_position], column_rows).codes
        n_values = int(value_codes.max()) + 1
        if outcome is None or not MIN_DISTINCT_VALUES <= n_values <= len(value_codes) / 2:
            continue
        if _only_repeats_rows(data, column_rows, n_values):
            continue
        column_label = (
            f"column {table_position}"
            if all_column_names is None
            else repr(escape_and_truncate(all_column_names[table_position], 40))
        )
        group_agreement = measure_agreement(
            value_codes, outcome, has_order=bool(columns.is_number[j])
        )
        if group_agreement is not None and group_agreement.is_found:
            agreement_matches.append((column_label, group_agreement))
        elif (
            all_column_names is not None
            and GROUP_NAME_PATTERN.search(column_label)
            and len(value_codes) <= MAX_ROWS_PER_NAMED_VALUE * n_values
        ):
            name_matches.append((column_label, n_values, len(value_codes)))
    return (
        _groups_finding(agreement_matches, name_matches)
        if agreement_matches or name_matches
        else None
    )


def _only_repeats_rows(data: Data, rows: np.ndarray, n_values: int) -> bool:
    """Return True if a column's cells repeat only because whole rows are repeated.

    Copies of rows are reported by other findings.
    """
    row_keys = data.row_keys
    if row_keys is None or n_columns(data.X) == 1:
        return False
    return len(np.unique(row_keys[rows])) == n_values


def _groups_finding(
    agreement_matches: list[tuple[str, GroupAgreement]], name_matches: list[tuple[str, int, int]]
) -> Finding:
    all_names = [column_name for column_name, _ in agreement_matches] + [
        column_name for column_name, *_ in name_matches
    ]
    names_text = ", ".join(all_names[:3]) + (
        f" and {len(all_names) - 3} more columns" if all_names[3:] else ""
    )
    verb_text = "looks like the number" if len(all_names) == 1 else "look like numbers"
    if agreement_matches:
        column_name, group_agreement = agreement_matches[0]
        neighbour_text = (
            "those of the next numbers" if group_agreement.has_order else "rows of other values"
        )
        evidence_text = (
            f"{column_name} has {group_agreement.n_values} values, each in "
            f"{group_agreement.mean_rows_per_value:.3g} rows on average, whose y agree by "
            f"{group_agreement.agreement_inside:.2f}, and with {neighbour_text} by "
            f"{group_agreement.agreement_outside:.2f} (0 is chance, 1 is equal)."
        )
    else:
        column_name, n_values, n_cells = name_matches[0]
        evidence_text = (
            f"{column_name} is named like one, and has {n_values} values, each in "
            f"{n_cells / n_values:.3g} rows on average."
        )
    return Finding(
        "group-numbers",
        f"{names_text} {verb_text} of a group of rows. {evidence_text}",
        "If new rows come from other groups, drop the column, give it as groups (--groups at the "
        "command line), and take splits that keep a group together: '5-fold' or GroupKFold().",
    )


# ---------------------------------------------------------------- few events


def event_findings(data: Data, losses: Iterable[Loss]) -> Iterator[Finding]:
    """Yield a finding for losses that depend on few rows of a class or on few events."""
    names_by_events: dict[Events, list[str]] = {}
    for loss in losses:
        events = loss.events(data)
        if events is not None and events.count < events.sufficient_count:
            names_by_events.setdefault(events, []).append(escape_and_truncate(loss.name, 60))
    for events, loss_names in names_by_events.items():
        distinct_names = list(dict.fromkeys(loss_names))
        subject = f"{join_words(distinct_names)} rest" + ("s" if len(distinct_names) == 1 else "")
        yield _few_events_finding(events, subject)


def rarest_class_findings(data: Data) -> Iterator[Finding]:
    """Yield a finding if a class has too few rows for a ROC curve and its rates."""
    if data.codes is None:
        return
    events = Events.from_class(data)
    if events.count < events.sufficient_count:
        yield _few_events_finding(events, "The ROC curve and the rates at its thresholds rest")


def _few_events_finding(events: Events, subject: str) -> Finding:
    return Finding(
        "few-events",
        f"{subject} on only {events.count} {events.noun} (fewer than {events.sufficient_count}): a "
        "single "
        "one of them changes the value considerably, and the interval may contain the true value "
        "less often than its level states.",
        "Collect more rows of this kind before you rely on the value.",
    )
