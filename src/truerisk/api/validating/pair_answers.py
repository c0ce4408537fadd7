"""Answers about held-out rows by models that lack a further fold: those of pairs of folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.api.validating.honest import HonestRun
from truerisk.core.answers import Answers, Response
from truerisk.core.contracts import Request, Streams
from truerisk.core.errors import Refusal
from truerisk.core.plan.plan import Plan
from truerisk.methods.nested import Pairs
from truerisk.methods.parts.procedure import by_fit

__all__ = ["pair_answers"]

NO_PAIRS = (
    "no models were fitted without a further fold, by which predictions move: use a search with "
    "outer='pairs', or a model without a search inside."
)


def pair_answers(run: HonestRun, response: Response) -> Answers:
    """The answers that were kept; else the winners' fits without a further fold, made again."""
    if response in run.moved:
        return run.moved[response]
    testing = run.testing
    if not isinstance(testing, Pairs):
        raise Refusal(NO_PAIRS)
    plan = testing.plan(run.problem.data, Streams(run.problem.seed))
    inner = plan.only(plan.questions("inner"))
    # A fit without folds i and j answers for the winners of both, who may differ: of each pair
    # of folds the one that stands first asks in one pass, the other one in the next.
    passes = [np.flatnonzero(inner.unit < inner.fold), np.flatnonzero(inner.unit > inner.fold)]
    return _beside(
        inner,
        [(questions, _answered(run, inner.only(questions), response)) for questions in passes],
    )


def _answered(run: HonestRun, plan: Plan, response: Response) -> Answers:
    asking = run.problem.asking(passes=1)
    answers = asking.answers(plan, Request(response), by_fit(plan, run.winners[plan.fold]))
    if not answers.answered.all():
        raise Refusal("a fit without a further fold failed, so some rows have no such answer.")
    return answers


def _beside(plan: Plan, parts: list[tuple[np.ndarray, Answers]]) -> Answers:
    """The answers to all questions of a plan from those to parts of them."""
    first = parts[0][1]
    shape = (1, int(plan.test_offsets[-1]), *first.values.shape[2:])
    values = np.empty(shape, dtype=first.values.dtype)
    for questions, told in parts:
        for place, q in enumerate(questions.tolist()):
            values[:, plan.test_offsets[q] : plan.test_offsets[q + 1]] = told.of(place)
    answered = np.ones((1, plan.n_questions), dtype=bool)
    return replace(first, plan=plan, values=values, answered=answered)
