"""The Beta interval with the spread of nested cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.contracts import Terms
from truerisk.core.errors import Refusal
from truerisk.core.losses import Cost, ZeroOne
from truerisk.methods import NestedInterval
from truerisk.methods.interval_forms.beta_ncv import NestedBeta
from truerisk.methods.interval_forms.evidence import NestedErrors, PairEvidence
from truerisk.selection.minimum import Minimum

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
SETTING = Terms(0.95, Minimum())


def interval_of(value, loss, pairs):
    """The interval of one value, from what its pairs of folds say."""
    given = {"values": np.array([value]), "loss": loss, "terms": SETTING}
    return NestedBeta().of_each(PairEvidence(**given, pairs=[pairs]))[0][1]


def test_it_is_the_formula_of_the_page():
    """Beta(n_e m + ½, n_e (1 − m) + ½) with n_e = n/inflation², m the K-fold mean."""
    method = NestedInterval(5, repeats=4, bias=None)
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, method=method, interval="beta-ncv")
    normal = tr.estimate_risk(KNeighborsClassifier(3), X, Y, method=method)
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
    x = np.sign(X[:, :1]) * (50 + RNG.random((N, 1)))
    found = tr.estimate_risk(
        KNeighborsClassifier(1), x, X[:, 0] > 0, method="5-fold", interval="beta-ncv"
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
        tr.estimate_risk(Ridge(), X, X[:, 0], interval="beta-ncv")
