"""Convert the argument `cv=` to a Method: from a name, a method, a splitter, or given splits."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, cast

import numpy as np

from truerisk.contracts import Method
from truerisk.core.arguments import check_has_name, mention, refuse_class, repr_on_one_line
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.core.registry import check_known, suggestion_for
from truerisk.losses.loss import Average
from truerisk.methods import UNNAMED_CLASSES, registry

DEFAULT_FOLDS = "5-fold"
"""The default folds: the risk of a tuned model then needs three times the fits of the search."""

_FOLDS_PATTERN = re.compile(r"(reversed )?(?:(\d{1,6})\s*x\s*)?(\d{1,9})-fold")
_UNSHUFFLED_FOLDS_PATTERN = re.compile(r"(\d{1,9}) unshuffled folds")
_NUMBERED_NAME_PATTERN = re.compile(r"([a-z]+)-(\d{1,9})")


def name_default_method(rows: Any, default_method: str = DEFAULT_FOLDS) -> str:
    """Return the name of the default method, given the times and blocks of the rows.

    `rows` is an object with attributes `time` and `block`. If both are given, time decides, because
    a model is used after the rows it was trained on.

    >>> from types import SimpleNamespace
    >>> name_default_method(SimpleNamespace(time=[1, 2, 3], block=None))
    'forward-5'
    """
    if rows.time is not None:
        return "forward-5"
    return default_method if rows.block is None else "blocks-5"


def as_method(given: Any) -> Method:
    """Convert a value of `cv=` to a method of estimation.

    Parameters
    ----------
    given : str, int, Method, splitter or iterable of (train, test)
        The argument `cv=` of a verb.

    Returns
    -------
    Method
        The method.

    See Also
    --------
    truerisk.methods.names : List the names of methods.
    truerisk.extend.Method : Base class of methods.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.methods.as_method("5-fold")
    KFold(k=5, repeats=1, stratify=True, average=None)
    """
    if isinstance(given, Method):
        check_has_name("method", given)
        return given
    if isinstance(given, str):
        return method_from_name(given, {})
    if isinstance(given, Integral) and not isinstance(given, bool):
        return method_from_splitter(int(given))
    refuse_class("cv", given)
    if callable(getattr(given, "split", None)):
        return method_from_splitter(given)
    if (
        isinstance(given, list | tuple)
        and given
        and all(isinstance(entry, str | Method) for entry in given)
    ):
        raise BadArgument(
            f"{mention('cv', given)} lists several ways to split, and one is wanted here: "
            "tr.assess takes several."
        )
    if isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0:
        given_splits: Method = UNNAMED_CLASSES["GivenSplits"].load()(tuple(given))
        return given_splits
    raise UnknownName(
        f"{mention('cv', given)} is neither a word ({', '.join(registry)}), a method, a number of "
        "folds, a scikit-learn splitter, nor a list of (train, test) pairs."
    )


def method_from_splitter(splitter: Any, average: Average | None = None) -> Method:
    """Return the method for a scikit-learn splitter, or for a number of unshuffled folds.

    >>> method_from_splitter(5).name
    '5 unshuffled folds'
    """
    method: Method = UNNAMED_CLASSES["Splitter"].load()(splitter, average)
    return method


def to_cv_list(cv: Any) -> list[Any]:
    """Return `cv` as a list of values; a single value becomes a list of one.

    A list of (train, test) pairs of row numbers is a single `cv`, as in scikit-learn.
    """
    if not isinstance(cv, list | tuple):
        return [cv]
    if not cv:
        raise BadArgument(f"{mention('cv', cv)} names no splits: leave it out, or give '10-fold'.")
    is_list_of_pairs = any(isinstance(member, list | tuple | np.ndarray) for member in cv)
    return [cv] if is_list_of_pairs else list(cv)


def is_sklearn_cv(cv: Any) -> bool:
    """Return True if scikit-learn accepts this `cv` as well.

    Such values are a number of folds, a splitter, or pairs of row numbers.
    """
    return cv is not None and not isinstance(cv, str | Method)


def average_within_folds(method: Method) -> Method:
    """Return the method with row losses averaged within each fold first.

    A method whose `average` is already set is returned unchanged.
    """
    if getattr(method, "average", "") is not None:
        return method
    return replace(method, average="rows by fold")  # type: ignore[type-var]


def method_from_name(method_name: str, method_options: Mapping[str, Any]) -> Method:
    """Return the method with this name, with options that replace its defaults.

    >>> method_from_name("monte-carlo", {"splits_drawn": 5}).splits_drawn
    5
    """
    stripped_name = method_name.strip()
    factory: Callable[..., Method]
    numbers_in_name: tuple[int, ...] = ()
    if folds_match := _FOLDS_PATTERN.fullmatch(stripped_name):
        reversed_text, repeats, k = folds_match.groups()
        factory = registry.load("reversed" if reversed_text else "K-fold")
        numbers_in_name = int(k), int(repeats or 1)
    elif unshuffled_match := _UNSHUFFLED_FOLDS_PATTERN.fullmatch(
        stripped_name
    ):  # Results print this name if cv is a number.
        factory, numbers_in_name = (
            cast(Callable[..., Method], method_from_splitter),
            (int(unshuffled_match[1]),),
        )
    elif (
        numbered_match := _NUMBERED_NAME_PATTERN.fullmatch(stripped_name)
    ) and f"{numbered_match[1]}-K" in registry:
        factory, numbers_in_name = (
            registry.load(f"{numbered_match[1]}-K"),
            (int(numbered_match[2]),),
        )
    elif method_name == "K-fold":
        raise UnknownName(
            f"put a number for K: {mention('cv', '10-fold')}, or '5x10-fold' for 5 repeats."
        )
    elif method_name in registry and method_name.endswith("-K"):
        raise UnknownName(f"put a number for K: {mention('cv', f'{method_name[:-1]}5')}.")
    elif method_name in registry:
        factory = registry.load(method_name)
    else:
        known_names = [*registry, DEFAULT_FOLDS, "10-fold", "5x10-fold"]
        raise UnknownName(
            "there is no method "
            f"{repr_on_one_line(method_name)}{suggestion_for(method_name, known_names) or '.'} "
            f"Known: {', '.join(registry)} (any K, '5x10-fold' repeats)."
        )
    known_options = list(inspect.signature(factory).parameters)[len(numbers_in_name) :]
    for name in method_options:
        check_known(
            f"method {repr_on_one_line(method_name)} has no option", name, known_options, "It has"
        )
    return factory(*numbers_in_name, **method_options)
