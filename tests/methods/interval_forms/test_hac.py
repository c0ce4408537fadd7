"""The interval of losses that depend on those before them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

import truerisk as tr
from truerisk.core.errors import Refusal, TimeLeakWarning
from truerisk.core.statistics.long_run import long_run
from truerisk.methods.interval_forms.hac import HAC

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N)


def estimate(y=Y, X=X, **more):
    return tr.estimate_risk(LinearRegression(), X, y, method="forward-5", **more)


def test_it_is_the_error_of_the_series_of_losses():
    """By the factor of their memory, on the scale of 1/√risk of squared losses."""
    found = estimate()
    series = long_run(found.losses - found.value)
    assert found.std_error == pytest.approx(series.std_error, rel=1e-12)
    half = series.factor(0.95) * series.std_error / 2 / found.value**1.5
    assert found.interval.method == "hac"
    assert found.interval.low**-0.5 == pytest.approx(found.value**-0.5 + half)
    assert found.interval.high**-0.5 == pytest.approx(found.value**-0.5 - half)


def test_rows_of_one_time_are_one_value_of_the_series():
    """Losses that come in threes say what a third as many say."""
    times = np.repeat(np.arange(N), 3)
    found = estimate(np.repeat(Y, 3), np.repeat(X, 3, axis=0), time=times)
    once = estimate(time=np.arange(N))
    assert found.value == pytest.approx(once.value)
    assert found.std_error == pytest.approx(once.std_error)


def test_the_order_of_the_rows_does_not_matter():
    """But that of their times does."""
    order = RNG.permutation(N)
    found, same = estimate(time=np.arange(N)), estimate(Y[order], X[order], time=order)
    assert found.std_error == pytest.approx(same.std_error)
    assert estimate(Y[order], X[order]).std_error != pytest.approx(found.std_error)


def test_weights_count():
    """The interval is around the weighted mean, by the weighted losses."""
    weight = RNG.integers(1, 4, N).astype(float)
    found = estimate(sample_weight=weight)
    shares = weight[found.loss_rows] / weight[found.loss_rows].sum()
    parts = shares * (found.losses - found.value)
    assert found.std_error == pytest.approx(len(parts) * long_run(parts).std_error)


def test_dependent_losses_have_a_wider_interval():
    """Noise that remembers makes fewer news of the same rows."""
    noise = np.zeros(N)
    for i in range(1, N):
        noise[i] = 0.6 * noise[i - 1] + RNG.normal()
    plain, found = estimate(), estimate(X[:, 0] + noise)
    assert found.interval.width / found.value > 1.1 * plain.interval.width / plain.value


def test_groups_that_follow_one_another_are_stretches_of_time():
    """They are none that could be met again; in any order of the table."""
    found = estimate(groups=np.arange(N) // 2)
    assert found.interval is not None
    order = RNG.permutation(N)
    times = np.arange(N)[order]
    shuffled = estimate(Y[order], X[order], time=times, groups=times // 2)
    assert shuffled.std_error == pytest.approx(found.std_error)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: estimate(Y[:100], X[:100]), "rows of 80 different times were tested: of fewer"),
        (lambda: estimate(groups=np.arange(N) % 400), "groups are met again later"),
        (
            lambda: estimate(np.cumsum(np.random.default_rng(1).normal(size=N))),
            "depend on those before them for so long",
        ),
        (
            lambda: estimate(np.where(np.abs(np.arange(N) - 400) < 15, 1e2, 1.0) * Y),
            "no upper end of their mean is justified",
        ),
        (
            lambda: tr.estimate_risk(DummyRegressor(), X, np.zeros(N), method="forward-5"),
            "every row has the same loss",
        ),
    ],
    ids=["few", "groups", "lasting", "unbounded", "alike"],
)
def test_there_is_none_where_the_series_does_not_tell(make, reason):
    """A sentence says why."""
    found = make()
    assert (found.interval, found.std_error) == (None, None)
    assert any(reason in note for note in found.notes)


def test_rows_with_times_have_it_whatever_splits_them():
    """Losses of rows near in time depend on each other in shuffled folds, too."""
    time = np.arange(N)
    with pytest.warns(TimeLeakWarning):
        found = tr.estimate_risk(LinearRegression(), X, Y, method="5-fold", time=time)
    assert found.interval.method == "hac"


def test_no_order_no_interval():
    """Asked for by name of rows that stand in no order, it is refused before any fit."""
    with pytest.raises(Refusal, match="needs rows in the order of time, which method '5-fold'"):
        tr.estimate_risk(LinearRegression(), X, Y, interval="hac")
    with pytest.raises(Refusal, match="interval 'wald' needs rows that do not depend on each"):
        estimate(interval="wald")


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.SpaceLeakWarning")
@pytest.mark.parametrize(
    ("given", "met"),
    [
        ({"block": np.random.default_rng(0).uniform(size=(N, 2))}, "places"),
        ({"block": np.arange(N) % 400}, "blocks"),
    ],
    ids=["coordinates", "labels"],
)
def test_places_are_not_called_groups(given, met):
    """What is met again is said in the words of what was given."""
    found = estimate(**given)
    assert found.interval is None
    assert found.notes[-1].startswith(f"{met} are met again later")


def test_both_sources_are_cited():
    """Whoever had the idea of the factor, too."""
    reference = HAC.reference
    assert "Lazarus" in reference
    assert "Müller UK, Watson MW (2022)" in reference
