"""List all training sets that a random draw may produce (subsets or bootstrap samples), if few.

The expected loss of row i is then a weighted mean over all draws that do not contain i; the weight
is the number of ways in which the draw can occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.mentions import Sentence
from truerisk.data.data import Data
from truerisk.losses.loss import RowLoss
from truerisk.plan.answers import Answers, Failure
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.laws import Law, Laws, law_of
from truerisk.plan.plan import Plan

MOST_FITS = 20_000
INSTEAD = {
    "subsets": f"use {mention('cv', 'monte-carlo')}, which draws some of them, 'loo' or a K-fold "
    "word",
    "bootstraps": "use fewer rows, or nearest neighbours, which have a closed form",
}


def law_refusal(plan: Plan, request: Request) -> str | None:
    """Return why no engine can answer a plan with randomly drawn training sets, or None."""
    laws = Laws.from_holder(plan)
    if laws is None or len(laws.fit) < plan.n_fits:
        return "only some of the train sets are drawn at random."
    if request.response != "loss" or not isinstance(request.loss, RowLoss):
        return "train sets drawn at random are answered with expected losses of single rows."
    if plan.blocks.counts is not None and (plan.train.base != ALL).any():
        return "the rows that train sets are drawn from have copies."
    for fit in range(plan.n_fits):
        law, n = law_of(plan, fit), len(plan.train_rows(fit)[0])
        if law is not None and law.kind == "subsets" and law.size >= n:
            return f"{law.size} of {n} rows leave none to ask about."
    return None


def too_many(plan: Plan, request: Request) -> str | None:
    """Return why the training sets cannot be listed, or None."""
    laws = Laws.from_holder(plan)
    if laws is None:
        return None
    reason = law_refusal(plan, request)
    if reason is not None:
        return reason
    total, worst = 0, (0, "")
    for fit, law in laws:
        n = len(plan.train_rows(fit)[0])
        number = _number(law, n)
        total += number
        worst = max(worst, (number, f"the {law.kind} of {law.size} of {n} rows"))
        kind = law.kind
    if total <= MOST_FITS:
        return None
    shown = f"{total:,}" if total < 10**15 else f"10^{len(str(total)) - 1}"
    return Sentence(
        f"{worst[1]} are {shown} fits for each candidate, more than {MOST_FITS:,}; {INSTEAD[kind]}."
    )


def drawn_sets(law: Law, rows: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Yield each distinct training set, with the number of ways in which it can be drawn."""
    if law.kind == "subsets":
        yield from ((np.array(some), 1.0) for some in combinations(rows, law.size))
        return
    ways = factorial(law.size)
    for some in combinations_with_replacement(rows, law.size):
        times = np.unique(some, return_counts=True)[1]
        yield np.array(some), float(ways // prod(factorial(int(t)) for t in times))


def enumerated(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
) -> Answers:
    """Compute expected losses from the engine's answers for every possible training set."""
    reason = too_many(plan, request)
    if reason is not None:
        raise Refusal(reason)
    loss = request.loss
    assert isinstance(loss, RowLoss)
    listed, question, weight = _listed(plan)
    only = None if run.only is None else run.only[plan.fit[question[_first_of_fits(listed)]]]
    plain = Request(loss.response, getattr(loss, "scorer", None))
    answers = engine.run(family, data, listed, plain, replace(run, only=only))
    values, answered = _expected(answers, data, loss, plan, question, weight)
    law_fit = plan.fit[question]
    spent = [
        _per_fit(s, listed, law_fit, plan.n_fits)
        for s in (answers.fit_seconds, answers.answer_seconds)
    ]
    failures = tuple(
        Failure(int(law_fit[np.flatnonzero(listed.fit == f.fit)[0]]), f.candidate, f.sentence)
        for f in answers.failures
    )
    return Answers(
        plan=plan,
        response="loss",
        values=values,
        answered=answered,
        engine=engine.name,
        fit_seconds=spent[0],
        answer_seconds=spent[1],
        failures=failures,
        n_fits=answers.n_fits,
    )


def _number(law: Law, n: int) -> int:
    return comb(n, law.size) if law.kind == "subsets" else comb(n + law.size - 1, law.size)


def _listed(plan: Plan) -> tuple[Plan, np.ndarray, np.ndarray]:
    """Return a plan with one question per draw and original question, with number and weight."""
    builder = PlanBuilder(plan.n_rows)
    question: list[int] = []
    weight: list[float] = []
    order, starts = plan.questions_of
    for fit, law in Laws.from_holder(plan) or ():
        tested = [(int(q), plan.test_rows(int(q))[0]) for q in order[starts[fit] : starts[fit + 1]]]
        blocks = [builder.block(rows) for _, rows in tested]
        for drawn, times in drawn_sets(law, plan.train_rows(fit)[0]):
            seen = builder.block(drawn)
            for (q, rows), block in zip(tested, blocks, strict=True):
                if not np.isin(rows, drawn).all():
                    part, place = plan.parts[int(plan.part[q])], len(question)
                    builder.ask((seen, ()), (block, (seen,)), part=part, repeat=fit, fold=place)
                    question.append(q)
                    weight.append(times)
    return builder.build(), np.array(question), np.array(weight)


def _first_of_fits(listed: Plan) -> np.ndarray:
    return np.unique(listed.fit, return_index=True)[1]


def _expected(
    answers: Answers,
    data: Data,
    loss: RowLoss,
    plan: Plan,
    question: np.ndarray,
    weight: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean losses by (question, row), and which questions are answered."""
    listed = answers.plan
    rows, _ = listed.positions
    answered_by_draw = np.repeat(answers.answered, listed.test_sizes, axis=1)
    losses = loss.of_rows(
        data, rows, np.where(_as_wide(answered_by_draw, answers.values), answers.values, 0)
    )
    place = np.full((plan.n_questions, plan.n_rows), -1)
    requested = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    place[requested, plan.positions[0]] = np.arange(len(requested))
    at = place[np.repeat(question, listed.test_sizes), rows]
    weights = np.repeat(weight, listed.test_sizes)
    total = np.bincount(at, weights, minlength=len(requested))
    sums = np.stack([np.bincount(at, weights * one, minlength=len(requested)) for one in losses])
    answered = np.ones((len(losses), plan.n_questions), dtype=bool)
    for candidate, fine in enumerate(answers.answered):
        answered[candidate, question[~fine]] = False
    values = np.where(np.repeat(answered, plan.test_sizes, axis=1), sums / total, np.nan)
    return values, answered


def _as_wide(answered: np.ndarray, values: np.ndarray) -> np.ndarray:
    return answered.reshape(answered.shape + (1,) * (values.ndim - answered.ndim))


def _per_fit(seconds: np.ndarray, listed: Plan, law_fit: np.ndarray, n_fits: int) -> np.ndarray:
    """Return the seconds of the listed fits, summed for each fit of the original plan."""
    of_fit = law_fit[_first_of_fits(listed)]
    return np.stack([np.bincount(of_fit, row, minlength=n_fits) for row in seconds])
