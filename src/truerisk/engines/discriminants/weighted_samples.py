"""Linear discriminants of many weighted samples, whose scatter matrices are inverted together.

The scatter of a class with row weights w, size Σ w and mean m is Σ w x x' minus its size times m
m', where the columns are centred at their mean over all rows. For every shrinkage s the matrices (1
− s) A + s tr(A)/p I are formed from the same scatter matrices A of p columns. Samples in which this
loses digits, or in which a class is missing, are fitted one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.engines.discriminants.rule import (
    DiscriminantRule,
    has_distinct_means_for_svd,
    has_tied_labels,
    predictions_from_scores,
    shrinkage_of_setting,
)
from truerisk.engines.discriminants.scatter import FLAT_COLUMN_RATIO
from truerisk.engines.templates.fits_of_one_table import (
    MAX_PRODUCT_CELLS,
    WeightedFits,
    fits_lacking_blocks,
    products_of,
)
from truerisk.engines.templates.task import Task

# Smallest accepted eigenvalue of the scatter of scaled columns, as a share of the mean one.
MIN_EIGENVALUE_SHARE = 1e-5
# Smallest accepted share of a column's sum of squares that remains in a fit.
# The means and the left-out blocks of rows have then been subtracted.
MIN_REMAINING_SHARE = 1e-4


def predict_samples(task: Task, X: np.ndarray, is_pending: np.ndarray) -> np.ndarray:
    """Store the predictions of many fits that are computed together, and return a mask of them.

    The fits are computed for every shrinkage.
    """
    is_computed = np.zeros(task.plan.n_fits, dtype=bool)
    rule = DiscriminantRule.from_settings(task.group.settings)
    centred_table, max_abs_values = X - X.mean(axis=0), np.maximum(X.max(axis=0), -X.min(axis=0))
    sums_of_squares = np.einsum("ij,ij->j", centred_table, centred_table)
    shrinkages = list(map(shrinkage_of_setting, task.group.settings))
    distinct_shrinkages = list(dict.fromkeys(shrinkages))
    for batch, products_by_class in _class_products_by_batch(
        task, is_pending, centred_table, len(distinct_shrinkages)
    ):
        class_moments = _ClassMoments.from_rows(
            products_by_class, rule, max_abs_values, sums_of_squares
        )
        fitted_discriminants = {
            shrinkage: class_moments.fit_discriminants(shrinkage)
            for shrinkage in distinct_shrinkages
        }
        is_reliable = np.all(
            [discriminants.is_reliable for discriminants in fitted_discriminants.values()], axis=0
        )
        reliable_fits = batch.select(np.flatnonzero(is_reliable))
        if not len(reliable_fits.positions[0]):
            continue
        for shrinkage, discriminants in fitted_discriminants.items():
            candidate_indices = [
                candidate_index
                for candidate_index, candidate_shrinkage in enumerate(shrinkages)
                if candidate_shrinkage == shrinkage
            ]
            _store_predictions(
                reliable_fits,
                candidate_indices,
                discriminants.select(is_reliable).scores(centred_table, reliable_fits),
            )
        is_computed[reliable_fits.fits] = True
    return is_computed


def _store_predictions(
    reliable_fits: WeightedFits, candidate_indices: list[int], scores: np.ndarray
) -> None:
    """Convert scores `(test row, class)` to predictions, and store them for these candidates."""
    task, fit_of_row = reliable_fits.task, reliable_fits.positions[0]
    class_codes = np.arange(task.data.n_classes)
    predictions = predictions_from_scores(scores, class_codes, task.request, len(class_codes))
    is_tied = has_tied_labels(scores, task.request)
    for candidate_index in candidate_indices:
        needs_candidate = reliable_fits.asks(candidate_index)
        if needs_candidate.all():
            reliable_fits.store_predictions(candidate_index, predictions, is_tied)
        elif needs_candidate.any():
            is_needed_row = needs_candidate[fit_of_row]
            reliable_fits.select(np.flatnonzero(needs_candidate)).store_predictions(
                candidate_index, predictions[is_needed_row], is_tied[is_needed_row]
            )


def _class_products_by_batch(
    task: Task, is_pending: np.ndarray, X: np.ndarray, n_settings: int
) -> Iterator[tuple[WeightedFits, list[np.ndarray]]]:
    """Yield batches of fits, with each class's products of columns summed over training rows.

    A constant first column is added, so that its products count rows. For fits on all rows minus
    blocks of rows, the products are added up once per block.
    """
    codes, (n, p), plan = task.data.class_codes, X.shape, task.plan
    classes = range(task.data.n_classes)
    fits = (
        fits_lacking_blocks(plan, is_pending) if "flips" not in plan.needs else np.empty(0, np.intp)
    )
    used_blocks = np.unique(plan.train.take(fits).removed_blocks)
    augmented_rows = np.column_stack([np.ones(n), X])
    if len(fits) and (1 + len(used_blocks)) * len(classes) * p * p <= MAX_PRODUCT_CELLS:
        row_sets = [np.arange(n), *(plan.blocks[int(block_number)] for block_number in used_blocks)]
        product_sums = np.empty((len(classes), len(row_sets), p + 1, p + 1))
        for class_index, set_index in product(classes, range(len(row_sets))):
            rows_of_class = augmented_rows[
                row_sets[set_index][codes[row_sets[set_index]] == class_index]
            ]
            np.matmul(rows_of_class.T, rows_of_class, out=product_sums[class_index, set_index])
        for batch in WeightedFits.some(task, fits, p):
            training_sets = plan.train.take(batch.fits)
            block_signs = np.zeros((len(batch.fits), len(row_sets)))
            block_signs[:, 0] = 1
            fit_of_block = np.repeat(np.arange(len(block_signs)), np.diff(training_sets.offsets))
            block_signs[
                fit_of_block, 1 + np.searchsorted(used_blocks, training_sets.removed_blocks)
            ] = -1
            yield batch, [np.tensordot(block_signs, class_sums, 1) for class_sums in product_sums]
        is_pending = is_pending.copy()
        is_pending[fits] = False
    row_products = None
    for batch in WeightedFits.batches(task, is_pending, p, n_settings):
        row_products = products_of(augmented_rows) if row_products is None else row_products
        weights = batch.times.astype(np.float64)
        rows_by_class = (np.flatnonzero(codes == class_index) for class_index in classes)
        weighted_products = (
            np.ascontiguousarray(weights[:, rows]) @ row_products[rows] for rows in rows_by_class
        )
        yield (
            batch,
            [rows_of_class.reshape(-1, p + 1, p + 1) for rows_of_class in weighted_products],
        )


@frozen(eq=False)
class _ClassMoments:
    """Class sizes, class means and scatter matrix of every fit, with a mask of reliable fits."""

    rule: DiscriminantRule
    is_reliable: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    scatter: np.ndarray
    max_abs_value: float

    @classmethod
    def from_rows(
        cls,
        products_by_class: list[np.ndarray],
        rule: DiscriminantRule,
        largest_values: np.ndarray,
        sums_of_squares: np.ndarray,
    ) -> _ClassMoments:
        sizes = np.stack([products[:, 0, 0] for products in products_by_class], axis=1)
        smallest_fit_sizes = sizes[sizes.sum(axis=1).argmin()]
        is_reliable = (sizes > 0).all(axis=1) & rule.can_fit(
            smallest_fit_sizes, len(largest_values)
        )
        positive_sizes = np.where(sizes > 0, sizes, 1)
        means = (
            np.stack([products[:, 0, 1:] for products in products_by_class], axis=1)
            / positive_sizes[..., None]
        )
        is_reliable &= rule.has_covariances(sizes) & rule.has_distinct_means(means)
        scatter, within_class_squares = _pooled_scatters(
            products_by_class, sizes, means, rule.scatter_factors(positive_sizes)
        )
        flat_column_threshold = (
            positive_sizes.sum(axis=1)[:, None] * (10 * FLAT_COLUMN_RATIO * largest_values) ** 2
        )
        is_reliable &= (
            (within_class_squares > flat_column_threshold)
            & (within_class_squares > MIN_REMAINING_SHARE * sums_of_squares)
        ).all(axis=1)
        return cls(rule, is_reliable, positive_sizes, means, scatter, float(largest_values.max()))

    def fit_discriminants(self, shrinkage: float) -> _FittedDiscriminants:
        """Return the slopes of all discriminants for one shrinkage, and a mask of precise fits."""
        rule, means, scatter = self.rule, self.means, self.scatter
        is_reliable, (n_classes, p) = self.is_reliable.copy(), means.shape[1:]
        if shrinkage:
            added_variance = shrinkage / p * np.einsum("fjj->f", scatter)
            scatter = (1 - shrinkage) * scatter + added_variance[:, None, None] * np.eye(p)
        inverse_scatters, scaled_inverse_trace = _invert_scatters(scatter, is_reliable)
        is_reliable &= scaled_inverse_trace * MIN_EIGENVALUE_SHARE <= p
        is_reliable &= rule.has_full_rank(1 / np.where(is_reliable, scaled_inverse_trace, 1))
        variances, inverse_trace = (
            np.einsum("fjj->fj", scatter),
            np.einsum("fjj->f", inverse_scatters),
        )
        is_reliable &= rule.keeps_all_directions(
            1 / np.where(is_reliable, inverse_trace, 1), variances.sum(axis=1)
        )
        condition_numbers = variances.sum(axis=1) * inverse_trace
        is_reliable &= rule.has_small_rounding_error(
            condition_numbers, self.max_abs_value, means @ inverse_scatters
        )
        centred_means = means - means.mean(axis=1, keepdims=True)
        slopes = centred_means @ inverse_scatters
        if rule.solver == "svd" and n_classes > 2:
            class_priors = np.exp(rule.log_priors(self.sizes))
            is_reliable &= has_distinct_means_for_svd(
                slopes @ centred_means.transpose(0, 2, 1), class_priors, rule.tol
            )
        return _FittedDiscriminants(rule, is_reliable, self.sizes, means, slopes)


@frozen(eq=False)
class _FittedDiscriminants:
    """Discriminant slopes `(fit, class, column)` of many fits, with a mask of reliable fits."""

    rule: DiscriminantRule
    is_reliable: np.ndarray
    sizes: np.ndarray
    means: np.ndarray
    slopes: np.ndarray

    def select(self, selection: np.ndarray) -> _FittedDiscriminants:
        """Return the discriminants of a subset of the fits."""
        arrays = (self.is_reliable, self.sizes, self.means, self.slopes)
        return _FittedDiscriminants(self.rule, *(array[selection] for array in arrays))

    def scores(self, X: np.ndarray, samples: WeightedFits) -> np.ndarray:
        """Return class scores `(test row, class)`, each by the discriminants of the row's fit.

        For one fit, `DiscriminantRule.scores` returns the same scores.
        """
        (fit_of_row, rows, _), (n_fits, n_classes) = samples.positions, self.slopes.shape[:2]
        overall_means = self.means.mean(axis=1, keepdims=True)
        centred_means = self.means - overall_means
        midpoint_scores = np.einsum("fkj,fkj->fk", overall_means + centred_means / 2, self.slopes)
        distance_factors, log_priors = (
            self.rule.distance_factor(self.sizes)[:, None],
            self.rule.log_priors(self.sizes),
        )
        scores = np.empty((len(rows), n_classes))
        fit_ends = np.searchsorted(fit_of_row, np.arange(n_fits + 1)).tolist()
        for fit, (first_index, end_index) in enumerate(pairwise(fit_ends)):
            np.matmul(
                X[rows[first_index:end_index]],
                self.slopes[fit].T * distance_factors[fit],
                out=scores[first_index:end_index],
            )
        scores += (log_priors - distance_factors * midpoint_scores)[fit_of_row]
        return scores


def _pooled_scatters(
    products_by_class: list[np.ndarray], sizes: np.ndarray, means: np.ndarray, factors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each fit's pooled scatter matrix, and the sums of squares within classes by column."""
    n_fits, _, p = means.shape
    scatter, within_class_squares = np.zeros((n_fits, p, p)), np.zeros((n_fits, p))
    for class_index, products in enumerate(products_by_class):
        scaled_means = np.sqrt(sizes[:, class_index])[:, None] * means[:, class_index]
        class_scatter = products[:, 1:, 1:] - scaled_means[:, :, None] * scaled_means[:, None, :]
        within_class_squares += np.einsum("fjj->fj", class_scatter)
        scatter += factors[:, class_index, None, None] * class_scatter
    return scatter, within_class_squares


def _invert_scatters(scatter: np.ndarray, is_reliable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Invert the reliable scatter matrices, and return each inverse's trace for scaled columns."""
    p = scatter.shape[1]
    column_scales = np.sqrt(np.maximum(np.einsum("fjj->fj", scatter), 0))
    column_scales = np.where(is_reliable[:, None] & (column_scales > 0), column_scales, 1)
    scaled_scatter = scatter / (column_scales[:, :, None] * column_scales[:, None, :])
    scaled_scatter[~is_reliable] = np.eye(p)
    inverse_trace = np.full(len(scatter), np.inf)
    try:
        inverse = np.linalg.inv(scaled_scatter)
    # If one matrix is singular, NumPy raises and inverts none of them.
    # All fits of the batch are then computed one by one.
    except np.linalg.LinAlgError:
        return np.zeros_like(scaled_scatter), inverse_trace
    inverse_trace[is_reliable] = np.einsum("fjj->f", inverse[is_reliable])
    inverse_trace[~(inverse_trace > 0)] = np.inf
    return inverse / (column_scales[:, :, None] * column_scales[:, None, :]), inverse_trace
