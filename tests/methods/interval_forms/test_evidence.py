"""What the values of a method rest on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from truerisk.methods.interval_forms.evidence import variances_of_means

RNG = np.random.default_rng(0)


def test_the_variance_of_a_mean_is_the_textbook_one():
    """s²/n of rows, and s²/m of group means where groups are equal; for each line of losses."""
    losses = RNG.random((3, 12))
    weights, values = np.full(12, 1 / 12), losses.mean(axis=1)
    variances, m = variances_of_means(losses, weights, values, None)
    assert (variances.tolist(), m) == (pytest.approx(stats.sem(losses, axis=1) ** 2), 12)
    means = losses.reshape(3, 4, 3).mean(axis=2)
    variances, m = variances_of_means(losses, weights, values, np.arange(12) // 3)
    assert (variances.tolist(), m) == (pytest.approx(stats.sem(means, axis=1) ** 2), 4)
