"""List all training sets that random draws (subsets or bootstrap samples) can give, if few.

The expected loss of row i is a weighted mean over all draws that do not contain row i. The weight
of a draw is the number of ways in which it can occur.
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
from truerisk.plan.extras.laws import Laws, SampleDistribution, distribution_of_fit
from truerisk.plan.plan import Plan

MOST_FITS = 20_000
ALTERNATIVES = {
    "subsets": f"use {mention('cv', 'monte-carlo')}, which draws some of them, 'loo' or a K-fold "
    "word",
    "bootstraps": "use fewer rows, or nearest neighbours, which have a closed form",
}


def why_no_expected_losses(plan: Plan, request: Request) -> str | None:
    """Return why expected losses over randomly drawn training sets are not computed, or None."""
    laws = Laws.from_holder(plan)
    if laws is None or len(laws.fit) < plan.n_fits:
        return "only some of the train sets are drawn at random."
    if request.response != "loss" or not isinstance(request.loss, RowLoss):
        return "train sets drawn at random are answered with expected losses of single rows."
    if plan.blocks.counts is not None and (plan.train.base != ALL).any():
        return "the rows that train sets are drawn from have copies."
    for fit in range(plan.n_fits):
        law, n = distribution_of_fit(plan, fit), len(plan.train_rows(fit)[0])
        if law is not None and law.kind == "subsets" and law.size >= n:
            return f"{law.size} of {n} rows leave none to ask about."
    return None


def why_not_listed(plan: Plan, request: Request) -> str | None:
    """Return why the possible training sets cannot all be fitted (they are too many), or None."""
    laws = Laws.from_holder(plan)
    if laws is None:
        return None
    reason = why_no_expected_losses(plan, request)
    if reason is not None:
        return reason
    n_all_sets, largest = 0, (0, "")
    for fit, law in laws:
        n = len(plan.train_rows(fit)[0])
        n_sets = _n_sets(law, n)
        n_all_sets += n_sets
        largest = max(largest, (n_sets, f"the {law.kind} of {law.size} of {n} rows"))
        kind = law.kind
    if n_all_sets <= MOST_FITS:
        return None
    shown_total = f"{n_all_sets:,}" if n_all_sets < 10**15 else f"10^{len(str(n_all_sets)) - 1}"
    return Sentence(
        f"{largest[1]} are {shown_total} fits for each candidate, more than {MOST_FITS:,}; "
        f"{ALTERNATIVES[kind]}."
    )


def drawn_sets(law: SampleDistribution, rows: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Yield each distinct training set, with the number of ways in which it can be drawn."""
    if law.kind == "subsets":
        yield from ((np.array(drawn_rows), 1.0) for drawn_rows in combinations(rows, law.size))
        return
    n_orders = factorial(law.size)
    for drawn_rows in combinations_with_replacement(rows, law.size):
        multiplicities = np.unique(drawn_rows, return_counts=True)[1]
        yield (
            np.array(drawn_rows),
            float(
                n_orders // prod(factorial(int(multiplicity)) for multiplicity in multiplicities)
            ),
        )


def expected_losses_of_plan(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
) -> Answers:
    """Compute expected losses from the engine's predictions for every possible training set.

    Raise Refusal if there are too many training sets.
    """
    reason = why_not_listed(plan, request)
    if reason is not None:
        raise Refusal(reason)
    loss = request.loss
    assert isinstance(loss, RowLoss)
    listed_plan, original_question, ways = _plan_of_drawn_sets(plan)
    only = (
        None
        if run.only is None
        else run.only[plan.fit[original_question[_first_question_of_fits(listed_plan)]]]
    )
    plain = Request(loss.response, getattr(loss, "scorer", None))
    answers = engine.run(family, data, listed_plan, plain, replace(run, only=only))
    values, answered = _expected_losses(answers, data, loss, plan, original_question, ways)
    original_fit = plan.fit[original_question]
    seconds = [
        _seconds_per_fit(engine_seconds, listed_plan, original_fit, plan.n_fits)
        for engine_seconds in (answers.fit_seconds, answers.answer_seconds)
    ]
    failures = tuple(
        Failure(
            int(original_fit[np.flatnonzero(listed_plan.fit == failure.fit)[0]]),
            failure.candidate,
            failure.sentence,
        )
        for failure in answers.failures
    )
    return Answers(
        plan=plan,
        response="loss",
        values=values,
        answered=answered,
        engine=engine.name,
        fit_seconds=seconds[0],
        answer_seconds=seconds[1],
        failures=failures,
        n_fits=answers.n_fits,
    )


