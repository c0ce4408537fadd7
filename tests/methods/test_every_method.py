"""Facts of many methods: groups, refusals, results without an error, failed fits, criteria."""

from itertools import count

import numpy as np
import pytest
from sklearn import model_selection as ms
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import NINE, checked, normal_rows
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.engines import Generic
from truerisk.exceptions import FitFailedWarning
from truerisk.extend import BadData, Refusal
from truerisk.methods import (
    AIC,
    EBIC,
    BayesianError,
    Bolstered,
    Bootstrap,
    Complete,
    Holdout,
    KFold,
    MonteCarlo,
    Nested,
    NestedInterval,
    PairedHalves,
    Pairs,
    ReversedKFold,
    Swapping,
    ThreeWay,
    as_method,
)
from truerisk.plan.leaks import find_leaks
from truerisk.testing.cases import evaluate, two_class_case
from truerisk.testing.toy_learners import NearestMean

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


RIDGE, NUMERIC = Ridge(), {"y": NUMBERS}


@pytest.mark.parametrize(
    ("method", "ks", "risks", "n_fits", "target"),
    [
        ("apparent", [1, 3, 5, 7], [0, 3 / 9, 2 / 9, 4 / 9], 4, "training"),
        ("loo", [1, 3, 5, 7], [5 / 9, 4 / 9, 7 / 9, 7 / 9], 36, "Err"),
        (ReversedKFold(folds=np.arange(9) % 3), [1, 3], [2 / 3, 2 / 3], 6, "Err"),
        ("exact-oob", [1, 3, 5], [0.5900018745, 0.5660249525, 0.5684218936], 3, "Err"),
    ],
    ids=str,
)
def test_method_has_the_golden_risks_of_nine_rows(method, ks, risks, n_fits, target):
    curve = tr.risk_curve(KNN, {"n_neighbors": ks}, *NINE, cv=method)
    assert curve.values == pytest.approx(risks, abs=5e-11)
    assert (curve[0].n_fits, curve[0].target, curve[0].engine) == (n_fits, target, "knn")


