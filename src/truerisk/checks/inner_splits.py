"""Warning about models whose inner splits of the training rows ignore the rows' times."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from truerisk.core.arguments import repr_on_one_line
from truerisk.core.errors import TimeLeakWarning, warn
from truerisk.core.family import Family
from truerisk.core.identity import is_a, is_from

SELECTING_MODELS = (
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
"""Models that choose a hyperparameter or features by splitting their training rows."""


def warn_of_inner_splits(family: Family) -> None:
    """Warn about each splitter within the model that ignores the times of the rows."""
    parameters = {"": family.estimator, **family.estimator.get_params(deep=True)}
    tuned_names = {tuned_path for setting in family.candidates for tuned_path in setting}
    for parameter_path, parameter_value in parameters.items():
        owner_name, _, parameter_name = parameter_path.rpartition("__")
        owner = parameters.get(owner_name)
        if (
            parameter_name == "cv"
            and parameter_path not in tuned_names
            and is_a(owner, *SELECTING_MODELS)
            and _ignores_time(parameter_value)
        ):
            warn(
                f"time is given but {type(owner).__name__} splits its training rows by "
                f"{parameter_path}={repr_on_one_line(parameter_value)}, which ignores it: what it "
                "chooses by them was tested by models that saw later rows. The risk is that of "
                "this choice; cv=TimeSeriesSplit(5) makes a better one, where the rows stand in "
                "the order of time.",
                TimeLeakWarning,
            )


def _ignores_time(cv: Any) -> bool:
    """Return True if the splitter `cv` ignores the order of time.

    Third-party splitters are assumed to respect it.
    """
    from sklearn.model_selection import TimeSeriesSplit

    is_sklearn_splitter = cv is None or isinstance(cv, Integral) or is_from(cv, "sklearn")
    return is_sklearn_splitter and not isinstance(cv, TimeSeriesSplit)
