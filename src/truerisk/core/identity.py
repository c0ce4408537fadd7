"""Tests whether an object belongs to a known class: by the class itself, never by its name alone.

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


def imported_class(class_path: str) -> type | None:
    """Return the class named "module:Class", or None if its module is not imported."""
    module_name, _, class_name = class_path.partition(":")
    try:
        module_member = getattr(sys.modules.get(module_name), class_name, None)
    # scikit-learn raises ImportError if an experimental feature is not enabled.
    except ImportError:
        return None
    return module_member if isinstance(module_member, type) else None


def is_exact_instance(value: Any, *classes: type) -> bool:
    """Return True if `value` belongs to exactly one of these classes and no method was replaced.

    >>> class Own(dict): ...
    >>> (
    ...     is_exact_instance({}, dict),
    ...     is_exact_instance(Own(), dict),
    ...     is_exact_instance(Own(), dict, Own),
    ... )
    (True, False, True)
    """
    value_class = type(value)
    instance_attributes = getattr(value, "__dict__", {})
    return value_class in classes and not any(
        callable(getattr(value_class, attribute_name, None))
        for attribute_name in instance_attributes
    )


def is_exactly(value: Any, *class_paths: str) -> bool:
    """Return True if `value` belongs to exactly one of these classes, given as "module:Class".

    The test is that of `is_exact_instance`: an object on which a method was replaced does not
    count.

    >>> from decimal import Decimal
    >>> is_exactly(Decimal(1), "decimal:Decimal", "fractions:Fraction"), is_exactly(1, "no:Class")
    (True, False)
    """
    return is_exact_instance(value, *filter(None, map(imported_class, class_paths)))


def find_class_entry(value: Any, entry_by_class: Mapping[str, Entry]) -> Entry | None:
    """Return the table's entry for the exact class of `value`, or None if there is no entry.

    The keys of the table are classes, each written as "module:Class".
    """
    for class_path, table_entry in entry_by_class.items():
        if is_exactly(value, class_path):
            return table_entry
    return None


def is_a(value: Any, *class_paths: str) -> bool:
    """Return True if the object is an instance of one of these classes or of a subclass.

    A subclass may behave differently.
    """
    return isinstance(value, tuple(filter(None, map(imported_class, class_paths))))


def is_from(value: Any, *packages: str) -> bool:
    """Return True if the object's class is defined in one of these packages.

    The class is looked up in the module, because its `__module__` alone proves nothing.
    """
    value_class = type(value)
    has_package_name = value_class.__module__.partition(".")[0] in packages
    return (
        has_package_name
        and imported_class(f"{value_class.__module__}:{value_class.__qualname__}") is value_class
    )


def is_honest_search(value: Any, *, exactly: bool = False) -> bool:
    """Return True if the object is a HonestSearchCV, which is recognised by a class attribute.

    Lower packages cannot import the class itself. With `exactly`, instances of subclasses are
    excluded, since they may behave differently.
    """
    value_class = type(value)
    return (
        "_is_honest_search" in vars(value_class)
        if exactly
        else hasattr(value_class, "_is_honest_search")
    )


def has_original_methods(value: Any, class_path: str, *methods: str) -> bool:
    """Return True if an object has these methods unchanged from the class at `class_path`.

    They may be inherited, but neither overridden nor replaced on the object.

    >>> class Own(dict):
    ...     def keys(self): ...
    >>> has_original_methods(Own(), "builtins:dict", "items")
    True
    >>> has_original_methods(Own(), "builtins:dict", "items", "keys")
    False
    """
    original_class, instance_attributes = imported_class(class_path), getattr(value, "__dict__", {})
    return original_class is not None and all(
        getattr_static(type(value), method_name, None)
        is getattr_static(original_class, method_name)
        and method_name not in instance_attributes
        for method_name in methods
    )


PIPELINES = (PIPELINE, "imblearn.pipeline:Pipeline")
CLASSES_BY_SCORE = {  # for each measure, the classes whose `score` method computes it
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


def standard_score_name(estimator: Any) -> str | None:
    """Return the name of the standard measure that the estimator's `score` method computes.

    The name is "accuracy", "r2" or "concordance". The standard implementations are those of
    scikit-learn, CatBoost and scikit-survival. Return None if the class has another score. A
    pipeline has the score of its last step.
    """
    learner = estimator
    while any(has_original_methods(learner, class_path, "score") for class_path in PIPELINES):
        learner = learner.steps[-1][1]
    for score_name, class_paths in CLASSES_BY_SCORE.items():
        if any(has_original_methods(learner, class_path, "score") for class_path in class_paths):
            return score_name
    return None


def takes_environment(model: Any) -> bool:
    """Return True for a learner or search of skrub's DataOps, which is fitted on an environment.

    skrub itself recognises them by this method. What the method returns takes X and y, and holds
    the environment.
    """
    return hasattr(type(model), "__skrub_to_Xy_pipeline__") and not hasattr(model, "environment")
