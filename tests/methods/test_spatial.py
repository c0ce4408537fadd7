"""Folds of blocks leave neighbours out together, with or without a buffer; cells are verde's."""

import warnings
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import checked
from tests.support.plans import drawn, sets_of, splits_of

import truerisk as tr
from truerisk.extend import BadArgument, BadData, TrueRiskWarning
from truerisk.methods import Blocks, Buffered
from truerisk.splitting.in_space import spatial_blocks

PLACES = np.round(np.random.default_rng(7).random((40, 2)) * [12, 7], 3)
# verde 1.9.0: k = len(np.unique(verde.block_split(PLACES.T, spacing=3.0)[1])), then
# [test.tolist() for _, test in verde.BlockKFold(spacing=3.0, n_splits=k).split(PLACES)]
OF_VERDE = [
    [0, 7, 9, 14, 21, 22, 24, 30],
    [1, 4, 19, 28, 34],
    [2, 13, 20, 25],
    [3, 12, 23, 37],
    [5, 6, 15, 18, 27, 32, 33],
    [8, 29, 36, 38],
    [10, 16, 26],
    [11, 17, 31, 35, 39],
]
Y = np.arange(40) % 2
X = np.zeros((40, 1))
KNN = KNeighborsClassifier(3)
LABELS = np.arange(40) % 4


def data_at(places=PLACES, groups=None, y=Y):
    return checked(np.zeros((len(y), 1)), y, block=places, groups=groups)


@pytest.mark.parametrize("method", [Blocks(8, size=3.0), Buffered(0, size=3.0)], ids=str)
def test_blocks_are_the_cells_of_verde(method):
    """Radius 0 drops no row, for no two rows are at one place."""
    found = sets_of(drawn(method, data_at()))
    assert sorted(test for _, test in found) == OF_VERDE
    assert all(train == sorted({*range(40)} - {*test}) for train, test in found)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_in_folds_are_whole_cells_and_about_equally_many_rows(seed):
    """With 12, 12, 9 and 8 rows verde's balanced folds differ by as much."""
    tested = [set(test) for _, test in splits_of(drawn(Blocks(4, size=3.0), data_at(), seed))]
    assert all(sum(set(cell) <= fold for fold in tested) == 1 for cell in OF_VERDE)
    sizes = [len(fold) for fold in tested]
    assert sum(sizes) == 40
    assert max(sizes) - min(sizes) <= 5


def test_blocks_by_label_are_left_out_whole_as_groups_are():
    """As many folds as labels are LeaveOneGroupOut's; the folds drawn are those of groups."""
    labels = np.random.default_rng(1).integers(6, size=40)
    found = {tuple(test) for _, test in sets_of(drawn(Blocks(6), data_at(labels)))}
    assert found == {tuple(t.tolist()) for _, t in LeaveOneGroupOut().split(X, Y, labels)}
    three = [len(t) for _, t in splits_of(drawn(Blocks(3, stratify=False), data_at(labels)))]
    theirs = [len(test) for _, test in GroupKFold(3).split(X, Y, labels)]
    assert max(three) - min(three) <= max(theirs) - min(theirs)
    grouped = tr.estimate_risk(KNN, PLACES, Y, cv="3-fold", groups=labels)
    blocked = tr.estimate_risk(KNN, PLACES, Y, cv="blocks-3", block=labels)
    assert grouped.value == blocked.value
    splitter = tr.estimate_risk(KNN, PLACES, Y, cv=LeaveOneGroupOut(), block=labels)
    assert splitter.n_fits == 6


def test_blocks_that_share_a_group_are_one():
    cells = spatial_blocks(data_at(), 3.0)
    first, second = np.flatnonzero(cells == 0)[0], np.flatnonzero(cells == 5)[0]
    groups = np.arange(40)
    groups[second] = groups[first]
    both = spatial_blocks(data_at(groups=groups), 3.0)
    assert both[first] == both[second]
    assert len(np.unique(both)) == len(np.unique(cells)) - 1


def test_blocks_tune_by_the_same_folds_as_grid_search():
    grid, folds = {"n_neighbors": [1, 3, 5]}, np.empty(40, dtype=int)
    for number, rows in enumerate(OF_VERDE):
        folds[rows] = number
    theirs = GridSearchCV(KNN, grid, cv=LeaveOneGroupOut()).fit(PLACES, Y, groups=folds)
    method = Blocks(8, size=3.0, average="fold")
    ours = tr.HonestSearchCV(KNN, grid, cv=method, outer=None, refit=False)
    ours.fit(PLACES, Y, block=PLACES)
    name = "mean_test_score"
    assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name])


