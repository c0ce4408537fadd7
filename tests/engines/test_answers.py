"""Every engine answers in what the learner itself answers in, one request or several at once."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.engines.closed_forms import RESPONSES, plan_of, values_of
from tests.engines.test_lookalikes import CLASSIFIERS, LEARNERS, REGRESSORS
from tests.support.data import checked, normal_rows

from truerisk.contracts import RunOptions
from truerisk.engines import Ensembles, Generic, Trees, choose_engine, registry
from truerisk.extend import Family, Request, TrueRiskError
from truerisk.methods import Bootstrap, Pairs

SCORED = Request("scored", get_scorer("f1"))
TREE, DEPTHS = DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.1]}
PIPED = make_pipeline(StandardScaler(), TREE)
FEW = {"n_estimators": [2, 4]}
CASES = [
    (Generic(), GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, (*RESPONSES, SCORED)),
    (Generic(), RandomForestClassifier(3), {"max_depth": [1, 2]}, (*RESPONSES, SCORED)),
    (Trees(), TREE, DEPTHS, RESPONSES),
    (Trees(), PIPED, {"decisiontreeclassifier__ccp_alpha": [0.0, 0.1]}, RESPONSES),
    (Ensembles(), RandomForestClassifier(), FEW, RESPONSES),
    (Ensembles(), BaggingClassifier(), FEW, RESPONSES[:2]),
    (Ensembles(), GradientBoostingClassifier(), FEW, RESPONSES),
]


@pytest.mark.parametrize(
    ("method", "executor"),
    [("3-fold", 2), (Pairs("3-fold"), None), (Bootstrap("oob", replicates=3), None)],
    ids=str,
)
@pytest.mark.parametrize(("engine", "model", "grid", "asked"), CASES)
def test_answers_besides_are_what_is_said_alone(engine, model, grid, asked, method, executor):
    """All candidates and single winners; order does not matter, and no fit is made for it."""
    family, data = Family.from_grid(model, grid), checked(*normal_rows(40, 3)[:2])
    plan = plan_of(method, data)
    for only in (None, np.arange(plan.n_fits) % 2):
        run = RunOptions(executor, 7, only)
        whole = replace(asked[-1], also=tuple(asked[:-1]))
        assert engine.refuse(family, data, plan, whole) is None
        found = engine.run(family, data, plan, whole, run)
        for one, told in zip(whole.all_requests, (found, *found.also), strict=True):
            alone = engine.run(family, data, plan, one, run)
            assert told.response == one.response
            np.testing.assert_array_equal(told.values, alone.values)
            np.testing.assert_array_equal(told.answered, alone.answered)
        assert found.n_fits == alone.n_fits


def test_answers_besides_are_tested_of_every_engine_that_gives_them():
    besides = {word for word in registry if registry.load(word).answers_extras}
    assert besides == {type(engine).name for engine, *_ in CASES}


def answered(engine, family, data, request):
    """The answers, or what kind of failure there is in their place."""
    plan = plan_of("3-fold", data)
    try:
        chosen, refusals = choose_engine(engine, family, data, plan, request)
        assert all(map(str, refusals.values()))
        return values_of(chosen, family, data, plan, request)
    except TrueRiskError as error:
        return type(error).__name__


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("response", RESPONSES, ids=lambda one: one.response)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_answers_of_a_classifier_are_those_of_the_learner(name, response, n_classes):
    y = np.arange(30) % n_classes
    X = (normal_rows(30)[0] + y[:, None])[:, : 1 if name == "interval" else 2]
    models = [LEARNERS[name]]
    if name != "interval":
        models.append(make_pipeline(StandardScaler(), LEARNERS[name]))
    for model in models:
        own, found = (
            answered(engine, Family.from_grid(model), checked(X, y), response)
            for engine in (Generic(), "auto")
        )
        assert type(own) is type(found)
        if isinstance(own, str):
            assert found == own
        else:
            np.testing.assert_allclose(found, own, atol=1e-6)


@pytest.mark.parametrize("name", REGRESSORS)
def test_answers_of_a_regressor_are_those_of_the_learner(name):
    X, _, y = normal_rows(30)
    for target in (y, np.column_stack([y, X[:, 1]])):
        own, found = (
            answered(engine, Family.from_grid(LEARNERS[name]), checked(X, target), Request("value"))
            for engine in (Generic(), "auto")
        )
        np.testing.assert_allclose(found, own, atol=1e-9)