GROUPED = {"groups": np.arange(48) // 3}
AS_PRINTED = {"cv": Swapping(form="as-printed")}
REFUSED = [
    *(
        (model, {"cv": word} | GROUPED, "would ignore the groups")
        for model, words in {
            KNN: ("loo", "complete", "exact-oob", "swapping", "bolstered"),
            LOGISTIC: ("alo", "aic", "bee"),
            FOREST: ("oob",),
        }.items()
        for word in words
    ),
    *(
        (KNN, {"cv": method}, "cannot be the .* method of nested validation")
        for part in ("apparent", "nested", "three-way", "bbc")
        for method in (Nested("4-fold", part), Nested(part, "4-fold"))
    ),
    *((KNN, {"cv": Nested(w)}, "cannot be the outer") for w in ("complete", "swapping")),
    (FOREST, {"cv": Nested("oob", "5-fold")}, "'oob' cannot be the outer method"),
    (KNN, {"cv": Pairs("buffered"), "block": X[:, :2]}, "no folds to leave out in pairs"),
    (KNN, {"cv": "bbc", "scoring": "auc"}, "single rows"),
    (KNN, {"cv": "complete", "scoring": "auc"}, "averages losses of single rows, .* has none"),
    (
        DecisionTreeClassifier(max_depth=1),
        {"cv": "complete", "X": X[:40], "y": Y[:40]},
        "generic: the subsets of 36 of 40 rows are 91,390 fits.*'monte-carlo'",
    ),
    (
        NearestMean(),
        {"cv": "exact-oob", "X": X[:9], "y": Y[:9]},
        "bootstraps of 9 of 9 rows are 24,310 fits.*closed form",
    ),
    (KNN, {"cv": Complete(48)}, "m=48 of 48 rows leaves none"),
    (KNN, {"cv": "ebic"}, "not known to be a linear rule"),
    (FOREST, {"cv": "oob", "scoring": "jaccard_macro"}, "cannot use the scorer"),
    (FOREST, {"cv": "oob", "engine": "tree"}, "'tree' cannot answer: the learner is RandomForest"),
    (KNN, {"cv": "alo"}, "no formula.*KNeighborsClassifier"),
    (LOGISTIC, {"cv": "alo", "scoring": "f1_micro"}, "asks the whole model"),
    (
        KNN,
        {"cv": "swapping", "y": np.arange(48) % 3},
        "two classes and y has 3.*one class against the others",
    ),
    (KNN, {"cv": "swapping", "scoring": "brier"}, "zero-one loss, not for 'brier'.*'loo'"),
    (
        Perceptron(),
        {"cv": "swapping"},
        "Perceptron estimates no probability.*Calibrated.*math.inf",
    ),
    *(
        (RIDGE, NUMERIC | {"cv": cv}, message)
        for cv, message in (
            (KFold(folds=np.zeros(48, int)), "single fold"),
            (KFold(folds=[0, 1]), r"folds has shape \(2,\)"),
            (NestedInterval(folds=Y), "three or more"),
            (NestedInterval(folds=np.array([np.arange(48) % 3, np.arange(48) % 4])), "3, 4"),
            (NestedInterval(k=30), "single row"),
            (
                Bootstrap("oob", samples=np.arange(48)[None, :]),
                "none of the 1 samples misses a row",
            ),
            ([], "the list of splits is empty"),
            ([(np.arange(5), [])], "split 0 of 1 given splits has no test rows"),
            ([([1], [2]), ([], [1])], "split 1 of 2 given splits has no training rows"),
            ([([0, 1], [48])], "test rows are not row numbers 0 … 47"),
            ([([-1, 1], [2])], "training rows are not row numbers"),
            ([([0.5, 1], [2])], "training rows are not row numbers"),
            ([1, 2], "split 0 is no .train, test. pair"),
            (ms.KFold(49), "the splitter .* cannot split these rows: "),
            (GroupKFold(3), "the splitter .* cannot split these rows: "),
            (ms.LeavePOut(49), "the splitter .* cannot split these rows: "),
        )
    ),
    (RIDGE, {"cv": "loo", "X": X[:1], "y": NUMBERS[:1]}, "nothing to train on"),
    (RIDGE, {"cv": "oob", "X": X[:1], "y": NUMBERS[:1]}, "one row leaves none out"),
    (LOGISTIC, {"cv": NestedInterval(), "scoring": "auc"}, "loss 'auc'"),
    (RIDGE, NUMERIC | {"cv": NestedInterval(k=5), "groups": np.arange(48) // 10}, "single group"),
    *(
        (LOGISTIC, {"cv": word, "scoring": "f1_micro"}, "cannot use the scorer f1_micro")
        for word in (".632+", "optimism")
    ),
    (LOGISTIC, AS_PRINTED, "nearest neighbours with odd k.*form='exact'"),
    (KNeighborsClassifier(4), AS_PRINTED, "nearest neighbours with odd k"),
]


@pytest.mark.parametrize(("model", "options", "message"), REFUSED, ids=count())
def test_method_refuses_what_it_would_ignore_or_cannot_compute(model, options, message):
    with pytest.raises((Refusal, BadData), match=message):
        tr.estimate_risk(model, **{"X": X, "y": Y} | options)


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        (AIC(), "degrees of freedom"),
        (EBIC(), "linear rules"),
        (Bolstered(), "linear rules"),
        (BayesianError(), "linear rules"),
    ],
    ids=str,
)
def test_method_refuses_a_plan_that_does_not_ask_what_it_needs(method, asked):
    case = two_class_case()
    with pytest.raises(BadData, match=f"asks for no {asked}"):
        evaluate(method, case, plan=drawn(as_method("apparent"), case.data))


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
