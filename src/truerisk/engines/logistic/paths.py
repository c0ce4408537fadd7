"""Engine for penalised logistic regression: one regularization path per training set.

It supports LogisticPath with candidates `at` and scikit-learn's LogisticRegression with candidates
`C`. The compiled code reads the rows of a fit directly from one column-major X.

For LogisticPath the engine performs exactly the iterations of LogisticPath.fit, so that predictions
agree to the bit. For LogisticRegression it returns the point at which the solver stops (`stops.py`,
decision 21), or, with `minimiser`, the minimum of the objective to about ten digits, whichever
solver is set. The penalty is λ = 1 / (C Σ w), with row weights w and the same C in training sets of
every size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import check_flag
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.core.progress import report_progress
from truerisk.core.registry import check_present, is_present
from truerisk.data.data import Data
from truerisk.engines.logistic.path_answers import RowsOfTestSet
from truerisk.engines.logistic.stops import (
    StoppedModels,
    fit_until_stop,
    matches_installed_solver,
    solver_refusal,
)
from truerisk.engines.prepared import as_dense, can_be_dense
from truerisk.engines.settings import Group, family_refusal
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.blocks import ALL
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.logistic.minima import LogisticFits

MINIMA_MODULE = "truerisk.engines.logistic.minima"


def _minima_module() -> ModuleType:
    """Return the module `minima`, or raise MissingBranch if it is not installed.

    LogisticPath and the option `minimiser` need this module.
    """
    check_present(MINIMA_MODULE)
    from truerisk.engines.logistic import minima

    return minima


@frozen
class LogisticPaths(OnePass):
    """Engine for LogisticPath over `at` and LogisticRegression over `C`, also in a pipeline.

    With `minimiser` the coefficients of a LogisticRegression are the minimum of its objective, for
    any solver and penalty, and not the point at which the solver stops.

    Parameters
    ----------
    minimiser : bool, default=False
        If True, the coefficients of a LogisticRegression are the minimum of its objective, not the
        point at which its solver stops.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.models.LogisticPath : An estimator that this engine supports.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = tr.datasets.make_simple(50, random_state=0)
    >>> engine = tr.engines.LogisticPaths(minimiser=True)
    >>> tr.estimate_risk(LogisticRegression(), X, y, engine=engine).engine
    'logistic-path'
    """

    name: ClassVar[str] = "logistic-path"
    along: ClassVar[tuple[str, ...]] = ("at", "C")
    compiled: ClassVar[bool] = True
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "freedom", "rules", "taken_out"})
    minimiser: bool = False

    def __post_init__(self) -> None:
        check_flag("minimiser", self.minimiser)

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.linear_model import LogisticRegression

        check_present("truerisk.models.logistic_path")
        from truerisk.models.logistic_path import LogisticPath

        return LogisticPath, LogisticRegression

    @override
    def learner_refusal(self, family: Family) -> str | None:
        if is_exactly(family.last, "sklearn.linear_model:LogisticRegression"):
            # This does not import LogisticPath, which a LogisticRegression does not need.
            return family_refusal(family, [type(family.last)])
        return super().learner_refusal(family)

    def _follows_solver(self, settings: Sequence[Mapping[str, Any]]) -> bool:
        """Return True if the engine takes the same steps as LogisticRegression's own solver."""
        return "C" in settings[0] and not self.minimiser

    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        """Return why the engine does not support a setting of LogisticRegression, or None.

        With `minimiser` the minimum of the objective is returned, wherever the solver would stop.
        Otherwise the point at which L-BFGS-B stops is returned, which requires scikit-learn's
        defaults except for C, `tol` and `max_iter`.

        Parameters
        ----------
        setting : dict
            All hyperparameters of the estimator for one candidate.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        inverse_penalty: Any = setting["C"]
        is_number = isinstance(inverse_penalty, int | float | np.number) and not isinstance(
            inverse_penalty, bool
        )
        if not is_number or not 0 < inverse_penalty < np.inf:
            return f"C={inverse_penalty!r} is no finite penalty."
        return (
            _minima_module().minimum_refusal(setting) if self.minimiser else solver_refusal(setting)
        )

    @override
    def settings_refusal(self, settings: Sequence[dict[str, Any]]) -> str | None:
        if not self._follows_solver(settings) and not is_present(MINIMA_MODULE):
            return f"{MINIMA_MODULE} is missing from this installation."
        if "C" in settings[0]:
            return super().settings_refusal(settings)
        reason: str | None = _minima_module().path_refusal(settings)
        return reason

    @override
    def table_refusal(self, family: Family, data: Data) -> str | None:
        is_logistic_path = (
            "at" in family.settings[0]
        )  # LogisticPath converts X to double precision.
        is_sparse, dtype = hasattr(data.X, "tocsr"), getattr(data.X, "dtype", None)
        is_single_precision = dtype is not None and dtype.kind == "f" and dtype.itemsize < 8
        if not is_sparse and not (is_logistic_path and is_single_precision):
            return super().table_refusal(family, data)
        if is_sparse and family.is_piped:
            return "X is sparse, and steps before the learner may make it anything."
        if data.X.dtype.kind not in "biuf" or len(data.X.shape) != 2:
            return "X is no table of numbers."
        if is_single_precision and not is_logistic_path:
            return "X is in single precision, and scikit-learn would compute in it."
        return "X has cells that are not finite." if data.non_finite else None

    @override
    def table(self, group: Group, data: Data) -> Any:
        follows_solver = self._follows_solver(group.settings)
        if group.rowwise is not None:
            X = super().table(group, data)
        else:
            X = as_dense(data.X) if follows_solver else data.X
        # The imitated solver reads rows as well as columns, so that X is not made column-major for
        # it.
        if X is None or follows_solver:
            return None if X is None else np.asarray(X, dtype=np.float64)
        return _minima_module().to_column_major(X)

    @override
    def read(self, group: Group, table: Any) -> np.ndarray:
        # Only LogisticPath computes with sparse tables in another way than with dense ones.
        is_logistic_regression = "C" in group.settings[0]
        return super().read(group, as_dense(table) if is_logistic_regression else table)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        follows_solver = self._follows_solver(family.settings)
        if follows_solver and not can_be_dense(data.X):
            return "X is sparse, and too large, or too empty, to be made a dense table."
        if follows_solver and not matches_installed_solver(data.n_classes > 2):
            return "the installed SciPy or scikit-learn takes other steps than those it follows."
        if plan.needs.keys() & {"rules", "freedom", "taken_out"}:
            reason = _request_refusal(family, data, plan, self.minimiser)
            if reason is not None:
                return reason
        # The only fit parameter that may be present is sample_weight.
        weights = next(iter(data.fit_params.values()), None)
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            if not np.isfinite(weights).all() or (weights < 0).any():
                return "weights are negative or not finite."
        if data.codes is None or data.codes.ndim != 1:
            return "y is not one class per row."
        return _classes_refusal(data, plan, weights)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        is_computed = np.zeros(task.plan.n_fits, dtype=bool)
        if task.X is None:
            return is_computed
        setting = task.group.settings[0]
        seeks_minima = self.minimiser and "C" in setting and not hasattr(task.X, "indptr")
        if seeks_minima and _minima_module().l1_ratio_of_setting(setting) == 0:
            is_computed |= _minima_module().predict_ridge_samples(task, task.X)
        for fit in np.flatnonzero(~is_computed).tolist():
            group = task.worth_trying(fit)
            if group is not None:
                self._store_predictions(task, group, fit)
            is_computed[fit] = True
            report_progress(fit + 1, task.plan.n_fits)
        return is_computed

    @override
    def rounds(self, group: Group) -> bool:
        # For LogisticPath the engine takes the same steps, so that there is no difference.
        return "C" in group.settings[0]

    @override
    def closing_notes(self, task: Task) -> list[str]:
        n_refitted = sum(map(len, task.collected.unresolved_candidates.values()))
        # Of all fits that reach max_iter, one is run again by scikit-learn to raise its warning.
        n_refitted += bool(task.collected.shared_warnings)
        if not n_refitted or not self._follows_solver(task.group.settings):
            return []
        n_candidates = len(task.group.candidates) if task.run.candidate_by_fit is None else 1
        n_fits = task.plan.n_fits * n_candidates
        cause = "rounding or max_iter decides where its solver stops."
        return [
            f"{n_refitted} of {n_fits} fits were left to scikit-learn's LogisticRegression: {cause}"
        ]

    def _store_predictions(self, task: Task, group: Group, fit: int) -> None:
        """Compute and store the predictions of a fit on rows of the table that all fits share."""
        rows, row_counts = task.plan.train_rows(fit)
        rows = rows if row_counts is None else np.repeat(rows, row_counts)
        weights = np.ones(len(rows)) if task.weights is None else task.weights[rows]
        codes = task.labels(fit)[rows]
        if hasattr(task.X, "indptr"):
            fitted_models = self._fit_candidates(
                task, group, fit, task.data.rows(rows), codes, weights, None
            )
        else:
            fitted_models = self._fit_candidates(task, group, fit, task.X, codes, weights, rows)
        if fitted_models is None:
            task.leave_open(fit, group.candidates)
            return
        training_rows = None
        if "taken_out" in task.plan.needs:
            training_rows = _minima_module().TrainingRows(
                task.X, rows, np.searchsorted(fitted_models.present_classes, codes), weights
            )
        test_set_rows = []
        for test_set_number in task.questions(fit):
            leaves_row_out = training_rows is not None and task.plan.without_row[test_set_number]
            test_rows = task.plan.test_rows(test_set_number)[0]
            test_set_rows.append(
                RowsOfTestSet(task.X, test_rows, training_rows if leaves_row_out else None)
            )
        predictions = fitted_models.answers(task, fit, test_set_rows)
        for test_set_number, test_set_predictions in zip(
            task.questions(fit), predictions, strict=True
        ):
            task.place(int(test_set_number), group, test_set_predictions)

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        row_numbers = np.arange(len(shown.rows))
        rows = row_numbers if shown.times is None else np.repeat(row_numbers, shown.times)
        weights = np.ones(len(rows)) if shown.weights is None else shown.weights[rows]
        X = (
            shown.X
            if self._follows_solver(group.settings)
            else _minima_module().to_column_major(shown.X)
        )
        fitted_models = self._fit_candidates(
            task, group, shown.fit, X, shown.y[rows], weights, rows
        )
        return (
            None
            if fitted_models is None
            else fitted_models.answers(task, shown.fit, [RowsOfTestSet(X, None) for X in tests])
        )

    def _fit_candidates(
        self,
        task: Task,
        group: Group,
        fit: int,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray,
        rows: np.ndarray | None,
    ) -> LogisticFits | StoppedModels | None:
        """Fit every candidate on `rows` of X (None: all rows), and return the fitted models."""
        if rows is not None and self._follows_solver(group.settings):
            return fit_until_stop(group, X, codes, weights, rows)
        has_all_rows = rows is not None and np.array_equal(rows, np.arange(X.shape[0]))
        fit_arguments = task, group, fit, X, codes, weights
        fitted_models: LogisticFits = _minima_module().fit_path(
            *fit_arguments, None if has_all_rows else rows
        )
        return fitted_models


def _request_refusal(family: Family, data: Data, plan: Plan, minimiser: bool) -> str | None:
    """Return why requested facts about the fitted models cannot be computed, or None.

    They are available for LogisticPath that is fitted on rows of X itself, not in a pipeline.
    """
    if family.is_piped:
        return "linear rules and what else is asked of a fit itself is not read after other steps."
    settings = family.settings
    if "at" not in settings[0] and not minimiser:
        return "what is asked of a fitted LogisticRegression itself is read where its solver stops."
    if "taken_out" in plan.needs:
        if "C" in settings[0] and any(
            _minima_module().l1_ratio_of_setting(setting) for setting in settings
        ):
            return "which columns an L1 penalty selects, nearly, is up to the solver."
        if data.n_classes > 2:
            return "a row is taken out of a fit on two classes only."
        return (
            None if plan.blocks.counts is None else "copies of a row are not taken out one by one."
        )
    if "at" not in settings[0]:
        return "linear rules and degrees of freedom are stated for LogisticPath only."
    if "freedom" in plan.needs and any(
        candidate_setting["l1_ratio"] != 1 for candidate_setting in settings
    ):
        return "degrees of freedom are stated for l1_ratio=1 only."
    return None


def _classes_refusal(data: Data, plan: Plan, weights: np.ndarray | None) -> str | None:
    """Return why the engine refuses if a training set has only one class, or None if none has."""
    class_sizes = data.class_sizes
    has_unmodified_rows = (
        "flips" not in plan.needs and weights is None and plan.blocks.counts is None
    )
    if has_unmodified_rows and (class_sizes > plan.n_rows - plan.train_sizes.min()).sum() >= 2:
        return None
    for fit in np.flatnonzero(~_has_two_classes(plan, data.class_codes, weights)).tolist():
        rows, _ = plan.train_rows(fit)
        codes = data.class_codes
        if plan.extra is not None:
            codes = plan.extra.labels(fit, codes)
        if weights is not None:
            rows = rows[weights[rows] > 0]
        if len(np.unique(codes[rows])) < 2:
            return "a fit sees one class only."
    return None


def _has_two_classes(plan: Plan, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return True for fits on one block, a bootstrap sample, that has two or more classes."""
    blocks, has_two_classes = plan.blocks, np.zeros(plan.n_fits, dtype=bool)
    if weights is not None or "flips" in plan.needs or not blocks.sizes.all():
        return has_two_classes
    codes_in_blocks, block_starts = codes[blocks.rows], blocks.offsets[:-1]
    has_several_classes = np.maximum.reduceat(codes_in_blocks, block_starts) > np.minimum.reduceat(
        codes_in_blocks, block_starts
    )
    base_blocks = plan.train.base
    is_one_block = (base_blocks != ALL) & (np.diff(plan.train.offsets) == 0)
    has_two_classes[is_one_block] = has_several_classes[base_blocks[is_one_block]]
    return has_two_classes
