"""The brute force reads a plan as it was asked, and fits what it read."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import NINE, checked

from truerisk.extend import ALL, Family, PlanBuilder, Request
from truerisk.plan.extras.model_facts import ModelFacts
from truerisk.testing.brute_force import (
    brute_force,
    decode_plan,
    degrees_of_freedom_by_brute_force,
    linear_rules_by_brute_force,
)
from truerisk.testing.toy_learners import NearestMean

LABEL = Request("label")


def test_decoded_plan_is_what_was_asked():
    """All but a block, a sample with counts minus a block, labels shown instead, several asked."""
    builder = PlanBuilder(5)
    fold, sample = builder.block(np.array([1, 3])), builder.block(np.array([0, 0, 1, 4]))
    builder.ask((ALL, (fold,)), (fold, ()), flips=[(4, 1)])
    builder.ask((sample, (fold,)), (ALL, ()))
    builder.ask((ALL, (fold,)), (sample, ()), flips=[(4, 1)])
    read = decode_plan(builder.build())
    assert read.training_rows == [[0, 2, 4], [0, 0, 4]]
    assert read.new_labels == [{4: 1}, {}]
    assert read.test_sets == [(0, [1, 3]), (1, [0, 1, 2, 3, 4]), (0, [0, 1, 4])]


def test_brute_force_of_leave_one_out_is_known():
    """1-NN errs for 5 of 9 rows of METHODS' one-dimensional set, 3-NN for 4."""
    data = checked(*NINE)
    builder = PlanBuilder(9)
    for block in builder.partition(np.arange(9)):
        builder.ask((ALL, (block,)), (block, ()))
    family = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
    answers = np.array(brute_force(family, data, builder.build(), LABEL))[:, :, 0]
    assert (answers != data.codes).sum(axis=1).tolist() == [5, 4]


def test_brute_force_has_no_answers_of_a_failing_fit():
    """Three neighbours among two rows: that candidate has None, the other its labels."""
    data = checked(np.arange(4.0)[:, None], [0, 0, 1, 1])
    builder = PlanBuilder(4)
    test = builder.block(np.array([0, 3]))
    builder.ask((ALL, (test,)), (test, ()))
    family = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
    first, second = brute_force(family, data, builder.build(), LABEL)
    assert first[0].tolist() == [0, 1]
    assert second == [None]


def halves(facts):
    """The plan of two fits, on four and on two rows, of which these facts are asked."""
    builder = PlanBuilder(6)
    for fold, block in enumerate(builder.partition(np.array([0, 0, 1, 1, 1, 1]))):
        builder.ask((ALL, (block,)), (block, ()), fold=fold)
    return builder.build(facts)


def test_freedom_by_brute_force_is_that_of_the_fits_asked():
    """n/k of each training set, and nothing for a fit that is not asked."""
    data = checked(np.arange(6.0)[:, None], [0, 1] * 3)
    family = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 2]})
    found = degrees_of_freedom_by_brute_force(
        family, data, halves(ModelFacts(freedom=np.zeros(1, np.int32)))
    )
    np.testing.assert_array_equal(found, [[4, np.nan], [2, np.nan]])


def test_rules_by_brute_force_are_those_of_the_fits_asked():
    """The rule of each candidate of fit 1, and none of fit 0."""
    data = checked([[0.0], [2.0], [4.0], [5.0], [6.0], [7.0]], [0, 1] * 3)
    family = Family.from_grid(NearestMean(), {"rest": [0.0, 1.0]})
    found = linear_rules_by_brute_force(
        family, data, halves(ModelFacts(rules=np.ones(1, np.int32)))
    )
    assert [(r.fit, r.candidates.tolist()) for r in found] == [(1, [0]), (1, [1])]
    assert found[0].coefficients.tolist() == [[[2.0]]]
    assert found[0].intercepts.tolist() == [[-2.0]]
