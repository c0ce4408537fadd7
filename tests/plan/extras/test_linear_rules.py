"""Linear rules: scores between classes, and equal rows held once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from truerisk.plan.extras.linear_rules import LinearRules, gathered

RNG = np.random.default_rng(0)
THREE = LinearRules(0, np.arange(2), RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 3)), (0, 2, 5))


def test_between_two_classes_of_several():
    """One score per class: the difference; one per pair: that of the pair."""
    slopes, starts = THREE.between(0, 5)
    np.testing.assert_array_equal(slopes, THREE.coefficients[:, 2] - THREE.coefficients[:, 0])
    np.testing.assert_array_equal(starts, THREE.intercepts[:, 2] - THREE.intercepts[:, 0])
    pairs = replace(THREE, pairs=True)
    np.testing.assert_array_equal(pairs.between(2, 5)[0], THREE.coefficients[:, 2])
    assert list(THREE.class_pairs()) == [(0, 2), (0, 5), (2, 5)]


def one(fit, candidate, rows):
    """The rule of one candidate."""
    value = np.full((1, 1, 2), float(candidate))
    return LinearRules(fit, np.array([candidate]), value, value[:, :, 0], rows=rows)


@pytest.mark.parametrize("make", [np.array, csr_matrix])
def test_equal_rows_are_held_once(make):
    """Candidates over equal rows share a block; other rows and other fits have their own."""
    rows, other = make([[1.0, 0.0]]), make([[2.0, 0.0]])
    given = [one(1, 0, rows), one(0, 2, rows), one(0, 0, rows), one(0, 1, other), one(0, 3, None)]
    found = gathered([*given, one(0, 4, rows.copy())])
    assert [(r.fit, r.candidates.tolist()) for r in found] == [
        (0, [0, 2, 4]),
        (0, [1]),
        (0, [3]),
        (1, [0]),
    ]
    assert found[0].coefficients[:, 0, 0].tolist() == [0, 2, 4]
    assert found[0].rows is rows


def test_other_scores_are_other_blocks():
    """Rules with other numbers of features or other classes do not share a block."""
    plain = one(0, 0, None)
    wide = LinearRules(0, np.array([1]), np.zeros((1, 1, 3)), np.zeros((1, 1)))
    lettered = replace(plain, candidates=np.array([2]), codes=(0, 2))
    assert len(gathered([plain, wide, lettered])) == 3


def test_columns_are_looked_for_among_those_that_are_known():
    """What is known to be 0 elsewhere changes no answer, and a cut or joined block forgets it."""
    sparse = np.zeros((2, 1, 6))
    sparse[0, 0, [1, 4]] = 1.0
    told = LinearRules(0, np.arange(2), sparse, np.zeros((2, 1)), among=np.array([1, 3, 4]))
    assert told.used.tolist() == replace(told, among=None).used.tolist() == [1, 4]
    assert told.cut(np.array([0, 4])).used.tolist() == [1]
    shifted = np.roll(sparse, 1, axis=2)
    other = replace(told, candidates=np.array([2, 3]), coefficients=shifted, among=None)
    assert gathered([told, other])[0].used.tolist() == [1, 2, 4, 5]
