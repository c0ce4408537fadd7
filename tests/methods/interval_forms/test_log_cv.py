"""The log-normal interval of cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.core.loss_words import as_loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.log_cv import LogCV

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_it_is_normal_on_the_log_scale(level):
    """Value · exp(± z se/value) with se² = 1.8 s²/n for one repetition."""
    from scipy.special import ndtri

    found = tr.estimate_risk(Ridge(), X, Y, interval="log-cv", confidence_level=level)
    error = np.sqrt(1.8 * found.losses.var(ddof=1) / N)
    factor = np.exp(ndtri((1 + level) / 2) * error / found.value)
    assert found.std_error == pytest.approx(error / np.sqrt(1.8))
    assert found.interval.low == pytest.approx(found.value / factor)
    assert found.interval.high == pytest.approx(found.value * factor)


def test_repetitions_average_the_losses_of_a_row():
    """s² is the variance of the rows' mean losses: what only the folds change is averaged out."""
    method = tr.methods.KFold(folds=[np.arange(N) % 5, np.arange(N) // 8])
    both = tr.estimate_risk(Ridge(), X, Y, method=method, interval="log-cv")
    singles = [
        tr.estimate_risk(Ridge(), X, Y, method=tr.methods.KFold(folds=f)).losses
        for f in method.folds
    ]
    s2 = np.mean(singles, axis=0).var(ddof=1)
    assert both.std_error == pytest.approx(np.sqrt(s2 / N))
    within = np.var(singles, axis=0, ddof=1).mean()
    more = 1.3 + 5 * np.sqrt(5 / 10) * within / (s2 + within / 2)
    assert 1.3 < more < 1.8
    times = np.exp(1.959963984540054 * np.sqrt(more * s2 / N) / both.value)
    assert both.interval.high == pytest.approx(both.value * times)


def test_groups_are_added_up_first():
    """Its name and its error say so."""
    groups = np.arange(N) // 4
    found = tr.estimate_risk(Ridge(), X, Y, interval="log-cv", groups=groups)
    wald = tr.estimate_risk(Ridge(), X, Y, groups=groups)
    assert found.std_error == pytest.approx(wald.std_error)
    assert found.interval.width > wald.interval.width
    assert found.interval.method == "log-cv-grouped"


def test_losses_that_may_be_negative_are_refused():
    """A callable that knows no least value has no logarithm."""
    data = Data.check(X, Y, task="regression")
    loss = as_loss(lambda y, f: y - f, data)
    assert loss.lower is None
    with pytest.raises(Refusal, match="never negative"):
        LogCV().check(data, loss)


def test_no_spread_has_none():
    """Equal losses have no interval."""
    y = np.tile([1.0, -1.0], N // 2)
    folds = np.arange(N) // 8
    found = tr.estimate_risk(
        DummyRegressor(strategy="constant", constant=0.0),
        X,
        y,
        method=tr.methods.KFold(folds=folds),
        interval="log-cv",
    )
    assert (found.interval, found.std_error) == (None, None)
