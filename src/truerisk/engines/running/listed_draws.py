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

MAX_LISTED_FITS = 20_000
ALTERNATIVES = {
    "subsets": f"use {mention('cv', 'monte-carlo')}, which draws some of them, 'loo' or a K-fold "
    "word",
    "bootstraps": "use fewer rows, or nearest neighbours, which have a closed form",
}


def expected_losses_refusal(plan: Plan, request: Request) -> str | None:
    """Return why no expected losses over random training sets can be computed, or None."""
    draw_distributions = Laws.from_holder(plan)
    if draw_distributions is None or len(draw_distributions.fit) < plan.n_fits:
        return "only some of the train sets are drawn at random."
    if request.response != "loss" or not isinstance(request.loss, RowLoss):
        return "train sets drawn at random are answered with expected losses of single rows."
    if plan.blocks.counts is not None and (plan.train.base != ALL).any():
        return "the rows that train sets are drawn from have copies."
    for fit in range(plan.n_fits):
        distribution, n = distribution_of_fit(plan, fit), len(plan.train_rows(fit)[0])
        if distribution is not None and distribution.kind == "subsets" and distribution.size >= n:
            return f"{distribution.size} of {n} rows leave none to ask about."
    return None


def listed_draws_refusal(plan: Plan, request: Request) -> str | None:
    """Return why not every possible training set can be fitted, or None if each can.

    The usual reason is that there are too many.
    """
    draw_distributions = Laws.from_holder(plan)
    if draw_distributions is None:
        return None
    reason = expected_losses_refusal(plan, request)
    if reason is not None:
        return reason
    n_all_train_sets, largest_count_and_text = 0, (0, "")
    for fit, distribution in draw_distributions:
        n = len(plan.train_rows(fit)[0])
        n_train_sets = _count_train_sets(distribution, n)
        n_all_train_sets += n_train_sets
        largest_count_and_text = max(
            largest_count_and_text,
            (n_train_sets, f"the {distribution.kind} of {distribution.size} of {n} rows"),
        )
        draw_kind = distribution.kind
    if n_all_train_sets <= MAX_LISTED_FITS:
        return None
    formatted_total = (
        f"{n_all_train_sets:,}"
        if n_all_train_sets < 10**15
        else f"10^{len(str(n_all_train_sets)) - 1}"
    )
    return Sentence(
        f"{largest_count_and_text[1]} are {formatted_total} fits for each candidate, more than "
        f"{MAX_LISTED_FITS:,}; {ALTERNATIVES[draw_kind]}."
    )


def possible_train_sets(
    distribution: SampleDistribution, rows: np.ndarray
) -> Iterator[tuple[np.ndarray, float]]:
    """Yield each distinct training set, with the number of ways in which it can be drawn."""
    if distribution.kind == "subsets":
        yield from (
            (np.array(drawn_rows), 1.0) for drawn_rows in combinations(rows, distribution.size)
        )
        return
    n_orders = factorial(distribution.size)
    for drawn_rows in combinations_with_replacement(rows, distribution.size):
        multiplicities = np.unique(drawn_rows, return_counts=True)[1]
        yield (
            np.array(drawn_rows),
            float(
                n_orders // prod(factorial(int(multiplicity)) for multiplicity in multiplicities)
            ),
        )


def expected_losses_of_plan(
    engine: Engine,
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run_options: RunOptions,
) -> Answers:
    """Compute each row's expected loss over random training sets by fitting every possible one.

    Raise Refusal if there are too many training sets.
    """
    reason = listed_draws_refusal(plan, request)
    if reason is not None:
        raise Refusal(reason)
    loss = request.loss
    assert isinstance(loss, RowLoss)
    plan_of_draws, original_test_sets, draw_weights = _plan_of_drawn_sets(plan)
    requested_candidates = (
        None
        if run_options.candidate_by_fit is None
        else run_options.candidate_by_fit[
            plan.fit[original_test_sets[_first_test_set_of_each_fit(plan_of_draws)]]
        ]
    )
    prediction_request = Request(loss.response, getattr(loss, "scorer", None))
    predictions = engine.run(
        family,
        data,
        plan_of_draws,
        prediction_request,
        replace(run_options, candidate_by_fit=requested_candidates),
    )
    values, has_prediction = _expected_losses(
        predictions, data, loss, plan, original_test_sets, draw_weights
    )
    original_fits = plan.fit[original_test_sets]
    seconds = [
        _seconds_per_fit(seconds_of_draws, plan_of_draws, original_fits, plan.n_fits)
        for seconds_of_draws in (predictions.fit_seconds, predictions.answer_seconds)
    ]
    failures = tuple(
        Failure(
            int(original_fits[np.flatnonzero(plan_of_draws.fit == failure.fit)[0]]),
            failure.candidate,
            failure.message,
        )
        for failure in predictions.failures
    )
    return Answers(
        plan=plan,
        response="loss",
        values=values,
        answered=has_prediction,
        engine=engine.name,
        fit_seconds=seconds[0],
        answer_seconds=seconds[1],
        failures=failures,
        n_fits=predictions.n_fits,
    )


