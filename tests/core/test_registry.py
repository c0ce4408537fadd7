"""A registry prints itself, loads late, and names the nearest word and the missing module."""

from collections import Counter

import pytest

import truerisk as tr
from truerisk import selection
from truerisk.core.registry import (
    Registry,
    RegistryEntry,
    check_present,
    is_present,
    suggestion_for,
)
from truerisk.exceptions import MissingBranch, UnknownName
from truerisk.losses import row_losses as losses

TABLE = Registry(
    "thing",
    {
        "counter": RegistryEntry("collections:Counter", "counts"),
        "broken": RegistryEntry("no_such_module_here:X", "cannot be loaded"),
        "tea": RegistryEntry("truerisk.methods.divination:Tea", "reads leaves"),
    },
)


def test_registry_is_a_mapping_in_the_order_of_its_lines():
    assert list(TABLE) == TABLE.names() == ["counter", "broken", "tea"]
    assert len(TABLE) == 3
    assert TABLE["counter"].module == "collections"
    assert str(TABLE).startswith("counter  counts\nbroken   cannot be loaded\n")


def test_registry_loads_a_word_when_asked_and_names_what_is_missing():
    assert TABLE.load("counter") is Counter
    with pytest.raises(ModuleNotFoundError):
        TABLE.load("broken")
    with pytest.raises(MissingBranch, match=r"needs truerisk\.methods\.divination,"):
        TABLE.load("tea")
    with pytest.raises(
        UnknownName, match="no thing 'conter'; did you mean 'counter'.*: counter, b"
    ):
        TABLE.load("conter")
    assert suggestion_for("zzz", TABLE) == ""


@pytest.mark.parametrize("module", ["methods.divination", "methods.divination.of_entrails"])
def test_check_present_names_the_first_missing_package(module):
    assert is_present("truerisk.methods.racing")
    check_present("truerisk.methods.racing")
    assert not is_present(f"truerisk.{module}")
    with pytest.raises(MissingBranch) as refused:
        check_present(f"truerisk.{module}")
    assert str(refused.value) == (
        "this call needs truerisk.methods.divination, which is missing from this installation; "
        "install truerisk anew."
    )


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
def test_registry_of_the_package_loads_every_line(registry):
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
def test_room_names_the_nearest_attribute_and_completes_its_own(room, name, near):
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
def test_names_are_the_words_of_the_registry(room):
    room = getattr(tr, room)
    assert room.names() == list(room.registry)
