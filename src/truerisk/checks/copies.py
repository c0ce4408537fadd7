r"""Near copies among rows: a gap in the distances from a row to its nearest neighbours.

If rows are independent and their density is about constant near row i, the numbers

.. math:: e_{ij} = D \, j \log \frac{d_{i,j+1}}{d_{i,j}}, \qquad j = 1, …, k - 1

are independent and exponential with mean 1, where :math:`d_{ij}` is the distance of row i to its
j-th neighbour and D the dimension in which the rows lie (Rényi's representation). D is
:math:`\log 2` over the median of all :math:`j \log(d_{i,j+1}/d_{i,j})`. A row with m - 1 near
copies has a large :math:`e_{i,m-1}`, whatever m is, so the sizes of clusters may differ. The row
has a gap where the largest of its numbers exceeds :math:`-\log(1 - .95^{1/(k-2)})`, which 5 % of
independent rows do, and a wide gap where it exceeds the same with .99. (The last distance
serves as the far side of a gap only.) Behind rows with equal X and different y the gap is
infinitely wide. It does not count as a wide gap, because rows may have equal X by chance.

Copies are found if more than 15 % of the rows have a wide gap, or if more rows than chance allows
have a gap and y agrees before it far more than behind it (by .25 and four standard errors).
"""

from __future__ import annotations

import numpy as np

from truerisk.checks.agreement import MIN_CHECKED_ROWS, Outcome
from truerisk.core.frozen import frozen

MAX_NEIGHBOURS = 12
MAX_DISTANCES = 800_000  # largest number of distances between rows that are computed
ROWS_AT_ONCE = 64  # Distances from this many rows fit into the processor's cache.
GAP_PROBABILITY, WIDE_GAP_PROBABILITY = (
    0.05,
    0.01,
)  # shares of rows with a gap and with a wide gap if rows are independent
CLEAR_WIDE_GAP_SHARE = (
    0.15  # A larger share of rows with wide gaps is evidence of copies, whatever y is.
)
MIN_AGREEMENT_DROP = (
    0.25  # The agreement of outcomes must be smaller behind a gap than before the gap by this much.
)
# The agreement of outcomes must drop behind a gap by this many standard errors.
LEAST_DROP_IN_STD_ERRORS = 4.0
MIN_ROWS_WITH_GAP = 8  # fewest rows with a gap from which cluster sizes are estimated
ROUNDED_DISTINCT_SHARE = 0.5  # Columns are rounded if their share of distinct values is smaller.
# Neighbours of a row are searched among at least this many rows with equal categories.
MIN_ROWS_OF_CATEGORY = 16
# The theory of the gaps holds only for the nearest quarter of the rows.
NEAREST_DIVISOR = 4


@frozen
class NearCopies:
    """Evidence of near copies: gaps in the distances from a row to its nearest rows.

    It holds the share of rows with a gap, and the agreement of outcomes on both sides of the gaps.

    Parameters
    ----------
    share, wide_share : float
        Shares of rows with a gap and with a wide gap. Among independent rows, 5 % have a gap and 1
        % a wide gap.
    n_rows : int
        Number of rows whose neighbours were searched.
    size : float
        Median number of rows in a cluster, including the row itself; 0 if fewer than eight rows
        have a gap.
    ratio : float
        Median ratio of the distance behind the gap to the distance before it; infinite if the rows
        before the gap are equal in X.
    inside, outside : float
        Mean agreement of outcomes with the rows before and behind the gap (0 is chance).
    errors : float
        The difference between inside and outside, in standard errors.
    """

    gap_share: float
    wide_gap_share: float
    n_rows: int
    cluster_size: float
    gap_ratio: float
    agreement_inside: float
    agreement_outside: float
    drop_in_std_errors: float

    @property
    def is_found(self) -> bool:
        """True if the gaps are evidence of near copies.

        They are evidence if wide gaps are frequent, or if gaps are frequent and outcomes differ
        across them. Fewer than eight gaps do not show how large the clusters are, and the property
        is False. Gaps are frequent if their share exceeds the expected share plus four standard
        errors. Rows share neighbours, so the variance of a share is assumed to be twice the
        binomial variance.
        """
        gap_probabilities = np.array([GAP_PROBABILITY, WIDE_GAP_PROBABILITY])
        max_gap_share, max_wide_gap_share = gap_probabilities + 4 * np.sqrt(
            2 * gap_probabilities * (1 - gap_probabilities) / self.n_rows
        )
        has_drop = (
            self.drop_in_std_errors > LEAST_DROP_IN_STD_ERRORS
            and self.agreement_inside - self.agreement_outside > MIN_AGREEMENT_DROP
        )
        is_clear = self.wide_gap_share > max(CLEAR_WIDE_GAP_SHARE, max_wide_gap_share) or (
            has_drop and self.gap_share > max_gap_share
        )
        return bool(self.cluster_size > 0 and is_clear)


