"""Distances from tested rows to the nearest row that their model saw."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.contracts import Streams
from truerisk.core.plan import leaks
from truerisk.core.plan.nearest_seen import distances_to_nearest, distances_to_seen
from truerisk.core.table.data import Data
from truerisk.methods.words import as_method

PLACES = np.random.default_rng(5).integers(12, size=(50, 2)) * 1.0
DATA = Data.check(PLACES, np.arange(50) % 2, task="classification", block=PLACES)
APART = np.sqrt(((PLACES[:, None] - PLACES) ** 2).sum(axis=2))


@pytest.mark.parametrize("word", ["5-fold", "loo", "holdout", "bootstrap", "blocks-3", "apparent"])
def test_they_are_the_least_of_all_distances(word):
    """NaN where the model saw the row itself."""
    plan = as_method(word).plan(DATA, Streams(1))
    found = distances_to_seen(plan, PLACES)
    at = 0
    for q in range(plan.n_questions):
        train = plan.train_rows(int(plan.fit[q]))[0]
        for row in plan.test_rows(q)[0]:
            expected = np.nan if row in train else APART[row, train].min()
            np.testing.assert_allclose(found[at], expected, atol=1e-12)
            at += 1
    assert at == len(found)


def test_the_nearest_row_is_another_one():
    """A copy at the same place lies at distance 0."""
    expected = (APART + np.diag(np.full(50, np.inf))).min(axis=1)
    np.testing.assert_allclose(distances_to_nearest(PLACES), expected)


def test_random_folds_test_by_neighbours_and_blocks_seldom_do():
    """Nine tenths of the rows of ten random folds have their nearest row in the training set."""
    places = np.random.default_rng(6).random((400, 2))
    data = Data.check(places, np.arange(400) % 2, task="classification", block=places)
    shares = []
    for word in ("10-fold", "blocks-5", "apparent"):
        near, n_tested = leaks.tested_by_neighbours(data, as_method(word).plan(data, Streams(0)))
        shares.append(len(near) / max(n_tested, 1))
    assert shares[0] == pytest.approx(0.9, abs=0.03)
    assert shares[1] < 0.3
    assert shares[2] == 0
