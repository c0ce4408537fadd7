"""The ensemble engine: every number of members from the largest, as scikit-learn answers."""

import re
import subprocess
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import Ensembles, Generic
from truerisk.engines.trees.packages import CATBOOST, LIGHTGBM, XGBOOST, find_package
from truerisk.extend import Family, Request, Streams
from truerisk.methods import Nested, as_method
from truerisk.testing import engine_checks

SIZES = [7, 1, 12, 4, 7]
RNG = np.random.default_rng(0)
N = 80
X = np.round(RNG.normal(size=(N, 4)), 1)
CLASSES = (X[:, 0] * X[:, 1] + RNG.normal(size=N) > 0).astype(int) + (X[:, 2] > 1)
NUMBERS = X[:, 0] * X[:, 1] + RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 3, N) + RNG.random(N)

KIT = {
    "forest": (RandomForestClassifier(max_depth=2), {"n_estimators": [3, 1]}),
    "bagging": (BaggingRegressor(), {"n_estimators": [3, 1]}),
    "boosting": (
        GradientBoostingClassifier(subsample=0.7, max_depth=1),
        {"n_estimators": [3, 1]},
    ),
    "histograms": (
        HistGradientBoostingRegressor(min_samples_leaf=2, max_leaf_nodes=3),
        {"max_iter": [2, 1]},
    ),
    "reweighting": (AdaBoostClassifier(), {"n_estimators": [3, 1]}),
    "reweighted numbers": (AdaBoostRegressor(), {"n_estimators": [3, 1]}),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{word}-{check}")
        for word, (model, grid) in KIT.items()
        for check in engine_checks(
            Ensembles(), Family.from_grid(model, grid), examples=3 if word == "forest" else 1
        )
    ],
)
def test_ensembles_conform(check):
    check()


def both(family, data, method, request, run):
    """Answers of the engine and of the generic one to a method's plan."""
    plan = as_method(method).plan(data, Streams(1))
    assert Ensembles().refuse(family, data, plan, request) is None
    ours, theirs = (
        one.run(family, data, plan, request, run).values for one in (Ensembles(), Generic())
    )
    assert ours.dtype == theirs.dtype
    return ours, theirs


def same(model, data, response, method="3-fold", grid=None):
    path = "max_iter" if "Hist" in type(model).__name__ else "n_estimators"
    family = Family.from_grid(model, grid or {path: SIZES})
    n_fits = as_method(method).plan(data, Streams(1)).n_fits
    some = RunOptions(seed=4, candidate_by_fit=np.arange(n_fits) % len(SIZES))
    for run in (RunOptions(seed=4), some)[: 2 if response in ("label", "value") else 1]:
        assert np.array_equal(*both(family, data, method, Request(response), run))


CLASSIFIERS = {
    "forest": RandomForestClassifier(),
    "balanced forest": RandomForestClassifier(class_weight="balanced_subsample", max_samples=0.5),
    "extra trees": ExtraTreesClassifier(max_features=None, min_samples_leaf=3),
    "bagged trees": BaggingClassifier(),
    "bagged columns": BaggingClassifier(
        DecisionTreeClassifier(max_depth=2), bootstrap_features=True, max_features=0.5
    ),
    "bagged votes": BaggingClassifier(LinearSVC(), max_samples=0.5),
    "pasting": BaggingClassifier(DecisionTreeClassifier(), bootstrap=False, max_samples=0.4),
    "AdaBoost": AdaBoostClassifier(),
    "AdaBoost that ends early": AdaBoostClassifier(DecisionTreeClassifier(max_depth=9)),
    "gradient boosting": GradientBoostingClassifier(subsample=0.5, max_features=2),
    "from zero": GradientBoostingClassifier(init="zero"),
    "histograms": HistGradientBoostingClassifier(max_features=0.5, min_samples_leaf=3),
    "never early": HistGradientBoostingClassifier(early_stopping=False, class_weight="balanced"),
}
REGRESSORS = {
    "forest": RandomForestRegressor(max_features=2, oob_score=True),
    "extra trees": ExtraTreesRegressor(),
    "bagged lines": BaggingRegressor(Ridge(), max_features=2),
    "AdaBoost": AdaBoostRegressor(),
    "AdaBoost of lines": AdaBoostRegressor(Ridge(), loss="square"),
    "gradient boosting": GradientBoostingRegressor(subsample=0.7),
    "quantiles": GradientBoostingRegressor(loss="quantile", alpha=0.3),
    "histograms": HistGradientBoostingRegressor(min_samples_leaf=3),
}


