"""The no-information risk is the mean loss of every y against every answer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

from truerisk.core.errors import Refusal
from truerisk.core.loss_words import as_loss
from truerisk.core.losses import AUC, Absolute, Brier, Cost, Log, Squared, ZeroOne
from truerisk.core.table.data import Data
from truerisk.methods.parts.no_information import no_information

RNG = np.random.default_rng(0)
N = 17
ROWS = RNG.permutation(20)[:N]
X = RNG.normal(size=(20, 2))
CODES = np.concatenate([[0, 1, 2], RNG.integers(3, size=17)])
COST = Cost([[0, 1, 5], [2, 0, 1], [1, 4, 0]])


def every_pair(loss, data, rows, answers) -> np.ndarray:
    """The double sum, pair by pair."""
    weights = np.ones(len(rows)) if data.sample_weight is None else data.sample_weight[rows]
    total = np.zeros(len(answers))
    for i, row in enumerate(rows):
        for j in range(len(rows)):
            one = loss.of_rows(data, np.array([row]), answers[:, [j]])[:, 0]
            total += weights[i] * weights[j] * one
    return total / weights.sum() ** 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [ZeroOne(), COST, Brier(), Log()], ids=lambda loss: loss.word)
def test_of_classes(loss, weighted) -> None:
    """Closed forms by class equal the double sum, weights included."""
    weights = RNG.uniform(size=20) if weighted else None
    data = Data.check(X, CODES, task="classification", sample_weight=weights)
    loss.check(data)
    answers = RNG.integers(3, size=(2, N))
    if loss.response == "probability":
        answers = RNG.dirichlet(np.ones(3), size=(2, N))
    found = no_information(loss, data, ROWS, answers)
    assert found == pytest.approx(every_pair(loss, data, ROWS, answers), rel=1e-12)


def test_zero_one_is_the_textbook_form() -> None:
    """Σ_k p_k (1 − q_k), to the last bit where it is a ratio of whole numbers."""
    data = Data.check(X, np.arange(20) % 2, task="classification")
    answers = np.repeat([[0, 1]], 10, axis=1)
    assert no_information(ZeroOne(), data, np.arange(20), answers).tolist() == [0.5]


def pinball(y: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """An asymmetric loss."""
    return np.maximum(0.9 * (y - answers), 0.1 * (answers - y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "targets"),
    [(Squared(), 1), (Squared(), 2), (Absolute(), 1), (Absolute(), 2), (pinball, 1)],
)
def test_of_numbers(loss, targets, weighted) -> None:
    """Variances and means for squared loss, the sum for any other, are the double sum."""
    weights = RNG.uniform(size=20) if weighted else None
    y = RNG.normal(3, 2, size=(20, targets)).squeeze()
    data = Data.check(X, y, task="regression", sample_weight=weights)
    loss = as_loss(loss, data)
    answers = RNG.normal(size=(3, N, targets)).reshape(3, N, *y.shape[1:])
    found = no_information(loss, data, ROWS, answers)
    assert found == pytest.approx(every_pair(loss, data, ROWS, answers), rel=1e-12)


def test_of_whole_sets() -> None:
    """½ for the AUC; the mean over all shifts of y for a function that rates a test set."""
    data = Data.check(X, np.arange(20) % 2, task="classification")
    rows, scores = np.arange(20), RNG.normal(size=(2, 20))
    assert no_information(AUC(), data, rows, scores).tolist() == [0.5, 0.5]

    def lack(y: np.ndarray, answers: np.ndarray) -> float:
        return 1 - fbeta_score(y, answers, beta=2)

    labels = (scores > 0).astype(int)
    found = no_information(as_loss(lack, data), data, rows, labels)
    shifted = [lack(np.roll(data.y, s), labels[0]) for s in range(20)]
    assert found[0] == pytest.approx(np.mean(shifted))


def test_scorers_are_refused() -> None:
    """A scorer asks the model itself, so that y cannot be moved against its answers."""
    data = Data.check(X, np.arange(20) % 2, task="classification")
    with pytest.raises(Refusal, match="scorer f1_micro does not exist"):
        no_information(as_loss("f1_micro", data), data, ROWS, np.zeros((1, N)))
