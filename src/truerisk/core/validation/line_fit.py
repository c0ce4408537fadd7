"""A fit of a few columns, with what each row does to it; least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["LeastSquaresFit", "LineFit", "sums_by_member"]


@dataclass(frozen=True, eq=False)
class LineFit:
    """Coefficients, and `influences[i]`, what row i adds to their error.

    The sum of the outer products of the influences is the sandwich covariance (Huber, 1967).
    """

    coef: np.ndarray
    influences: np.ndarray

    def covariance(self, members: np.ndarray) -> np.ndarray:
        """The sandwich, rows of one member added up first; G/(G − 1) for G members."""
        summed = sums_by_member(self.influences, members)
        n = len(summed)
        return np.asarray(summed.T @ summed * n / max(n - 1, 1))


@dataclass(frozen=True, eq=False)
class LeastSquaresFit(LineFit):
    r"""The minimum of `Σ w_i (y_i − η_i)²`, `η = offset + columns · coef`.

    A row's influence is `(Xᵀ W X)⁻¹ x_i w_i (y_i − η_i)`.
    """

    @classmethod
    def of(
        cls,
        columns: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> LeastSquaresFit | None:
        """None where the minimum is not in one place."""
        scale = np.sqrt(weights @ columns**2)  # columns of very different size are one problem
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
    """The lines of `values` added up by member, of which there are 0, 1, ... without gaps."""
    summed = np.zeros((int(members.max()) + 1, *values.shape[1:]))
    np.add.at(summed, members, values)
    return summed