def _count_train_sets(distribution: SampleDistribution, n: int) -> int:
    return (
        comb(n, distribution.size)
        if distribution.kind == "subsets"
        else comb(n + distribution.size - 1, distribution.size)
    )


def _plan_of_drawn_sets(plan: Plan) -> tuple[Plan, np.ndarray, np.ndarray]:
    """Build a plan with one fit for each possible training set.

    Return it with two arrays, which hold for each of its test sets the number of the test set in
    the original plan, and the number of ways in which the training set can be drawn.
    """
    builder = PlanBuilder(plan.n_rows)
    original_test_sets: list[int] = []
    draw_weights: list[float] = []
    test_sets_by_fit, fit_offsets = plan.questions_of
    for fit, distribution in Laws.from_holder(plan) or ():
        test_sets_with_rows = [
            (int(test_set), plan.test_rows(int(test_set))[0])
            for test_set in test_sets_by_fit[fit_offsets[fit] : fit_offsets[fit + 1]]
        ]
        blocks = [builder.block(rows) for _, rows in test_sets_with_rows]
        for drawn_rows, draw_weight in possible_train_sets(distribution, plan.train_rows(fit)[0]):
            train_block = builder.block(drawn_rows)
            for (test_set, rows), block in zip(test_sets_with_rows, blocks, strict=True):
                if not np.isin(rows, drawn_rows).all():
                    part_name, test_set_number = (
                        plan.parts[int(plan.part[test_set])],
                        len(original_test_sets),
                    )
                    builder.ask(
                        (train_block, ()),
                        (block, (train_block,)),
                        part=part_name,
                        repeat=fit,
                        fold=test_set_number,
                    )
                    original_test_sets.append(test_set)
                    draw_weights.append(draw_weight)
    return builder.build(), np.array(original_test_sets), np.array(draw_weights)


def _first_test_set_of_each_fit(plan_of_draws: Plan) -> np.ndarray:
    return np.unique(plan_of_draws.fit, return_index=True)[1]


def _expected_losses(
    predictions: Answers,
    data: Data,
    loss: RowLoss,
    plan: Plan,
    original_test_sets: np.ndarray,
    draw_weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return each candidate's expected loss for each test row.

    It is the mean loss over the possible training sets, weighted by their numbers of draws. Also
    return a mask (candidate, test set) that is True if no fit failed.
    """
    plan_of_draws = predictions.plan
    rows, _ = plan_of_draws.positions
    has_row_prediction = np.repeat(predictions.answered, plan_of_draws.test_sizes, axis=1)
    losses = loss.of_rows(
        data,
        rows,
        np.where(_add_value_axes(has_row_prediction, predictions.values), predictions.values, 0),
    )
    index_by_set_and_row = np.full((plan.n_questions, plan.n_rows), -1)
    test_set_of_prediction = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    index_by_set_and_row[test_set_of_prediction, plan.positions[0]] = np.arange(
        len(test_set_of_prediction)
    )
    prediction_indices = index_by_set_and_row[
        np.repeat(original_test_sets, plan_of_draws.test_sizes), rows
    ]
    weights = np.repeat(draw_weights, plan_of_draws.test_sizes)
    total_weights = np.bincount(prediction_indices, weights, minlength=len(test_set_of_prediction))
    loss_sums = np.stack(
        [
            np.bincount(
                prediction_indices, weights * row_losses, minlength=len(test_set_of_prediction)
            )
            for row_losses in losses
        ]
    )
    has_prediction = np.ones((len(losses), plan.n_questions), dtype=bool)
    for candidate, has_prediction_of_draw in enumerate(predictions.answered):
        has_prediction[candidate, original_test_sets[~has_prediction_of_draw]] = False
    values = np.where(
        np.repeat(has_prediction, plan.test_sizes, axis=1), loss_sums / total_weights, np.nan
    )
    return values, has_prediction


def _add_value_axes(has_prediction: np.ndarray, values: np.ndarray) -> np.ndarray:
    return has_prediction.reshape(has_prediction.shape + (1,) * (values.ndim - has_prediction.ndim))


def _seconds_per_fit(
    seconds: np.ndarray, plan_of_draws: Plan, original_fits: np.ndarray, n_fits: int
) -> np.ndarray:
    """Return the seconds of each fit of the original plan, summed over its training sets."""
    original_fit_by_draw = original_fits[_first_test_set_of_each_fit(plan_of_draws)]
    return np.stack(
        [
            np.bincount(original_fit_by_draw, candidate_seconds, minlength=n_fits)
            for candidate_seconds in seconds
        ]
    )
