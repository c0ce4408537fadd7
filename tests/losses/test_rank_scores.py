"""Average precision is scikit-learn's, and its influences are derivatives."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.losses.loss_words import as_loss
from truerisk.losses.rank_scores import AUC, AveragePrecision


def ranked(n, levels, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=n)])
    scores = rng.integers(levels, size=(2, n + 2)) / 3
    return Data.check(np.zeros((n + 2, 1)), y, task="classification"), scores, rng.random(n + 2) + 1


@given(st.integers(0, 30), st.integers(1, 12), st.integers(0, 2**31))
def test_average_precision_is_that_of_scikit_learn(n, levels, seed) -> None:
    """With ties and weights."""
    data, scores, weights = ranked(n, levels, seed)
    for w in (None, weights):
        found = AveragePrecision().of_set(data, np.arange(n + 2), scores, w)
        expected = [metrics.average_precision_score(data.y, s, sample_weight=w) for s in scores]
        assert found == pytest.approx(1 - np.array(expected), abs=1e-12)


@pytest.mark.parametrize("loss", [AveragePrecision(), AUC()], ids=lambda loss: loss.word)
@pytest.mark.parametrize("levels", [3, 100])
def test_an_influence_is_a_derivative_by_the_weight_of_a_row(loss, levels) -> None:
    """About the score of the set itself, by finite differences of all weights."""
    data, scores, weights = ranked(20, levels, 3)
    rows, step = np.arange(22), 1e-6
    own = loss.of_set(data, rows, scores, weights)
    found = loss.influences(data, rows, scores, weights, own)
    for i in rows:
        more, less = weights.copy(), weights.copy()
        more[i] += step
        less[i] -= step
        by_hand = loss.of_set(data, rows, scores, more) - loss.of_set(data, rows, scores, less)
        assert found[:, i] == pytest.approx(by_hand / (2 * step) * weights.sum(), abs=1e-6)
    assert found @ weights == pytest.approx(0, abs=1e-9)


def test_the_only_positive_row_has_an_influence_about_another_value() -> None:
    """What it is missing to the mean of all folds falls on it alone."""
    data, scores, _ = ranked(0, 9, 1)
    data = Data.check(np.zeros((5, 1)), [0, 0, 1, 0, 0], task="classification")
    scores = np.array([[4.0, 3.0, 2.0, 1.0, 0.0]])
    own = AveragePrecision().of_set(data, np.arange(5), scores, None)
    assert own == pytest.approx([2 / 3])
    at_own, at_less = (
        AveragePrecision().influences(data, np.arange(5), scores, None, about)[0]
        for about in (own, own - 0.1)
    )
    assert at_less - at_own == pytest.approx([0, 0, 0.5, 0, 0])


def test_ranks_need_both_classes_and_finite_scores() -> None:
    """A set of one class is refused by name, three classes are, NaN has no order."""
    data, scores, _ = ranked(20, 5, 2)
    one = np.flatnonzero(data.codes == 0)[:3]
    with pytest.raises(Refusal, match="'average-precision' needs both classes in every test set"):
        AveragePrecision().of_set(data, one, scores[:, :3], None)
    scores[1, 4] = np.nan
    found = AveragePrecision().of_set(data, np.arange(22), scores, None)
    assert np.isnan(found).tolist() == [False, True]
    told = AveragePrecision().influences(data, np.arange(22), scores, None, found)
    assert np.isnan(told).all(axis=1).tolist() == [False, True]
    three = Data.check(np.zeros((6, 1)), [0, 1, 2] * 2, task="classification")
    with pytest.raises(Refusal, match="'average-precision' is of one class and y has 3: name it"):
        as_loss("average-precision", three)
    assert as_loss("average-precision", three, positive=2).rated(three) == 2


@pytest.mark.parametrize("word", ["auc", "roc_auc_ovr", "roc_auc_ovr_weighted"])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_are_rated_one_against_the_rest(word, weighted) -> None:
    """As scikit-learn rates probabilities; an influence is a derivative by the weight of a row."""
    rng = np.random.default_rng(4)
    y = np.r_[0, 1, 2, rng.integers(3, size=30)]
    data = Data.check(np.zeros((33, 1)), np.array(["a", "b", "c"])[y], task="classification")
    answers = rng.dirichlet([1, 1, 1], size=(2, 33)).round(1)
    answers[..., 0] = 1 - answers[..., 1:].sum(axis=-1)
    weights = rng.random(33) + 0.5 if weighted else None
    loss, rows = as_loss(word, data), np.arange(33)
    average = "weighted" if word.endswith("weighted") else "macro"
    with_weights = {"sample_weight": weights, "average": average}
    scored = [metrics.roc_auc_score(y, p, multi_class="ovr", **with_weights) for p in answers]
    own = loss.of_set(data, rows, answers, weights)
    assert own == pytest.approx(1 - np.array(scored), abs=1e-12)
    w = np.ones(33) if weights is None else weights
    found, step = loss.influences(data, rows, answers, weights, own), 1e-6
    for i in rows:
        moved = [w + step * side * (rows == i) for side in (1, -1)]
        more, less = (loss.of_set(data, rows, answers, each) for each in moved)
        assert found[:, i] == pytest.approx((more - less) / (2 * step) * w.sum(), abs=1e-6)
    assert found @ w == pytest.approx(0, abs=1e-9)
    with pytest.raises(Refusal, match=r"needs rows of 'c' and of others.*one of 18 rows lacks"):
        loss.of_set(data, np.flatnonzero(y != 2)[:20], answers[:, :20], None)


def test_a_result_says_which_class_is_rated() -> None:
    """The greater label."""
    data = Data.check(np.zeros((4, 1)), ["no", "yes"] * 2, task="classification")
    assert as_loss("average-precision", data).label(data) == "yes"


@pytest.mark.parametrize("weighted", [False, True])
def test_what_pairs_add_is_not_written_down_pair_by_pair(weighted) -> None:
    """The mean of (h - m)² over all pairs, and on many rows without a table of the pairs."""
    rng = np.random.default_rng(7)
    y = np.r_[1, 0, rng.integers(0, 2, 38)]
    scores, about = rng.normal(size=(3, 40)).round(1), np.array([0.5, 0.3, 0.1])
    weights = rng.random(40) if weighted else None
    data = Data.check(np.zeros((40, 1)), y, task="classification")
    found = AUC().counted_twice(data, np.arange(40), scores, weights, about)
    w = np.ones(40) if weights is None else weights
    up, down = w[y == 1] / w[y == 1].sum(), w[y == 0] / w[y == 0].sum()
    h = (np.sign(scores[:, None, y == 0] - scores[:, y == 1, None]) + 1) / 2
    mean = np.einsum("cij,i,j->c", (h - about[:, None, None]) ** 2, up, down)
    assert found == pytest.approx(mean * (up @ up) * (down @ down))
    many = np.tile(y, 500)
    data = Data.check(np.zeros((len(many), 1)), many, task="classification")
    tracemalloc.start()
    AUC().counted_twice(
        data, np.arange(len(many)), rng.normal(size=(1, len(many))), None, about[:1]
    )
    assert tracemalloc.get_traced_memory()[1] < 50e6  # the pairs are a hundred million
    tracemalloc.stop()


def test_the_variance_of_few_rows_has_no_bias() -> None:
    """Enlarged, that of 4 positive and 8 negative rows is what AUCs of fresh rows vary by.

    Without it, it is a quarter too small.
    """
    rng, y, rows = (
        np.random.default_rng(1),
        np.r_[np.ones(4), np.zeros(8)].astype(int),
        np.arange(12),
    )
    data = Data.check(np.zeros((12, 1)), y, task="classification")
    scores = rng.normal(size=(6000, 12)) + 0.5 * y
    loss = AUC()
    values = loss.of_set(data, rows, scores, None)
    squares = ((loss.influences(data, rows, scores, None, values) / 12) ** 2).sum(axis=1)
    once = (squares - loss.counted_twice(data, rows, scores, None, values)).mean() * 12 / 11
    assert once == pytest.approx(0.75 * values.var(), rel=0.05)
    assert once * loss.enlargement(data, rows)[0] == pytest.approx(values.var(), rel=0.05)


def test_the_rarest_of_several_classes_tells_how_few_rows_there_are() -> None:
    """A class that one is asked about tells it alone; one row is counted as two."""
    data = Data.check(np.zeros((9, 1)), [0] * 5 + [1] * 3 + [2], task="classification")
    assert AUC().enlargement(data, np.arange(9)) == pytest.approx((2 * 8 / 7 * 8 / 9, np.inf))
    two = Data.check(np.zeros((9, 1)), [0] * 5 + [1] * 4, task="classification")
    assert as_loss("auc", two).enlargement(two, np.arange(9))[0] == pytest.approx(40 / 27)
