"""HonestSearchCV is GridSearchCV with an honest risk."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
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

import truerisk as tr
from truerisk import HonestSearchCV

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
def test_it_finds_what_grid_search_finds_on_the_same_splits(model, grid, cv, loss, scoring):
    """best_params_, best_score_ and every array of cv_results_ are GridSearchCV's, to 1e-12."""
    X, y = load_wine(return_X_y=True)
    theirs = GridSearchCV(model, grid, cv=cv, scoring=scoring).fit(X, y)
    ours = HonestSearchCV(model, grid, cv=cv, scoring=loss, outer=None).fit(X, y)
    same_search(ours, theirs)


def test_a_regressor_finds_what_grid_search_finds():
    """Squared loss is neg_mean_squared_error, and `scoring="r2"` is R², the mean over folds."""
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": np.logspace(-3, 2, 6)}
    for ours, scoring in ((None, "neg_mean_squared_error"), ("r2", "r2"), ("r2", None)):
        theirs = GridSearchCV(Ridge(), grid, cv=KFold(6), scoring=scoring).fit(X, y)
        search = HonestSearchCV(Ridge(), grid, cv=KFold(6), scoring=ours, outer=None)
        same_search(search.fit(X, y), theirs)


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
    pd.DataFrame(ours.cv_results_)


def test_the_risk_is_that_of_the_search_run_inside_every_outer_fold():
    """risk_ is the error of GridSearchCV fitted on each outer training set, done by hand."""
    X, y = load_wine(return_X_y=True)
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


def test_optimism_is_honest_minus_selected():
    """optimism_, selected_risk_ and stability_ say what the flattering number hides."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv="5-fold", outer="5-fold").fit(X, y)
    assert search.selected_risk_.value == pytest.approx(1 - search.best_score_)
    assert search.optimism_ == search.risk_.value - search.selected_risk_.value
    same = [fold.best_index == search.best_index_ for fold in search.outer_]
    assert search.stability_.agreement == np.mean(same) == float(search.stability_)
    assert sum(search.stability_.frequencies.values()) == 5
    assert "of the outer splits" in str(search.stability_)


def test_one_setting_has_no_optimism():
    """Nothing was selected: what lies between the two risks is the noise of the folds."""
    search = HonestSearchCV(KNeighborsClassifier(), {}, cv="5-fold", outer="7-fold")
    search.fit(*load_wine(return_X_y=True))
    assert search.selected_risk_.value != search.risk_.value
    assert search.optimism_ is None
    assert search.risk_.notes == ()


def test_the_search_flatters_on_noise_and_the_risk_does_not():
    """On labels without signal the selected risk is below a half, the honest one is not."""
    honest, selected = [], []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
        grid = {"n_neighbors": range(1, 16, 2)}
        search = HonestSearchCV(
            KNeighborsClassifier(),
            grid,
            cv="5-fold",
            outer="5-fold",
            random_state=seed,
            refit=False,
        ).fit(X, y)
        honest.append(search.risk_.value)
        selected.append(search.selected_risk_.value)
    assert np.mean(selected) < 0.46
    assert np.mean(honest) > 0.48


def test_the_estimator_checks_of_use_hold():
    """It clones, pickles, nests in pipelines and cross_validate, and answers like its model."""
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


def test_numbers_of_outer_and_inner_folds_mean_the_same() -> None:
    """Those of scikit-learn, by their number as by its splitter."""
    X, y = load_wine(return_X_y=True)
    numbers, splitters = (
        HonestSearchCV(KNeighborsClassifier(), K_GRID, cv=folds, outer=folds).fit(X, y)
        for folds in (4, StratifiedKFold(4))
    )
    assert numbers.risk_.value == splitters.risk_.value
    assert numbers.cv_results_["mean_test_score"].tolist() == (
        splitters.cv_results_["mean_test_score"].tolist()
    )


def test_a_search_within_a_search_is_nested_by_estimate_risk():
    """estimate_risk of a search estimates the risk of the whole procedure."""
    X, y = load_wine(return_X_y=True)
    folds = StratifiedKFold(4)
    theirs = GridSearchCV(KNeighborsClassifier(), K_GRID, cv=StratifiedKFold(3))
    ours = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv=StratifiedKFold(3), outer=folds).fit(
        X, y
    )
    assert tr.estimate_risk(theirs, X, y, cv=folds).value == ours.risk_.value


def test_the_same_seed_gives_the_same_search_on_any_executor():
    """A forest without a seed of its own gives the same numbers alone and on two workers."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(
        RandomForestClassifier(n_estimators=5), {"max_depth": [1, 3]}, cv="3-fold", outer="3-fold"
    )
    alone = clone(search).fit(X, y)
    shared = clone(search).set_params(n_jobs=2).fit(X, y)
    other = clone(search).set_params(random_state=1).fit(X, y)
    np.testing.assert_array_equal(alone.curve_.values, shared.curve_.values)
    np.testing.assert_array_equal(alone.risk_.losses, shared.risk_.losses)
    np.testing.assert_array_equal(alone.predict_proba(X), shared.predict_proba(X))
    assert not np.array_equal(alone.risk_.losses, other.risk_.losses)


