"""A family keeps the grid as scikit-learn orders or draws it, and makes fresh models of it."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.searches import Silent

import truerisk as tr
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Family, TrueRiskWarning

PIPE = Pipeline([("scale", StandardScaler()), ("clf", KNeighborsClassifier())])
COLUMNS = ColumnTransformer([("n", StandardScaler(), [0]), ("t", OneHotEncoder(), [1])])
MIXED = Pipeline([("s", COLUMNS), ("m", LogisticRegression())])
SPREAD = scipy.stats.loguniform(0.01, 100)


@pytest.mark.parametrize(
    "grid",
    [
        {"n_neighbors": [5, 1, 3], "weights": ["uniform", "distance"]},
        [{"n_neighbors": [5, 1]}, {"p": [1, 2], "n_neighbors": [7]}],
        {"n_neighbors": np.array([1, 3])},
        {"n_neighbors": range(1, 4)},
    ],
)
def test_family_has_the_order_of_parameter_grid(grid):
    expected = list(ParameterGrid(grid))
    assert list(Family.from_grid(KNeighborsClassifier(), grid).candidates) == expected
    assert (
        list(Family.from_grid(KNeighborsClassifier(), ParameterGrid(grid)).candidates) == expected
    )


def test_make_gives_fresh_models_and_leaves_the_original():
    replaced = SVC()
    family = Family.from_grid(PIPE, {"clf": [replaced], "clf__C": [1, 2]})
    one, two = family.make(1), family.make(1)
    assert one is not two
    assert one.named_steps["clf"] is not two.named_steps["clf"]
    assert one.named_steps["clf"].C == 2
    assert replaced.C == 1
    assert isinstance(PIPE.named_steps["clf"], KNeighborsClassifier)
    alone = Family.from_grid(KNeighborsClassifier(7))
    assert len(alone) == 1
    assert alone.make(0).n_neighbors == 7


@pytest.mark.parametrize(
    ("model", "task", "name"),
    [
        (PIPE, "classification", "KNeighborsClassifier"),
        (make_pipeline(StandardScaler(), Ridge()), "regression", "Ridge"),
        (SVC(), "classification", "SVC"),
        (Silent(KNeighborsClassifier()), "classification", "Silent"),
        (make_pipeline(Silent(KNeighborsClassifier())), "classification", "Silent"),
        (Silent(KNeighborsRegressor()), "regression", "Silent"),
    ],
)
def test_family_has_task_and_name_of_the_last_step(model, task, name):
    """A search that does not say its task has that of what it tunes."""
    family = Family.from_grid(model)
    assert (family.task, family.name) == (task, name)


class Duck:
    """It has the methods of an estimator and none of its bases."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self


