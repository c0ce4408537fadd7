"""Whether an object is what a known class makes: by the class itself, never by its name.

A formula stands for the methods of one class. A subclass may override one of them, a class of
another module may have the same name, and a function may be put in a method's place on one object:
none of them is answered by that formula.

A class is named by its place, "module:Class", and is looked for among the modules that are
imported: one that nobody has imported has no objects, and is not imported for their sake.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import getattr_static
from typing import Any, TypeVar

PIPELINE = "sklearn.pipeline:Pipeline"
Entry = TypeVar("Entry")


def known_class(place: str) -> type | None:
    """The class at "module:Class", None where the module is not imported or lacks it."""
    module, _, name = place.partition(":")
    try:
        member = getattr(sys.modules.get(module), name, None)
    except ImportError:  # scikit-learn's way to say that an experiment is not switched on
        return None
    return member if isinstance(member, type) else None


def is_plain(value: Any, *kinds: type) -> bool:
    """Whether `value` is an object of one of these very classes, no method of it replaced.

    >>> class Own(dict): ...
    >>> is_plain({}, dict), is_plain(Own(), dict), is_plain(Own(), dict, Own)
    (True, False, True)
    """
    kind = type(value)
    own = getattr(value, "__dict__", {})
    return kind in kinds and not any(callable(getattr(kind, name, None)) for name in own)


def is_exactly(value: Any, *places: str) -> bool:
    """`is_plain` for classes named by their places.

    >>> from decimal import Decimal
    >>> is_exactly(Decimal(1), "decimal:Decimal", "fractions:Fraction"), is_exactly(1, "no:Class")
    (True, False)
    """
    return is_plain(value, *filter(None, map(known_class, places)))


def entry_of(value: Any, table: Mapping[str, Entry]) -> Entry | None:
    """Return what a table, by the places of classes, holds for exactly the class of `value`."""
    for place, entry in table.items():
        if is_exactly(value, place):
            return entry
    return None


def is_a(value: Any, *places: str) -> bool:
    """Whether `value` is of one of these classes or of a subclass, which may do otherwise."""
    return isinstance(value, tuple(filter(None, map(known_class, places))))


def is_from(value: Any, *packages: str) -> bool:
    """Whether the class of `value` stands in a module of these packages, and not only says so."""
    kind = type(value)
    inside = kind.__module__.partition(".")[0] in packages
    return inside and known_class(f"{kind.__module__}:{kind.__qualname__}") is kind


def is_honest_search(value: Any, *, exactly: bool = False) -> bool:
    """Return True for a HonestSearchCV, which packages below it know by its mark alone.

    `exactly` leaves out subclasses, which may answer in another way.
    """
    kind = type(value)
    return "_is_honest_search" in vars(kind) if exactly else hasattr(kind, "_is_honest_search")


def keeps(value: Any, place: str, *methods: str) -> bool:
    """Whether these methods of `value` are the very ones of the class at `place`, inherited or not.

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
WRITTEN_IN = {  # some write score anew, to the same effect
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
    """Return the word of an estimator's own score where scikit-learn or scikit-survival wrote it.

    That is "accuracy", "r2" or "concordance", or None where the class has a score of its own.

    A pipeline has the score of its last step.
    """
    last = estimator
    while any(keeps(last, place, "score") for place in PIPELINES):
        last = last.steps[-1][1]
    for word, places in WRITTEN_IN.items():
        if any(keeps(last, place, "score") for place in places):
            return word
    return None
