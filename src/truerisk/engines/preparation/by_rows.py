"""Fitted steps that give a row the same cells, to the last bit, whichever rows come with it.

They are asked once about all rows that a fit is asked about. A product of matrices (PCA) is none:
how it rounds depends on how many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from truerisk.core.identity import entry_of, is_exactly

__all__ = ["drew", "is_by_rows", "may_not_draw"]

CELLS = tuple(
    f"sklearn.{place}"
    for place in (
        "preprocessing:StandardScaler",
        "preprocessing:MinMaxScaler",
        "preprocessing:MaxAbsScaler",
        "preprocessing:RobustScaler",
        "preprocessing:OneHotEncoder",
        "preprocessing:OrdinalEncoder",
        "preprocessing:Binarizer",
        "impute:SimpleImputer",
        "impute:MissingIndicator",
        "feature_selection:VarianceThreshold",
        "feature_selection:SelectKBest",
        "feature_selection:SelectPercentile",
    )
)
PARTS = {  # of a step that is made of steps: the parameter that lists them
    "sklearn.pipeline:Pipeline": "steps",
    "sklearn.pipeline:FeatureUnion": "transformer_list",
    "sklearn.compose:ColumnTransformer": "transformers",
}
WORDS = ("passthrough", "drop", None)


def is_by_rows(step: Any) -> bool:
    """Whether a step, and all that it is made of, is one of these very classes.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.preprocessing import StandardScaler
    >>> is_by_rows(make_pipeline(StandardScaler())), is_by_rows(make_pipeline(PCA()))
    (True, False)
    """
    if step is None or isinstance(step, str):
        return step in WORDS
    if is_exactly(step, *CELLS):
        return True
    return any(is_exactly(step, place) for place in PARTS) and all(map(is_by_rows, _parts(step)))


def _parts(step: Any) -> Iterator[Any]:
    listed = next(getattr(step, name) for place, name in PARTS.items() if is_exactly(step, place))
    yield from (part[1] for part in listed)
    yield getattr(step, "remainder", None)


EXACT = ("full", "covariance_eigh")
UNDECIDED = ("auto", *EXACT)


def _pca(step: Any, n_rows: int) -> bool:
    return getattr(step, "_fit_svd_solver", None) not in EXACT


def _quantiles(step: Any, n_rows: int) -> bool:
    return step.subsample is not None and n_rows > step.subsample


def _bins(step: Any, n_rows: int) -> bool:
    return step.strategy == "kmeans" or _quantiles(step, n_rows)


DRAWS: Mapping[str, Callable[[Any, int], bool]] = {
    "sklearn.decomposition:PCA": _pca,
    "sklearn.preprocessing:QuantileTransformer": _quantiles,
    "sklearn.preprocessing:KBinsDiscretizer": _bins,
}


def may_not_draw(step: Any) -> bool:
    """Whether a step without a seed may turn out, once it is fitted, to have drawn nothing."""
    solver = getattr(step, "svd_solver", "auto")
    return entry_of(step, DRAWS) is not None and solver in UNDECIDED


def drew(steps: Iterable[Any], n_rows: int) -> bool:
    """Whether some fitted step that has no seed drew random numbers, fitted on so many rows."""
    return any(
        draws(step, n_rows)
        for step in steps
        if getattr(step, "random_state", 0) is None and (draws := entry_of(step, DRAWS)) is not None
    )
