"""Risks by column are the same estimates as a list of them would be."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import truerisk as tr
from truerisk import contracts
from truerisk.results.evaluation import RisksByColumn, ranks_of, std_errors_of, values_of

X, Y = tr.datasets.make_simple(40, random_state=0)
CURVE = tr.risk_curve(tr.models.LogisticPath(n_lambdas=9), {"at": list(range(9))}, X, Y, cv="bee")
TESTED = CURVE.evaluation.tested


def test_columns_are_those_of_the_estimates() -> None:
    """What a rule reads at once is what a reader finds candidate by candidate."""
    assert isinstance(TESTED, RisksByColumn)
    listed = [TESTED[c] for c in range(9)]
    assert values_of(TESTED).tolist() == values_of(listed).tolist() == CURVE.values.tolist()
    assert ranks_of(TESTED).tolist() == ranks_of(listed).tolist()
    assert std_errors_of(TESTED).tolist() == pytest.approx(std_errors_of(listed), nan_ok=True)
    assert [one.value for one in TESTED] == values_of(listed).tolist()


def test_they_are_read_like_a_tuple() -> None:
    """Numbers from the end and slices work, and there is none beyond the last."""
    assert TESTED[-1].value == TESTED[8].value
    assert [one.value for one in TESTED[2:4]] == values_of(TESTED)[2:4].tolist()
    with pytest.raises(IndexError):
        TESTED[9]


def test_they_travel_with_a_curve() -> None:
    """A curve that went through another process still tells how sure each risk is."""
    again = pickle.loads(pickle.dumps(CURVE))
    assert [(e.std_error, e.interval, e.notes) for e in again] == [
        (e.std_error, e.interval, e.notes) for e in CURVE
    ]


def test_ranks_need_all_candidates() -> None:
    """Where one risk of a list has no rank, values decide."""
    one = contracts.Tested
    assert ranks_of([one(0.1, rank=1.0), one(0.2)]) is None
    assert np.array_equal(values_of([one(0.1), one(np.nan)]), [0.1, np.nan], equal_nan=True)
