"""`compare` takes a word, and refuses what no test answers to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.comparing.paired_tests import registry
from truerisk.core.errors import BadArgument, UnknownName

A, B = np.random.default_rng(0).random((2, 10))


def given(word):
    """What a test takes: risks of splits, losses of rows, risks in halves, or estimates."""
    if word == "paired-cv":
        X, y = tr.datasets.make_simple(40, random_state=0)
        models = KNeighborsClassifier(1), KNeighborsClassifier(9)
        return [tr.estimate_risk(model, X, y, method=tr.methods.Pairs()) for model in models], {}
    if word == "mcnemar":
        return (A > 0.5, B > 0.5), {}
    if word == "sharp":
        return (A.reshape(5, 2), B.reshape(5, 2)), {}
    return (A, B), {"n_train": 50, "n_test": 50}


@pytest.mark.parametrize("word", registry)
def test_every_word_names_its_result(word) -> None:
    """The result carries the word of its test and a difference a − b."""
    pair, sizes = given(word)
    found = tr.compare(*pair, test=word, **sizes)
    assert found.test == word
    values = [getattr(one, "value", one) for one in pair]
    difference = np.mean(np.subtract(*np.array(values, dtype=float)))
    assert found.difference == pytest.approx(difference)
    assert found.value == found.difference
    assert found.assumed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t-test"}, "there is no test 't-test'"),
        ({"test": "nadeau"}, "did you mean 'nadeau-bengio'"),
        ({"rope": 0.02}, "belongs to test='bayes'"),
    ],
)
def test_unknown_wishes_are_refused(options, message) -> None:
    """Unknown tests, regions and levels; a region that the test would ignore."""
    with pytest.raises(UnknownName, match=message):
        tr.compare(A, B, n_train=50, n_test=50, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "bayes", "rope": -0.1}, "rope=-0.1"),
        ({"test": "bayes", "rope": float("nan")}, "rope=nan"),
        ({"test": "bayes", "rope": "wide"}, "rope='wide'"),
        ({"confidence_level": 95}, "between 0 and 1"),
        ({"confidence_level": "95"}, "confidence_level='95'"),
    ],
)
def test_wishes_of_a_wrong_size_are_refused(options, message) -> None:
    """Regions of equivalence that are none, levels that are percentages."""
    with pytest.raises(BadArgument, match=message):
        tr.compare(A, B, n_train=50, n_test=50, **options)
