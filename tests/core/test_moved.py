"""Documented places that have moved lead to the new ones."""

from __future__ import annotations

import pickle
import sys
from importlib import import_module

import pytest

from truerisk.core.moved import MOVED, follow


@pytest.mark.parametrize("old", MOVED)
def test_an_old_place_is_the_new_module(old):
    """`import old` gives the very module of the new place, whose own name stays."""
    new = import_module(MOVED[old])
    assert import_module(old) is new
    assert new.__name__ == MOVED[old] == new.__spec__.name


def test_following_twice_adds_one_finder():
    """A second call changes nothing."""
    before = len(sys.meta_path)
    follow()
    assert len(sys.meta_path) == before


def test_a_place_that_never_was_is_not_found():
    """Other names fail as ever."""
    with pytest.raises(ModuleNotFoundError, match="core.attic"):
        import_module("truerisk.core.attic")


def test_a_class_from_an_old_place_pickles():
    """What is taken from an old place is the class of the new one."""
    old = import_module("truerisk.core.data").Data
    assert pickle.loads(pickle.dumps(old)) is import_module("truerisk.core.table.data").Data
