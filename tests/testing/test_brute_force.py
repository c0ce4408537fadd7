"""The brute force reads a plan as it was asked, and fits what it read."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.model_facts import ModelFacts
from truerisk.testing.brute_force import (
    brute_force,
    decoded,
    freedom_by_brute_force,
    rules_by_brute_force,
)
from truerisk.testing.toy_learners import NearestMean

LABEL = Request("label")


def test_a_plan_is_read_by_hand():
    """All but a block, a sample with counts minus a block, labels shown instead, several asked."""
    builder = PlanBuilder(5)
    fold, sample = builder.block(np.array([1, 3])), builder.block(np.array([0, 0, 1, 4]))
    builder.ask((ALL, (fold,)), (fold, ()), flips=[(4, 1)])
    builder.ask((sample, (fold,)), (ALL, ()))
    builder.ask((ALL, (fold,)), (sample, ()), flips=[(4, 1)])
    read = decoded(builder.build())
    assert read.train == [[0, 2, 4], [0, 0, 4]]
    assert read.labels == [{4: 1}, {}]
    assert read.questions == [(0, [1, 3]), (1, [0, 1, 2, 3, 4]), (0, [0, 1, 4])]


def test_leave_one_out_of_the_golden_set():
    """1-NN errs for 5 of 9 rows of METHODS' one-dimensional set, 3-NN for 4."""
    x = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])
    data = Data.check(x[:, None], [0, 0, 1, 0, 1, 1, 0, 1, 1], task="classification")
    builder = PlanBuilder(9)
    for block in builder.partition(np.arange(9)):
        builder.ask((ALL, (block,)), (block, ()))
    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
    answers = np.array(brute_force(family, data, builder.build(), LABEL))[:, :, 0]
    assert (answers != data.codes).sum(axis=1).tolist() == [5, 4]


def test_a_failing_fit_has_no_answers():
    """Three neighbours among two rows: that candidate has None, the other its labels."""
    data = Data.check(np.arange(4.0)[:, None], [0, 0, 1, 1], task="classification")
    builder = PlanBuilder(4)
    test = builder.block(np.array([0, 3]))
    builder.ask((ALL, (test,)), (test, ()))
    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
    first, second = brute_force(family, data, builder.build(), LABEL)
    assert first[0].tolist() == [0, 1]
    assert second == [None]


def test_degrees_of_freedom_are_those_of_the_fits_asked():
    """n/k of each training set, and nothing for a fit that is not asked."""
    builder = PlanBuilder(6)
    for fold, block in enumerate(builder.partition(np.array([0, 0, 1, 1, 1, 1]))):
        builder.ask((ALL, (block,)), (block, ()), fold=fold)
    plan = builder.build(ModelFacts(freedom=np.zeros(1, np.int32)))
    data = Data.check(np.arange(6.0)[:, None], [0, 1] * 3, task="classification")
    family = Family.of(KNeighborsClassifier(), {"n_neighbors": [1, 2]})
    found = freedom_by_brute_force(family, data, plan)
    np.testing.assert_array_equal(found, [[4, np.nan], [2, np.nan]])


def test_linear_rules_are_those_of_the_fits_asked():
    """The rule of each candidate of fit 1, and none of fit 0."""
    builder = PlanBuilder(6)
    for fold, block in enumerate(builder.partition(np.array([0, 0, 1, 1, 1, 1]))):
        builder.ask((ALL, (block,)), (block, ()), fold=fold)
    plan = builder.build(ModelFacts(rules=np.ones(1, np.int32)))
    data = Data.check([[0.0], [2.0], [4.0], [5.0], [6.0], [7.0]], [0, 1] * 3, task="classification")
    family = Family.of(NearestMean(), {"rest": [0.0, 1.0]})
    found = rules_by_brute_force(family, data, plan)
    assert [(r.fit, r.candidates.tolist()) for r in found] == [(1, [0]), (1, [1])]
    assert found[0].coefficients.tolist() == [[[2.0]]]
    assert found[0].intercepts.tolist() == [[-2.0]]
