"""The least-squares engine: all penalties of a training set, and all left-out rows, at once.

A decomposition of the training set answers every penalty (`fit.py`). Fits on rows of one table
share its products (`shared_rows.py`), and leaving out every row costs one decomposition of all rows
(`singles.py`). If rounding could change predictions, in this arithmetic or in scikit-learn's,
scikit-learn is fitted itself: this concerns ties of classes, rows of leverage 1, and coefficients
that the data hardly determine.
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
from truerisk.engines.linear.fit import Coding, Manner, TrainSet, degrees_of_freedom, solve
from truerisk.engines.linear.shared_rows import SharedRows
from truerisk.engines.linear.singles import Singles
from truerisk.engines.linear.without_blocks import answer_blocks
from truerisk.engines.prepared import dense, unless_it_fails
from truerisk.engines.settings import Group
from truerisk.engines.templates.fits_of_one_table import single_row_fits
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.plan import Plan

EXACT = ("auto", "svd", "cholesky")


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
        for name, allowed in ALLOWED.items():
            if name in setting and not allowed(setting[name]):
                return f"{name}={setting[name]!r} is nothing that scikit-learn allows."
        solver = setting.get("solver", "auto")
        if solver not in EXACT:
            return f"solver={solver!r} stops near the solution and does not compute it."
        return penalty_refusal(setting["alpha"]) if "alpha" in setting else None

    @override
    def settings_refusal(self, settings: Sequence[dict[str, Any]]) -> str | None:
        first = settings[0]  # Most settings differ from it only in their penalty.
        others = [name for name in first if name != "alpha"]
        for setting in settings:
            alike = setting is not first and all(setting[name] is first[name] for name in others)
            alone = penalty_refusal(setting["alpha"]) if alike and "alpha" in setting else None
            reason = alone if alike else self.setting_refusal(setting)
            if reason is not None:
                return reason
        return None

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if "freedom" in plan.needs and family.is_piped:
            return "degrees of freedom after other steps are asked of the fits."
        return negative_weights(data)

    @override
    def shares_work(self, group: Group) -> bool:
        return super().shares_work(group) or not Manner.from_setting(group.settings[0]).penalised

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        setting = task.group.settings[0]
        manner, penalties = Manner.from_setting(setting), _penalties(task.group)
        none = np.zeros(task.plan.n_fits, dtype=bool)
        if setting.get("class_weight") is not None:
            return none
        single, row = single_row_fits(task.plan)
        free = np.empty(0, np.int32) if task.collected.extra is None else task.collected.extra.free
        single[free] = False  # These fits are made one by one.
        if task.X is None and manner.penalised:
            X = unless_it_fails(lambda: dense(task.data.X)) if _standardises(task) else None
            if X is None:
                return none
            block = replace(task, X=X), manner, penalties, single
            return answer_blocks(*block, standardised=True)
        if task.X is None:
            scaled = _scaled(task, manner) if single.any() else None
            if scaled is None:
                return none
            return Singles(SharedRows(scaled, manner, penalties), single, row, scaled=True).answer()
        table = SharedRows(task, manner, penalties)
        done = Singles(table, single, row).answer() if single.any() else none
        done |= answer_blocks(task, manner, penalties, single)
        for fit in np.setdiff1d(np.flatnonzero(~single & ~done), free):
            done[fit] = table.answer(int(fit))
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        coding = Coding.from_data(task.data, task.request.response, shown.y)
        setting = group.settings[0]
        weights = _with_class_weights(setting.get("class_weight"), shown, task.data)
        if coding is None or weights is NOTHING:
            return None
        manner = Manner.from_setting(setting)
        n_given = len(shown.rows) if shown.times is None else int(shown.times.sum())
        Y = coding.numbers(shown.y)
        train = TrainSet.from_rows(shown.X, Y, weights, n_given, manner.intercept)
        if train is None:
            return None
        numbers, open_ = solve(train, np.concatenate(tests), manner, _penalties(group))
        answers, tied = coding.answers(numbers)
        if task.collected.extra is not None and shown.fit in task.collected.extra.free:
            free, unclear = degrees_of_freedom(train, manner, _penalties(group))
            task.collected.extra.freedom[task.lines_of(group), shown.fit] = free
            open_ = open_ | unclear
        task.leave_open(shown.fit, group.candidates[open_ | tied.any(axis=1)])
        return np.split(answers, np.cumsum([len(test) for test in tests])[:-1], axis=1)


def penalty_refusal(alpha: Any) -> str | None:
    """Return why `alpha` is not a single penalty for all targets, or None."""
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


ALLOWED = {
    "fit_intercept": _is_bool,
    "copy_X": _is_bool,
    "tol": _is_tolerance,
    "n_jobs": _is_count,
    "max_iter": lambda value: _is_count(value) and (value is None or value > 0),
    "class_weight": _is_class_weight,
}
NOTHING = np.empty(0)
SCALERS = tuple(
    f"sklearn.preprocessing:{name}"
    for name in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
)


def _penalties(group: Group) -> np.ndarray:
    """Return one penalty per candidate, which is 0 for LinearRegression."""
    if "alpha" not in group.settings[0]:
        return np.zeros(len(group.candidates))
    return group.values("alpha").astype(np.float64)


def negative_weights(data: Data) -> str | None:
    """Return why the weights are invalid, or None."""
    for name, values in data.fit_params.items():
        weights = np.asarray(values, dtype=np.float64)
        if not np.isfinite(weights).all() or (weights < 0).any():
            return f"{name} is negative or not finite somewhere."
    return None


def _scaled(task: Task, manner: Manner) -> Task | None:
    """Return the task with columns scaled by all rows, or None.

    It is None if the result depends on the rows that scale the columns.
    """
    if not manner.intercept or not all(map(_only_scales, task.group.preparation.steps)):
        return None
    X = task.prepared_by_all_rows()
    return None if X is None else replace(task, X=X)


def _standardises(task: Task) -> bool:
    """Return True if the only step before the learner divides columns by their deviation."""
    ((_, step), *others) = task.group.preparation.steps
    return not others and is_exactly(step, SCALERS[0]) and step.with_std is True


def _only_scales(step: tuple[str, Any]) -> bool:
    """Return True if a step shifts and scales each column separately."""
    return is_exactly(step[1], *SCALERS) and not getattr(step[1], "clip", False)


def _with_class_weights(class_weight: Any, shown: Shown, data: Data) -> np.ndarray | None:
    """Return the sample weights times the class weights; NOTHING if scikit-learn would raise."""
    if class_weight is None or data.classes is None:
        return shown.all_weights
    from sklearn.utils import compute_sample_weight

    times = np.ones(len(shown.y), dtype=int) if shown.times is None else shown.times
    try:
        every = compute_sample_weight(class_weight, np.repeat(data.classes[shown.y], times))
    except ValueError:
        return NOTHING
    of_class: np.ndarray = every[np.cumsum(times) - 1]
    return of_class if shown.all_weights is None else of_class * shown.all_weights
