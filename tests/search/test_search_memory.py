"""What a search of a tall table holds beside it: errors in bytes, nothing twice."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import truerisk as tr

N = 40_000
CS = {"C": [0.01, 0.1, 1.0]}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    return X, (X[:, 0] + rng.normal(size=N) > 0).astype(int)


def test_a_search_holds_few_bytes_of_each_row(table):
    X, y = table
    # The checks look at a bounded number of rows: what they take does not grow with the table.
    search = tr.HonestSearchCV(LogisticRegression(), CS, checks=False).fit(X[:500], y[:500])
    tracemalloc.start()
    try:
        search.fit(X, y)
        held, most = (size / N for size in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    assert held < 115  # 172 where each setting had its losses as doubles
    assert most < 260  # 395 where the tests without two folds were added up all at once


def test_losses_are_numbers_however_they_are_held(table):
    X, y = (part[:300] for part in table)
    search = tr.HonestSearchCV(LogisticRegression(), CS).fit(X, y)
    for risk in (search.risk_, *search.curve_):
        assert risk.losses.dtype == np.float64
        assert risk.losses.mean() == pytest.approx(risk.value)


def test_the_curve_of_pairs_can_be_pickled(table):
    X, y = (part[:300] for part in table)
    curve = tr.risk_curve(LogisticRegression(), CS, X, y, cv="pairs")
    again = pickle.loads(pickle.dumps(curve))
    assert [risk.value for risk in again] == [risk.value for risk in curve]
    assert again[1].notes == curve[1].notes
