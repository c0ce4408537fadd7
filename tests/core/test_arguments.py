"""Arguments of a wrong kind or size are named, with what came and what is wanted."""

import numpy as np
import pytest

from truerisk.core.arguments import (
    check_count,
    check_flag,
    check_level,
    check_number,
    check_share,
    format_arguments,
    repr_on_one_line,
    to_random_generator,
)
from truerisk.extend import BadArgument


def check_unit(name, given):
    """Check a number from 0 to 1, both ends included."""
    check_number(name, given, 0, 1, "between 0 and 1")


def check_seed(random_state, given):
    to_random_generator(given)


GOOD = {
    check_count: [1, np.int64(7), np.uint8(3), 10**9],
    check_share: [0.5, np.float32(0.1)],
    check_level: [0.5, np.float64(0.95)],
    check_unit: [0, 1.0, np.float32(0.5)],
    check_flag: [True, False, np.True_],
    check_seed: [None, 0, np.int64(3)],
}
BAD = {
    check_count: ["5", None, 2.0, True, 0, -1, 10**12, [1], float("nan")],
    check_share: ["0.2", None, True, 0, 1, 30, float("nan"), [0.2]],
    check_level: ["0.95", None, True, 0, 1, -1, 95, float("nan"), 1e-300],
    check_unit: [-0.1, 1.1, float("nan"), "1", None],
    check_flag: [1, "no", None, np.array([True])],
    check_seed: ["x", -1, 1.5, True],
}
WANTED = {
    check_count: "^n=",
    check_share: "^n=.*0 < n < 1",
    check_level: "^n=.*use a level",
    check_unit: "^n=.*between 0 and 1",
    check_flag: "^n=.*True or False",
    check_seed: "^random_state=",
}


@pytest.mark.parametrize(("check", "given"), [(check, one) for check in BAD for one in BAD[check]])
def test_check_functions_name_the_argument_and_what_is_wanted(check, given):
    for good in GOOD[check]:
        check("n", good)
    with pytest.raises(BadArgument, match=WANTED[check]):
        check("n", given)


def test_generator_of_takes_a_generator_as_it_is():
    rng = np.random.default_rng(3)
    assert to_random_generator(rng) is rng
    assert to_random_generator(3).integers(1000) == np.random.default_rng(3).integers(1000)


def test_shown_cuts_long_values_to_one_line():
    text = repr_on_one_line(np.arange(1000).reshape(50, 20))
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
def test_as_typed_writes_short_values_and_names_others(value, text):
    """Rows are never written out, and what was not given is left out."""
    assert format_arguments(name=value, time=None) == {"name": text}
