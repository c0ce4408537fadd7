"""Losses of rows cost what their formulas say, as scikit-learn's metrics do."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.neighbors import KNeighborsRegressor
from tests.support.data import checked

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.losses import AUC, R2, Absolute, Brier, Cost, Log, Squared, ZeroOne

RNG = np.random.default_rng(7)
N = 40
LABELS = np.array(["no", "so", "yes"])
ROWS = RNG.permutation(N)[:25]
WEIGHTS = RNG.integers(0, 4, size=25).astype(float)


def classes(k):
    return checked(
        np.zeros((N, 1)), LABELS[np.concatenate([np.arange(k), RNG.integers(k, size=N - k)])]
    )


def numbers(*targets):
    return checked(np.zeros((N, 1)), RNG.normal(size=(N, *targets)))


TWO, THREE, ONE_TARGET, TARGETS = classes(2), classes(3), numbers(), numbers(3)
WITH_ZEROS = RNG.dirichlet(np.ones(3), size=(2, 25))
WITH_ZEROS[0, :5] = np.eye(3)[0]
OF_TWO = RNG.dirichlet(np.ones(2), size=(2, 25))


def accuracy(y, codes, **weights):
    """Rate codes of labels, of which -1 is one that y does not hold."""
    return metrics.accuracy_score(y, np.append(LABELS, "unknown")[codes], **weights)


def log_loss(y, p, **weights):
    return metrics.log_loss(y, p, labels=LABELS[: p.shape[1]], **weights)


def brier(y, p, **weights):
    return metrics.brier_score_loss(y == "so", p[:, 1], **weights)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("loss", "data", "answers", "metric"),
    [
        (ZeroOne(), THREE, RNG.integers(-1, 3, size=(2, 25)), accuracy),
        (Log(), THREE, WITH_ZEROS, log_loss),
        (Log(), TWO, OF_TWO, log_loss),
        (Brier(), TWO, OF_TWO, brier),
        (Squared(), ONE_TARGET, RNG.normal(size=(2, 25)), metrics.mean_squared_error),
        (Squared(), TARGETS, RNG.normal(size=(2, 25, 3)), metrics.mean_squared_error),
        (Absolute(), ONE_TARGET, RNG.normal(size=(2, 25)), metrics.mean_absolute_error),
        (Absolute(), TARGETS, RNG.normal(size=(2, 25, 3)), metrics.mean_absolute_error),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_losses_of_rows_are_those_of_scikit_learn(loss, data, answers, metric, weights):
    """A label that y does not hold is wrong; the mean over several targets is taken."""
    found = loss.of_set(data, ROWS, answers, weights)
    expected = [metric(data.y[ROWS], a, sample_weight=weights) for a in answers]
    if metric is accuracy:
        expected = 1 - np.array(expected)
    assert np.allclose(found, expected, atol=1e-12)


def test_brier_of_three_classes_sums_over_classes():
    """It is the squared distance to the unit vector, at most 2."""
    found = Brier().of_rows(THREE, np.array([0, 1, 2]), np.array([[[1, 0, 0]] * 3], dtype=float))
    assert found.tolist() == [[0, 2, 2]]
    loss = Brier()
    loss.check(THREE)
    assert loss.upper == 2


def test_cost_is_looked_up_by_truth_and_answer():
    matrix = np.array([[0, 1, 5], [2, 0, 7], [3, 4, 0.0]])
    answers = RNG.integers(3, size=(2, 25))
    found = Cost(matrix).of_rows(THREE, ROWS, answers)
    assert found.tolist() == matrix[THREE.codes[ROWS], answers].tolist()
    same = Cost(1 - np.eye(3)).of_rows(THREE, ROWS, answers)
    assert np.array_equal(same, ZeroOne().of_rows(THREE, ROWS, answers))
    assert Cost(matrix).upper == 7
    with pytest.raises(Refusal, match="a label that y does not hold"):
        Cost(matrix).of_rows(THREE, ROWS[:1], np.array([[-1]]))


MATRICES = [
    ([[0, 1]], r"square; this one has shape \(1, 2\)"),
    ([[0, np.inf], [1, 0]], "finite and not negative"),
    ([[0, -1], [1, 0]], "finite and not negative"),
    ([[1, 1], [1, 0]], "diagonal"),
    ([[0, 0], [0, 0]], "every cost is 0"),
    ([[0, 1], [1, 0]], "for 2 classes and y has 3"),
]


@pytest.mark.parametrize(
    ("make", "data", "message"),
    [
        *((partial(Cost, matrix), THREE, message) for matrix, message in MATRICES),
        *[
            (kind, ONE_TARGET, f"'{kind().name}' is not defined for regression; use squared")
            for kind in (ZeroOne, Log, Brier, AUC)
        ],
        *[
            (kind, TWO, "is not defined for classification; use zero-one")
            for kind in (Squared, Absolute)
        ],
    ],
)
def test_losses_refuse_another_task_or_a_bad_matrix_of_costs(make, data, message):
    """The message about a wrong task names a loss to use instead."""
    with pytest.raises(Refusal, match=message):
        make().check(data)


def test_score_is_the_perfect_one_minus_the_risk():
    scores = [loss.score(0.25) for loss in (ZeroOne(), AUC(), Squared(), Log())]
    assert scores == [0.75, 0.75, -0.25, -0.25]


@pytest.mark.parametrize("loss", [Squared(), Absolute(), R2()], ids=lambda loss: loss.name)
def test_losses_of_numbers_take_rounding_for_an_exact_fit(loss):
    """Answers that rounding alone parts from y cost nothing; the next larger error costs."""
    y = np.concatenate([np.full(12, -0.1), [3.0, 1e8, 0.0]])
    off = np.outer([0, 1, -4, 100], np.spacing(y) * (y != 0))
    risks = loss.of_set(checked(np.zeros((15, 1)), y), np.arange(15), y + off, None)
    assert risks[:3].tolist() == [0, 0, 0]
    assert risks[3] > 0


@pytest.mark.parametrize("engine", ["auto", "generic"])
def test_squared_loss_of_equal_answers_ties_on_any_engine(engine):
    """Means of 8 and of 15 equal numbers are off by other roundings: the first setting is best."""
    X = np.random.default_rng(3).normal(size=(24, 2))
    given = {"cv": "apparent", "engine": engine}
    grid = {"n_neighbors": [15, 8]}
    curve = tr.risk_curve(KNeighborsRegressor(), grid, X, np.full(24, -0.1), **given)
    assert curve.best == 0
    assert [one.value for one in curve] == [0, 0]
