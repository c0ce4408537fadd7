"""Intervals that rest on fits made for them: without two folds, in halves, on samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.contracts import Terms
from truerisk.core.errors import Refusal
from truerisk.intervals.refitted import NestedBeta, NestedErrors, PairEvidence
from truerisk.losses.row_losses import Cost, ZeroOne
from truerisk.methods import Bootstrap, NestedInterval
from truerisk.selection.rules import Minimum

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + RNG.normal(size=40)


def test_a_k_fold_word_becomes_nested_cross_validation():
    """The word 5-fold with interval="ncv" is NestedInterval(5, repeats=10), debiased."""
    asked = tr.estimate_risk(Ridge(), X, Y, cv="5-fold", interval="ncv")
    same = tr.estimate_risk(Ridge(), X, Y, cv=tr.methods.NestedInterval(5, repeats=10))
    assert (asked.value, asked.interval) == (same.value, same.interval)
    assert asked.method == "ncv (10x5-fold)"


def test_more_repetitions_are_kept():
    """The word 12x5-fold keeps its 12 repetitions."""
    asked = tr.estimate_risk(Ridge(), X, Y, cv="12x5-fold", interval="ncv")
    assert asked.n_fits == 12 * 15


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_it_is_symmetric_and_of_its_level(level):
    """Value ± z standard errors."""
    from scipy import stats

    found = tr.estimate_risk(Ridge(), X, Y, interval="ncv", confidence_level=level)
    z = stats.norm.ppf((1 + level) / 2)
    assert found.interval.high == pytest.approx(found.value + z * found.std_error)


RNG_BETA_NCV = np.random.default_rng(1)
N = 40
X_BETA_NCV = RNG_BETA_NCV.normal(size=(N, 2))
Y_BETA_NCV = (X_BETA_NCV[:, 0] + RNG_BETA_NCV.normal(size=N) > 0).astype(int)
SETTING = Terms(0.95, Minimum())


def interval_of(value, loss, pairs):
    """The interval of one value, from what its pairs of folds say."""
    given = {"values": np.array([value]), "loss": loss, "terms": SETTING}
    return NestedBeta().of_each(PairEvidence(**given, pairs=[pairs]))[0][1]


def test_it_is_the_formula_of_the_page():
    """Beta(n_e m + ½, n_e (1 − m) + ½) with n_e = n/inflation², m the K-fold mean."""
    method = NestedInterval(5, repeats=4, bias=None)
    found = tr.estimate_risk(
        KNeighborsClassifier(3), X_BETA_NCV, Y_BETA_NCV, cv=method, interval="beta-ncv"
    )
    normal = tr.estimate_risk(KNeighborsClassifier(3), X_BETA_NCV, Y_BETA_NCV, cv=method)
    assert found.value == normal.value == pytest.approx(found.losses.mean())
    inner = found.split_risks.reshape(4, 5, 5)[:, ~np.eye(5, dtype=bool)].mean()
    n_inner = 4 * 4 * N
    floor2 = inner * (1 - inner) * n_inner / (n_inner - 1) / N
    size = N / (normal.std_error**2 / floor2) * (n_inner - 1) / n_inner
    m = found.value
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    assert found.interval.method == "beta-ncv"


def test_no_errors_have_an_interval():
    """No error in n rows: Beta(½, n + ½), and no standard error."""
    x = np.sign(X_BETA_NCV[:, :1]) * (50 + RNG_BETA_NCV.random((N, 1)))
    found = tr.estimate_risk(
        KNeighborsClassifier(1), x, X_BETA_NCV[:, 0] > 0, cv="5-fold", interval="beta-ncv"
    )
    assert (found.value, found.std_error) == (0, None)
    assert found.interval.low < 1e-4
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 0.5, N + 0.5))


def test_a_bounded_loss_is_scaled():
    """A cost of at most 2 has twice the interval of the halved losses."""
    pairs = NestedErrors(std_error=0.05, floor=0.04, mean=0.3, n=50)
    plain = interval_of(0.3, ZeroOne(), pairs)
    doubled = NestedErrors(std_error=0.1, floor=0.08, mean=0.6, n=50)
    scaled = interval_of(0.6, Cost([[0, 2], [2, 0]]), doubled)
    assert (scaled.low, scaled.high) == pytest.approx((2 * plain.low, 2 * plain.high))


def test_a_value_beyond_the_edge_is_taken_as_the_edge():
    """A debiased value below 0 still has an interval that starts at 0."""
    pairs = NestedErrors(std_error=0.02, floor=0.02, mean=0.02, n=50)
    found = interval_of(-0.01, ZeroOne(), pairs)
    assert 0 <= found.low < found.high < 0.1


def test_losses_without_a_bound_are_refused():
    """Squared errors know no largest value."""
    with pytest.raises(Refusal, match="largest value"):
        tr.estimate_risk(Ridge(), X_BETA_NCV, X_BETA_NCV[:, 0], interval="beta-ncv")


RNG_Z = np.random.default_rng(1)
N_Z = 60
X_Z = RNG_Z.normal(size=(N_Z, 2))
Y_Z = (X_Z[:, 0] + RNG_Z.normal(size=N_Z) > 0).astype(int)


@pytest.mark.parametrize("loss", ["zero-one", "auc", "brier"])
def test_any_loss_has_it(loss):
    """se² = mean squared difference of the halves' means over 2, also without losses of rows."""
    found = tr.estimate_risk(
        KNeighborsClassifier(9), X_Z, Y_Z, interval="conservative-z", scoring=loss
    )
    risks = found.split_risks[15:].reshape(10, 2, 15).mean(axis=2)
    error = np.sqrt(((risks[:, 0] - risks[:, 1]) ** 2).sum() / 20)
    assert found.loss_value == pytest.approx(found.split_risks[:15].mean())
    assert found.std_error == pytest.approx(error)
    low, high = stats.norm.interval(0.95, found.value, error)
    assert found.interval.low == pytest.approx(max(low, 0))
    assert found.interval.high == pytest.approx(min(high, 1))
    assert (found.interval.method, found.method) == ("conservative-z", "paired-halves")


