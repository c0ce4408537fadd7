"""What methods that tune inside share: choosing per outer split, and testing the winners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Rule, Terms
from truerisk.core.evaluation import (
    Evaluation,
    OuterSplit,
    Tested,
    Winners,
    ranks_of,
    std_errors_of,
    values_of,
)
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["by_fit", "by_rule", "choose", "inner_risks", "tuned", "winners_of"]


def inner_risks(
    inner: Method, answers: Answers, data: Data, loss: Loss, terms: Terms
) -> Sequence[Sequence[Tested]]:
    """For every outer split, one estimate per candidate from its inner questions."""
    quick = replace(terms, with_errors=terms.rule.needs_std_errors, interval=None)
    return inner.reduce_units(answers, data, loss, quick)


def choose(tested: Sequence[Tested], terms: Terms) -> int:
    """The rule's candidate; a single one is not chosen, so it may have failed."""
    if len(tested) == 1:
        return 0
    return by_rule(tested, terms.rule)


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


def winners_of(chosen: np.ndarray, inner: Sequence[Sequence[Tested]]) -> Winners:
    """The chosen candidate of every question with the inner risk that it was chosen by."""
    risks = [inner[q][int(c)].value if inner else np.nan for q, c in enumerate(chosen)]
    return Winners(chosen, np.array(risks), compared=bool(inner))


def tuned(found: Evaluation, procedure: Tested, winners: Winners) -> Evaluation:
    """What was found, of a procedure that tested its `winners` in the questions of the answers."""
    assert found.answers is not None
    units = _units_of(found.answers.plan, winners, procedure)
    return replace(found, procedure=procedure, winners=winners, units=units)


def _units_of(plan: Plan, winners: Winners, procedure: Tested) -> tuple[OuterSplit, ...]:
    """The story of every outer split; a fit that is asked about its own rows is none."""
    assert procedure.split_risks is not None
    return tuple(
        OuterSplit(
            repeat=int(plan.repeat[q]),
            fold=int(plan.fold[q]),
            candidate=int(winners.candidate[q]),
            inner_risk=float(winners.inner_risk[q]),
            risk=float(procedure.split_risks[q]),
            n_train=int(plan.train_sizes[plan.fit[q]]),
            n_test=int(plan.test_sizes[q]),
        )
        for q in np.flatnonzero(~plan.own_rows)
    )
