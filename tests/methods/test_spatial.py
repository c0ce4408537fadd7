"""Folds of blocks leave neighbours out together; cells are those of verde."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, TrueRiskWarning, UnknownName
from truerisk.data.data import Data
from truerisk.methods.spatial import Blocks
from truerisk.methods.words import as_method
from truerisk.splitting.in_space import blocks_of

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
KNN = KNeighborsClassifier(3)


def data_at(places=PLACES, groups=None, y=Y) -> Data:
    return Data.check(np.zeros((len(y), 1)), y, task="classification", block=places, groups=groups)


def test_blocks_are_the_cells_of_verde():
    """As many folds as cells, each with the rows of one test set of BlockKFold."""
    plan = Blocks(len(OF_VERDE), size=3.0).plan(data_at(), Streams(0))
    tested = [plan.test_rows(q)[0].tolist() for q in range(plan.n_questions)]
    assert sorted(tested) == OF_VERDE
    assert all(
        plan.train_rows(int(plan.fit[q]))[0].tolist() == sorted(set(range(40)) - set(tested[q]))
        for q in range(len(tested))
    )


@pytest.mark.parametrize("seed", range(5))
def test_folds_hold_whole_cells_and_are_about_equally_large(seed):
    """No cell is cut; with 12, 12, 9 and 8 rows verde's balanced folds differ by as much."""
    plan = Blocks(4, size=3.0).plan(data_at(), Streams(seed))
    tested = [set(plan.test_rows(q)[0].tolist()) for q in range(4)]
    assert all(sum(set(cell) <= fold for fold in tested) == 1 for cell in OF_VERDE)
    sizes = [len(fold) for fold in tested]
    assert sum(sizes) == 40
    assert max(sizes) - min(sizes) <= 5


def test_labels_are_left_out_whole_as_groups_are():
    """As many folds as labels are LeaveOneGroupOut's; the folds drawn are those of groups."""
    labels = np.random.default_rng(1).integers(6, size=40)
    X = np.zeros((40, 1))
    plan = Blocks(6).plan(data_at(labels), Streams(0))
    ours = {tuple(plan.test_rows(q)[0].tolist()) for q in range(6)}
    assert ours == {tuple(t.tolist()) for _, t in LeaveOneGroupOut().split(X, Y, labels)}
    three = {len(plan) for plan in _tested(Blocks(3, stratify=False), labels)}
    theirs = {len(test) for _, test in GroupKFold(3).split(X, Y, labels)}
    assert max(three) - min(three) <= max(theirs) - min(theirs)
    grouped = tr.estimate_risk(KNN, PLACES, Y, cv="3-fold", groups=labels)
    blocked = tr.estimate_risk(KNN, PLACES, Y, cv="blocks-3", block=labels)
    assert grouped.value == blocked.value
    splitter = tr.estimate_risk(KNN, PLACES, Y, cv=LeaveOneGroupOut(), block=labels)
    assert splitter.n_fits == 6


def _tested(method, block) -> list[np.ndarray]:
    plan = method.plan(data_at(block), Streams(0))
    return [plan.test_rows(q)[0] for q in range(plan.n_questions)]


def test_groups_are_kept_whole_as_well():
    """A group that reaches into two cells is in one block with both."""
    cells = blocks_of(data_at(), 3.0)
    first, second = np.flatnonzero(cells == 0)[0], np.flatnonzero(cells == 5)[0]
    groups = np.arange(40)
    groups[second] = groups[first]
    both = blocks_of(data_at(groups=groups), 3.0)
    assert both[first] == both[second]
    assert len(np.unique(both)) == len(np.unique(cells)) - 1


