"""Which fits differ from all rows by one row, found from the codes of the plan."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.core.plan.blocks import ALL
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.table.data import Data
from truerisk.engines.templates.fits_of_one_table import single_row_fits
from truerisk.testing.strategies import data_sets, plans


def test_rows_left_out_and_labels_flipped_are_found() -> None:
    """One row taken away or one label replaced, asked about that row alone; nothing else."""
    builder = PlanBuilder(5)
    one, two = builder.block(np.array([3])), builder.block(np.array([0, 1]))
    builder.ask((ALL, (one,)), (one, ()))  # left out
    builder.ask((ALL, ()), (one, ()), flips=[(3, 1)])  # flipped
    builder.ask((ALL, ()), (one, ()), flips=[(2, 1)])  # asked about another row
    builder.ask((ALL, ()), (ALL, ()), flips=[(1, 0)])  # asked about all rows
    builder.ask((ALL, ()), (one, ()), flips=[(3, 1), (2, 0)])  # two flipped
    builder.ask((ALL, (one,)), (one, ()), flips=[(0, 1)])  # both
    builder.ask((ALL, (two,)), (two, ()))  # two left out
    builder.ask((two, (one,)), (one, ()))  # not from all rows
    builder.ask((ALL, ()), (ALL, ()))  # nothing changed
    single, row = single_row_fits(builder.build())
    assert single.tolist() == [True, True] + [False] * 7
    assert row.tolist() == [3, 3] + [-1] * 7


def test_one_question_too_many_is_seen() -> None:
    """A fit that is also asked about other rows is none of these."""
    builder = PlanBuilder(5)
    blocks = builder.partition(np.arange(5))
    for block in blocks:
        builder.ask((ALL, (block,)), (block, ()))
    builder.ask((ALL, (blocks[2],)), (ALL, ()), part="all")
    assert single_row_fits(builder.build())[0].tolist() == [True, True, False, True, True]


@settings(deadline=None)
@given(st.data())
def test_what_is_found_holds_on_any_plan(data) -> None:
    """The rows of a fit that is found are all but one, or all with one label replaced."""
    problem: Data = data.draw(data_sets())
    plan = data.draw(plans(problem))
    single, row = single_row_fits(plan)
    for fit in np.flatnonzero(single):
        rows, counts = plan.train_rows(int(fit))
        missing = np.setdiff1d(np.arange(plan.n_rows), rows)
        changed = np.concatenate([missing, plan.flips_of(int(fit))[0]])
        assert changed.tolist() == [row[fit]]
        assert counts is None
        for question in np.flatnonzero(plan.fit == fit):
            assert plan.test_rows(int(question))[0].tolist() == [row[fit]]
