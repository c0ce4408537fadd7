"""Least squares on one training set: the rows are centred and decomposed once for all penalties.

The smaller product of the rows is tried first (Z'Z, or ZZ' if there are more columns than rows),
which costs digits. If these digits could matter, the rows themselves are decomposed. Predictions
that rounding could still change, in this arithmetic or in scikit-learn's, are marked as unresolved
and left to scikit-learn's estimator.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.kernels.spectral import (
    EPS,
    Spectrum,
    cholesky_rounding_bounds,
    contrast_reflection,
    contrast_rows,
    decompose_product,
    decompose_rows,
    max_coefficient_norms,
    predictions_at,
    rounding_bounds_at,
)
from truerisk.plan.answers import Response, class_code_dtype

# Largest accepted rounding error of a prediction, divided by the spread of the targets.
# If the error of a prediction may be larger, scikit-learn computes the prediction.
MAX_ROUNDING_ERROR = 1e-10
# A singular value within this factor of the cut-off may be dropped by one solver and kept by
# another.
CUTOFF_UNCERTAINTY_FACTOR = 10.0
# A singular value below MIN_PRECISE_RATIO times the largest is imprecise if computed from Z'Z.
MIN_PRECISE_RATIO = 1e-4
# Class scores that differ by less than TIE_TOLERANCE are tied, and scikit-learn decides the label.
TIE_TOLERANCE = 1e-8
# A cut-off below MIN_SEPARATING_CUTOFF does not separate null directions from rounding error.
MIN_SEPARATING_CUTOFF = 1e-10


@frozen
class SolverSettings:
    """Settings of a least-squares solver: penalty, intercept and cut-off of singular values."""

    is_penalised: bool
    intercept: bool
    cutoff: float = 0.0
    # True if the solver uses an SVD of the rows, False if it uses a Cholesky factor of their
    # product.
    uses_svd: bool = False

    @classmethod
    def from_setting(cls, setting: Mapping[str, Any]) -> SolverSettings:
        """Read the settings from the hyperparameters of a least-squares or ridge estimator."""
        has_intercept = bool(setting["fit_intercept"])
        if "alpha" in setting:
            return cls(True, has_intercept, uses_svd=setting["solver"] == "svd")
        cutoff = float(setting["tol"]) if _linear_regression_cuts_at_tol() else EPS
        return cls(False, has_intercept, cutoff)

    def rank_is_clear(self, singular_values: np.ndarray, *, has_null_direction: bool) -> bool:
        """Return True if the rank is certain: no singular value is too near the cut-off.

        `has_null_direction` says that at least one singular value is zero up to rounding.
        """
        if self.is_penalised:
            return True
        if self.cutoff < MIN_SEPARATING_CUTOFF and has_null_direction:
            return False
        if not len(singular_values) or singular_values[0] == 0:
            return True
        singular_ratios = singular_values / singular_values[0]
        is_near_cutoff = (singular_ratios > self.cutoff / CUTOFF_UNCERTAINTY_FACTOR) & (
            singular_ratios < self.cutoff * CUTOFF_UNCERTAINTY_FACTOR
        )
        has_imprecise_ratios = self.cutoff < MIN_SEPARATING_CUTOFF and bool(
            (singular_ratios < MIN_PRECISE_RATIO**2).any()
        )
        return not is_near_cutoff.any() and not has_imprecise_ratios

    def is_unaffected_by_null_directions(
        self,
        smallest_eigenvalue: float,
        largest_eigenvalue: float,
        n_rows: int,
        penalties: np.ndarray,
    ) -> Any:
        """Return True for penalties at which null directions do not affect scikit-learn's solver.

        At other penalties the solver might use a null direction, or warn of it.
        `smallest_eigenvalue` and `largest_eigenvalue` are eigenvalues of the product of the rows.
        """
        if not self.is_penalised:
            return np.ones(len(penalties), dtype=bool)
        return smallest_eigenvalue + penalties > CUTOFF_UNCERTAINTY_FACTOR * n_rows * EPS * (
            largest_eigenvalue + penalties
        )


@lru_cache(maxsize=1)
def _linear_regression_cuts_at_tol() -> bool:
    """Return True if the installed LinearRegression uses `tol` as a cut-off of singular values."""
    from sklearn.linear_model import LinearRegression

    model = LinearRegression(fit_intercept=False)
    model.fit(np.diag([1.0, 1e-9]), np.ones(2))
    return hasattr(model, "tol") and int(model.rank_) == 1


def compute_target_scales(
    targets: np.ndarray, target_means: np.ndarray, total_weight: float
) -> np.ndarray:
    """Return a scale for each target: its standard deviation plus a small share of its mean.

    The share is 1e-6 of the absolute mean, and a scale of 0 is replaced by 1.
    """
    standard_deviations = np.sqrt((targets**2).sum(axis=0) / total_weight) + 1e-6 * np.abs(
        target_means
    )
    return np.where(standard_deviations > 0, standard_deviations, 1.0)


@frozen(eq=False)
class TrainSet:
    """Training rows Z and targets T, centred and multiplied by the square roots of their weights.

    Rows of weight 0 are dropped. `n_training_rows` counts all training rows, including copies and
    rows of weight 0.
    """

    weighted_rows: np.ndarray
    weighted_targets: np.ndarray
    mean: np.ndarray
    mean_y: np.ndarray
    root_weights: np.ndarray
    n_training_rows: int
    intercept: bool

    @classmethod
    def from_rows(
        cls,
        X: np.ndarray,
        Y: np.ndarray,
        weights: np.ndarray | None,
        n_given: int,
        intercept: bool,
    ) -> TrainSet | None:
        """Centre and weight the rows of a fit. Return None if all weights are zero."""
        if weights is not None and not weights.all():
            X, Y, weights = X[weights > 0], Y[weights > 0], weights[weights > 0]
        if not len(X):
            return None
        root_weights = np.ones(len(X)) if weights is None else np.sqrt(weights)
        column_means, target_means = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
        if intercept:
            column_means = np.average(X, axis=0, weights=weights)
            target_means = np.average(Y, axis=0, weights=weights)
        weighted_rows, weighted_targets = X - column_means, Y - target_means
        if weights is not None:
            weighted_rows, weighted_targets = (
                weighted_rows * root_weights[:, None],
                weighted_targets * root_weights[:, None],
            )
        return cls(
            weighted_rows,
            weighted_targets,
            column_means,
            target_means,
            root_weights,
            n_given,
            intercept,
        )

    @property
    def is_wide(self) -> bool:
        """True if the training set has fewer rows than columns.

        ZZ' is then decomposed instead of Z'Z, as in scikit-learn.
        """
        return self.n_training_rows < self.weighted_rows.shape[1]

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and targets that are decomposed.

        Centring a wide table makes one direction null, which is removed here.
        """
        if not (self.is_wide and self.intercept):
            return self.weighted_rows, self.weighted_targets
        reflection = contrast_reflection(self.root_weights)
        return contrast_rows(reflection, self.weighted_rows), contrast_rows(
            reflection, self.weighted_targets
        )

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.root_weights @ self.root_weights)

    @property
    def target_scales(self) -> np.ndarray:
        """Spread of each target, against which rounding errors are judged."""
        return compute_target_scales(self.weighted_targets, self.mean_y, self.total_weight)

    @property
    def rounding_error_of_centring(self) -> float:
        """Bound on the rounding error of the centred rows, in units of the machine precision."""
        return self.mean_row_norm * self.total_weight**0.5

    @cached_property
    def mean_row_norm(self) -> float:
        """Euclidean distance of the mean training row from zero."""
        return float(np.linalg.norm(self.mean))


