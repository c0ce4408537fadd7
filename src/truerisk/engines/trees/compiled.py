"""Decision trees on many samples of one table, grown as scikit-learn does, by compiled code."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels import native_module

NO_LIMIT = 2**31 - 1
# scikit-learn treats single-precision values as equal if they differ by no more than this.
FEATURE_THRESHOLD = 1e-7
IMPURITY_CODES = {"gini": 0, "entropy": 1, "squared_error": 2}
# If a node tries fewer than one in this many columns, it sorts only the columns that it tries.
FEW_TRIED = 12
MAX_EXACT_SUM = 2**53
# With fewer rows, doubles represent squares of counts and their sums exactly.
MAX_ROWS = 2**26


@frozen(eq=False)
class TreeTable:
    """Table of finite numbers in single precision, stored column by column."""

    columns: np.ndarray

    @classmethod
    def from_rows(cls, X: np.ndarray) -> TreeTable:
        """Convert a table X to single precision, or raise ValueError if it is unsuitable."""
        columns = np.ascontiguousarray(X.T, dtype=np.float32)
        if columns.ndim != 2 or not columns.size or not np.isfinite(columns).all():
            raise ValueError("a tree needs a table of finite numbers, with rows and columns.")
        if columns.shape[1] >= MAX_ROWS or columns.shape[0] >= NO_LIMIT:
            raise ValueError(f"{columns.shape[1]} rows of {columns.shape[0]} columns are too many.")
        return cls(columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[1])

    @cached_property
    def two_valued_columns(self) -> TwoValuedColumns:
        """Columns of the table that have exactly two distinct values."""
        return TwoValuedColumns.from_columns(self.columns)

    @cached_property
    def sorted_rows(self) -> np.ndarray:
        """Row numbers sorted by the values of each column with more than two values.

        The array has shape `(column, rank)`.
        """
        columns = self.columns[~self.two_valued_columns.is_two_valued]
        sorted_rows = np.empty(columns.shape, dtype=np.int32)
        for rows, values in zip(sorted_rows, columns, strict=True):
            rows[:] = np.argsort(values)
        return sorted_rows


@frozen(eq=False)
class TwoValuedColumns:
    """Columns with only two distinct values, stored as lists of the rows with the rarer value.

    `low` and `high` are the two values. `is_two_valued` marks these columns among all columns;
    `column_lists[row_starts[i]:row_starts[i + 1]]` are the numbers of the columns in which row i
    has the rarer value.
    """

    is_two_valued: np.ndarray
    low: np.ndarray
    high: np.ndarray
    row_starts: np.ndarray
    column_lists: np.ndarray

    @classmethod
    def from_columns(cls, columns: np.ndarray) -> TwoValuedColumns:
        """Find the columns with two values; list those in which each row has the rarer value."""
        low, high = columns.min(axis=1), columns.max(axis=1)
        column_numbers = np.flatnonzero(high > low)
        is_high = columns[column_numbers] == high[column_numbers, None]
        has_two_values = (is_high | (columns[column_numbers] == low[column_numbers, None])).all(
            axis=1
        )
        column_numbers, is_high = column_numbers[has_two_values], is_high[has_two_values]
        high_is_rarer = 2 * is_high.sum(axis=1) <= columns.shape[1]
        rows, column_positions = np.nonzero((is_high == high_is_rarer[:, None]).T)
        is_two_valued = np.zeros(len(columns), dtype=bool)
        is_two_valued[column_numbers] = True
        row_starts = np.searchsorted(rows, np.arange(columns.shape[1] + 1))
        column_lists = column_numbers[column_positions].astype(np.int32)
        return cls(is_two_valued, low, high, row_starts, column_lists)

    @property
    def sorted_column_index(self) -> np.ndarray:
        """Index of each column in `sorted_rows`; −1 if the column has only two values."""
        return np.where(self.is_two_valued, -1, np.cumsum(~self.is_two_valued) - 1).astype(np.int32)


@frozen(eq=False)
class RowLists:
    """Concatenated lists of rows: list f is `rows[offsets[f]:offsets[f + 1]]`."""

    rows: np.ndarray
    offsets: np.ndarray

    @classmethod
    def from_lists(cls, row_lists: list[np.ndarray]) -> RowLists:
        """Concatenate lists of row numbers, and compute their offsets."""
        offsets = np.cumsum([0, *(len(row_list) for row_list in row_lists)], dtype=np.int64)
        rows = np.concatenate(row_lists) if row_lists else np.empty(0, np.int32)
        return cls(np.ascontiguousarray(rows, dtype=np.int32), offsets)

    def check(self, name: str, n_lists: int, bound: int) -> None:
        """Raise ValueError unless there are `n_lists` lists of row numbers below `bound`."""
        rows, offsets = self.rows, self.offsets
        covers_all_rows = (
            len(offsets) == n_lists + 1 and offsets[0] == 0 and offsets[-1] == len(rows)
        )
        if not covers_all_rows or (np.diff(offsets) < 0).any():
            raise ValueError(f"{name} are not {n_lists} lists laid end to end.")
        if len(rows) and not 0 <= rows.min() <= rows.max() < bound:
            raise ValueError(f"{name} name rows outside 0 ... {bound - 1}.")


@frozen
class GrowthLimits:
    """Stopping rules of a decision tree, resolved from scikit-learn's parameters for one fit.

    `min_split_rows` and `min_leaf_rows` count rows with their copies, and `min_leaf_weight` is a
    number of rows too.
    """

    depth: int = NO_LIMIT
    min_split_rows: float = 2
    min_leaf_rows: float = 1
    min_leaf_weight: float = 0.0
    decrease: float = 0.0


@frozen(eq=False)
class Tree:
    """Nodes of one decision tree, with the attribute names of scikit-learn's `tree_`.

    A leaf has children −1, feature and threshold −2. `counts` are the numbers of rows of each
    class, or, for regression, the sum of the targets in one column.
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    impurity: np.ndarray
    weighted_n_node_samples: np.ndarray
    counts: np.ndarray

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.children_left)


