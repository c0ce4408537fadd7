"""The lecture's kind of data: a curve on [-1, 1], noise, and polynomials of every degree."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.family import Family
from truerisk.core.table.data import Data

__all__ = ["NOISE", "curve", "data_of", "polynomials"]

# Parts of the curve along orthonormal polynomials of 11 equidistant points, shares of a variance
# of 1: chosen so that R2 comes near the lecture's .03, .73 and .874 at degrees 1, 2 and 5.
SHARES = {1: 0.0075, 2: -0.6775, 3: 0.085}
NOISE = 0.2475
POINTS = 11


def curve(x: np.ndarray) -> np.ndarray:
    """The truth: a cubic, of which the square is the largest part."""
    total = np.zeros(len(x))
    for degree, coefficients in _orthonormal().items():
        share = SHARES[degree]
        total += (
            np.sign(share) * np.sqrt(abs(share)) * np.polynomial.polynomial.polyval(x, coefficients)
        )
    return total


@lru_cache(maxsize=1)
def _orthonormal() -> dict[int, np.ndarray]:
    """Coefficients of polynomials whose mean square on the points is 1, each normal to the rest."""
    x = np.linspace(-1, 1, POINTS)
    powers = np.vander(x, max(SHARES) + 1, increasing=True)
    _, R = np.linalg.qr(powers)
    inverse = np.linalg.inv(R) * np.sqrt(POINTS) * np.sign(np.diag(R))
    return {degree: inverse[:, degree] for degree in SHARES}


def polynomials(most: int) -> Family:
    """Least squares with every degree from 1 to `most`."""
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    model = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
    return Family.of(model, {"polynomialfeatures__degree": range(1, most + 1)})


def data_of(x: np.ndarray, y: np.ndarray) -> Data:
    """One feature and a number."""
    return Data(x[:, None], y, "regression")
