"""A registry prints itself, loads late, and names the nearest word."""

from __future__ import annotations

import pytest

import truerisk as tr
from truerisk import selection
from truerisk.core.errors import UnknownName
from truerisk.core.registry import Line, Registry, closest
from truerisk.losses import row_losses as losses

TABLE = Registry(
    "thing",
    {
        "counter": Line("collections:Counter", "counts"),
        "broken": Line("no_such_module_here:X", "cannot be loaded"),
    },
)


def test_a_table_of_words() -> None:
    """It is a mapping in the order of its lines, and prints one line each."""
    assert list(TABLE) == TABLE.names() == ["counter", "broken"]
    assert len(TABLE) == 2
    assert TABLE["counter"].module == "collections"
    assert str(TABLE) == "counter  counts\nbroken   cannot be loaded"


def test_words_are_loaded_when_asked_for() -> None:
    """A line that cannot be imported harms nobody who does not ask for it."""
    from collections import Counter

    assert TABLE.load("counter") is Counter
    with pytest.raises(ModuleNotFoundError):
        TABLE.load("broken")


def test_an_unknown_word_gets_the_nearest() -> None:
    """The message says what is unknown, the nearest word, and all words."""
    with pytest.raises(
        UnknownName, match=r"no thing 'conter'; did you mean 'counter'\? Known: counter, broken"
    ):
        TABLE.load("conter")
    assert closest("zzz", TABLE) == ""


@pytest.mark.parametrize(
    "registry",
    [
        losses.registry,
        selection.registry,
        tr.methods.registry,
        __import__("truerisk.engines.choice", fromlist=["registry"]).registry,
    ],
    ids=lambda registry: registry.kind,
)
def test_every_line_of_the_package_loads(registry) -> None:
    """Each word of each table of these rooms leads to something callable."""
    assert all(callable(registry.load(word)) for word in registry)


@pytest.mark.parametrize(
    ("room", "name", "near"),
    [
        (tr, "asess", "assess"),
        (tr.methods, "KFlod", "KFold"),
        (tr.engines, "Generc", "Generic"),
        (tr.models, "ParzenClasifier", "ParzenClassifier"),
        (tr.datasets, "make_simpel", "make_simple"),
        (tr.testing, "check_enigne", "check_engine"),
        (tr.losses, "Breir", "Brier"),
        (tr.intervals, "Sureess", "Sureness"),
        (tr.selection, "as_rul", "as_rule"),
    ],
)
def test_a_mistyped_name_gets_the_nearest(room, name, near) -> None:
    """As words do; and completion offers its names, none that it imports for itself."""
    face = next(
        (f"truerisk.{word}" for word in tr.__all__ if getattr(tr, word) is room), "truerisk"
    )
    sentence = f"module '{face}' has no attribute '{name}'; did you mean '{near}'"
    with pytest.raises(AttributeError, match=sentence):
        getattr(room, name)
    assert near in dir(room)
    assert not {"annotations", "np", "lines_of"} & set(dir(room))


@pytest.mark.parametrize(
    "room", ["datasets", "engines", "intervals", "losses", "methods", "models", "selection"]
)
def test_every_room_of_words_has_the_same_face(room) -> None:
    """`tr.losses.names()` as `tr.methods.names()`: the words of its registry, in their order."""
    room = getattr(tr, room)
    assert room.names() == list(room.registry)
