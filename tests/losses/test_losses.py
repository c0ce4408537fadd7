"""Losses cost what their formulas say, row by row and as scikit-learn's metrics do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.neighbors import KNeighborsRegressor

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.losses.rank_scores import AUC
from truerisk.losses.row_losses import Absolute, Brier, Cost, Log, Squared, ZeroOne
from truerisk.losses.set_losses import R2

RNG = np.random.default_rng(7)
N = 40
LABELS = np.array(["no", "so", "yes"])


def classes(k: int) -> Data:
    y = LABELS[np.concatenate([np.arange(k), RNG.integers(k, size=N - k)])]
    return Data.check(np.zeros((N, 1)), y, task="classification")


def regression(targets: int = 1) -> Data:
    y = RNG.normal(size=(N, targets)).squeeze()
    return Data.check(np.zeros((N, 1)), y, task="regression")


ROWS = RNG.permutation(N)[:25]
WEIGHTS = RNG.integers(0, 4, size=25).astype(float)
each_weighting = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])


@each_weighting
def test_zero_one_is_one_minus_accuracy(weights) -> None:
    """Zero-one loss of each candidate is 1 − accuracy; a label y does not hold is wrong."""
    data = classes(3)
    answers = RNG.integers(-1, 3, size=(2, 25))
    found = ZeroOne().of_set(data, ROWS, answers, weights)
    names = np.append(LABELS, "unknown")
    expected = [
        1 - metrics.accuracy_score(data.y[ROWS], names[a], sample_weight=weights) for a in answers
    ]
    assert np.allclose(found, expected, atol=1e-14)


@each_weighting
@pytest.mark.parametrize("k", [2, 3])
def test_log_loss_is_that_of_scikit_learn(weights, k) -> None:
    """Log loss of probabilities, zeros included, is sklearn.metrics.log_loss."""
    data = classes(k)
    answers = RNG.dirichlet(np.ones(k), size=(2, 25))
    answers[0, :5] = np.eye(k)[0]
    found = Log().of_set(data, ROWS, answers, weights)
    labels = LABELS[:k]
    expected = [
        metrics.log_loss(data.y[ROWS], a, labels=labels, sample_weight=weights) for a in answers
    ]
    assert np.allclose(found, expected, atol=1e-12)


@each_weighting
def test_brier_of_two_classes_is_that_of_scikit_learn(weights) -> None:
    """For two classes the Brier loss is (p − y)², sklearn.metrics.brier_score_loss."""
    data = classes(2)
    answers = RNG.dirichlet(np.ones(2), size=(2, 25))
    found = Brier().of_set(data, ROWS, answers, weights)
    expected = [
        metrics.brier_score_loss(data.y[ROWS] == "so", a[:, 1], sample_weight=weights)
        for a in answers
    ]
    assert np.allclose(found, expected, atol=1e-14)


def test_brier_of_three_classes_sums_over_classes() -> None:
    """For more classes it is the squared distance to the unit vector, at most 2."""
    data = classes(3)
    found = Brier().of_rows(data, np.array([0, 1, 2]), np.array([[[1, 0, 0]] * 3], dtype=float))
    assert found.tolist() == [[0, 2, 2]]
    loss = Brier()
    loss.check(data)
    assert loss.upper == 2


@each_weighting
@pytest.mark.parametrize("targets", [1, 3])
def test_squared_and_absolute_are_those_of_scikit_learn(weights, targets) -> None:
    """Mean squared and mean absolute error, the mean over several targets."""
    data = regression(targets)
    answers = RNG.normal(size=(2, 25, *data.y.shape[1:]))
    for loss, metric in (
        (Squared(), metrics.mean_squared_error),
        (Absolute(), metrics.mean_absolute_error),
    ):
        found = loss.of_set(data, ROWS, answers, weights)
        expected = [metric(data.y[ROWS], a, sample_weight=weights) for a in answers]
        assert np.allclose(found, expected, atol=1e-14)


def test_costs_are_looked_up_by_truth_and_answer() -> None:
    """matrix[truth, answer], and a cost matrix of zeros and ones is zero-one loss."""
    data = classes(3)
    matrix = np.array([[0, 1, 5], [2, 0, 7], [3, 4, 0.0]])
    answers = RNG.integers(3, size=(2, 25))
    found = Cost(matrix).of_rows(data, ROWS, answers)
    expected = [[matrix[data.codes[r], a] for r, a in zip(ROWS, row)] for row in answers]
    assert found.tolist() == expected
    same = Cost(1 - np.eye(3)).of_rows(data, ROWS, answers)
    assert np.array_equal(same, ZeroOne().of_rows(data, ROWS, answers))
    assert Cost(matrix).upper == 7


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1]], r"square; this one has shape \(1, 2\)"),
        ([[0, np.inf], [1, 0]], "finite and not negative"),
        ([[0, -1], [1, 0]], "finite and not negative"),
        ([[1, 1], [1, 0]], "diagonal"),
        ([[0, 0], [0, 0]], "every cost is 0"),
    ],
)
def test_a_bad_cost_matrix_is_named(matrix, message) -> None:
    """What a cost matrix must be."""
    with pytest.raises(Refusal, match=message):
        Cost(matrix)


def test_costs_need_a_known_label_and_as_many_classes() -> None:
    """A label outside y has no cost, and a matrix of another size is refused."""
    data = classes(3)
    with pytest.raises(Refusal, match="for 2 classes and y has 3"):
        Cost([[0, 1], [1, 0]]).check(data)
    with pytest.raises(Refusal, match="a label that y does not hold"):
        Cost(1 - np.eye(3)).of_rows(data, ROWS[:1], np.array([[-1]]))


def brute_auc(scores, positive, weights) -> float:
    """1 − AUC by looking at every pair."""
    wrong = total = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            pair = weights[i] * weights[j]
            total += pair
            wrong += pair * (1.0 if scores[j] > scores[i] else 0.5 * (scores[j] == scores[i]))
    return wrong / total


@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 4))
def test_auc_is_the_share_of_misordered_pairs(seed, n, levels) -> None:
    """1 − AUC is the weighted share of misordered pairs, ties half, and scikit-learn's."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=n)])
    data = Data.check(np.zeros((n + 2, 1)), y, task="classification")
    scores = rng.integers(levels, size=(2, n + 2)) / 3
    weights = rng.integers(1, 4, size=n + 2).astype(float)
    rows = np.arange(n + 2)
    plain, weighted = (AUC().of_set(data, rows, scores, w) for w in (None, weights))
    for c in range(2):
        assert plain[c] == pytest.approx(brute_auc(scores[c], y == 1, np.ones(n + 2)), abs=1e-12)
        assert weighted[c] == pytest.approx(brute_auc(scores[c], y == 1, weights), abs=1e-12)
        theirs = metrics.roc_auc_score(y, scores[c], sample_weight=weights)
        assert weighted[c] == pytest.approx(1 - theirs, abs=1e-12)


