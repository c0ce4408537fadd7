"""Textbook intervals of held-out rows: normal, corrected t, Beta posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30)


def test_asked_for_it_is_the_usual_one_of_losses_below_0():
    """interval="wald" changes nothing where no interval was calibrated: of losses below 0."""
    given = {"cv": "5-fold", "scoring": lambda y, answers: y - answers}
    usual = tr.estimate_risk(Ridge(), X, Y, **given)
    asked = tr.estimate_risk(Ridge(), X, Y, **given, interval="wald")
    assert asked.interval == usual.interval
    assert asked.std_error == usual.std_error


def test_rows_tested_repeatedly_are_refused():
    """Their losses are not those of one cross-validation."""
    with pytest.raises(Refusal, match=r"tested once.*corrected-t"):
        tr.estimate_risk(Ridge(), X, Y, cv="2x5-fold", interval="wald")


RNG_T = np.random.default_rng(0)
X_T = RNG_T.normal(size=(30, 2))
Y_T = X_T[:, 0] + RNG_T.normal(size=30)


def test_a_single_k_fold_has_it_when_asked():
    """J = 5 folds of 6 rows: se² = s² (1/5 + 6/24), t with 4 degrees of freedom."""
    found = tr.estimate_risk(Ridge(), X_T, Y_T, cv="5-fold", interval="corrected-t")
    error = found.split_risks.std(ddof=1) * np.sqrt(1 / 5 + 6 / 24)
    low, high = stats.t.interval(0.95, 4, found.value, error)
    assert found.std_error == pytest.approx(error)
    assert (found.interval.low, found.interval.high) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "corrected-t"


def test_it_is_the_own_one_of_random_splits():
    """Asked for or not, random splits have the same interval."""
    usual = tr.estimate_risk(Ridge(), X_T, Y_T, cv="monte-carlo")
    asked = tr.estimate_risk(Ridge(), X_T, Y_T, cv="monte-carlo", interval="corrected-t")
    assert usual.interval == asked.interval


RNG_BETA = np.random.default_rng(5)
N = 48
X_BETA = RNG_BETA.normal(size=(N, 2))
Y_BETA = (X_BETA[:, 0] + RNG_BETA.normal(size=N) > 0).astype(int)
GROUPS = np.arange(N) // 3


@pytest.mark.parametrize("method", ["6-fold", "loo"])
def test_errors_of_folds_are_counted_and_a_note_says_so(method):
    """Beta(e + 1, n − e + 1) of all tested rows; several rules made the errors."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X_BETA, Y_BETA, cv=method, interval="beta")
    e = found.losses.sum()
    expected = stats.beta.interval(0.95, e + 1, N - e + 1)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    assert found.interval.method == "beta"
    assert any("different rules" in note for note in found.notes)


def test_groups_count_for_fewer_rows():
    """n/max(1, d) rows, d the factor by which groups enlarge the variance of the mean."""
    model = KNeighborsClassifier(3)
    found = tr.estimate_risk(model, X_BETA, Y_BETA, cv="4-fold", interval="beta", groups=GROUPS)
    residuals = found.losses - found.losses.mean()
    by_group = np.array([residuals[g == GROUPS].sum() for g in range(16)])
    d = (16 / 15 * (by_group**2).sum()) / (N / (N - 1) * (residuals**2).sum())
    size = N / max(1, d)
    e = size * found.value
    expected = stats.beta.interval(0.95, e + 1, size - e + 1)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    assert found.interval.method == "beta-grouped"


def test_no_errors_in_groups_count_groups():
    """Where no row is wrong, the groups are what was tested."""
    x = np.sign(X_BETA[:, :1]) * (50 + RNG_BETA.random((N, 1)))
    y = X_BETA[:, 0] > 0
    found = tr.estimate_risk(
        KNeighborsClassifier(3), x, y, cv="4-fold", interval="beta", groups=GROUPS
    )
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 1, 17))
    assert found.std_error is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"scoring": "brier"}, "a loss that counts errors, which loss 'brier' cannot give"),
        (
            {"sample_weight": RNG_BETA.random(N)},
            "rows that count alike, which data with sample_weight",
        ),
        ({"cv": "2x4-fold"}, "tested once"),
        ({"scoring": "auc"}, "no"),
    ],
)
def test_what_is_no_count_is_refused(more, message):
    """Other losses, weights and repeated tests are refused in words."""
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(
            GaussianNB(), X_BETA, Y_BETA, **{"cv": "4-fold", **more, "interval": "beta"}
        )