@pytest.mark.parametrize(
    ("outer", "inner", "word"),
    [
        ("pairs", "blocks-4", "pairs (blocks-4)"),
        ("blocks-5", "blocks-3", "nested (blocks-5, inner blocks-3)"),
        ("buffered", "blocks-3", "nested (buffered, inner blocks-3)"),
        ("blocks-3", Buffered(1.0, k=3), "nested (blocks-3, inner buffered (folds 3, radius 1))"),
    ],
)
def test_blocks_are_drawn_inside_outer_splits(outer, inner, word):
    search = tr.HonestSearchCV(KNN, {"n_neighbors": [1, 3]}, outer=outer, cv=inner)
    risk = search.fit(PLACES, Y, block=PLACES).risk_
    assert risk.method == word
    assert risk.value is not None


def test_blocks_are_about_25_by_default():
    """Over a square, and over a strip of which each cell is as wide as the strip."""
    square = np.random.default_rng(0).random((500, 2))
    for places in (square, square * [1, 1e-3]):
        assert len(np.unique(spatial_blocks(data_at(places, y=np.arange(500) % 2), None))) == 25


@settings(max_examples=25, deadline=None)
@given(
    places=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=12, max_size=40),
    radius=st.integers(0, 8) | st.floats(0, 8),
    k=st.sampled_from([None, 2, 3]),
)
def test_buffered_trains_on_all_rows_beyond_the_radius_and_no_other(places, radius, k):
    at = np.array(places, dtype=float)
    warnings.simplefilter("ignore", TrueRiskWarning)  # of classes that only a fold holds
    try:
        plan = drawn(Buffered(radius, k=k), data_at(at, y=np.arange(len(at)) % 2))
    except BadData:
        return  # one place, one block, fewer blocks than folds, or nobody beyond the radius
    apart = np.sqrt(((at[:, None] - at) ** 2).sum(axis=2))
    seen = np.zeros(len(at))
    for train, tested in splits_of(plan):
        beyond = np.flatnonzero(apart[tested].min(axis=0) > radius)
        assert train.tolist() == np.setdiff1d(beyond, tested).tolist()
        seen[tested] += 1
    assert (seen == 1).all()


def test_buffered_result_says_how_far_away():
    """In the bias, and measured in a note; the usual radius is the side of a cell."""
    found = tr.estimate_risk(KNN, PLACES, Y, block=PLACES, cv=Buffered(2.0, size=3.0))
    assert found.method == "buffered (radius 2, size 3)"
    assert "further than 2 from all training rows" in found.bias
    note = next(note for note in found.notes if "the risk is that at places" in note)
    assert float(note.split("at places ")[1].split()[0]) >= 2
    usual, three = (drawn(Buffered(r, size=3.0), data_at()) for r in (None, 3.0))
    assert usual.fingerprint == three.fingerprint


@pytest.mark.parametrize(
    ("method", "data", "error", "message"),
    [
        (Blocks(5, size=100), {}, BadData, r"puts all 40 rows into one block.*smaller size"),
        (Blocks(9, size=3.0), {}, BadData, "9 folds need at least 9 blocks and there are 8"),
        (Blocks(2, size=3.0), {"groups": Y}, BadData, "groups tie all blocks together"),
        (Blocks(5), {"places": LABELS, "groups": np.arange(40) // 20}, BadData, "tie all rows"),
        (Blocks(5), {"places": None}, BadData, "no places are given"),
        (Blocks(3, size=1.0), {"places": LABELS}, BadArgument, "labels, which have none"),
        (Blocks(5), {"places": np.where(PLACES > 6, np.nan, PLACES)}, BadData, "must be finite"),
        (Buffered(50), {}, BadData, r"radius=50 leaves no row to train on when block 0"),
        (Buffered(1), {"places": LABELS}, BadData, "labels lie at no distance from each other"),
    ],
    ids=count(),
)
def test_spatial_refuses_a_region_that_cannot_be_cut(method, data, error, message):
    with pytest.raises(error, match=message):
        drawn(method, data_at(**data))


def test_blocks_name_a_class_that_only_a_fold_holds():
    y = (PLACES[:, 0] < 6).astype(int)
    with pytest.warns(TrueRiskWarning, match=r"all rows of class [01] lie in or near the blocks"):
        drawn(Blocks(2, size=6.0), data_at(PLACES * [1.0, 0.0], y=y))


def test_blocks_are_the_usual_method_of_rows_with_places():
    found = tr.estimate_risk(LogisticRegression(), PLACES, Y, block=PLACES)
    assert found.method == "blocks-5"
    with pytest.warns(TrueRiskWarning, match=r"'10-fold' ignores it: \d+ of 40 rows"):
        tr.estimate_risk(LogisticRegression(), PLACES, Y, block=PLACES, cv="10-fold")
    apart = next(note for note in found.notes if "the risk is that at places" in note)
    assert "Euclidean in the unit of block=" in apart
