"""Fits of a few columns, with the influence of each row: least squares, logistic regression.

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
    """Coefficients, and `influences[i]`, the contribution of row i to their error.

    The sum of the outer products of the influences is the sandwich covariance (Huber, 1967).
    """

    coef: np.ndarray
    influences: np.ndarray

    def covariance(self, members: np.ndarray) -> np.ndarray:
        """Return the sandwich covariance with rows summed by member, times G/(G − 1).

        G is the number of members.
        """
        summed = sums_by_member(self.influences, members)
        n = len(summed)
        return np.asarray(summed.T @ summed * n / max(n - 1, 1))


@frozen(eq=False)
class LeastSquaresFit(LineFit):
    r"""The minimum of `Σ w_i (y_i − η_i)²`, `η = offset + columns · coef`.

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
        """Fit the coefficients; return None if the minimum is not unique."""
        # Scaling makes columns of very different sizes one well-posed problem.
        scale = np.sqrt(weights @ columns**2)
        if not (scale > 0).all():
            return None
        hessian = (columns / scale).T @ (columns / scale * weights[:, None])
        if np.linalg.cond(hessian) > 1e14:
            return None
        scaled = np.linalg.solve(hessian, (columns / scale).T * weights)
        coef = scaled @ (y - offset) / scale
        residual = y - offset - columns @ coef
        return cls(coef, (scaled * residual).T / scale)


def sums_by_member(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the sums of the rows of `values` by member (numbered 0, 1, ... without gaps)."""
    summed = np.zeros((int(members.max()) + 1, *values.shape[1:]))
    np.add.at(summed, members, values)
    return summed


MOST_STEPS = 50
CLOSE = 1e-10  # Share of the largest step on the scale of the linear predictor.


@frozen(eq=False)
class LogisticFit(LineFit):
    r"""The maximum of `Σ w_i (y_i η_i − log(1 + e^{η_i}))`, `η = offset + columns · coef`.

    A row's influence is `H⁻¹ x_i w_i (y_i − π_i)`; `log_likelihood` is the maximum itself.
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
        height = log_likelihood(offset + columns @ coef, y, weights)
        for _ in range(MOST_STEPS):
            residual, hessian = _derivatives(columns, y, weights, offset + columns @ coef)
            try:
                step = np.linalg.solve(hessian, columns.T @ residual)
            except np.linalg.LinAlgError:
                return None
            moved = np.abs(columns @ step).max()
            if not np.isfinite(moved):
                return None
            share = 1.0
            while share > CLOSE:  # A full step may overshoot.
                reached = log_likelihood(offset + columns @ (coef + share * step), y, weights)
                if reached >= height - 1e-12 * abs(height):
                    break
                share /= 2
            coef, height = coef + share * step, reached
            if moved < CLOSE:
                residual, hessian = _derivatives(columns, y, weights, offset + columns @ coef)
                if np.linalg.cond(hessian) > 1e14:
                    return None
                influences = np.linalg.solve(hessian, (columns * residual[:, None]).T).T
                return cls(coef, influences, height)
        return None


def log_likelihood(eta: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Return the log-likelihood of Bernoulli outcomes with this linear predictor."""
    return float(weights @ (y * eta - np.logaddexp(0, eta)))


def _derivatives(
    columns: np.ndarray, y: np.ndarray, weights: np.ndarray, eta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted residuals and the negative second derivative."""
    p = expit(eta)
    spread = weights * p * (1 - p)
    return weights * (y - p), columns.T @ (columns * spread[:, None])


@frozen
class Link:
    """Scale on which line and curve are linear: `of` transforms predictions, `back` inverts it.

    `fits` estimates the mean of y as a function of columns.
    """

    fits: type[LogisticFit | LeastSquaresFit]
    of: Callable[[np.ndarray], np.ndarray]
    back: Callable[[np.ndarray], np.ndarray]


LOGIT, IDENTITY = Link(LogisticFit, logit, expit), Link(LeastSquaresFit, np.asarray, np.asarray)
"""The logit, which is infinite for 0 and 1, with logistic regression; and the identity."""


QUANTILES = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95)}
FEW_ROWS = 100  # number of rows from which four knots are used


def knot_shares(n_rows: int) -> tuple[float, ...]:
    """Return Harrell's quantiles for 4 knots, or for 3 knots if there are fewer than 100 rows.

    >>> knot_shares(101)
    (0.05, 0.35, 0.65, 0.95)
    """
    return QUANTILES[3 if n_rows < FEW_ROWS else 4]


def spline_columns(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    r"""Return `(n, k)` columns: 1, x, and `k − 2` cubic terms (Harrell 2015, section 2.4.5).

    With knots t₁ < ... < t_k the j-th is `(x−t_j)₊³ − (x−t_{k−1})₊³ (t_k−t_j)/(t_k−t_{k−1}) +
    (x−t_k)₊³ (t_{k−1}−t_j)/(t_k−t_{k−1})`, over `(t_k−t₁)²`. Fewer than 3 knots give a line.
    """
    lines = [np.ones(len(values)), values]
    if len(knots) > 2:
        cubed = np.maximum(values[:, None] - knots, 0) ** 3
        *early, last_but_one, last = knots
        gap = last - last_but_one
        for j, knot in enumerate(early):
            bend = cubed[:, j] - cubed[:, -2] * (last - knot) / gap
            bend += cubed[:, -1] * (last_but_one - knot) / gap
            lines.append(bend / (last - knots[0]) ** 2)
    return np.column_stack(lines)