def _n_sets(law: SampleDistribution, n: int) -> int:
    return comb(n, law.size) if law.kind == "subsets" else comb(n + law.size - 1, law.size)


def _plan_of_drawn_sets(plan: Plan) -> tuple[Plan, np.ndarray, np.ndarray]:
    """Build a plan with one fit for each possible training set.

    Return it with two arrays, which hold for each of its test sets the number of the test set in
    the original plan, and the number of ways in which the training set can be drawn.
    """
    builder = PlanBuilder(plan.n_rows)
    original_question: list[int] = []
    ways: list[float] = []
    questions_by_fit, starts = plan.questions_of
    for fit, law in Laws.from_holder(plan) or ():
        tested_rows = [
            (int(question), plan.test_rows(int(question))[0])
            for question in questions_by_fit[starts[fit] : starts[fit + 1]]
        ]
        blocks = [builder.block(rows) for _, rows in tested_rows]
        for drawn_rows, n_ways in drawn_sets(law, plan.train_rows(fit)[0]):
            train_block = builder.block(drawn_rows)
            for (question, rows), block in zip(tested_rows, blocks, strict=True):
                if not np.isin(rows, drawn_rows).all():
                    part_name, number = plan.parts[int(plan.part[question])], len(original_question)
                    builder.ask(
                        (train_block, ()),
                        (block, (train_block,)),
                        part=part_name,
                        repeat=fit,
                        fold=number,
                    )
                    original_question.append(question)
                    ways.append(n_ways)
    return builder.build(), np.array(original_question), np.array(ways)


def _first_question_of_fits(listed: Plan) -> np.ndarray:
    return np.unique(listed.fit, return_index=True)[1]


def _expected_losses(
    answers: Answers,
    data: Data,
    loss: RowLoss,
    plan: Plan,
    original_question: np.ndarray,
    ways: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return each test row's weighted mean loss over the draws, by candidate.

    Also return a mask of the test sets, by candidate, for which no fit failed.
    """
    listed_plan = answers.plan
    rows, _ = listed_plan.positions
    answered_by_draw = np.repeat(answers.answered, listed_plan.test_sizes, axis=1)
    losses = loss.of_rows(
        data, rows, np.where(_with_value_axes(answered_by_draw, answers.values), answers.values, 0)
    )
    position_of = np.full((plan.n_questions, plan.n_rows), -1)
    question_of_position = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    position_of[question_of_position, plan.positions[0]] = np.arange(len(question_of_position))
    positions = position_of[np.repeat(original_question, listed_plan.test_sizes), rows]
    weights = np.repeat(ways, listed_plan.test_sizes)
    total_weights = np.bincount(positions, weights, minlength=len(question_of_position))
    sums = np.stack(
        [
            np.bincount(positions, weights * row_losses, minlength=len(question_of_position))
            for row_losses in losses
        ]
    )
    answered = np.ones((len(losses), plan.n_questions), dtype=bool)
    for candidate, is_answered in enumerate(answers.answered):
        answered[candidate, original_question[~is_answered]] = False
    values = np.where(np.repeat(answered, plan.test_sizes, axis=1), sums / total_weights, np.nan)
    return values, answered


def _with_value_axes(answered: np.ndarray, values: np.ndarray) -> np.ndarray:
    return answered.reshape(answered.shape + (1,) * (values.ndim - answered.ndim))


def _seconds_per_fit(
    seconds: np.ndarray, listed_plan: Plan, original_fit: np.ndarray, n_fits: int
) -> np.ndarray:
    """Sum the seconds of the fits on drawn training sets for each fit of the original plan."""
    original_fit_of = original_fit[_first_question_of_fits(listed_plan)]
    return np.stack(
        [
            np.bincount(original_fit_of, candidate_seconds, minlength=n_fits)
            for candidate_seconds in seconds
        ]
    )