@pytest.mark.parametrize(
    ("model", "grid", "error", "message"),
    [
        (KNeighborsClassifier, None, UnknownName, "not an estimator instance"),
        ("knn", None, UnknownName, "not an estimator instance"),
        (np.zeros((99, 9)), None, UnknownName, r"^array.{60,80} is not an estimator instance"),
        (KMeans(), None, BadData, "KMeans is neither a classifier nor a regressor"),
        (SequentialFeatureSelector(SVC()), None, BadData, "neither a classifier nor a regressor"),
        (Duck(), None, BadData, r"Duck (has no tags of scikit-learn|is neither)"),
        (KNeighborsClassifier(), {"n_neighbours": [1]}, UnknownName, "mean 'n_neighbors'"),
        (PIPE, {"clf__n_neighbours": [1]}, UnknownName, "mean 'clf__n_neighbors'"),
        (PIPE, {"n_neighbors": [1]}, UnknownName, "mean 'clf__n_neighbors'"),
        (MIXED, {"logistic__C": [1]}, UnknownName, r"parameter .*Of \d+ it has: m__C\.$"),
        (MIXED, {"q": [1]}, UnknownName, r"has: m, memory, s, steps, transform_input, verbose\.$"),
        (KNeighborsClassifier(), {"n_neighbors": 3}, BadData, "wrapped in a list"),
        (KNeighborsClassifier(), {"weights": "uniform"}, BadData, "wrapped in a list"),
        (KNeighborsClassifier(), {"n_neighbors": []}, BadData, "non-empty sequence"),
        (KNeighborsClassifier(), [], BadData, "the grid is empty"),
        (KNeighborsClassifier(), 5, UnknownName, "grid=5 is no grid"),
        (KNeighborsClassifier(), "n_neighbors", UnknownName, "is no grid"),
        (KNeighborsClassifier(), [5], UnknownName, "5 in the grid is no dict"),
        (KNeighborsClassifier(), {1: [2]}, UnknownName, "1 in the grid is no name of a parameter"),
        (SVC(), {"C": SPREAD}, BadArgument, "'C' has a distribution.*n_iter=60"),
        (SVC(), {"C": lambda rng: 1.0}, BadArgument, "'C' has a distribution.*n_iter=60"),
        (SVC(), {"C": partial(pow, 2)}, BadArgument, "'C' has a distribution.*n_iter=60"),
        (SVC(), {"kernel": SVC}, BadArgument, "wrapped in a list"),
        (SVC(), {"kernel": RBF()}, BadArgument, "wrapped in a list"),
    ],
)
def test_family_refuses_a_bad_model_or_grid(model, grid, error, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # older releases of scikit-learn warn of lacking tags
        with pytest.raises(error, match=message):
            _ = Family.from_grid(model, grid).task


def test_make_seeds_only_states_left_at_none():
    """One candidate of the grid may make the family random."""
    model = BaggingClassifier(DecisionTreeClassifier())
    family = Family.from_grid(model)
    first, again, other = (family.make(0, seed) for seed in ((0, 1, 2), (0, 1, 2), (0, 1, 3)))
    states = [(m.random_state, m.estimator.random_state) for m in (first, again, other)]
    assert states[0] == states[1] != states[2]
    assert states[0][0] != states[0][1]
    assert None not in states[0]
    assert (
        Family.from_grid(RandomForestClassifier(random_state=3)).make(0, (1, 2)).random_state == 3
    )
    seeded = LogisticRegression(random_state=0)
    steps = [clone(seeded), SVC()]
    are_random = [
        Family.from_grid(model).is_random,
        Family.from_grid(RandomForestClassifier(random_state=3)).is_random,
        Family.from_grid(KNeighborsClassifier()).is_random,
        Family.from_grid(make_pipeline(seeded), {"logisticregression": steps}).is_random,
    ]
    assert are_random == [True, False, False, True]


class Sparing(ClassifierMixin, BaseEstimator):
    """It lists only what was set, as CatBoost's models do, and can be set more."""

    def __init__(self, **given):
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
def test_family_takes_parameters_that_set_params_takes(model, prefix):
    family = Family.from_grid(model, {f"{prefix}depth": [1, 2]})
    assert family.make(1).get_params()[f"{prefix}depth"] == 2
    assert family.settings == ({"rounds": 3, "depth": 1}, {"rounds": 3, "depth": 2})
    X, y = np.arange(24.0)[:, None], np.arange(24) % 2
    curve = tr.risk_curve(model, {f"{prefix}depth": [1, 2]}, X, y, cv="3-fold")
    assert curve.values.tolist() == [0.5, 0.0]
    with pytest.raises(UnknownName, match=f"no parameter '{prefix}round'; .*'{prefix}rounds'"):
        Family.from_grid(model, {f"{prefix}depth": [1], f"{prefix}round": [2]})


def test_family_knows_parameters_of_steps_that_the_grid_puts_in():
    inner = Pipeline([("clf", KNeighborsClassifier())])
    grid = {"clf": [inner], "clf__clf": [SVC()], "clf__clf__C": [1, 2]}
    assert Family.from_grid(PIPE, grid).make(1).get_params()["clf__clf__C"] == 2
    with pytest.raises(UnknownName, match="no parameter 'clf__clf__D'"):
        Family.from_grid(PIPE, grid | {"clf__clf__D": [1]})


def test_family_takes_a_number_called_steps_for_no_pipeline():
    family = Family.from_grid(Sparing(steps=100), {"steps": [10, 20]})
    assert (family.name, family.prefix, family.last) == ("Sparing", "", family.estimator)
    X, y = np.arange(24.0)[:, None], np.arange(24) % 2
    for method in ("3-fold", tr.methods.Bootstrap(replicates=2)):
        assert tr.risk_curve(family.estimator, {"steps": [1, 2]}, X, y, cv=method).values.all()


class Copies(ClassifierMixin, BaseEstimator):
    """Keeps another list than it was given, as CatBoost does of `cat_features`."""

    def __init__(self, columns=None):
        self.columns = list(columns) if isinstance(columns, list) else columns


@pytest.mark.parametrize("grid", [None, {"depth": [1, 2]}])
def test_family_refuses_what_clone_takes_for_changed(grid):
    with pytest.raises(BadArgument, match=r"Cannot clone object Copies.* A tuple in the place"):
        Family.from_grid(make_pipeline(StandardScaler(), Copies(["a"])), grid)
    assert Family.from_grid(Copies(("a",))).make(0).columns == ("a",)


@pytest.mark.parametrize(
    "space",
    [
        {"C": SPREAD},
        {"C": SPREAD, "gamma": SPREAD, "kernel": ["linear", "rbf"]},
        {"C": [0.1, 1, 10, 100], "gamma": np.array([0.1, 1.0, 2.0])},
        [{"C": SPREAD, "kernel": ["linear"]}, {"gamma": SPREAD, "kernel": ["rbf"]}],
        [{"C": [1, 2, 3]}, {"gamma": [1, 2, 3], "C": [1]}],
    ],
)
def test_drawn_settings_are_those_of_the_parameter_sampler(space):
    assert drawn(space) == list(ParameterSampler(space, 5, random_state=3))


def drawn(space, n_iter=5, seed=3):
    """The settings of a support vector machine."""
    return list(Family.drawn(SVC(), space, n_iter, seed).candidates)


def test_drawn_settings_from_a_function_follow_the_seed():
    space = {"C": lambda rng: 10 ** rng.uniform(-2, 2), "kernel": ["linear", "rbf"]}
    first, again, other = (drawn(space, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({setting["C"] for setting in first}) == 5
    assert all(0.01 <= setting["C"] <= 100 for setting in first)


def test_drawn_settings_of_a_smaller_grid_are_all_with_one_warning():
    with pytest.warns(TrueRiskWarning, match="has 4 settings, and n_iter=60 asks") as said:
        found = drawn({"C": [1, 2, 3, 4]}, 60)
    assert len(said) == 1
    assert sorted(setting["C"] for setting in found) == [1, 2, 3, 4]


class Foreign:
    """A distribution that takes no random state."""

    def rvs(self):
        return 1.0


@pytest.mark.parametrize(
    ("space", "n_iter", "error", "message"),
    [
        *[(none, 5, BadArgument, "nothing to draw from") for none in (None, {}, [], [{}, {}], ())],
        *[
            (wrong, 5, BadArgument, "draws from a dict of distributions and lists")
            for wrong in ("C", 3, ["C"], [{"C": [1]}, "gamma"], np.ones(2))
        ],
        ({"C": object()}, 5, BadArgument, "cannot give values of 'C': .* rvs"),
        ({"C": Foreign()}, 5, BadArgument, "no value of 'C' can be drawn from .*random_state"),
        ({"C": lambda rng: 1 / 0}, 5, BadArgument, "no value of 'C' .*ZeroDivisionError"),
        ({"C": [], "gamma": SPREAD}, 5, BadData, "Parameter grid for parameter 'C'"),
        ({"D": SPREAD}, 5, UnknownName, "no parameter 'D'"),
        ({"kernel": SVC}, 5, BadArgument, "cannot give values of 'kernel'"),
        ({"kernel": RBF()}, 5, BadArgument, "cannot give values of 'kernel'"),
        *[
            ({"C": SPREAD}, n_iter, BadArgument, "n_iter=.*whole number of settings")
            for n_iter in (0, -1, 2.5, "ten", True)
        ],
    ],
)
def test_drawn_settings_refuse_what_cannot_be_drawn_from_or_counted(space, n_iter, error, message):
    with pytest.raises(error, match=message):
        drawn(space, n_iter)
