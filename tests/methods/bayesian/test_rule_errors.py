"""Posteriors of the errors of linear rules: where a prior widens them too far for an interval."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.methods import BayesianError


def test_a_prior_that_takes_features_off_the_rows_has_no_interval():
    """N/(2α) of "flat" is N/(N − 2p − 1), of "jeffreys" N/(N − p + 1): up to 1 + 1/√N, and beyond.

    100 rows of 20 features: "flat" is far above the truth, so the note does not say "too low".
    """
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    rows = rng.normal(size=(100, 20)) + 0.8 * y[:, None]
    model, truth = LogisticRegression(), 0.06
    for p, flat, jeffreys in (
        (2, True, True),
        (3, False, True),
        (7, False, True),
        (8, False, False),
    ):
        for prior, stated in (("flat", flat), ("jeffreys", jeffreys)):
            found = tr.estimate_risk(model, rows[:, :p], y, method=BayesianError(prior))
            assert (found.interval is not None) == (found.std_error is not None) == stated
            assert any("which pulls the estimate up" in note for note in found.notes) != stated
            fitted = LogisticRegression().fit(rows[:, :p], y)
            given = fitted.coef_, fitted.intercept_, rows[:, :p], y
            assert (tr.bayesian_error(*given, prior=prior).std_error is not None) == stated
    with pytest.raises(Refusal, match="no interval is stated: the prior takes features off"):
        tr.bayesian_error(*given, prior=prior).interval()
    high = tr.estimate_risk(model, rows, y, method=BayesianError("flat"))
    assert high.value > 3 * truth
    assert "5.6 times" in high.notes[-1]
    assert "it may err either way" in high.notes[0]
    assert not any("too low" in note for note in high.notes)