RNG_632 = np.random.default_rng(1)
N_632 = 40
X_632 = RNG_632.normal(size=(N_632, 2))
Y_632 = (X_632[:, 0] + RNG_632.normal(size=N_632) > 0).astype(int)
KNN = KNeighborsClassifier(5)


@pytest.mark.parametrize("kind", ["oob", ".632", ".632+"])
def test_the_error_out_of_bag_is_scaled_to_the_value(kind):
    """Value ± z se(Err₁) value/Err₁, se(Err₁) the one that method "oob" reports."""
    method = Bootstrap(kind, replicates=400)
    found = tr.estimate_risk(KNN, X_632, Y_632, cv=method, interval="bootstrap-.632")
    oob = tr.estimate_risk(KNN, X_632, Y_632, cv=Bootstrap("oob", replicates=400))
    error = oob.std_error * found.value / oob.value
    low, high = stats.norm.interval(0.95, found.value, error)
    assert found.std_error == pytest.approx(error)
    assert (found.interval.low, found.interval.high) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "bootstrap-.632"


def test_without_being_asked_632_has_none():
    """The formula is a rule of thumb for .632 and .632+, so it is given on request only."""
    assert tr.estimate_risk(KNN, X_632, Y_632, cv=".632+").interval is None


def test_where_the_jackknife_fails_a_note_says_why():
    """Groups have no formula: no interval, and the reason."""
    found = tr.estimate_risk(
        KNN, X_632, Y_632, cv=".632", interval="bootstrap-.632", groups=np.arange(N_632) // 2
    )
    assert (found.interval, found.std_error) == (None, None)
    assert any("groups" in note for note in found.notes)


@pytest.mark.parametrize("method", ["optimism", "bootstrap", "10-fold"])
def test_other_methods_refuse_it(method):
    """Samples that are tested on their own rows, and folds, have no such interval."""
    with pytest.raises(Refusal, match="bootstrap-.632' needs bootstrap samples, which method '"):
        tr.estimate_risk(KNN, X_632, Y_632, cv=method, interval="bootstrap-.632")
