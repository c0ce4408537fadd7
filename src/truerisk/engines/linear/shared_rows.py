"""Least squares on rows of one table, where all fits share matrix products of all rows.

For tall tables, Z'Z of a fit with rows Z is Z'Z of all rows minus the product of the rows that the
fit lacks. For wide tables, ZZ' of a fit is a submatrix of XX'. Fits whose predictions rounding
could change are computed one by one instead.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.blas import dsyr

from truerisk.core.frozen import frozen
from truerisk.engines.linear.fit import (
    MAX_ROUNDING_ERROR,
    SolverSettings,
    TargetCoding,
    compute_target_scales,
    intercept_rounding_bounds,
)
from truerisk.engines.templates.task import Task
from truerisk.kernels.spectral import (
    RowCoordinates,
    Spectrum,
    contrast_reflection,
    contrast_rows,
    decompose_product,
    predictions_at,
    rounding_bounds_at,
)

# Whether columns lie around zero is judged first from one in SAMPLING_STEP rows.
SAMPLING_STEP = 8
# A column lies around zero if its squared mean is at most this share of its mean square.
MAX_SQUARED_MEAN_SHARE = 0.5
MAX_KERNEL_BYTES = 1 << 28  # Largest size in bytes of the matrix XX' of all rows.


@frozen(eq=False)
class SharedRows:
    """All rows of a table, with the matrix products that the fits on its rows share."""

    task: Task
    solver: SolverSettings
    penalties: np.ndarray

    @cached_property
    def origin(self) -> np.ndarray:
        """Point that is subtracted from all rows, since large column means would cost digits."""
        if not self.solver.intercept or self.unshifted_kernel is not None:
            return np.zeros(self.task.X.shape[1])
        column_means = self.column_means
        if self._lies_near_zero(column_means, SAMPLING_STEP) or self._lies_near_zero(
            column_means, 1
        ):
            return np.zeros(
                len(column_means)
            )  # If rows lie around zero, they are not shifted, which saves a copy.
        return column_means

    @cached_property
    def column_means(self) -> np.ndarray:
        """Mean of each column over all rows."""
        X = self.task.X
        return np.full(len(X), 1 / len(X)) @ X

    def _lies_near_zero(self, column_means: np.ndarray, row_step: int) -> bool:
        """Return True if the mean of each column is small relative to the cells of the column.

        The cells are judged from one in `row_step` rows.
        """
        X = self.task.X
        sampled_rows = X[::row_step]
        return bool(
            (
                column_means**2
                <= MAX_SQUARED_MEAN_SHARE
                * np.einsum("ij,ij->j", sampled_rows, sampled_rows)
                / len(X)
            ).all()
        )

    @cached_property
    def unshifted_kernel(self) -> np.ndarray | None:
        """Inner products XX' of the unshifted rows of a wide table, if these lie around zero.

        The value is None for other tables.
        """
        X = self.task.X
        if len(X) >= X.shape[1] or not self.shares_kernel:
            return None
        kernel: np.ndarray = X @ X.T
        is_near_zero = (
            not self.solver.intercept
            or kernel.mean() <= MAX_SQUARED_MEAN_SHARE * kernel.diagonal().mean()
        )
        return kernel if is_near_zero else None

    @cached_property
    def shifted_rows(self) -> np.ndarray:
        """All rows of the table minus the origin."""
        X = self.task.X
        return X - self.origin if self.origin.any() else X

    @property
    def n(self) -> int:
        """Number of rows of the table."""
        return self.task.plan.n_rows

    @cached_property
    def weights(self) -> np.ndarray:
        """Sample weight of each row; 1 if none were given."""
        return np.ones(self.n) if self.task.weights is None else self.task.weights

    @cached_property
    def gram(self) -> np.ndarray:
        """Weighted cross-product X'X of the columns, after `origin` is subtracted from the rows."""
        weighted_rows = self.shifted_rows
        if self.task.weights is not None:
            weighted_rows = weighted_rows * np.sqrt(self.weights)[:, None]
        return weighted_rows.T @ weighted_rows

    @cached_property
    def kernel(self) -> np.ndarray:
        """Inner products of all rows: `unshifted_kernel`, or else those of rows minus `origin`."""
        if self.unshifted_kernel is not None:
            return self.unshifted_kernel
        return self.shifted_rows @ self.shifted_rows.T

    @cached_property
    def squared_lengths(self) -> np.ndarray:
        """Squared Euclidean length of every row after the origin is subtracted."""
        if self.shares_kernel:
            return self.kernel.diagonal()
        return np.einsum("ij,ij->i", self.shifted_rows, self.shifted_rows)

    @cached_property
    def shares_kernel(self) -> bool:
        """True if all fits use one matrix of inner products of all rows.

        It must fit into memory and cost less than a matrix for each fit.
        """
        plan = self.task.plan
        train_sizes = plan.least_train_sizes.astype(np.float64)
        n_test_rows = np.bincount(plan.fit, weights=plan.test_sizes, minlength=plan.n_fits)
        return bool(
            8 * self.n**2 <= MAX_KERNEL_BYTES
            and self.n**2 <= (train_sizes * (train_sizes + n_test_rows)).sum()
        )

    def weights_of_fit(self, fit: int) -> tuple[np.ndarray, int]:
        """Return the weight of each row in a fit, and the number of training rows.

        Rows outside of the training set have weight 0.
        """
        rows, row_counts = self.task.plan.train_rows(fit)
        weights = np.zeros(self.n)
        weights[rows] = (
            self.weights[rows] if row_counts is None else self.weights[rows] * row_counts
        )
        return weights, len(rows) if row_counts is None else int(row_counts.sum())

    def target_coding(self, fit: int) -> tuple[TargetCoding | None, np.ndarray]:
        """Return the coding of the targets in a fit, and the labels of all rows.

        The coding is None if the training set has one class only.
        """
        y = self.task.labels(fit)
        training_targets = (
            y[self.task.plan.train_rows(fit)[0]] if self.task.data.classes is not None else y
        )
        return TargetCoding.from_data(
            self.task.data, self.task.request.response, training_targets
        ), y

    def store_predictions(self, fit: int) -> bool:
        """Compute and store the predictions of a fit; return True on success.

        Return False if the fit cannot be computed here, or if rounding matters. Return True as well
        if the fit has no candidate of the group.
        """
        group = self.task.of_fit(fit)
        if group is None:
            return True
        penalties = self.penalties
        if self.task.run.candidate_by_fit is not None:
            penalties = penalties[self.task.group.candidates == group.candidates[0]]
        coding, y = self.target_coding(fit)
        weights, n_training_rows = self.weights_of_fit(fit)
        if coding is None or not weights.any():
            return False
        subset_fit = FitOnSharedRows.from_table(
            self, weights, coding.to_numbers(y), n_training_rows
        )
        test_set_numbers = self.task.questions(fit)
        test_sets = [
            self.task.plan.test_rows(int(set_number))[0] for set_number in test_set_numbers
        ]
        predicted_numbers = subset_fit.answers(np.concatenate(test_sets), penalties)
        if predicted_numbers is None:
            return False
        predictions, is_tied = coding.to_predictions(predicted_numbers)
        self.task.leave_open(fit, group.candidates[is_tied.any(axis=1)]) if is_tied.any() else None
        first_row = 0
        for test_set_number, rows in zip(test_set_numbers, test_sets, strict=True):
            self.task.place(
                int(test_set_number), group, predictions[:, first_row : first_row + len(rows)]
            )
            first_row += len(rows)
        return True


