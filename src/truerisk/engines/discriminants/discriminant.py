"""Engine for linear discriminants: one decomposition serves all shrinkages and left-out rows.

The scatter matrix of a training set is inverted once: by Cholesky without shrinkage, and by its
eigenvectors for any number of shrinkages, which do not change the eigenvectors. Many fits of few
columns are computed together (`weighted_samples.py`), and so are all fits on all rows but one
(`left_out.py`). If scikit-learn would have to decide a rank, or if the result has too few correct
digits, the estimator of scikit-learn is fitted itself.

Rounding errors of scikit-learn in the scores of shrunk linear discriminants:

In all directions that are orthogonal to the training rows, the shrunk covariance C = (1 − s) A + s
tr(A)/p I has the same eigenvalue s tr(A)/p. If there are more columns than rows, the computation
uses as many columns as there are rows (`turned.py`), and no p × p matrix is formed. scikit-learn
forms this matrix, and solves for the class means without centring them: its rounding changes the
score of a row x for the class with mean m by up to

    ε λ |C⁻¹x| |C⁻¹m|

where ε is the machine precision and λ is the largest eigenvalue of C. If the margin of a label is
smaller, scikit-learn's estimator is fitted to decide the label. The rounding error has no preferred
direction, and each of the two directions among p that matter gets a share of 1/√p of it: no score
was ever seen to change by more than 3/√p of the bound. If such a change would affect digits of the
requested scores or probabilities, scikit-learn's estimator is fitted as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.discriminants.left_out import DiscriminantsWithoutRow, LeaveOneOutFits
from truerisk.engines.discriminants.rule import (
    MAX_ROUNDING_ERROR,
    DiscriminantRule,
    has_tied_labels,
    predictions_from_scores,
    setting_refusal,
    shrinkage_of_setting,
    solve_shrunk_system,
)
from truerisk.engines.discriminants.scatter import (
    RowsByClass,
    ScatterSpectrum,
    compute_scatter_spectrum,
)
from truerisk.engines.discriminants.weighted_samples import predict_samples
from truerisk.engines.settings import NOT_IN_GROUP, Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.engines.templates.turned import RotatedRows, is_wide, rotate_about_mean
from truerisk.kernels.spectral import EPS
from truerisk.plan.plan import Plan


@frozen
class LinearDiscriminants(OnePass):
    """Engine for LinearDiscriminantAnalysis and LinearDiscriminant, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.QuadraticDiscriminants : Engine for quadratic discriminant analysis.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.LinearDiscriminants()
    >>> tr.estimate_risk(tr.models.LinearDiscriminant(), X, y, engine=engine).engine
    'discriminant'
    """

    name: ClassVar[str] = "discriminant"
    along: ClassVar[tuple[str, ...]] = ("shrinkage", "tol")
    weighted: ClassVar[bool] = False

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        check_present("truerisk.models.discriminant_analysis")
        from truerisk.models.discriminant_analysis import LinearDiscriminant

        return LinearDiscriminantAnalysis, LinearDiscriminant

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return setting_refusal(setting)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        settings = family.settings
        prior_lengths = {
            len(setting["priors"]) for setting in settings if setting["priors"] is not None
        }
        if prior_lengths - {data.n_classes}:
            return f"there are {min(prior_lengths)} priors, and y has {data.n_classes} classes."
        if family.is_piped or any(shrinkage_of_setting(setting) for setting in settings):
            return None
        n, p = data.n_rows, np.shape(data.X)[1]
        if n - data.n_classes < p:
            return f"a {p} x {p} scatter of {n} rows has no inverse, and it is not shrunk."
        return None

    @override
    def shares_work(self, group: Group) -> bool:
        return super().shares_work(group) or not all(map(shrinkage_of_setting, group.settings))

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        is_computed = np.zeros(task.plan.n_fits, dtype=bool)
        is_pending = ~is_computed if task.places is None else task.places != NOT_IN_GROUP
        if not is_pending.any() or (X := _shared_table(task)) is None:
            return is_computed
        loo_fits = LeaveOneOutFits.from_plan(task.plan)
        is_pending[loo_fits.fits] = False
        is_computed |= predict_samples(task, X, is_pending)
        if task.X is None:  # With a shared X, the remaining fits need no scaler of their own.
            for fit in np.flatnonzero(is_pending & ~is_computed):
                self.answer_fit(replace(task, X=X), int(fit))
            is_computed |= is_pending
        if not len(loo_fits.fits):
            return is_computed
        classes = RowsByClass.from_rows(X, task.data.class_codes)
        discriminants_without_row = DiscriminantsWithoutRow(
            classes, DiscriminantRule.from_settings(task.group.settings)
        )
        for class_index in np.flatnonzero(classes.sizes > 1):
            fits_of_class = loo_fits.take(classes.class_of_row[loo_fits.rows] == class_index)
            is_reliable = np.ones(task.plan.n_fits, dtype=bool)
            for candidate_index in range(len(task.group.settings)):
                is_reliable &= ~_store_left_out_predictions(
                    task,
                    candidate_index,
                    fits_of_class.take(fits_of_class.needs_candidate(task, candidate_index)),
                    discriminants_without_row,
                    int(class_index),
                )
            is_computed[fits_of_class.fits] = is_reliable[fits_of_class.fits]
        return is_computed

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        rule = DiscriminantRule.from_settings(group.settings)
        linear_fit = _LinearFit.from_training(
            shown, rule, [shrinkage_of_setting(setting) for setting in group.settings]
        )
        if linear_fit is None:
            return None
        is_unresolved = np.zeros(len(group.candidates), dtype=bool)
        predictions = []
        for rows in tests:
            scores, is_unsure = linear_fit.scores(rows, task.request)
            is_unresolved |= is_unsure
            predictions.append(
                predictions_from_scores(
                    scores, linear_fit.classes.present_classes, task.request, task.data.n_classes
                )
            )
        if is_unresolved.any():
            task.leave_open(shown.fit, group.candidates[is_unresolved])
        return predictions


@frozen(eq=False)
class _LinearFit:
    """Linear discriminants of one training set, for candidates with and without shrinkage.

    The fields hold the slopes without shrinkage and the fit with shrinkage. Candidates whose slopes
    or shrunk fit are None are left to scikit-learn's estimator.
    """

    rule: DiscriminantRule
    classes: RowsByClass
    shrinkages: list[float]
    unshrunk_slopes: np.ndarray | None
    shrunk_fit: ShrunkFit | None

    @classmethod
    def from_training(
        cls, shown: Shown, rule: DiscriminantRule, shrinkages: list[float]
    ) -> _LinearFit | None:
        """Fit the candidates on a training set. Return None if scikit-learn would fail or warn."""
        positive_shrinkages = [shrinkage for shrinkage in shrinkages if shrinkage]
        rotated_rows = (
            rotate_about_mean(shown.X) if positive_shrinkages and is_wide(shown.X) else None
        )
        classes = RowsByClass.from_rows(
            shown.X if rotated_rows is None else rotated_rows.train_rows, shown.y, shown.times
        )
        means = classes.means if rotated_rows is None else classes.means - rotated_rows.origin
        is_free_of_warnings = rule.has_covariances(classes.sizes) and rule.has_distinct_means(means)
        if not (is_free_of_warnings and rule.can_fit(classes.sizes, shown.X.shape[1])):
            return None
        unshrunk_slopes = (
            rule.unshrunk_slopes(classes) if len(positive_shrinkages) < len(shrinkages) else None
        )
        shrunk_fit = (
            ShrunkFit.from_rows(shown.X, rotated_rows, classes, rule, min(positive_shrinkages))
            if positive_shrinkages
            else None
        )
        return cls(rule, classes, shrinkages, unshrunk_slopes, shrunk_fit)

    def scores(self, rows: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
        """Return scores `(candidate, row, class)` and a mask of candidates that rounding affects.

        scikit-learn will fit the candidates in the mask.
        """
        scores = np.zeros((len(self.shrinkages), len(rows), len(self.classes.present_classes)))
        is_unresolved = np.zeros(len(self.shrinkages), dtype=bool)
        for candidate_index, shrinkage in enumerate(self.shrinkages):
            if shrinkage and self.shrunk_fit is not None:
                scores_with_bounds = self.shrunk_fit.scores(rows, shrinkage)
                is_unresolved[candidate_index] = scores_with_bounds is None
                if scores_with_bounds is not None:
                    scores[candidate_index] = scores_with_bounds[0]
                    is_unresolved[candidate_index] = is_changed_by_rounding(
                        *scores_with_bounds, rows.shape[1], request
                    ).any()
            elif self.unshrunk_slopes is not None:
                scores[candidate_index] = self.rule.scores(self.classes, self.unshrunk_slopes, rows)
            else:
                is_unresolved[candidate_index] = True
        return scores, is_unresolved | has_tied_labels(scores, request).any(axis=1)


def _store_left_out_predictions(
    task: Task,
    candidate_index: int,
    requested_fits: LeaveOneOutFits,
    discriminants_without_row: DiscriminantsWithoutRow,
    class_index: int,
) -> np.ndarray:
    """Store one candidate's predictions for left-out rows; return a mask of fits without them."""
    is_left_to_fit = np.zeros(task.plan.n_fits, dtype=bool)
    if not len(requested_fits.fits):
        return is_left_to_fit
    scores_with_mask = discriminants_without_row.scores(
        requested_fits.rows, class_index, shrinkage_of_setting(task.group.settings[candidate_index])
    )
    if scores_with_mask is None:
        for fit in requested_fits.fits:
            task.leave_open(fit, task.group.candidates[candidate_index : candidate_index + 1])
        return is_left_to_fit
    scores, is_reliable = scores_with_mask
    requested_fits.take(is_reliable).store_predictions(
        task,
        candidate_index,
        scores[is_reliable],
        discriminants_without_row.classes.present_classes,
    )
    is_left_to_fit[requested_fits.fits[~is_reliable]] = True
    return is_left_to_fit


