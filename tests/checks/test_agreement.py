"""Agreement of outcomes between pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from truerisk.checks.agreement import mean_ranks, outcome_of

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 3, 4000)
NUMBERS = RNG.standard_t(2, 4000)


def test_agreement_is_one_for_equal_outcomes():
    """A row agrees fully with itself, whether y holds classes or numbers."""
    rows = np.arange(100)
    for outcome in (outcome_of(CODES, CODES), outcome_of(None, NUMBERS)):
        assert outcome.agreement(rows, rows) == pytest.approx(1)


def test_agreement_is_zero_on_average_for_independent_rows():
    """The mean over consecutive rows is near 0 and scatters with the stated variance."""
    rows = np.arange(3999)
    for outcome in (outcome_of(CODES, CODES), outcome_of(None, NUMBERS)):
        error = np.sqrt(outcome.variance / len(rows))
        assert abs(outcome.agreement(rows, rows + 1).mean()) < 3 * error
        drawn = []
        for seed in range(300):
            order = np.random.default_rng(seed).permutation(4000)
            drawn.append(outcome.agreement(order[1:], order[:-1]).mean())
        assert np.std(drawn) == pytest.approx(error, rel=0.15)


def test_agreement_of_classes_is_cohens_kappa():
    """The mean equals kappa if each row stands once on both sides of the pairs."""
    other = np.roll(np.arange(4000), 7)
    found = outcome_of(CODES, CODES).agreement(np.arange(4000), other).mean()
    assert found == pytest.approx(cohen_kappa_score(CODES, CODES[other]))


def test_agreement_of_numbers_depends_on_ranks_alone():
    """A rising function of y changes nothing; ties get their mean rank."""
    i, j = np.arange(100), np.arange(100, 200)
    plain, changed = outcome_of(None, NUMBERS), outcome_of(None, np.exp(NUMBERS / 100))
    assert plain.agreement(i, j) == pytest.approx(changed.agreement(i, j))
    assert mean_ranks(np.array([3.0, 1.0, 3.0])).tolist() == [2.5, 1.0, 2.5]


def test_outcome_of_is_none_where_y_does_not_vary():
    """There are no outcomes to compare if y is constant, missing or no number."""
    assert outcome_of(np.zeros(50, int), np.zeros(50)) is None
    assert outcome_of(None, np.ones(50)) is None
    assert outcome_of(None, np.full(50, np.nan)) is None
    assert outcome_of(None, np.array(["a"] * 50)) is None
    assert outcome_of(None, np.empty((50, 0))) is None
