"""The answers about held-out rows: those that a fitted search keeps, or one honest run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.search import HonestSearchCV
from truerisk.api.searching.search_problem import run_of
from truerisk.core.answered_rows import AnsweredRows
from truerisk.core.answers import Answers, Response
from truerisk.core.contracts import Request, Streams
from truerisk.core.errors import Refusal
from truerisk.core.plan.plan import Plan
from truerisk.core.results import RiskEstimate
from truerisk.methods.nested import Pairs
from truerisk.methods.parts.procedure import Procedure, by_fit
from truerisk.run.problem import Problem, scores_of
from truerisk.run.run import Run, curve_of

__all__ = [
    "HonestRun",
    "asking_besides",
    "honest_run",
    "pair_answers",
    "richest",
    "run_to_validate",
]


@dataclass(frozen=True, eq=False)
class HonestRun:
    """A procedure that was tested on rows that took no part in tuning or fitting.

    `answered` are the answers of the winners, `shaken` those to the same rows by models that lack a
    further fold (None where they were not kept). `winners` is who was tested in every question of
    the plan, `best` the setting that is fitted on all rows, `fitted` the search that was tested.
    """

    asked: Run
    risk: RiskEstimate
    answered: AnsweredRows
    winners: np.ndarray
    best: int
    shaken: Answers | None = None
    n_made: int = 0
    fitted: HonestSearchCV | None = None

    @property
    def problem(self) -> Problem:
        """What was asked for on which data."""
        return self.asked.problem

    @property
    def testing(self) -> Procedure:
        """The method that tested the procedure."""
        assert isinstance(self.asked.testing, Procedure)  # a search without one is refused
        return self.asked.testing

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


def run_to_validate(
    given: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], seed: Any, **order: Any
) -> Run:
    """A search with its own words; a model by pairs of folds; one that tunes inside by folds.

    `order` are times and places of the rows. Of a search that was fitted already, on these very
    rows, it is what was tested.
    """
    ours = isinstance(given, HonestSearchCV)
    if ours and given.outer is None:
        raise Refusal(
            "outer=None leaves out the answers about held-out rows, which a validation rests on: "
            "use outer='pairs'."
        )
    run = run_of(given, X, y, groups, params, random_state=seed, **order)
    if not ours or not hasattr(given, "risk_"):
        return run
    if given.risk_.data_fingerprint != run.problem.data.fingerprint:
        raise Refusal(
            "the search was fitted on other rows than these X and y (or with other groups, "
            "weights, times or places): give what it was fitted on, or a search that is not "
            "fitted. Rows that took no part in it are answered by search.predict_proba."
        )
    if given.curve_.candidates != run.problem.family.candidates:  # a time limit left some out
        family = replace(run.problem.family, candidates=given.curve_.candidates)
        return replace(run, problem=replace(run.problem, family=family))
    return run


def honest_run(asked: Run, given: Any) -> HonestRun:
    """From the search that was tested already where it keeps what is needed, else one run."""
    wanted = asked.problem.richest
    if not isinstance(given, HonestSearchCV) or not hasattr(given, "risk_"):
        return _tested(asked, wanted)
    found = _of_search(asked, given)
    if found is None:
        return replace(_tested(asked, wanted), fitted=given)
    return found if wanted is None else _with(found, wanted)


LOSSES: Mapping[str, str] = {"probability": "brier", "score": "auc", "value": "squared"}


def _tested(asked: Run, wanted: Request | None) -> HonestRun:
    """One honest run, in which the models are asked the richest answers besides."""
    problem = asked.problem if wanted is None else asking_besides(asked.problem, wanted)
    run = replace(asked, problem=problem).test()
    risk, told = run.risk, run.honest
    if risk.value is None or told.evaluation.winners is None:
        raise Refusal("a fit failed in an outer split, so some rows have no answer.")
    answered = risk.answered
    if answered is None:
        raise Refusal(f"'{told.method.word}' keeps no answers about single rows.")
    if len(problem.family) == 1:
        best = 0
    elif isinstance(asked.testing, Pairs):
        best = curve_of(told).best
    else:
        best = run.select().curve.best
    return HonestRun(
        asked=asked,
        risk=risk,
        answered=answered,
        winners=told.evaluation.winners.candidate,
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


def _of_search(asked: Run, search: HonestSearchCV) -> HonestRun | None:
    """What a fitted search keeps; None where it does not say who was tested in every question."""
    risk = search.risk_
    if risk.answered is None or risk.value is None:
        return None
    plan = risk.answered.told[0].plan
    winners = np.array([split.best_index for split in search.outer_])
    if len(winners) != plan.n_questions:
        return None
    return HonestRun(asked, risk, risk.answered, winners, search.best_index_, fitted=search)


def _with(found: HonestRun, wanted: Request) -> HonestRun:
    """With the answers that are wanted: where they were not kept, the winners are fitted again."""
    answered = found.answered
    if wanted.response in {one.response for one in answered.told}:
        return found
    plan = answered.told[0].plan
    asking = found.asked.asking_winners()
    return found.with_answers(asking.answers(plan, wanted, by_fit(plan, found.winners)))


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
