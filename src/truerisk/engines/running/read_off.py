"""Derive several settings of a step from one fit of it, such as numbers of components or columns.

The scores of a feature selection do not depend on the number of selected columns, and the first
components of a decomposition are those of a shorter one. The result equals a separate fit, except
for the noise variance that PCA computes from the omitted components, which is summed in another
order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly

MOST_COLUMNS = 1_000  # scikit-learn's PCA decomposes the covariance up to this number of columns
TALL = 10  # if there are at least this many rows per column
# the most rows and columns of a table for which PCA computes the full decomposition
MOST_CELLS = 500


@frozen
class Reading:
    """The parameter whose values share a fit, the value that is fitted, and how others are derived.

    `fitted_at` returns the value in the grid that is fitted to a table X, or None if none can serve
    the others. `read` returns the step as if it were fitted at another value, and its table (None:
    the step has to transform X). It returns None if that value needs a fit of its own.
    """

    parameter: str
    fitted_at: Callable[[Any, Sequence[Any], Any], Any]
    read: Callable[[Any, Any, Any], tuple[Any, Any] | None]


def reading_of(step: Any) -> Reading | None:
    """Return how settings of this step are derived from one fit, or None if they cannot be.

    >>> from sklearn.feature_selection import SelectKBest
    >>> reading_of(SelectKBest()).parameter
    'k'
    """
    readings = (reading for place, reading in _KNOWN.items() if is_exactly(step, place))
    return next(readings, None)


def _rated(parameter: str, is_valid: Callable[[Any], bool]) -> Reading:
    """Return the Reading of a selector that applies the parameter only when it selects columns."""

    def fitted_at(step: Any, values: Sequence[Any], X: Any) -> Any:
        return next(filter(is_valid, values), None)

    def read(fitted: Any, value: Any, table: Any) -> tuple[Any, Any] | None:
        return (_set(fitted, **{parameter: value}), None) if is_valid(value) else None

    return Reading(parameter, fitted_at, read)


def _fewest_columns(step: Any, values: Sequence[Any], X: Any) -> Any:
    """Return the smallest valid number of columns; scikit-learn warns of more than there are."""
    return min((k for k in values if _is_count(k) and k <= np.shape(X)[1]), default=None)


def _selected_columns(fitted: Any, value: Any, table: Any) -> tuple[Any, Any] | None:
    if not _is_count(value) or value > fitted.n_features_in_:
        return None
    return _set(fitted, k=value), None


def _most_components(step: Any, values: Sequence[Any], X: Any) -> Any:
    """Return the largest valid number of components; None if the solver depends on the number."""
    rows, columns = np.shape(X)
    alike = step.svd_solver in ("full", "covariance_eigh") or (
        step.svd_solver == "auto" and (_is_tall(rows, columns) or max(rows, columns) <= MOST_CELLS)
    )
    if hasattr(X, "tocsr") or not alike:
        return None
    return max((n for n in values if _is_count(n) and 0 < n <= min(rows, columns)), default=None)


def _first_components(fitted: Any, value: Any, table: Any) -> tuple[Any, Any] | None:
    """Return PCA with fewer components, and its scores if they are columns of the fitted table."""
    most, rank = fitted.n_components_, min(fitted.n_samples_, fitted.n_features_in_)
    total = fitted.n_features_in_ if _by_covariance(fitted) else rank  # the number of variances
    if not _is_count(value) or not 0 < value <= most or type(table) is not np.ndarray:
        return None
    variances, n = fitted.explained_variance_, int(value)
    noise = variances[n:].sum() + fitted.noise_variance_ * (total - most)
    one = _set(
        fitted,
        n_components=value,
        n_components_=value,
        # The memory order decides how products are rounded.
        components_=np.array(fitted.components_[:n], order="K"),
        explained_variance_=variances[:n].copy(),
        explained_variance_ratio_=fitted.explained_variance_ratio_[:n].copy(),
        singular_values_=fitted.singular_values_[:n].copy(),
        noise_variance_=noise / (total - n) if n < rank else 0.0,
    )
    return one, None if _by_covariance(fitted) else table[:, :n]


def _by_covariance(fitted: Any) -> bool:
    """Return True if PCA decomposed the covariance; its table then is the transform of the rows."""
    tall = _is_tall(fitted.n_samples_, fitted.n_features_in_)
    return fitted.svd_solver == "covariance_eigh" or (fitted.svd_solver == "auto" and tall)


def _is_tall(rows: int, columns: int) -> bool:
    return columns <= MOST_COLUMNS and rows >= TALL * columns


def _set(fitted: Any, **attributes: Any) -> Any:
    one = copy.copy(fitted)
    vars(one).update(attributes)
    return one


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def _is_number(value: Any, most: float = np.inf) -> bool:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and bool(0 <= value <= most)


_SELECTION = "sklearn.feature_selection:"
_ALPHA = _rated("alpha", partial(_is_number, most=1))
_KNOWN = {
    "sklearn.decomposition:PCA": Reading("n_components", _most_components, _first_components),
    f"{_SELECTION}SelectKBest": Reading("k", _fewest_columns, _selected_columns),
    f"{_SELECTION}SelectPercentile": _rated("percentile", partial(_is_number, most=100)),
    f"{_SELECTION}SelectFpr": _ALPHA,
    f"{_SELECTION}SelectFdr": _ALPHA,
    f"{_SELECTION}SelectFwe": _ALPHA,
    f"{_SELECTION}SelectFromModel": _rated(
        "threshold", lambda value: isinstance(value, str) or _is_number(value)
    ),
}