@frozen(eq=False)
class GrownTrees:
    """Nodes of many trees, one tree after another, and the leaf of each test row.

    `nodes.counts[offsets[f]:offsets[f + 1]]` belongs to tree f. `leaves[i]` is the number of the
    leaf of the i-th test row within its tree.
    """

    nodes: Tree
    offsets: np.ndarray
    leaves: np.ndarray

    def tree(self, tree_number: int) -> Tree:
        """Return the nodes of the tree with this number."""
        node_range = slice(*self.offsets[tree_number : tree_number + 2])
        return Tree(**{name: array[node_range] for name, array in vars(self.nodes).items()})


def grow_trees(
    table: TreeTable,
    y: np.ndarray,
    n_classes: int,
    samples: RowLists,
    times_in_sample: np.ndarray,
    rows_to_predict: RowLists,
    seeds: np.ndarray,
    limits: list[GrowthLimits],
    *,
    n_tried: int,
    criterion: str = "gini",
    close: float = FEATURE_THRESHOLD,
) -> GrownTrees:
    """Grow one tree per sample, with the same splits as scikit-learn's depth-first builder.

    A node tries columns in an order drawn by a xorshift generator. Candidate thresholds lie between
    values that are not close. The first threshold with the largest decrease of impurity is chosen.
    Impurities are computed from integers, so that only quotients, logarithms and squares of sums
    are rounded, in scikit-learn's order. Sorting takes O(n log n) per column once, and a tree takes
    O(columns · rows) per level.

    Parameters
    ----------
    table : TreeTable
        The features of all rows.
    y : array, shape (n_rows,)
        Classes, 0 ... n_classes − 1; for "squared_error" targets, which are whole numbers, and
        `n_classes` is 1.
    n_classes : int
        The number of classes.
    samples : RowLists
        The distinct rows of each sample.
    times_in_sample : array of int
        How often each of these rows comes (1 or more).
    rows_to_predict : RowLists
        The rows whose leaves are wanted, for each tree.
    seeds : array of uint32
        The seed of each tree's random number generator.
    limits : list of GrowthLimits
        The stopping rules of each tree.
    n_tried : int
        The number of columns that a node tries (`max_features`).
    criterion : "gini", "entropy" or "squared_error"
        The measure of impurity.
    close : float
        Values no further apart are not split.

    Raises
    ------
    ValueError
        When a shape or a bound is wrong.
    Refusal
        When the compiled module is missing.
    """
    n_fits = len(limits)
    times_in_sample = np.ascontiguousarray(times_in_sample, dtype=np.int32)
    seeds = np.ascontiguousarray(seeds, dtype=np.uint32)
    if n_tried < 1 or criterion not in IMPURITY_CODES or not 0 <= close < np.inf:
        raise ValueError(f"{n_tried=}, {criterion=} and {close=} grow no tree.")
    _check_arguments(table, samples, times_in_sample, rows_to_predict, seeds, n_fits)
    if criterion == "squared_error":
        codes, targets = np.empty(0, dtype=np.int32), np.ascontiguousarray(y, dtype=np.float64)
        _check_targets(targets, n_classes, samples, times_in_sample, table.n_rows)
    else:
        codes, targets = np.ascontiguousarray(y, dtype=np.int32), np.empty(0)
        if codes.shape != (table.n_rows,) or not 0 <= codes.min() <= codes.max() < n_classes:
            raise ValueError(f"codes must be {table.n_rows} numbers from 0 to {n_classes - 1}.")
    max_nodes = np.maximum(2 * np.diff(samples.offsets) - 1, 1).sum()
    nodes = Tree(
        children_left=np.empty(max_nodes, dtype=np.int32),
        children_right=np.empty(max_nodes, dtype=np.int32),
        feature=np.empty(max_nodes, dtype=np.int32),
        threshold=np.empty(max_nodes),
        impurity=np.empty(max_nodes),
        weighted_n_node_samples=np.empty(max_nodes),
        counts=np.empty((max_nodes, n_classes)),
    )
    n_nodes, leaves = (
        np.empty(n_fits, dtype=np.int64),
        np.empty(len(rows_to_predict.rows), dtype=np.int32),
    )
    n_columns = len(table.columns)
    native_module().grow_trees(
        *_kernel_arguments(table, sorts_once=n_columns <= FEW_TRIED * n_tried),
        codes,
        targets,
        n_classes,
        IMPURITY_CODES[criterion],
        samples.rows,
        times_in_sample,
        samples.offsets,
        rows_to_predict.rows,
        rows_to_predict.offsets,
        seeds,
        np.array(
            [_limits_as_list(tree_limits) for tree_limits in limits], dtype=np.float64
        ).reshape(n_fits, 5),
        min(int(n_tried), n_columns),
        float(close),
        nodes.children_left,
        nodes.children_right,
        nodes.feature,
        nodes.threshold,
        nodes.impurity,
        nodes.weighted_n_node_samples,
        nodes.counts,
        n_nodes,
        leaves,
    )
    offsets = np.cumsum([0, *n_nodes])
    used_arrays = {name: array[: offsets[-1]] for name, array in vars(nodes).items()}
    return GrownTrees(Tree(**used_arrays), offsets, leaves)


