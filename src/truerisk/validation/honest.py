"""Tested tuning procedure (`HonestRun`): its held-out predictions, their scores and losses."""

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
from truerisk.methods.parts.procedure import Procedure, candidate_of_each_fit
from truerisk.plan.answers import Answers, Response, row_message
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import AnsweredRows, LeftTwoOut
from truerisk.results.results import RiskEstimate
from truerisk.validation.measures import Measured
from truerisk.validation.outcomes import Event


@frozen(eq=False)
class HonestRun:
    """Tuning procedure that was tested on rows used neither for tuning nor for fitting.

    `problem` holds the request and the data, and the methods that tuned and tested. `answered` are
    the predictions of the winners, the candidates that each fold chose. `pair_answers` are
    predictions for the same rows by models that lack a further fold (None if they were not kept).
    `winners` is the candidate tested in each question of the plan, and `best` the setting that is
    fitted on all rows; `model` is that fit, if it exists.
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
        """Test the tuning procedure, and request the most informative predictions of its models."""
        richest_request = untested.most_informative_request
        problem = (
            untested if richest_request is None else with_extra_answers(untested, richest_request)
        )
        computed = compute(replace(problem, calibrated=True), problem.testing)
        risk = procedure_of(computed)
        assert risk is not None  # The method tests a procedure, so there is a risk.
        if risk.value is None or computed.winners is None:
            raise Refusal("a fit failed in an outer split, so some rows have no answer.")
        answered_rows = risk.answered
        if answered_rows is None:
            raise Refusal(f"'{computed.method.name}' keeps no answers about single rows.")
        if len(problem.family) == 1:
            best_candidate = 0
        elif isinstance(untested.testing, Pairs):
            best_candidate = curve_of(computed).best
        else:
            best_candidate = curve_of(compute(tuning_problem(problem), problem.select_by)).best
        return cls(
            problem=untested,
            risk=risk,
            answered=answered_rows,
            winners=computed.winners.candidate,
            best=best_candidate,
            pair_answers=computed.left_two_out,
        )

    @property
    def testing(self) -> Procedure:
        """Method that tested the tuning procedure."""
        # A search without a method that tests its tuning was refused earlier.
        assert isinstance(self.problem.testing, Procedure)
        return self.problem.testing

    @property
    def finished(self) -> bool:
        """True if a finished model was tested, and nothing was fitted to these rows."""
        return isinstance(self.problem.testing, External)

    @property
    def answers(self) -> dict[Response, Answers]:
        """Predictions of the winners, by kind of prediction (such as probabilities)."""
        return {answers.response: answers for answers in self.answered.answers}

    @property
    def pairs_by_response(self) -> dict[Response, Answers]:
        """Predictions by models that lack a further fold, by kind of prediction."""
        if self.pair_answers is None:
            return {}
        return {
            answers.response: answers for answers in (*self.pair_answers.also, self.pair_answers)
        }

    def with_richest(self) -> HonestRun:
        """Return the run with probabilities if possible; refit the winners if it has none."""
        richest_request, data = self.problem.most_informative_request, self.problem.data
        kept_answers = (
            None if richest_request is None else self.answers.get(richest_request.response)
        )
        if richest_request is None:
            return self
        if kept_answers is not None and kept_answers.values.shape[2:] == row_message(
            kept_answers.response, data
        ):
            return self  # Predictions of another shape are for other horizons.
        plan = self.answered.answers[0].plan
        asking = self.problem.asking_winners()
        return self.with_answers(
            asking.answers(plan, richest_request, candidate_of_each_fit(plan, self.winners))
        )

    def with_answers(self, answers: Answers) -> HonestRun:
        """Return the run with further predictions of the same models for the same questions."""
        other_answers = tuple(
            kept_answers
            for kept_answers in self.answered.answers
            if kept_answers.response != answers.response
        )
        horizons = self.problem.data.horizons
        answered_rows = replace(self.answered, answers=(answers, *other_answers), horizons=horizons)
        return replace(self, answered=answered_rows)

    def with_pair_answers(self, answers: Answers) -> HonestRun:
        """Return the run with additional predictions by models that lack a further fold."""
        if self.pair_answers is None or answers.response in self.pairs_by_response:
            return replace(self, pair_answers=self.pair_answers or answers)
        extra_answers = (*self.pair_answers.also, answers)
        return replace(self, pair_answers=replace(self.pair_answers, also=extra_answers))


LOSSES: Mapping[str, str] = {"probability": "brier", "score": "auc", "value": "squared"}


def with_extra_answers(problem: Problem, request: Request) -> Problem:
    """Return the problem with an added score that needs the requested kind of predictions.

    Nothing is added if one of its scores already needs them.
    """
    if request.response in {loss.response for loss in problem.losses}:
        return problem
    horizon_losses = [registry.load("brier-at")(horizon) for horizon in problem.data.horizons[:1]]
    loss = as_loss((*horizon_losses, LOSSES[request.response])[0], problem.data)
    return replace(problem, scores={**problem.scores, loss.name: Score(loss)})


NO_PAIRS = (
    "no models were fitted without a further fold, which would show how predictions move: use a "
    f"search with {mention('outer', 'pairs')}, or a model without a search inside."
)


def pair_answers(run: HonestRun, response: Response) -> Answers:
    """Return the predictions by models that lack a further fold; refit if none are stored."""
    if response in run.pairs_by_response:
        return run.pairs_by_response[response]
    testing = run.testing
    if not isinstance(testing, Pairs):
        raise Refusal(NO_PAIRS)
    plan = testing.plan(run.problem.data, Streams(run.problem.seed))
    inner_plan = plan.part_named("inner")
    # A fit without folds i and j predicts both folds, which may have chosen different winners.
    # One pass therefore predicts the first fold of each pair, and the next pass the second one.
    passes = [
        np.flatnonzero(inner_plan.unit < inner_plan.fold),
        np.flatnonzero(inner_plan.unit > inner_plan.fold),
    ]
    return _joined(
        inner_plan,
        [
            (questions, _answered(run, inner_plan.select(questions), response))
            for questions in passes
        ],
    )


def _answered(run: HonestRun, plan: Plan, response: Response) -> Answers:
    asking = run.problem.asking(passes=1)
    answers = asking.answers(
        plan, Request(response), candidate_of_each_fit(plan, run.winners[plan.fold])
    )
    if not answers.answered.all():
        raise Refusal("a fit without a further fold failed, so some rows have no such answer.")
    return answers


def _joined(plan: Plan, parts: list[tuple[np.ndarray, Answers]]) -> Answers:
    """Join predictions for subsets of a plan's test sets to predictions for all test sets."""
    first_answers = parts[0][1]
    shape = (1, int(plan.test_offsets[-1]), *first_answers.values.shape[2:])
    values = np.empty(shape, dtype=first_answers.values.dtype)
    for questions, answers in parts:
        for index, question in enumerate(questions.tolist()):
            values[:, plan.test_offsets[question] : plan.test_offsets[question + 1]] = (
                answers.for_question(index)
            )
    is_answered = np.ones((1, plan.n_questions), dtype=bool)
    return replace(first_answers, plan=plan, values=values, answered=is_answered)


