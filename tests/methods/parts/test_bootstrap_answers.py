"""Answers of drawn samples as risks, their standard error, and the no-information risk."""

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import fbeta_score
from tests.support.data import checked

from truerisk.extend import Refusal
from truerisk.losses import AUC, Absolute, Brier, Cost, Log, Squared, ZeroOne
from truerisk.losses.loss_words import as_loss
from truerisk.methods.parts.bootstrap_answers import jackknife_error, no_information, oob_influences

RNG = np.random.default_rng(0)
N = 17
ROWS = RNG.permutation(20)[:N]
X = RNG.normal(size=(20, 2))
CODES = np.concatenate([[0, 1, 2], RNG.integers(3, size=17)])
TWO = checked(X, np.arange(20) % 2)
COST = Cost([[0, 1, 5], [2, 0, 1], [1, 4, 0]])


def pinball(y: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """An asymmetric loss."""
    return np.maximum(0.9 * (y - answers), 0.1 * (answers - y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "y", "shape"),
    [
        *((loss, CODES, (2, N)) for loss in (ZeroOne(), COST)),
        *((loss, CODES, (2, N, 3)) for loss in (Brier(), Log())),
        *((loss, X[:, 0] * 2 + 3, (3, N)) for loss in (Squared(), Absolute(), pinball)),
        *((loss, X * 2 + 3, (3, N, 2)) for loss in (Squared(), Absolute())),
    ],
)
def test_risk_without_information_is_the_double_sum_over_pairs(loss, y, shape, weighted):
    """Closed forms by class, variances and means, or the sum itself; weights included."""
    weights = RNG.uniform(size=20) if weighted else None
    data = checked(X, y, sample_weight=weights)
    loss = as_loss(loss, data)
    if y is CODES:
        answers = (
            RNG.dirichlet(np.ones(3), size=(2, N))
            if len(shape) == 3
            else RNG.integers(3, size=shape)
        )
    else:
        answers = RNG.normal(size=shape)
    w = np.ones(N) if weights is None else weights[ROWS]
    total = np.zeros(len(answers))
    for i, j in product(range(N), repeat=2):
        total += w[i] * w[j] * loss.of_rows(data, ROWS[[i]], answers[:, [j]])[:, 0]
    found = no_information(loss, data, ROWS, answers)
    assert found == pytest.approx(total / w.sum() ** 2, rel=1e-12)


def test_risk_without_information_of_zero_one_is_exact_where_it_is_a_ratio_of_whole_numbers():
    answers = np.repeat([[0, 1]], 10, axis=1)
    assert no_information(ZeroOne(), TWO, np.arange(20), answers).tolist() == [0.5]


def test_risk_without_information_of_whole_sets():
    """½ for the AUC; the mean over all shifts of y for a function that rates a test set."""
    rows, scores = np.arange(20), RNG.normal(size=(2, 20))
    assert no_information(AUC(), TWO, rows, scores).tolist() == [0.5, 0.5]

    def lack(y: np.ndarray, answers: np.ndarray) -> float:
        return 1 - fbeta_score(y, answers, beta=2)

    labels = (scores > 0).astype(int)
    found = no_information(as_loss(lack, TWO), TWO, rows, labels)
    assert found[0] == pytest.approx(np.mean([lack(np.roll(TWO.y, s), labels[0]) for s in rows]))
    with pytest.raises(Refusal, match="scorer f1_micro does not exist"):
        no_information(as_loss("f1_micro", TWO), TWO, ROWS, np.zeros((1, N)))


def test_directions_are_derivatives_of_err_1():
    """D_i is the derivative towards row i, divided by n, over all 256 samples of 4 rows."""
    n, step = 4, 1e-6
    samples = np.array(list(product(range(n), repeat=n)))
    times = np.stack([np.bincount(row, minlength=n) for row in samples])
    equal = np.unique(times, axis=0, return_inverse=True)[1].ravel()
    losses, missed = RNG.uniform(size=(len(samples), n))[equal], times == 0

    def err_1(shares):
        """Where row i is drawn with probability `shares[i]` and counts as much."""
        likely = np.prod(shares[samples], axis=1)
        return shares @ ((likely @ (losses * missed)) / (likely @ missed))

    of_rows = (losses * missed).sum(axis=0) / missed.sum(axis=0)
    asked, of_samples = missed.any(axis=1), (losses * missed).sum(axis=1) / n
    found = oob_influences(times[asked], of_rows, of_samples[asked], len(samples))
    even = np.full(n, 1 / n)
    for i in range(n):
        towards = step * (np.eye(n)[i] - even)
        slope = (err_1(even + towards) - err_1(even - towards)) / (2 * step)
        assert found[i] == pytest.approx(slope / n, abs=1e-9)
    assert found.sum() == pytest.approx(0, abs=1e-12)


def test_jackknife_error_takes_the_noise_of_the_samples_off():
    """The corrected variance of 60 samples has on average the value for very many samples.

    The error is None if the samples hold nothing but noise.
    """
    rng = np.random.default_rng(1)
    n, effect = 20, rng.uniform(size=20)

    def variances(n_samples):
        drawn = rng.integers(n, size=(n_samples, n))
        times = (drawn[:, :, None] == np.arange(n)).sum(axis=1)
        missed = times == 0
        losses = effect + 0.05 * (times @ np.linspace(-1, 1, n))[:, None]
        of_rows = (losses * missed).sum(axis=0) / missed.sum(axis=0)
        of_samples = (losses * missed).sum(axis=1) / n
        plain = (oob_influences(times, of_rows, of_samples, n_samples) ** 2).sum()
        return plain, (jackknife_error(times, of_rows, of_samples, n_samples) or 0.0) ** 2

    few, many = np.mean([variances(60) for _ in range(300)], axis=0), variances(40_000)
    assert few[0] > 1.2 * many[0]
    assert few[1] == pytest.approx(many[1], rel=0.1)
    times = np.array([[2, 1, 0], [1, 2, 0]])
    assert jackknife_error(times, np.full(3, 0.5), np.array([0.0, 0.3]), 2) is None
