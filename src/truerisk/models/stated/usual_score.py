"""What an estimator's own `score` is: the share of right answers, R², or another of its own."""

from __future__ import annotations

from typing import Any

from truerisk.core.identity import PIPELINE, keeps

__all__ = ["usual_score"]

PIPELINES = (PIPELINE, "imblearn.pipeline:Pipeline")
WRITTEN_IN = {  # some write score anew, to the same effect
    "accuracy": (
        "sklearn.base:ClassifierMixin",
        "sklearn.neighbors:KNeighborsClassifier",
        "sklearn.neighbors:RadiusNeighborsClassifier",
        "sklearn.dummy:DummyClassifier",
        "catboost.core:CatBoostClassifier",
    ),
    "r2": ("sklearn.base:RegressorMixin", "sklearn.dummy:DummyRegressor"),
}


def usual_score(estimator: Any) -> str | None:
    """Where `estimator.score` is scikit-learn's own, "accuracy" or "r2"; else None.

    A pipeline has the score of its last step.
    """
    last = estimator
    while any(keeps(last, place, "score") for place in PIPELINES):
        last = last.steps[-1][1]
    for word, places in WRITTEN_IN.items():
        if any(keeps(last, place, "score") for place in places):
            return word
    return None
