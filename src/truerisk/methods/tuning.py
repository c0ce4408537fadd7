"""What methods that tune inside share: choosing per outer split, and testing the winners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import (
    Method,
    Rule,
    Setting,
    Tested,
    Unit,
    ranks_of,
    std_errors_of,
    values_of,
)
from truerisk.core.data import Data
from truerisk.core.losses import Loss
from truerisk.core.plan import Plan

__all__ = ["asks_own_rows", "by_fit", "by_rule", "choose", "inner_risks", "units_of"]


def inner_risks(
    inner: Method, answers: Answers, data: Data, loss: Loss, setting: Setting
) -> Sequence[Sequence[Tested]]:
    """For every outer split, one estimate per candidate from its inner questions."""
    quick = replace(setting, with_errors=setting.rule.needs_std_errors, interval=None)
    return inner.reduce_units(answers, data, loss, quick)


def choose(tested: Sequence[Tested], setting: Setting) -> int:
    """The rule's candidate; a single one is not chosen, so it may have failed."""
    if len(tested) == 1:
        return 0
    return by_rule(tested, setting.rule)


def by_rule(tested: Sequence[Tested], rule: Rule) -> int:
    """The rule's candidate, by ranks where all candidates have one.

    A rule that needs standard errors compares values: ranks are on another scale.
    """
    if rule.needs_std_errors:
        return rule.choose(values_of(tested), std_errors_of(tested))
    ranks, none = ranks_of(tested), np.full(len(tested), np.nan)
    return rule.choose(values_of(tested) if ranks is None else ranks, none)


def by_fit(plan: Plan, chosen: np.ndarray) -> np.ndarray:
    """The chosen candidate of every fit of the outer plan, from that of every question."""
    only = np.zeros(plan.n_fits, dtype=np.int64)
    only[plan.fit] = chosen
    return only


def units_of(
    plan: Plan, chosen: np.ndarray, inner: Sequence[Sequence[Tested]], procedure: Tested
) -> tuple[Unit, ...]:
    """The story of every outer split; a fit that is asked about its own rows is none."""
    assert procedure.split_risks is not None
    return tuple(
        Unit(
            repeat=int(plan.repeat[q]),
            fold=int(plan.fold[q]),
            candidate=int(chosen[q]),
            inner_risk=inner[int(q)][int(chosen[q])].value if inner else float("nan"),
            risk=float(procedure.split_risks[q]),
            n_train=int(plan.train_sizes[plan.fit[q]]),
            n_test=int(plan.test_sizes[q]),
        )
        for q in np.flatnonzero(~asks_own_rows(plan))
    )


def asks_own_rows(plan: Plan) -> np.ndarray:
    """Which questions ask a fit about the very rows that it sees, each once."""
    own: np.ndarray = plan.test_sizes == plan.train_sizes[plan.fit]
    for q in np.flatnonzero(own):
        seen, times = plan.train_rows(int(plan.fit[q]))
        own[q] = times is None and np.array_equal(seen, plan.test_rows(int(q))[0])
    return own