def _shared_table(task: Task) -> np.ndarray | None:
    """Return one preprocessed table X for all fits, or None if each fit needs its own.

    A StandardScaler is fitted on every training set, but without shrinkage the predictions do not
    depend on the scaling, so that a scaler fitted on all rows serves all fits.
    """
    preprocessed_table: np.ndarray | None = task.X
    if preprocessed_table is not None:
        return preprocessed_table
    steps = [step for _, step in task.group.preparation.steps]
    has_only_scalers = all(
        is_exactly(step, "sklearn.preprocessing:StandardScaler") for step in steps
    )
    if not has_only_scalers or any(
        shrinkage_of_setting(setting) for setting in task.group.settings
    ):
        return None
    return task.prepared_by_all_rows()


ROUNDING_BOUND_SHARE = (
    # Rounding is assumed to change scores of p columns by ROUNDING_BOUND_SHARE/√p of its upper
    # bound.
    4.0
)


@frozen(eq=False)
class ShrunkFit:
    """Class means and scatter spectrum of a training set.

    `rotated_rows` holds the rows if they are rotated, else None.
    """

    classes: RowsByClass
    rule: DiscriminantRule
    spectrum: ScatterSpectrum
    rotated_rows: RotatedRows | None
    max_abs_value: float

    @classmethod
    def from_rows(
        cls,
        X: np.ndarray,
        rotated_table: RotatedRows | None,
        classes: RowsByClass,
        rule: DiscriminantRule,
        least_shrinkage: float,
    ) -> ShrunkFit:
        """Decompose the scatter matrix of the training rows, which X holds without rotation."""
        scatter_rows, scatter_factor = classes.scatter_rows(rule.scatter_factors(classes.sizes))
        p = X.shape[1]
        least_added_variance = (
            least_shrinkage
            / p
            * scatter_factor
            * float(np.einsum("ij,ij->", scatter_rows, scatter_rows))
        )
        spectrum = compute_scatter_spectrum(
            scatter_rows, scatter_factor, n_features=p, added_variance=least_added_variance
        )
        max_abs_value = classes.max_abs_value if rotated_table is None else float(np.abs(X).max())
        return cls(classes, rule, spectrum, rotated_table, max_abs_value)

    def scores(
        self, test_rows: np.ndarray, shrinkage: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return scores of test rows, and a bound on scikit-learn's rounding error for each score.

        The bound is the formula in the module's docstring; 0 means that no score changes. The
        result is None if the scores would have too few correct digits.
        """
        classes = self.classes
        rotation_centre: Any = 0.0 if self.rotated_rows is None else self.rotated_rows.origin
        slopes = self._solve_shrunk_system(classes.means - classes.means.mean(axis=0), shrinkage)
        solution_for_means = self._solve_shrunk_system(classes.means - rotation_centre, shrinkage)
        if slopes is None or solution_for_means is None:
            return None
        rows, orthogonal_lengths = (
            (test_rows, 0.0) if self.rotated_rows is None else self.rotated_rows.rotate(test_rows)
        )
        scores = self.rule.scores(classes, slopes[0], rows)
        if self.rotated_rows is None and self.rule.has_small_rounding_error(
            solution_for_means[1], self.max_abs_value, solution_for_means[0]
        ):
            return scores, np.zeros(len(test_rows))
        solution_for_rows = self._solve_shrunk_system(rows - rotation_centre, shrinkage)
        # The system has a solution for the class means, so that it has one for the rows, too.
        assert solution_for_rows is not None
        added_variance = shrinkage * self.spectrum.trace / self.spectrum.n_features
        largest_eigenvalue = (1 - shrinkage) * self.spectrum.values.max() + added_variance
        row_solution_lengths = np.hypot(
            np.sqrt((solution_for_rows[0] ** 2).sum(axis=1)), orthogonal_lengths / added_variance
        )
        max_mean_solution_length = np.sqrt((solution_for_means[0] ** 2).sum(axis=1).max())
        rounding_bounds: np.ndarray = (
            EPS
            * largest_eigenvalue
            * (row_solution_lengths + max_mean_solution_length)
            * max_mean_solution_length
        )
        return scores, rounding_bounds

    def _solve_shrunk_system(
        self, rows: np.ndarray, shrinkage: float
    ) -> tuple[np.ndarray, float] | None:
        return solve_shrunk_system(self.spectrum, rows, shrinkage, self.max_abs_value)


def is_changed_by_rounding(
    scores: np.ndarray, rounding_bounds: np.ndarray, n_features: int, request: Request
) -> np.ndarray:
    """Return True for rows whose label or score in scikit-learn may be changed by rounding."""
    two_best_scores = np.partition(scores, -2, axis=-1)[..., -2:]
    margin = two_best_scores[..., 1] - two_best_scores[..., 0]
    if request.response == "label":
        is_changed: np.ndarray = (margin <= 2 * rounding_bounds) & (rounding_bounds > 0)
    else:
        is_changed = min(
            1.0, ROUNDING_BOUND_SHARE / n_features**0.5
        ) * rounding_bounds > MAX_ROUNDING_ERROR * (1 + margin)
    return is_changed
