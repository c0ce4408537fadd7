"""A tuned rule inside the bootstrap, and the bootstrap inside a search."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.methods.test_bootstrap import CODES, KINDS, N, X

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.methods import Bootstrap, KFold, Nested


def test_a_tuned_rule_inside_the_bootstrap() -> None:
    """Pure noise: inner folds by row identity keep the inner risk honest, and the outer at .5.

    Folds of the copies would say .24 inside, since the copy of a row is its nearest neighbour.
    """
    rng = np.random.default_rng(0)
    y, found = np.arange(60) % 2, []
    grid = {"n_neighbors": [1, 3, 5, 7, 9, 11, 15]}
    method = Nested(Bootstrap("oob", replicates=30), "5-fold")
    for seed in range(12):
        rows = rng.normal(size=(60, 5))
        curve = tr.risk_curve(KNeighborsClassifier(), grid, rows, y, cv=method, random_state=seed)
        inner = np.mean([unit.inner_risk for unit in curve.evaluation.units])
        found.append([curve.procedure.value, inner])
    outer, inner = np.mean(found, axis=0)
    assert outer == pytest.approx(0.5, abs=0.03)
    assert inner == pytest.approx(0.42, abs=0.03)


def test_copies_never_straddle_inner_folds() -> None:
    """No inner fit sees a copy of a row that it is asked about."""
    data = Data.check(X, CODES, task="classification")
    plan = Nested(Bootstrap(".632+", replicates=5), "3-fold").plan(data, Streams(0))
    inner = plan.questions("inner")
    assert len(inner) == 3 * (5 + 1)
    for q in inner:
        seen = plan.train_rows(int(plan.fit[q]))[0]
        assert not set(seen) & set(plan.test_rows(int(q))[0])
    assert any(plan.train_rows(int(plan.fit[q]))[1] is not None for q in inner)


@pytest.mark.parametrize("inner", [*KINDS, "3-fold", "reversed 3-fold"])
def test_inner_questions_never_count_copies(inner) -> None:
    """Apparent, training and left-out means inside a sample are over rows of equal weight.

    With copies counted in one of them, .632 would add risks of two populations, and the optimism
    be a difference of two.
    """
    data = Data.check(X, CODES, task="classification")
    chosen = Bootstrap(inner, replicates=5) if inner in KINDS else inner
    plan = Nested(Bootstrap("oob", replicates=3), chosen).plan(data, Streams(0))
    questions = plan.questions("inner")
    assert all(plan.test_rows(int(q))[1] is None for q in questions)
    whole = [set(plan.train_rows(fit)[0]) for fit in range(3)]
    assert all(set(plan.test_rows(int(q))[0]) <= whole[plan.unit[q]] for q in questions)


@pytest.mark.parametrize("kind", KINDS)
def test_inside_a_search(kind) -> None:
    """A search may choose by any kind, and have its honest risk by any kind."""
    grid = {"n_neighbors": [1, 3, 5]}
    options = {"cv": KFold(3), "outer": Bootstrap(kind, replicates=5)}
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, **options).fit(X, CODES)
    assert search.risk_.method == f"nested ({kind_word(kind)}, inner 3-fold)"
    assert len(search.outer_) == 5
    chosen = tr.HonestSearchCV(
        KNeighborsClassifier(), grid, cv=Bootstrap(kind, replicates=5), outer=KFold(3)
    ).fit(X, CODES)
    inner = Nested(KFold(3), Bootstrap(kind, replicates=5))
    again = tr.risk_curve(KNeighborsClassifier(), grid, X, CODES, cv=inner)
    assert chosen.risk_.value == again.procedure.value
    assert len(chosen.outer_) == 3


def kind_word(kind: str) -> str:
    """How a bootstrap of five samples calls itself."""
    return "oob (bootstrap, B=5)" if kind == "oob" else f"{kind} (B=5)"


def test_inner_risks_are_those_of_the_training_rows() -> None:
    """What a fold chooses by is the .632+ of its training rows alone."""
    folds = np.arange(N) % 2
    method = Nested(KFold(folds=folds), Bootstrap(replicates=6), compare=True)
    curve = tr.risk_curve(KNeighborsClassifier(3), None, X, CODES, cv=method)
    plan = curve.evaluation.plan
    for unit, told in enumerate(curve.evaluation.units):
        inside = np.flatnonzero(plan.unit == unit)
        train = np.flatnonzero(folds != unit)
        samples = []
        for q in inside[:-1]:
            rows, times = plan.train_rows(int(plan.fit[q]))
            samples.append(np.searchsorted(train, np.repeat(rows, times)))
        given = Bootstrap(samples=np.array(samples))
        own = tr.estimate_risk(KNeighborsClassifier(3), X[train], CODES[train], cv=given)
        assert told.inner_risk == pytest.approx(own.value, abs=1e-12)
