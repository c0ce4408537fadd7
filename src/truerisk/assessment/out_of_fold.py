"""Predictions of tuned learners for rows that took part in neither their tuning nor their fit."""

from __future__ import annotations

from operator import attrgetter

import numpy as np

from truerisk.contracts import FitStore
from truerisk.core.errors import FitFailed, NoEngine, Refusal
from truerisk.core.frozen import frozen
from truerisk.estimation.problem import Problem
from truerisk.estimation.run import Computed, is_in_time
from truerisk.methods.parts.procedure import by_fit
from truerisk.plan.answers import Answers, Response

NEITHER = "the model gives neither probabilities nor decision values."


@frozen(eq=False)
class OutOfFold:
    """One answer per row of `rows`, by the model of outer split `split` that did not see the row.

    `values` are class probabilities (a column per class) or decision values of the second class,
    as `response` says. Rows that were tested more often keep their first test. `ordered` rows were
    tested in the order of time, so that no interval is justified. `answers` are those to all
    questions of the outer splits, for which `n_fits` were made.
    """

    response: Response
    rows: np.ndarray
    split: np.ndarray
    values: np.ndarray
    answers: Answers
    ordered: bool = False
    n_fits: int = 0


def out_of_fold(
    problem: Problem, computed: Computed, fit_store: FitStore | None = None
) -> OutOfFold | str:
    """Fit each outer split's winner again and keep probabilities, or decision values.

    The models are those that were tested: same rows, same settings, same seeds. Answers of a model
    to rows that it saw, as bootstrap methods ask for besides, are left out. A sentence says why
    there are none.
    """
    tested, winners = computed.answers, computed.winners
    if problem.data.task != "classification":
        return "answers of a regression are numbers, and have no probabilities."
    if tested is None or winners is None or not tested.answered.all():
        return "a fit failed in an outer split, so some rows have no answer."
    plan = tested.plan
    if problem.richest is None:
        return NEITHER
    for risk in (tested, *tested.also):
        if risk.response == problem.richest.response:
            return _first(computed, risk)
    try:
        only = by_fit(plan, winners.candidate)
        answers = problem.asking_winners(fit_store).answers(plan, problem.richest, only)
    except NoEngine as refusal:  # no other engine answers in the place of the one that was named
        return str(refusal)
    except (FitFailed, Refusal):  # The fitted model cannot give such answers.
        return NEITHER
    if not (answers.answered.all() and np.isfinite(answers.values).all()):
        return NEITHER
    return _first(computed, answers, answers.n_fits)


def refits(problem: Problem) -> bool:
    """Return True if the winners are fitted again: no loss asked for what they can say."""
    if problem.data.task != "classification" or problem.richest is None:
        return False
    return problem.richest.response not in map(attrgetter("response"), problem.losses)


def _first(computed: Computed, answers: Answers, n_fits: int = 0) -> OutOfFold | str:
    """Return the first answer to every row by a model that did not see it."""
    plan, values = answers.plan, answers.values[0]
    seen = np.concatenate(list(map(plan.seen, range(plan.n_questions))))
    unseen = np.flatnonzero(~seen)
    distinct, first = np.unique(plan.positions[0][unseen], return_index=True)
    if not len(distinct):
        return "every row was tested by models that saw it."
    split = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    at = unseen[first]
    ordered = is_in_time(computed.problem.data, computed.method, answers)
    return OutOfFold(answers.response, distinct, split[at], values[at], answers, ordered, n_fits)
