"""Linear rule of a fitted model: the coefficients and intercepts of its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import find_class_entry
from truerisk.models.stated.freedom_of_regressions import to_dense
from truerisk.models.stated.question import (
    ADVICE_HELD_OUT_ROWS,
    ModelQuantity,
    is_search_by_best_estimator,
    rows_of_last_step,
)
from truerisk.plan.extras.linear_rules import LinearRules


def linear_rule(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    """Return the linear rule of one fitted model, numbered as fit 0 and candidate 0.

    A pipeline has the rule of its last step, for the rows that the other steps produce; a search
    has the rule of its best estimator. Other models can define a method ``linear_rule()`` that
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
    rule = _LINEAR_RULE(model, X, classes)
    if rule.rows is X:
        return replace(rule, rows=None)
    is_sparse = hasattr(rule.rows, "tocsr")
    return replace(rule, rows=rule.rows.tocsr() if is_sparse else np.asarray(rule.rows, np.float64))


def _rows_after_steps(pipeline: Any, X: Any) -> Any:
    """Return the rows that a pipeline's steps produce; a copy, if a step returns X itself."""
    return X if len(pipeline.steps) == 1 else copy(rows_of_last_step(pipeline, X))


def _rule_from_coefficients(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    return _make_linear_rule(model, X, classes, model.coef_, model.intercept_)


def _rule_from_pairs(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    """Return the linear rule of an SVC, with one score per pair of classes.

    The score is positive for the first class of the pair. If there are only two classes, it is
    positive for the second one.
    """
    if (reason := linear_rule_refusal(model, [{"kernel": model.kernel}])) is not None:
        raise Refusal(reason)
    rule = replace(_rule_from_coefficients(model, X, classes), pairs=True)
    if len(rule.codes) <= 2:
        return rule
    return replace(rule, coefficients=-rule.coefficients, intercepts=-rule.intercepts)


def _make_linear_rule(
    model: Any, X: Any, classes: Any, coefficients: Any, intercepts: Any
) -> LinearRules:
    coefficient_rows = np.array(to_dense(coefficients), ndmin=2)
    intercept_row = np.array(np.broadcast_to(intercepts, len(coefficient_rows)), dtype=np.float64)
    known_codes = (
        [] if classes is None else np.flatnonzero(np.isin(classes, model.classes_)).tolist()
    )
    return LinearRules(
        0,
        np.zeros(1, np.intp),
        coefficient_rows[None],
        intercept_row[None],
        tuple(known_codes),
        rows=X,
    )


def linear_rule_refusal(learner: Any, settings: Iterable[Mapping[str, Any]]) -> str | None:
    """Return why a learner gives no linear rule for some settings, or None if it may give one.

    Only classes of which it is known that their predictions follow from their coefficients are
    accepted, and no subclasses. The model that a search will find is not known in advance.
    """
    if callable(getattr(learner, "linear_rule", None)) or is_search_by_best_estimator(learner):
        return None
    formula = find_class_entry(learner, _LINEAR_RULE.formulas)
    if formula is None:
        return _reason_without_rule(learner)
    for kernel in (setting["kernel"] for setting in settings if formula is _rule_from_pairs):
        if kernel is not None and not (isinstance(kernel, str) and kernel == "linear"):
            return (
                f"{type(learner).__name__} with kernel={kernel!r} is no linear rule: use "
                f"kernel='linear', or {ADVICE_HELD_OUT_ROWS}"
            )
    return None


def _reason_without_rule(model: Any, *_: Any) -> str:
    return (
        f"{type(model).__name__} is not known to be a linear rule, whose coefficients this method "
        f"needs: give it a method linear_rule(), or {ADVICE_HELD_OUT_ROWS}"
    )


_LINEAR_RULE = ModelQuantity[LinearRules](
    "linear_rule",
    call_own_method=lambda model, X, classes: _make_linear_rule(
        model, X, classes, *model.linear_rule()
    ),
    formulas={
        "sklearn.linear_model:LogisticRegression": _rule_from_coefficients,
        "sklearn.linear_model:LogisticRegressionCV": _rule_from_coefficients,
        "sklearn.linear_model:RidgeClassifier": _rule_from_coefficients,
        "sklearn.linear_model:RidgeClassifierCV": _rule_from_coefficients,
        "sklearn.linear_model:SGDClassifier": _rule_from_coefficients,
        "sklearn.linear_model:Perceptron": _rule_from_coefficients,
        "sklearn.linear_model:PassiveAggressiveClassifier": _rule_from_coefficients,
        "sklearn.svm:LinearSVC": _rule_from_coefficients,
        "sklearn.svm:SVC": _rule_from_pairs,
        "sklearn.svm:NuSVC": _rule_from_pairs,
        "sklearn.discriminant_analysis:LinearDiscriminantAnalysis": _rule_from_coefficients,
        "truerisk.models.fisher_classifier:FisherClassifier": _rule_from_coefficients,
        "truerisk.models.discriminant_analysis:LinearDiscriminant": _rule_from_coefficients,
        "truerisk.models.logistic_path:LogisticPath": _rule_from_coefficients,
        "sklearn.linear_model:LinearRegression": _rule_from_coefficients,
        "sklearn.linear_model:Ridge": _rule_from_coefficients,
        "sklearn.linear_model:Lasso": _rule_from_coefficients,
        "sklearn.linear_model:LassoLars": _rule_from_coefficients,
        "sklearn.linear_model:ElasticNet": _rule_from_coefficients,
    },
    fallback=_reason_without_rule,
    rows=_rows_after_steps,
    uses_best_estimator=True,
)
