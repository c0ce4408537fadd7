"""Steps are fitted apart from their learner where nothing could tell, by every engine alike."""

from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.running.shared_steps import SharedSteps
from truerisk.engines.settings import why_not_apart
from truerisk.engines.trees.growing import may_step, stands_alone

X, Y = tr.datasets.make_simple(40, random_state=0)
DATA = Data.check(X, Y, task="classification")


def followed(step):
    """A step that a callback of scikit-learn follows."""
    step._skl_callbacks = [object()]
    return step


def pipe(*, scaler=None, **options):
    return Pipeline([("s", scaler or StandardScaler()), ("m", KNeighborsClassifier())], **options)


CASES = {
    "a cache": (pipe(memory="cache"), {}, "caches its steps"),
    "printed lines": (pipe(verbose=True), {}, "says how long"),
    "lines in the grid": (pipe(), {"verbose": [True, False]}, "the grid sets verbose"),
    "a callback of the pipeline": (followed(pipe()), {}, "callbacks follow"),
    "a callback of a step": (pipe(scaler=followed(StandardScaler())), {}, "callbacks follow"),
    "a callback in the grid": (pipe(), {"s": [followed(MinMaxScaler())]}, "callbacks follow"),
    "routing": (pipe(), {}, "metadata are routed"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_could_tell_is_left_to_the_pipeline(name):
    """With its reason, by engines in one pass, by the tree builder and by the trie."""
    model, more, reason = CASES[name]
    routed = name == "routing"
    with sklearn.config_context(enable_metadata_routing=True) if routed else nullcontext():
        family = Family.of(model, {"m__n_neighbors": [1, 3]} | more)
        assert reason in why_not_apart(family)
        assert SharedSteps.of(family, DATA, 2) is None
        assert not may_step(family)
        engine = tr.engines.NearestNeighbours()
        with pytest.raises(tr.core.errors.NoEngine, match=reason):
            tr.risk_curve(model, {"m__n_neighbors": [1, 3]} | more, X, Y, engine=engine)


@pytest.mark.parametrize("verbose", [False, True])
def test_a_pipeline_of_one_step_that_speaks_is_left_alone(verbose):
    """It has no steps to be fitted apart, and yet it prints."""
    family = Family.of(Pipeline([("tree", DecisionTreeClassifier())], verbose=verbose))
    assert stands_alone(family) != verbose


def test_a_pipeline_that_prints_prints(capsys):
    """An option is not accepted and ignored."""
    tr.estimate_risk(pipe(verbose=True), X, Y, cv="3-fold")
    assert capsys.readouterr().out.count("(step 1 of 2) Processing s") == 3


def test_whatever_could_not_tell_is_shared():
    """The plain case, and estimators without steps."""
    family = Family.of(pipe(), {"m__n_neighbors": [1, 3]})
    assert why_not_apart(family) is None
    assert SharedSteps.of(family, DATA, 2) is not None
    assert why_not_apart(Family.of(KNeighborsClassifier())) is None
    assert np.isfinite(tr.estimate_risk(pipe(), X, Y, engine="knn").value)
