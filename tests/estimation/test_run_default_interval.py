"""The interval of a tuned risk that nobody asked for: that of the folds, by any engine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.engines.trees.recipes import closeness

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60)
CASES = [
    (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    (LinearDiscriminantAnalysis(), {"solver": ["svd"]}),
    (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}),
    (Ridge(), {"alpha": [0.1, 1.0]}),
    (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}),
]


def risk_of(model, grid, **options):
    """The honest risk of a search with five outer folds."""
    search = tr.HonestSearchCV(model, grid, outer="5-fold", **options)
    return search.fit(X, Y > 0 if is_classifier(model) else Y).risk_


@pytest.fixture
def without_kernels(monkeypatch):
    """As if the compiled module could not be imported."""
    closeness.cache_clear()
    monkeypatch.setattr("truerisk.kernels.attempt", lambda: (None, "none"))
    yield
    closeness.cache_clear()


def the_same(one, other):
    """Value, interval and notes, up to the order of sums."""
    for name in ("low", "high"):
        assert getattr(one.interval, name) == pytest.approx(getattr(other.interval, name), rel=1e-9)
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert one.interval.method == other.interval.method
    assert one.notes == other.notes


@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_no_engine_decides_about_the_interval(model, grid):
    """The fastest engine, the generic one and the interval asked for by name: all the same."""
    found = risk_of(model, grid)
    assert found.interval.method == ("beta-cv" if is_classifier(model) else "log-cv")
    the_same(risk_of(model, grid, engine="generic"), found)
    the_same(risk_of(model, grid, interval=found.interval.method), found)


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.CompiledModuleWarning")
@pytest.mark.parametrize(("model", "grid"), CASES, ids=lambda case: type(case).__name__)
def test_the_compiled_module_does_not_decide_either(model, grid, without_kernels):
    """Where it is missing another engine answers."""
    the_same(risk_of(model, grid), risk_of(model, grid, engine="generic"))


def test_several_drawings_are_used_where_they_are_asked_for():
    """Then the note says how unstable the learner is, and by what the variance is enlarged."""
    model, grid = CASES[0]
    once, often = (
        tr.HonestSearchCV(model, grid, outer=outer).fit(X, Y > 0).risk_
        for outer in ("5-fold", "4x5-fold")
    )
    assert not any("instability" in note for note in once.notes)
    assert often.notes[-1].startswith("losses change with the training rows (instability 0.")
    assert often.notes[-1].endswith("times the variance of independent rows.")


def test_where_no_interval_is_calibrated_the_method_has_its_own():
    """Random splits have the corrected t; a score of whole models has none."""
    model, grid = CASES[0]
    y = Y > 0
    split = tr.HonestSearchCV(model, grid, outer=tr.methods.MonteCarlo(5)).fit(X, y).risk_
    assert split.interval.method == "corrected-t"
    scored = tr.HonestSearchCV(model, grid, outer="5-fold", scoring="f1_micro").fit(X, y).risk_
    assert scored.interval is None


@pytest.mark.parametrize(
    "outer",
    [
        "loo",
        tr.methods.KFold(5, average="pooled"),
        tr.methods.Pairs("5-fold", average="pooled"),
    ],
    ids=["loo", "K-fold", "pairs"],
)
def test_a_score_of_all_answers_at_once_has_no_interval_and_no_refusal(outer):
    """Pooled answers have one AUC: nobody asked for an interval, so its lack is a note."""
    model, grid = CASES[0]
    search = tr.HonestSearchCV(model, grid, outer=outer, scoring="auc", cv="3-fold")
    risk = search.fit(X, Y > 0).risk_
    assert risk.value is not None
    assert risk.interval is None


def test_a_score_of_one_setting_has_the_calibrated_interval():
    """By words whose folds hold every row once; elsewhere nothing is invented."""
    score = {"scoring": ["auc", "f1", "zero-one"]}
    found = tr.estimate_risk(LinearDiscriminantAnalysis(), X, Y > 0, cv="5-fold", **score)
    asked = tr.estimate_risk(
        LinearDiscriminantAnalysis(), X, Y > 0, cv="5-fold", scoring="auc", interval="logit-cv"
    )
    assert found.interval == asked.interval
    assert found.scores["f1"].interval.method == "logit-cv"
    assert found.scores["zero-one"].interval.method == "beta-cv"
    for method in ("holdout", "monte-carlo", ".632"):
        one = tr.estimate_risk(LinearDiscriminantAnalysis(), X, Y > 0, cv=method, scoring="auc")
        assert one.interval is None