# Average precision has no calibrated interval, because its intervals cover too rarely in spatial
# fields with long-range correlation: the share of the event differs from field to field.
CALIBRATED_SCORES = ("auc",)  # scores of whole test sets that have intervals for dependent rows
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
    if score.interval is not None and (
        as_loss(requested, data).per_row or requested in CALIBRATED_SCORES
    ):
        return score
    return replace(score, std_error=None, interval=None, reason=UNCALIBRATED)


def _score(run: HonestRun, score: str | Loss, event: Event | None) -> Measured:
    """Compute the score of held-out predictions, with the interval that the testing method gives.

    At a horizon it is the score of a survival outcome that a search knows as "auc-at-5", so that
    both have the same interval.
    """
    problem, testing = run.problem, run.testing
    data = problem.data if event is None else event.data
    name = score.name if isinstance(score, Loss) else score
    horizon_score = None if event is None else event.score_in_time(name)
    if horizon_score is not None:
        data = problem.data
    loss = as_loss(score if horizon_score is None else horizon_score, data)
    for estimate in (run.risk, *run.risk.scores.values()):
        if _is_same_score(estimate, loss, event, problem):
            return Measured(name, estimate.value, estimate.std_error, estimate.interval)
    by_winners, by_left_two_out = list(run.answered.answers), list(run.pairs_by_response.values())
    if event is not None and horizon_score is None:
        by_winners = [event.answers(answers_of_event) for answers_of_event in by_winners]
        by_left_two_out = [event.answers(answers_of_event) for answers_of_event in by_left_two_out]
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
    """Return True if the search computed AUC and average precision for this event."""
    data = run.problem.data if event is None else event.data
    estimates = (run.risk, *run.risk.scores.values())
    return all(
        any(
            _is_same_score(estimate, as_loss(name, data), event, run.problem)
            for estimate in estimates
        )
        for name in ("auc", "average-precision")
    )


