"""A family keeps the grid as scikit-learn orders it and makes fresh models of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.searches import Silent

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.family import Family

PIPE = Pipeline([("scale", StandardScaler()), ("clf", KNeighborsClassifier())])
GRIDS = [
    {"n_neighbors": [5, 1, 3], "weights": ["uniform", "distance"]},
    [{"n_neighbors": [5, 1]}, {"p": [1, 2], "n_neighbors": [7]}],
    {"n_neighbors": np.array([1, 3])},
    {"n_neighbors": range(1, 4)},
]


@pytest.mark.parametrize("grid", GRIDS)
def test_the_order_is_that_of_parameter_grid(grid) -> None:
    """Candidates come in the order of scikit-learn's ParameterGrid, given as dicts or made."""
    expected = list(ParameterGrid(grid))
    assert list(Family.of(KNeighborsClassifier(), grid).candidates) == expected
    assert list(Family.of(KNeighborsClassifier(), ParameterGrid(grid)).candidates) == expected


def test_no_grid_is_the_model_as_it_stands() -> None:
    """Without a grid there is one candidate with no settings."""
    family = Family.of(KNeighborsClassifier(7))
    assert len(family) == 1
    assert family.make(0).n_neighbors == 7


def test_models_are_fresh_and_the_original_is_untouched() -> None:
    """Every model is a clone with its settings; parameter values are cloned too."""
    replaced = SVC()
    family = Family.of(PIPE, {"clf": [replaced], "clf__C": [1, 2]})
    one, two = family.make(1), family.make(1)
    assert one is not two
    assert one.named_steps["clf"] is not two.named_steps["clf"]
    assert one.named_steps["clf"].C == 2
    assert replaced.C == 1
    assert isinstance(PIPE.named_steps["clf"], KNeighborsClassifier)


@pytest.mark.parametrize(
    ("model", "task", "name"),
    [
        (PIPE, "classification", "KNeighborsClassifier"),
        (make_pipeline(StandardScaler(), Ridge()), "regression", "Ridge"),
        (SVC(), "classification", "SVC"),
    ],
)
def test_task_and_name_are_those_of_the_last_step(model, task, name) -> None:
    """A pipeline is what its last step is."""
    family = Family.of(model)
    assert (family.task, family.name) == (task, name)


def test_a_search_that_does_not_say_it_is_what_it_tunes() -> None:
    """Also as the last step; a selection of features by splits, which answers nothing, is none."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.neighbors import KNeighborsRegressor

    search = Silent(KNeighborsClassifier())
    assert Family.of(search).task == "classification"
    assert Family.of(make_pipeline(StandardScaler(), search)).task == "classification"
    assert Family.of(Silent(KNeighborsRegressor())).task == "regression"
    with pytest.raises(BadData, match="neither a classifier nor a regressor"):
        _ = Family.of(SequentialFeatureSelector(KNeighborsClassifier())).task


def test_a_clusterer_makes_no_predictions() -> None:
    """What is neither classifier nor regressor is refused by name."""
    with pytest.raises(BadData, match="KMeans is neither a classifier nor a regressor"):
        _ = Family.of(KMeans()).task


@pytest.mark.parametrize(
    ("model", "grid", "error", "message"),
    [
        (KNeighborsClassifier, None, UnknownName, "not an estimator instance"),
        ("knn", None, UnknownName, "not an estimator instance"),
        (np.zeros((99, 9)), None, UnknownName, r"^array.{60,80} is not an estimator instance"),
        (KNeighborsClassifier(), {"n_neighbours": [1]}, UnknownName, "mean 'n_neighbors'"),
        (PIPE, {"clf__n_neighbours": [1]}, UnknownName, "mean 'clf__n_neighbors'"),
        (PIPE, {"n_neighbors": [1]}, UnknownName, "mean 'clf__n_neighbors'"),
        (KNeighborsClassifier(), {"n_neighbors": 3}, BadData, "wrapped in a list"),
        (KNeighborsClassifier(), {"weights": "uniform"}, BadData, "wrapped in a list"),
        (KNeighborsClassifier(), {"n_neighbors": []}, BadData, "non-empty sequence"),
        (KNeighborsClassifier(), [], BadData, "the grid is empty"),
        (KNeighborsClassifier(), 5, UnknownName, "grid=5 is no grid"),
        (KNeighborsClassifier(), "n_neighbors", UnknownName, "is no grid"),
        (KNeighborsClassifier(), [5], UnknownName, "5 in the grid is no dict"),
        (KNeighborsClassifier(), {1: [2]}, UnknownName, "1 in the grid is no name of a parameter"),
    ],
)
def test_a_bad_model_or_grid_is_named(model, grid, error, message) -> None:
    """What is wrong with the model or the grid, with the nearest name."""
    with pytest.raises(error, match=message):
        Family.of(model, grid)


def test_only_states_left_at_none_are_seeded() -> None:
    """With a seed, every random_state at None is set from it, deep ones too; given ones stay."""
    model = BaggingClassifier(DecisionTreeClassifier())
    family = Family.of(model)
    assert family.is_random
    first, again, other = (family.make(0, seed) for seed in ((0, 1, 2), (0, 1, 2), (0, 1, 3)))
    states = [(m.random_state, m.estimator.random_state) for m in (first, again, other)]
    assert states[0] == states[1] != states[2]
    assert states[0][0] != states[0][1]
    assert None not in states[0]
    assert not Family.of(RandomForestClassifier(random_state=3)).is_random
    assert Family.of(RandomForestClassifier(random_state=3)).make(0, (1, 2)).random_state == 3
    assert not Family.of(KNeighborsClassifier()).is_random


def test_one_random_candidate_makes_the_family_random() -> None:
    """A grid may make a random model of one that is not."""
    family = Family.of(
        make_pipeline(LogisticRegression(random_state=0)),
        {"logisticregression": [clone(LogisticRegression(random_state=1)), SVC()]},
    )
    assert family.is_random


class Sparing(ClassifierMixin, BaseEstimator):
    """It lists only what was set, as CatBoost's models do, and can be set more."""

    def __init__(self, **given) -> None:
        self.set_params(**given)

    def get_params(self, deep=True):
        return dict(vars(self).get("given", {}))

    def set_params(self, **given):
        for name in given:
            if name not in ("depth", "rounds", "steps"):
                raise TypeError(f"got an unexpected keyword argument {name!r}")
        self.given = self.get_params() | given
        return self

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, 0].astype(int) % self.get_params().get("depth", 1)]


