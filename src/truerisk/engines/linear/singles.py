"""Least squares without one row, or with one flipped label, computed from the fit on all rows.

The leverages determine the effect of removing or changing a row (`engines/linear/leverage.py`). A
row that alone determines a coefficient has leverage 1. The fit on all rows then gives no
information about the fit without this row, which is therefore computed separately.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.linear.fit import (
    MAX_ROUNDING_ERROR,
    TargetCoding,
    TrainSet,
    intercept_rounding_bounds,
)
from truerisk.engines.linear.leverage import LeftOutErrors, leave_out_dual, leave_out_primal
from truerisk.engines.linear.shared_rows import FitOnSharedRows, SharedRows
from truerisk.engines.settings import NOT_IN_GROUP
from truerisk.engines.templates.fits_of_one_table import store_single_row_predictions
from truerisk.kernels.spectral import (
    Spectrum,
    cholesky_rounding_bounds,
    decompose_rows,
    predictions_at,
    rounding_bounds_at,
)
from truerisk.plan.extras.flips import Flips

# If 1 − leverage of a row is below this limit, the fit without this row is computed separately.
MIN_ONE_MINUS_LEVERAGE = 1e-3
LEVERAGE_ONE_TOLERANCE = 1e-10
MIN_EIGENVALUE_RATIO = 1e-6


@frozen(eq=False)
class LeaveOneOutLeastSquares:
    """Least-squares fits that each leave out one row or flip its label, and predict this row."""

    shared_rows: SharedRows
    is_single_row_fit: np.ndarray
    changed_row_of_fit: np.ndarray
    # True if each fit scales its own columns; the fit must then use all directions of X.
    scales_columns: bool = False

    def predict_and_store(self) -> np.ndarray:
        """Store the predictions of the fits; return a mask of the fits for which this succeeded.

        Fits with a prediction that rounding could change are not in the mask.
        """
        shared_rows, task = self.shared_rows, self.shared_rows.task
        is_computed = np.zeros_like(self.is_single_row_fit)
        y = task.data.y if task.data.codes is None else task.data.codes
        coding = TargetCoding.from_data(task.data, task.request.response, y)
        if (
            coding is None
            or not shared_rows.weights.any()
            or shared_rows.n == shared_rows.task.X.shape[1]
        ):
            # A square table becomes wide without a row, which changes the rounding errors.
            return is_computed
        full_fit = FitOnSharedRows.from_table(
            shared_rows, shared_rows.weights, coding.to_numbers(y), shared_rows.n
        )
        left_out_errors = self._errors_from_product(full_fit)
        if self.scales_columns:
            if (
                full_fit.is_wide
                or left_out_errors is None
                or full_fit.spectrum.values[0] < MIN_EIGENVALUE_RATIO * full_fit.spectrum.values[-1]
            ):
                return is_computed
        elif left_out_errors is None or self.is_too_imprecise(left_out_errors).any():
            left_out_errors = (
                self._errors_from_rows(full_fit, coding.to_numbers(y)) or left_out_errors
            )
        if left_out_errors is None:
            return is_computed
        fits = np.flatnonzero(self.is_single_row_fit)
        predicted_numbers, is_stable = self._predict_numbers(
            full_fit, left_out_errors, coding, fits
        )
        self._note_leverage_one(full_fit, left_out_errors)
        if (
            coding.present_classes is not None
        ):  # Leaving out the only row of a class removes the class.
            is_stable &= (
                np.bincount(y, minlength=coding.n_classes)[y[self.changed_row_of_fit[fits]]] > 1
            )
        is_computed[fits] = self._store_predictions(
            fits, coding, predicted_numbers, is_stable, self.is_too_imprecise(left_out_errors)
        )
        return is_computed

    def _note_leverage_one(self, full_fit: FitOnSharedRows, left_out_errors: LeftOutErrors) -> None:
        """Add a note that lists rows with leverage 1.

        Such a row alone determines a coefficient.
        """
        if full_fit.is_wide or self.shared_rows.solver.is_penalised:
            return
        is_tested = np.isin(full_fit.rows, self.changed_row_of_fit[self.is_single_row_fit])
        rows = full_fit.rows[
            is_tested & (left_out_errors.one_minus_leverage[0] < LEVERAGE_ONE_TOLERANCE)
        ]
        if len(rows):
            listed_rows = ", ".join(map(str, rows[:3])) + (", ..." if len(rows) > 3 else "")
            self.shared_rows.task.collected.notes.append(
                f"leverage 1 in {len(rows)} row(s) ({listed_rows}): without such a row the others "
                "leave a coefficient open, and its prediction is that of the shortest solution."
            )

    def is_too_imprecise(self, left_out_errors: LeftOutErrors) -> np.ndarray:
        """Return True for penalties at which rounding may change the prediction of every row."""
        return left_out_errors.rounding_bounds.min(axis=1) > MAX_ROUNDING_ERROR

    def _errors_from_product(self, full_fit: FitOnSharedRows) -> LeftOutErrors | None:
        penalties, spectrum = self.shared_rows.penalties, full_fit.spectrum
        if full_fit.is_wide:
            if not full_fit.is_accurate(penalties):
                return None
            basis_coefficients = spectrum.vectors
            if full_fit.reflection is not None:
                reflection = full_fit.reflection
                basis_coefficients = np.vstack(
                    [np.zeros(basis_coefficients.shape[1]), basis_coefficients]
                )
                basis_coefficients -= np.multiply.outer(
                    reflection, reflection[1:] @ spectrum.vectors
                )
            left_out_errors = leave_out_dual(
                basis_coefficients, spectrum, penalties, full_fit.target_scales
            )
            intercept_errors = intercept_rounding_bounds(
                spectrum, full_fit.mean_norm_bound, penalties, full_fit.target_scales
            )
            return self._unweighted_errors(left_out_errors, full_fit.root_weights, intercept_errors)
        smallest_eigenvalue, largest_eigenvalue = (
            spectrum.values.min(initial=np.inf),
            spectrum.values.max(initial=0.0),
        )
        if (smallest_eigenvalue + penalties <= 1e-13 * largest_eigenvalue).any():
            return None
        coordinates = full_fit.training_coordinates(
            None if self.shared_rows.task.weights is None else full_fit.root_weights
        )
        rounding_errors = full_fit.rounding_bounds(full_fit.training_coordinates(None), penalties)
        left_out_errors = leave_out_primal(
            coordinates,
            full_fit.targets,
            self._intercept_leverage(full_fit),
            spectrum,
            penalties,
            rounding_errors,
        )
        if not full_fit.is_accurate(
            penalties, _least_one_minus_leverage(left_out_errors.one_minus_leverage)
        ):
            return None
        return self._unweighted_errors(
            left_out_errors, full_fit.root_weights, np.zeros(len(penalties))
        )

    def _intercept_leverage(self, full_fit: FitOnSharedRows) -> np.ndarray | float:
        """Return the part of each row's leverage that is due to the intercept."""
        return (
            full_fit.weights[full_fit.rows] / full_fit.total_weight
            if self.shared_rows.solver.intercept
            else 0.0
        )

    def _errors_from_rows(self, full_fit: FitOnSharedRows, Y: np.ndarray) -> LeftOutErrors | None:
        """Compute leave-one-out errors from an SVD of the rows.

        They are more precise than errors computed from X'X.
        """
        shared_rows, solver, penalties = (
            self.shared_rows,
            self.shared_rows.solver,
            self.shared_rows.penalties,
        )
        X = shared_rows.task.X
        train = TrainSet.from_rows(X, Y, shared_rows.weights, shared_rows.n, solver.intercept)
        if train is None or train.is_wide:
            return None
        spectrum, singular_values = decompose_rows(
            train.weighted_rows,
            train.weighted_targets,
            cutoff=solver.cutoff,
            noise=train.rounding_error_of_centring,
        )
        if not solver.rank_is_clear(singular_values, has_null_direction=False):
            return None
        coordinates = train.weighted_rows @ spectrum.vectors
        unweighted_coordinates, unweighted_rows = (
            coordinates / train.root_weights[:, None],
            train.weighted_rows / train.root_weights[:, None],
        )
        rounding_errors = self._row_rounding_bounds(
            train, spectrum, unweighted_coordinates, unweighted_rows
        )
        smallest_eigenvalue, largest_eigenvalue = singular_values[-1] ** 2, singular_values[0] ** 2
        left_out_errors = leave_out_primal(
            coordinates,
            train.weighted_targets,
            self._intercept_leverage(full_fit),
            spectrum,
            penalties,
            rounding_errors,
        )
        min_eigenvalue_share = _least_one_minus_leverage(left_out_errors.one_minus_leverage)
        is_unsure = ~solver.is_unaffected_by_null_directions(
            smallest_eigenvalue * min_eigenvalue_share, largest_eigenvalue, shared_rows.n, penalties
        )
        is_unsure |= ~spectrum.is_reliable_at(penalties, min_eigenvalue_share)
        reduced_singular_values = singular_values.copy()
        reduced_singular_values[1:] *= min_eigenvalue_share**0.5
        if not solver.rank_is_clear(reduced_singular_values, has_null_direction=False):
            return None
        rounding_errors = np.where(is_unsure[:, None], np.inf, left_out_errors.rounding_bounds)
        left_out_errors = replace(left_out_errors, rounding_bounds=rounding_errors)
        return self._unweighted_errors(
            left_out_errors, train.root_weights, np.zeros(len(penalties))
        )

    def _row_rounding_bounds(
        self, train: TrainSet, spectrum: Spectrum, coordinates: np.ndarray, test_rows: np.ndarray
    ) -> np.ndarray:
        solver, penalties, target_scales = (
            self.shared_rows.solver,
            self.shared_rows.penalties,
            train.target_scales,
        )
        longest_row = float(np.sqrt((test_rows**2).sum(axis=1).max(initial=0.0)))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rounding_errors = rounding_bounds_at(
                coordinates, longest_row, spectrum, penalties, target_scales
            )
            rounding_errors += intercept_rounding_bounds(
                spectrum, train.mean_row_norm, penalties, target_scales
            )
            if solver.is_penalised and not solver.uses_svd:
                product_diagonal = (train.weighted_rows**2).sum(axis=0)
                rounding_errors += cholesky_rounding_bounds(
                    coordinates,
                    test_rows,
                    product_diagonal,
                    spectrum,
                    penalties,
                    target_scales,
                    is_wide=False,
                )
        return rounding_errors

    def _unweighted_errors(
        self, left_out_errors: LeftOutErrors, root_weights: np.ndarray, intercept_errors: np.ndarray
    ) -> LeftOutErrors:
        """Convert errors of weighted rows to errors of the rows themselves, by the root weights."""
        rounding_errors = (
            left_out_errors.rounding_bounds + intercept_errors[:, None]
            if intercept_errors.any()
            else left_out_errors.rounding_bounds
        )
        if self.shared_rows.task.weights is None:
            return replace(left_out_errors, rounding_bounds=rounding_errors)
        rounding_errors = rounding_errors / root_weights
        return replace(
            left_out_errors,
            prediction_errors=left_out_errors.prediction_errors / root_weights[:, None],
            rounding_bounds=rounding_errors,
        )

    def _predict_numbers(
        self,
        full_fit: FitOnSharedRows,
        left_out_errors: LeftOutErrors,
        coding: TargetCoding,
        fits: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict the changed row of each fit; return predictions `(penalty, fit, target)`.

        Also return a mask `(penalty, fit)` of the certain predictions.
        """
        changed_rows = self.changed_row_of_fit[fits]
        index_of_row = np.full(self.shared_rows.n, -1)
        index_of_row[full_fit.rows] = np.arange(len(full_fit.rows))
        row_indices: Any = index_of_row[changed_rows]
        if np.array_equal(row_indices, np.arange(len(full_fit.rows))):
            row_indices = slice(
                None
            )  # The fits use every row once, in the order of the rows, so a view is enough.
        Y = full_fit.Y[changed_rows]
        flipped_fits, new_codes = self._flipped_fits(fits)
        prediction_errors = left_out_errors.prediction_errors[:, row_indices]
        # If the fits use every row once, the array of errors is not needed any more and may be
        # overwritten.
        may_overwrite = len(fits) == self.shared_rows.n and not len(flipped_fits)
        predicted_numbers = np.subtract(
            Y + full_fit.mean_y, prediction_errors, out=prediction_errors if may_overwrite else None
        )
        is_stable = left_out_errors.rounding_bounds[:, row_indices] <= MAX_ROUNDING_ERROR
        if not full_fit.is_wide:  # The dual problem of wide tables subtracts no leverage.
            is_stable &= (
                left_out_errors.one_minus_leverage[:, row_indices] >= MIN_ONE_MINUS_LEVERAGE
            )
        if len(flipped_fits):
            target_changes = coding.to_numbers(new_codes) - full_fit.mean_y - Y[flipped_fits]
            flipped_rows = index_of_row[changed_rows[flipped_fits]]
            fitted_values = Y[flipped_fits] - left_out_errors.residual[:, flipped_rows]
            flipped_values = (
                fitted_values + left_out_errors.leverage[:, flipped_rows, None] * target_changes
            )
            predicted_numbers[:, flipped_fits] = flipped_values + full_fit.mean_y
        zero_weight_fits = np.flatnonzero(index_of_row[changed_rows] < 0)
        if len(zero_weight_fits):  # Leaving out a row of weight 0 changes no prediction.
            coordinates = full_fit.test_coordinates(changed_rows[zero_weight_fits])
            penalties = self.shared_rows.penalties
            predicted_numbers[:, zero_weight_fits] = (
                predictions_at(coordinates, full_fit.spectrum, penalties) + full_fit.mean_y
            )
            is_stable[:, zero_weight_fits] = full_fit.is_accurate(penalties)
            is_stable[:, zero_weight_fits] &= (
                full_fit.rounding_bounds(coordinates, penalties) <= MAX_ROUNDING_ERROR
            )[:, None]
        return predicted_numbers, is_stable

    def _flipped_fits(self, fits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of fits that flip the label of their row, and the new class codes."""
        flipped_labels = Flips.from_holder(self.shared_rows.task.plan)
        if flipped_labels is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        fit_indices = np.searchsorted(fits, flipped_labels.fit)
        is_among_fits = fits[np.minimum(fit_indices, len(fits) - 1)] == flipped_labels.fit
        return fit_indices[is_among_fits], flipped_labels.code[is_among_fits].astype(np.int64)

    def _store_predictions(
        self,
        fits: np.ndarray,
        coding: TargetCoding,
        predicted_numbers: np.ndarray,
        is_certain: np.ndarray,
        is_hopeless: np.ndarray,
    ) -> np.ndarray:
        """Store the predictions; return a mask of fits that need no separate computation."""
        task = self.shared_rows.task
        predictions, is_tied = coding.to_predictions(predicted_numbers)
        is_settled = is_certain | is_hopeless[:, None]
        if task.places is None:
            is_computed: np.ndarray = is_settled.all(axis=0)
        else:
            candidate_indices = task.places[fits]
            is_computed = is_settled[candidate_indices, np.arange(len(fits))] | (
                candidate_indices == NOT_IN_GROUP
            )
        store_single_row_predictions(
            task, fits, predictions, (is_tied | is_hopeless[:, None]) & is_computed
        )
        return is_computed


def _least_one_minus_leverage(one_minus_leverage: np.ndarray) -> float:
    """Return the smallest 1 − leverage among the rows whose fits are not computed separately."""
    smallest_value = float(one_minus_leverage.min(initial=1.0))
    return (
        smallest_value
        if smallest_value >= MIN_ONE_MINUS_LEVERAGE
        else float(
            one_minus_leverage[one_minus_leverage >= MIN_ONE_MINUS_LEVERAGE].min(initial=1.0)
        )
    )
