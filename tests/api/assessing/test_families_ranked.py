"""Equal learners stand in an order of their own."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from truerisk.api.assessing.families import by_text, ranked
from truerisk.core.family import Family

FAMILIES = {
    "a": Family.of(DecisionTreeClassifier()),
    "b": Family.of(KNeighborsClassifier(), {"n_neighbors": [3, 5]}),
    "c": Family.of(KNeighborsClassifier(), {"n_neighbors": [3]}),
}


def test_neither_order_nor_names_say_which_comes_first():
    """Class, parameters and settings as text do."""
    assert by_text(FAMILIES) == by_text(dict(reversed(FAMILIES.items()))) == ["b", "c", "a"]
    renamed = {"z": FAMILIES["b"], "y": FAMILIES["c"], "x": FAMILIES["a"]}
    assert by_text(renamed) == ["z", "y", "x"]


def test_addresses_are_no_text():
    """A function is written with its address, which is another in every run."""
    pair = [Family.of(FunctionTransformer(lambda x: x)) for _ in range(2)]
    assert by_text({"one": pair[0], "two": pair[1]}) == ["one", "two"]
    assert by_text({"two": pair[1], "one": pair[0]}) == ["two", "one"]


def test_equal_risks_stand_in_the_given_order():
    """Also where they differ in the last bit; who has none stands last."""
    risks = {"a": 0.1, "b": 0.1 + 1e-15, "c": None, "d": 0.05}
    assert ranked(risks, "cba" + "d") == ["d", "b", "a", "c"]
    assert ranked({"a": None, "b": None}, ["b", "a"]) == ["b", "a"]
