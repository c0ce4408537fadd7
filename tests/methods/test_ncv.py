"""Nested cross-validation of Bates et al. is what loops over pairs of folds find."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn

import truerisk as tr
from truerisk.methods import Nested, NestedInterval, Splitter

N, K, R = 41, 4, 3
X, Y, NUMBERS = normal_rows(N, 3, seed=3)
RNG = np.random.default_rng(3)
FOLDS = np.array([RNG.permutation(np.arange(N) % K) for _ in range(R)])
GROUPS = np.arange(N) // 2
OF_GROUPS = np.array([RNG.permutation(21)[GROUPS] % K for _ in range(R)])
WEIGHTS = RNG.integers(1, 4, size=N).astype(float)
LINE, METHOD = LinearRegression(), NestedInterval(K, folds=FOLDS)


def variance_of_mean(losses, weights, mean, groups):
    """m/(m−1) Σ_g (Σ w (ℓ − mean))² / (Σ w)², group by group."""
    sums = [(weights * (losses - mean))[groups == g].sum() for g in np.unique(groups)]
    return len(sums) / (len(sums) - 1) * np.square(sums).sum() / weights.sum() ** 2


def by_loops(model, y, folds=FOLDS, power=1.5, weights=None, groups=None):
    """Debiased value, value and error by the published algorithm, with scikit-learn's fits."""
    fit_weights, weights = weights, np.ones(N) if weights is None else weights
    apart = np.arange(N) if groups is None else groups

    def losses(train, test):
        more = {} if fit_weights is None else {"sample_weight": fit_weights[train]}
        away = y[test] - model.fit(X[train], y[train], **more).predict(X[test])
        return away**2  # of classes 0 and 1 the errors

    a, b, inner, outer, by_repeat = [], [], [], [], []
    for row in folds:
        in_repeat = []
        for i in range(K):
            out = np.flatnonzero(row == i)
            e_out, e_in = losses(np.flatnonzero(row != i), out), []
            for j in set(range(K)) - {i}:
                test = np.flatnonzero(row == j)
                e = losses(np.flatnonzero((row != i) & (row != j)), test)
                e_in.append([e, weights[test]])
            e_in, m_out = np.hstack(e_in), np.average(e_out, weights=weights[out])
            a.append((np.average(e_in[0], weights=e_in[1]) - m_out) ** 2)
            b.append(variance_of_mean(e_out, weights[out], m_out, apart[out]))
            inner.append(e_in)
            in_repeat.append([e_out, weights[out], apart[out]])
        by_repeat.append(np.hstack(in_repeat))
    (inner, inner_w), outer = np.hstack(inner), np.hstack(by_repeat)
    m_in = np.average(inner, weights=inner_w)
    m_out = np.average(outer[0], weights=outer[1])
    floor = np.average((inner - m_in) ** 2, weights=inner_w) * len(inner) / (len(inner) - 1)
    floor *= (weights**2).sum() / weights.sum() ** 2
    if groups is not None:
        floor = np.mean([variance_of_mean(e, w, m_out, g) for e, w, g in by_repeat])
    mse = max(0, np.mean(a) - np.mean(b)) * (K - 1) / K
    factor = 1 + ((K - 2) / K) ** power
    return m_in - factor * (m_in - m_out), m_out, np.sqrt(np.clip(mse, floor, K * floor))


@pytest.mark.parametrize(("bias", "power"), [("bates", 1.5), ("mlr3inferr", 1.0), (None, 0)])
@pytest.mark.parametrize(
    ("model", "y"), [(KNeighborsClassifier(3), Y), (LINE, NUMBERS)], ids=["classes", "numbers"]
)
def test_ncv_equals_the_published_formula(bias, power, model, y):
    """Value, standard error and interval of both published factors, computed again by loops."""
    method = NestedInterval(K, repeats=R, folds=FOLDS, bias=bias)
    found = tr.estimate_risk(model, X, y, cv=method)
    value, outer, error = by_loops(model, y, power=power)
    expected = outer if bias is None else value
    assert (found.value, found.std_error) == pytest.approx((expected, error))
    low, high = stats.norm.interval(0.95, expected, error)
    assert (found.interval.low, found.interval.high) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "ncv"
    assert found.n_fits == R * (K + K * (K - 1) // 2)
    assert found.losses.mean() == pytest.approx(outer)


@pytest.mark.parametrize(
    ("folds", "fit", "word"),
    [
        (OF_GROUPS, {"groups": GROUPS}, "ncv-grouped"),
        (FOLDS, {"sample_weight": WEIGHTS}, "ncv"),
    ],
    ids=["groups", "weights"],
)
def test_ncv_adds_up_groups_first_and_weighs_fits_means_and_variances(folds, fit, word):
    given = {"groups": fit.get("groups"), "weights": fit.get("sample_weight")}
    found = tr.estimate_risk(LINE, X, NUMBERS, cv=NestedInterval(K, folds=folds), **fit)
    value, _, error = by_loops(LINE, NUMBERS, folds, **given)
    assert (found.value, found.std_error) == pytest.approx((value, error))
    assert found.interval.method == word


def test_ncv_makes_one_fit_for_a_pair_of_folds():
    """Fit without folds i and j answers about both; equal pairs of several repetitions are one."""
    plan = drawn(NestedInterval(K, folds=FOLDS[[0, 0]]), checked(X, Y))
    assert (plan.n_fits, plan.n_questions) == (K + K * (K - 1) // 2, 2 * K * K)


def test_ncv_as_outer_method_is_that_of_a_grid_search():
    grid, inner = {"n_neighbors": [1, 5, 9]}, KFold(3, shuffle=True, random_state=1)
    search = GridSearchCV(KNeighborsRegressor(), grid, cv=inner, scoring="neg_mean_squared_error")
    method = Nested(METHOD, Splitter(inner, average="fold"))
    found = tr.risk_curve(KNeighborsRegressor(), grid, X, NUMBERS, cv=method).procedure
    value, _, error = by_loops(search, NUMBERS)
    assert (found.value, found.std_error) == pytest.approx((value, error))


def test_ncv_in_a_search_asks_the_inner_folds_of_each_fit_once():
    outer, grid = NestedInterval(K, repeats=2), {"n_neighbors": [1, 5]}
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, outer=outer, cv="3-fold")
    risk, n_fits = search.fit(X, Y).risk_, 2 * (K + K * (K - 1) // 2)
    assert risk.interval.method == "ncv"
    assert risk.n_fits == n_fits * 3 * 2 + n_fits


def test_ncv_without_errors_has_no_normal_interval():
    x = np.sign(X[:, :1]) * (50 + np.abs(X[:, 1:2]))
    method = NestedInterval(K, repeats=2)
    never = tr.estimate_risk(LogisticRegression(), x, X[:, 0] > 0, cv=method)
    assert (never.value, never.std_error, never.interval) == (0, None, None)
    assert any("spread is 0" in note for note in never.notes)
