"""Test whether an object belongs to a known class: by the class itself, never by its name.

A closed-form formula stands for the methods of one class. It must not be used for a subclass that
may override a method, for a class of another module with the same name, or for an object on which a
method was replaced by a function.

A class is named by "module:Class" and looked up among the imported modules. A class whose module is
not imported has no instances, so the module is not imported just to test for them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import getattr_static
from typing import Any, TypeVar

PIPELINE = "sklearn.pipeline:Pipeline"
Entry = TypeVar("Entry")


def known_class(place: str) -> type | None:
    """Return the class at "module:Class", or None if the module is not imported or lacks it."""
    module, _, name = place.partition(":")
    try:
        member = getattr(sys.modules.get(module), name, None)
    except ImportError:  # scikit-learn raises this if an experimental feature is not enabled.
        return None
    return member if isinstance(member, type) else None


def is_plain(value: Any, *kinds: type) -> bool:
    """Return True if `value` is of exactly one of these classes, with no method replaced.

    >>> class Own(dict): ...
    >>> is_plain({}, dict), is_plain(Own(), dict), is_plain(Own(), dict, Own)
    (True, False, True)
    """
    kind = type(value)
    own = getattr(value, "__dict__", {})
    return kind in kinds and not any(callable(getattr(kind, name, None)) for name in own)


def is_exactly(value: Any, *places: str) -> bool:
    """Return `is_plain` for classes given as "module:Class".

    >>> from decimal import Decimal
    >>> is_exactly(Decimal(1), "decimal:Decimal", "fractions:Fraction"), is_exactly(1, "no:Class")
    (True, False)
    """
    return is_plain(value, *filter(None, map(known_class, places)))


def entry_of(value: Any, table: Mapping[str, Entry]) -> Entry | None:
    """Return the entry of a table, keyed by "module:Class", for exactly the class of `value`."""
    for place, entry in table.items():
        if is_exactly(value, place):
            return entry
    return None


def is_a(value: Any, *places: str) -> bool:
    """Return True if `value` is an instance of one of these classes or of a subclass.

    A subclass may behave differently.
    """
    return isinstance(value, tuple(filter(None, map(known_class, places))))


def is_from(value: Any, *packages: str) -> bool:
    """Return True if the class of `value` is defined in a module of these packages.

    The class is looked up in the module, because its `__module__` alone proves nothing.
    """
    kind = type(value)
    inside = kind.__module__.partition(".")[0] in packages
    return inside and known_class(f"{kind.__module__}:{kind.__qualname__}") is kind


def is_honest_search(value: Any, *, exactly: bool = False) -> bool:
    """Return True for a HonestSearchCV, which lower packages recognise by a class attribute.

    `exactly` excludes subclasses, which may behave differently.
    """
    kind = type(value)
    return "_is_honest_search" in vars(kind) if exactly else hasattr(kind, "_is_honest_search")


def keeps(value: Any, place: str, *methods: str) -> bool:
    """Return True if these methods of `value` are those of the class at `place`.

    They may be inherited, but neither overridden nor replaced on the object.

    >>> class Own(dict):
    ...     def keys(self): ...
    >>> keeps(Own(), "builtins:dict", "items"), keeps(Own(), "builtins:dict", "items", "keys")
    (True, False)
    """
    kind, own = known_class(place), getattr(value, "__dict__", {})
    return kind is not None and all(
        getattr_static(type(value), name, None) is getattr_static(kind, name) and name not in own
        for name in methods
    )


PIPELINES = (PIPELINE, "imblearn.pipeline:Pipeline")
WRITTEN_IN = {  # Some classes define an equivalent `score` of their own.
    "accuracy": (
        "sklearn.base:ClassifierMixin",
        "sklearn.neighbors:KNeighborsClassifier",
        "sklearn.neighbors:RadiusNeighborsClassifier",
        "sklearn.dummy:DummyClassifier",
        "catboost.core:CatBoostClassifier",
    ),
    "r2": ("sklearn.base:RegressorMixin", "sklearn.dummy:DummyRegressor"),
    "concordance": ("sksurv.base:SurvivalAnalysisMixin",),
}


def usual_score(estimator: Any) -> str | None:
    """Return the name of an estimator's own score if scikit-learn or scikit-survival defines it.

    The name is "accuracy", "r2" or "concordance", and None if the class has another score. A
    pipeline has the score of its last step.
    """
    last = estimator
    while any(keeps(last, place, "score") for place in PIPELINES):
        last = last.steps[-1][1]
    for name, places in WRITTEN_IN.items():
        if any(keeps(last, place, "score") for place in places):
            return name
    return None