@pytest.mark.filterwarnings("ignore:When fitting BaggingClassifier with sample_weight")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_ensembles_of_classes_equal_fits_bit_by_bit(name, weighted):
    """Labels, probabilities and scores; three classes with weights, two without."""
    y = CLASSES if weighted else np.array(["no", "yes"])[(CLASSES > 0).astype(int)]
    data = checked(X, y, fit_params={"sample_weight": WEIGHTS} if weighted else {})
    decides = name == "bagged votes" or data.n_classes > 2
    with fitted_once(type(CLASSIFIERS[name])):
        for response in ("label", "probability", "score")[: 2 if decides else 3]:
            same(CLASSIFIERS[name], data, response)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_ensembles_of_values_equal_fits_bit_by_bit(name, weighted):
    """One target, and two where the learner takes two."""
    model, params = REGRESSORS[name], {"sample_weight": WEIGHTS} if weighted else {}
    with fitted_once(type(model)):
        same(model, checked(X, NUMBERS, fit_params=params), "value")
    if name in ("forest", "extra trees", "bagged lines"):
        two = np.column_stack([NUMBERS, X[:, 2]])
        same(model, checked(X, two, fit_params=params), "value")


HOLES = pd.DataFrame(
    np.where(np.arange(4 * N).reshape(N, 4) % 28 == 1, np.nan, X), columns=[*"abcd"]
)


@pytest.mark.parametrize(
    ("model", "table", "grid"),
    [
        (RandomForestClassifier(random_state=2), HOLES, None),
        (HistGradientBoostingClassifier(), HOLES, None),
        (
            make_pipeline(SelectKBest(), RandomForestClassifier()),
            X,
            {"selectkbest__k": [1, 3], "randomforestclassifier__n_estimators": SIZES},
        ),
    ],
    ids=["forest of missing cells", "histograms of missing cells", "behind a step that learns"],
)
def test_ensembles_of_tables_and_steps_equal_fits(model, table, grid):
    same(model, checked(table, CLASSES), "probability", "4-fold", grid)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(n_jobs=2),
        BaggingClassifier(DecisionTreeClassifier(min_samples_leaf=7), n_jobs=2),
    ],
)
def test_ensembles_with_jobs_of_their_own_differ_by_rounding(model):
    """With n_jobs scikit-learn adds members in another order."""
    family = Family.from_grid(model, {"n_estimators": SIZES})
    with parallel_config("threading"):
        given = family, checked(X, CLASSES), "3-fold", Request("probability"), RunOptions()
        np.testing.assert_allclose(*both(*given), rtol=1e-12, atol=1e-15)


def test_ensembles_make_one_fit_of_the_largest_per_train_set(monkeypatch):
    """A nested winner is fitted alone."""
    fits, fit = [], RandomForestClassifier.fit

    def counted(self, *arguments):
        fits.append(self.n_estimators)
        return fit(self, *arguments)

    def curve(method):
        return tr.risk_curve(
            RandomForestClassifier(), {"n_estimators": SIZES}, X, CLASSES, cv=method
        )

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    here = curve("4-fold")
    assert (fits, here[0].engine, here[0].n_fits) == ([12] * 4, "ensemble", 20)
    fits.clear()
    nested = curve(Nested("4-fold", "3-fold"))
    assert fits == [12] * 12 + [SIZES[unit.candidate] for unit in nested.evaluation.units]