def with_pairs(run: HonestRun, response: Response) -> HonestRun:
    """Return the run with predictions by models that lack a further fold, if these exist.

    They exist if the method `pairs` tested the run. They show how much the scores vary with the
    training rows, so that a score has the same interval whether or not the search was asked to
    compute it.
    """
    try:
        return run.with_pair_answers(pair_answers(run, response))
    except Refusal:
        return run


def _is_same_score(
    estimate: RiskEstimate, loss: Loss, event: Event | None, problem: Problem
) -> bool:
    """Return True if an estimate of the search is this score of this event, whatever its name."""
    requested_loss = next(
        (problem_loss for problem_loss in problem.losses if problem_loss.name == estimate.scoring),
        None,
    )
    if (
        requested_loss is None
        or type(requested_loss) is not type(loss)
        or requested_loss.horizons != loss.horizons
    ):
        return False
    is_same_score = requested_loss.usual_average == loss.usual_average
    is_same_score = is_same_score and getattr(requested_loss, "over_classes", None) == getattr(
        loss, "over_classes", None
    )
    return is_same_score and (
        event is None or bool(loss.horizons) or event.is_of(estimate.positive)
    )


def _with_response(answers: Sequence[Answers], response: Response) -> Answers | None:
    """Return the predictions of a kind; the second class's probability also serves as score."""
    by_response = {item.response: item for item in answers}
    if response in by_response:
        return by_response[response]
    if response == "score" and "probability" in by_response:
        probabilities = by_response["probability"]
        return replace(
            probabilities,
            response="score",
            values=np.ascontiguousarray(probabilities.values[..., 1]),
        )
    return None


EXTRA_CLASS_LOSSES = (
    "auc",
    "brier",
)  # losses that are added for classes if the predictions allow it


def predicted_losses(run: HonestRun) -> Iterator[tuple[Loss, Answers, LeftTwoOut | None]]:
    """Yield each loss that the predictions allow, with its predictions.

    The third item are the losses of models that lack a further fold, or None if they are unknown.
    """
    for loss, estimate in _losses(run):
        answers = _with_response(run.answered.answers, loss.response)
        if answers is not None:
            is_predicted = loss.response in run.answers
            yield loss, answers, _left_two_out(run, loss, estimate) if is_predicted else None


def _losses(run: HonestRun) -> Iterator[tuple[Loss, RiskEstimate | None]]:
    """Yield the losses of the problem with their risks; for classes, yield further losses."""
    problem = run.problem
    yield problem.loss, run.risk
    for name, score in problem.scores.items():
        yield score.loss, run.risk.scores.get(name)
    if problem.data.task == "classification":
        known_names = {loss.name for loss in problem.losses}
        for loss_name in EXTRA_CLASS_LOSSES:
            if loss_name not in known_names and (loss_name != "auc" or problem.data.n_classes == 2):
                yield as_loss(loss_name, problem.data), None


def _left_two_out(run: HonestRun, loss: Loss, estimate: RiskEstimate | None) -> LeftTwoOut | None:
    """Return the losses of models without a further fold, as stored or from predictions."""
    if estimate is not None and estimate.influences is not None:
        return estimate.influences.left_two_out
    answers = run.pairs_by_response.get(loss.response)
    if answers is None or not isinstance(loss, RowLoss):
        return None
    return LeftTwoOut.from_answers(answers, row_losses(answers, run.problem.data, loss))
