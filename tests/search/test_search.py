"""HonestSearchCV is GridSearchCV with an honest risk."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import normal_rows
from tests.support.estimator_checks import estimator_checks

import truerisk as tr
from truerisk import HonestSearchCV

CHECKED = [
    HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv="2-fold", outer="2-fold"),
    HonestSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.1, 1.0]},
        cv="2-fold",
        outer="2-fold",
    ),
]
K_GRID = {"n_neighbors": [1, 3, 5, 9, 15]}
TREE_GRID = [{"max_depth": [1, 2, 3]}, {"min_samples_leaf": [2, 8], "criterion": ["entropy"]}]


PARITY = [
    (KNeighborsClassifier(), K_GRID, StratifiedKFold(5), None, None),
    (KNeighborsClassifier(), K_GRID, KFold(7, shuffle=True, random_state=3), None, None),
    (DecisionTreeClassifier(random_state=0), TREE_GRID, StratifiedKFold(4), None, None),
    (DecisionTreeClassifier(random_state=0), TREE_GRID, StratifiedKFold(3), "f1_macro", "f1_macro"),
    (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.01, 1, 100]},
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        "log",
        "neg_log_loss",
    ),
    (KNeighborsClassifier(), K_GRID, ShuffleSplit(6, random_state=1), "accuracy", "accuracy"),
]


@pytest.mark.parametrize(("model", "grid", "cv", "loss", "scoring"), PARITY)
def test_search_results_are_those_of_grid_search(wine, model, grid, cv, loss, scoring):
    theirs = GridSearchCV(model, grid, cv=cv, scoring=scoring).fit(*wine)
    ours = HonestSearchCV(model, grid, cv=cv, scoring=loss, outer=None).fit(*wine)
    same_search(ours, theirs)


@pytest.mark.parametrize(
    ("ours", "scoring"),
    [
        (None, "neg_mean_squared_error"),
        ("r2", None),
        *((word, word) for word in ("r2", "neg_mean_absolute_error", "neg_max_error")),
    ],
)
def test_search_of_regressor_finds_what_grid_search_finds(ours, scoring):
    table, grid = load_diabetes(return_X_y=True), {"alpha": np.logspace(-3, 2, 6)}
    theirs = GridSearchCV(Ridge(), grid, cv=KFold(6), scoring=scoring).fit(*table)
    search = HonestSearchCV(Ridge(), grid, cv=KFold(6), scoring=ours, outer=None)
    same_search(search.fit(*table), theirs)


def same_search(ours, theirs):
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12, abs=1e-12)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name, column in theirs.cv_results_.items():
        mine = ours.cv_results_[name]
        if name.endswith("_score"):
            np.testing.assert_allclose(mine, column, rtol=1e-12, atol=1e-12, err_msg=name)
        elif name.startswith("param_"):
            assert mine.tolist() == column.tolist()
            assert mine.mask.tolist() == np.ma.getmaskarray(column).tolist()


def test_search_risk_is_that_of_grid_search_run_inside_every_outer_fold(wine):
    X, y = wine
    outer, inner = StratifiedKFold(4), StratifiedKFold(3)
    ours = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv=inner, outer=outer).fit(X, y)
    wrong = np.zeros(len(y))
    for fold, (train, test) in zip(ours.outer_, outer.split(X, y), strict=True):
        search = GridSearchCV(KNeighborsClassifier(), K_GRID, cv=inner).fit(X[train], y[train])
        wrong[test] = search.predict(X[test]) != y[test]
        assert fold.params == search.best_params_ == fold["params"]
        assert fold.risk == pytest.approx(wrong[test].mean())
        assert fold.inner_risk == pytest.approx(1 - search.best_score_)
        assert (fold.n_train, fold.n_test) == (len(train), len(test))
    assert ours.risk_.value == pytest.approx(wrong.mean(), abs=1e-15)
    np.testing.assert_array_equal(ours.risk_.losses, wrong)
    assert ours.risk_.std_error == pytest.approx(wrong.std(ddof=1) / np.sqrt(len(y)))
    theirs = GridSearchCV(KNeighborsClassifier(), K_GRID, cv=inner)
    assert tr.estimate_risk(theirs, X, y, cv=outer).value == ours.risk_.value
    assert ours.selected_risk_.value == pytest.approx(1 - ours.best_score_)
    assert ours.optimism_ == ours.risk_.value - ours.selected_risk_.value
    same = [fold.best_index == ours.best_index_ for fold in ours.outer_]
    assert ours.stability_.agreement == np.mean(same) == float(ours.stability_)
    assert sum(ours.stability_.frequencies.values()) == 4
    assert "of the outer splits" in str(ours.stability_)


def test_search_of_one_setting_has_no_optimism(wine):
    search = HonestSearchCV(KNeighborsClassifier(), {}, cv="5-fold", outer="7-fold").fit(*wine)
    assert search.selected_risk_.value != search.risk_.value
    assert search.optimism_ is None
    assert search.risk_.notes == ()


def test_search_on_noise_has_selected_risk_below_half_and_honest_risk_at_half():
    words = {"cv": "5-fold", "outer": "5-fold", "refit": False}
    honest, selected = [], []
    for seed in range(16):
        X, y = np.random.default_rng(seed).normal(size=(40, 5)), np.arange(40) % 2
        grid = {"n_neighbors": range(1, 16, 2)}
        search = HonestSearchCV(KNeighborsClassifier(), grid, random_state=seed, **words).fit(X, y)
        honest.append(search.risk_.value)
        selected.append(search.selected_risk_.value)
    assert np.mean(selected) < 0.46
    assert np.mean(honest) > 0.48


def test_search_clones_pickles_nests_and_predicts_as_its_best_model():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::4], y[::4]
    search = HonestSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv="3-fold", outer="3-fold")
    whole = make_pipeline(StandardScaler(), search).fit(X, y)
    again = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(whole.predict(X), again.predict(X))
    fitted = again[-1]
    scaled = whole[0].transform(X)
    best = fitted.best_estimator_
    np.testing.assert_array_equal(fitted.predict_proba(scaled), best.predict_proba(scaled))
    np.testing.assert_array_equal(fitted.decision_function(scaled), best.decision_function(scaled))
    assert fitted.score(scaled, y) == best.score(scaled, y)
    assert clone(fitted).get_params()["estimator__C"] == 1.0
    scores = cross_validate(whole, X, y, cv=3)["test_score"]
    assert (scores > 0.9).all()


def test_listed_splits_are_cut_to_the_outer_training_rows(wine):
    X, y = wine
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    outer = StratifiedKFold(3)
    ours = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv=splits, outer=outer).fit(X, y)
    for fold, (train, _) in zip(ours.outer_, outer.split(X, y), strict=True):
        place = np.full(len(y), -1)
        place[train] = np.arange(len(train))
        inner = [[place[np.intersect1d(rows, train)] for rows in split] for split in splits]
        theirs = GridSearchCV(KNeighborsClassifier(), K_GRID, cv=inner).fit(X[train], y[train])
        assert fold.inner_risk == pytest.approx(1 - theirs.best_score_)


def test_search_score_is_that_of_its_loss_or_of_its_model(wine):
    X, y = wine[0], (wine[1] == 1).astype(int)
    search = HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [5]}, outer=None)
    plain = clone(search).fit(X, y)
    assert plain.score(X, y) == plain.best_estimator_.score(X, y)
    for loss, scoring in (("auc", "roc_auc"), ("log", "neg_log_loss"), ("f1", "f1")):
        found = clone(search).set_params(scoring=loss).fit(X, y)
        theirs = sklearn.metrics.get_scorer(scoring)(found.best_estimator_, X, y)
        assert found.score(X, y) == pytest.approx(theirs)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_search_choice_does_not_depend_on_unit_of_target(unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    found = []
    for target in (y, unit * y):
        search = tr.HonestSearchCV(Ridge(), {"alpha": [1e5, 1.0]}, outer="5-fold")
        found.append(search.fit(X, target))
    usual, other = found
    assert other.best_params_ == usual.best_params_ == {"alpha": 1.0}
    assert other.cv_results_["rank_test_score"].tolist() == [2, 1]
    assert other.risk_.interval.low == pytest.approx(unit**2 * usual.risk_.interval.low)
    assert other.risk_.interval.high == pytest.approx(unit**2 * usual.risk_.interval.high)


def test_selected_risk_says_that_its_choice_is_not_counted():
    X, y = tr.datasets.make_simple(50, random_state=1)
    words = {"outer": None, "random_state": 0}
    grid = {"n_neighbors": [1, 3, 5]}
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, **words).fit(X, y)
    assert "best of 3: choosing is not counted" in str(search.selected_risk_)
    counted = tr.HonestSearchCV(KNeighborsClassifier(), grid, interval="bbc", **words).fit(X, y)
    assert "not counted" not in str(counted.selected_risk_)
    alone = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]}, **words).fit(X, y)
    assert "not counted" not in str(alone.selected_risk_)


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks(*CHECKED)))
@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TrueRiskWarning")
@pytest.mark.filterwarnings("ignore:A column-vector y:sklearn.exceptions.DataConversionWarning")
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_search_passes_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_search_draws_by_its_seed_on_any_number_of_workers(wine):
    search = HonestSearchCV(
        RandomForestClassifier(n_estimators=5), {"max_depth": [1, 3]}, cv="3-fold", outer="3-fold"
    )
    alone, shared, other = (
        clone(search).set_params(**words).fit(*wine)
        for words in ({}, {"n_jobs": 2}, {"random_state": 1})
    )
    np.testing.assert_array_equal(alone.curve_.values, shared.curve_.values)
    np.testing.assert_array_equal(alone.risk_.losses, shared.risk_.losses)
    np.testing.assert_array_equal(alone.predict_proba(wine[0]), shared.predict_proba(wine[0]))
    assert not np.array_equal(alone.risk_.losses, other.risk_.losses)


def test_search_rule_chooses_as_in_risk_curve(wine):
    words = {"cv": "5-fold", "rule": "1-se"}
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, outer="3-fold", **words).fit(*wine)
    curve = tr.risk_curve(KNeighborsClassifier(), K_GRID, *wine, **words)
    assert search.best_params_ == curve.best_params
    assert search.risk_.value == pytest.approx(np.mean(search.risk_.losses))


X, Y, _ = normal_rows(80, 3, seed=4)
CLASSES = (LogisticRegression(), {"C": [0.01, 0.1, 1.0]})
SCORES = ["accuracy", "roc_auc", "neg_log_loss", "neg_brier_score", "f1", None]


@pytest.mark.parametrize("cv", [5, StratifiedKFold(4), KFold(3, shuffle=True, random_state=1)])
@pytest.mark.parametrize("scoring", SCORES)
def test_search_scores_of_classifiers_are_those_of_grid_search(scoring, cv):
    theirs = GridSearchCV(*CLASSES, cv=cv, scoring=scoring).fit(X, Y)
    ours = tr.HonestSearchCV(*CLASSES, cv=cv, scoring=scoring).fit(X, Y)
    for name in theirs.cv_results_:
        if name.startswith(("split", "mean_test")):
            assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-12)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert ours.score(X[:30], Y[:30]) == pytest.approx(theirs.score(X[:30], Y[:30]))
    assert ours.risk_.method.startswith("pairs (")


def test_search_takes_listed_splits_and_number_of_jobs():
    splits = list(StratifiedKFold(3).split(X, Y))
    one = tr.HonestSearchCV(*CLASSES, cv=splits).fit(X, Y)
    two = tr.HonestSearchCV(*CLASSES, cv=3, n_jobs=2).fit(X, Y)
    assert np.array_equal(one.risk_.losses, two.risk_.losses)
    assert one.risk_.method == "pairs (3 given splits)"
    all_cores = tr.HonestSearchCV(*CLASSES, cv=3, n_jobs=np.int64(-1), outer=None).fit(X, Y)
    assert all_cores.best_score_ == one.best_score_
