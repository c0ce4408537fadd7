"""Intervals that rest on fits made for them: without two folds, in halves, on samples."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.extend import Refusal, Terms
from truerisk.intervals.refitted import NestedBeta, NestedCVError, PairEvidence
from truerisk.losses import Cost, ZeroOne
from truerisk.methods import Bootstrap, NestedInterval
from truerisk.selection import Minimum

N = 40
X, Y, NUMBERS = normal_rows(N, seed=1)
KNN = KNeighborsClassifier(3)


def ends(found):
    return found.interval.low, found.interval.high


def test_ncv_interval_of_folds_by_word_is_debiased_nested_cross_validation():
    """5-fold by word is NestedInterval(5, repeats=10); 12x5-fold keeps its repetitions."""
    asked = tr.estimate_risk(Ridge(), X, NUMBERS, cv="5-fold", interval="ncv", confidence_level=0.8)
    method = NestedInterval(5, repeats=10)
    same = tr.estimate_risk(Ridge(), X, NUMBERS, cv=method, confidence_level=0.8)
    assert (asked.value, asked.interval) == (same.value, same.interval)
    assert asked.method == "ncv (10x5-fold)"
    expected = stats.norm.interval(0.8, asked.value, asked.std_error)
    assert ends(asked) == pytest.approx(expected)
    twelve = tr.estimate_risk(Ridge(), X, NUMBERS, cv="12x5-fold", interval="ncv")
    assert twelve.n_fits == 12 * 15


def test_beta_ncv_is_the_formula_of_the_page():
    """Beta(n_e m + ½, n_e (1 − m) + ½) with n_e = n/inflation², m the K-fold mean."""
    method = NestedInterval(5, repeats=4, bias=None)
    found, normal = (
        tr.estimate_risk(KNN, X, Y, cv=method, interval=word) for word in ("beta-ncv", None)
    )
    assert found.value == normal.value == pytest.approx(found.losses.mean())
    inner = found.split_risks.reshape(4, 5, 5)[:, ~np.eye(5, dtype=bool)].mean()
    n_inner = 4 * 4 * N
    floor2 = inner * (1 - inner) * n_inner / (n_inner - 1) / N
    size = N / (normal.std_error**2 / floor2) * (n_inner - 1) / n_inner
    m = found.value
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert ends(found) == pytest.approx(expected)
    assert found.interval.method == "beta-ncv"


def test_beta_ncv_of_no_errors_has_no_standard_error():
    """No error in n rows: Beta(½, n + ½)."""
    x = np.sign(X[:, :1]) * (50 + np.abs(X[:, 1:]))
    model, y = KNeighborsClassifier(1), X[:, 0] > 0
    found = tr.estimate_risk(model, x, y, cv="5-fold", interval="beta-ncv")
    assert (found.value, found.std_error) == (0, None)
    assert found.interval.low < 1e-4
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 0.5, N + 0.5))


def interval_of(value, loss, **pairs):
    """The interval of one value, from what its pairs of folds say."""
    given = {"values": np.array([value]), "loss": loss, "terms": Terms(0.95, Minimum())}
    evidence = PairEvidence(**given, nested_errors=[NestedCVError(**pairs, n=50)])
    found = NestedBeta().of_each(evidence)[0][1]
    return np.array([found.low, found.high])


def test_beta_ncv_scales_bounded_losses_and_takes_values_beyond_the_edge_as_the_edge():
    """A cost of at most 2 has twice the interval of the halved losses."""
    plain = interval_of(0.3, ZeroOne(), std_error=0.05, independent_std_error=0.04, mean=0.3)
    scaled = interval_of(
        0.6, Cost([[0, 2], [2, 0]]), std_error=0.1, independent_std_error=0.08, mean=0.6
    )
    assert scaled == pytest.approx(2 * plain)
    low, high = interval_of(-0.01, ZeroOne(), std_error=0.02, independent_std_error=0.02, mean=0.02)
    assert 0 <= low < high < 0.1


@pytest.mark.parametrize("loss", ["zero-one", "auc", "brier"])
def test_conservative_z_is_the_formula_of_halves_for_any_loss(loss):
    """se² = mean squared difference of the halves' means over 2, also without losses of rows."""
    found = tr.estimate_risk(KNN, X, Y, interval="conservative-z", scoring=loss)
    risks = found.split_risks[15:].reshape(10, 2, 15).mean(axis=2)
    error = np.sqrt(((risks[:, 0] - risks[:, 1]) ** 2).sum() / 20)
    assert found.loss_value == pytest.approx(found.split_risks[:15].mean())
    assert found.std_error == pytest.approx(error)
    low, high = stats.norm.interval(0.95, found.value, error)
    assert ends(found) == pytest.approx((max(low, 0), min(high, 1)))
    assert (found.interval.method, found.method) == ("conservative-z", "paired-halves")


@pytest.mark.parametrize("kind", ["oob", ".632", ".632+"])
def test_bootstrap_632_scales_the_error_out_of_bag_to_the_value(kind):
    """Value ± z se(Err₁) value/Err₁, se(Err₁) the one that method "oob" reports.

    The formula is a rule of thumb for .632 and .632+, so it is given on request only.
    """
    found, oob, unasked = (
        tr.estimate_risk(KNN, X, Y, cv=Bootstrap(k, replicates=400), interval=word)
        for k, word in ((kind, "bootstrap-.632"), ("oob", None), (kind, None))
    )
    error = oob.std_error * found.value / oob.value
    low, high = stats.norm.interval(0.95, found.value, error)
    assert found.std_error == pytest.approx(error)
    assert ends(found) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "bootstrap-.632"
    assert unasked.interval is None


def test_bootstrap_632_of_groups_is_none():
    given = {"cv": ".632", "interval": "bootstrap-.632", "groups": np.arange(N) // 2}
    found = tr.estimate_risk(KNN, X, Y, **given)
    assert (found.interval, found.std_error) == (None, None)
    assert any("groups" in note for note in found.notes)


@pytest.mark.parametrize(
    ("word", "given", "message"),
    [
        *(
            ("bootstrap-.632", {"cv": cv}, "needs bootstrap samples, which method '")
            for cv in ("optimism", "bootstrap", "10-fold")
        ),
        ("beta-ncv", {"model": Ridge(), "y": NUMBERS}, "largest value"),
    ],
    ids=["optimism", "bootstrap", "folds", "no bound"],
)
def test_refitted_interval_is_refused_where_its_formula_does_not_hold(word, given, message):
    """Samples that are tested on their own rows, folds, and losses without a bound."""
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**{"model": KNN, "X": X, "y": Y, "interval": word} | given)
