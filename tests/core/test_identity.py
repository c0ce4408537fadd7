"""What a thing is, is its class, and no method of it replaced."""

import subprocess
import sys

from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.core.identity import (
    find_class_entry,
    has_original_methods,
    is_a,
    is_exact_instance,
    is_exactly,
    is_from,
)

PLACE = "sklearn.preprocessing:StandardScaler"


class Scaler(StandardScaler):
    """A subclass that overrides nothing, under another name."""


class Namesake:
    """It has nothing but the name and the module of scikit-learn's."""


Namesake.__name__ = Namesake.__qualname__ = "StandardScaler"
Namesake.__module__ = "sklearn.preprocessing"


def replaced():
    """A scaler with a function in the place of a method."""
    scaler = StandardScaler()
    scaler.transform = lambda X: X
    return scaler


def test_is_exactly_takes_no_subclass_namesake_or_replaced_method():
    assert is_exactly(StandardScaler(with_mean=False), "no.such:Class", PLACE)
    assert is_exactly(StandardScaler().fit([[1.0], [2.0]]), PLACE)
    for other in (Scaler(), Namesake(), replaced(), StandardScaler, None):
        assert not is_exactly(other, PLACE)
        assert not is_exact_instance(other, StandardScaler)
        assert find_class_entry(other, {PLACE: 1}) is None
    assert find_class_entry(StandardScaler(), {"no.such:Class": 0, PLACE: 1}) == 1


def test_is_a_takes_subclasses_and_is_from_what_stands_in_the_package():
    assert is_a(Scaler(), PLACE)
    assert not is_a(Namesake(), PLACE)
    assert not is_a(Scaler(), "no.such:Class")
    assert is_from(StandardScaler(), "sklearn")
    assert not is_from(Namesake(), "sklearn")
    assert not is_from(Scaler(), "sklearn")


def test_keeps_refuses_overridden_and_replaced_methods():
    class Own(GridSearchCV):
        def predict(self, X):
            return super().predict(X)

    place, given = "sklearn.model_selection:GridSearchCV", (Pipeline([]), {})
    assert has_original_methods(RandomizedSearchCV(*given), place, "predict", "decision_function")
    assert has_original_methods(Own(*given), place, "decision_function")
    assert not has_original_methods(Own(*given), place, "predict")
    assert not has_original_methods(replaced(), PLACE, "transform")
    assert not has_original_methods(Namesake(), PLACE, "transform")


def test_identity_imports_nothing_to_know():
    code = (
        "import sys; from truerisk.core.identity import *\n"
        f"assert not (is_exactly(1, {PLACE!r}) or has_original_methods(1, {PLACE!r}, 'fit'))\n"
        "assert 'sklearn' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