@pytest.mark.parametrize(
    ("model", "prefix"), [(Sparing(rounds=3), ""), (make_pipeline(Sparing(rounds=3)), "sparing__")]
)
def test_a_parameter_is_unknown_when_set_params_says_so(model, prefix) -> None:
    """A model that lists only what was set is tuned over what it can be set, and over no more."""
    family = Family.of(model, {f"{prefix}depth": [1, 2]})
    assert family.make(1).get_params()[f"{prefix}depth"] == 2
    assert family.settings == ({"rounds": 3, "depth": 1}, {"rounds": 3, "depth": 2})
    X, y = np.arange(24.0)[:, None], np.arange(24) % 2
    curve = tr.risk_curve(model, {f"{prefix}depth": [1, 2]}, X, y, cv="3-fold")
    assert curve.values.tolist() == [0.5, 0.0]
    with pytest.raises(UnknownName, match=f"no parameter '{prefix}round'; .*'{prefix}rounds'"):
        Family.of(model, {f"{prefix}depth": [1], f"{prefix}round": [2]})


def test_a_grid_may_put_in_steps_within_steps() -> None:
    """A parameter of a step that the grid itself puts in is known when the step is in."""
    inner = Pipeline([("clf", KNeighborsClassifier())])
    grid = {"clf": [inner], "clf__clf": [SVC()], "clf__clf__C": [1, 2]}
    assert Family.of(PIPE, grid).make(1).get_params()["clf__clf__C"] == 2
    with pytest.raises(UnknownName, match="no parameter 'clf__clf__D'"):
        Family.of(PIPE, grid | {"clf__clf__D": [1]})


def test_steps_are_those_of_a_pipeline() -> None:
    """A learner with a parameter called `steps`, a number, is no pipeline."""
    family = Family.of(Sparing(steps=100), {"steps": [10, 20]})
    assert (family.name, family.prefix, family.last) == ("Sparing", "", family.estimator)
    X, y = np.arange(24.0)[:, None], np.arange(24) % 2
    for method in ("3-fold", tr.methods.Bootstrap(replicates=2)):
        assert tr.risk_curve(family.estimator, {"steps": [1, 2]}, X, y, cv=method).values.all()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("logistic__C", r"has no parameter 'logistic__C'. Of \d+ it has: m__C\.$"),
        ("qqqq", r"Of \d+ it has: m, memory, s, steps, transform_input, verbose\.$"),
    ],
)
def test_of_a_pipeline_a_message_lists_what_may_be_meant(name, said) -> None:
    """Not dozens of parameters of its steps."""
    columns = ColumnTransformer([("n", StandardScaler(), [0]), ("t", OneHotEncoder(), [1])])
    pipe = Pipeline([("s", columns), ("m", LogisticRegression())])
    with pytest.raises(UnknownName, match=said):
        Family.of(pipe, {name: [1.0]})


def test_an_estimator_without_tags_is_told_what_to_derive_from():
    """One that has the methods of an estimator, and none of its bases."""

    class Duck:
        def get_params(self, deep=True):
            return {}

        def set_params(self, **params):
            return self

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # older releases take it for neither, and say so
        with pytest.raises(BadData, match=r"Duck (has no tags of scikit-learn|is neither)"):
            _ = Family.of(Duck()).task


class Copies(ClassifierMixin, BaseEstimator):
    """Keeps another list than it was given, as CatBoost does of `cat_features`."""

    def __init__(self, columns=None):
        self.columns = list(columns) if isinstance(columns, list) else columns


@pytest.mark.parametrize("grid", [None, {"depth": [1, 2]}])
def test_what_clone_takes_for_changed_is_refused_before_a_fit(grid) -> None:
    """With what helps: before, its grid was said to name parameters that it lacks."""
    with pytest.raises(BadArgument, match=r"Cannot clone object Copies.* A tuple in the place"):
        Family.of(make_pipeline(StandardScaler(), Copies(["a"])), grid)
    assert Family.of(Copies(("a",))).make(0).columns == ("a",)
