"""The ensemble engine: one fit of the largest ensemble predicts for all smaller sizes.

The members of an ensemble draw their random numbers from one sequence. With the same seed (set by
the user, or common to the candidates of a fit), the first m members of an ensemble of n > m members
are therefore the ensemble of m members. This does not hold if the number of stages is decided
during the fit (early stopping), which is refused. `packages.py` says when it holds for XGBoost,
LightGBM and CatBoost.
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
from truerisk.engines.running.answering import RowsToPredict, predict_rows
from truerisk.engines.running.members import (
    FixedClassPredictions,
    FixedDecisionValues,
    FixedPredictions,
    FixedProbabilities,
    bagging_classes,
    forest_classes,
    out_of_bag_refusal,
    predictions_by_size,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.one_fit import OneFit
from truerisk.engines.trees.packages import FirstTrees, find_package, package_learners
from truerisk.plan.plan import Plan

# With more rows than this, early_stopping="auto" makes histogram boosting stop early.
MAX_ROWS_WITHOUT_EARLY_STOPPING = 10_000


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
        return (
            *forest_classes(),
            *bagging_classes(),
            *boosting_classes(),
            *adaboost_classes(),
            *package_learners(),
        )

    @override
    def path_of(self, family: Family) -> str:
        return _size_parameter(family.last, family.settings[0])

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
        early_stopping = setting.get("early_stopping", False)
        if early_stopping is True or (
            early_stopping == "auto"
            and int(plan.train_sizes.max()) > MAX_ROWS_WITHOUT_EARLY_STOPPING
        ):
            return "early_stopping ends the fit where a part of the rows says so."
        has_decision_function = hasattr(setting.get("estimator"), "decision_function")
        if (
            request.response == "score"
            and "bootstrap_features" in setting
            and has_decision_function
        ):
            return "decision values are asked for, and it averages probabilities."
        return None

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = _package_refusal(family, data) or super().refuse(family, data, plan, request)
        if reason is None and "out_of_bag" in plan.needs:
            reason = out_of_bag_refusal(family)
        if reason is None and any(name.endswith("monitor") for name in data.fit_params):
            reason = "a monitor may end the fit."
        return reason

    @override
    def read(
        self, model: Any, group: Group, enquiry: RowsToPredict, data: Data, request: Request
    ) -> np.ndarray:
        path = _size_parameter(model, group.settings[0])
        sizes = [int(setting[path]) for setting in group.settings]
        return predictions_of_sizes(model, sizes, enquiry, data, request)


def _size_parameter(learner: Any, setting: Mapping[str, Any]) -> str:
    """Return the name of the learner's hyperparameter for the number of members."""
    package = find_package(learner)
    if package is not None:
        return package.size_parameter(setting)
    return "max_iter" if "max_iter" in setting else "n_estimators"


def _package_refusal(family: Family, data: Data) -> str | None:
    """Return why a longer fit of a boosting package may not begin with the trees of a shorter.

    Return None if it does.
    """
    package = find_package(family.last)
    if package is None:
        return None
    if len({package.size_parameter(setting) for setting in family.settings}) > 1:
        return "the number of trees has several names in the grid."
    reasons = map(package.setting_refusal, family.settings)
    reason = next((reason for reason in reasons if reason is not None), None)
    return reason or package.fit_param_refusal(data.fit_params, family.prefix)


def boosting_classes() -> tuple[type, ...]:
    """Return scikit-learn's gradient boosting classes, which can predict after each stage."""
    from sklearn import ensemble

    return (
        ensemble.GradientBoostingClassifier,
        ensemble.GradientBoostingRegressor,
        ensemble.HistGradientBoostingClassifier,
        ensemble.HistGradientBoostingRegressor,
    )


def adaboost_classes() -> tuple[type, ...]:
    """Return scikit-learn's AdaBoost classes, whose members have weights."""
    from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor

    return AdaBoostClassifier, AdaBoostRegressor


def predictions_of_sizes(
    model: Any, sizes: list[int], rows_to_predict: RowsToPredict, data: Data, request: Request
) -> np.ndarray:
    """Return the predictions of ensembles that consist of a fitted model's first members.

    The result has shape `(size, row, ...)`. The predictions equal those of the generic engine,
    which fits an ensemble of each size.
    """
    models: Iterator[tuple[int, Any]]
    if find_package(model) is not None:
        models = ((ensemble_size, FirstTrees(model, ensemble_size)) for ensemble_size in set(sizes))
    elif isinstance(model, boosting_classes()):
        models = _staged_models(model, rows_to_predict.X, request)
    elif isinstance(model, adaboost_classes()):
        models = _adaboost_models(model, set(sizes), rows_to_predict.X)
    else:
        models = iter(predictions_by_size(model, set(sizes), rows_to_predict).items())
    predictions = {
        n_members: predict_rows(sized_model, data, rows_to_predict, request)
        for n_members, sized_model in models
        if n_members in sizes
    }
    return np.stack([predictions[ensemble_size] for ensemble_size in sizes])


def _staged_models(model: Any, X: Any, request: Request) -> Iterator[tuple[int, Any]]:
    """Yield each ensemble size with a stand-in for a boosting model of this size.

    The stand-ins return scikit-learn's staged predictions.
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        yield from enumerate(map(FixedPredictions, model.staged_predict(X)), start=1)
        return
    prediction_class: type[FixedClassPredictions] = FixedClassPredictions
    if request.response == "probability":
        stages, prediction_class = model.staged_predict_proba(X), FixedProbabilities
    elif request.response == "score":
        stages, prediction_class = model.staged_decision_function(X), FixedDecisionValues
    else:
        stages = model.staged_predict(X)
    for n_stages, stage_predictions in enumerate(stages, start=1):
        yield n_stages, prediction_class(stage_predictions, classes)


def _adaboost_models(model: Any, sizes: set[int], X: Any) -> Iterator[tuple[int, Any]]:
    """Yield each ensemble size with an AdaBoost model of that many first members.

    Each member predicts once, and scikit-learn weights the predictions of the first members.
    """
    from sklearn.utils import check_array

    table = check_array(X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False)
    member_predictions = [FixedPredictions(member.predict(table)) for member in model.estimators_]
    for ensemble_size in sizes:
        smaller_model = copy.copy(model)
        smaller_model.n_estimators, smaller_model.estimators_ = (
            ensemble_size,
            member_predictions[:ensemble_size],
        )
        smaller_model.estimator_weights_ = model.estimator_weights_[:ensemble_size]
        yield ensemble_size, smaller_model
