"""Discriminants where a class has one row, or none in a train set, are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.engines.closed_forms import (
    LOO,
    RESPONSES,
    data_of,
    drawn,
    family_of,
    require_equal,
    warnings_of,
)
from tests.engines.discriminants.test_discriminant import ENGINE, LEARNERS, PLAIN

import truerisk as tr
from truerisk.contracts import RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.plan.builder import PlanBuilder

OOB = tr.methods.Bootstrap(kind="oob", replicates=6)


def test_a_class_of_one_row() -> None:
    """Without its one row a class is gone: its probability is 0, and the rest goes on."""
    X, y = drawn(23, 3, 3, sizes=[12, 10, 1])
    for word in ("svd", "lsqr", "R"):
        plan = require_equal(ENGINE, family_of(*LEARNERS[word]), data_of(X, y), LOO, RESPONSES[:2])
    answers = ENGINE.run(PLAIN, data_of(X, y), plan, RESPONSES[1], RunOptions())
    assert answers.values[0, 22, 2] == 0


def test_one_class_left_is_what_scikit_learn_makes_of_it() -> None:
    """A fit that sees one class only is put to scikit-learn, whatever it answers."""
    X, y = drawn(12, 2, 2, sizes=[11, 1])
    data, plan = data_of(X, y), LOO.plan(data_of(X, y), Streams(0))
    for request in RESPONSES[:2]:
        outcomes = []
        for engine in (ENGINE, tr.engines.Generic()):
            try:
                outcomes.append(
                    engine.run(PLAIN, data, plan, request, RunOptions()).values.tolist()
                )
            except FitFailed as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def test_priors_of_a_missing_class_fail_as_in_scikit_learn() -> None:
    """Three priors for two classes are an error of the fit, with its place."""
    X, y = drawn(23, 3, 3, sizes=[12, 10, 1])
    family = family_of(LinearDiscriminantAnalysis(priors=[0.2, 0.5, 0.3]))
    data = data_of(X, y)
    plan = LOO.plan(data, Streams(0))
    with pytest.raises(FitFailed, match=r"test split \(repeat 0, fold 22\)"):
        ENGINE.run(family, data, plan, RESPONSES[1], RunOptions())


@pytest.mark.parametrize("method", [LOO, tr.methods.KFold(2), OOB], ids=["loo", "folds", "oob"])
@pytest.mark.parametrize("word", ["svd", "lsqr", "eigen"])
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TrueRiskWarning")
def test_classes_of_one_row_and_equal_means_are_asked(word, method) -> None:
    """Scikit-learn warns of a covariance of one row, and divides 0 by 0 where all means are one."""
    model = LinearDiscriminantAnalysis(solver=word)
    heard = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 14))
        X = rng.integers(-1, 2, size=(n, 1)).astype(float)
        y = np.array(["a", "b", "c"])[rng.integers(0, int(rng.integers(2, 4)), n)]
        if len(np.unique(y)) < 2:
            continue
        data = data_of(X, y)
        plan = method.plan(data, Streams(seed))
        outcomes = []
        for engine in (ENGINE, tr.engines.Generic()):
            try:
                outcomes.append(warnings_of(engine, family_of(model), data, plan, RESPONSES[0])[1])
            except FitFailed as error:
                outcomes.append([str(error)])
        assert outcomes[0] == outcomes[1], seed
        heard += bool(outcomes[1])
    assert heard


def test_warnings_are_those_of_scikit_learn() -> None:
    """No fit that is not made warns; those that are made are heard, with their number."""
    X, y = drawn(30, 3, 2)
    data = data_of(X, y)
    assert warnings_of(ENGINE, PLAIN, data, LOO.plan(data, Streams(0)))[1] == []
    builder = PlanBuilder(30)
    rows, rest = builder.block(np.array([0, 2, 4])), builder.block(np.array([1, 3]))
    builder.ask((rows, ()), (rest, ()))
    plan = builder.build()  # one class only: scikit-learn divides by zero
    outcomes = []
    for engine in (ENGINE, tr.engines.Generic()):
        try:
            outcomes.append(warnings_of(engine, PLAIN, data, plan, RESPONSES[0])[1])
        except FitFailed as error:
            outcomes.append([str(error)])
    assert outcomes[0] == outcomes[1]