def test_auc_needs_both_classes_and_weight_on_them() -> None:
    """One class alone, or one without weight, has no AUC."""
    data = classes(2)
    one = np.flatnonzero(data.codes == 1)[:4]
    with pytest.raises(Refusal, match="both classes in every test set.*4 rows"):
        AUC().of_set(data, one, np.zeros((1, 4)), None)
    rows = np.append(one, np.flatnonzero(data.codes == 0)[0])
    with pytest.raises(Refusal, match="both classes"):
        AUC().of_set(data, rows, np.zeros((1, 5)), np.array([1, 1, 1, 1, 0.0]))


def test_a_score_that_is_not_a_number_has_no_rank() -> None:
    """NaN and infinite scores give NaN, which is refused later, never the highest rank."""
    data = classes(2)
    scores = np.zeros((3, N))
    scores[1, 0], scores[2, 3] = np.nan, np.inf
    found = AUC().of_set(data, np.arange(N), scores, None)
    assert np.isnan(found).tolist() == [False, True, True]


@pytest.mark.parametrize("loss", [ZeroOne(), Log(), Brier(), AUC()], ids=lambda one: one.word)
def test_a_loss_of_classes_is_not_for_regression(loss) -> None:
    """A loss names the task it is not defined for, and what to use."""
    with pytest.raises(Refusal, match=f"'{loss.word}' is not defined for regression; use squared"):
        loss.check(regression())


@pytest.mark.parametrize("loss", [Squared(), Absolute()], ids=lambda one: one.word)
def test_a_loss_of_numbers_is_not_for_classes(loss) -> None:
    """A loss of numbers is not defined for labels."""
    with pytest.raises(Refusal, match="is not defined for classification; use zero-one"):
        loss.check(classes(2))


def test_a_risk_is_a_score_upside_down() -> None:
    """Score = perfect − risk: accuracy for zero-one, AUC for auc, −MSE for squared."""
    assert ZeroOne().score(0.25) == 0.75
    assert AUC().score(0.25) == 0.75
    assert Squared().score(2.0) == -2.0
    assert Log().score(2.0) == -2.0


@pytest.mark.parametrize("loss", [Squared(), Absolute(), R2()], ids=lambda loss: loss.word)
def test_settings_that_fit_exactly_tie(loss) -> None:
    """Answers that rounding alone parts from y cost nothing; the next larger error costs."""
    y = np.concatenate([np.full(12, -0.1), [3.0, 1e8, 0.0]])
    data = Data.check(np.zeros((15, 1)), y, task="regression")
    off = np.outer([0, 1, -4, 100], np.spacing(y) * (y != 0))
    risks = loss.of_set(data, np.arange(15), y + off, None)
    assert risks[:3].tolist() == [0, 0, 0]
    assert risks[3] > 0


def test_equal_answers_of_neighbours_choose_the_same_on_any_engine() -> None:
    """Means of 8 and of 15 equal numbers are off by other roundings: the first setting is best."""
    X = np.random.default_rng(3).normal(size=(24, 2))
    grid = {"n_neighbors": [15, 8]}
    options = {"cv": "apparent", "engine": None}
    for options["engine"] in ("auto", "generic"):
        curve = tr.risk_curve(KNeighborsRegressor(), grid, X, np.full(24, -0.1), **options)
        assert curve.best == 0
        assert [one.value for one in curve] == [0, 0]
