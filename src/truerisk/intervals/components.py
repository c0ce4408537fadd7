"""Spatial components of correlated values, for the standard error of their mean."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.places import grid_cells, usual_side
from truerisk.statistics.long_run import exceeds, least_factor, mean_of_chi

MOST_ALIKE = 0.15  # the mean correlation of two places that an interval has to tolerate
MOST_COMPONENTS = 12
MOST_PLACES = 500  # if there are more places, they are gathered into cells
STEPS = np.array([1, 1.5, 2.3, 3.5, 6, 12, 30, 1000])  # from the strongest correlation to none


@frozen(eq=False)
class SpatialComponents:
    r"""Weights of places whose sums estimate the variance of a mean, and a critical value.

    The values are modelled as a Gaussian process with correlation :math:`e^{-c d}`, where d is the
    distance of two places (Müller and Watson, 2022). :math:`c_0` is the c at which the mean
    correlation of two of the n places is `MOST_ALIKE`. The `vectors` :math:`v_1 … v_q` are the
    eigenvectors of the largest eigenvalues of the centred matrix :math:`M Σ(c_0) M`: the directions
    in which such values vary most. With shares :math:`φ_i = w_i (ℓ_i - value)`,

    .. math:: se^2 = \frac{n}{q} \sum_{j=1}^q \Bigl(\sum_i v_{ji} φ_i\Bigr)^2,

    and the interval value ± `critical` · se has at least the requested coverage for every :math:`c
    ≥ c_0`. q is chosen so that the interval is shortest for independent places. `member[i]` is the
    place of row i.
    """

    vectors: np.ndarray
    critical: float
    member: np.ndarray

    def std_error(self, shares: np.ndarray) -> float:
        """Return the standard error of the sum of one share per row."""
        sums = np.bincount(self.member, shares, minlength=len(self.vectors))
        return float(np.sqrt(len(sums) * np.square(sums @ self.vectors).mean()))


def spatial_components(places: np.ndarray, confidence_level: float) -> SpatialComponents | None:
    """Return the components of rows at these places; None if there are fewer than three places.

    >>> line = np.arange(20.0)[:, None]
    >>> found = spatial_components(line, 0.95)
    >>> found.vectors.shape, bool(found.critical > 1.96)
    ((20, 5), True)
    """
    held = np.ascontiguousarray(places, dtype=np.float64)
    return _of_places(held.tobytes(), held.shape[1], float(confidence_level))


@lru_cache(maxsize=8)
def _of_places(content: bytes, n_axes: int, level: float) -> SpatialComponents | None:
    """Compute the components of hashable places; cached, as a search needs them per score."""
    centres, member = _gathered(np.frombuffer(content).reshape(-1, n_axes))
    if len(centres) < 3:
        return None
    distances = distances_among(centres)
    decay = _decay(distances)
    n, most = len(centres), min(MOST_COMPONENTS, len(centres) - 2)
    strongest = np.exp(-decay * distances)
    centred = strongest - strongest.mean(axis=0)
    vectors = _leading(centred - centred.mean(axis=1, keepdims=True), most)
    basis = np.column_stack([np.full(n, n**-0.5), vectors])
    spreads = np.array([basis.T @ np.exp(-decay * step * distances) @ basis for step in STEPS])
    q, critical = _shortest(spreads, 1 - level)
    return SpatialComponents(vectors[:, :q], critical, member)


def _leading(matrix: np.ndarray, most: int) -> np.ndarray:
    """Return the eigenvectors of the largest eigenvalues, the largest first."""
    from scipy.linalg import eigh

    n = len(matrix)
    vectors: np.ndarray = eigh(matrix, subset_by_index=[n - most, n - 1])[1][:, ::-1]
    return vectors


def _shortest(spreads: np.ndarray, alpha: float) -> tuple[int, float]:
    """Return the number of components with the shortest interval, and its critical value.

    The length is that for independent places. It falls with the first components, which improve the
    estimate of the variance, and then rises.
    """
    q = min(2, spreads.shape[-1] - 1)
    critical = _critical(spreads[:, : q + 1, : q + 1], alpha)
    while q + 2 <= spreads.shape[-1]:
        following = _critical(spreads[:, : q + 2, : q + 2], alpha)
        if following * mean_of_chi(q + 1) >= critical * mean_of_chi(q):
            break
        q, critical = q + 1, following
    return q, critical


def distances_among(places: np.ndarray) -> np.ndarray:
    """Return Euclidean distances in the unit of the coordinates."""
    # Centring avoids the cancellation of digits for large coordinates.
    moved = places - places.mean(axis=0)
    squares = (moved**2).sum(axis=1)
    squared = squares[:, None] + squares - 2 * moved @ moved.T
    np.fill_diagonal(squared, 0)
    distances: np.ndarray = np.sqrt(np.maximum(squared, 0))
    return distances


def _gathered(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct places (centres of cells if there are many), and each row's place."""
    centres, member = np.unique(places, axis=0, return_inverse=True)
    member = member.ravel()
    n_cells = MOST_PLACES
    while len(centres) > MOST_PLACES:
        member = grid_cells(places, usual_side(places, n_cells))
        sums = [np.bincount(member, column) for column in places.T]
        centres = np.column_stack(sums) / np.bincount(member)[:, None]
        n_cells = int(0.8 * n_cells)
    return centres, member


def _decay(distances: np.ndarray) -> float:
    """Return the c at which the mean of exp(−c d) over all pairs of places is `MOST_ALIKE`."""
    n = len(distances)
    low, high = 1e-3 / distances.mean(), 1e4 / distances.mean()
    for _ in range(40):
        middle = np.sqrt(low * high)
        mean = (np.exp(-middle * distances).sum() - n) / (n * (n - 1))
        low, high = (middle, high) if mean > MOST_ALIKE else (low, middle)
    return float(high)


def _critical(spreads: np.ndarray, alpha: float) -> float:
    """Return the least factor at which the error rate is at most `alpha` for all these spreads."""
    return least_factor(lambda factor: _errs(spreads, factor), alpha)


def _errs(spreads: np.ndarray, factor: float) -> np.ndarray:
    """Return P(z₀² > f²/q Σ z_j²) for each covariance of the normal z₀ … z_q.

    The quadratic form has one positive eigenvalue, so that the probability equals that of Z₀² > Σ
    λ_j Z_j² with independent Z.
    """
    q = spreads.shape[-1] - 1
    form = np.append(1.0, np.full(q, -(factor**2) / q))
    values = np.sort(np.linalg.eigvals(spreads * form).real, axis=-1)
    return exceeds(np.maximum(-values[:, :-1] / values[:, -1:], 0))