@frozen(eq=False)
class FitOnSharedRows:
    """Least-squares fit on some rows of a shared table; all other rows have weight 0."""

    shared_rows: SharedRows
    weights: np.ndarray
    rows: np.ndarray
    mean_y: np.ndarray
    Y: np.ndarray  # The targets of all rows, minus the mean target of the training rows.
    n_training_rows: int

    @classmethod
    def from_table(
        cls, shared_rows: SharedRows, weights: np.ndarray, Y: np.ndarray, n_given: int
    ) -> FitOnSharedRows:
        """Return a fit on rows of the shared table, whose training rows have positive weights.

        The targets are centred at their weighted mean if the model has an intercept.
        """
        target_means = np.zeros(Y.shape[1])
        if shared_rows.solver.intercept:
            target_means = weights @ Y / weights.sum()
        return cls(
            shared_rows, weights, np.flatnonzero(weights), target_means, Y - target_means, n_given
        )

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of the shifted training rows, or zero if the model has no intercept."""
        if not self.shared_rows.solver.intercept:
            return np.zeros(self.shared_rows.shifted_rows.shape[1])
        shared_rows = self.shared_rows
        if self.weights is shared_rows.weights and shared_rows.task.weights is None:
            return shared_rows.column_means - shared_rows.origin
        return self.weights @ shared_rows.shifted_rows / self.total_weight

    @property
    def is_wide(self) -> bool:
        """True if the fit has fewer rows than columns."""
        return self.n_training_rows < self.shared_rows.shifted_rows.shape[1]

    @cached_property
    def root_weights(self) -> np.ndarray:
        """Square roots of the weights of the training rows."""
        return np.sqrt(self.weights[self.rows])

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def targets(self) -> np.ndarray:
        """Centred targets, multiplied by the square roots of the weights."""
        return self.Y[self.rows] * self.root_weights[:, None]

    @cached_property
    def target_scales(self) -> np.ndarray:
        """Spread of each target, against which rounding errors are judged."""
        return compute_target_scales(self.targets, self.mean_y, self.total_weight)

    @cached_property
    def mean_norm_bound(self) -> float:
        """Upper bound on the distance between zero and the mean of the unshifted training rows."""
        origin_length = float(np.linalg.norm(self.shared_rows.origin))
        if not self.shared_rows.solver.intercept:
            return origin_length
        if self.is_wide and self.shared_rows.shares_kernel:
            weighted_products = self.weights[self.rows] @ self.shared_rows.kernel[self.rows]
            squared_length = float(weighted_products[self.rows] @ self.weights[self.rows])
            return origin_length + max(squared_length, 0.0) ** 0.5 / self.total_weight
        return origin_length + float(np.linalg.norm(self.mean))

    @cached_property
    def spectrum(self) -> Spectrum:
        """Decompose the kernel XX' if the table is wide, otherwise the cross-product X'X."""
        return self._dual_spectrum() if self.is_wide else self._primal_spectrum()

    @cached_property
    def reflection(self) -> np.ndarray | None:
        """Reflection whose contrasts of rows are free of the intercept; None without intercept."""
        return contrast_reflection(self.root_weights) if self.shared_rows.solver.intercept else None

    def _shift_rounding_error(self, gram_trace: float) -> float:
        return self.mean_norm_bound * (self.total_weight * gram_trace) ** 0.5

    def _primal_spectrum(self) -> Spectrum:
        shared_rows = self.shared_rows
        changed_rows = np.flatnonzero(self.weights != shared_rows.weights)
        lost_weights = shared_rows.weights[changed_rows] - self.weights[changed_rows]
        if len(changed_rows) < len(self.rows) and (lost_weights > 0).all():
            gram = shared_rows.gram
            largest_diagonal = float(gram.diagonal().max())
            if len(changed_rows):
                removed_rows = (
                    shared_rows.shifted_rows[changed_rows] * np.sqrt(lost_weights)[:, None]
                )
                gram = gram - removed_rows.T @ removed_rows
        else:
            training_rows = shared_rows.shifted_rows[self.rows] * self.root_weights[:, None]
            gram = training_rows.T @ training_rows
            # Rounding errors grow with the largest diagonal element before the mean is subtracted.
            largest_diagonal = float(gram.diagonal().max())
        gram = (gram.copy() if gram is shared_rows.gram else gram).T
        if shared_rows.solver.intercept:  # Only the lower triangle is read later.
            gram = dsyr(-self.total_weight, self.mean, lower=1, a=gram, overwrite_a=1)
        weighted_targets = self.weights[:, None] * self.Y
        targets_product = shared_rows.shifted_rows.T @ weighted_targets - np.multiply.outer(
            self.mean, weighted_targets.sum(axis=0)
        )
        rounding_noise = largest_diagonal + self._shift_rounding_error(
            float(max(np.trace(gram), 0.0))
        )
        target_rounding_noise = (largest_diagonal * self.total_weight) ** 0.5
        return decompose_product(
            gram, targets_product, noise=rounding_noise, noise_right=target_rounding_noise
        )

    def _dual_spectrum(self) -> Spectrum:
        kernel, training_targets = (
            self._cross_products(self.rows) * self.root_weights[:, None],
            self.targets,
        )
        if self.reflection is not None:
            kernel = contrast_rows(self.reflection, kernel)
            training_targets = contrast_rows(self.reflection, training_targets)
        squared_lengths = self.shared_rows.squared_lengths
        weighted_lengths = squared_lengths[self.rows] * self.weights[self.rows]
        rounding_noise = float(weighted_lengths.max()) + self._shift_rounding_error(
            float(max(np.trace(kernel), 0.0))
        )
        target_rounding_noise = float(squared_lengths.max() * weighted_lengths.sum()) ** 0.5
        return decompose_product(
            kernel,
            training_targets,
            noise=rounding_noise,
            noise_right=target_rounding_noise,
            dual=True,
        )

    def _cross_products(self, test_rows: np.ndarray) -> np.ndarray:
        """Return inner products of the centred test rows with the training rows.

        If the model has an intercept, contrasts of the training rows take their place.
        """
        shared_rows, training_rows = self.shared_rows, self.rows
        if shared_rows.shares_kernel:
            cross_products: np.ndarray = shared_rows.kernel[np.ix_(test_rows, training_rows)]
        else:
            cross_products = (
                shared_rows.shifted_rows[test_rows] @ shared_rows.shifted_rows[training_rows].T
            )
        cross_products *= self.root_weights
        if self.reflection is None:
            return cross_products
        if shared_rows.shares_kernel:
            mean_products = self.weights @ shared_rows.kernel[:, training_rows] / self.total_weight
        else:
            mean_products = shared_rows.shifted_rows[training_rows] @ self.mean
        cross_products -= mean_products * self.root_weights
        return contrast_rows(self.reflection, cross_products.T).T

    def test_coordinates(self, test_rows: np.ndarray) -> np.ndarray:
        """Return the coordinates of test rows in the eigenvector basis of the fit."""
        if self.is_wide:
            return self._cross_products(test_rows) @ self.spectrum.vectors
        has_all_rows = np.array_equal(test_rows, np.arange(self.shared_rows.n))
        X = (
            self.shared_rows.shifted_rows
            if has_all_rows
            else self.shared_rows.shifted_rows[test_rows]
        )
        coordinates: np.ndarray = X @ self.spectrum.vectors
        if self.shared_rows.solver.intercept:
            coordinates -= self.mean @ self.spectrum.vectors
        return coordinates

    def training_coordinates(self, factors: np.ndarray | None) -> RowCoordinates:
        """Return the training rows' coordinates along the eigenvectors, times a factor per row.

        This is not implemented for wide tables.
        """
        X = self.shared_rows.shifted_rows
        X = X if len(self.rows) == len(X) else X[self.rows]
        vectors = self.spectrum.vectors
        return RowCoordinates(X, vectors, self.mean @ vectors, factors)

    def is_accurate(self, penalties: np.ndarray, min_eigenvalue_share: float = 1.0) -> bool:
        """Return True if the eigendecomposition is precise enough for all penalties.

        When rows are left out, an eigenvalue may shrink to `min_eigenvalue_share` times its value.
        """
        eigenvalues, solver = self.spectrum.values, self.shared_rows.solver
        smallest_eigenvalue = min_eigenvalue_share * float(eigenvalues.min(initial=np.inf))
        largest_eigenvalue = float(eigenvalues.max(initial=0.0))
        lower_bound = 0.0 if self.is_wide else smallest_eigenvalue
        if not solver.is_unaffected_by_null_directions(
            lower_bound, largest_eigenvalue, self.n_training_rows, penalties
        ).all():
            return False
        if not self.spectrum.is_reliable_at(penalties, min_eigenvalue_share).all():
            return False
        if solver.is_penalised:
            return True
        has_null_direction = self.is_wide and (
            solver.intercept or self.n_training_rows > len(self.rows)
        )
        singular_values = np.sqrt(np.maximum(eigenvalues[::-1], 0.0))
        if len(singular_values):
            singular_values[1:] *= min_eigenvalue_share**0.5
        return smallest_eigenvalue > 1e-8 * largest_eigenvalue and solver.rank_is_clear(
            singular_values, has_null_direction=has_null_direction
        )

    def rounding_bounds(
        self, coordinates: np.ndarray | RowCoordinates, penalties: np.ndarray
    ) -> np.ndarray:
        """Return a bound on the rounding error of the prediction of each row, at every penalty.

        The rows are given by their coordinates.
        """
        rounding_errors = rounding_bounds_at(
            coordinates,
            0.0,
            self.spectrum,
            penalties,
            self.target_scales,
            sufficient_bound=MAX_ROUNDING_ERROR / 10,
        )
        rounding_errors += intercept_rounding_bounds(
            self.spectrum, self.mean_norm_bound, penalties, self.target_scales
        )
        return rounding_errors

    def answers(self, test_rows: np.ndarray, penalties: np.ndarray) -> np.ndarray | None:
        """Predict test rows; return `(penalty, row, target)`, or None if rounding might matter."""
        if not self.is_accurate(penalties):
            return None
        coordinates = self.test_coordinates(test_rows)
        if (self.rounding_bounds(coordinates, penalties) > MAX_ROUNDING_ERROR).any():
            return None
        return predictions_at(coordinates, self.spectrum, penalties) + self.mean_y
