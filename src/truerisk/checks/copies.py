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
PAIRS = 800_000  # largest number of distances that are computed
ROWS_AT_ONCE = 64  # The distances of this number of rows fit in the processor's cache.
TAIL, FAR_TAIL = 0.05, 0.01  # shares of independent rows with a gap, and with a wide gap
CLEAR = 0.15  # If this share of rows has a wide gap, outcomes are not needed as evidence.
DROP = 0.25  # smallest difference between the agreement of outcomes before a gap and behind it
ERRORS = 4.0  # the same difference, in standard errors
FEWEST_GAPS = 8
ROUNDED = 0.5  # A column was rounded if the share of distinct values is below this number.
# smallest number of rows with equal categories among which neighbours are searched
SMALLEST_COMBINATION = 16
# The theory holds for the nearest quarter of a set of rows, not for distant rows.
NEAREST_SHARE = 4


@frozen
class Copies:
    """Share of rows that have a gap, and the agreement of outcomes on both sides of it.

    Parameters
    ----------
    share, wide_share : float
        Shares of rows with a gap and with a wide one; 5 and 1 % of independent rows have them.
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
        The difference of the two in standard errors.
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
        """True if wide gaps are frequent, or if gaps are in excess and outcomes disagree there.

        Fewer than eight gaps do not show how large the clusters are, and nothing is found. Gaps are
        in excess if their share exceeds the expected share plus four standard errors. Rows share
        neighbours, so the variance of a share is assumed to be twice the binomial variance.
        """
        tails = np.array([TAIL, FAR_TAIL])
        most, most_wide = tails + 4 * np.sqrt(2 * tails * (1 - tails) / self.n_rows)
        drops = self.errors > ERRORS and self.inside - self.outside > DROP
        clear = self.wide_share > max(CLEAR, most_wide) or (drops and self.share > most)
        return bool(self.size > 0 and clear)


@frozen
class Scale:
    """Scale of each column.

    Parameters
    ----------
    spread : ndarray of shape (p,)
        Standard deviations, by which columns are divided.
    n_values : ndarray of shape (p,)
        Numbers of distinct values.
    steps : ndarray of shape (p,)
        Median differences of neighbouring distinct values.
    """

    spread: np.ndarray
    n_values: np.ndarray
    steps: np.ndarray


def find_copies(
    numbers: np.ndarray,
    combination: np.ndarray | None,
    outcome: Outcome,
    rng: np.random.Generator,
    scale: Scale,
) -> Copies | None:
    """Look for gaps in the distances between rows of numbers.

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
    marks = np.round(Z @ rng.standard_normal(Z.shape[1]), 9)
    if combination is not None:
        marks = marks + 1e3 * combination
    # Exact copies are a separate finding, so only the first of equal rows is used.
    distinct = np.sort(np.unique(marks, return_index=True)[1])
    if len(distinct) < FEWEST_ROWS:
        return None
    if len(distinct) < len(Z):
        Z, outcome = Z[distinct], outcome.take(distinct)
        combination = None if combination is None else combination[distinct]
    Z = _between_steps(Z, scale, rng)
    n = len(Z)
    k = min(NEIGHBOURS, n // 8)
    if k < 3:
        return None
    requested = np.sort(rng.permutation(n)[: min(n, max(100, PAIRS // n))])
    known = None if combination is None else np.bincount(combination)[combination] - 1
    # A row in a set of m rows with equal categories has m - 1 neighbours.
    if known is not None:
        requested = requested[known[requested] + 1 >= SMALLEST_COMBINATION]
        if len(requested) < FEWEST_ROWS:
            return None
    distances, neighbours = _neighbours(Z, requested, k, combination)
    positions = np.arange(1, k)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(distances[:, 1:] / distances[:, :-1])
    logs = np.nan_to_num(logs, nan=0.0, posinf=0.0)
    if known is not None:
        logs = np.where(positions <= known[requested][:, None] // NEAREST_SHARE, logs, 0.0)
    spacings = positions * logs
    usual = np.median(spacings[spacings > 0]) if (spacings > 0).any() else 0.0
    if usual <= 0:
        return None
    exponentials = spacings[:, :-1] * (np.log(2) / usual)  # No row lies behind the last one.
    rows = np.arange(len(requested))
    place = exponentials.argmax(axis=1)
    largest = exponentials[rows, place]
    # The largest of k - 2 exponential variables exceeds this bound with the tail probability.
    has_gap = largest > -np.log1p(-((1 - TAIL) ** (1 / (k - 2))))
    has_wide_gap = largest > -np.log1p(-((1 - FAR_TAIL) ** (1 / (k - 2))))
    share, wide = float(has_gap.mean()), float(has_wide_gap.mean())
    if has_gap.sum() < FEWEST_GAPS:
        return Copies(share, wide, len(requested), 0.0, 1.0, 0.0, 0.0, 0.0)
    agreement = outcome.agreement(requested[has_gap][:, None], neighbours[has_gap])
    place, order = place[has_gap, None], np.arange(k)
    before = order <= place
    behind = (order > place) & (order <= 2 * place + 2)
    if known is not None:
        behind &= order < known[requested][has_gap][:, None]
    inside = (agreement * before).sum(axis=1) / before.sum(axis=1)
    outside = (agreement * behind).sum(axis=1) / np.maximum(behind.sum(axis=1), 1)
    drop = inside - outside
    error = max(float(drop.std(ddof=1)), 0.1) / np.sqrt(len(drop))
    return Copies(
        share=share,
        wide_share=wide,
        n_rows=len(requested),
        size=float(np.median(place + 2)),
        ratio=float(np.exp(np.median(logs[rows[has_gap], place[:, 0]]))),
        inside=float(inside.mean()),
        outside=float(outside.mean()),
        errors=float(drop.mean() / error),
    )


def _between_steps(Z: np.ndarray, scale: Scale, rng: np.random.Generator) -> np.ndarray:
    """Add uniform noise to rounded columns, as wide as the step of rounding.

    Distances between rows on a grid are multiples of its step. With the noise the rows have a
    density, which the theory of the spacings assumes.
    """
    rounded = np.flatnonzero(scale.n_values < ROUNDED * len(Z))
    steps = (scale.steps / scale.spread)[rounded]
    Z = Z.copy()
    Z[:, rounded] += steps * (rng.random((len(rounded), len(Z))).T - 0.5)
    return Z


def _neighbours(
    Z: np.ndarray, requested: np.ndarray, k: int, combination: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances to the k nearest rows and their row numbers, nearest first."""
    squares = np.einsum("ij,ij->i", Z, Z)
    nearest = np.empty((len(requested), k), dtype=np.intp)
    for start in range(0, len(requested), ROWS_AT_ONCE):
        some = requested[start : start + ROWS_AT_ONCE]
        distances = (-2 * Z[some]) @ Z.T
        distances += squares
        if combination is not None:
            distances += 1e6 * (combination[some][:, None] != combination)
        distances[np.arange(len(some)), some] = np.inf
        nearest[start : start + len(some)] = np.argpartition(distances, k - 1, axis=1)[:, :k]
    apart = Z[nearest] - Z[requested][:, None]
    exact = np.einsum("ikj,ikj->ik", apart, apart)
    if combination is not None:
        exact += 1e6 * (combination[requested][:, None] != combination[nearest])
    order = np.argsort(exact, axis=1)
    exact = np.sqrt(np.take_along_axis(exact, order, axis=1))
    return exact, np.take_along_axis(nearest, order, axis=1)
