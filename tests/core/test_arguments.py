"""Arguments of a wrong kind or size are named, with what came and what is wanted."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.arguments import (
    as_typed,
    check_count,
    check_flag,
    check_number,
    check_share,
    generator_of,
    shown,
)
from truerisk.core.errors import BadArgument


@pytest.mark.parametrize("given", ["5", None, 2.0, True, 0, -1, 10**12, [1], float("nan")])
def test_what_counts_nothing_is_refused(given) -> None:
    """Text, halves, truth values, nothing and numbers out of range are no count."""
    with pytest.raises(BadArgument, match="^n="):
        check_count("n", given)


@pytest.mark.parametrize("given", [1, np.int64(7), np.uint8(3), 10**9])
def test_counts_pass(given) -> None:
    """Whole numbers of Python and NumPy pass."""
    check_count("n", given)


@pytest.mark.parametrize("given", ["0.2", None, True, 0, 1, 30, float("nan"), [0.2]])
def test_what_is_no_share_is_refused(given) -> None:
    """A share lies strictly between 0 and its bound."""
    with pytest.raises(BadArgument, match="^part=.*0 < part < 1"):
        check_share("part", given)


def test_numbers_have_both_ends() -> None:
    """The ends of a range belong to it, and neither NaN nor what lies outside does."""
    for given in (0, 1.0, np.float32(0.5)):
        check_number("g", given, 0, 1, "between 0 and 1")
    for given in (-0.1, 1.1, float("nan"), "1", None):
        with pytest.raises(BadArgument, match="^g=.*between 0 and 1"):
            check_number("g", given, 0, 1, "between 0 and 1")


def test_flags_are_truth_values() -> None:
    """True and False of Python and NumPy pass; 1 and "no" do not."""
    for given in (True, False, np.True_):
        check_flag("f", given)
    for given in (1, "no", None, np.array([True])):
        with pytest.raises(BadArgument, match="^f=.*True or False"):
            check_flag("f", given)


@pytest.mark.parametrize("given", ["x", -1, 1.5, True])
def test_what_is_no_seed_is_refused(given) -> None:
    """Seeds are whole numbers of at least 0, None or generators."""
    with pytest.raises(BadArgument, match="^random_state="):
        generator_of(given)


def test_a_generator_is_taken_as_it_is() -> None:
    """The same seed gives the same stream, a generator is itself."""
    rng = np.random.default_rng(3)
    assert generator_of(rng) is rng
    assert generator_of(3).integers(1000) == np.random.default_rng(3).integers(1000)


def test_long_and_many_lined_values_are_cut() -> None:
    """A message stays one line whatever was given."""
    text = shown(np.arange(1000).reshape(50, 20))
    assert "\n" not in text
    assert len(text) == 60


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a column", "'a column'"),
        (np.int64(3), "3"),
        (["auc", "log"], "['auc', 'log']"),
        (("auc",), "['auc']"),
        (np.arange(5), "name"),
        (
            {"half": np.arange(5), "a b": np.arange(5), "n": 2},
            "{'half': half, 'a b': name, 'n': 2}",
        ),
        (list(range(200)), "name"),
        ([np.arange(3)], "name"),
        (sum, "name"),
        ("two\nlines", repr("two\nlines")),
    ],
)
def test_short_values_stand_and_others_are_variables(value, text):
    """Rows are never written out."""
    assert as_typed(name=value) == {"name": text}


def test_what_was_not_given_is_not_typed():
    """None is the default of all of them."""
    assert as_typed(time=None, scores=None) == {}
