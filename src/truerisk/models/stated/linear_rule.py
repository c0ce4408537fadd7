"""The linear rule of a fitted model: coefficients and intercepts of its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.core.linear_rules import LinearRules
from truerisk.models.searches import answers_by_its_best, is_a_search

__all__ = ["linear_rule", "why_no_rule"]

_SERVED = (
    "sklearn.linear_model:LogisticRegression",
    "sklearn.linear_model:LogisticRegressionCV",
    "sklearn.linear_model:RidgeClassifier",
    "sklearn.linear_model:RidgeClassifierCV",
    "sklearn.linear_model:SGDClassifier",
    "sklearn.linear_model:Perceptron",
    "sklearn.linear_model:PassiveAggressiveClassifier",
    "sklearn.svm:LinearSVC",
    "sklearn.svm:SVC",
    "sklearn.svm:NuSVC",
    "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
    "truerisk.models.fisher:FisherClassifier",
    "truerisk.models.discriminant:LinearDiscriminant",
    "truerisk.models.logistic_path:LogisticPath",
    "sklearn.linear_model:LinearRegression",
    "sklearn.linear_model:Ridge",
    "sklearn.linear_model:Lasso",
    "sklearn.linear_model:LassoLars",
    "sklearn.linear_model:ElasticNet",
)
_MACHINES = ("sklearn.svm:SVC", "sklearn.svm:NuSVC")
_INSTEAD = "use a method that holds rows out, such as '10-fold'."


def linear_rule(model: Any, X: Any, classes: np.ndarray | None) -> LinearRules:
    """The rule of one fitted model, as fit 0 and candidate 0.

    Of a pipeline it is that of its last step, over the rows as the steps before make them; of a
    search that of its best estimator. A model of another kind says it by a method
    ``linear_rule()``: coefficients of shape (scores, features), intercepts of shape (scores,), for
    one score per class, or a single one for the second of two classes.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows it was fitted on.
    classes : array, optional
        All classes of the data, ascending; None for numbers.
    """
    own = getattr(model, "linear_rule", None)
    if not callable(own) and answers_by_its_best(model):
        return linear_rule(model.best_estimator_, X, classes)
    if not callable(own) and is_exactly(model, PIPELINE):
        if len(model.steps) == 1:
            return linear_rule(model[-1], X, classes)
        rows = model[:-1].transform(X)
        found = linear_rule(model[-1], rows, classes)
        return _over(found, found.rows if found.rows is not None else rows)
    pairs = False
    if callable(own):
        coefficients, intercepts = own()
    else:
        _refuse_others(model)
        coefficients, intercepts = model.coef_, model.intercept_
        pairs = is_exactly(model, *_MACHINES)
    slopes = np.array(_dense(coefficients), dtype=np.float64, ndmin=2)
    starts = np.array(np.broadcast_to(intercepts, len(slopes)), dtype=np.float64)
    codes = () if classes is None else _codes(model, classes)
    if pairs and len(codes) > 2:  # of a pair these are positive for the first class
        slopes, starts = -slopes, -starts
    return LinearRules(0, np.zeros(1, np.intp), slopes[None], starts[None], codes, pairs)


def _over(rule: LinearRules, rows: Any) -> LinearRules:
    held = rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows, dtype=np.float64)
    return LinearRules(
        rule.fit, rule.candidates, rule.coefficients, rule.intercepts, rule.codes, rule.pairs, held
    )


def _dense(coefficients: Any) -> Any:
    return coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients


def _codes(model: Any, classes: np.ndarray) -> tuple[int, ...]:
    """The codes of the classes that the model was fitted on."""
    known = np.isin(classes, model.classes_)
    return tuple(int(code) for code in np.flatnonzero(known))


def why_no_rule(learner: Any, settings: Iterable[Mapping[str, Any]]) -> str | None:
    """Why a learner is not known to be a linear rule in some of its settings; None where it may be.

    Only models are served whose answers are known to be those of their coefficients, subclasses
    not. What a search will find is not known before.
    """
    if callable(getattr(learner, "linear_rule", None)) or is_a_search(learner):
        return None
    name = type(learner).__name__
    if not is_exactly(learner, *_SERVED):
        return (
            f"{name} is not known to be a linear rule, whose coefficients this method needs: give "
            f"it a method linear_rule(), or {_INSTEAD}"
        )
    kernels = (setting["kernel"] for setting in settings if is_exactly(learner, *_MACHINES))
    other = next((kernel for kernel in kernels if not _is_linear(kernel)), None)
    if other is None:
        return None
    return f"{name} with kernel={other!r} is no linear rule: use kernel='linear', or {_INSTEAD}"


def _is_linear(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "linear"


def _refuse_others(model: Any) -> None:
    reason = why_no_rule(model, [{"kernel": getattr(model, "kernel", None)}])
    if reason is not None:
        raise Refusal(reason)
