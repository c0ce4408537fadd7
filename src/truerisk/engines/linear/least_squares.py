"""Engine for least squares and ridge regression: all penalties and all left-out rows at once.

One decomposition of the training set serves every penalty (`fit.py`). Fits on rows of the same
table share matrix products (`shared_rows.py`), and leaving out each row in turn costs one
decomposition of all rows (`singles.py`). If rounding could change predictions, in this arithmetic
or in scikit-learn's, scikit-learn's estimator is fitted: this concerns ties of classes, rows of
leverage 1, and coefficients that the data hardly determine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.linear.fit import (
    SolverSettings,
    TargetCoding,
    TrainSet,
    degrees_of_freedom,
    solve_and_predict,
)
from truerisk.engines.linear.shared_rows import SharedRows
from truerisk.engines.linear.singles import LeaveOneOutLeastSquares
from truerisk.engines.linear.without_blocks import predict_without_blocks
from truerisk.engines.prepared import call_or_none, to_dense_float64
from truerisk.engines.settings import Group
from truerisk.engines.templates.fits_of_one_table import find_single_row_fits
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.plan import Plan

EXACT_SOLVERS = ("auto", "svd", "cholesky")


@frozen
class LeastSquares(OnePass):
    """Engine for LinearRegression, Ridge and RidgeClassifier, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.ElasticNets : Engine for penalties with absolute values.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> X, y = tr.datasets.FieldProblem(task="regression")(60, random_state=0)
    >>> engine = tr.engines.LeastSquares()
    >>> tr.estimate_risk(Ridge(), X, y, engine=engine).engine
    'least-squares'
    """

    name: ClassVar[str] = "least-squares"
    along: ClassVar[tuple[str, ...]] = ("alpha",)
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "freedom"})

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

        return LinearRegression, Ridge, RidgeClassifier

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        if setting["positive"] is not False:
            return "positive=True is solved step by step: there is no closed form."
        for name, is_allowed in PARAMETER_CHECKS.items():
            if name in setting and not is_allowed(setting[name]):
                return f"{name}={setting[name]!r} is nothing that scikit-learn allows."
        solver = setting.get("solver", "auto")
        if solver not in EXACT_SOLVERS:
            return f"solver={solver!r} stops near the solution and does not compute it."
        return penalty_refusal(setting["alpha"]) if "alpha" in setting else None

    @override
    def settings_refusal(self, settings: Sequence[dict[str, Any]]) -> str | None:
        first_setting = settings[
            0
        ]  # Most settings differ from the first one in nothing but their penalty.
        other_names = [name for name in first_setting if name != "alpha"]
        for setting in settings:
            differs_in_penalty = setting is not first_setting and all(
                setting[name] is first_setting[name] for name in other_names
            )
            penalty_reason = (
                penalty_refusal(setting["alpha"])
                if differs_in_penalty and "alpha" in setting
                else None
            )
            reason = penalty_reason if differs_in_penalty else self.setting_refusal(setting)
            if reason is not None:
                return reason
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if "freedom" in plan.needs and family.is_piped:
            return "degrees of freedom after other steps are asked of the fits."
        return weights_refusal(data)

    @override
    def shares_work(self, group: Group) -> bool:
        return (
            super().shares_work(group)
            or not SolverSettings.from_setting(group.settings[0]).is_penalised
        )

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        setting = task.group.settings[0]
        solver, penalties = SolverSettings.from_setting(setting), _penalties(task.group)
        no_fits = np.zeros(task.plan.n_fits, dtype=bool)
        if setting.get("class_weight") is not None:
            return no_fits
        is_single_row_fit, changed_rows = find_single_row_fits(task.plan)
        fits_with_df = (
            np.empty(0, np.int32)
            if task.collected.extra is None
            else task.collected.extra.freedom_fits
        )
        is_single_row_fit[fits_with_df] = (
            False  # Fits that report degrees of freedom are computed one by one.
        )
        if task.X is None and solver.is_penalised:
            X = (
                call_or_none(lambda: to_dense_float64(task.data.X))
                if _only_standardises(task)
                else None
            )
            if X is None:
                return no_fits
            block_arguments = replace(task, X=X), solver, penalties, is_single_row_fit
            return predict_without_blocks(*block_arguments, is_standardised=True)
        if task.X is None:
            scaled_task = _scale_by_all_rows(task, solver) if is_single_row_fit.any() else None
            if scaled_task is None:
                return no_fits
            return LeaveOneOutLeastSquares(
                SharedRows(scaled_task, solver, penalties),
                is_single_row_fit,
                changed_rows,
                scales_columns=True,
            ).predict_and_store()
        shared_rows = SharedRows(task, solver, penalties)
        is_computed = (
            LeaveOneOutLeastSquares(
                shared_rows, is_single_row_fit, changed_rows
            ).predict_and_store()
            if is_single_row_fit.any()
            else no_fits
        )
        is_computed |= predict_without_blocks(task, solver, penalties, is_single_row_fit)
        for fit in np.setdiff1d(np.flatnonzero(~is_single_row_fit & ~is_computed), fits_with_df):
            is_computed[fit] = shared_rows.store_predictions(int(fit))
        return is_computed

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        coding = TargetCoding.from_data(task.data, task.request.response, shown.y)
        setting = group.settings[0]
        weights = _multiply_class_weights(setting.get("class_weight"), shown, task.data)
        if coding is None or weights is INVALID_WEIGHTS:
            return None
        solver = SolverSettings.from_setting(setting)
        n_training_rows = len(shown.rows) if shown.times is None else int(shown.times.sum())
        Y = coding.to_numbers(shown.y)
        train = TrainSet.from_rows(shown.X, Y, weights, n_training_rows, solver.intercept)
        if train is None:
            return None
        predicted_numbers, is_unresolved = solve_and_predict(
            train, np.concatenate(tests), solver, _penalties(group)
        )
        predictions, is_tied = coding.to_predictions(predicted_numbers)
        if task.collected.extra is not None and shown.fit in task.collected.extra.freedom_fits:
            effective_parameters, is_unclear = degrees_of_freedom(train, solver, _penalties(group))
            task.collected.extra.freedom[task.lines_of(group), shown.fit] = effective_parameters
            is_unresolved = is_unresolved | is_unclear
        task.leave_open(shown.fit, group.candidates[is_unresolved | is_tied.any(axis=1)])
        return np.split(predictions, np.cumsum([len(test) for test in tests])[:-1], axis=1)


def penalty_refusal(alpha: Any) -> str | None:
    """Return why `alpha` cannot be used as one penalty for all targets, or None if it can."""
    if np.ndim(alpha):
        return "alpha holds one penalty per target."
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < np.inf:
        return f"alpha={alpha!r} is no penalty."
    return None


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_count(value: Any) -> bool:
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool))


def _is_tolerance(value: Any) -> bool:
    return isinstance(value, Real) and 0 <= float(value) < np.inf


def _is_class_weight(value: Any) -> bool:
    return value is None or isinstance(value, dict) or str(value) == "balanced"


PARAMETER_CHECKS = {
    "fit_intercept": _is_bool,
    "copy_X": _is_bool,
    "tol": _is_tolerance,
    "n_jobs": _is_count,
    "max_iter": lambda value: _is_count(value) and (value is None or value > 0),
    "class_weight": _is_class_weight,
}
INVALID_WEIGHTS = np.empty(0)
SCALERS = tuple(
    f"sklearn.preprocessing:{name}"
    for name in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
)


def _penalties(group: Group) -> np.ndarray:
    """Return the penalty `alpha` of each candidate, which is 0 for LinearRegression."""
    if "alpha" not in group.settings[0]:
        return np.zeros(len(group.candidates))
    return group.values("alpha").astype(np.float64)


def weights_refusal(data: Data) -> str | None:
    """Return a sentence that names the parameter with invalid sample weights, or None.

    A weight is invalid if it is negative or not finite.
    """
    for name, values in data.fit_params.items():
        weights = np.asarray(values, dtype=np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any():
            return f"{name} is negative or not finite somewhere."
    return None


def _scale_by_all_rows(task: Task, solver: SolverSettings) -> Task | None:
    """Return the task with columns scaled once, by statistics of all rows.

    The result is None if predictions depend on which rows the scaling is computed from.
    """
    if not solver.intercept or not all(map(_only_scales, task.group.preparation.steps)):
        return None
    X = task.prepared_by_all_rows()
    return None if X is None else replace(task, X=X)


def _only_standardises(task: Task) -> bool:
    """Return True if the only pipeline step before the estimator is a StandardScaler."""
    ((_, step), *other_steps) = task.group.preparation.steps
    return not other_steps and is_exactly(step, SCALERS[0]) and step.with_std is True


def _only_scales(step: tuple[str, Any]) -> bool:
    """Return True if a pipeline step only shifts and scales each column separately."""
    return is_exactly(step[1], *SCALERS) and not getattr(step[1], "clip", False)


def _multiply_class_weights(class_weight: Any, shown: Shown, data: Data) -> np.ndarray | None:
    """Return each training row's sample weight times the weight of its class.

    The result is INVALID_WEIGHTS if scikit-learn would raise an error.
    """
    if class_weight is None or data.classes is None:
        return shown.all_weights
    from sklearn.utils import compute_sample_weight

    row_counts = np.ones(len(shown.y), dtype=int) if shown.times is None else shown.times
    try:
        repeated_weights = compute_sample_weight(
            class_weight, np.repeat(data.classes[shown.y], row_counts)
        )
    except ValueError:
        return INVALID_WEIGHTS
    class_weights: np.ndarray = repeated_weights[np.cumsum(row_counts) - 1]
    return class_weights if shown.all_weights is None else class_weights * shown.all_weights
