"""Single splits reach the hierarchical test, or a note says why they do not."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np
import pytest

import truerisk as tr
from truerisk.comparison.hierarchical import hierarchical
from truerisk.core.errors import BadData

RNG = np.random.default_rng(0)
SPLITS = RNG.normal(0.3, 0.02, (7, 1, 10)) + RNG.normal(0, 0.02, (7, 2, 10))
SPLITS[:, 1] -= 0.05


def test_it_is_the_test_of_the_differences():
    """That is of a − b of every split, and the other way round where higher is better."""
    found = tr.compare_many(SPLITS, correlation=0.1, methods=["a", "b"])
    apart = list(SPLITS[:, 0] - SPLITS[:, 1])
    assert found.pairs[0].hierarchical == hierarchical(apart, [0.1] * 7, 0.01)
    sentence = (
        "By their single splits, for another data set these are likeliest better by more than "
        "0.01: b than a (probability above 0.99)."
    )
    assert sentence in found.conclusion
    turned = tr.compare_many(-SPLITS, correlation=0.1, methods=["a", "b"], better="higher")
    assert turned.pairs[0].hierarchical == found.pairs[0].hierarchical
    shares = 0.1 + 0.02 * np.arange(7)
    other = tr.compare_many(SPLITS, correlation=shares)
    assert other.pairs[0].hierarchical == hierarchical(apart, shares.tolist(), 0.01)


def test_it_is_printed_written_and_drawn():
    """Text, JSON, frame and page."""
    found = tr.compare_many(SPLITS, correlation=0.1, methods=["a", "b"])
    assert "by single splits (hierarchical)" in str(found)
    told = found.pairs[0].hierarchical
    assert json.loads(found.to_json())["pairs"][0]["hierarchical"]["next_worse"] == told.next_worse
    assert found.pairs_frame()["hierarchical_better"][0] == told.better
    page = found.to_html()
    assert "From single splits (hierarchical correlated t test)" in page
    assert "Corani G, Benavoli A" in page
    assert "correlation=..." in page
    for value in astuple(told):
        assert f"<bdi>{value:.3f}</bdi>" in page


@pytest.mark.parametrize(
    ("given", "options", "note"),
    [
        (SPLITS, {}, "how splits correlate on '1' is not known (correlation=)"),
        (SPLITS[:, :, :2], {"correlation": 0.1}, "it needs 3 results of every method on '1'"),
        (SPLITS[:2], {"correlation": 0.1}, "it needs 3 data sets"),
    ],
)
def test_what_is_lacking_is_a_note(given, options, note):
    """Never in silence."""
    found = tr.compare_many(given, **options)
    assert found.pairs[0].hierarchical is None
    assert f"the hierarchical test is left out: {note}" in found.notes
    assert "From single splits" not in found.to_html()


def test_values_alone_are_no_splits():
    """Nothing was asked for, and nothing is noted."""
    found = tr.compare_many(SPLITS.mean(2))
    assert found.pairs[0].hierarchical is None
    assert found.notes == ()
    assert found.pairs_frame()["hierarchical_better"][0] is None


def test_data_sets_left_out_have_no_splits_either():
    """The rule for missing cells comes first."""
    holes = SPLITS.copy()
    holes[3, 0, 2] = np.nan
    found = tr.compare_many(holes, correlation=0.1)
    kept = tr.compare_many(np.delete(SPLITS, 3, 0), correlation=0.1)
    assert found.pairs[0].hierarchical == kept.pairs[0].hierarchical
    last = tr.compare_many(holes, correlation=0.1, missing="last")
    assert "it needs 3 results of every method on '4'" in last.notes[1]


@pytest.mark.parametrize("correlation", [1.0, -0.1, "x", [0.1, 0.2]])
def test_correlations_are_shares(correlation):
    """One or one for each data set, from 0 to below 1."""
    with pytest.raises(BadData, match="give n_test / "):
        tr.compare_many(SPLITS, correlation=correlation)
