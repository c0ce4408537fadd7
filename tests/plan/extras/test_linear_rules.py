"""Linear rules: scores between classes, and equal rows held once."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from truerisk.extend import LinearRules
from truerisk.plan.extras.linear_rules import merge_linear_rules
from truerisk.plan.extras.moves import Moves


def test_linear_rules_between_two_classes_of_several():
    """One score per class: the difference; one per pair: that of the pair."""
    rng = np.random.default_rng(0)
    coefficients, intercepts = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3))
    three = LinearRules(0, np.arange(2), coefficients, intercepts, (0, 2, 5))
    slopes, starts = three.between(0, 5)
    np.testing.assert_array_equal(slopes, coefficients[:, 2] - coefficients[:, 0])
    np.testing.assert_array_equal(starts, intercepts[:, 2] - intercepts[:, 0])
    pairs = replace(three, pairs=True)
    np.testing.assert_array_equal(pairs.between(2, 5)[0], coefficients[:, 2])
    assert list(three.class_pairs()) == [(0, 2), (0, 5), (2, 5)]


def one(fit, candidate, rows):
    """The rule of one candidate."""
    value = np.full((1, 1, 2), float(candidate))
    return LinearRules(fit, np.array([candidate]), value, value[:, :, 0], rows=rows)


@pytest.mark.parametrize("make", [np.array, csr_matrix])
def test_gathered_rules_share_a_block_over_equal_rows(make):
    rows, other = make([[1.0, 0.0]]), make([[2.0, 0.0]])
    given = [(1, 0, rows), (0, 2, rows), (0, 0, rows), (0, 1, other), (0, 3, None)]
    found = merge_linear_rules([one(*rule) for rule in [*given, (0, 4, rows.copy())]])
    blocks = [(rule.fit, rule.candidates.tolist()) for rule in found]
    assert blocks == [(0, [0, 2, 4]), (0, [1]), (0, [3]), (1, [0])]
    assert found[0].coefficients[:, 0, 0].tolist() == [0, 2, 4]
    assert found[0].rows is rows


def test_gathered_rules_of_other_features_or_classes_have_their_own_block():
    plain = one(0, 0, None)
    wide = LinearRules(0, np.array([1]), np.zeros((1, 1, 3)), np.zeros((1, 1)))
    lettered = replace(plain, candidates=np.array([2]), codes=(0, 2))
    assert len(merge_linear_rules([plain, wide, lettered])) == 3


def test_linear_rules_look_for_columns_among_those_that_are_known():
    """What is known to be 0 elsewhere changes no answer, and a cut or joined block forgets it."""
    sparse = np.zeros((2, 1, 6))
    sparse[0, 0, [1, 4]] = 1.0
    told = LinearRules(0, np.arange(2), sparse, np.zeros((2, 1)), among=np.array([1, 3, 4]))
    assert told.used.tolist() == replace(told, among=None).used.tolist() == [1, 4]
    assert told.cut(np.array([0, 4])).used.tolist() == [1]
    shifted = np.roll(sparse, 1, axis=2)
    other = replace(told, candidates=np.array([2, 3]), coefficients=shifted, among=None)
    assert merge_linear_rules([told, other])[0].used.tolist() == [1, 2, 4, 5]


def test_moves_joined_keep_the_points_of_each_plan():
    """A question of the second plan is about the same points after its number was shifted."""
    first = Moves(np.array([0, 2], np.int32), np.array([5, 6]), np.ones(4), np.ones(2))
    second = Moves(np.array([1], np.int32), np.array([7]), np.ones(4), np.ones(2))
    both, rows = first.join([second.shift_numbers(n_fits=1, n_questions=3)]), np.arange(4)
    assert both.question.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(both.row_shifts(2, rows), first.row_shifts(2, rows))
    np.testing.assert_array_equal(both.row_shifts(4, rows), second.row_shifts(1, rows))
    assert both.row_shifts(3, rows) is None
