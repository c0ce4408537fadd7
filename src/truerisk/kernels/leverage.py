"""Every row left out of penalised least squares, from one decomposition of all rows.

With residual e and leverage h of a row in the fit on all rows, the fit without the row misses it by
e / (1 − h). In the dual, M = (K + aI)⁻¹, that is M_i· T / M_ii, and nothing is subtracted from 1.
Rows and targets are those times the roots of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truerisk.kernels.spectral import EPS, Spectrum, answers_at, longest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]

__all__ = ["LeftOut", "leave_out_dual", "leave_out_primal"]

BLOCK = 256


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What each row's fit without it misses it by, `(penalty, row, target)`.

    `residual` and `leverage` are of the fit on all rows, `rest` is 1 − leverage, `doubts` how far
    rounding may move what is missed (in units of each target's scale).
    """

    missed: Doubles
    residual: Doubles
    leverage: Doubles
    rest: Doubles
    doubts: Doubles


def leave_out_primal(
    left: Doubles,
    T: Doubles,
    mean_leverage: Doubles | float,
    spectrum: Spectrum,
    penalties: Doubles,
    doubts: Doubles,
) -> LeftOut:
    """`left` are the rows' own coordinates; `mean_leverage` is the weighted mean's part of h.

    `doubts` are those of the fit on all rows; leaving a row out makes them grow like (1 − h)⁻².
    """
    residual = T - answers_at(left, spectrum, penalties)
    leverage = _squared_lengths(left, spectrum.over(penalties))
    leverage += mean_leverage
    rest = 1.0 - leverage
    safe = np.maximum(rest, EPS)
    missed = residual / safe[:, :, None]
    return LeftOut(missed, residual, leverage, rest, (doubts[:, None] + EPS) / safe**2)


def leave_out_dual(
    back: Doubles, spectrum: Spectrum, penalties: Doubles, scale: Doubles
) -> LeftOut:
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
    return LeftOut(missed, penalties[:, None, None] * c, 1.0 - rest, rest, doubts)


def _squared_lengths(rows: Doubles, weights: Doubles) -> Doubles:
    """`(penalty, row)`: Σ_j weights_j rows_j², a few rows at a time: squares stay in the cache."""
    found = np.empty((weights.shape[1], len(rows)))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        np.matmul(weights.T, np.square(rows[part]).T, out=found[:, part])
    return found
