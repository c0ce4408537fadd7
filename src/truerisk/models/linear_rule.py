"""The linear rule of a fitted model: coefficients and intercepts of its scores."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.linear_rules import LinearRules

__all__ = ["linear_rule"]

_SERVED = (
    "sklearn.linear_model.LogisticRegression",
    "sklearn.linear_model.LogisticRegressionCV",
    "sklearn.linear_model.RidgeClassifier",
    "sklearn.linear_model.RidgeClassifierCV",
    "sklearn.linear_model.SGDClassifier",
    "sklearn.linear_model.Perceptron",
    "sklearn.linear_model.PassiveAggressiveClassifier",
    "sklearn.svm.LinearSVC",
    "sklearn.svm.SVC",
    "sklearn.svm.NuSVC",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "truerisk.models.fisher.FisherClassifier",
    "truerisk.models.discriminant.LinearDiscriminant",
    "truerisk.models.logistic_path.LogisticPath",
    "sklearn.linear_model.LinearRegression",
    "sklearn.linear_model.Ridge",
    "sklearn.linear_model.Lasso",
    "sklearn.linear_model.LassoLars",
    "sklearn.linear_model.ElasticNet",
)
_MACHINES = ("SVC", "NuSVC")
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
    if hasattr(model, "best_estimator_"):
        return linear_rule(model.best_estimator_, X, classes)
    if hasattr(model, "steps"):
        if len(model.steps) == 1:
            return linear_rule(model[-1], X, classes)
        rows = model[:-1].transform(X)
        found = linear_rule(model[-1], rows, classes)
        return _over(found, found.rows if found.rows is not None else rows)
    own = getattr(model, "linear_rule", None)
    pairs = False
    if callable(own):
        coefficients, intercepts = own()
    else:
        _refuse_others(model)
        coefficients, intercepts = model.coef_, model.intercept_
        pairs = type(model).__name__ in _MACHINES
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


def _refuse_others(model: Any) -> None:
    """Only models whose answers are known to be those of their coefficients, subclasses not."""
    name = type(model).__name__
    for place in _SERVED:
        module, served = place.rsplit(".", 1)
        if name == served and type(model) is getattr(import_module(module), name):
            if name not in _MACHINES or model.kernel == "linear":
                return
            raise Refusal(
                f"{name} with kernel={model.kernel!r} is no linear rule: use kernel='linear', or "
                f"{_INSTEAD}"
            )
    raise Refusal(
        f"{name} is not known to be a linear rule, whose coefficients this method needs: give it "
        f"a method linear_rule(), or {_INSTEAD}"
    )
