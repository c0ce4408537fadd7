"""Logistic regression of a few columns by Newton's steps, with what each row does to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.validation.line_fit import LineFit

__all__ = ["LogisticFit"]

MOST_STEPS = 50
CLOSE = 1e-10  # of the largest step on the scale of the linear predictor


@dataclass(frozen=True, eq=False)
class LogisticFit(LineFit):
    r"""The maximum of `Σ w_i (y_i η_i − log(1 + e^{η_i}))`, `η = offset + columns · coef`.

    A row's influence is `H⁻¹ x_i w_i (y_i − π_i)`; `log_likelihood` is the maximum itself.
    """

    log_likelihood: float

    @classmethod
    def of(
        cls,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LogisticFit | None:
        """None where the steps lead nowhere: the maximum is at infinity, or not in one place."""
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
            while share > CLOSE:  # a full step may lead too far
                reached = log_likelihood(offset + columns @ (coef + share * step), y, weights)
                if reached >= height - 1e-12 * abs(height):
                    break
                share /= 2
            coef, height = coef + share * step, reached
            if moved < CLOSE:
                return cls._at(coef, columns, y, weights, offset, height)
        return None

    @classmethod
    def _at(
        cls,
        coef: np.ndarray,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float,
        height: float,
    ) -> LogisticFit | None:
        residual, hessian = _derivatives(columns, y, weights, offset + columns @ coef)
        if np.linalg.cond(hessian) > 1e14:
            return None
        influences = np.linalg.solve(hessian, (columns * residual[:, None]).T).T
        return cls(coef, influences, height)


def log_likelihood(eta: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Of Bernoulli outcomes with this linear predictor."""
    return float(weights @ (y * eta - np.logaddexp(0, eta)))


def _derivatives(
    columns: np.ndarray, y: np.ndarray, weights: np.ndarray, eta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The weighted residuals, and minus the second derivative."""
    from scipy.special import expit

    came = expit(eta)
    spread = weights * came * (1 - came)
    return weights * (y - came), columns.T @ (columns * spread[:, None])