def test_given_splits_are_cut_to_the_outer_training_rows():
    """A list of splits tunes inside the outer folds as well, without their test rows."""
    X, y = load_wine(return_X_y=True)
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    outer = StratifiedKFold(3)
    ours = HonestSearchCV(KNeighborsClassifier(), K_GRID, cv=splits, outer=outer).fit(X, y)
    for fold, (train, _) in zip(ours.outer_, outer.split(X, y), strict=True):
        place = np.full(len(y), -1)
        place[train] = np.arange(len(train))
        inner = [
            (place[np.intersect1d(a, train)], place[np.intersect1d(b, train)]) for a, b in splits
        ]
        theirs = GridSearchCV(KNeighborsClassifier(), K_GRID, cv=inner).fit(X[train], y[train])
        assert fold.inner_risk == pytest.approx(1 - theirs.best_score_)


def test_the_score_follows_the_loss():
    """score() is the model's own without a loss, else the loss as a score."""
    X, y = load_wine(return_X_y=True)
    binary = (y == 1).astype(int)
    grid = {"n_neighbors": [5]}
    plain = HonestSearchCV(KNeighborsClassifier(), grid, outer=None).fit(X, binary)
    assert plain.score(X, binary) == plain.best_estimator_.score(X, binary)
    for loss, scoring in (("auc", "roc_auc"), ("log", "neg_log_loss"), ("f1", "f1")):
        search = HonestSearchCV(KNeighborsClassifier(), grid, scoring=loss, outer=None).fit(
            X, binary
        )
        theirs = sklearn.metrics.get_scorer(scoring)(search.best_estimator_, X, binary)
        assert search.score(X, binary) == pytest.approx(theirs)


def test_the_one_se_rule_tunes_and_is_tested():
    """rule="1-se" chooses inside and outside; the honest risk needs no rule of its own."""
    X, y = load_wine(return_X_y=True)
    search = HonestSearchCV(
        KNeighborsClassifier(), K_GRID, cv="5-fold", outer="3-fold", rule="1-se"
    ).fit(X, y)
    curve = tr.risk_curve(KNeighborsClassifier(), K_GRID, X, y, cv="5-fold", rule="1-se")
    assert search.best_params_ == curve.best_params
    assert search.risk_.value == pytest.approx(np.mean(search.risk_.losses))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_unit_of_the_target_does_not_choose(unit):
    """Risks of 1e-18 are no ties: the choice, the ranks and the interval are those of any unit."""
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


def test_the_selected_risk_says_that_its_choice_is_not_counted():
    """Where there was one, and where the interval does not count it."""
    X, y = tr.datasets.make_simple(50, random_state=1)
    words = {"outer": None, "random_state": 0}
    grid = {"n_neighbors": [1, 3, 5]}
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, **words).fit(X, y)
    assert "best of 3: choosing is not counted" in str(search.selected_risk_)
    counted = tr.HonestSearchCV(KNeighborsClassifier(), grid, interval="bbc", **words).fit(X, y)
    assert "not counted" not in str(counted.selected_risk_)
    alone = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]}, **words).fit(X, y)
    assert "not counted" not in str(alone.selected_risk_)
