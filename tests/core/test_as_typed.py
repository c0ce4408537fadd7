"""Arguments as they would be typed again."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.as_typed import as_typed


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
