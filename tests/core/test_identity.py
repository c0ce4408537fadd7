"""What a thing is, is its class, and no method of it replaced."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.core.identity import entry_of, is_a, is_exactly, is_from, is_plain, keeps

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


def test_only_its_own_objects_are_exactly_of_a_class():
    """A subclass, a namesake and an object with a replaced method are none; parameters are free."""
    assert is_exactly(StandardScaler(with_mean=False), "no.such:Class", PLACE)
    assert is_exactly(StandardScaler().fit([[1.0], [2.0]]), PLACE)
    for other in (Scaler(), Namesake(), replaced(), StandardScaler, None):
        assert not is_exactly(other, PLACE)
        assert not is_plain(other, StandardScaler)
        assert entry_of(other, {PLACE: 1}) is None
    assert entry_of(StandardScaler(), {"no.such:Class": 0, PLACE: 1}) == 1


def test_a_kind_includes_its_subclasses():
    """For what a subclass cannot change, such as where its steps are."""
    assert is_a(Scaler(), PLACE)
    assert not is_a(Namesake(), PLACE)
    assert not is_a(Scaler(), "no.such:Class")


def test_methods_are_kept_or_not():
    """Inherited methods are those of the class; overridden or replaced ones are not."""

    class Own(GridSearchCV):
        def predict(self, X):
            return super().predict(X)

    place, given = "sklearn.model_selection:GridSearchCV", (Pipeline([]), {})
    assert keeps(RandomizedSearchCV(*given), place, "predict", "decision_function")
    assert keeps(Own(*given), place, "decision_function")
    assert not keeps(Own(*given), place, "predict")
    assert not keeps(replaced(), PLACE, "transform")
    assert not keeps(Namesake(), PLACE, "transform")


def test_a_package_holds_what_is_found_there():
    """A class that says it is from a package is looked for where it says it is."""
    assert is_from(StandardScaler(), "sklearn")
    for other in (Namesake(), Scaler()):
        assert not is_from(other, "sklearn")


@pytest.mark.parametrize(
    "call", ["is_exactly(1, PLACE)", "keeps(1, PLACE, 'fit')", "is_a(1, PLACE)"]
)
def test_nothing_is_imported_to_know(call):
    """A module that nobody has imported has no objects, and is not imported for their sake."""
    code = (
        "import sys; from truerisk.core.identity import *\n"
        f"PLACE = {PLACE!r}\nassert not {call}; assert 'sklearn' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