STOPS = "ends the fit where a part of the rows says so"
TWO = checked(X, (CLASSES > 0).astype(int))
MONITORED = checked(X, (CLASSES > 0).astype(int), fit_params={"monitor": print})
UNREAD = [
    (RandomForestClassifier(), {"n_estimators": [0]}, "label", "0 is no number of members"),
    (RandomForestClassifier(), {"n_estimators": [2.5]}, "label", "2.5 is no number of members"),
    (HistGradientBoostingClassifier(), {"max_iter": ["5"]}, "label", "'5' is no number"),
    (GradientBoostingClassifier(n_iter_no_change=3), None, "label", STOPS),
    (HistGradientBoostingClassifier(early_stopping=True), None, "label", STOPS),
    (BaggingClassifier(LinearSVC()), None, "score", "it averages probabilities"),
    (DecisionTreeClassifier(), None, "label", "DecisionTreeClassifier, not one that it reads"),
]
AUTO = HistGradientBoostingRegressor(max_iter=2)


def tall(n):
    return checked(np.arange(n)[:, None] / n, np.arange(n) % 3 + 0.0)


@pytest.mark.parametrize(
    ("model", "grid", "data", "method", "response", "message"),
    [
        *((model, grid, TWO, "3-fold", *rest) for model, grid, *rest in UNREAD),
        (
            GradientBoostingClassifier(),
            None,
            MONITORED,
            "3-fold",
            "label",
            "a monitor may end the fit",
        ),
        # In a fit of more than 10,000 rows early_stopping="auto" stops.
        (AUTO, None, tall(10_000), "apparent", "value", None),
        (AUTO, None, tall(10_001), "apparent", "value", STOPS),
    ],
)
def test_ensembles_refuse_what_they_do_not_read(model, grid, data, method, response, message):
    plan = as_method(method).plan(data, Streams(0))
    reason = Ensembles().refuse(Family.from_grid(model, grid), data, plan, Request(response))
    if message is None:
        assert reason is None
    else:
        assert re.search(message, reason)
        assert reason.endswith(".")


# ---------------- XGBoost, LightGBM and CatBoost

RATED = {"iterations": 5, "learning_rate": 0.1, "leaf_estimation_iterations": 1}
FITS = []


class XGBRegressor(RegressorMixin, BaseEstimator):
    """Stands for XGBoost's: tree number t says the mean of y over 2 to the power of t."""

    def __init__(self, n_estimators=None, booster=None, depth_word=None):
        self.n_estimators = n_estimators
        self.booster = booster
        self.depth_word = depth_word

    def fit(self, X, y, sample_weight=None, eval_set=None):
        FITS.append(self.n_estimators)
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X, iteration_range=None):
        n_trees = self.n_estimators if iteration_range is None else iteration_range[1]
        return np.full(len(X), sum(self.mean_ / 2**t for t in range(n_trees)))


@pytest.fixture
def xgboost(monkeypatch):
    """The stand-in is what the module of XGBoost holds."""
    module = ModuleType("xgboost.sklearn")
    module.XGBRegressor = XGBRegressor
    monkeypatch.setitem(sys.modules, "xgboost.sklearn", module)
    FITS.clear()


def asked(model, sizes=(2, 5, 1), **params):
    """The family, the data, a plan and a request."""
    path = "xgbregressor__n_estimators" if hasattr(model, "steps") else "n_estimators"
    data = checked(X, NUMBERS, fit_params=params)
    plan = as_method("3-fold").plan(data, Streams(0))
    return Family.from_grid(model, {path: list(sizes)}), data, plan, Request("value")


@pytest.mark.parametrize("piped", [False, True])
def test_package_answers_all_numbers_of_trees_from_one_fit(xgboost, piped):
    model = make_pipeline(StandardScaler(), XGBRegressor()) if piped else XGBRegressor()
    given = asked(model)
    assert Ensembles().refuse(*given) is None
    ours = Ensembles().run(*given, RunOptions())
    assert FITS == [5, 5, 5]
    assert np.array_equal(ours.values, Generic().run(*given, RunOptions()).values)


