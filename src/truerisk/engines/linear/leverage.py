"""Leave-one-out errors of penalised least squares, from one decomposition of all rows.

If a row has residual e and leverage h in the fit on all rows, its prediction error in the fit
without it is e / (1 − h). In the dual problem with kernel K, penalty a, targets T and
M = (K + aI)⁻¹, this error is M_i· T / M_ii, and nothing is subtracted from 1. Rows and targets are
multiplied by the square roots of the sample weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels.spectral import (
    EPS,
    RowCoordinates,
    Spectrum,
    max_solution_norms,
    predictions_at,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


ROWS_PER_BLOCK = 512
# Rounding errors below NEGLIGIBLE_ERROR times the scale of a target make no difference to any
# caller.
NEGLIGIBLE_ERROR = 1e-12


@frozen(eq=False)
class LeftOutErrors:
    """Error of the prediction of each row by the fit without that row, at every penalty.

    Arrays of errors have shape `(penalty, row, target)`. `prediction_errors` holds the prediction
    errors, `one_minus_leverage` is 1 − leverage in the fit on all rows, and `rounding_bounds`
    bounds the rounding error of `prediction_errors`, in units of each target's scale.
    """

    prediction_errors: FloatArray
    one_minus_leverage: FloatArray
    rounding_bounds: FloatArray

    @property
    def leverage(self) -> FloatArray:
        """Leverage of each row: its diagonal element of the hat matrix.

        It is the weight of the row's target in its own prediction.
        """
        return 1.0 - self.one_minus_leverage

    @property
    def residual(self) -> FloatArray:
        """Residuals of the fit on all rows."""
        return self.prediction_errors * self.one_minus_leverage[:, :, None]


def leave_out_primal(
    coordinates: FloatArray | RowCoordinates,
    targets: FloatArray,
    intercept_leverage: FloatArray | float,
    spectrum: Spectrum,
    penalties: FloatArray,
    rounding_errors: FloatArray,
) -> LeftOutErrors:
    """Compute leave-one-out errors from residuals and leverages of the fit on all rows.

    `coordinates` are the rows in the basis of the spectrum, and `intercept_leverage` is the
    contribution of the intercept to each leverage h. `rounding_errors` belong to the fit on all
    rows; leaving a row out makes them grow like (1 − h)⁻².
    """
    inverse_eigenvalues = spectrum.inverse_eigenvalues(penalties)
    n, n_targets = targets.shape
    coefficients = (
        inverse_eigenvalues[:, :, None] * spectrum.target_coordinates[:, None, :]
    ).reshape(len(inverse_eigenvalues), len(penalties) * n_targets)
    prediction_errors, all_one_minus_leverage = (
        np.empty((len(penalties), n, n_targets)),
        np.empty((len(penalties), n)),
    )
    max_one_minus_leverage = np.broadcast_to(1.0 - intercept_leverage, n)
    buffer = np.empty((len(inverse_eigenvalues), min(n, ROWS_PER_BLOCK)))
    for first_row in range(
        0, n, ROWS_PER_BLOCK
    ):  # The number of rows in a block is such that the block fits into the processor's cache.
        row_slice = slice(first_row, first_row + ROWS_PER_BLOCK)
        transposed_coordinates = (
            coordinates.write_transposed(row_slice, buffer)
            if isinstance(coordinates, RowCoordinates)
            else coordinates[row_slice].T
        )
        fitted_values = (coefficients.T @ transposed_coordinates).reshape(
            len(penalties), n_targets, -1
        )
        leverages = inverse_eigenvalues.T @ np.square(
            transposed_coordinates, out=buffer[:, : transposed_coordinates.shape[1]]
        )
        one_minus_leverage = np.subtract(
            max_one_minus_leverage[row_slice], leverages, out=leverages
        )
        all_one_minus_leverage[:, row_slice] = one_minus_leverage
        np.maximum(one_minus_leverage, EPS, out=one_minus_leverage)
        residual = np.subtract(
            targets[row_slice],
            fitted_values.transpose(0, 2, 1),
            out=prediction_errors[:, row_slice],
        )
        residual /= one_minus_leverage[:, :, None]
    return LeftOutErrors(
        prediction_errors,
        all_one_minus_leverage,
        _amplified_errors(rounding_errors + EPS, all_one_minus_leverage),
    )


def _amplified_errors(rounding_errors: FloatArray, one_minus_leverage: FloatArray) -> FloatArray:
    """Return the rounding errors of leave-one-out errors: those given, over (1 − leverage)².

    If these are negligible for all rows, every row gets their maximum.
    """
    largest_errors = (
        rounding_errors / np.maximum(one_minus_leverage.min(axis=1, initial=1.0), EPS) ** 2
    )
    if (largest_errors <= NEGLIGIBLE_ERROR).all():
        return np.broadcast_to(largest_errors[:, None], one_minus_leverage.shape)
    return rounding_errors[:, None] / np.maximum(one_minus_leverage, EPS) ** 2


def leave_out_dual(
    basis_coefficients: FloatArray,
    spectrum: Spectrum,
    penalties: FloatArray,
    target_scales: FloatArray,
) -> LeftOutErrors:
    """Compute leave-one-out errors from the dual solution.

    This does not subtract leverages from 1. `basis_coefficients` has one line per row and expresses
    the basis vectors as combinations of the rows. Let c be the dual solution on all rows. Without
    row i the dual solution is c − M_·i c_i / M_ii, and row i itself is represented by −M_·i / M_ii.
    """
    dual_solution = predictions_at(basis_coefficients, spectrum, penalties)
    inverse_diagonal = _squared_lengths(basis_coefficients, spectrum.inverse_eigenvalues(penalties))
    positive_diagonal = np.maximum(inverse_diagonal, 1e-300)
    prediction_errors = dual_solution / positive_diagonal[:, :, None]
    solution_lengths = (
        np.sqrt(_squared_lengths(basis_coefficients, spectrum.inverse_eigenvalues(penalties) ** 2))
        / positive_diagonal
    )
    solution_bounds = max_solution_norms(
        (spectrum.target_coordinates / target_scales).T, spectrum, penalties
    )[:, None]
    solution_bounds = solution_bounds + solution_lengths * np.abs(
        dual_solution / target_scales
    ).max(axis=2, initial=0.0)
    one_minus_leverage = penalties[:, None] * inverse_diagonal
    rounding_errors = EPS * spectrum.matrix_rounding * solution_lengths * solution_bounds
    return LeftOutErrors(prediction_errors, one_minus_leverage, rounding_errors)


def _squared_lengths(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of squares of each row for each penalty, `(penalty, row)`.

    The sum is Σ_j weights_j rows_j². It is computed in blocks that fit into the processor's cache.
    """
    squares = np.empty((weights.shape[1], len(rows)))
    for first_row in range(0, len(rows), ROWS_PER_BLOCK):
        row_slice = slice(first_row, first_row + ROWS_PER_BLOCK)
        np.matmul(weights.T, np.square(rows[row_slice]).T, out=squares[:, row_slice])
    return squares
