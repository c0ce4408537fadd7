"""Which steps have a closed form: the very classes of scikit-learn, and no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from truerisk.core.identity import is_exactly
from truerisk.engines.preparation.closed import encoding, imputing, joining, scaling, selecting
from truerisk.engines.preparation.closed.agreement import agrees
from truerisk.engines.preparation.closed.forms import Form
from truerisk.engines.preparation.closed.table import Refused

__all__ = ["FORMS", "form_of"]

FORMS: Mapping[str, Callable[[Any], Form]] = {
    "sklearn.preprocessing:StandardScaler": scaling.standard,
    "sklearn.preprocessing:MinMaxScaler": scaling.min_max,
    "sklearn.preprocessing:MaxAbsScaler": scaling.max_abs,
    "sklearn.preprocessing:RobustScaler": scaling.robust,
    "sklearn.preprocessing:OneHotEncoder": encoding.one_hot,
    "sklearn.preprocessing:OrdinalEncoder": encoding.ordinal,
    "sklearn.preprocessing:FunctionTransformer": joining.identity,
    "sklearn.impute:SimpleImputer": imputing.simple_imputer,
    "sklearn.feature_selection:VarianceThreshold": selecting.variance_threshold,
    "sklearn.feature_selection:SelectKBest": selecting.select_k_best,
    "sklearn.feature_selection:SelectPercentile": selecting.select_percentile,
    "sklearn.pipeline:Pipeline": lambda step: joining.pipeline(step, form_of),
    "sklearn.pipeline:FeatureUnion": lambda step: joining.feature_union(step, form_of),
    "sklearn.compose:ColumnTransformer": lambda step: joining.column_transformer(step, form_of),
}


def form_of(step: Any) -> Form:
    """The closed form of a step that is set as it is; refused where there is none."""
    place = next((one for one in FORMS if is_exactly(step, one)), None)
    if place is None:
        raise Refused(f"{type(step).__name__} is not known in closed form")
    form = FORMS[place](step)
    if not agrees(place, FORMS[place]):
        raise Refused(f"{type(step).__name__} does otherwise in this release of scikit-learn")
    return form
