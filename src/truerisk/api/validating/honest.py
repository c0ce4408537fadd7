"""The answers about held-out rows: those that a fitted search keeps, or one honest run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from truerisk.api.road.compute import compute, curve_of, procedure_of
from truerisk.api.road.problem import Problem
from truerisk.api.road.scorecard import scores_of
from truerisk.api.search import HonestSearchCV
from truerisk.api.searching.tuning import of_tuning
from truerisk.api.validating.asked import Asked
from truerisk.core.answered_rows import AnsweredRows
from truerisk.core.answers import Answers, Response
from truerisk.core.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.results import RiskEstimate
from truerisk.engines.settings import response_refusal
from truerisk.methods.nested import Pairs
from truerisk.methods.parts.procedure import by_fit

__all__ = ["HonestRun", "asking_besides", "honest_run", "richest", "richest_request"]


@dataclass(frozen=True, eq=False)
class HonestRun:
    """A procedure that was tested on rows that took no part in tuning or fitting.

    `answered` are the answers of the winners, `shaken` those to the same rows by models that lack a
    further fold (None where they were not kept). `winners` is who was tested in every question of
    the plan, `best` the setting that is fitted on all rows.
    """

    asked: Asked
    risk: RiskEstimate
    answered: AnsweredRows
    winners: np.ndarray
    best: int
    shaken: Answers | None = None
    n_made: int = 0

    @property
    def problem(self) -> Problem:
        """What was asked for on which data."""
        return self.asked.problem

    @property
    def told(self) -> dict[Response, Answers]:
        """The answers of the winners, by what they were asked."""
        return {one.response: one for one in self.answered.told}

    @property
    def moved(self) -> dict[Response, Answers]:
        """The answers by models that lack a further fold, in the same way."""
        if self.shaken is None:
            return {}
        return {one.response: one for one in (*self.shaken.also, self.shaken)}

    def with_moved(self, answers: Answers) -> HonestRun:
        """With answers by models that lack a further fold, which were asked for again."""
        if self.shaken is None or answers.response in self.moved:
            return replace(self, shaken=self.shaken or answers)
        also = (*self.shaken.also, answers)
        return replace(self, shaken=replace(self.shaken, also=also))

    def with_answers(self, answers: Answers) -> HonestRun:
        """With further answers of the same models to the same questions."""
        told = tuple(one for one in self.answered.told if one.response != answers.response)
        answered = replace(self.answered, told=(answers, *told))
        return replace(self, answered=answered, n_made=self.n_made + answers.n_fits)


def honest_run(asked: Asked) -> HonestRun:
    """From the search that was tested already where it keeps what is needed, else one run."""
    wanted = richest_request(asked.problem)
    if asked.fitted is not None:
        found = _of_search(asked, asked.fitted)
        if found is not None:
            return found if wanted is None else _with(found, wanted)
    return _tested(asked, wanted)


def richest_request(problem: Problem) -> Request | None:
    """The richest answer that the learner gives; None where labels are all there is."""
    if problem.data.task == "regression":
        return Request("value")
    responses: tuple[Response, ...] = ("probability", "score")
    for response in responses:
        request = Request(response)
        if response_refusal(problem.family, problem.data, request) is None:
            return request
    return None


LOSSES: Mapping[str, str] = {"probability": "brier", "score": "auc", "value": "squared"}


def _tested(asked: Asked, wanted: Request | None) -> HonestRun:
    """One honest run, in which the models are asked the richest answers besides."""
    problem = asked.problem if wanted is None else asking_besides(asked.problem, wanted)
    told = compute(replace(problem, calibrated="all"), asked.testing)
    risk, winners = procedure_of(told), told.evaluation.winners
    if risk is None or risk.value is None or winners is None:
        raise Refusal("a fit failed in an outer split, so some rows have no answer.")
    answered = risk.answered
    if answered is None:
        raise Refusal(f"'{asked.testing.word}' keeps no answers about single rows.")
    if len(problem.family) == 1:
        best = 0
    elif isinstance(asked.testing, Pairs):
        best = curve_of(told).best
    else:
        best = curve_of(compute(of_tuning(problem, asked.select_by), asked.select_by)).best
    return HonestRun(
        asked=asked,
        risk=risk,
        answered=answered,
        winners=winners.candidate,
        best=best,
        shaken=told.evaluation.shaken,
        n_made=told.n_made,
    )


def asking_besides(problem: Problem, wanted: Request) -> Problem:
    """The problem with a score whose answers are those wanted, unless one of its own has them."""
    if wanted.response in {loss.response for loss in problem.losses}:
        return problem
    more = scores_of(LOSSES[wanted.response], problem.data)
    return replace(problem, scores={**problem.scores, **more})


def richest(answers: Answers, wanted: Request | None) -> Answers:
    """Of what was asked and asked besides, what was wanted."""
    response = answers.response if wanted is None else wanted.response
    return next(one for one in (answers, *answers.also) if one.response == response)


def _of_search(asked: Asked, search: HonestSearchCV) -> HonestRun | None:
    """What a fitted search keeps; None where it does not say who was tested in every question."""
    risk = search.risk_
    if risk.answered is None or risk.value is None:
        return None
    plan = risk.answered.told[0].plan
    winners = np.array([split.best_index for split in search.outer_])
    if len(winners) != plan.n_questions:
        return None
    return HonestRun(asked, risk, risk.answered, winners, search.best_index_)


def _with(found: HonestRun, wanted: Request) -> HonestRun:
    """With the answers that are wanted: where they were not kept, the winners are fitted again."""
    answered = found.answered
    if wanted.response in {one.response for one in answered.told}:
        return found
    problem, plan = found.problem, answered.told[0].plan
    passes = found.asked.testing.testing_pass(len(problem.family))
    asking = problem.asking(passes=passes)
    return found.with_answers(asking.answers(plan, wanted, by_fit(plan, found.winners)))