@pytest.mark.parametrize(
    ("model", "sizes", "params", "why"),
    [
        (XGBRegressor(booster="dart"), (2, 5), {}, "booster='dart' has later trees change"),
        (XGBRegressor(depth_word="x"), (2, 5), {}, "whether depth_word treats every tree alike"),
        (XGBRegressor(), (2, 5), {"eval_set": [(X + 0.5, NUMBERS)]}, "eval_set of fit may end it"),
        (XGBRegressor(), (None, 3), {}, "None is no number"),  # its default is not looked up
    ],
)
def test_package_is_refused_by_setting_parameter_and_fit_parameter(
    xgboost, model, sizes, params, why
):
    assert why in Ensembles().refuse(*asked(model, sizes, **params))


def test_package_is_known_by_its_class():
    """A class of that name elsewhere is none, nor one whose package is not imported."""
    assert find_package(XGBRegressor()) is None
    assert "not one that it reads" in Ensembles().refuse(*asked(XGBRegressor()))


SETTINGS = [
    (XGBOOST, {"n_estimators": 3, "booster": "gblinear"}, "booster='gblinear'"),
    (XGBOOST, {"n_estimators": 3, "early_stopping_rounds": 2}, "a part of the rows says so"),
    (XGBOOST, {"n_estimators": 3, "callbacks": [print]}, "callbacks="),
    (XGBOOST, {"n_estimators": 3, "device": "cuda"}, "device='cuda' is not known to"),
    (XGBOOST, {"n_estimators": 3, "objective": max}, "an objective of your own"),
    (XGBOOST, {"max_depth": 3}, "has no names"),
    (LIGHTGBM, {"n_estimators": 3, "boosting_type": "dart"}, "has later trees change"),
    (LIGHTGBM, {"n_estimators": 3, "num_iterations": 4}, "whether num_iterations treats"),
    (LIGHTGBM, {"n_estimators": 3, "early_stopping_rounds": 4}, "says so"),
    (CATBOOST, {**RATED, "learning_rate": None}, "learning_rate is chosen by the number"),
    (CATBOOST, {**RATED, "leaf_estimation_iterations": None}, "leaf_estimation_iterations is"),
    (CATBOOST, {**RATED, "n_estimators": 5}, "has 2 names"),
    (CATBOOST, {**RATED, "langevin": True}, "langevin=True has later trees change"),
    (CATBOOST, {**RATED, "od_wait": 5}, "od_wait=5 ends the fit"),
    (CATBOOST, {**RATED, "save_snapshot": True}, "begins where another fit ended"),
    (CATBOOST, {**RATED, "task_type": "GPU"}, "task_type='GPU'"),
    (CATBOOST, {**RATED, "loss_function": max}, "an objective of your own"),
    (XGBOOST, {"n_estimators": 3, "booster": "gbtree", "callbacks": None}, None),
    (LIGHTGBM, {"n_estimators": 3, "boosting_type": "goss", "verbose": -1}, None),
    (CATBOOST, {**RATED, "boosting_type": "Ordered", "use_best_model": False}, None),
    (CATBOOST, {"num_trees": 4, "eta": 0.1, "leaf_estimation_iterations": 1}, None),
]


@pytest.mark.parametrize(
    ("refuse", "given", "why"),
    [
        *((package.setting_refusal, [setting], why) for package, setting, why in SETTINGS),
        (XGBOOST.fit_param_refusal, [{"model__sample_weight": 1}, "model__"], None),
        (LIGHTGBM.fit_param_refusal, [{"init_model": 1}, ""], "init_model of fit"),
    ],
)
def test_package_says_which_settings_look_at_the_number_of_trees(refuse, given, why):
    """Sample weights are accepted, and a fit that continues from another model is refused."""
    reason = refuse(*given)
    if why is None:
        assert reason is None
    else:
        assert why in reason
        assert reason.endswith(".")


def test_package_is_not_imported_for_an_engine():
    code = (
        "import sys, numpy as np, truerisk as tr\n"
        "from sklearn.ensemble import RandomForestClassifier as F\n"
        "X = np.arange(20.0)[:, None]\n"
        "tr.estimate_risk(F(3), X, X[:, 0] > 9, cv='2-fold')\n"
        "print(sorted({'xgboost', 'lightgbm', 'catboost'} & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
