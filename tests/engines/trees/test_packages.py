"""What of a package's setting makes the first trees of a long fit those of a short one."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.trees.ensemble import Ensembles
from truerisk.engines.trees.packages import CATBOOST, LIGHTGBM, XGBOOST, package_of
from truerisk.methods.words import as_method

RATED = {"iterations": 5, "learning_rate": 0.1, "leaf_estimation_iterations": 1}


class XGBRegressor(RegressorMixin, BaseEstimator):
    """Stands for XGBoost's: tree number t says the mean of y over 2 to the power of t."""

    def __init__(self, n_estimators=None, booster=None, depth_word=None) -> None:
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


FITS: list[int] = []
X = np.arange(24.0)[:, None]
Y = np.arange(24) % 5 + 0.5


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
    family = Family.of(model, {path: list(sizes)})
    data = Data.check(X, Y, task="regression", fit_params=params)
    return family, data, as_method("3-fold").plan(data, Streams(0)), Request("value")


@pytest.mark.parametrize("piped", [False, True])
def test_all_numbers_of_trees_from_one_fit(xgboost, piped) -> None:
    """One fit of the most trees per train set, and the answers of a fit of each number."""
    model = make_pipeline(StandardScaler(), XGBRegressor()) if piped else XGBRegressor()
    given = asked(model)
    assert Ensembles().refuse(*given) is None
    ours = Ensembles().run(*given, RunOptions())
    assert FITS == [5, 5, 5]
    assert np.array_equal(ours.values, Generic().run(*given, RunOptions()).values)


@pytest.mark.parametrize(
    ("model", "params", "why"),
    [
        (XGBRegressor(booster="dart"), {}, "booster='dart' has later trees change"),
        (XGBRegressor(depth_word="x"), {}, "whether depth_word treats every tree alike"),
        (XGBRegressor(), {"eval_set": [(X + 0.5, Y)]}, "eval_set of fit may end it"),
    ],
)
def test_the_engine_refuses(xgboost, model, params, why) -> None:
    """By the setting, by an unknown parameter, by what fit is given."""
    assert why in Ensembles().refuse(*asked(model, **params))


def test_no_number_of_trees(xgboost) -> None:
    """The package's own default is not looked up."""
    assert "None is no number" in Ensembles().refuse(*asked(XGBRegressor(), [None, 3]))


def test_a_lookalike_is_no_booster_of_the_package() -> None:
    """A class of that name elsewhere, and a class whose package is not imported."""
    assert package_of(XGBRegressor()) is None
    assert "not one that it reads" in Ensembles().refuse(*asked(XGBRegressor()))


REFUSED = [
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
]


@pytest.mark.parametrize(("package", "setting", "why"), REFUSED)
def test_settings_that_are_refused(package, setting, why) -> None:
    """Each by a sentence."""
    reason = package.setting_refusal(setting)
    assert why in reason
    assert reason.endswith(".")


@pytest.mark.parametrize(
    ("package", "setting"),
    [
        (XGBOOST, {"n_estimators": 3, "booster": "gbtree", "subsample": 0.5, "callbacks": None}),
        (LIGHTGBM, {"n_estimators": 3, "boosting_type": "goss", "verbose": -1}),
        (CATBOOST, {**RATED, "boosting_type": "Ordered", "use_best_model": False}),
        (CATBOOST, {"num_trees": 4, "eta": 0.1, "leaf_estimation_iterations": 1}),
    ],
)
def test_settings_that_are_read(package, setting) -> None:
    """Nothing in them looks at the number of trees."""
    assert package.setting_refusal(setting) is None


def test_what_fit_may_be_given() -> None:
    """Weights, behind a pipeline's prefix; nothing that begins or ends the fit elsewhere."""
    assert XGBOOST.param_refusal({"model__sample_weight": 1}, "model__") is None
    assert "init_model of fit" in LIGHTGBM.param_refusal({"init_model": 1}, "")


def test_no_package_is_imported() -> None:
    """Neither by choosing an engine nor by importing truerisk."""
    code = (
        "import sys, numpy as np, truerisk as tr\n"
        "from sklearn.ensemble import RandomForestClassifier as F\n"
        "X = np.arange(20.0)[:, None]\n"
        "tr.estimate_risk(F(3), X, X[:, 0] > 9, cv='2-fold')\n"
        "print(sorted({'xgboost', 'lightgbm', 'catboost'} & set(sys.modules)))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
