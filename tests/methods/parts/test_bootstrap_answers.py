"""Answers of drawn samples as risks, their standard error, and the no-information risk."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import fbeta_score

from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.losses.loss_words import as_loss
from truerisk.losses.rank_scores import AUC
from truerisk.losses.row_losses import Absolute, Brier, Cost, Log, Squared, ZeroOne
from truerisk.methods.parts.bootstrap_answers import directions, jackknife_error, no_information

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


N_JACKKNIFE = 4
ALL = np.array(list(product(range(N_JACKKNIFE), repeat=N_JACKKNIFE)))  # every ordered sample
TIMES = np.stack([(row == np.arange(N_JACKKNIFE)[:, None]).sum(axis=1) for row in ALL])
LOSSES = np.random.default_rng(0).uniform(size=(len(ALL), N_JACKKNIFE))


def same_for_equal_samples() -> np.ndarray:
    """A model depends on what a sample holds, not on its order."""
    _, first = np.unique(TIMES, axis=0, return_inverse=True)
    return LOSSES[first.ravel()]


def leave_one_out_bootstrap(shares: np.ndarray, losses: np.ndarray) -> float:
    """Err₁ where row i is drawn with probability `shares[i]` and counts as much."""
    likely = np.prod(shares[ALL], axis=1)
    missed = TIMES == 0
    of_rows = (likely @ (losses * missed)) / (likely @ missed)
    return float(shares @ of_rows)


def test_directions_are_derivatives() -> None:
    """D_i is the derivative of Err₁ towards row i, divided by n, over all 256 samples of 4 rows."""
    losses, missed = same_for_equal_samples(), TIMES == 0
    of_rows = (losses * missed).sum(axis=0) / missed.sum(axis=0)
    asked = missed.any(axis=1)
    of_samples = (losses * missed).sum(axis=1) / N_JACKKNIFE
    found = directions(TIMES[asked], of_rows, of_samples[asked], len(ALL))
    step, even = 1e-6, np.full(N_JACKKNIFE, 1 / N_JACKKNIFE)
    for i in range(N_JACKKNIFE):
        towards = step * (np.eye(N_JACKKNIFE)[i] - even)
        up, down = (leave_one_out_bootstrap(even + s * towards, losses) for s in (1, -1))
        assert found[i] == pytest.approx((up - down) / (2 * step) / N_JACKKNIFE, abs=1e-9)
    assert found.sum() == pytest.approx(0, abs=1e-12)


def test_noise_of_the_samples_is_taken_off() -> None:
    """Over draws of 30 samples the corrected variance has the mean of that of very many samples."""
    rng = np.random.default_rng(1)
    n, effect = 20, rng.uniform(size=20)

    def error(n_samples: int) -> tuple[float, float]:
        drawn = rng.integers(n, size=(n_samples, n))
        times = np.stack([np.bincount(row, minlength=n) for row in drawn])
        missed = times == 0
        losses = effect + 0.05 * (times @ np.linspace(-1, 1, n))[:, None]
        of_rows = (losses * missed).sum(axis=0) / missed.sum(axis=0)
        of_samples = (losses * missed).sum(axis=1) / n
        plain = (directions(times, of_rows, of_samples, n_samples) ** 2).sum()
        found = jackknife_error(times, of_rows, of_samples, n_samples)
        return float(plain), 0.0 if found is None else found**2

    few, many = np.mean([error(60) for _ in range(300)], axis=0), error(40_000)
    assert few[0] > 1.2 * many[0]
    assert few[1] == pytest.approx(many[1], rel=0.1)


def test_noise_alone_gives_no_error() -> None:
    """Where the noise of two samples is larger than what they say, there is no standard error."""
    times = np.array([[2, 1, 0], [1, 2, 0]])
    assert jackknife_error(times, np.full(3, 0.5), np.array([0.0, 0.3]), 2) is None
