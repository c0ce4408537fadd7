"""A user's function is imported only where it is allowed."""

from __future__ import annotations

import click
import pytest

from truerisk.cli.bodies.audit import call_factory, load_factory
from truerisk.core.errors import TrueRiskError, UnknownName


@pytest.fixture
def place(tmp_path):
    """A file with one function."""
    path = tmp_path / "search.py"
    path.write_text("raise_me = None\ndef make():\n    return 42\n")
    return path


def test_code_is_run_only_when_allowed(tmp_path):
    """Without --allow-import the file is not even read."""
    path = tmp_path / "mark.py"
    path.write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\ndef make(): pass\n"
    )
    with pytest.raises(click.UsageError, match=r"--allow-import"):
        load_factory(f"{path}:make", allowed=False)
    assert not (tmp_path / "ran").exists()
    load_factory(f"{path}:make", allowed=True)
    assert (tmp_path / "ran").exists()


def test_a_file_and_a_module_give_their_function(place):
    """file.py:name and package.module:name."""
    assert load_factory(f"{place}:make", allowed=True)() == 42
    assert load_factory("math:sqrt", allowed=True)(4) == 2


@pytest.mark.parametrize("word", ["search.py", "search.py:", ":make", "search.py:a b"])
def test_a_place_has_two_parts(word):
    """Anything else is a usage error."""
    with pytest.raises(click.UsageError, match=r"file\.py:name"):
        load_factory(word, allowed=True)


def test_what_is_missing_is_named(place, tmp_path):
    """The file, the function with the nearest name, the module."""
    with pytest.raises(UnknownName, match="there is no file"):
        load_factory(f"{tmp_path / 'none.py'}:make", allowed=True)
    with pytest.raises(UnknownName, match="did you mean 'make'"):
        load_factory(f"{place}:maki", allowed=True)
    with pytest.raises(UnknownName, match="has no function 'raise_me'"):
        load_factory(f"{place}:raise_me", allowed=True)
    with pytest.raises(TrueRiskError, match="no_such_module failed: ModuleNotFoundError"):
        load_factory("no_such_module:make", allowed=True)


def test_code_that_raises_is_one_sentence(tmp_path):
    """While it is imported, and while it is called."""
    path = tmp_path / "bad.py"
    path.write_text("1 / 0\n")
    with pytest.raises(TrueRiskError, match=r"bad\.py failed: ZeroDivisionError"):
        load_factory(f"{path}:make", allowed=True)

    def make():
        raise KeyError("x")

    with pytest.raises(TrueRiskError, match="make failed: KeyError"):
        call_factory(make, 1, 2)


def test_the_rows_go_to_a_function_of_two():
    """None, or X and y; anything else is refused."""
    assert call_factory(lambda: 1, 2, 3) == 1
    assert call_factory(lambda X, y: (X, y), 2, 3) == (2, 3)
    assert call_factory(lambda X, y, k=5: k, 2, 3) == 5
    with pytest.raises(UnknownName, match="takes 1 arguments"):
        call_factory(lambda X: X, 2, 3)
