r"""Near copies among rows: a gap in the distances from a row to its nearest neighbours.

If rows are independent and their density is about constant near row i, the numbers

.. math:: e_{ij} = D \, j \log \frac{d_{i,j+1}}{d_{i,j}}, \qquad j = 1, …, k - 1

are independent and exponential with mean 1, where :math:`d_{ij}` is the distance of row i to its
j-th neighbour and D the dimension in which the rows lie (Rényi's representation). D is
:math:`\log 2` over the median of all :math:`j \log(d_{i,j+1}/d_{i,j})`. A row with m - 1 near
copies has a large :math:`e_{i,m-1}`, whatever m is, so the sizes of clusters may differ. The row
has a gap where the largest of its numbers exceeds :math:`-\log(1 - .95^{1/(k-2)})`, which 5 % of
independent rows do, and a wide gap where it exceeds the same with .99. (The last distance
serves as the far side of a gap only.)

Copies are found if more than 15 % of the rows have a wide gap, or if more rows than chance allows
have a gap and y agrees before it far more than behind it (by .25 and four standard errors).
"""

from __future__ import annotations

import numpy as np

from truerisk.checks.agreement import FEWEST_ROWS, Outcome
from truerisk.core.frozen import frozen

NEIGHBOURS = 12
MOST_PAIRS = 800_000  # largest number of distances between rows that are computed
ROWS_AT_ONCE = 64  # Distances from this many rows fit into the processor's cache.
TAIL, FAR_TAIL = 0.05, 0.01  # shares of independent rows with a gap and with a wide gap
CLEAR_SHARE = 0.15  # A larger share of rows with wide gaps is evidence without outcomes.
LEAST_DROP = 0.25  # smallest drop in the agreement of outcomes from before a gap to behind it
LEAST_DROP_IN_STD_ERRORS = 4.0  # smallest drop in the agreement of outcomes, in standard errors
FEWEST_GAPS = 8  # fewest rows with a gap from which cluster sizes are estimated
ROUNDED_SHARE = 0.5  # Columns are rounded if their share of distinct values is smaller.
# Neighbours of a row are searched among at least this many rows with equal categories.
SMALLEST_COMBINATION = 16
# The theory of the gaps holds for the nearest 1/4 of the rows, but not for distant rows.
NEAREST_SHARE = 4


@frozen
class NearCopies:
    """Share of rows with a gap, and the agreement of outcomes on both sides of the gaps.

    Parameters
    ----------
    share, wide_share : float
        Shares of rows with a gap and with a wide gap. Of independent rows, 5 % have a gap and 1 %
        a wide gap.
    n_rows : int
        Number of rows whose neighbours were searched.
    size : float
        Median number of rows in a cluster, including the row itself; 0 if fewer than eight rows
        have a gap.
    ratio : float
        Median ratio of the distance behind the gap to the distance before it.
    inside, outside : float
        Mean agreement of outcomes with the rows before and behind the gap (0 is chance).
    errors : float
        The difference between inside and outside, in standard errors.
    """

    share: float
    wide_share: float
    n_rows: int
    size: float
    ratio: float
    inside: float
    outside: float
    errors: float

    @property
    def is_found(self) -> bool:
        """True if the gaps are evidence of near copies.

        They are evidence if wide gaps are frequent, or if gaps are frequent and outcomes differ
        across them. Fewer than eight gaps do not show how large the clusters are, and the property
        is False. Gaps are frequent if their share exceeds the expected share plus four standard
        errors. Rows share neighbours, so the variance of a share is assumed to be twice the
        binomial variance.
        """
        tails = np.array([TAIL, FAR_TAIL])
        most_gaps, most_wide_gaps = tails + 4 * np.sqrt(2 * tails * (1 - tails) / self.n_rows)
        has_drop = (
            self.errors > LEAST_DROP_IN_STD_ERRORS and self.inside - self.outside > LEAST_DROP
        )
        is_clear = self.wide_share > max(CLEAR_SHARE, most_wide_gaps) or (
            has_drop and self.share > most_gaps
        )
        return bool(self.size > 0 and is_clear)


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

    spread: np.ndarray
    n_values: np.ndarray
    steps: np.ndarray


