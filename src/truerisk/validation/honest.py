"""One honest run: its predictions for held-out rows, and their scores and losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Request, Streams, Terms
from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.estimation.problem import Problem, Score
from truerisk.estimation.run import compute, curve_of, procedure_of, tuning_problem
from truerisk.intervals.choice import choose
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.loss_words import as_loss
from truerisk.losses.row_losses import registry
from truerisk.methods.external import External
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import row_losses
from truerisk.methods.parts.procedure import Procedure, by_fit
from truerisk.plan.answers import Answers, Response, row_message
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import AnsweredRows, LeftTwoOut
from truerisk.results.results import RiskEstimate
from truerisk.validation.measures import Measured
from truerisk.validation.outcomes import Event


@frozen(eq=False)
class HonestRun:
    """A procedure that was tested on rows that were used neither for tuning nor for fitting.

    `problem` holds the request and the data, and the methods that tuned and tested. `answered` are
    the predictions of the winners. `pair_answers` are those for the same rows by models that lack a
    further fold (None if they were not kept). `winners` is the candidate tested in each question of
    the plan, and `best` the setting that is fitted on all rows; `model` is that fit, if it exists.
    """

    problem: Problem
    risk: RiskEstimate
    answered: AnsweredRows
    winners: np.ndarray
    best: int
    pair_answers: Answers | None = None
    model: Any = None

    @classmethod
    def from_problem(cls, untested: Problem) -> HonestRun:
        """Test the procedure; also request the most informative predictions of its models."""
        richest = untested.richest
        problem = untested if richest is None else with_extra_answers(untested, richest)
        honest = compute(replace(problem, calibrated=True), problem.testing)
        risk = procedure_of(honest)
        assert risk is not None  # The method tests a procedure, so that there is a risk.
        if risk.value is None or honest.winners is None:
            raise Refusal("a fit failed in an outer split, so some rows have no answer.")
        answered = risk.answered
        if answered is None:
            raise Refusal(f"'{honest.method.name}' keeps no answers about single rows.")
        if len(problem.family) == 1:
            best = 0
        elif isinstance(untested.testing, Pairs):
            best = curve_of(honest).best
        else:
            best = curve_of(compute(tuning_problem(problem), problem.select_by)).best
        return cls(
            problem=untested,
            risk=risk,
            answered=answered,
            winners=honest.winners.candidate,
            best=best,
            pair_answers=honest.left_two_out,
        )

    @property
    def testing(self) -> Procedure:
        """The method that tested the procedure."""
        # A search without such a method was refused.
        assert isinstance(self.problem.testing, Procedure)
        return self.problem.testing

    @property
    def finished(self) -> bool:
        """True if a finished model was tested, and nothing was fitted to these rows."""
        return isinstance(self.problem.testing, External)

    @property
    def answers(self) -> dict[Response, Answers]:
        """The predictions of the winners, by their kind."""
        return {a.response: a for a in self.answered.answers}

    @property
    def pairs_by_response(self) -> dict[Response, Answers]:
        """The predictions by models that lack a further fold, by their kind."""
        if self.pair_answers is None:
            return {}
        return {a.response: a for a in (*self.pair_answers.also, self.pair_answers)}

    def with_richest(self) -> HonestRun:
        """Return the run with probabilities if possible; refit the winners if they are missing."""
        richest, data = self.problem.richest, self.problem.data
        retained = None if richest is None else self.answers.get(richest.response)
        if richest is None:
            return self
        if retained is not None and retained.values.shape[2:] == row_message(
            retained.response, data
        ):
            return self  # Otherwise the predictions are for other horizons.
        plan = self.answered.answers[0].plan
        asking = self.problem.asking_winners()
        return self.with_answers(asking.answers(plan, richest, by_fit(plan, self.winners)))

    def with_answers(self, answers: Answers) -> HonestRun:
        """Return the run with further predictions of the same models for the same questions."""
        others = tuple(a for a in self.answered.answers if a.response != answers.response)
        horizons = self.problem.data.horizons
        answered = replace(self.answered, answers=(answers, *others), horizons=horizons)
        return replace(self, answered=answered)

    def with_pair_answers(self, answers: Answers) -> HonestRun:
        """Return the run with predictions by models that lack a further fold."""
        if self.pair_answers is None or answers.response in self.pairs_by_response:
            return replace(self, pair_answers=self.pair_answers or answers)
        also = (*self.pair_answers.also, answers)
        return replace(self, pair_answers=replace(self.pair_answers, also=also))


LOSSES: Mapping[str, str] = {"probability": "brier", "score": "auc", "value": "squared"}


def with_extra_answers(problem: Problem, request: Request) -> Problem:
    """Return the problem with an added score that needs the requested kind of predictions.

    Nothing is added if one of its scores already needs them.
    """
    if request.response in {loss.response for loss in problem.losses}:
        return problem
    in_time = [registry.load("brier-at")(horizon) for horizon in problem.data.horizons[:1]]
    loss = as_loss((*in_time, LOSSES[request.response])[0], problem.data)
    return replace(problem, scores={**problem.scores, loss.name: Score(loss)})


NO_PAIRS = (
    "no models were fitted without a further fold, which would show how predictions move: use a "
    f"search with {mention('outer', 'pairs')}, or a model without a search inside."
)


def pair_answers(run: HonestRun, response: Response) -> Answers:
    """Return the stored predictions without a further fold, or fit the winners again."""
    if response in run.pairs_by_response:
        return run.pairs_by_response[response]
    testing = run.testing
    if not isinstance(testing, Pairs):
        raise Refusal(NO_PAIRS)
    plan = testing.plan(run.problem.data, Streams(run.problem.seed))
    inner = plan.part_named("inner")
    # A fit without folds i and j predicts for the winners of both, who may differ. The first one of
    # each pair of folds is served in one pass, the other one in the next.
    passes = [np.flatnonzero(inner.unit < inner.fold), np.flatnonzero(inner.unit > inner.fold)]
    return _joined(
        inner,
        [(questions, _answered(run, inner.select(questions), response)) for questions in passes],
    )


def _answered(run: HonestRun, plan: Plan, response: Response) -> Answers:
    asking = run.problem.asking(passes=1)
    answers = asking.answers(plan, Request(response), by_fit(plan, run.winners[plan.fold]))
    if not answers.answered.all():
        raise Refusal("a fit without a further fold failed, so some rows have no such answer.")
    return answers


def _joined(plan: Plan, parts: list[tuple[np.ndarray, Answers]]) -> Answers:
    """Join the predictions for parts of a plan to those for all its questions."""
    first = parts[0][1]
    shape = (1, int(plan.test_offsets[-1]), *first.values.shape[2:])
    values = np.empty(shape, dtype=first.values.dtype)
    for questions, part in parts:
        for place, q in enumerate(questions.tolist()):
            values[:, plan.test_offsets[q] : plan.test_offsets[q + 1]] = part.for_question(place)
    answered = np.ones((1, plan.n_questions), dtype=bool)
    return replace(first, plan=plan, values=values, answered=answered)


# Average precision is not among them: in fields with long-range correlation its intervals cover too
# rarely, since it depends on the share of the event, which differs from field to field.
CALIBRATED = ("auc",)  # scores of whole test sets that have intervals for dependent rows
UNCALIBRATED = "it has no interval for rows that may depend on each other."


def score_of(run: HonestRun, requested: str | Loss, event: Event | None) -> Measured:
    """Return a score of the held-out predictions, averaged as in the search.

    It is that of the search itself if it was requested there, or else computed from the
    predictions, without a fit. If rows may depend on each other, it has an interval only if one was
    calibrated for this case.
    """
    score, data = _score(run, requested, event), run.problem.data if event is None else event.data
    if not data.dependent or score.reason is not None:
        return score
    if score.interval is not None and (as_loss(requested, data).per_row or requested in CALIBRATED):
        return score
    return replace(score, std_error=None, interval=None, reason=UNCALIBRATED)


def _score(run: HonestRun, score: str | Loss, event: Event | None) -> Measured:
    """Compute the score, with the interval that its method gives.

    At a horizon it is the score of a survival outcome that a search knows as "auc-at-5", so that
    both have the same interval.
    """
    problem, testing = run.problem, run.testing
    data = problem.data if event is None else event.data
    name = score.name if isinstance(score, Loss) else score
    in_time = None if event is None else event.score_in_time(name)
    if in_time is not None:
        data = problem.data
    loss = as_loss(score if in_time is None else in_time, data)
    for estimate in (run.risk, *run.risk.scores.values()):
        if _is_of(estimate, loss, event, problem):
            return Measured(name, estimate.value, estimate.std_error, estimate.interval)
    by_winners, by_left_two_out = list(run.answered.answers), list(run.pairs_by_response.values())
    if event is not None and in_time is None:
        by_winners = [event.answers(a) for a in by_winners]
        by_left_two_out = [event.answers(a) for a in by_left_two_out]
    answers = _with_response(by_winners, loss.response)
    left_two_out = _with_response(by_left_two_out, loss.response)
    if answers is None:
        return Measured(name, reason=f"the model gives no answers that '{name}' could rate.")
    interval = choose(None, loss, data, testing.outer_method, answers.plan, calibrated=True)
    terms = Terms(problem.confidence_level, problem.rule, interval=interval)
    try:
        tested = testing.risk(answers, left_two_out, data, loss, terms)
    except Refusal as refusal:
        return Measured(name, reason=str(refusal))
    value, own_interval = (
        loss.scale.value(float(tested.value)),
        loss.scale.interval(tested.read_interval()),
    )
    return Measured(name, value, tested.read_std_error(), own_interval)


def has_rank_scores(run: HonestRun, event: Event | None) -> bool:
    """Return True if the search computed every rank score that a validation reports."""
    data = run.problem.data if event is None else event.data
    estimates = (run.risk, *run.risk.scores.values())
    return all(
        any(_is_of(one, as_loss(name, data), event, run.problem) for one in estimates)
        for name in ("auc", "average-precision")
    )


def with_pairs(run: HonestRun, response: Response) -> HonestRun:
    """Return the run with predictions by models that lack a further fold, if pairs tested it.

    They show how much the scores vary with the training rows, so that a score has the same interval
    whether or not the search was asked to compute it.
    """
    try:
        return run.with_pair_answers(pair_answers(run, response))
    except Refusal:
        return run


def _is_of(estimate: RiskEstimate, loss: Loss, event: Event | None, problem: Problem) -> bool:
    """Return True if a search's estimate is this score of this event, whatever its name."""
    requested = next((one for one in problem.losses if one.name == estimate.scoring), None)
    if (
        requested is None
        or type(requested) is not type(loss)
        or requested.horizons != loss.horizons
    ):
        return False
    alike = requested.usual_average == loss.usual_average
    alike = alike and getattr(requested, "over_classes", None) == getattr(
        loss, "over_classes", None
    )
    return alike and (event is None or bool(loss.horizons) or event.is_of(estimate.positive))


