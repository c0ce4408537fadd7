"""Which rows a validation tested, and how they lie to those that their models learned from."""

from __future__ import annotations

import numpy as np

from truerisk.api.validating.honest import HonestRun
from truerisk.core.plan.leaks import cut_groups, leaks_in_time, tested_by_neighbours
from truerisk.core.plan.order import is_ordered
from truerisk.core.plan.plan import Plan
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.study_facts import TestedOn

__all__ = ["n_cut", "tested_counts", "tested_on"]


def tested_counts(held: HeldOut) -> tuple[int, dict[str, int]]:
    """How many rows were tested, and how many of each class, as y names them."""
    rows, first = np.unique(held.rows, return_index=True)
    if held.classes is None:
        return len(rows), {}
    each = np.bincount(held.truth[first], minlength=held.n_classes).tolist()
    names = map(str, held.classes.tolist())
    return len(rows), dict(zip(names, each, strict=True))


def n_cut(run: HonestRun) -> int:
    """Rows that were tested by models that saw others of their group."""
    return len(cut_groups(run.problem.data, _plan(run)))


def tested_on(run: HonestRun) -> TestedOn:
    """What the splits did, whatever their method is called; times before places."""
    data, plan = run.problem.data, _plan(run)
    if data.time is not None:
        return "among" if len(leaks_in_time(data, plan)) else "later"
    if data.block is None:
        return "below" if is_ordered(plan) and _falls(plan) else ""
    if data.places is None:  # labels are groups: a row may be beside one of another label
        return "" if n_cut(run) else "apart"
    near, n_tested = tested_by_neighbours(data, plan)
    if run.asked.testing.outer_method.respects_space:
        return "apart"
    return "near" if 2 * len(near) > n_tested else ""


def _falls(plan: Plan) -> bool:
    """Whether every tested row stands in the table below all that its model learned from."""
    return all(
        plan.train_rows(int(plan.fit[q]))[0][-1] < plan.test_rows(q)[0][0]
        for q in range(plan.n_questions)
    )


def _plan(run: HonestRun) -> Plan:
    return run.answered.told[0].plan
