"""`compare` takes a word, and refuses what no test answers to."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.api.comparing.contract import registry
from truerisk.core.errors import UnknownName

A, B = np.random.default_rng(0).random((2, 10))


@pytest.mark.parametrize("word", registry)
def test_every_word_names_its_result(word) -> None:
    """The result carries the word of its test and a difference a − b."""
    rows = (A > 0.5, B > 0.5) if word == "mcnemar" else (A, B)
    sizes = {} if word == "mcnemar" else {"n_train": 50, "n_test": 50}
    found = tr.compare(*rows, test=word, **sizes)
    assert found.test == word
    difference = np.mean(np.subtract(*np.array(rows, dtype=float)))
    assert found.difference == pytest.approx(difference)
    assert found.assumed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t-test"}, "there is no test 't-test'"),
        ({"test": "nadeau"}, "did you mean 'nadeau-bengio'"),
        ({"test": "bayes", "rope": -0.1}, "rope=-0.1"),
        ({"rope": 0.02}, "belongs to test='bayes'"),
        ({"test": "bayes", "rope": "wide"}, "rope=wide"),
        ({"confidence_level": 95}, "between 0 and 1"),
        ({"confidence_level": "95"}, "confidence_level='95'"),
    ],
)
def test_unknown_wishes_are_refused(options, message) -> None:
    """Unknown tests, regions and levels; a region that the test would ignore."""
    with pytest.raises(UnknownName, match=message):
        tr.compare(A, B, n_train=50, n_test=50, **options)
