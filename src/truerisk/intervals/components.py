"""Weights of places whose sums give the standard error of a mean of spatially correlated values."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.places import default_cell_side, grid_cells
from truerisk.statistics.long_run import (
    exceedance_probability,
    find_smallest_factor,
    mean_scaled_chi,
)

# Intervals must be valid if the correlation of two places, averaged over all pairs of places, is
# at most this value.
MAX_MEAN_CORRELATION = 0.15
MAX_COMPONENTS = 12
# More places than this are merged: those in the same cell of a grid count as one place.
MAX_PLACES = 500
# The critical value is computed for these multiples of the decay rate of the correlation. The
# first is the strongest assumed correlation, the last is almost none.
DECAY_MULTIPLES = np.array([1, 1.5, 2.3, 3.5, 6, 12, 30, 1000])


@frozen(eq=False)
class SpatialComponents:
    r"""Weighted sums over places that estimate the variance of a mean, and a critical value.

    The values are modelled as a Gaussian process with correlation :math:`e^{-c d}`, where d is the
    distance of two places (Müller and Watson, 2022). :math:`c_0` is the c at which the mean
    correlation of two of the n places is `MAX_MEAN_CORRELATION`. The `weight_vectors` :math:`v_1 …
    v_q` are the eigenvectors of the largest eigenvalues of the centred matrix :math:`M Σ(c_0) M`:
    the directions in which such values vary most. With shares :math:`φ_i = w_i (ℓ_i - value)`,

    .. math:: se^2 = \frac{n}{q} \sum_{j=1}^q \Bigl(\sum_i v_{ji} φ_i\Bigr)^2,

    and the interval value ± `critical_value` · se has at least the requested coverage for every
    :math:`c ≥ c_0`. q is chosen so that the interval is shortest for independent places.
    `place_of_row[i]` is the number of the place of row i.
    """

    weight_vectors: np.ndarray
    critical_value: float
    place_of_row: np.ndarray

    def std_error(self, shares: np.ndarray) -> float:
        """Return the standard error of a sum, given the share that each row contributes."""
        place_sums = np.bincount(self.place_of_row, shares, minlength=len(self.weight_vectors))
        return float(np.sqrt(len(place_sums) * np.square(place_sums @ self.weight_vectors).mean()))


def spatial_components(
    coordinates: np.ndarray, confidence_level: float
) -> SpatialComponents | None:
    """Return the spatial components of rows at these places, or None if fewer than three places."""
    contiguous_coordinates = np.ascontiguousarray(coordinates, dtype=np.float64)
    return _cached_components(
        contiguous_coordinates.tobytes(), contiguous_coordinates.shape[1], float(confidence_level)
    )


@lru_cache(maxsize=8)
def _cached_components(
    coordinate_bytes: bytes, n_axes: int, confidence_level: float
) -> SpatialComponents | None:
    """Compute the components of places given as bytes, which makes the function cacheable.

    The cache is needed because a search asks for the same components with every score.
    """
    place_centres, place_of_row = _distinct_places(
        np.frombuffer(coordinate_bytes).reshape(-1, n_axes)
    )
    if len(place_centres) < 3:
        return None
    distances = pairwise_distances(place_centres)
    decay_rate = _decay_rate(distances)
    n, n_components = len(place_centres), min(MAX_COMPONENTS, len(place_centres) - 2)
    correlations = np.exp(-decay_rate * distances)
    centred_correlations = correlations - correlations.mean(axis=0)
    vectors = _leading_eigenvectors(
        centred_correlations - centred_correlations.mean(axis=1, keepdims=True), n_components
    )
    basis = np.column_stack([np.full(n, n**-0.5), vectors])
    covariances = np.array(
        [
            basis.T @ np.exp(-decay_rate * decay_multiple * distances) @ basis
            for decay_multiple in DECAY_MULTIPLES
        ]
    )
    n_selected_components, critical_value = _shortest_interval(covariances, 1 - confidence_level)
    return SpatialComponents(vectors[:, :n_selected_components], critical_value, place_of_row)


def _leading_eigenvectors(matrix: np.ndarray, n_vectors: int) -> np.ndarray:
    """Return the eigenvectors of the largest eigenvalues of a matrix, the largest first."""
    from scipy.linalg import eigh

    n = len(matrix)
    vectors: np.ndarray = eigh(matrix, subset_by_index=[n - n_vectors, n - 1])[1][:, ::-1]
    return vectors


def _shortest_interval(covariances: np.ndarray, alpha: float) -> tuple[int, float]:
    """Return the number of components that gives the shortest interval, and its critical value.

    The length is that for independent places. It falls with the first components, which improve the
    estimate of the variance, and then rises.
    """
    n_components = min(2, covariances.shape[-1] - 1)
    critical_value = _critical_value(covariances[:, : n_components + 1, : n_components + 1], alpha)
    while n_components + 2 <= covariances.shape[-1]:
        next_critical_value = _critical_value(
            covariances[:, : n_components + 2, : n_components + 2], alpha
        )
        if next_critical_value * mean_scaled_chi(
            n_components + 1
        ) >= critical_value * mean_scaled_chi(n_components):
            break
        n_components, critical_value = n_components + 1, next_critical_value
    return n_components, critical_value


def pairwise_distances(coordinates: np.ndarray) -> np.ndarray:
    """Return the matrix of Euclidean distances between places, in the unit of the coordinates."""
    # The places are centred to avoid the cancellation of digits for large coordinates.
    centred_coordinates = coordinates - coordinates.mean(axis=0)
    squared_norms = (centred_coordinates**2).sum(axis=1)
    squared_distances = (
        squared_norms[:, None] + squared_norms - 2 * centred_coordinates @ centred_coordinates.T
    )
    np.fill_diagonal(squared_distances, 0)
    distances: np.ndarray = np.sqrt(np.maximum(squared_distances, 0))
    return distances


def _distinct_places(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct places, and the index of each row's place.

    If there are many places, the centres of grid cells take their place.
    """
    place_centres, place_of_row = np.unique(coordinates, axis=0, return_inverse=True)
    place_of_row = place_of_row.ravel()
    n_cells = MAX_PLACES
    while len(place_centres) > MAX_PLACES:
        place_of_row = grid_cells(coordinates, default_cell_side(coordinates, n_cells))
        coordinate_sums = [np.bincount(place_of_row, column) for column in coordinates.T]
        place_centres = np.column_stack(coordinate_sums) / np.bincount(place_of_row)[:, None]
        n_cells = int(0.8 * n_cells)
    return place_centres, place_of_row