def find_copies(
    numbers: np.ndarray,
    combination: np.ndarray | None,
    outcome: Outcome,
    rng: np.random.Generator,
    scale: ColumnScales,
) -> NearCopies | None:
    """Search for near copies by gaps in the distances between rows.

    Parameters
    ----------
    numbers : ndarray of shape (n, p)
        Columns of finite numbers that vary.
    combination : ndarray of shape (n,), or None
        Category code of each row: neighbours are searched among rows with the same code.
    outcome : Outcome
        Outcomes of the rows.
    rng : Generator
        Chooses the rows whose neighbours are searched, if there are many rows, and spreads rounded
        numbers over the steps of rounding.
    scale : Scale
        Scales of the columns.

    Returns
    -------
    Copies or None
        None for tables of fewer than two columns or 30 distinct rows.
    """
    if numbers.shape[1] < 2:
        return None
    Z = (numbers - numbers.mean(axis=0)) / scale.spread
    row_keys = np.round(Z @ rng.standard_normal(Z.shape[1]), 9)
    if combination is not None:
        row_keys = row_keys + 1e3 * combination
    # Exact copies are a separate finding, so only the first of equal rows is used.
    distinct = np.sort(np.unique(row_keys, return_index=True)[1])
    if len(distinct) < FEWEST_ROWS:
        return None
    if len(distinct) < len(Z):
        Z, outcome = Z[distinct], outcome.take(distinct)
        combination = None if combination is None else combination[distinct]
    Z = _add_rounding_noise(Z, scale, rng)
    n = len(Z)
    k = min(NEIGHBOURS, n // 8)
    if k < 3:
        return None
    requested = np.sort(rng.permutation(n)[: min(n, max(100, MOST_PAIRS // n))])
    n_partners = None if combination is None else np.bincount(combination)[combination] - 1
    # A row cannot be its own neighbour, so m rows with equal categories give m - 1 neighbours.
    if n_partners is not None:
        requested = requested[n_partners[requested] + 1 >= SMALLEST_COMBINATION]
        if len(requested) < FEWEST_ROWS:
            return None
    distances, neighbours = _neighbours(Z, requested, k, combination)
    positions = np.arange(1, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(distances[:, 1:] / distances[:, :-1])
    logs = np.nan_to_num(logs, nan=0.0, posinf=0.0)
    if n_partners is not None:
        logs = np.where(positions <= n_partners[requested][:, None] // NEAREST_SHARE, logs, 0.0)
    spacings = positions * logs
    median_spacing = np.median(spacings[spacings > 0]) if (spacings > 0).any() else 0.0
    if median_spacing <= 0:
        return None
    # The last neighbour cannot be the near side of a gap.
    exponentials = spacings[:, :-1] * (np.log(2) / median_spacing)
    rows = np.arange(len(requested))
    gap_positions = exponentials.argmax(axis=1)
    largest = exponentials[rows, gap_positions]
    # The largest of k - 2 exponential variables exceeds this bound with the tail probability.
    has_gap = largest > -np.log1p(-((1 - TAIL) ** (1 / (k - 2))))
    has_wide_gap = largest > -np.log1p(-((1 - FAR_TAIL) ** (1 / (k - 2))))
    share, wide_share = float(has_gap.mean()), float(has_wide_gap.mean())
    if has_gap.sum() < FEWEST_GAPS:
        return NearCopies(share, wide_share, len(requested), 0.0, 1.0, 0.0, 0.0, 0.0)
    agreement = outcome.agreement(requested[has_gap][:, None], neighbours[has_gap])
    gap_positions, neighbour_order = gap_positions[has_gap, None], np.arange(k)
    is_before = neighbour_order <= gap_positions
    is_behind = (neighbour_order > gap_positions) & (neighbour_order <= 2 * gap_positions + 2)
    if n_partners is not None:
        is_behind &= neighbour_order < n_partners[requested][has_gap][:, None]
    inside_agreement = (agreement * is_before).sum(axis=1) / is_before.sum(axis=1)
    outside_agreement = (agreement * is_behind).sum(axis=1) / np.maximum(is_behind.sum(axis=1), 1)
    drop = inside_agreement - outside_agreement
    std_error = max(float(drop.std(ddof=1)), 0.1) / np.sqrt(len(drop))
    return NearCopies(
        share=share,
        wide_share=wide_share,
        n_rows=len(requested),
        size=float(np.median(gap_positions + 2)),
        ratio=float(np.exp(np.median(logs[rows[has_gap], gap_positions[:, 0]]))),
        inside=float(inside_agreement.mean()),
        outside=float(outside_agreement.mean()),
        errors=float(drop.mean() / std_error),
    )


def _add_rounding_noise(Z: np.ndarray, scale: ColumnScales, rng: np.random.Generator) -> np.ndarray:
    """Add uniform noise to rounded columns, as wide as the step of rounding.

    Distances between rows on a grid are multiples of the grid's step. With the noise the rows have
    a density, which the theory of the spacings assumes.
    """
    rounded_columns = np.flatnonzero(scale.n_values < ROUNDED_SHARE * len(Z))
    steps = (scale.steps / scale.spread)[rounded_columns]
    Z = Z.copy()
    Z[:, rounded_columns] += steps * (rng.random((len(rounded_columns), len(Z))).T - 0.5)
    return Z


def _neighbours(
    Z: np.ndarray, requested: np.ndarray, k: int, combination: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances to the k nearest rows of each requested row, and their row numbers."""
    squares = np.einsum("ij,ij->i", Z, Z)
    nearest = np.empty((len(requested), k), dtype=np.intp)
    for start in range(0, len(requested), ROWS_AT_ONCE):
        row_block = requested[start : start + ROWS_AT_ONCE]
        distances = (-2 * Z[row_block]) @ Z.T
        distances += squares
        if combination is not None:
            distances += 1e6 * (combination[row_block][:, None] != combination)
        distances[np.arange(len(row_block)), row_block] = np.inf
        nearest[start : start + len(row_block)] = np.argpartition(distances, k - 1, axis=1)[:, :k]
    differences = Z[nearest] - Z[requested][:, None]
    exact_squares = np.einsum("ikj,ikj->ik", differences, differences)
    if combination is not None:
        exact_squares += 1e6 * (combination[requested][:, None] != combination[nearest])
    by_distance = np.argsort(exact_squares, axis=1)
    exact_squares = np.sqrt(np.take_along_axis(exact_squares, by_distance, axis=1))
    return exact_squares, np.take_along_axis(nearest, by_distance, axis=1)
