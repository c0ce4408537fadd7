"""Plans of drawn samples: what each fit sees, how often, and what it is asked."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.nesting import nest
from truerisk.core.plan.samples import plan_of_samples, times_drawn

TIMES = np.array([[2, 0, 1, 0], [1, 1, 1, 1], [0, 4, 0, 0], [2, 0, 1, 0]])


@pytest.mark.parametrize("apparent", [False, True])
@pytest.mark.parametrize("missed", [False, True])
def test_same_as_question_by_question(missed, apparent) -> None:
    """Every fit, count and question is that of the builder; equal samples are one fit."""
    builder = PlanBuilder(4)
    for b, times in enumerate(TIMES):
        out = np.flatnonzero(times == 0)
        if missed and not len(out):
            continue
        sample = builder.block(np.repeat(np.arange(4), times))
        test = (builder.block(out), ()) if missed else (-1, ())
        builder.ask((sample, ()), test, repeat=b)
    if apparent:
        builder.ask((-1, ()), (-1, ()), part="apparent")
    wanted, found = builder.build(), plan_of_samples(TIMES, missed=missed, apparent=apparent)
    assert (found.n_fits, found.parts) == (wanted.n_fits, wanted.parts)
    for q in range(wanted.n_questions):
        for ask in ("test_rows", "train_rows"):
            pairs = [
                getattr(plan, ask)(q if ask == "test_rows" else int(plan.fit[q]))
                for plan in (wanted, found)
            ]
            assert pairs[0][0].tolist() == pairs[1][0].tolist()
            counts = [None if c is None else c.tolist() for _, c in pairs]
            assert counts[0] == counts[1]
    for name in ("part", "repeat", "fold", "unit", "train_sizes", "test_sizes"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()
    assert found.positions[0].tolist() == wanted.positions[0].tolist()


def test_times_come_back() -> None:
    """The counts a plan was made of are read back, also where samples lose rows to inner folds."""
    plan = plan_of_samples(TIMES, missed=False, apparent=False)
    assert times_drawn(plan, np.arange(4)).tolist() == TIMES.tolist()
    inner = PlanBuilder(2)
    fold = inner.block(np.array([0]))
    inner.ask((-1, (fold,)), (fold, ()))
    outer = plan.only(np.array([0]))
    both = nest(outer, [inner.build()])
    assert times_drawn(both, both.questions("inner")).tolist() == [[0, 0, 1, 0]]
