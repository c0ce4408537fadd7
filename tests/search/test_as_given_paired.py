"""A paired difference, its standard error, and when it exceeds its noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from truerisk.data.data import Data
from truerisk.search.as_given import Paired, paired_difference

DRAW = np.random.default_rng(0)
A, B = DRAW.random(30), DRAW.random(30) + 0.1
X, Y = DRAW.normal(size=(30, 1)), np.arange(30) % 2


def data(**options):
    """Checked data of thirty rows."""
    return Data.check(X, Y, task="classification", **options)


def test_it_is_the_paired_t():
    """Mean over its error is scipy's statistic, and the decision its p value's."""
    found = paired_difference(A, B, np.arange(30), data())
    expected = ttest_rel(A, B)
    assert found.mean / found.std_error == pytest.approx(expected.statistic)
    for level in (0.5, 0.9, 0.95, 0.999):
        assert found.exceeds_noise(level) == (expected.pvalue < 1 - level)


def test_whole_weights_count_as_copies_in_the_mean():
    """A weight of 2 is as two rows; weights of the rows asked for are taken."""
    weight = 1.0 + np.arange(30) % 2
    rows = np.arange(0, 30, 3)
    found = paired_difference(A[rows], B[rows], rows, data(sample_weight=weight))
    assert found.mean == pytest.approx(np.average((A - B)[rows], weights=weight[rows]))


def test_groups_are_the_units():
    """Copies of a row within its group leave the standard error of the groups."""
    groups = np.repeat(np.arange(10), 3)
    a, b = np.repeat(A[:10], 3), np.repeat(B[:10], 3)
    found = paired_difference(a, b, np.arange(30), data(groups=groups))
    d = (A - B)[:10]
    assert found.n_units == 10
    assert found.std_error == pytest.approx(d.std(ddof=1) / np.sqrt(10))
    single = paired_difference(a, b, np.arange(30), data())
    assert single.std_error < found.std_error


def test_one_row_has_no_spread():
    """No standard error from a single unit."""
    assert paired_difference(A[:1], B[:1], np.arange(1), data()) is None


@pytest.mark.parametrize("mean", [0.0, 0.3, -1.0])
def test_no_spread_exceeds_nothing(mean):
    """Where all differences are equal nothing is known of their error."""
    assert not Paired(mean, 0.0, 30).exceeds_noise(0.95)


def test_few_units_need_more():
    """The t quantile, not the normal one."""
    assert Paired(2.1, 1.0, 200).exceeds_noise(0.95)
    assert not Paired(2.1, 1.0, 5).exceeds_noise(0.95)


def test_differences_of_rounding_exceed_nothing():
    """What counts is the size of the losses, whatever their unit."""
    rng = np.random.default_rng(0)
    for unit in (1e-13, 1.0, 1e9):
        losses = unit * rng.random(30)
        same = paired_difference(losses, losses * (1 + 1e-15), np.arange(30), data())
        other = paired_difference(losses, 2 * losses, np.arange(30), data())
        assert not same.exceeds_noise(0.95)
        assert other.exceeds_noise(0.95)
