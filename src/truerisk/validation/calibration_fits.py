"""Least squares and logistic regression on a few columns, with the influence of each row.

A `Link` is the scale on which calibration line and curve are linear. A restricted cubic spline is a
curve with a few knots, linear beyond the outer ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logit

from truerisk.core.frozen import frozen


@frozen(eq=False)
class LineFit:
    """Fitted coefficients, and `influences[i]`, the contribution of row i to their sampling error.

    The sum of the outer products of the influences is the sandwich covariance (Huber, 1967).
    """

    coef: np.ndarray
    influences: np.ndarray

    def covariance(self, members: np.ndarray) -> np.ndarray:
        """Return the coefficients' sandwich covariance, clustered by member, times G/(G − 1).

        A member is a row, or a group of dependent rows, and G is the number of members.
        """
        cluster_sums = sum_by_cluster(self.influences, members)
        n_clusters = len(cluster_sums)
        return np.asarray(cluster_sums.T @ cluster_sums * n_clusters / max(n_clusters - 1, 1))


@frozen(eq=False)
class LeastSquaresFit(LineFit):
    """Weighted least squares: the minimum of `Σ w_i (y_i − η_i)²`, `η = offset + columns · coef`.

    A row's influence is `(Xᵀ W X)⁻¹ x_i w_i (y_i − η_i)`.
    """

    @classmethod
    def fit(
        cls,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LeastSquaresFit | None:
        """Fit the coefficients; return None if the minimum of the squares is not unique."""
        # Columns are scaled, so that columns in very different units do not look collinear.
        column_norms = np.sqrt(weights @ columns**2)
        if not (column_norms > 0).all():
            return None
        hessian = (columns / column_norms).T @ (columns / column_norms * weights[:, None])
        if np.linalg.cond(hessian) > 1e14:
            return None
        pseudo_inverse = np.linalg.solve(hessian, (columns / column_norms).T * weights)
        coef = pseudo_inverse @ (y - offset) / column_norms
        residual = y - offset - columns @ coef
        return cls(coef, (pseudo_inverse * residual).T / column_norms)


def sum_by_cluster(values: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return the sum of the rows of `values` in each member (numbered 0, 1, ... without gaps)."""
    cluster_sums = np.zeros((int(clusters.max()) + 1, *values.shape[1:]))
    np.add.at(cluster_sums, clusters, values)
    return cluster_sums


MAX_NEWTON_STEPS = 50
STEP_TOLERANCE = 1e-10  # tolerance of Newton's method for changes of the linear predictor


@frozen(eq=False)
class LogisticFit(LineFit):
    """Logistic regression: the maximum of `Σ w_i (y_i η_i − log(1 + e^{η_i}))`.

    The linear predictor is `η = offset + columns · coef`. A row's influence is `H⁻¹ x_i w_i (y_i −
    π_i)`; `log_likelihood` is the maximum itself.
    """

    log_likelihood: float

    @classmethod
    def fit(
        cls,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LogisticFit | None:
        """Fit the coefficients; return None if the maximum is at infinity or not unique."""
        coef: np.ndarray = np.zeros(columns.shape[1])
        likelihood = log_likelihood(offset + columns @ coef, y, weights)
        for _ in range(MAX_NEWTON_STEPS):
            residual, hessian = _derivatives(columns, y, weights, offset + columns @ coef)
            try:
                newton_step = np.linalg.solve(hessian, columns.T @ residual)
            except np.linalg.LinAlgError:
                return None
            largest_change = np.abs(columns @ newton_step).max()
            if not np.isfinite(largest_change):
                return None
            step_fraction = 1.0
            while (
                step_fraction > STEP_TOLERANCE
            ):  # A full Newton step may overshoot the maximum, so halve it.
                new_likelihood = log_likelihood(
                    offset + columns @ (coef + step_fraction * newton_step), y, weights
                )
                if new_likelihood >= likelihood - 1e-12 * abs(likelihood):
                    break
                step_fraction /= 2
            coef, likelihood = coef + step_fraction * newton_step, new_likelihood
            if largest_change < STEP_TOLERANCE:
                residual, hessian = _derivatives(columns, y, weights, offset + columns @ coef)
                if np.linalg.cond(hessian) > 1e14:
                    return None
                influences = np.linalg.solve(hessian, (columns * residual[:, None]).T).T
                return cls(coef, influences, likelihood)
        return None


def log_likelihood(eta: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted log-likelihood of Bernoulli outcomes y with linear predictor `eta`."""
    return float(weights @ (y * eta - np.logaddexp(0, eta)))


def _derivatives(
    columns: np.ndarray, y: np.ndarray, weights: np.ndarray, eta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return weighted residuals of logistic regression, and its negative Hessian matrix."""
    p = expit(eta)
    variances = weights * p * (1 - p)
    return weights * (y - p), columns.T @ (columns * variances[:, None])


@frozen
class Link:
    """Scale on which calibration is linear: `transform` maps predictions to it, `inverse` back.

    `fit_class` is the class of fits that estimate the mean of y as a function of columns.
    """

    fit_class: type[LogisticFit | LeastSquaresFit]
    transform: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]


LOGIT, IDENTITY = Link(LogisticFit, logit, expit), Link(LeastSquaresFit, np.asarray, np.asarray)
"""Links of probabilities (logit, infinite for 0 and 1) and of numbers (identity)."""


KNOT_QUANTILES = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95)}
MIN_ROWS_FOR_FOUR_KNOTS = 100  # number of rows from which a spline has four knots instead of three


def knot_quantile_levels(n_rows: int) -> tuple[float, ...]:
    """Return the quantiles at which Harrell places 4 knots, or 3 if there are fewer than 100 rows.

    >>> knot_quantile_levels(101)
    (0.05, 0.35, 0.65, 0.95)
    """
    return KNOT_QUANTILES[3 if n_rows < MIN_ROWS_FOR_FOUR_KNOTS else 4]


def spline_columns(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the columns of a restricted cubic spline with k knots (Harrell 2015, section 2.4.5).

    The `(n, k)` columns are 1, x, and `k − 2` cubic terms. With knots t₁ < ... < t_k the j-th is
    `(x−t_j)₊³ − (x−t_{k−1})₊³ (t_k−t_j)/(t_k−t_{k−1}) + (x−t_k)₊³ (t_{k−1}−t_j)/(t_k−t_{k−1})`,
    over `(t_k−t₁)²`. Fewer than 3 knots give a line.
    """
    basis_columns = [np.ones(len(values)), values]
    if len(knots) > 2:
        truncated_cubes = np.maximum(values[:, None] - knots, 0) ** 3
        *earlier_knots, penultimate_knot, last_knot = knots
        last_knot_distance = last_knot - penultimate_knot
        for j, knot in enumerate(earlier_knots):
            cubic_term = (
                truncated_cubes[:, j]
                - truncated_cubes[:, -2] * (last_knot - knot) / last_knot_distance
            )
            cubic_term += truncated_cubes[:, -1] * (penultimate_knot - knot) / last_knot_distance
            basis_columns.append(cubic_term / (last_knot - knots[0]) ** 2)
    return np.column_stack(basis_columns)
