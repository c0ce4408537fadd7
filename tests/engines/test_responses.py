"""Every engine answers in what the learner itself can answer in, and in nothing else."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import RESPONSES
from tests.engines.test_lookalikes import CLASSIFIERS, LEARNERS, REGRESSORS

from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import TrueRiskError
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.choice import choose_engine
from truerisk.engines.generic import Generic
from truerisk.methods.kfold import KFold

RNG = np.random.default_rng(5)


def answered(engine, family, data, request):
    """The answers, or what kind of failure there is in their place."""
    plan = KFold(3).plan(data, Streams(0))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen, refusals = choose_engine(engine, family, data, plan, request)
            assert all(map(str, refusals.values()))
            return chosen.run(family, data, plan, request, RunOptions(None, 0)).values
    except TrueRiskError as error:
        return type(error).__name__


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("response", RESPONSES, ids=lambda one: one.response)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_engine_answers_what_the_learner_answers(name, response, n_classes):
    """Labels, probabilities and scores are those of the learner; what it lacks is refused alike."""
    y = np.arange(30) % n_classes
    X = (RNG.normal(size=(30, 2)) + y[:, None])[:, : 1 if name == "interval" else 2]
    data = Data.check(X, y, task="classification")
    models = [LEARNERS[name]]
    if name != "interval":
        models.append(make_pipeline(StandardScaler(), LEARNERS[name]))
    for model in models:
        own = answered(Generic(), Family.of(model), data, response)
        found = answered("auto", Family.of(model), data, response)
        assert type(own) is type(found)
        if isinstance(own, str):
            assert found == own
        else:
            np.testing.assert_allclose(found, own, atol=1e-6)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_answers_values(name):
    """Numbers are those of the learner, one target or two."""
    X = RNG.normal(size=(30, 2))
    y = X @ RNG.normal(size=(2, 2))
    for target in (y, y[:, 0]):
        data = Data.check(X, target, task="regression")
        own, found = (
            answered(engine, Family.of(LEARNERS[name]), data, Request("value"))
            for engine in (Generic(), "auto")
        )
        np.testing.assert_allclose(found, own, atol=1e-9)