def solve_and_predict(
    train: TrainSet, X: np.ndarray, solver: SolverSettings, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Predict the rows of X; return predictions `(penalty, row, target)` and a mask.

    The mask marks the penalties for which rounding leaves the predictions unresolved.
    """
    centred_rows = X - train.mean
    predictions, is_unresolved, is_solvable = _predict_by_product(
        train, centred_rows, solver, penalties
    )
    # If a wide table has a null direction, an SVD of its rows is no more precise.
    needs_row_svd = is_unresolved & is_solvable if train.is_wide else is_unresolved.copy()
    if needs_row_svd.any():
        precise_predictions, is_still_unresolved = _predict_by_svd(
            train, centred_rows, solver, penalties[needs_row_svd]
        )
        predictions[needs_row_svd] = precise_predictions
        is_unresolved[needs_row_svd] = is_still_unresolved
    return predictions + train.mean_y, is_unresolved


def degrees_of_freedom(
    train: TrainSet, solver: SolverSettings, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the trace of the hat matrix at each penalty, and a mask of uncertain traces.

    A trace is uncertain if rounding decides its value.
    """
    singular_values = (
        np.linalg.svd(train.weighted_rows, compute_uv=False)
        if train.weighted_rows.size
        else np.zeros(1)
    )
    if not solver.is_penalised:
        has_null_direction = train.is_wide or train.n_training_rows > len(train.root_weights)
        is_unclear = np.array(
            [not solver.rank_is_clear(singular_values, has_null_direction=has_null_direction)]
        )
        effective_parameters = np.array(
            [float(np.count_nonzero(singular_values > solver.cutoff * singular_values[0]))]
        )
    else:
        shrinkage_factors = singular_values[:, None] ** 2 / np.maximum(
            singular_values[:, None] ** 2 + penalties, np.finfo(float).tiny
        )
        is_unclear, effective_parameters = penalties == 0, shrinkage_factors.sum(axis=0)
    return effective_parameters + train.intercept, is_unclear


def _predict_by_product(
    train: TrainSet, test_rows: np.ndarray, solver: SolverSettings, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predict test rows by Z'Z or ZZ'; also return masks of unresolved and solvable penalties."""
    weighted_rows, weighted_targets = train.rows
    is_wide = train.is_wide
    gram, targets_product = (
        (weighted_rows @ weighted_rows.T, weighted_targets)
        if is_wide
        else (weighted_rows.T @ weighted_rows, weighted_rows.T @ weighted_targets)
    )
    rounding_noise = train.rounding_error_of_centring * float(np.trace(gram)) ** 0.5
    target_rounding_noise = (
        0.0 if is_wide else (float(gram.diagonal().max()) * train.total_weight) ** 0.5
    )
    spectrum = decompose_product(
        gram, targets_product, noise=rounding_noise, noise_right=target_rounding_noise, dual=is_wide
    )
    test_coordinates = (test_rows @ weighted_rows.T if is_wide else test_rows) @ spectrum.vectors
    smallest_eigenvalue = float(spectrum.values.min(initial=np.inf))
    largest_eigenvalue = float(spectrum.values.max(initial=0.0))
    is_solvable = solver.is_unaffected_by_null_directions(
        0.0 if is_wide else smallest_eigenvalue,
        largest_eigenvalue,
        train.n_training_rows,
        penalties,
    )
    is_stable = is_solvable & spectrum.is_reliable_at(penalties)
    if not solver.is_penalised:
        has_null_direction = is_wide and (
            train.intercept or train.n_training_rows > len(train.root_weights)
        )
        singular_values = np.sqrt(np.maximum(spectrum.values[::-1], 0.0))
        is_stable &= (
            smallest_eigenvalue > MIN_PRECISE_RATIO** 2 * largest_eigenvalue
            and solver.rank_is_clear(singular_values, has_null_direction=has_null_direction)
        )
        if not is_stable.all():  # Dividing by an eigenvalue of nearly zero would be unsafe.
            return (
                np.zeros((len(penalties), len(test_rows), train.weighted_targets.shape[1])),
                ~is_stable,
                is_solvable,
            )
    elif not is_stable.any():
        return (
            np.zeros((len(penalties), len(test_rows), train.weighted_targets.shape[1])),
            ~is_stable,
            is_solvable,
        )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        predictions = predictions_at(test_coordinates, spectrum, penalties)
        rounding_errors = rounding_bounds_at(
            test_coordinates, 0.0, spectrum, penalties, train.target_scales
        )
        rounding_errors += intercept_rounding_bounds(
            spectrum, train.mean_row_norm, penalties, train.target_scales
        )
    return predictions, ~(is_stable & (rounding_errors <= MAX_ROUNDING_ERROR)), is_solvable


def _predict_by_svd(
    train: TrainSet, test_rows: np.ndarray, solver: SolverSettings, penalties: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    weighted_rows, weighted_targets = train.rows
    is_wide, target_scales = train.is_wide, train.target_scales
    # If copies of rows are not counted, a table that is not wide may have fewer rows than columns.
    has_too_few_rows = not is_wide and len(weighted_rows) < weighted_rows.shape[1]
    spectrum, singular_values = decompose_rows(
        weighted_rows,
        weighted_targets,
        cutoff=solver.cutoff,
        noise=train.rounding_error_of_centring,
    )
    test_coordinates = test_rows @ spectrum.vectors
    smallest_eigenvalue = float(singular_values.min(initial=np.inf)) ** 2
    largest_eigenvalue = float(singular_values.max(initial=0.0)) ** 2
    is_stable = solver.is_unaffected_by_null_directions(
        0.0 if is_wide or has_too_few_rows else smallest_eigenvalue,
        largest_eigenvalue,
        train.n_training_rows,
        penalties,
    )
    is_stable &= spectrum.is_reliable_at(penalties)
    has_null_direction = has_too_few_rows or (
        is_wide and (train.intercept or train.n_training_rows > len(train.root_weights))
    )
    is_stable &= solver.rank_is_clear(singular_values, has_null_direction=has_null_direction)
    longest_row = float(np.sqrt((test_rows**2).sum(axis=1).max(initial=0.0)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        predictions = predictions_at(test_coordinates, spectrum, penalties)
        rounding_errors = rounding_bounds_at(
            test_coordinates, longest_row, spectrum, penalties, target_scales
        )
        rounding_errors += intercept_rounding_bounds(
            spectrum, train.mean_row_norm, penalties, target_scales
        )
        if solver.is_penalised and not solver.uses_svd:
            product_diagonal = (weighted_rows**2).sum(axis=1 if is_wide else 0)
            rounding_errors += cholesky_rounding_bounds(
                test_coordinates,
                test_rows,
                product_diagonal,
                spectrum,
                penalties,
                target_scales,
                is_wide=is_wide,
            )
    return predictions, ~(is_stable & (rounding_errors <= MAX_ROUNDING_ERROR))


def intercept_rounding_bounds(
    spectrum: Spectrum, distance_from_zero: float, penalties: np.ndarray, target_scales: np.ndarray
) -> np.ndarray:
    """Return a bound on the rounding error of the intercept at each penalty.

    The error matters if the rows are far from zero. The intercept of such rows is a difference of
    large numbers.
    """
    if not len(spectrum.values):
        return np.zeros(len(penalties))
    coefficient_lengths = max_coefficient_norms(spectrum, penalties, target_scales)
    return EPS * distance_from_zero * coefficient_lengths


@frozen(eq=False)
class TargetCoding:
    """Conversion of targets to numbers, in which regression targets stay as they are.

    Classes are coded as ±1. Two classes share one column; otherwise there is one column per class.
    `present_classes` holds the codes of the training classes (None: regression).
    """

    response: Response
    target_shape: tuple[int, ...]
    n_classes: int
    present_classes: np.ndarray | None

    @classmethod
    def from_data(
        cls, data: Data, response: Response, training_targets: np.ndarray
    ) -> TargetCoding | None:
        """Return the coding of training targets as numbers; None if they have one class only."""
        present_classes = None if data.classes is None else np.unique(training_targets)
        if present_classes is not None and len(present_classes) == 1:
            return None
        return cls(response, data.y.shape[1:], data.n_classes, present_classes)

    def to_numbers(self, y: np.ndarray) -> np.ndarray:
        """Convert targets or class codes to an array of numbers `(row, target)`."""
        if self.present_classes is None:
            return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        coded_classes = (
            self.present_classes[1:] if len(self.present_classes) == 2 else self.present_classes
        )
        return np.where(y[:, None] == coded_classes, 1.0, -1.0)

    def to_predictions(self, predicted_numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Convert predicted numbers to predictions, and return them with a mask of tied labels.

        The predicted numbers have shape `(candidate, row, target)`. Tied labels are left to
        scikit-learn.
        """
        is_tied = np.zeros(predicted_numbers.shape[:2], dtype=bool)
        if self.present_classes is None:
            return predicted_numbers.reshape(
                *predicted_numbers.shape[:2], *self.target_shape
            ), is_tied
        if self.response == "score":
            return predicted_numbers[:, :, 0], is_tied
        if len(self.present_classes) == 2:
            class_index, is_tied = (
                (predicted_numbers[:, :, 0] > 0).astype(int),
                np.abs(predicted_numbers[:, :, 0]) <= TIE_TOLERANCE,
            )
        else:
            class_index = predicted_numbers.argmax(axis=2)
            sorted_numbers = np.partition(predicted_numbers, -2, axis=2)
            is_tied = sorted_numbers[:, :, -1] - sorted_numbers[:, :, -2] <= TIE_TOLERANCE
        return self.present_classes[class_index].astype(class_code_dtype(self.n_classes)), is_tied
