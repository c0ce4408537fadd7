"""Preprocessing of the columns before a learner, fitted inside the folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

MOST_LEVELS = 20
"""Maximum number of indicators of a text column; rarer categories share one."""

MOST_CODES = 254
"""Maximum number of categories for learners with native support, as histograms have 255 bins.

Rarer categories share a code.
"""

UNSEEN, GAP = -1, -2  # codes for learners that treat a missing value as a category


def prepare(
    numeric: Sequence[int], text: Sequence[int], *, scale: bool, missing: bool = False
) -> Any:
    """Return a transformer for these columns, or "passthrough" if there is nothing to do.

    In numeric columns missing cells are replaced by the median of the training rows, then (`scale`)
    the columns get mean 0 and standard deviation 1. Text columns (codes of their levels, missing as
    NaN) become one indicator per level of the training rows, where missing cells are a level of
    their own; a level that did not occur in training counts among the rare ones, or as none.

    Without text columns and missing cells this is a plain `StandardScaler`, which fast engines
    know.

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
        return _numbers(scale=scale, missing=missing)
    from sklearn.compose import ColumnTransformer

    parts: list[tuple[str, Any, list[int]]] = [("text", _indicators(), list(text))]
    if numeric:
        parts.insert(0, ("number", _numbers(scale=scale, missing=missing), list(numeric)))
    return ColumnTransformer(parts, sparse_threshold=0.0)


def prepare_levels(
    numeric: Sequence[int], text: Sequence[int], levels: Literal["codes", "objects"]
) -> Any:
    """Return a transformer for learners with native categories and missing values.

    It puts numbers first, then categories. Numbers are unchanged, with NaN for missing values. Text
    becomes the code of its category among those of the training rows. As "codes", missing values
    and unseen categories are NaN. As "objects", all codes are int objects, and these two have codes
    of their own.
    """
    from sklearn.preprocessing import StandardScaler

    # Without centring and scaling it converts cells of any frame to plain numbers, with NaN for
    # missing values.
    plain = StandardScaler(with_mean=False, with_std=False)
    if not text:
        return plain
    from sklearn.compose import ColumnTransformer

    parts: list[tuple[str, Any, list[int]]] = [("text", _codes(levels), list(text))]
    if numeric:
        parts.insert(0, ("number", plain, list(numeric)))
    return ColumnTransformer(parts)


def _codes(levels: str) -> Any:
    from sklearn.preprocessing import OrdinalEncoder

    objects = levels == "objects"
    return OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=UNSEEN if objects else np.nan,
        encoded_missing_value=GAP if objects else np.nan,
        max_categories=MOST_CODES,
        dtype=object if objects else np.float64,
    )


def _numbers(*, scale: bool, missing: bool) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # A column without a value in the training rows becomes 0, so that no column disappears.
    impute = [SimpleImputer(strategy="median", keep_empty_features=True)] if missing else []
    steps = [*impute, *([StandardScaler()] if scale else [])]
    if not steps:
        return "passthrough"
    return steps[0] if len(steps) == 1 else make_pipeline(*steps)


def _indicators() -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_LEVELS, sparse_output=False
    )
