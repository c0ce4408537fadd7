"""The Beta interval of cross-validation, by the formula of its page."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.methods.interval_forms.inflation import ONCE

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
KNN = KNeighborsClassifier(3)


@pytest.mark.parametrize("method", ["5-fold", "loo"])
def test_zero_one_loss_counts_fewer_rows(method):
    """Beta(n_e m + ½, n_e (1 − m) + ½) with n_e = (n − 1)/1.8."""
    found = tr.estimate_risk(KNN, X, Y, method=method, interval="beta-cv")
    m, size = found.value, (N - 1) / ONCE
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    assert found.std_error == pytest.approx(np.sqrt(m * (1 - m) / (N - 1)))
    assert found.interval.method == "beta-cv"


def test_repetitions_count_more_rows():
    """What only the folds change is averaged out of a row's loss, and says how unstable it is."""
    method = tr.methods.KFold(folds=[RNG.permutation(N) % 5 for _ in range(4)])
    found = tr.estimate_risk(KNN, X, Y, method=method, interval="beta-cv")
    singles = [
        tr.estimate_risk(KNN, X, Y, method=tr.methods.KFold(folds=f)).losses for f in method.folds
    ]
    within = np.var(singles, axis=0, ddof=1).mean()
    variance = np.var(np.mean(singles, axis=0), ddof=1)
    unstable = within / (variance + within * 3 / 4)
    assert 0 < unstable < 0.16
    m = found.value
    more = 1 + 5 * np.sqrt(5 / 10) * unstable
    size = m * (1 - m) / (more * variance / N)
    assert size > (N - 1) / ONCE
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_no_errors_count_the_rows():
    """No error in n rows: Beta(½, n/1.8 + ½), without a standard error."""
    x = np.sign(X[:, :1]) * (50 + RNG.random((N, 1)))
    found = tr.estimate_risk(KNN, x, X[:, 0] > 0, method="5-fold", interval="beta-cv")
    assert (found.value, found.std_error) == (0, None)
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 0.5, N / 1.8 + 0.5))


def test_no_errors_in_many_drawings_say_nothing_of_instability():
    """The factor is that of one drawing, not that of a stable learner."""
    x = np.sign(X[:, :1]) * (50 + RNG.random((N, 1)))
    given = {"model": KNN, "X": x, "y": X[:, 0] > 0, "interval": "beta-cv"}
    once = tr.estimate_risk(**given, method="5-fold")
    assert tr.estimate_risk(**given, method="4x5-fold").interval == once.interval


def test_a_rule_that_never_changes_is_tested_by_independent_rows():
    """Its errors are the same in every drawing: the factor is 1."""
    rule = DummyClassifier(strategy="constant", constant=1)
    found = tr.estimate_risk(rule, X, Y, method="4x5-fold", interval="beta-cv")
    m, size = np.mean(Y != 1), N - 1
    assert found.value == pytest.approx(m)
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_a_bounded_loss_has_the_size_of_its_spread():
    """Brier losses vary less than errors, so they count for more rows than there are."""
    found = tr.estimate_risk(GaussianNB(), X, Y, method="5-fold", loss="brier", interval="beta-cv")
    m, variance = found.value, 1.8 * found.losses.var(ddof=1) / N
    size = m * (1 - m) / variance
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_groups_are_added_up_first():
    """With groups the variance is that of the sums of groups."""
    groups = np.arange(N) // 4
    given = {"interval": "beta-cv", "groups": groups}
    found = tr.estimate_risk(KNN, X, Y, method="5-fold", **given)
    wald = tr.estimate_risk(KNN, X, Y, method="5-fold", groups=groups)
    assert found.std_error == pytest.approx(wald.std_error)
    m = found.value
    size = m * (1 - m) / (1.8 * wald.std_error**2)
    assert found.interval.low == pytest.approx(
        stats.beta.ppf(0.025, size * m + 0.5, size * (1 - m) + 0.5)
    )
    assert found.interval.method == "beta-cv-grouped"


LACKING = "interval 'beta-cv' needs rows that are tested equally often, which method '"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"model": Ridge(), "y": X[:, 0]}, "largest value"),
        ({"method": ShuffleSplit(5, random_state=0)}, LACKING),
        ({"method": [(np.arange(20), np.arange(20, 40))] * 2 + [(np.arange(9), [9])]}, LACKING),
        ({"method": "monte-carlo"}, LACKING),
    ],
)
def test_other_losses_and_splits_are_refused(more, message):
    """Losses without a bound, and rows tested unequally often."""
    given = {"model": KNN, "X": X, "y": Y, "interval": "beta-cv", **more}
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**given)


def test_equal_losses_between_the_bounds_say_nothing():
    """A spread of 0 between the bounds gives no interval."""
    found = tr.estimate_risk(
        GaussianNB(), X, Y, method="5-fold", loss=lambda y, f: np.full(len(y), 0.5)
    )
    assert found.interval is None


@pytest.mark.parametrize(
    "splitter", [KFold(5), [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]]
)
def test_splitters_that_test_every_row_have_it(splitter):
    """scikit-learn's K-folds and given splits that test every row once are cross-validation."""
    found = tr.estimate_risk(KNN, X, Y, method=splitter, interval="beta-cv")
    assert found.interval.method == "beta-cv"


def test_every_candidate_has_its_own_instability():
    """The interval of a point of a curve is that of the setting by itself."""
    given = {"method": "4x5-fold", "interval": "beta-cv", "random_state": 0}
    grid = {"n_neighbors": [1, 5, 15]}
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X, Y, **given)
    alone = [tr.estimate_risk(KNeighborsClassifier(k), X, Y, **given) for k in (1, 5, 15)]
    for point, one in zip(curve, alone, strict=True):
        assert point.interval.low == pytest.approx(one.interval.low, rel=1e-12)
        assert point.interval.high == pytest.approx(one.interval.high, rel=1e-12)
    assert len({note for point in curve for note in point.notes if "instability" in note}) == 3


@pytest.mark.parametrize("word", ["beta-cv", "log-cv"])
def test_rows_that_are_tested_unequally_often_are_refused(word):
    """Their means have no common variance, and no instability."""
    rows = np.arange(N)
    splits = [(rows[20:], rows[:20]), (rows[:20], rows[20:]), (rows[9:], rows[:9])]
    with pytest.raises(Refusal, match="equally often"):
        tr.estimate_risk(KNN, X, Y, method=splits, interval=word)
