"""What a model of all rows gains on those of the folds: by hand, and on drawings."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

RNG = np.random.default_rng(1)
N = 40
FOLDS = np.arange(N) % 10
FLAT, STEEP = RNG.normal(size=(N, 2)), RNG.normal(size=(N, 27))
Y = FLAT[:, 0] + RNG.normal(size=N)
ALL_ROWS = re.compile(r"With all of them the (\w+) will be about (\S+) (\w+) \((\S+) to (\S+)\):")
TOO_STEEP = "the interval does not hold what it promises"


def without(model, X, weights):
    """The losses of fits that lack the row's fold, and of those that lack a further one."""
    losses = np.zeros((2, N))
    for i in range(10):
        for j in range(10):
            seen, tested = ~np.isin(FOLDS, (i, j)), np.isin(FOLDS, i)
            fitted = model.fit(X[seen], Y[seen], sample_weight=weights[seen])
            share = 1 if i == j else 1 / 9
            losses[int(i != j), tested] += share * (Y[tested] - fitted.predict(X[tested])) ** 2
    return losses


@pytest.mark.parametrize("weights", [None, 1.0 + np.arange(N) % 3])
@pytest.mark.parametrize("groups", [None, np.arange(N) % 20])
def test_the_fall_is_told_with_its_noise(weights, groups):
    """By the power law through both sizes, with two standard errors of rows or groups."""
    options = {"method": tr.methods.Pairs(tr.methods.KFold(folds=FOLDS)), "interval": "log-cv"}
    options |= {"sample_weight": weights, "groups": groups}
    found = tr.estimate_risk(Ridge(1e-6), STEEP, Y, **options)
    shares = np.ones(N) / N if weights is None else weights / weights.sum()
    one, two = without(Ridge(1e-6), STEEP, shares * N)
    value, more = one @ shares, two @ shares
    parts = shares * (two - one - (more - value))
    units = parts if groups is None else np.bincount(groups, parts)
    noise = 2 * np.sqrt((units**2).sum() * len(units) / (len(units) - 1))
    assert more - value > noise
    steepness = np.log(9 / 10) / np.log(8 / 9)
    ends = [value - value * (value / (more + z * noise)) ** steepness for z in (-1, 0, 1)]
    (note,) = (note for note in found.notes if ALL_ROWS.search(note))
    assert "each model saw 90% of the rows" in note
    assert "about {1:.2g} less ({0:.2g} to {2:.2g}): models of 80% have".format(*ends) in note
    assert f"have {more:.3g} where these have {value:.3g}." in note
    half = found.value * np.log(found.interval.high / found.value)
    assert ends[1] > 0.4 * half
    assert f"{TOO_STEEP}. Use interval='ncv'" in note
    flat = tr.estimate_risk(Ridge(), FLAT, Y, **options)
    assert not any(ALL_ROWS.search(note) for note in flat.notes)


X, LABELS = load_digits(return_X_y=True)
KNN = (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})
ROWS = 250


def drawn(seed):
    """A search on some digits, and how far the risk of the others falls from 4/5 of them."""
    order = np.random.default_rng(seed).permutation(len(LABELS))
    mine, others = order[:ROWS], order[ROWS:]
    search = tr.HonestSearchCV(*KNN, cv=5, scores="balanced-accuracy", random_state=seed)
    search.fit(X[mine], LABELS[mine])
    part = mine[: ROWS * 4 // 5]
    fewer = GridSearchCV(*KNN, cv=5).fit(X[part], LABELS[part])
    fall = search.score(X[others], LABELS[others]) - fewer.score(X[others], LABELS[others])
    return search, fall


def test_drawings_agree_with_the_note():
    """Of steep curves: the sign, the size within its ends, and a score's says as much as more."""
    falls, stated = [], []
    for seed in range(12):
        search, fall = drawn(seed)
        falls.append(fall)
        for estimate, nouns in (
            (search.risk_, ("risk", "less")),
            (search.risk_.scores["balanced-accuracy"], ("score", "more")),
        ):
            for noun, about, way, *ends in ALL_ROWS.findall(" ".join(estimate.notes)):
                assert (noun, way) == nouns
                stated.append([float(about), *map(float, ends)])
    assert len(stated) >= 16
    about, least, most = np.array(stated).T
    assert np.mean((least < np.mean(falls)) & (np.mean(falls) < most)) >= 0.9
    assert np.mean(falls) == pytest.approx(about.mean(), rel=0.5)
