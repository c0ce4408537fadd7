"""A problem in other words stays the same problem."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.data.data import Data
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.testing.brute_force import decoded
from truerisk.testing.cases import altered, frozen_data, permuted_data, permuted_plan, renamed
from truerisk.testing.strategies import data_sets, plans


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_permuted_plan_asks_the_same_about_the_moved_rows(drawer):
    """Train rows with their counts, labels and asked rows are the old ones at their new places."""
    data = drawer.draw(data_sets())
    plan = drawer.draw(plans(data))
    order = np.array(drawer.draw(st.permutations(range(data.n_rows))))
    old, new = decoded(plan), decoded(permuted_plan(plan, order))
    assert [sorted(order[seen]) for seen in new.train] == old.train
    assert [(fit, sorted(order[rows])) for fit, rows in new.questions] == old.questions
    assert [{order[r]: c for r, c in labels.items()} for labels in new.labels] == old.labels
    moved = permuted_data(data, order)
    assert np.array_equal(moved.X, data.X[order])
    assert np.array_equal(moved.classes[moved.codes], data.y[order])


def test_renaming_moves_codes_with_the_order_of_names():
    """Codes follow the sorted new names."""
    data = Data.check(np.eye(3), ["b", "a", "c"], task="classification")
    other = renamed(data, ["z", "y", "x"])
    assert other.y.tolist() == ["y", "z", "x"]
    assert other.codes.tolist() == [1, 2, 0]


def test_frozen_data_cannot_be_written_to():
    """The copy is read-only and the original is not."""
    data = Data.check(np.eye(3), [0, 1, 1], task="classification")
    with pytest.raises(ValueError, match="read-only"):
        frozen_data(data).X[0] = 1
    data.X[0] = 1


def test_every_array_of_a_plan_is_altered_once():
    """Each altered plan differs in one place, and no array is left out."""
    builder = PlanBuilder(4)
    drawn = builder.block(np.array([0, 0, 2]))
    builder.ask((drawn, ()), (ALL, (drawn,)), flips=[(2, 1)])
    plan = builder.build()
    before = plan.to_dict()
    changed = []
    for what, other in altered(plan):
        after = other.to_dict()
        changed += [
            name for name in before if name != "fingerprint" and before[name] != after[name]
        ]
        assert what
    empty = {name for name, value in before.items() if value == []}
    assert sorted(changed) == sorted(set(before) - empty - {"fingerprint"})
