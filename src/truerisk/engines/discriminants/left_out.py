"""Leave-one-out linear discriminant analysis, computed for all left-out rows at once.

Let A be the scatter matrix, m_k the mean of class k, and x a row of class c, which has n_c rows.
Without this row, with d = x − m_c, the scatter matrix is A − γ d d' and the mean of class c moves
by −d/(n_c − 1). With t = d'A⁻¹d, u_k = d'A⁻¹(x − m_k) and v_k = (x − m_k)'A⁻¹(x − m_k), the squared
distances of x to the means of the other classes k and of its own class c are (Sherman and Morrison)

    D_k = v_k + γ u_k² / (1 − γ t),   D_c = (n_c/(n_c − 1))² t / (1 − γ t).

Shrinkage adds a multiple of the mean variance, which depends on the row that is left out: the
eigenvectors of A do not change, and every left-out row has eigenvalues of its own.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.discriminants.rule import (
    MAX_CONDITION_NUMBER,
    MIN_SHARE_ABOVE_ROUNDING,
    DiscriminantRule,
    has_distinct_means_for_svd,
    has_tied_labels,
    predictions_from_scores,
    solve_shrunk_system,
)
from truerisk.engines.discriminants.scatter import (
    FLAT_COLUMN_RATIO,
    RowsByClass,
    ScatterRoot,
    ScatterSpectrum,
    compute_scatter_root,
    compute_scatter_spectrum,
    squared_row_lengths,
)
from truerisk.engines.templates.fits_of_one_table import find_single_row_fits
from truerisk.engines.templates.task import Task
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan

# Smallest accepted value of 1 − leverage; at 0 the scatter matrix without the row is singular.
MIN_ONE_MINUS_LEVERAGE = 1e-5


class DiscriminantsWithoutRow:
    """Linear discriminants of a training set after the removal of any one of its rows."""

    def __init__(self, classes: RowsByClass, rule: DiscriminantRule) -> None:
        self.classes, self.rule = classes, rule
        self._roots: dict[int, ScatterRoot | None] = {}
        self._spectra: dict[int, ScatterSpectrum] = {}

    def scores(
        self, rows: np.ndarray, class_index: int, shrinkage: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the class scores of each row by the fit without it, and a mask of reliable rows.

        All rows belong to one class. The result is None if the scatter matrix has no inverse for
        any left-out row.
        """
        remaining_sizes = self.remaining_class_sizes(class_index)
        is_free_of_warnings = self.rule.has_covariances(remaining_sizes)
        if not (
            is_free_of_warnings and self.rule.can_fit(remaining_sizes, self.classes.n_features)
        ):
            return np.zeros((len(rows), len(remaining_sizes))), np.zeros(len(rows), dtype=bool)
        centred_rows = self.classes.centred_rows(rows, class_index)
        inner_products = (
            self._shrunk_products(centred_rows, class_index, shrinkage)
            if shrinkage
            else self._unshrunk_products(centred_rows, class_index)
        )
        if inner_products is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            is_reliable = inner_products.is_reliable & (
                inner_products.one_minus_leverage > MIN_ONE_MINUS_LEVERAGE
            )
            distances = inner_products.distances(
                class_index, float(self.classes.sizes[class_index])
            )
            if self.rule.solver != "lsqr":
                is_reliable &= inner_products.has_distinct_means(
                    class_index, float(self.classes.sizes[class_index])
                )
            if (
                inner_products.difference_products is not None
                and self.rule.solver == "svd"
                and len(remaining_sizes) > 2
            ):
                is_reliable &= self._keeps_mean_directions(
                    inner_products, inner_products.difference_products, class_index
                )
        scores = (
            self.rule.log_priors(remaining_sizes)
            - self.rule.distance_factor(remaining_sizes) * distances / 2
        )
        return np.where(is_reliable[:, None], scores, 0), is_reliable

    def remaining_class_sizes(self, class_index: int) -> np.ndarray:
        """Return the number of rows of each class after removing a row of one class."""
        class_sizes = self.classes.sizes.copy()
        class_sizes[class_index] -= 1
        return class_sizes

    def removed_row_factor(self, class_index: int) -> float:
        """Return the factor γ in A − γ d d', the scatter matrix after removing a centred row d."""
        class_size = self.classes.sizes[class_index]
        return float(
            self.rule.scatter_factors(self.remaining_class_sizes(class_index))[class_index]
            * class_size
            / (class_size - 1)
        )

    def _scatter_rows(self, class_index: int) -> tuple[np.ndarray, float]:
        return self.classes.scatter_rows(
            self.rule.scatter_factors(self.remaining_class_sizes(class_index))
        )

    def _spectrum(self, class_index: int) -> ScatterSpectrum:
        cache_key = class_index if self.rule.weighs_classes else 0
        if cache_key not in self._spectra:
            self._spectra[cache_key] = compute_scatter_spectrum(*self._scatter_rows(class_index))
        return self._spectra[cache_key]

    def _mean_differences(self, class_index: int) -> np.ndarray:
        """Return the mean of one class minus the mean of each class, as one row per class."""
        return self.classes.means[class_index] - self.classes.means

    def _unshrunk_products(
        self, centred_rows: np.ndarray, class_index: int
    ) -> _InnerProducts | None:
        """Compute the inner products of rows and class means from the root of the scatter.

        These are the products without shrinkage.
        """
        cache_key = class_index if self.rule.weighs_classes else 0
        if cache_key not in self._roots:
            has_flat_columns = self.classes.has_flat_columns
            self._roots[cache_key] = (
                None if has_flat_columns else compute_scatter_root(*self._scatter_rows(class_index))
            )
        scatter_root = self._roots[cache_key]
        if scatter_root is None:
            return None
        whitened_rows, whitened_differences = (
            scatter_root.whiten(centred_rows),
            scatter_root.whiten(self._mean_differences(class_index)),
        )
        squared_lengths, removed_row_factor = (
            squared_row_lengths(whitened_rows),
            self.removed_row_factor(class_index),
        )
        difference_products = whitened_differences @ whitened_differences.T
        one_minus_leverage = 1 - removed_row_factor * squared_lengths
        is_reliable = self.rule.has_full_rank(
            scatter_root.scaled_eigenvalue_bound * one_minus_leverage
        )
        condition_numbers = scatter_root.scatter_trace / (
            scatter_root.unscaled_eigenvalue_bound
            * np.maximum(one_minus_leverage, MIN_ONE_MINUS_LEVERAGE)
        )
        solution_for_means, max_abs_value = (
            scatter_root.solve(self.classes.means),
            self.classes.max_abs_value,
        )
        is_reliable &= self.rule.has_small_rounding_error(
            condition_numbers, max_abs_value, solution_for_means
        )
        return _InnerProducts(
            squared_lengths,
            whitened_rows @ whitened_differences.T,
            np.broadcast_to(
                np.diag(difference_products), (len(centred_rows), len(whitened_differences))
            ),
            removed_row_factor,
            is_reliable
            & self.rule.keeps_all_directions(
                scatter_root.unscaled_eigenvalue_bound * one_minus_leverage,
                scatter_root.scatter_trace,
            ),
            difference_products,
        )

    def _shrunk_products(
        self, centred_rows: np.ndarray, class_index: int, shrinkage: float
    ) -> _InnerProducts:
        """Compute the inner products of rows and class means from the spectrum of the scatter.

        These are the products with shrinkage.
        """
        spectrum, removed_row_factor, mean_differences = (
            self._spectrum(class_index),
            self.removed_row_factor(class_index),
            self._mean_differences(class_index),
        )
        squared_norms = np.einsum("ij,ij->i", centred_rows, centred_rows)
        trace = np.maximum(spectrum.trace - removed_row_factor * squared_norms, 0)[:, None]
        added_variance = shrinkage * trace / centred_rows.shape[1]
        rotated_rows, rotated_differences = (
            centred_rows @ spectrum.vectors,
            mean_differences @ spectrum.vectors,
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse_eigenvalues = 1 / ((1 - shrinkage) * spectrum.values + added_variance)
            weighted_rows = inverse_eigenvalues * rotated_rows
            squared_lengths = np.einsum("ij,ij->i", weighted_rows, rotated_rows)
            cross_products, squared_mean_distances = (
                weighted_rows @ rotated_differences.T,
                inverse_eigenvalues @ (rotated_differences**2).T,
            )
            # A difference of class means may have a part outside the span of the eigenvectors.
            # A centred row lies within this span, so that its products need no such term.
            if spectrum.has_null_space:
                squared_mean_distances += (
                    (mean_differences**2).sum(axis=1) - (rotated_differences**2).sum(axis=1)
                ) / added_variance
        smallest_eigenvalue = 0.0 if spectrum.has_null_space else spectrum.values.min()
        largest_eigenvalue = (1 - shrinkage) * spectrum.values.max() + added_variance
        is_reliable = (
            largest_eigenvalue[:, 0]
            < MAX_CONDITION_NUMBER * ((1 - shrinkage) * smallest_eigenvalue + added_variance)[:, 0]
        )
        is_reliable &= (FLAT_COLUMN_RATIO * self.classes.max_abs_value) ** 2 <= added_variance[:, 0]
        max_abs_value = self.classes.max_abs_value
        solution_for_means = solve_shrunk_system(
            spectrum, self.classes.means, shrinkage, max_abs_value
        )
        # Rounding errors are assessed in the fit on all rows, which the fits without a row
        # resemble.
        is_reliable &= solution_for_means is not None and bool(
            self.rule.has_small_rounding_error(
                solution_for_means[1], max_abs_value, solution_for_means[0]
            )
        )
        return _InnerProducts(
            squared_lengths,
            cross_products,
            squared_mean_distances,
            (1 - shrinkage) * removed_row_factor,
            is_reliable,
        )

    def _keeps_mean_directions(
        self, row_products: _InnerProducts, difference_products: np.ndarray, class_index: int
    ) -> np.ndarray:
        """Return True for rows without which the class means still differ in every direction.

        scikit-learn's SVD solver drops directions in which the class means hardly differ. Rows
        after whose removal it would drop one are False.
        """
        one_minus_leverage, cross_products = (
            row_products.one_minus_leverage[:, None],
            row_products.row_mean_products,
        )
        products = difference_products + row_products.removed_row_factor * (
            cross_products[:, :, None] * cross_products[:, None, :] / one_minus_leverage[:, None]
        )
        # Without row d, the mean of its class moves by −d divided by the remaining class size.
        remaining_size = self.classes.sizes[class_index] - 1
        products[:, class_index, :] = products[:, :, class_index] = cross_products / (
            remaining_size * one_minus_leverage
        )
        products[:, class_index, class_index] = row_products.squared_lengths / (
            remaining_size**2 * row_products.one_minus_leverage
        )
        class_priors = np.exp(self.rule.log_priors(self.remaining_class_sizes(class_index)))
        return has_distinct_means_for_svd(
            products, np.broadcast_to(class_priors, cross_products.shape), self.rule.tol
        )


@frozen(eq=False)
class _InnerProducts:
    """Inner products of left-out rows and class means, in the metric A⁻¹ (A: scatter matrix).

    With the symbols of the module's docstring and δ_k = m_c − m_k, `squared_lengths` is t,
    `row_mean_products` holds d'A⁻¹δ_k, `squared_mean_distances` holds δ_k'A⁻¹δ_k, and
    `removed_row_factor` is γ. `is_reliable` marks reliable rows. `difference_products` holds the
    products of each δ_k with each other δ, if they are the same for all left-out rows.
    """

    squared_lengths: np.ndarray
    row_mean_products: np.ndarray
    squared_mean_distances: np.ndarray
    removed_row_factor: float
    is_reliable: np.ndarray
    difference_products: np.ndarray | None = None

    @cached_property
    def one_minus_leverage(self) -> np.ndarray:
        """One minus the leverage of every left-out row."""
        return 1 - self.removed_row_factor * self.squared_lengths

    def distances(self, class_index: int, class_size: float) -> np.ndarray:
        """Return the squared distances of each left-out row to the class means without this row."""
        row_products = self.squared_lengths[:, None] + self.row_mean_products
        squared_row_distances = (
            self.squared_lengths[:, None] + 2 * self.row_mean_products + self.squared_mean_distances
        )
        distances: np.ndarray = (
            squared_row_distances
            + self.removed_row_factor * row_products**2 / self.one_minus_leverage[:, None]
        )
        distances[:, class_index] = (
            (class_size / (class_size - 1)) ** 2 * self.squared_lengths / self.one_minus_leverage
        )
        return distances

    def has_distinct_means(self, class_index: int, class_size: float) -> np.ndarray:
        """Return True for rows without which their class mean still differs from another mean.

        Without the row the mean of its class moves by −d/(n_c − 1).
        """
        squared_shift = self.squared_lengths[:, None] / (class_size - 1) ** 2
        squared_distances = (
            self.squared_mean_distances
            - 2 * self.row_mean_products / (class_size - 1)
            + squared_shift
        )
        squared_distances[:, class_index] = 0
        is_distinct: np.ndarray = squared_distances.max(axis=1) > MIN_SHARE_ABOVE_ROUNDING * (
            self.squared_mean_distances + squared_shift
        ).max(axis=1)
        return is_distinct


NO_FIT = -1


@frozen(eq=False)
class LeaveOneOutFits:
    """Fits that leave out one row: fit number `fits[j]` is trained on all rows except `rows[j]`."""

    fits: np.ndarray
    rows: np.ndarray

    @classmethod
    def from_plan(cls, plan: Plan) -> LeaveOneOutFits:
        """Find the fits of a plan that leave out one row and change no label."""
        is_single, left_out_rows = find_single_row_fits(plan)
        if (flipped_labels := Flips.from_holder(plan)) is not None:
            is_single[flipped_labels.fit] = False
        fits = np.flatnonzero(is_single)
        return cls(fits, left_out_rows[fits])

    def take(self, selection: np.ndarray) -> LeaveOneOutFits:
        """Return a subset of the leave-one-out fits, given by their indices or by a mask."""
        return LeaveOneOutFits(self.fits[selection], self.rows[selection])

    def needs_candidate(self, task: Task, candidate_index: int) -> np.ndarray:
        """Return True for the fits in which this candidate must predict."""
        return task.asks(self.fits, candidate_index)

    def store_predictions(
        self, task: Task, candidate_index: int, scores: np.ndarray, present_classes: np.ndarray
    ) -> None:
        """Store one candidate's predictions for the left-out rows, computed from class scores.

        Where rounding decides the label, scikit-learn's estimator will be fitted instead.
        """
        plan, candidate = task.plan, int(task.group.candidates[candidate_index])
        predictions = predictions_from_scores(
            scores, present_classes, task.request, task.data.n_classes
        )
        index_of_fit = np.full(plan.n_fits, NO_FIT)
        index_of_fit[self.fits] = np.arange(len(self.fits))
        fit_index_of_test_set = index_of_fit[plan.fit]
        test_set_numbers = np.flatnonzero(fit_index_of_test_set != NO_FIT)
        value_row, value_columns = task.line_of(candidate), plan.test_offsets[test_set_numbers]
        task.collected.values[value_row, value_columns] = predictions[
            fit_index_of_test_set[test_set_numbers]
        ]
        for fit in self.fits[has_tied_labels(scores, task.request)]:
            task.leave_open(fit, [candidate])