def _kernel_arguments(table: TreeTable, *, sorts_once: bool) -> tuple[object, ...]:
    """Return the arguments that describe the table to the compiled code.

    If not `sorts_once`, only the values are passed, and each node sorts the columns that it tries.
    """
    if not sorts_once:
        empty_order, empty_columns = np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int32)
        empty_starts, empty_values = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        return (
            table.columns,
            False,
            empty_columns,
            empty_order,
            empty_starts,
            empty_columns,
            empty_values,
            empty_values,
        )
    two_valued_columns = table.two_valued_columns
    return (
        table.columns,
        True,
        two_valued_columns.sorted_column_index,
        table.sorted_rows,
        two_valued_columns.row_starts,
        two_valued_columns.column_lists,
        two_valued_columns.low,
        two_valued_columns.high,
    )


def _limits_as_list(limits: GrowthLimits) -> list[float]:
    return [
        limits.depth,
        limits.min_split_rows,
        limits.min_leaf_rows,
        limits.min_leaf_weight,
        limits.decrease,
    ]


def _check_arguments(
    table: TreeTable,
    samples: RowLists,
    times_in_sample: np.ndarray,
    rows_to_predict: RowLists,
    seeds: np.ndarray,
    n_fits: int,
) -> None:
    """Raise ValueError if the compiled code would read out of bounds."""
    n_rows = table.n_rows
    samples.check("samples", n_fits, n_rows)
    rows_to_predict.check("requested", n_fits, n_rows)
    if times_in_sample.shape != samples.rows.shape or (times_in_sample < 1).any():
        raise ValueError("every row of a sample comes once or more: times must say how often.")
    sample_starts = samples.offsets[:-1]
    if not n_fits or seeds.shape != (n_fits,) or (np.diff(samples.offsets) < 1).any():
        raise ValueError(f"{len(seeds)} seeds for {n_fits} samples, or one without rows.")
    if (np.add.reduceat(times_in_sample, sample_starts, dtype=np.int64) >= MAX_ROWS).any():
        raise ValueError(f"a sample has {MAX_ROWS:,} rows or more.")
    descent_positions = np.flatnonzero(np.diff(samples.rows) <= 0) + 1
    if not np.isin(descent_positions, sample_starts).all():
        raise ValueError("the rows of a sample must be distinct and ascending.")


def _check_targets(
    targets: np.ndarray, n_classes: int, samples: RowLists, copy_counts: np.ndarray, n_rows: int
) -> None:
    largest_sample_size = int(
        np.add.reduceat(copy_counts, samples.offsets[:-1], dtype=np.int64).max()
    )
    if (
        targets.shape != (n_rows,)
        or n_classes != 1
        or not has_exact_sums(targets, largest_sample_size)
    ):
        raise ValueError(
            f"targets must be {n_rows} whole numbers, and not too large to square and add."
        )


def has_exact_sums(targets: np.ndarray, n: int) -> bool:
    """Return True if doubles represent sums of n targets, and of their squares, exactly."""
    float64_targets = np.asarray(targets, dtype=np.float64)
    if (
        float64_targets.ndim != 1
        or not np.isfinite(float64_targets).all()
        or (float64_targets != np.rint(float64_targets)).any()
    ):
        return False
    return float(np.abs(float64_targets).max()) ** 2 * n < MAX_EXACT_SUM
