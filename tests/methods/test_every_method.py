"""Facts of many methods: groups, results without an error, failed fits, inner criteria."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.engines import Generic
from truerisk.exceptions import FitFailedWarning
from truerisk.extend import Refusal
from truerisk.methods import (
    Bolstered,
    Bootstrap,
    Complete,
    Holdout,
    MonteCarlo,
    Nested,
    PairedHalves,
    ThreeWay,
    as_method,
)
from truerisk.plan.leaks import find_leaks

X, _, NUMBERS = normal_rows(48, 3, seed=12)
Y = np.arange(48) % 2
KNN, FOREST = KNeighborsClassifier(3), RandomForestClassifier(60, random_state=0)
LOGISTIC, NEIGHBOURS = LogisticRegression(), {"n_neighbors": [1, 5, 15]}


@pytest.mark.parametrize(
    "method",
    [
        *("5-fold", "apparent", ".632", ".632+", "optimism", "bootstrap", Bootstrap("oob")),
        *(Holdout(), MonteCarlo(10), ThreeWay(0.25, 0.3), PairedHalves(3, 2, test_share=0.2)),
        *(Nested("4-fold", inner) for inner in ("3-fold", "holdout", GroupKFold(3))),
        *(Nested(outer, "3-fold") for outer in ("monte-carlo", GroupKFold(4))),
    ],
    ids=str,
)
def test_method_keeps_groups_whole_in_all_its_splits(method):
    """Also where it asks a fit about rows that it saw: these are no rows of another side."""
    data = checked(X, Y, groups=np.arange(48) // 3)
    leaks = find_leaks(data, drawn(as_method(method), data), "groups", "copies")
    assert (len(leaks["groups"]), len(leaks["copies"])) == (0, 0)


@pytest.mark.parametrize(
    ("word", "model"),
    [
        *((word, KNN) for word in ("loo", "complete", "exact-oob", "swapping", "bolstered")),
        *((word, LOGISTIC) for word in ("alo", "aic", "bee")),
        ("oob", FOREST),
    ],
)
def test_method_that_would_ignore_groups_is_refused_them(word, model):
    with pytest.raises(Refusal, match="would ignore the groups"):
        tr.estimate_risk(model, X, Y, cv=word, groups=np.arange(48) // 3)


@pytest.mark.parametrize(
    ("method", "model", "target", "n_fits", "said"),
    [
        (Complete(36), KNN, "Err", 1, ["overlap"]),
        ("exact-oob", KNN, "Err", 1, ["63 %"]),
        ("oob", FOREST, "Err", 1, ["37 %", "share members"]),
        ("alo", tr.models.LogisticPath(lambdas=[0.1]), "Err", 1, ["approximate", "18 points off"]),
        ("aic", LOGISTIC, "CER", 1, ["-2 log L", "standard error"]),
        ("swapping", LOGISTIC, "CER", 49, ["apparent risk 0.", "+ swapping penalty", "no formula"]),
        (Bolstered(), tr.models.LinearDiscriminant(), "Err_XY", 1, []),
    ],
    ids=str,
)
def test_method_without_a_formula_for_an_error_gives_none_and_says_why(
    method, model, target, n_fits, said
):
    found = tr.estimate_risk(model, X, Y, cv=method)
    assert (found.target, found.std_error, found.interval) == (target, None, None)
    assert found.n_fits == n_fits
    text = " ".join([found.bias, *found.notes])
    assert all(phrase in text for phrase in said)
    if found.losses is not None:
        assert found.losses.mean() == pytest.approx(found.value, abs=1e-12)


class Picky(DecisionTreeClassifier):
    """A tree that, of depth 1, fails on training sets without row 0."""

    def fit(self, rows, y):
        if self.max_depth == 1 and rows[0, 0] != X[0, 0]:
            raise ValueError("row 0 is missing")
        return super().fit(rows, y)


@pytest.mark.parametrize(
    ("method", "model", "grid"),
    [
        ("cp", KNeighborsRegressor(), {"n_neighbors": [5, 49]}),
        ("swapping", KNN, {"n_neighbors": [3, 49]}),
        ("bee", LOGISTIC, {"C": [1.0, -1.0]}),
        *(
            (Bootstrap(kind, replicates=12), Picky(), {"max_depth": [2, 1]})
            for kind in ("bootstrap", "oob", ".632", ".632+", "optimism")
        ),
    ],
    ids=str,
)
def test_method_leaves_a_candidate_whose_fits_failed_without_value(method, model, grid):
    y = NUMBERS if method == "cp" else Y
    with pytest.warns(FitFailedWarning):
        curve = tr.risk_curve(model, grid, X, y, cv=method, engine=Generic(error="warn"))
    assert np.isfinite(curve.values[0])
    assert curve.best == 0
    assert curve[1].value is None
    assert "fits failed" in curve[1].notes[0]


@pytest.mark.parametrize("engine", ["auto", "generic"])
@pytest.mark.parametrize(
    ("inner", "model", "grid", "n"),
    [
        ("bic", Ridge(), {"alpha": [0.1, 1.0, 10.0]}, 48),
        ("alo", Ridge(), {"alpha": [0.1, 1.0, 10.0]}, 48),
        ("swapping", KNN, NEIGHBOURS, 48),
        ("oob", FOREST, {"max_depth": [1, 3]}, 48),
        (Complete(4), KNN, {"n_neighbors": [1, 3]}, 9),
    ],
    ids=str,
)
def test_method_inside_nested_validation_sees_the_outer_training_rows_alone(
    inner, model, grid, n, engine
):
    rows, y = X[:n], (NUMBERS if model.__class__ is Ridge else Y)[:n]
    curve = tr.risk_curve(model, grid, rows, y, cv=Nested("3-fold", inner), engine=engine)
    outer = splits_of(curve.evaluation.plan, "outer")
    for (train, _), unit in zip(outer, curve.evaluation.units, strict=True):
        alone = tr.risk_curve(model, grid, rows[train], y[train], cv=inner, engine=engine)
        assert unit.candidate == alone.best
        assert unit.inner_risk == pytest.approx(np.nanmin(alone.values), abs=1e-12)
