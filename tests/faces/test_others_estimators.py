"""Models around models, and models with habits: exactly what plain loops and clones find."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

import truerisk as tr
from truerisk.extend import BadData, Refusal

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None]
NUMBERS = X[:, 0] + np.random.default_rng(1).normal(size=N)
THREE = np.arange(N) % 3
SPLITS = list(KFold(3, shuffle=True, random_state=1).split(X))

TUNED = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=2)
RIDGE = GridSearchCV(Ridge(), {"alpha": [0.1, 9.0]}, cv=2)
SINE = {"func": np.arcsinh, "inverse_func": np.sinh}

SCALED = make_pipeline(StandardScaler(), Ridge())
TUNING = TransformedTargetRegressor(RIDGE, **SINE)
TWO = [("a", TUNED), ("b", GaussianNB())]
THRESHOLD = TunedThresholdClassifierCV(GaussianNB(), cv=2)
SMOOTHING = {"estimator__var_smoothing": [1e-9, 0.5]}
NUMBERED = [("a", RIDGE), ("b", LinearRegression())]
PASSING = {"passthrough": [False, True]}
TARGET, ITS_ALPHA = "transformedtargetregressor__regressor__cv", "regressor__ridge__alpha"
CODES = OutputCodeClassifier(GaussianNB(), random_state=0)
AROUND = {
    "calibrated": (CalibratedClassifierCV(SVC(), cv=2), Y, {"estimator__C": [0.1, 1]}),
    "tuned threshold": (THRESHOLD, Y, SMOOTHING),
    "fixed threshold": (FixedThresholdClassifier(GaussianNB()), Y, {"threshold": [0.2, 0.6]}),
    "target": (TransformedTargetRegressor(Ridge(), **SINE), NUMBERS, {"regressor__alpha": [1, 9]}),
    "target of a pipeline": (
        TransformedTargetRegressor(SCALED, **SINE),
        NUMBERS,
        {ITS_ALPHA: [1, 9]},
    ),
    "target in a pipeline": (make_pipeline(StandardScaler(), TUNING), NUMBERS, {TARGET: [2, 3]}),
    "vote": (VotingClassifier(TWO, voting="soft"), Y, {"weights": [[1, 1], [1, 3]]}),
    "stack": (StackingClassifier(TWO, cv=2), Y, PASSING),
    "stack of numbers": (StackingRegressor(NUMBERED, cv=2), NUMBERS, PASSING),
    "one against rest": (OneVsRestClassifier(LogisticRegression()), THREE, {"estimator__C": [1]}),
    "one against one": (OneVsOneClassifier(SVC()), THREE, {"estimator__C": [0.1, 1]}),
    "output codes": (CODES, THREE, {"code_size": [1, 2]}),
}


def by_loops(model, y, params):
    """The risk by clone, fit and predict."""
    losses = np.empty(N)
    for train, test in SPLITS:
        said = clone(model).set_params(**params).fit(X[train], y[train]).predict(X[test])
        losses[test] = (said - y[test]) ** 2 if is_regressor(model) else said != y[test]
    return losses.mean()


@pytest.mark.parametrize("name", AROUND)
def test_risk_curve_of_models_around_models_is_that_of_loops(name):
    model, y, grid = AROUND[name]
    for found in tr.risk_curve(model, grid, X, y, cv=SPLITS):
        assert found.value == pytest.approx(by_loops(model, y, found.params), abs=1e-12)


@pytest.mark.parametrize("name", ["calibrated", "target of a pipeline", "vote"])
def test_models_around_models_are_searched_assessed_and_audited(name):
    model, y, grid = AROUND[name]
    theirs = GridSearchCV(model, grid, cv=SPLITS).fit(X, y)
    scoring = "r2" if is_regressor(model) else "accuracy"
    ours = tr.HonestSearchCV(model, grid, cv=SPLITS, scoring=scoring, outer=None).fit(X, y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert tr.assess({"it": (model, grid)}, X, y).learners["it"].risk.value is not None
    assert tr.audit(theirs, X, y).honest is not None


class Habits(ClassifierMixin, BaseEstimator):
    """Changes its parameters as it is fitted, prints, writes into its rows, returns nothing."""

    def __init__(self, depth=1, memory=None):
        self.depth, self.memory = depth, memory

    def fit(self, X, y):
        print("epoch 1")
        self.memory.append(len(X))  # shared by all clones, were clone not to copy it
        assert len(self.memory) == 1
        self.model_ = KNeighborsClassifier(self.depth).fit(X.copy(), y.copy())
        self.classes_ = self.model_.classes_
        self.depth += 1
        X *= 0
        y[:] = 0

    def predict(self, X):
        said = self.model_.predict(X.copy())
        X *= 0
        return said


@pytest.mark.parametrize("executor", [None, 2])
def test_fit_starts_from_a_clone_on_rows_as_they_were_given(executor, capfd):
    before = X.copy(), Y.copy()
    grid = {"depth": [1, 5]}
    plain = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, Y, cv=SPLITS)
    model = Habits(memory=[])
    found = tr.risk_curve(model, grid, X, Y, cv=SPLITS, n_jobs=executor)
    assert np.array_equal(found.values, plain.values)
    assert (model.depth, model.memory) == (1, [])
    assert np.array_equal(X, before[0])
    assert np.array_equal(Y, before[1])
    assert executor is not None or capfd.readouterr().out == "epoch 1\n" * 6


class Initialising(ClassifierMixin, BaseEstimator):
    """As networks of skorch: parameters by any name, and setting one of them begins anew."""

    def __init__(self, module=KNeighborsClassifier, **more):
        self.module, self.more, self.begun_ = module, dict(more), 0
        vars(self).update(more)

    def get_params(self, deep=True):
        return {"module": self.module, **{name: getattr(self, name) for name in self.more}}

    def set_params(self, **params):
        for name, value in params.items():
            if name != "module" and not name.startswith("module__"):
                raise ValueError(f"unexpected {name}")
            setattr(self, name, value)
            self.more |= {} if name == "module" else {name: value}
        self.begun_ += 1
        return self

    def fit(self, X, y):
        own = {name.removeprefix("module__"): getattr(self, name) for name in self.more}
        self.model_ = self.module(**own).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("given", [{}, {"module__n_neighbors": 3}])
def test_set_params_of_any_name_reaches_the_model(given):
    grid = {"module__n_neighbors": [1, 5], "module__weights": ["uniform", "distance"]}
    found = tr.risk_curve(Initialising(**given), grid, X, Y, cv=SPLITS)
    plain = {name.removeprefix("module__"): values for name, values in grid.items()}
    same = tr.risk_curve(KNeighborsClassifier(), plain, X, Y, cv=SPLITS)
    assert np.array_equal(found.values, same.values)
    search = tr.HonestSearchCV(Initialising(**given), grid, cv=3).fit(X, Y)
    assert search.best_estimator_.get_params()["module__n_neighbors"] in (1, 5)


class ParamSearch(BaseEstimator):
    """A search of its own kind: it sets `best_params_`, and does not say what it predicts."""

    def __init__(self, estimator=None, depths=(1, 3), keeps_score=True):
        self.estimator = estimator
        self.depths = depths
        self.keeps_score = keeps_score

    def fit(self, X, y):
        tried = [clone(self.estimator).set_params(max_depth=depth) for depth in self.depths]
        scores = [cross_val_score(model, X, y, cv=3).mean() for model in tried]
        best = int(np.argmax(scores))
        self.best_params_ = {"max_depth": self.depths[best]}
        if self.keeps_score:
            self.best_score_ = max(scores)
        self.best_estimator_ = tried[best].fit(X, y)
        return self

    def predict(self, X):
        return self.best_estimator_.predict(X)


SIMPLE = tr.datasets.make_simple(60, random_state=0)
TREE = DecisionTreeClassifier(random_state=0)


def test_search_without_a_kind_is_of_the_kind_that_it_tunes():
    """What the refusal of an audit recommends works, for classes and for numbers."""
    X, y = SIMPLE
    search = ParamSearch(TREE)
    with pytest.raises(Refusal, match=r"use tr\.estimate_risk\(search, X, y\)"):
        tr.audit(search.fit(X, y), X, y)
    assert tr.estimate_risk(search, X, y).scoring == "zero-one"
    numbers = ParamSearch(DecisionTreeRegressor(random_state=0))
    assert tr.estimate_risk(numbers, X, X[:, 0]).scoring == "squared"
    assert tr.HonestSearchCV(search).fit(X, y).risk_.scoring == "zero-one"


def test_search_without_a_score_has_no_selected_risk():
    """The sentence says which call gives the honest risk, which works."""
    search = ParamSearch(TREE, keeps_score=False)
    with pytest.raises(Refusal, match=r"ParamSearch keeps no score of the setting that it chose"):
        tr.HonestSearchCV(search).fit(*SIMPLE)
    assert tr.estimate_risk(search, *SIMPLE).value is not None


class Tagless:
    """A search that is not derived from BaseEstimator."""

    keeps_score = True

    def __init__(self, estimator=None, depths=(1, 3)):
        self.estimator, self.depths = estimator, depths

    def get_params(self, deep=True):
        return {"estimator": self.estimator, "depths": self.depths}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    fit, predict = ParamSearch.fit, ParamSearch.predict


def has_default_tags():
    """Return True if scikit-learn takes an estimator without tags for one of default tags."""
    try:
        get_tags(Tagless())
    except AttributeError:
        return False
    return True


@pytest.mark.skipif(has_default_tags(), reason="this scikit-learn knows default tags")
@pytest.mark.parametrize(
    "call",
    [
        lambda search, X, y: tr.audit(search.fit(X, y), X, y),
        lambda search, X, y: tr.HonestSearchCV(search).fit(X, y),
        tr.estimate_risk,
    ],
    ids=["audit", "HonestSearchCV", "estimate_risk"],
)
def test_search_without_tags_is_refused(call):
    with pytest.raises(BadData, match="Tagless has no tags of scikit-learn.*derive it from"):
        call(Tagless(TREE), *SIMPLE)
