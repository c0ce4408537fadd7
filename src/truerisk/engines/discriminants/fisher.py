"""Engine for FisherClassifier: one hat matrix gives the predictions for all left-out rows.

The least-squares fit without row i predicts t_i − e_i/(1 − h_i) for this row, where e_i is the
residual, h_i the leverage, and t_i the numeric code of the row's class. With the balanced threshold
the class means change as well. With sample weights all sums are weighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.discriminants.left_out import LeaveOneOutFits
from truerisk.engines.discriminants.rule import has_tied_labels, predictions_from_scores
from truerisk.engines.discriminants.scatter import (
    FLAT_COLUMN_RATIO,
    ScatterRoot,
    compute_scatter_root,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.spectral import EPS
from truerisk.models.fisher_classifier import THRESHOLD_RULES, signed_indicators
from truerisk.plan.plan import Plan

# Smallest accepted value of 1 − leverage; at 0 the fit without the row is not unique.
MIN_ONE_MINUS_LEVERAGE = 1e-5
# In the fit on all rows, singular values must exceed MIN_RATIO_TO_CUTOFF times NumPy's cut-off.
# Removing one row multiplies a singular value by √MIN_ONE_MINUS_LEVERAGE at worst.
MIN_RATIO_TO_CUTOFF = 1e4


@frozen
class FisherDiscriminants(OnePass):
    """Engine for FisherClassifier, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.models.FisherClassifier : The learner.

    Examples
    --------
    >>> import truerisk as tr
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.FisherDiscriminants()
    >>> tr.estimate_risk(tr.models.FisherClassifier(), X, y, engine=engine).engine
    'fisher'
    """

    name: ClassVar[str] = "fisher"
    along: ClassVar[tuple[str, ...]] = ()

    @override
    def learners(self) -> Sequence[type]:
        check_present("truerisk.models.fisher_classifier")
        from truerisk.models.fisher_classifier import FisherClassifier

        return (FisherClassifier,)

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        if setting["threshold"] not in THRESHOLD_RULES:
            return f"threshold={setting['threshold']!r} is unknown."
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if family.is_piped or data.n_rows > np.shape(data.X)[1] + 1:
            return None
        return f"the least squares of {data.n_rows} rows have no unique solution."

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        is_computed = np.zeros(task.plan.n_fits, dtype=bool)
        loo_fits = LeaveOneOutFits.from_plan(task.plan)
        if task.X is None or not len(loo_fits.fits):
            return is_computed
        code_regression = _ClassCodeRegression.from_rows(
            task.X, task.data.class_codes, task.weights
        )
        if code_regression is None:
            return is_computed
        requested_fits = loo_fits.take(loo_fits.needs_candidate(task, 0))
        values, is_reliable = code_regression.predict_left_out_rows(
            requested_fits.rows, task.group.settings[0]["threshold"]
        )
        requested_fits.take(is_reliable).store_predictions(
            task, 0, _class_scores(values[is_reliable]), code_regression.present_classes
        )
        is_computed[requested_fits.fits[is_reliable]] = True
        return is_computed

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        code_regression = _ClassCodeRegression.from_rows(shown.X, shown.y, shown.all_weights)
        if code_regression is None:
            return None
        predictions = []
        for rows in tests:
            scores = _class_scores(code_regression.predict(rows, group.settings[0]["threshold"]))
            if has_tied_labels(scores, task.request).any():
                task.leave_open(shown.fit, group.candidates)
            test_predictions = predictions_from_scores(
                scores, code_regression.present_classes, task.request, task.data.n_classes
            )
            predictions.append(test_predictions[None])
        return predictions


def _keeps_all_singular_values(scatter_root: ScatterRoot, n_rows: int) -> bool:
    """Return True if NumPy's least-squares solver drops no singular value of the table.

    It would drop a singular value that is too small. The smallest singular value of the columns is
    at least 1/√trace, which bounds that of the scaled columns, times the smallest scale.
    """
    cutoff = (
        EPS
        * max(n_rows, len(scatter_root.column_scales))
        * np.linalg.norm(scatter_root.column_scales)
    )
    return bool(
        scatter_root.column_scales.min()
        > MIN_RATIO_TO_CUTOFF * cutoff * scatter_root.inverse_trace**0.5
    )


def _class_scores(values: np.ndarray) -> np.ndarray:
    """Convert regression values to one score per class; of two classes, the first has score 0."""
    if values.shape[1] > 1:
        return values
    return np.concatenate([np.zeros_like(values), values], axis=1)


@frozen(eq=False)
class _ClassCodeRegression:
    """Least-squares regression of class codes on X, which can also be computed without one row."""

    X: np.ndarray
    targets: np.ndarray
    class_of_row: np.ndarray
    present_classes: np.ndarray
    weights: np.ndarray
    scatter_root: ScatterRoot
    slopes: np.ndarray
    column_means: np.ndarray
    target_mean: np.ndarray

    @classmethod
    def from_rows(
        cls, X: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None
    ) -> _ClassCodeRegression | None:
        """Regress the class codes on X by least squares; return None if the result is unreliable.

        The result is None if the solution is not unique, if it has too few correct digits, or if
        there is one class only.
        """
        present_classes, class_index = np.unique(codes, return_inverse=True)
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        if len(present_classes) < 2 or not weights.any():
            return None
        targets = signed_indicators(class_index, len(present_classes))
        total_weight = weights.sum()
        column_means = X[0] + weights @ (X - X[0]) / total_weight
        target_mean = weights @ targets / total_weight
        centred_rows = X - column_means
        sums_of_squares = np.einsum("i,ij,ij->j", weights, centred_rows, centred_rows)
        if (
            sums_of_squares <= total_weight * (FLAT_COLUMN_RATIO * np.abs(X).max(axis=0)) ** 2
        ).any():
            return None
        scatter_root = compute_scatter_root(np.sqrt(weights)[:, None] * centred_rows)
        if scatter_root is None or not _keeps_all_singular_values(scatter_root, len(X)):
            return None
        slopes = scatter_root.solve((weights[:, None] * (targets - target_mean)).T @ centred_rows).T
        return cls(
            X,
            targets,
            class_index,
            present_classes,
            weights,
            scatter_root,
            slopes,
            column_means,
            target_mean,
        )

    def predict(self, rows: np.ndarray, threshold: str) -> np.ndarray:
        """Return the regression values of rows, with the intercept that belongs to `threshold`."""
        column_offset, target_offset = self.column_means, self.target_mean
        if threshold == "balanced":
            means, _ = self._class_means()
            has_weight = np.isfinite(means).all(axis=1)
            column_offset = means[has_weight].mean(axis=0)
            target_offset = signed_indicators(
                np.flatnonzero(has_weight), len(self.present_classes)
            ).mean(axis=0)
        return (rows - column_offset) @ self.slopes + target_offset

    def predict_left_out_rows(
        self, rows: np.ndarray, threshold: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict each row by the fit without it; return values and a mask of reliable values."""
        weights, class_index = self.weights[rows], self.class_of_row[rows]
        centred_rows = self.X[rows] - self.column_means
        whitened_rows = self.scatter_root.whiten(centred_rows)
        leverage = weights * (
            1 / self.weights.sum() + np.einsum("ij,ij->i", whitened_rows, whitened_rows)
        )
        one_minus_leverage = 1 - leverage
        is_reliable: np.ndarray = (one_minus_leverage > MIN_ONE_MINUS_LEVERAGE) & (
            np.bincount(self.class_of_row)[class_index] > 1
        )
        residuals = self.targets[rows] - self.target_mean - centred_rows @ self.slopes
        with np.errstate(divide="ignore", invalid="ignore"):
            residuals_without_row = residuals / one_minus_leverage[:, None]
            if threshold == "least-squares":
                return self.targets[rows] - residuals_without_row, is_reliable
            means, class_weights = self._class_means()
            remaining_weights = class_weights[class_index] - weights
            is_reliable &= np.isfinite(means).all() & (remaining_weights > 0)
            mean_shift = (weights / (remaining_weights * len(means)))[:, None] * (
                self.X[rows] - means[class_index]
            )
            offsets = self.X[rows] - means.mean(axis=0) + mean_shift
            cross_products = np.einsum("ij,ij->i", self.scatter_root.whiten(offsets), whitened_rows)
            target_offset = signed_indicators(np.arange(len(means)), len(means)).mean(axis=0)
            values = (
                target_offset
                + offsets @ self.slopes
                - (weights * cross_products)[:, None] * residuals_without_row
            )
        return values, is_reliable

    def _class_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return each class's weighted mean row (NaN if its weight is 0), and its total weight."""
        membership_weights = (
            self.class_of_row == np.arange(len(self.present_classes))[:, None]
        ) * self.weights
        class_weights = membership_weights.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return membership_weights @ self.X / class_weights[:, None], class_weights
