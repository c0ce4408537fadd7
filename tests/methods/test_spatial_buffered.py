"""Blocks with a buffer: no training row lies within the radius of a tested one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_spatial import KNN, OF_VERDE, PLACES, Y, data_at

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, Refusal, TrueRiskWarning
from truerisk.methods.spatial import Buffered
from truerisk.methods.words import as_method


@settings(max_examples=25, deadline=None)
@given(
    places=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=12, max_size=40),
    radius=st.integers(0, 8) | st.floats(0, 8),
    k=st.sampled_from([None, 2, 3]),
)
def test_the_model_sees_all_rows_beyond_the_radius_and_no_other(places, radius, k):
    """By all distances between training and tested rows."""
    at = np.array(places, dtype=float)
    y = np.arange(len(at)) % 2
    warnings.simplefilter("ignore", TrueRiskWarning)  # of classes that only a fold holds
    try:
        data = data_at(at, y=y)
        plan = Buffered(radius, k=k).plan(data, Streams(0))
    except BadData:
        return  # one place, one block, fewer blocks than folds, or nobody beyond the radius
    apart = np.sqrt(((at[:, None] - at) ** 2).sum(axis=2))
    seen = np.zeros(len(at))
    for q in range(plan.n_questions):
        tested, train = plan.test_rows(q)[0], plan.train_rows(int(plan.fit[q]))[0]
        expected = np.setdiff1d(np.flatnonzero(apart[tested].min(axis=0) > radius), tested)
        assert train.tolist() == expected.tolist()
        seen[tested] += 1
    assert (seen == 1).all()


def test_without_a_radius_it_leaves_out_the_cells_of_verde():
    """Radius 0 drops no row, for no two rows are at one place."""
    plan = Buffered(0, size=3.0).plan(data_at(), Streams(0))
    assert sorted(plan.test_rows(q)[0].tolist() for q in range(8)) == OF_VERDE
    assert (plan.train_sizes[plan.fit] == 40 - plan.test_sizes).all()


def test_the_result_says_how_far_away():
    """In the bias, and measured in a note; the usual radius is the side of a cell."""
    found = tr.estimate_risk(KNN, PLACES, Y, block=PLACES, cv=Buffered(2.0, size=3.0))
    assert found.method == "buffered (radius 2, size 3)"
    assert "further than 2 from all training rows" in found.bias
    note = next(note for note in found.notes if "the risk is that at places" in note)
    assert float(note.split("at places ")[1].split()[0]) >= 2
    usual = Buffered(size=3.0).plan(data_at(), Streams(0))
    assert usual == Buffered(3.0, size=3.0).plan(data_at(), Streams(0)) or (
        usual.fingerprint == Buffered(3.0, size=3.0).plan(data_at(), Streams(0)).fingerprint
    )


def test_it_tests_what_blocks_chose():
    """Nested, with the buffer outside, inside, or in both loops; pairs have no buffer."""
    grid = {"n_neighbors": [1, 3]}
    for outer, inner in (("buffered", "blocks-3"), ("blocks-3", Buffered(1.0, k=3))):
        search = tr.HonestSearchCV(KNN, grid, outer=outer, cv=inner)
        assert search.fit(PLACES, Y, block=PLACES).risk_.value is not None
    with pytest.raises(Refusal, match="no folds to leave out in pairs"):
        tr.estimate_risk(KNN, PLACES, Y, block=PLACES, cv=tr.methods.Pairs("buffered"))


def test_words_name_the_method():
    """Without more each block is left out alone."""
    assert as_method("buffered") == Buffered()
    assert Buffered(0.5, k=4).word == "buffered (folds 4, radius 0.5)"


@pytest.mark.parametrize("radius", [-1, np.nan, np.inf, "3", True])
def test_a_radius_is_a_length(radius):
    """Finite and not negative."""
    with pytest.raises(BadArgument, match=r"radius=.*a length in the unit of block="):
        Buffered(radius)


def test_what_leaves_nothing_to_train_on_is_refused():
    """A radius beyond the region; labels, which lie at no distance."""
    with pytest.raises(BadData, match=r"radius=50 leaves no row to train on when block 0"):
        Buffered(50).plan(data_at(), Streams(0))
    with pytest.raises(BadData, match="labels lie at no distance from each other"):
        Buffered(1).plan(data_at(np.arange(40) % 4), Streams(0))
