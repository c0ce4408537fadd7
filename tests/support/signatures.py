"""What scikit-learn works out anew in every fit and never changes: half the price of a small one.

The suite makes about a million fits of a few rows. A fifth of its time went into reading the
signature of a class again for every clone, and into asking whether an array is a data frame.
"""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn import base
from sklearn.base import BaseEstimator
from sklearn.utils import _param_validation, validation

__all__ = ["remember_signatures"]

PLAIN = {bool, int, float, str, type(None)}


def remember_signatures() -> None:
    """The names of a class's parameters are read once, and an array is known to be no frame."""
    names = BaseEstimator.__dict__["_get_param_names"].__func__
    BaseEstimator._get_param_names = classmethod(_copied(cache(names)))
    if hasattr(_param_validation, "signature"):
        _param_validation.signature = cache(_param_validation.signature)
    passed = _passed_once(_param_validation.validate_parameter_constraints)
    for module in (base, _param_validation):
        module.validate_parameter_constraints = passed
    aliases = sys.modules.get("sklearn.externals.array_api_compat.common._aliases")
    if hasattr(aliases, "_unique_kwargs"):  # whether `numpy.unique` takes equal_nan
        aliases._unique_kwargs = cache(aliases._unique_kwargs)
    if hasattr(validation, "nw"):  # scikit-learn 1.9 and later ask narwhals
        asked = validation.nw.dependencies
        for word in ("is_into_dataframe", "is_into_series"):
            setattr(asked, word, _never_of_arrays(getattr(asked, word)))


def _copied(known: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """A list of its own for every caller."""

    def names(cls: type) -> list[str]:
        return list(known(cls))

    return names


def _passed_once(validate: Callable[..., None]) -> Callable[..., None]:
    """Numbers, words, None: where they passed once, they pass again; what fails is asked anew."""
    passed: dict[Any, Any] = {}

    def validated(constraints: Any, params: Any, caller_name: str) -> None:
        kinds = tuple(map(type, params.values()))
        if not PLAIN.issuperset(kinds):
            return validate(constraints, params, caller_name)
        key = caller_name, id(constraints), kinds, *params.items()
        if key not in passed:
            validate(constraints, params, caller_name)
            passed[key] = constraints  # is kept: no other one has its address
        return None

    return validated


def _never_of_arrays(is_frame: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def asked(X: Any) -> bool:
        return type(X) is not np.ndarray and is_frame(X)

    return asked
