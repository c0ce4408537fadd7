"""Nested cross-validation of Bates et al. is what loops over pairs of folds find."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.methods import Nested, NestedInterval, Splitter
from truerisk.plan.plan import Plan

RNG = np.random.default_rng(3)
N, K, R = 41, 4, 3
X = RNG.normal(size=(N, 3))
NUMBERS = X[:, 0] + RNG.normal(size=N)
Y = (NUMBERS > 0).astype(int)
FOLDS = np.array([RNG.permutation(np.arange(N) % K) for _ in range(R)])
GROUPS = np.arange(N) // 2


def variance_of_mean(losses, weights, mean, groups):
    """m/(m−1) Σ_g (Σ w (ℓ − mean))² / (Σ w)², group by group."""
    sums = [(weights * (losses - mean))[groups == g].sum() for g in np.unique(groups)]
    return len(sums) / (len(sums) - 1) * np.square(sums).sum() / weights.sum() ** 2


def by_loops(model, y, loss, folds, power, weights=None, groups=None, fit_weights=None):
    """The published algorithm with scikit-learn fits, both questions of a pair from a fit each."""
    weights = np.ones(N) if weights is None else weights
    apart = np.arange(N) if groups is None else groups

    def losses(train, test):
        more = {} if fit_weights is None else {"sample_weight": fit_weights[train]}
        return loss(y[test], model.fit(X[train], y[train], **more).predict(X[test]))

    a, b, inner, inner_w, outer, outer_w, by_repeat = [], [], [], [], [], [], []
    for row in folds:
        in_repeat = []
        for i in range(K):
            out = np.flatnonzero(row == i)
            e_out = losses(np.flatnonzero(row != i), out)
            e_in, w_in = [], []
            for j in set(range(K)) - {i}:
                test = np.flatnonzero(row == j)
                e_in.append(losses(np.flatnonzero((row != i) & (row != j)), test))
                w_in.append(weights[test])
            e_in, w_in = np.concatenate(e_in), np.concatenate(w_in)
            m_out = np.average(e_out, weights=weights[out])
            a.append((np.average(e_in, weights=w_in) - m_out) ** 2)
            b.append(variance_of_mean(e_out, weights[out], m_out, apart[out]))
            inner.append(e_in)
            inner_w.append(w_in)
            outer.append(e_out)
            outer_w.append(weights[out])
            in_repeat.append((e_out, weights[out], apart[out]))
        by_repeat.append([np.concatenate(part) for part in zip(*in_repeat, strict=True)])
    inner, inner_w = np.concatenate(inner), np.concatenate(inner_w)
    m_in = np.average(inner, weights=inner_w)
    m_out = np.average(np.concatenate(outer), weights=np.concatenate(outer_w))
    floor = np.average((inner - m_in) ** 2, weights=inner_w) * len(inner) / (len(inner) - 1)
    floor *= (weights**2).sum() / weights.sum() ** 2
    if groups is not None:
        floor = np.mean([variance_of_mean(e, w, m_out, g) for e, w, g in by_repeat])
    mse = max(0, np.mean(a) - np.mean(b)) * (K - 1) / K
    factor = 1 + ((K - 2) / K) ** power
    return m_in - factor * (m_in - m_out), m_out, np.sqrt(np.clip(mse, floor, K * floor))


def wrong(y, f):
    return (y != f).astype(float)


def squared(y, f):
    return (y - f) ** 2


@pytest.mark.parametrize(("bias", "power"), [("bates", 1.5), ("mlr3inferr", 1.0), (None, None)])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_equals_the_published_formula(bias, power, kind):
    """Value, standard error and interval of both published factors, computed again by loops."""
    model, y, loss = KNeighborsClassifier(3), Y, wrong
    if kind == "numbers":
        model, y, loss = LinearRegression(), NUMBERS, squared
    method = NestedInterval(K, repeats=R, folds=FOLDS, bias=bias)
    found = tr.estimate_risk(model, X, y, cv=method)
    value, outer, error = by_loops(model, y, loss, FOLDS, power or 0)
    expected = outer if bias is None else value
    assert found.value == pytest.approx(expected)
    assert found.std_error == pytest.approx(error)
    low, high = stats.norm.interval(0.95, expected, error)
    assert (found.interval.low, found.interval.high) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "ncv"
    assert found.n_fits == R * (K + K * (K - 1) // 2)
    assert found.losses.mean() == pytest.approx(outer)


def test_groups_are_added_up_first():
    """With groups, the variances of fold means and the floor are those of sums over groups."""
    folds = np.array([np.random.default_rng(r).permutation(21)[GROUPS] % K for r in range(R)])
    method = NestedInterval(K, folds=folds)
    found = tr.estimate_risk(LinearRegression(), X, NUMBERS, cv=method, groups=GROUPS)
    value, _, error = by_loops(LinearRegression(), NUMBERS, squared, folds, 1.5, groups=GROUPS)
    assert (found.value, found.std_error) == pytest.approx((value, error))
    assert found.interval.method == "ncv-grouped"


def test_weights_weigh():
    """Sample weights weigh fits, means and variances."""
    weights = RNG.integers(1, 4, size=N).astype(float)
    method = NestedInterval(K, folds=FOLDS)
    model = LinearRegression()
    found = tr.estimate_risk(model, X, NUMBERS, cv=method, sample_weight=weights)
    value, _, error = by_loops(
        model, NUMBERS, squared, FOLDS, 1.5, weights=weights, fit_weights=weights
    )
    assert (found.value, found.std_error) == pytest.approx((value, error))


def test_a_pair_is_one_fit():
    """Fit without folds i and j answers about both; equal pairs of several repetitions are one."""
    data = Data.check(X, Y, task="classification")
    plan = NestedInterval(K, folds=FOLDS[[0, 0]]).plan(data, Streams(0))
    assert (plan.n_fits, plan.n_questions) == (K + K * (K - 1) // 2, 2 * K * K)


def test_tunes_inside_every_pair():
    """As the outer method of nested validation it is NCV of a grid search, fit by fit."""
    grid = {"n_neighbors": [1, 5, 9]}
    inner = KFold(3, shuffle=True, random_state=1)
    search = GridSearchCV(KNeighborsRegressor(), grid, cv=inner, scoring="neg_mean_squared_error")
    method = Nested(NestedInterval(K, folds=FOLDS), Splitter(inner, average="fold"))
    found = tr.risk_curve(KNeighborsRegressor(), grid, X, NUMBERS, cv=method).procedure
    value, _, error = by_loops(search, NUMBERS, squared, FOLDS, 1.5)
    assert (found.value, found.std_error) == pytest.approx((value, error))


def test_searches_take_it_as_their_outer_method():
    """HonestSearchCV(outer="ncv") reports it, and asks each fit's inner folds once."""
    grid = {"n_neighbors": [1, 5]}
    outer = NestedInterval(K, repeats=2)
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, outer=outer, cv="3-fold")
    risk = search.fit(X, Y).risk_
    assert risk.interval.method == "ncv"
    n_fits = 2 * (K + K * (K - 1) // 2)
    assert risk.n_fits == n_fits * 3 * 2 + n_fits
    assert "ncv" in risk.method


def test_given_folds_survive_json():
    """Its plan is read back with the same fingerprint."""
    plan = NestedInterval(K, folds=FOLDS).plan(Data.check(X, Y, task="classification"), Streams(0))
    assert Plan.from_dict(plan.to_dict()).fingerprint == plan.fingerprint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 2}, "K >= 3"),
        ({"repeats": 0}, "at least one"),
        ({"folds": np.arange(N) % 2}, "three or more"),
        ({"folds": np.array([np.arange(N) % 3, np.arange(N) % 4])}, "3, 4"),
        ({"k": 30}, "single row"),
    ],
)
def test_folds_that_cannot_serve_are_refused(options, message):
    """Fewer than three folds, unequal numbers of them, or one of a single row."""
    with pytest.raises(BadData, match=message):
        tr.estimate_risk(LinearRegression(), X, NUMBERS, cv=NestedInterval(**options))


def test_a_fold_of_one_group_is_refused():
    """The variance of a fold of one group is not known."""
    with pytest.raises(BadData, match="single group"):
        tr.estimate_risk(
            LinearRegression(), X, NUMBERS, cv=NestedInterval(5), groups=np.arange(N) // 5
        )


def test_unknown_corrections_and_losses_of_sets_are_refused():
    """`bias` is one of two words or None, and AUC has no losses of single rows."""
    with pytest.raises(UnknownName, match="mlr3inferr"):
        NestedInterval(bias="other")
    with pytest.raises(Refusal, match="no"):
        tr.estimate_risk(LogisticRegression(), X, Y, cv="ncv", scoring="auc")


def test_no_errors_have_no_normal_interval():
    """A rule that is never wrong has no spread and no standard error."""
    x = np.sign(X[:, :1]) * (50 + RNG.random((N, 1)))
    never = tr.estimate_risk(LogisticRegression(), x, X[:, 0] > 0, cv=NestedInterval(K, repeats=2))
    assert (never.value, never.std_error, never.interval) == (0, None, None)
    assert any("spread is 0" in note for note in never.notes)
