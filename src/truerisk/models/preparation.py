"""Preparation of columns for a learner (imputation, scaling, encoding), fitted inside the folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

MAX_INDICATORS = 20
"""Maximum number of indicators of a text column; the rarest categories share one indicator."""

MAX_CATEGORY_CODES = 254
"""Maximum number of categories of a column, for learners that handle categories themselves.

Their histograms have 255 bins. The rarest categories share a code.
"""

# These codes are for learners that treat a missing value as a category.
UNSEEN_CODE, MISSING_CODE = -1, -2


def prepare(
    numeric: Sequence[int], text: Sequence[int], *, scale: bool, missing: bool = False
) -> Any:
    """Return a transformer of numeric and text columns.

    If there is nothing to do, the transformer is "passthrough".

    In numeric columns missing cells are replaced by the median of the training rows, then (`scale`)
    the columns get mean 0 and standard deviation 1. Text columns (codes of their categories,
    missing as NaN) become one indicator per category of the training rows, where missing cells are
    a category of their own. A category that did not occur in training counts as a rare category,
    or has no indicator if there are no rare categories.

    Without text columns and missing cells the transformer is a plain `StandardScaler`, which fast
    engines support.

    Parameters
    ----------
    numeric : sequence of int
        Positions of the numeric columns.
    text : sequence of int
        Positions of the text columns. Without text columns all columns are numeric.
    scale : bool
        Standardise the numeric columns; indicators stay 0 and 1.
    missing : bool, default=False
        True if cells of the numeric columns may be NaN.

    Returns
    -------
    transformer or "passthrough"
        The transformer.

    See Also
    --------
    truerisk.models.learner : Build a pipeline with this step.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.models.prepare([0, 1], [], scale=True)
    StandardScaler()
    """
    if not text:
        return _number_transformer(scale=scale, has_missing_cells=missing)
    from sklearn.compose import ColumnTransformer

    transformers: list[tuple[str, Any, list[int]]] = [("text", _indicator_encoder(), list(text))]
    if numeric:
        transformers.insert(
            0,
            ("number", _number_transformer(scale=scale, has_missing_cells=missing), list(numeric)),
        )
    return ColumnTransformer(transformers, sparse_threshold=0.0)


def prepare_categories(
    numeric: Sequence[int], text: Sequence[int], levels: Literal["codes", "objects"]
) -> Any:
    """Return a transformer for learners that handle categories and missing values themselves.

    Its output has the numeric columns first, then the text columns. Numbers are unchanged, with NaN
    for missing values. Text becomes the code of its category among those of the training rows. As
    "codes", missing values and unseen categories are NaN. As "objects", all codes are int objects,
    and missing values and unseen categories have codes of their own.
    """
    from sklearn.preprocessing import StandardScaler

    # This scaler neither centres nor scales.
    # It converts cells of any frame to plain numbers, with NaN for missing values.
    number_converter = StandardScaler(with_mean=False, with_std=False)
    if not text:
        return number_converter
    from sklearn.compose import ColumnTransformer

    transformers: list[tuple[str, Any, list[int]]] = [
        ("text", _category_encoder(levels), list(text))
    ]
    if numeric:
        transformers.insert(0, ("number", number_converter, list(numeric)))
    return ColumnTransformer(transformers)


def _category_encoder(levels: str) -> Any:
    from sklearn.preprocessing import OrdinalEncoder

    uses_objects = levels == "objects"
    return OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=UNSEEN_CODE if uses_objects else np.nan,
        encoded_missing_value=MISSING_CODE if uses_objects else np.nan,
        max_categories=MAX_CATEGORY_CODES,
        dtype=object if uses_objects else np.float64,
    )


def _number_transformer(*, scale: bool, has_missing_cells: bool) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # A numeric column that is empty in the training rows becomes 0, instead of being dropped.
    imputers = (
        [SimpleImputer(strategy="median", keep_empty_features=True)] if has_missing_cells else []
    )
    steps = [*imputers, *([StandardScaler()] if scale else [])]
    if not steps:
        return "passthrough"
    return steps[0] if len(steps) == 1 else make_pipeline(*steps)


def _indicator_encoder() -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_INDICATORS, sparse_output=False
    )