def test_inside_an_outer_split_blocks_are_drawn_of_its_rows():
    """Tuned in pairs, inside blocks, and by the very same folds in GridSearchCV."""
    grid = {"n_neighbors": [1, 3, 5]}
    search = tr.HonestSearchCV(KNN, grid, cv="blocks-4").fit(PLACES, Y, block=PLACES)
    assert search.risk_.method == "pairs (blocks-4)"
    nested = tr.HonestSearchCV(KNN, grid, outer="blocks-5", cv="blocks-3")
    assert nested.fit(PLACES, Y, block=PLACES).risk_.n_fits > 0
    folds = np.empty(40, dtype=int)
    for number, rows in enumerate(OF_VERDE):
        folds[rows] = number
    theirs = GridSearchCV(KNN, grid, cv=LeaveOneGroupOut()).fit(PLACES, Y, groups=folds)
    ours = tr.HonestSearchCV(
        KNN, grid, cv=Blocks(8, size=3.0, average="fold"), outer=None, refit=False
    ).fit(PLACES, Y, block=PLACES)
    assert ours.cv_results_["mean_test_score"] == pytest.approx(
        theirs.cv_results_["mean_test_score"]
    )


def test_the_usual_cells_are_about_25():
    """Over a square, and over a strip of which each cell is as wide as the strip."""
    rng = np.random.default_rng(0)
    square, strip = rng.random((500, 2)), rng.random((500, 2)) * [1, 1e-3]
    assert len(np.unique(blocks_of(data_at(square, y=np.arange(500) % 2), None))) == 25
    assert len(np.unique(blocks_of(data_at(strip, y=np.arange(500) % 2), None))) == 25


def test_words_name_the_method():
    """Any number of folds; the letter K stands for one."""
    assert as_method("blocks-7") == Blocks(7)
    assert as_method("blocks-7").word == "blocks-7"
    assert Blocks(3, size=0.5).word == "blocks-3 (size 0.5)"
    with pytest.raises(UnknownName, match="blocks-5"):
        as_method("blocks-K")
    with pytest.raises(UnknownName, match="no method 'block-5'"):
        as_method("block-5")


@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf, "3", True])
def test_a_size_is_a_length(size):
    """Positive and finite."""
    with pytest.raises(BadArgument, match=r"size=.*a length in the unit of block= is wanted"):
        Blocks(5, size=size)


def test_a_region_that_cannot_be_cut_is_refused():
    """One block, fewer blocks than folds, groups across all of them; nothing to cut; no side."""
    with pytest.raises(BadData, match=r"size=100 puts all 40 rows into one block.*smaller size"):
        Blocks(5, size=100).plan(data_at(), Streams(0))
    with pytest.raises(BadData, match="9 folds need at least 9 blocks and there are 8"):
        Blocks(9, size=3.0).plan(data_at(), Streams(0))
    with pytest.raises(BadData, match="groups tie all blocks together"):
        Blocks(2, size=3.0).plan(data_at(groups=np.arange(40) % 2), Streams(0))
    with pytest.raises(BadData, match="tie all rows together"):
        data_at(np.arange(40) % 4, groups=np.arange(40) // 20)
    with pytest.raises(BadData, match="no places are given"):
        tr.estimate_risk(KNN, PLACES, Y, cv="blocks-5")
    with pytest.raises(BadArgument, match="labels, which have none"):
        Blocks(3, size=1.0).plan(data_at(np.arange(40) % 4), Streams(0))
    with pytest.raises(BadData, match="coordinates must be finite"):
        data_at(np.where(PLACES > 6, np.nan, PLACES))


def test_a_class_that_only_a_fold_holds_is_named():
    """Its model is tested on what it never saw."""
    y = (PLACES[:, 0] < 6).astype(int)
    with pytest.warns(TrueRiskWarning, match=r"all rows of class [01] lie in or near the blocks"):
        Blocks(2, size=6.0).plan(data_at(PLACES * [1.0, 0.0], y=y), Streams(0))


def test_without_a_method_places_ask_for_blocks():
    """And shuffled folds are warned of."""
    model = LogisticRegression()
    found = tr.estimate_risk(model, PLACES, Y, block=PLACES)
    assert found.method == "blocks-5"
    with pytest.warns(TrueRiskWarning, match=r"'10-fold' ignores it: \d+ of 40 rows"):
        tr.estimate_risk(model, PLACES, Y, block=PLACES, cv="10-fold")
    apart = next(note for note in found.notes if "the risk is that at places" in note)
    assert "Euclidean in the unit of block=" in apart
