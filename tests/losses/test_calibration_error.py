"""The expected calibration error is its sum over bins, and its influences are derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadArgument
from truerisk.data.data import Data
from truerisk.losses.set_losses import ECE

RNG = np.random.default_rng(6)
N, K = 40, 3
DATA = Data.check(np.zeros((N, 1)), np.arange(N) % K, task="classification")
ANSWERS = RNG.dirichlet(np.ones(K), size=(2, N))
WEIGHTS = RNG.random(N) + 0.1


def by_hand(answers, weights, bins=10):
    """Bin by bin, from its definition."""
    total = 0.0
    for b in range(bins):
        inside = [i for i, p in enumerate(answers) if b / bins < p.max() <= (b + 1) / bins]
        w = weights[inside]
        hits = answers[inside].argmax(axis=1) == DATA.codes[inside]
        total += abs(np.sum(w * hits) - np.sum(w * answers[inside].max(axis=1)))
    return total / weights.sum()


@pytest.mark.parametrize("bins", [10, 4])
def test_it_is_its_sum_over_bins(bins) -> None:
    """With weights and without."""
    for w in (None, WEIGHTS):
        found = ECE(bins).of_set(DATA, np.arange(N), ANSWERS, w)
        given = np.ones(N) if w is None else w
        assert found == pytest.approx([by_hand(a, given, bins) for a in ANSWERS])


def test_an_edge_belongs_to_the_bin_below() -> None:
    """0.45 and 0.5 share a bin, where their errors cancel; 0.55 stands in the next."""
    data = Data.check(np.zeros((2, 1)), [0, 1], task="classification")

    def error(first, second):
        answers = np.array([[[first, 0.3, 0.2], [second, 0.3, 0.2]]])  # right, wrong
        return ECE().of_set(data, np.arange(2), answers, None)[0]

    assert error(0.5, 0.45) == pytest.approx(0.05 / 2)
    assert error(0.5, 0.55) == pytest.approx((0.5 + 0.55) / 2)


def test_certainty_stands_in_the_last_bin() -> None:
    """Right and certain costs nothing, wrong and certain everything."""
    certain = np.eye(K)[DATA.codes][None]
    assert ECE().of_set(DATA, np.arange(N), certain, None) == [0]
    assert ECE().of_set(DATA, np.arange(N), np.roll(certain, 1, axis=2), None) == pytest.approx(1)


def test_an_influence_is_a_derivative_by_the_weight_of_a_row() -> None:
    """By finite differences of all weights."""
    rows, step = np.arange(N), 1e-7
    own = ECE().of_set(DATA, rows, ANSWERS, WEIGHTS)
    found = ECE().influences(DATA, rows, ANSWERS, WEIGHTS, own)
    for i in rows:
        more, less = WEIGHTS.copy(), WEIGHTS.copy()
        more[i] += step
        less[i] -= step
        slope = ECE().of_set(DATA, rows, ANSWERS, more) - ECE().of_set(DATA, rows, ANSWERS, less)
        assert found[:, i] == pytest.approx(slope / (2 * step) * WEIGHTS.sum(), abs=1e-5)


def test_what_is_not_finite_stays_so() -> None:
    """It is refused later; bins are counted."""
    answers = ANSWERS.copy()
    answers[1, 3] = np.nan
    assert np.isnan(ECE().of_set(DATA, np.arange(N), answers, None)).tolist() == [False, True]
    with pytest.raises(BadArgument, match="bins"):
        ECE(0)
