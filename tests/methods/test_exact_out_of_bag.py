"""The exact out-of-bag error is the mean over all bootstrap samples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.testing.learners import NearestMean

X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


def test_golden() -> None:
    """METHODS §2: 1, 3 and 5 neighbours."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}, X, Y, method="exact-oob"
    )
    assert curve.values == pytest.approx([0.5900018745, 0.5660249525, 0.5684218936], abs=5e-11)
    assert curve[0].engine == "knn"


def test_weights_of_one_nearest_neighbour() -> None:
    """METHODS §2: the j-th neighbour has weight ((n−j)/(n−1))ⁿ − ((n−j−1)/(n−1))ⁿ."""
    n, j = len(Y), np.arange(1, len(Y))
    weight = ((n - j) / (n - 1)) ** n - ((n - j - 1) / (n - 1)) ** n
    order = np.abs(X - X.T).argsort(axis=1, kind="stable")[:, 1:]
    expected = ((Y[order] != Y[:, None]) * weight).sum(axis=1)
    found = tr.estimate_risk(KNeighborsClassifier(1), X, Y, method="exact-oob")
    assert found.losses == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("model", [KNeighborsClassifier(1), KNeighborsClassifier(3), NearestMean()])
def test_it_is_the_mean_over_all_samples(model) -> None:
    """All 5⁵ ordered samples by hand: per row those that miss it, then the mean over rows."""
    x, y = X[2:7], Y[2:7]
    lost, missed = np.zeros(5), np.zeros(5)
    known = {}
    for sample in product(range(5), repeat=5):
        key = tuple(sorted(sample))
        if key not in known:
            rows = list(key)
            known[key] = model.fit(x[rows], y[rows]).predict(x) != y
        out = ~np.isin(np.arange(5), sample)
        lost[out] += known[key][out]
        missed[out] += 1
    for engine in ("auto", "generic"):
        found = tr.estimate_risk(model, x, y, method="exact-oob", engine=engine)
        assert found.losses == pytest.approx(lost / missed, abs=1e-12)


def test_it_is_what_many_samples_converge_to() -> None:
    """Drawn samples of 40 rows come near the closed form."""
    X2, y2 = tr.datasets.make_simple(40, random_state=0)
    rng = np.random.default_rng(0)
    lost, missed = np.zeros(40), np.zeros(40)
    near = ((X2[:, None] - X2[None]) ** 2).sum(axis=2).argsort(axis=1)
    for _ in range(4000):
        times = np.bincount(rng.integers(40, size=40), minlength=40)
        for i in np.flatnonzero(times == 0):
            votes = np.repeat(y2[near[i]], times[near[i]])[:3]
            lost[i] += (votes.sum() > 1) != y2[i]
            missed[i] += 1
    exact = tr.estimate_risk(KNeighborsClassifier(3), X2, y2, method="exact-oob")
    assert (lost / missed).mean() == pytest.approx(exact.value, abs=0.003)


def test_what_a_result_says() -> None:
    """It is pessimistic, and has no standard error."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, method="exact-oob")
    assert (found.target, found.std_error, found.interval) == ("Err", None, None)
    assert "63 %" in found.bias


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": NearestMean()}, "bootstraps of 9 of 9 rows are 24,310 fits.*closed form"),
        ({"loss": "auc"}, "averages losses of single rows"),
        ({"groups": Y}, "would ignore the groups"),
    ],
)
def test_what_cannot_be_served_is_refused(options, message) -> None:
    """Too many samples, no row losses, groups."""
    given = {"model": KNeighborsClassifier(3), "X": X, "y": Y, "method": "exact-oob"} | options
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**given)
