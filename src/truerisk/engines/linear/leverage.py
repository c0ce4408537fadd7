"""Leave-one-out errors of penalised least squares, from one decomposition of all rows.

With residual e and leverage h of a row in the fit on all rows, the fit without the row misses it by
e / (1 − h). In the dual, M = (K + aI)⁻¹, that is M_i· T / M_ii, and nothing is subtracted from 1.
Rows and targets are those times the roots of the weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels.spectral import EPS, Spectrum, Turned, answers_at, longest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


BLOCK = 512
ENOUGH = 1e-12  # of a target's scale: far below what any caller minds


@frozen(eq=False)
class LeftOutErrors:
    """Error of the prediction of each row by the fit without it, `(penalty, row, target)`.

    `missed` holds the errors, `rest` is 1 − leverage in the fit on all rows, and `doubts` bounds
    the rounding error of `missed`, in units of each target's scale.
    """

    missed: Doubles
    rest: Doubles
    doubts: Doubles

    @property
    def leverage(self) -> Doubles:
        """Diagonal of the hat matrix: the weight of each row in its own prediction."""
        return 1.0 - self.rest

    @property
    def residual(self) -> Doubles:
        """Residuals of the fit on all rows."""
        return self.missed * self.rest[:, :, None]


def leave_out_primal(
    left: Doubles | Turned,
    T: Doubles,
    mean_leverage: Doubles | float,
    spectrum: Spectrum,
    penalties: Doubles,
    doubts: Doubles,
) -> LeftOutErrors:
    """`left` are the rows' own coordinates; `mean_leverage` is the weighted mean's part of h.

    `doubts` are those of the fit on all rows; leaving a row out makes them grow like (1 − h)⁻².
    """
    weights = spectrum.over(penalties)
    n, n_targets = T.shape
    coefficients = (weights[:, :, None] * spectrum.right[:, None, :]).reshape(
        len(weights), len(penalties) * n_targets
    )
    missed, rest = np.empty((len(penalties), n, n_targets)), np.empty((len(penalties), n))
    own = np.broadcast_to(1.0 - mean_leverage, n)
    buffer = np.empty((len(weights), min(n, BLOCK)))
    for start in range(0, n, BLOCK):  # A block of rows fits into the cache.
        part = slice(start, start + BLOCK)
        across = left.across(part, buffer) if isinstance(left, Turned) else left[part].T
        fitted = (coefficients.T @ across).reshape(len(penalties), n_targets, -1)
        gone = weights.T @ np.square(across, out=buffer[:, : across.shape[1]])
        left_of_one = np.subtract(own[part], gone, out=gone)
        rest[:, part] = left_of_one
        np.maximum(left_of_one, EPS, out=left_of_one)
        residual = np.subtract(T[part], fitted.transpose(0, 2, 1), out=missed[:, part])
        residual /= left_of_one[:, :, None]
    return LeftOutErrors(missed, rest, _grown(doubts + EPS, rest))


def _grown(doubts: Doubles, rest: Doubles) -> Doubles:
    """Doubts over rest²; at the largest leverage for all rows, where that is small enough."""
    most = doubts / np.maximum(rest.min(axis=1, initial=1.0), EPS) ** 2
    if (most <= ENOUGH).all():
        return np.broadcast_to(most[:, None], rest.shape)
    return doubts[:, None] / np.maximum(rest, EPS) ** 2


def leave_out_dual(
    back: Doubles, spectrum: Spectrum, penalties: Doubles, scale: Doubles
) -> LeftOutErrors:
    """`back` are the basis vectors as combinations of the rows, one row of `back` per row.

    Without row i the solution of the targets is c − M_·i c_i / M_ii, that of row i −M_·i / M_ii.
    """
    c = answers_at(back, spectrum, penalties)
    own = _squared_lengths(back, spectrum.over(penalties))
    safe = np.maximum(own, 1e-300)
    missed = c / safe[:, :, None]
    turned = np.sqrt(_squared_lengths(back, spectrum.over(penalties) ** 2)) / safe
    solved = longest((spectrum.right / scale).T, spectrum, penalties)[:, None]
    solved = solved + turned * np.abs(c / scale).max(axis=2, initial=0.0)
    rest = penalties[:, None] * own
    doubts = EPS * spectrum.noise * turned * solved
    return LeftOutErrors(missed, rest, doubts)


def _squared_lengths(rows: Doubles, weights: Doubles) -> Doubles:
    """`(penalty, row)`: Σ_j weights_j rows_j², a few rows at a time: squares stay in the cache."""
    squares = np.empty((weights.shape[1], len(rows)))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        np.matmul(weights.T, np.square(rows[part]).T, out=squares[:, part])
    return squares
