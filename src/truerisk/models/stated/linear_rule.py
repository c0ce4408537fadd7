"""The linear rule of a fitted model: coefficients and intercepts of its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import entry_of
from truerisk.models.stated.freedom_of_regressions import table
from truerisk.models.stated.question import INSTEAD, Question, is_a_search, rows_of_last_step
from truerisk.plan.extras.linear_rules import LinearRules


def linear_rule(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    """Return the linear rule of one fitted model, as fit 0 and candidate 0.

    For a pipeline it is the rule of its last step, for the rows that the other steps produce; for a
    search it is that of its best estimator. Other models can define a method ``linear_rule()`` that
    returns coefficients of shape (scores, features) and intercepts of shape (scores,), with one
    score per class, or a single one for the second of two classes.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows it was fitted on.
    classes : array, optional
        All classes of the data, ascending; None for numbers.
    """
    rule = _QUESTION(model, X, classes)
    if rule.rows is X:
        return replace(rule, rows=None)
    is_sparse = hasattr(rule.rows, "tocsr")
    return replace(rule, rows=rule.rows.tocsr() if is_sparse else np.asarray(rule.rows, np.float64))


def _made(pipeline: Any, X: Any) -> Any:
    """Return the rows after the steps, which are never X itself, even if a step returns it."""
    return X if len(pipeline.steps) == 1 else copy(rows_of_last_step(pipeline, X))


def _by_coefficients(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    return _rule(model, X, classes, model.coef_, model.intercept_)


def _by_pairs(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    """Return a score per pair of classes; with three or more it is positive for the first."""
    if (reason := why_no_rule(model, [{"kernel": model.kernel}])) is not None:
        raise Refusal(reason)
    rule = replace(_by_coefficients(model, X, classes), pairs=True)
    if len(rule.codes) <= 2:
        return rule
    return replace(rule, coefficients=-rule.coefficients, intercepts=-rule.intercepts)


def _rule(model: Any, X: Any, classes: Any, coefficients: Any, intercepts: Any) -> LinearRules:
    slopes = np.array(table(coefficients), ndmin=2)
    starts = np.array(np.broadcast_to(intercepts, len(slopes)), dtype=np.float64)
    known = [] if classes is None else np.flatnonzero(np.isin(classes, model.classes_)).tolist()
    return LinearRules(0, np.zeros(1, np.intp), slopes[None], starts[None], tuple(known), rows=X)


def why_no_rule(learner: Any, settings: Iterable[Mapping[str, Any]]) -> str | None:
    """Return why some settings are not known to give a linear rule, or None if all may give one.

    Only models whose predictions are known to be those of their coefficients are served, without
    subclasses. What a search will find is not known in advance.
    """
    if callable(getattr(learner, "linear_rule", None)) or is_a_search(learner):
        return None
    formula = entry_of(learner, _QUESTION.formulas)
    if formula is None:
        return _unknown(learner)
    for kernel in (setting["kernel"] for setting in settings if formula is _by_pairs):
        if kernel is not None and not (isinstance(kernel, str) and kernel == "linear"):
            return (
                f"{type(learner).__name__} with kernel={kernel!r} is no linear rule: use "
                f"kernel='linear', or {INSTEAD}"
            )
    return None


def _unknown(model: Any, *_: Any) -> str:
    return (
        f"{type(model).__name__} is not known to be a linear rule, whose coefficients this method "
        f"needs: give it a method linear_rule(), or {INSTEAD}"
    )


_QUESTION = Question[LinearRules](
    "linear_rule",
    own=lambda model, X, classes: _rule(model, X, classes, *model.linear_rule()),
    formulas={
        "sklearn.linear_model:LogisticRegression": _by_coefficients,
        "sklearn.linear_model:LogisticRegressionCV": _by_coefficients,
        "sklearn.linear_model:RidgeClassifier": _by_coefficients,
        "sklearn.linear_model:RidgeClassifierCV": _by_coefficients,
        "sklearn.linear_model:SGDClassifier": _by_coefficients,
        "sklearn.linear_model:Perceptron": _by_coefficients,
        "sklearn.linear_model:PassiveAggressiveClassifier": _by_coefficients,
        "sklearn.svm:LinearSVC": _by_coefficients,
        "sklearn.svm:SVC": _by_pairs,
        "sklearn.svm:NuSVC": _by_pairs,
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": _by_coefficients,
        "truerisk.models.fisher_classifier:FisherClassifier": _by_coefficients,
        "truerisk.models.discriminant_analysis:LinearDiscriminant": _by_coefficients,
        "truerisk.models.logistic_path:LogisticPath": _by_coefficients,
        "sklearn.linear_model:LinearRegression": _by_coefficients,
        "sklearn.linear_model:Ridge": _by_coefficients,
        "sklearn.linear_model:Lasso": _by_coefficients,
        "sklearn.linear_model:LassoLars": _by_coefficients,
        "sklearn.linear_model:ElasticNet": _by_coefficients,
    },
    unknown=_unknown,
    rows=_made,
    into_searches=True,
)
