"""Derive several settings of a pipeline step from one fit, such as numbers of components.

The scores of a feature selection do not depend on the number of selected columns. The components
of PCA with fewer components are the first components of PCA with more. The result equals a separate
fit, except for the noise variance that PCA computes from the omitted components, which is summed in
another order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly

# scikit-learn's PCA decomposes the covariance matrix of at most this many columns.
MAX_COVARIANCE_COLUMNS = 1_000
# It decomposes the covariance matrix only if X has at least this many rows per column.
MIN_ROWS_PER_COLUMN = 10
# PCA computes the full decomposition if neither rows nor columns are more than this.
MAX_FULL_SOLVER_SIZE = 500


@frozen
class SharedFitParameter:
    """Parameter of a pipeline step for which one fit yields the step at several values.

    `choose_value_to_fit` returns the value in the grid that is fitted to a table X, or None if no
    single fit serves the other values. `derive_fitted_step` returns the step as if it were fitted
    at another value, and its transformed table (None: the step has to transform X). It returns None
    if that value needs a fit of its own.
    """

    parameter_name: str
    choose_value_to_fit: Callable[[Any, Sequence[Any], Any], Any]
    derive_fitted_step: Callable[[Any, Any, Any], tuple[Any, Any] | None]


def find_shared_fit_parameter(step: Any) -> SharedFitParameter | None:
    """Return the parameter for which one fit yields the step at several values, or None.

    >>> from sklearn.feature_selection import SelectKBest
    >>> find_shared_fit_parameter(SelectKBest()).parameter_name
    'k'
    """
    shared_parameters = (
        shared_parameter
        for class_path, shared_parameter in _SHARED_FIT_PARAMETERS.items()
        if is_exactly(step, class_path)
    )
    return next(shared_parameters, None)


def _make_selector_parameter(parameter: str, is_valid: Callable[[Any], bool]) -> SharedFitParameter:
    """Return the `SharedFitParameter` of a selector whose fit does not depend on this parameter.

    Such a selector rates the columns in `fit` and uses the parameter only to select them.
    """

    def choose_value(step: Any, values: Sequence[Any], X: Any) -> Any:
        return next(filter(is_valid, values), None)

    def derive_step(fitted_step: Any, value: Any, table: Any) -> tuple[Any, Any] | None:
        return (
            (_copy_with_attributes(fitted_step, **{parameter: value}), None)
            if is_valid(value)
            else None
        )

    return SharedFitParameter(parameter, choose_value, derive_step)


def _choose_smallest_k(step: Any, values: Sequence[Any], X: Any) -> Any:
    """Return the smallest k of SelectKBest in the grid that X has columns for, or None.

    A larger k is not used, because scikit-learn warns if it exceeds the number of columns.
    """
    return min((k for k in values if _is_count(k) and k <= np.shape(X)[1]), default=None)


def _derive_selector(fitted_step: Any, value: Any, table: Any) -> tuple[Any, Any] | None:
    if not _is_count(value) or value > fitted_step.n_features_in_:
        return None
    return _copy_with_attributes(fitted_step, k=value), None


def _choose_largest_n_components(step: Any, values: Sequence[Any], X: Any) -> Any:
    """Return the largest valid number of components of a PCA in the grid, or None.

    Return None if PCA's solver depends on the number of components, or if X is sparse.
    """
    n_rows, n_columns = np.shape(X)
    is_full_solver = step.svd_solver in ("full", "covariance_eigh") or (
        step.svd_solver == "auto"
        and (_is_tall(n_rows, n_columns) or max(n_rows, n_columns) <= MAX_FULL_SOLVER_SIZE)
    )
    if hasattr(X, "tocsr") or not is_full_solver:
        return None
    return max(
        (n for n in values if _is_count(n) and 0 < n <= min(n_rows, n_columns)), default=None
    )


def _derive_pca(fitted_step: Any, value: Any, table: Any) -> tuple[Any, Any] | None:
    """Return a PCA with fewer components, derived from a fitted one, and its transformed table.

    The table consists of the first columns of `table`. It is None if the PCA has to transform X
    instead. Return None if the number of components needs a fit of its own.
    """
    n_fitted_components, rank = (
        fitted_step.n_components_,
        min(fitted_step.n_samples_, fitted_step.n_features_in_),
    )
    n_eigenvalues = fitted_step.n_features_in_ if _has_decomposed_covariance(fitted_step) else rank
    if (
        not _is_count(value)
        or not 0 < value <= n_fitted_components
        or type(table) is not np.ndarray
    ):
        return None
    explained_variances, n = fitted_step.explained_variance_, int(value)
    omitted_variance = explained_variances[n:].sum() + fitted_step.noise_variance_ * (
        n_eigenvalues - n_fitted_components
    )
    smaller_pca = _copy_with_attributes(
        fitted_step,
        n_components=value,
        n_components_=value,
        # order="K" keeps the memory order of the components, which affects rounding in products.
        components_=np.array(fitted_step.components_[:n], order="K"),
        explained_variance_=explained_variances[:n].copy(),
        explained_variance_ratio_=fitted_step.explained_variance_ratio_[:n].copy(),
        singular_values_=fitted_step.singular_values_[:n].copy(),
        noise_variance_=omitted_variance / (n_eigenvalues - n) if n < rank else 0.0,
    )
    return smaller_pca, None if _has_decomposed_covariance(fitted_step) else table[:, :n]


def _has_decomposed_covariance(fitted_step: Any) -> bool:
    """Return True if PCA decomposed the covariance matrix and not the table itself.

    Its scores of the training rows are then computed by `transform`.
    """
    is_tall = _is_tall(fitted_step.n_samples_, fitted_step.n_features_in_)
    return fitted_step.svd_solver == "covariance_eigh" or (
        fitted_step.svd_solver == "auto" and is_tall
    )


def _is_tall(n_rows: int, n_columns: int) -> bool:
    return n_columns <= MAX_COVARIANCE_COLUMNS and n_rows >= MIN_ROWS_PER_COLUMN * n_columns


def _copy_with_attributes(fitted_step: Any, **attributes: Any) -> Any:
    changed_copy = copy.copy(fitted_step)
    vars(changed_copy).update(attributes)
    return changed_copy


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def _is_number(value: Any, maximum: float = np.inf) -> bool:
    is_numeric = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return is_numeric and bool(0 <= value <= maximum)


_SELECTION_MODULE_PREFIX = "sklearn.feature_selection:"
_ALPHA_PARAMETER = _make_selector_parameter("alpha", partial(_is_number, maximum=1))
_SHARED_FIT_PARAMETERS = {
    "sklearn.decomposition:PCA": SharedFitParameter(
        "n_components", _choose_largest_n_components, _derive_pca
    ),
    f"{_SELECTION_MODULE_PREFIX}SelectKBest": SharedFitParameter(
        "k", _choose_smallest_k, _derive_selector
    ),
    f"{_SELECTION_MODULE_PREFIX}SelectPercentile": _make_selector_parameter(
        "percentile", partial(_is_number, maximum=100)
    ),
    f"{_SELECTION_MODULE_PREFIX}SelectFpr": _ALPHA_PARAMETER,
    f"{_SELECTION_MODULE_PREFIX}SelectFdr": _ALPHA_PARAMETER,
    f"{_SELECTION_MODULE_PREFIX}SelectFwe": _ALPHA_PARAMETER,
    f"{_SELECTION_MODULE_PREFIX}SelectFromModel": _make_selector_parameter(
        "threshold", lambda value: isinstance(value, str) or _is_number(value)
    ),
}
