"""A map shows where the rows of a split lie: every row once, in the part that it plays."""

import numpy as np
import pytest

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData
from truerisk.data.data import Data

X, Y = tr.datasets.make_field(90, random_state=0)
PLACES = X[:, :2]
BUFFERED = tr.methods.Buffered(0.1, k=4)


def drawn(axes) -> dict[str, set]:
    """The places of each label of the legend."""
    return {
        c.get_label().split(" (")[0]: {tuple(place) for place in c.get_offsets().tolist()}
        for c in axes.collections
    }


def test_a_split_is_the_one_that_an_estimate_tests(axes):
    """Tested, training and buffer rows of the plan with the same seed and target."""
    assert BUFFERED.plot(PLACES, y=Y, fold=2, random_state=3, ax=axes) is axes
    data = Data.check(np.zeros((90, 1)), Y, task="classification", block=PLACES)
    plan = BUFFERED.plan(data, Streams(3))
    found = drawn(axes)
    tested, train = plan.test_rows(2)[0], plan.train_rows(int(plan.fit[2]))[0]
    assert found["tested"] == {tuple(p) for p in PLACES[tested].tolist()}
    assert found["training"] == {tuple(p) for p in PLACES[train].tolist()}
    assert sum(map(len, found.values())) == 90
    assert axes.get_title() == "buffered (folds 4, radius 0.1), fold 2"


def test_without_a_buffer_there_is_none(axes):
    """Two parts."""
    tr.methods.Blocks(3).plot(PLACES, ax=axes)
    assert set(drawn(axes)) == {"training", "tested"}


def test_all_folds_are_drawn_at_once(axes):
    """Every row in the fold that tests it."""
    tr.methods.Blocks(3).plot(PLACES, y=X[:, 2], fold=None, ax=axes)
    assert sorted(drawn(axes)) == ["fold 0", "fold 1", "fold 2"]
    assert sum(map(len, drawn(axes).values())) == 90


def test_a_line_is_drawn_as_a_line(axes):
    """One coordinate, at height 0."""
    tr.methods.Blocks(2).plot(PLACES[:, :1], ax=axes)
    assert {place[1] for places in drawn(axes).values() for place in places} == {0.0}


@pytest.mark.parametrize(
    ("block", "fold", "said"),
    [(PLACES, 4, "splits 0 … 3 here"), (np.arange(90) % 9, 0, "a map needs coordinates")],
    ids=["fold", "labels"],
)
def test_what_cannot_be_drawn_is_refused(block, fold, said, axes):
    """A split that there is not; labels."""
    with pytest.raises((BadArgument, BadData), match=said):
        tr.methods.Blocks(4).plot(block, fold=fold, ax=axes)