def _with_response(answers: Sequence[Answers], response: Response) -> Answers | None:
    """Return predictions of this kind; a probability of the second class is also a score."""
    by_response = {a.response: a for a in answers}
    if response in by_response:
        return by_response[response]
    if response == "score" and "probability" in by_response:
        two = by_response["probability"]
        return replace(two, response="score", values=np.ascontiguousarray(two.values[..., 1]))
    return None


ALSO_RATED = ("auc", "brier")  # losses that are added for classes if the predictions allow it


def answered_losses(run: HonestRun) -> Iterator[tuple[Loss, Answers, LeftTwoOut | None]]:
    """Yield every loss that the predictions allow, with losses of pair models if known.

    These are models that lack a further fold.
    """
    for loss, estimate in _losses(run):
        answers = _with_response(run.answered.answers, loss.response)
        if answers is not None:
            has_own = loss.response in run.answers
            yield loss, answers, _left_two_out(run, loss, estimate) if has_own else None


def _losses(run: HonestRun) -> Iterator[tuple[Loss, RiskEstimate | None]]:
    """Yield the losses of the problem with their risks, and further ones for classes."""
    problem = run.problem
    yield problem.loss, run.risk
    for name, score in problem.scores.items():
        yield score.loss, run.risk.scores.get(name)
    if problem.data.task == "classification":
        words = {loss.name for loss in problem.losses}
        for label in ALSO_RATED:
            if label not in words and (label != "auc" or problem.data.n_classes == 2):
                yield as_loss(label, problem.data), None


def _left_two_out(run: HonestRun, loss: Loss, estimate: RiskEstimate | None) -> LeftTwoOut | None:
    """Return the losses of pair models that the risk keeps, or compute them from predictions."""
    if estimate is not None and estimate.influences is not None:
        return estimate.influences.left_two_out
    answers = run.pairs_by_response.get(loss.response)
    if answers is None or not isinstance(loss, RowLoss):
        return None
    return LeftTwoOut.from_answers(answers, row_losses(answers, run.problem.data, loss))
