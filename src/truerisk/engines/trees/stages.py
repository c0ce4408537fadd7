"""The answers of a fitted ensemble of n members, as of its first m: forests, bagging, boosting.

Members draw their random numbers one after the other from one sequence, and a stage of boosting is
fitted on what the stages before it left over. So the first m members are those of the ensemble that
is fitted with m.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.table.data import Data
from truerisk.engines.running.answering import Enquiry, answer_of
from truerisk.engines.running.members import averages
from truerisk.engines.running.stand_ins import FixedAnswers, SaidOfClasses, SaidScores, SaidShares
from truerisk.engines.trees.packages import FirstTrees, package_of

__all__ = ["answers_at", "boosting", "reweighting"]


def boosting() -> tuple[type, ...]:
    """scikit-learn's gradient boosting, which answers stage by stage."""
    from sklearn import ensemble

    return (
        ensemble.GradientBoostingClassifier,
        ensemble.GradientBoostingRegressor,
        ensemble.HistGradientBoostingClassifier,
        ensemble.HistGradientBoostingRegressor,
    )


def reweighting() -> tuple[type, ...]:
    """AdaBoost, whose members are weighed."""
    from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor

    return AdaBoostClassifier, AdaBoostRegressor


def answers_at(
    model: Any, sizes: list[int], asked: Enquiry, data: Data, request: Request
) -> np.ndarray:
    """`(size, row, ...)`: what the generic engine would say of the ensemble of each size."""
    models: Iterator[tuple[int, Any]]
    if package_of(model) is not None:
        models = ((size, FirstTrees(model, size)) for size in set(sizes))
    elif isinstance(model, boosting()):
        models = _staged(model, asked.X, request)
    elif isinstance(model, reweighting()):
        models = _reweighted(model, set(sizes), asked.X)
    else:
        models = iter(averages(model, set(sizes), asked).items())
    answers = {m: answer_of(one, data, asked, request) for m, one in models if m in sizes}
    return np.stack([answers[size] for size in sizes])


def _staged(model: Any, X: Any, request: Request) -> Iterator[tuple[int, Any]]:
    """From scikit-learn's staged answers."""
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
    """Each member is asked once, and scikit-learn weighs the answers of the first of them."""
    from sklearn.utils import check_array

    table = check_array(X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False)
    said = [FixedAnswers(member.predict(table)) for member in model.estimators_]
    for size in sizes:
        first = copy.copy(model)
        first.n_estimators, first.estimators_ = size, said[:size]
        first.estimator_weights_ = model.estimator_weights_[:size]
        yield size, first