@frozen
class ColumnScales:
    """Scale of each numeric column: its spread and its step of rounding.

    Parameters
    ----------
    spread : ndarray of shape (p,)
        Standard deviations, by which columns are divided.
    n_values : ndarray of shape (p,)
        Numbers of distinct values.
    steps : ndarray of shape (p,)
        Median differences between neighbouring distinct values.
    """

    std: np.ndarray
    n_values: np.ndarray
    rounding_steps: np.ndarray


def find_copies(
    columns: np.ndarray,
    category_codes: np.ndarray | None,
    outcome: Outcome,
    rng: np.random.Generator,
    column_scales: ColumnScales,
) -> NearCopies | None:
    """Search for near copies by gaps in the distances between rows.

    Parameters
    ----------
    columns : ndarray of shape (n, p)
        Columns of finite numbers that vary.
    category_codes : ndarray of shape (n,), or None
        Category code of each row: neighbours are searched among rows with the same code.
    outcome : Outcome
        Outcomes of the rows.
    rng : Generator
        Chooses the rows whose neighbours are searched, if there are many rows, and spreads rounded
        numbers over the steps of rounding.
    column_scales : ColumnScales
        Scales of the columns.

    Returns
    -------
    NearCopies or None
        None for tables of fewer than two columns or 30 distinct rows.
    """
    if columns.shape[1] < 2:
        return None
    Z = (columns - columns.mean(axis=0)) / column_scales.std
    row_keys = np.round(Z @ rng.standard_normal(Z.shape[1]), 9)
    if category_codes is not None:
        row_keys = row_keys + 1e3 * category_codes
    # Exact copies are a separate finding, so only the first row of equal X and y is used.
    row_keys = row_keys + np.pi * outcome.values.reshape(len(Z), -1).sum(axis=1)
    distinct_rows = np.sort(np.unique(row_keys, return_index=True)[1])
    if len(distinct_rows) < MIN_CHECKED_ROWS:
        return None
    if len(distinct_rows) < len(Z):
        Z, outcome = Z[distinct_rows], outcome.take(distinct_rows)
        category_codes = None if category_codes is None else category_codes[distinct_rows]
    Z = _add_rounding_noise(Z, column_scales, rng)
    n_rows = len(Z)
    n_neighbours = min(MAX_NEIGHBOURS, n_rows // 8)
    if n_neighbours < 3:
        return None
    searched_rows = np.sort(
        rng.permutation(n_rows)[: min(n_rows, max(100, MAX_DISTANCES // n_rows))]
    )
    n_partners = None if category_codes is None else np.bincount(category_codes)[category_codes] - 1
    # A row cannot be its own neighbour, so m rows with equal categories give m - 1 neighbours.
    if n_partners is not None:
        searched_rows = searched_rows[n_partners[searched_rows] + 1 >= MIN_ROWS_OF_CATEGORY]
        if len(searched_rows) < MIN_CHECKED_ROWS:
            return None
    distances, neighbours = _neighbours(Z, searched_rows, n_neighbours, category_codes)
    neighbour_ranks = np.arange(1, n_neighbours)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_distance_ratios = np.log(distances[:, 1:] / distances[:, :-1])
    # The distance between rows of equal X is 0, and the gap behind them is infinitely wide.
    log_distance_ratios = np.nan_to_num(log_distance_ratios, nan=0.0, posinf=np.inf)
    if n_partners is not None:
        log_distance_ratios = np.where(
            neighbour_ranks <= n_partners[searched_rows][:, None] // NEAREST_DIVISOR,
            log_distance_ratios,
            0.0,
        )
    scaled_log_ratios = neighbour_ranks * log_distance_ratios
    positive_log_ratios = scaled_log_ratios[(scaled_log_ratios > 0) & (scaled_log_ratios < np.inf)]
    if not len(positive_log_ratios):
        return None
    median_spacing = np.median(positive_log_ratios)
    # No gap can follow the last neighbour.
    standardized_spacings = scaled_log_ratios[:, :-1] * (np.log(2) / median_spacing)
    row_numbers = np.arange(len(searched_rows))
    gap_ranks = standardized_spacings.argmax(axis=1)
    largest_spacings = standardized_spacings[row_numbers, gap_ranks]
    # The limit is exceeded by the largest of `n_neighbours - 2` exponential variables with
    # probability GAP_PROBABILITY.
    has_gap = largest_spacings > -np.log1p(-((1 - GAP_PROBABILITY) ** (1 / (n_neighbours - 2))))
    # Rows may have equal X by chance, so copies are found by them only if y agrees as well.
    has_wide_gap = (largest_spacings < np.inf) & (
        largest_spacings > -np.log1p(-((1 - WIDE_GAP_PROBABILITY) ** (1 / (n_neighbours - 2))))
    )
    gap_share, wide_gap_share = float(has_gap.mean()), float(has_wide_gap.mean())
    if has_gap.sum() < MIN_ROWS_WITH_GAP:
        return NearCopies(gap_share, wide_gap_share, len(searched_rows), 0.0, 1.0, 0.0, 0.0, 0.0)
    agreement = outcome.agreement(searched_rows[has_gap][:, None], neighbours[has_gap])
    gap_ranks, neighbour_indices = gap_ranks[has_gap, None], np.arange(n_neighbours)
    is_before_gap = neighbour_indices <= gap_ranks
    is_behind_gap = (neighbour_indices > gap_ranks) & (neighbour_indices <= 2 * gap_ranks + 2)
    if n_partners is not None:
        is_behind_gap &= neighbour_indices < n_partners[searched_rows][has_gap][:, None]
    inside_agreement = (agreement * is_before_gap).sum(axis=1) / is_before_gap.sum(axis=1)
    outside_agreement = (agreement * is_behind_gap).sum(axis=1) / np.maximum(
        is_behind_gap.sum(axis=1), 1
    )
    agreement_drops = inside_agreement - outside_agreement
    std_error = max(float(agreement_drops.std(ddof=1)), 0.1) / np.sqrt(len(agreement_drops))
    return NearCopies(
        gap_share=gap_share,
        wide_gap_share=wide_gap_share,
        n_rows=len(searched_rows),
        cluster_size=float(np.median(gap_ranks + 2)),
        gap_ratio=float(
            np.exp(np.median(log_distance_ratios[row_numbers[has_gap], gap_ranks[:, 0]]))
        ),
        agreement_inside=float(inside_agreement.mean()),
        agreement_outside=float(outside_agreement.mean()),
        drop_in_std_errors=float(agreement_drops.mean() / std_error),
    )


def _add_rounding_noise(
    Z: np.ndarray, column_scales: ColumnScales, rng: np.random.Generator
) -> np.ndarray:
    """Add uniform noise to each rounded column; its width is the column's rounding step.

    Distances between rows on a grid are multiples of the grid's step. With the noise the rows have
    a density, which the theory of the spacings assumes.
    """
    rounded_columns = np.flatnonzero(column_scales.n_values < ROUNDED_DISTINCT_SHARE * len(Z))
    rounding_steps = (column_scales.rounding_steps / column_scales.std)[rounded_columns]
    Z = Z.copy()
    Z[:, rounded_columns] += rounding_steps * (rng.random((len(rounded_columns), len(Z))).T - 0.5)
    return Z


def _neighbours(
    Z: np.ndarray, searched_rows: np.ndarray, n_neighbours: int, category_codes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances to the k nearest rows of each requested row, and their row numbers."""
    squared_norms = np.einsum("ij,ij->i", Z, Z)
    nearest_rows = np.empty((len(searched_rows), n_neighbours), dtype=np.intp)
    for block_start in range(0, len(searched_rows), ROWS_AT_ONCE):
        row_block = searched_rows[block_start : block_start + ROWS_AT_ONCE]
        approximate_distances = (-2 * Z[row_block]) @ Z.T
        approximate_distances += squared_norms
        if category_codes is not None:
            approximate_distances += 1e6 * (category_codes[row_block][:, None] != category_codes)
        approximate_distances[np.arange(len(row_block)), row_block] = np.inf
        nearest_rows[block_start : block_start + len(row_block)] = np.argpartition(
            approximate_distances, n_neighbours - 1, axis=1
        )[:, :n_neighbours]
    differences = Z[nearest_rows] - Z[searched_rows][:, None]
    squared_distances = np.einsum("ikj,ikj->ik", differences, differences)
    if category_codes is not None:
        squared_distances += 1e6 * (
            category_codes[searched_rows][:, None] != category_codes[nearest_rows]
        )
    order_by_distance = np.argsort(squared_distances, axis=1)
    squared_distances = np.sqrt(np.take_along_axis(squared_distances, order_by_distance, axis=1))
    return squared_distances, np.take_along_axis(nearest_rows, order_by_distance, axis=1)
