"""Rows leak where a model that did not see them saw another row of their key, by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.plan.test_plan import drawn

from truerisk.core.contracts import Streams
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.leaks import across, cut_groups, leaks_in_time, split_copies
from truerisk.core.plan.plan import ALL
from truerisk.core.table.data import Data
from truerisk.methods.words import as_method

X = np.arange(24.0).reshape(12, 2)
GROUPS = np.arange(12) // 2
SAMPLES = (".632", ".632+", "optimism", "bootstrap")


@given(drawn(), st.data())
def test_leaking_rows_are_those_of_the_definition(both, data) -> None:
    """A fit that is asked about a row it did not see saw another row of its key."""
    plan, expected = both
    keys = data.draw(st.lists(st.integers(5, 8), min_size=plan.n_rows, max_size=plan.n_rows))
    leaking = {
        tested
        for train, test, *_ in expected
        for tested in test
        if tested not in train and any(keys[seen] == keys[tested] for seen in train)
    }
    assert across(plan, np.array(keys)).tolist() == sorted(leaking)


def test_rows_taken_away_twice_are_gone_once() -> None:
    """Blocks that overlap do not hide a leak: row 3 is tested beside its copy, row 4."""
    builder = PlanBuilder(5)
    one, two = builder.block(np.array([0, 1, 3])), builder.block(np.array([0, 1, 2, 3]))
    builder.ask((ALL, (one, two)), (one, ()))
    assert across(builder.build(), np.array([8, 8, 8, 9, 9])).tolist() == [3]
    assert across(builder.build(), np.array([8, 5, 8, 8, 8])).tolist() == [0, 3]


@pytest.mark.parametrize("word", [*SAMPLES, "5-fold", "monte-carlo", "apparent"])
def test_methods_that_keep_groups_cut_none(word) -> None:
    """Also where they ask a fit about rows that it saw: these are no rows of another side."""
    data = Data.check(X, np.arange(12) % 2, task="classification", groups=GROUPS)
    plan = as_method(word).plan(data, Streams(0))
    assert not len(cut_groups(data, plan))
    assert not len(split_copies(data, plan))


@pytest.mark.parametrize("word", [*SAMPLES, "loo", "alo", "complete"])
def test_copies_in_other_rows_of_a_plan_are_found(word) -> None:
    """Out of a bag, taken out of the model, out of a drawn train set: rows 0 and 7 are copies."""
    twins = X.copy()
    twins[7] = twins[0]
    data = Data.check(twins, np.arange(12) % 2, task="classification")
    plan = as_method(word).plan(data, Streams(0))
    assert split_copies(data, plan).tolist() == [0, 7]


@given(drawn(), st.data())
def test_late_rows_are_those_of_the_definition(both, data) -> None:
    """A fit that is asked about a row it did not see saw one of the same or of a later time."""
    plan, expected = both
    times = data.draw(st.lists(st.integers(0, 4), min_size=plan.n_rows, max_size=plan.n_rows))
    times[:2] = [-1, 5]
    late = {
        tested
        for train, test, *_ in expected
        for tested in test
        if tested not in train and any(times[seen] >= times[tested] for seen in train)
    }
    rows = Data.check(
        np.zeros((plan.n_rows, 1)), np.arange(plan.n_rows) / 2, task="regression", time=times
    )
    assert leaks_in_time(rows, plan).tolist() == sorted(late)
