"""Warning of models that split their training rows internally and ignore the rows' times."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from truerisk.core.arguments import shown
from truerisk.core.errors import TimeLeakWarning, warn
from truerisk.core.family import Family
from truerisk.core.identity import is_a, is_from

CHOOSERS = (
    *(
        f"sklearn.model_selection:{name}"
        for name in (
            "GridSearchCV",
            "RandomizedSearchCV",
            "HalvingGridSearchCV",
            "HalvingRandomSearchCV",
        )
    ),
    *(
        f"sklearn.linear_model:{name}"
        for name in ("LogisticRegressionCV", "LassoCV", "ElasticNetCV", "RidgeCV")
    ),
    "sklearn.linear_model:RidgeClassifierCV",
    "sklearn.feature_selection:RFECV",
    "sklearn.feature_selection:SequentialFeatureSelector",
)
"""Models that choose a setting or features by splits of their training rows."""


def warn_of_inner_splits(family: Family) -> None:
    """Warn of splits inside a model that ignore the times of the rows."""
    parts = {"": family.estimator, **family.estimator.get_params(deep=True)}
    tried = {name for cv in family.candidates for name in cv}
    for name, cv in parts.items():
        place, _, last = name.rpartition("__")
        owner = parts.get(place)
        if last == "cv" and name not in tried and is_a(owner, *CHOOSERS) and _ignores_time(cv):
            warn(
                f"time is given but {type(owner).__name__} splits its training rows by "
                f"{name}={shown(cv)}, which ignores it: what it chooses by them was tested by "
                "models that saw later rows. The risk is that of this choice; cv=TimeSeriesSplit(5)"
                " makes a better one, where the rows stand in the order of time.",
                TimeLeakWarning,
            )


def _ignores_time(cv: Any) -> bool:
    """Return True if cv ignores the order of time.

    Third-party splitters are assumed to respect it.
    """
    from sklearn.model_selection import TimeSeriesSplit

    folds = cv is None or isinstance(cv, Integral) or is_from(cv, "sklearn")
    return folds and not isinstance(cv, TimeSeriesSplit)
