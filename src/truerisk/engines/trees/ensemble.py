"""The ensemble engine: all numbers of members from the largest ensemble per training set.

The members of an ensemble draw their random numbers from one sequence. With the same seed (given,
or common to the candidates of a fit), an ensemble of m members is therefore the beginning of one of
n > m. This does not hold if the number of stages is decided during the fit (early stopping), which
is refused. `packages.py` says when it holds for XGBoost, LightGBM and CatBoost.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import Enquiry, answer_of
from truerisk.engines.running.members import (
    FixedAnswers,
    SaidOfClasses,
    SaidScores,
    SaidShares,
    averages,
    bagging,
    forests,
    why_no_bags,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_fit import OneFit
from truerisk.engines.trees.packages import FirstTrees, package_of, packaged
from truerisk.plan.plan import Plan

# Number of rows from which early_stopping="auto" of histogram boosting stops early.
STOPS_EARLY = 10_000


@frozen
class Ensembles(OneFit):
    """Engine for forests, bagging, AdaBoost and boosting with any number of members.

    It serves both gradient boosting learners of scikit-learn, and those of XGBoost, LightGBM and
    CatBoost.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.Trees : Engine for single trees.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.Ensembles()
    >>> tr.estimate_risk(RandomForestClassifier(10, random_state=0), X, y, engine=engine).engine
    'ensemble'
    """

    name: ClassVar[str] = "ensemble"
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "out_of_bag"})

    @override
    def learners(self) -> Sequence[type]:
        return (*forests(), *bagging(), *boosting(), *reweighting(), *packaged())

    @override
    def path_of(self, family: Family) -> str:
        return _path_of(family.last, family.settings[0])

    @override
    def covering_value(self, values: Sequence[Any]) -> Any:
        return max(values)

    @override
    def value_refusal(self, value: Any) -> str | None:
        if not isinstance(value, Integral) or value < 1:
            return f"{value!r} is no number of members."
        return None

    @override
    def setting_refusal(self, setting: dict[str, Any], plan: Plan, request: Request) -> str | None:
        if setting.get("n_iter_no_change") is not None and "early_stopping" not in setting:
            return "n_iter_no_change ends the fit where a part of the rows says so."
        early = setting.get("early_stopping", False)
        if early is True or (early == "auto" and int(plan.train_sizes.max()) > STOPS_EARLY):
            return "early_stopping ends the fit where a part of the rows says so."
        decides = hasattr(setting.get("estimator"), "decision_function")
        if request.response == "score" and "bootstrap_features" in setting and decides:
            return "decision values are asked for, and it averages probabilities."
        return None

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = _package_refusal(family, data) or super().refuse(family, data, plan, request)
        if reason is None and "out_of_bag" in plan.needs:
            reason = why_no_bags(family)
        if reason is None and any(name.endswith("monitor") for name in data.fit_params):
            reason = "a monitor may end the fit."
        return reason

    @override
    def read(
        self, model: Any, group: Group, enquiry: Enquiry, data: Data, request: Request
    ) -> np.ndarray:
        path = _path_of(model, group.settings[0])
        sizes = [int(setting[path]) for setting in group.settings]
        return answers_at(model, sizes, enquiry, data, request)


def _path_of(learner: Any, setting: Mapping[str, Any]) -> str:
    """Return the name of the learner's parameter for the number of members."""
    package = package_of(learner)
    if package is not None:
        return package.size_of(setting)
    return "max_iter" if "max_iter" in setting else "n_estimators"


def _package_refusal(family: Family, data: Data) -> str | None:
    """Return why the first trees of a package's fit may differ from a shorter fit, or None."""
    package = package_of(family.last)
    if package is None:
        return None
    if len({package.size_of(setting) for setting in family.settings}) > 1:
        return "the number of trees has several names in the grid."
    reasons = map(package.setting_refusal, family.settings)
    reason = next((reason for reason in reasons if reason is not None), None)
    return reason or package.param_refusal(data.fit_params, family.prefix)


def boosting() -> tuple[type, ...]:
    """Return scikit-learn's gradient boosting classes, which predict stage by stage."""
    from sklearn import ensemble

    return (
        ensemble.GradientBoostingClassifier,
        ensemble.GradientBoostingRegressor,
        ensemble.HistGradientBoostingClassifier,
        ensemble.HistGradientBoostingRegressor,
    )


def reweighting() -> tuple[type, ...]:
    """Return the AdaBoost classes, whose members have weights."""
    from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor

    return AdaBoostClassifier, AdaBoostRegressor


def answers_at(
    model: Any, sizes: list[int], enquiry: Enquiry, data: Data, request: Request
) -> np.ndarray:
    """Return `(size, row, ...)` predictions as by the generic engine, for each ensemble size."""
    models: Iterator[tuple[int, Any]]
    if package_of(model) is not None:
        models = ((size, FirstTrees(model, size)) for size in set(sizes))
    elif isinstance(model, boosting()):
        models = _staged(model, enquiry.X, request)
    elif isinstance(model, reweighting()):
        models = _reweighted(model, set(sizes), enquiry.X)
    else:
        models = iter(averages(model, set(sizes), enquiry).items())
    answers = {m: answer_of(one, data, enquiry, request) for m, one in models if m in sizes}
    return np.stack([answers[size] for size in sizes])


def _staged(model: Any, X: Any, request: Request) -> Iterator[tuple[int, Any]]:
    """Yield the models of each size from scikit-learn's staged predictions."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        yield from enumerate(map(FixedAnswers, model.staged_predict(X)), start=1)
        return
    kind: type[SaidOfClasses] = SaidOfClasses
    if request.response == "probability":
        stages, kind = model.staged_predict_proba(X), SaidShares
    elif request.response == "score":
        stages, kind = model.staged_decision_function(X), SaidScores
    else:
        stages = model.staged_predict(X)
    for number, answers in enumerate(stages, start=1):
        yield number, kind(answers, classes)


def _reweighted(model: Any, sizes: set[int], X: Any) -> Iterator[tuple[int, Any]]:
    """Yield AdaBoost models of each size.

    Each member predicts once, and scikit-learn weights the predictions of the first members.
    """
    from sklearn.utils import check_array

    table = check_array(X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False)
    answers = [FixedAnswers(member.predict(table)) for member in model.estimators_]
    for size in sizes:
        first = copy.copy(model)
        first.n_estimators, first.estimators_ = size, answers[:size]
        first.estimator_weights_ = model.estimator_weights_[:size]
        yield size, first
