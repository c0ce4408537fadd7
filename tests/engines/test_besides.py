"""What an engine is asked besides is what it says when it is asked for that alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.choice import registry
from truerisk.engines.generic import Generic
from truerisk.engines.trees.ensemble import Ensembles
from truerisk.engines.trees.tree import Trees
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.pairs import Pairs
from truerisk.methods.words import as_method

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
DATA = Data.check(X, Y, task="classification")
SCORED = Request("scored", get_scorer("f1"))
ANSWERS = (Request("label"), Request("probability"), Request("score"))
CASES = [
    (Generic(), GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, (*ANSWERS, SCORED)),
    (Generic(), RandomForestClassifier(3), {"max_depth": [1, 2]}, (*ANSWERS, SCORED)),
    (Trees(), DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.1]}, ANSWERS),
    (
        Trees(),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
        {"decisiontreeclassifier__ccp_alpha": [0.0, 0.1]},
        ANSWERS,
    ),
    (Ensembles(), RandomForestClassifier(), {"n_estimators": [2, 4]}, ANSWERS),
    (Ensembles(), BaggingClassifier(), {"n_estimators": [2, 4]}, ANSWERS[:2]),
    (Ensembles(), GradientBoostingClassifier(), {"n_estimators": [2, 4]}, ANSWERS),
]


@pytest.mark.parametrize(
    ("method", "executor"),
    [
        ("3-fold", 2),
        (Pairs(folds="3-fold"), None),
        (Bootstrap("oob", replicates=3), None),
    ],
    ids=str,
)
@pytest.mark.parametrize(("engine", "model", "grid", "asked"), CASES)
def test_besides_is_what_is_said_alone(engine, model, grid, asked, method, executor):
    """All candidates and single winners; order does not matter, and no fit is made for it."""
    family = Family.of(model, grid)
    plan = as_method(method).plan(DATA, Streams(0))
    for only in (None, np.arange(plan.n_fits) % 2):
        run = RunOptions(executor, 7, only)
        whole = replace(asked[-1], also=asked[:-1])
        assert engine.refuse(family, DATA, plan, whole) is None
        found = engine.run(family, DATA, plan, whole, run)
        for one, told in zip(whole.each, (found, *found.also), strict=True):
            alone = engine.run(family, DATA, plan, one, run)
            assert told.response == one.response
            np.testing.assert_array_equal(told.values, alone.values)
            np.testing.assert_array_equal(told.answered, alone.answered)
        assert found.n_fits == alone.n_fits


def test_engines_that_say_so_are_tested_here():
    """Whoever answers several things in one run stands above."""
    engines = {word: registry.load(word) for word in registry}
    besides = {word for word, engine in engines.items() if engine.answers_besides}
    assert besides == {type(engine).word for engine, *_ in CASES}