def _decay_rate(distances: np.ndarray) -> float:
    """Return the rate c at which the mean correlation of two places is `MAX_MEAN_CORRELATION`.

    The correlation of two places is exp(−c d), where d is the distance between the two places.
    """
    n = len(distances)
    low_rate, high_rate = 1e-3 / distances.mean(), 1e4 / distances.mean()
    for _ in range(40):
        candidate_rate = np.sqrt(low_rate * high_rate)
        mean_correlation = (np.exp(-candidate_rate * distances).sum() - n) / (n * (n - 1))
        low_rate, high_rate = (
            (candidate_rate, high_rate)
            if mean_correlation > MAX_MEAN_CORRELATION
            else (low_rate, candidate_rate)
        )
    return float(high_rate)


def _critical_value(covariances: np.ndarray, alpha: float) -> float:
    """Return the smallest critical value with error rates up to `alpha` for all `covariances`.

    These are the covariance matrices of the assumed correlations.
    """
    return find_smallest_factor(lambda factor: _error_rates(covariances, factor), alpha)


def _error_rates(covariances: np.ndarray, critical_value: float) -> np.ndarray:
    """Return the error rate of the interval for each covariance matrix of normal z₀ … z_q.

    The error rate is P(z₀² > f²/q Σ z_j²). f is the critical value. The quadratic form has one
    positive eigenvalue, so that the probability equals that of Z₀² > Σ λ_j Z_j² with independent Z.
    """
    n_components = covariances.shape[-1] - 1
    quadratic_coefficients = np.append(
        1.0, np.full(n_components, -(critical_value**2) / n_components)
    )
    eigenvalues = np.sort(np.linalg.eigvals(covariances * quadratic_coefficients).real, axis=-1)
    return exceedance_probability(np.maximum(-eigenvalues[:, :-1] / eigenvalues[:, -1:], 0))
