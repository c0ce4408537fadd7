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
from truerisk.estimation.problem import EstimationProblem, FurtherScore
from truerisk.estimation.run import (
    compute_risks,
    to_procedure_estimate,
    to_risk_curve,
    tuning_problem,
)
from truerisk.intervals.choice import choose_interval
from truerisk.losses.loss import Loss, RowLoss
from truerisk.losses.loss_words import as_loss
from truerisk.losses.row_losses import registry
from truerisk.methods.external import External
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import row_losses
from truerisk.methods.parts.procedure import Procedure, candidate_of_each_fit
from truerisk.plan.answers import Answers, Response, prediction_shape
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import LeftTwoOut, RowPredictions
from truerisk.results.results import RiskEstimate
from truerisk.validation.measures import Measured
from truerisk.validation.outcomes import Event


@frozen(eq=False)
class HonestRun:
    """Tuning procedure that was tested on rows used neither for tuning nor for fitting.

    `problem` holds the request and the data, and the methods that tuned and tested. `answered_rows`
    are the predictions of the winners, the candidates that each fold chose. `pair_predictions` are
    predictions for the same rows by models that lack a further fold (None if they were not kept).
    `winners` is the candidate tested in each test set of the plan, and `best_candidate` the setting
    that is fitted on all rows; `model` is that fit, if it exists.
    """

    problem: EstimationProblem
    risk: RiskEstimate
    answered_rows: RowPredictions
    winners: np.ndarray
    best_candidate: int
    pair_predictions: Answers | None = None
    model: Any = None

    @classmethod
    def from_problem(cls, untested_problem: EstimationProblem) -> HonestRun:
        """Test the tuning procedure, and request the most informative predictions of its models."""
        richest_request = untested_problem.most_informative_request
        problem = (
            untested_problem
            if richest_request is None
            else add_score_for_request(untested_problem, richest_request)
        )
        computation = compute_risks(
            replace(problem, uses_calibrated_interval=True), problem.testing_method
        )
        risk = to_procedure_estimate(computation)
        assert risk is not None  # The method tests a procedure, so there is a risk.
        if risk.value is None or computation.winners is None:
            raise Refusal("a fit failed in an outer split, so some rows have no answer.")
        answered_rows = risk.answered
        if answered_rows is None:
            raise Refusal(f"'{computation.method.name}' keeps no answers about single rows.")
        if len(problem.family) == 1:
            best_candidate = 0
        elif isinstance(untested_problem.testing_method, Pairs):
            best_candidate = to_risk_curve(computation).best
        else:
            best_candidate = to_risk_curve(
                compute_risks(tuning_problem(problem), problem.tuning_method)
            ).best
        return cls(
            problem=untested_problem,
            risk=risk,
            answered_rows=answered_rows,
            winners=computation.winners.candidate,
            best_candidate=best_candidate,
            pair_predictions=computation.left_two_out,
        )

    @property
    def testing_method(self) -> Procedure:
        """Method that tested the tuning procedure."""
        # A search without a method that tests its tuning was refused earlier.
        assert isinstance(self.problem.testing_method, Procedure)
        return self.problem.testing_method

    @property
    def has_finished_model(self) -> bool:
        """True if a finished model was tested, and nothing was fitted to these rows."""
        return isinstance(self.problem.testing_method, External)

    @property
    def answers(self) -> dict[Response, Answers]:
        """Predictions of the winners, by kind of prediction (such as probabilities)."""
        return {predictions.response: predictions for predictions in self.answered_rows.answers}

    @property
    def pair_predictions_by_response(self) -> dict[Response, Answers]:
        """Predictions by models that lack a further fold, by kind of prediction."""
        if self.pair_predictions is None:
            return {}
        return {
            predictions.response: predictions
            for predictions in (*self.pair_predictions.also, self.pair_predictions)
        }

    def add_richest_predictions(self) -> HonestRun:
        """Return the run with probabilities if possible; refit the winners if it has none."""
        richest_request, data = self.problem.most_informative_request, self.problem.data
        stored_predictions = (
            None if richest_request is None else self.answers.get(richest_request.response)
        )
        if richest_request is None:
            return self
        if stored_predictions is not None and stored_predictions.values.shape[
            2:
        ] == prediction_shape(stored_predictions.response, data):
            return self  # Predictions of another shape are for other horizons.
        plan = self.answered_rows.answers[0].plan
        predictor = self.problem.create_refit_asking()
        return self.add_predictions(
            predictor.answers(plan, richest_request, candidate_of_each_fit(plan, self.winners))
        )

    def add_predictions(self, new_predictions: Answers) -> HonestRun:
        """Return the run with further predictions of the same models for the same test sets."""
        other_predictions = tuple(
            stored_predictions
            for stored_predictions in self.answered_rows.answers
            if stored_predictions.response != new_predictions.response
        )
        horizons = self.problem.data.horizons
        answered_rows = replace(
            self.answered_rows, answers=(new_predictions, *other_predictions), horizons=horizons
        )
        return replace(self, answered_rows=answered_rows)

    def add_pair_predictions(self, new_predictions: Answers) -> HonestRun:
        """Return the run with additional predictions by models that lack a further fold."""
        if (
            self.pair_predictions is None
            or new_predictions.response in self.pair_predictions_by_response
        ):
            return replace(self, pair_predictions=self.pair_predictions or new_predictions)
        extra_predictions = (*self.pair_predictions.also, new_predictions)
        return replace(
            self, pair_predictions=replace(self.pair_predictions, also=extra_predictions)
        )


LOSS_BY_RESPONSE: Mapping[str, str] = {"probability": "brier", "score": "auc", "value": "squared"}


def add_score_for_request(problem: EstimationProblem, request: Request) -> EstimationProblem:
    """Return the problem with an added score that needs the requested kind of predictions.

    Nothing is added if one of its scores already needs them.
    """
    if request.response in {loss.response for loss in problem.losses}:
        return problem
    horizon_losses = [registry.load("brier-at")(horizon) for horizon in problem.data.horizons[:1]]
    loss = as_loss((*horizon_losses, LOSS_BY_RESPONSE[request.response])[0], problem.data)
    return replace(problem, scores={**problem.scores, loss.name: FurtherScore(loss)})


NO_PAIRS_REASON = (
    "no models were fitted without a further fold, which would show how predictions move: use a "
    f"search with {mention('outer', 'pairs')} whose folds keep related rows apart, or a model "
    "without a search inside."
)


def get_pair_predictions(run: HonestRun, response: Response) -> Answers:
    """Return the predictions by models that lack a further fold; refit if none are stored."""
    if response in run.pair_predictions_by_response:
        return run.pair_predictions_by_response[response]
    testing = run.testing_method
    if not isinstance(testing, Pairs):
        raise Refusal(NO_PAIRS_REASON)
    plan = testing.plan(run.problem.data, Streams(run.problem.seed))
    inner_plan = plan.part_named("inner")
    # A fit without folds i and j predicts both folds, which may have chosen different winners.
    # One pass therefore predicts the first fold of each pair, and the next pass the second one.
    test_sets_by_pass = [
        np.flatnonzero(inner_plan.unit < inner_plan.fold),
        np.flatnonzero(inner_plan.unit > inner_plan.fold),
    ]
    return _join_predictions(
        inner_plan,
        [
            (test_sets, _predict_without_further_fold(run, inner_plan.select(test_sets), response))
            for test_sets in test_sets_by_pass
        ],
    )


def _predict_without_further_fold(run: HonestRun, plan: Plan, response: Response) -> Answers:
    predictor = run.problem.create_asking(passes=1)
    predictions = predictor.answers(
        plan, Request(response), candidate_of_each_fit(plan, run.winners[plan.fold])
    )
    if not predictions.answered.all():
        raise Refusal("a fit without a further fold failed, so some rows have no such answer.")
    return predictions


def _join_predictions(plan: Plan, predictions_by_pass: list[tuple[np.ndarray, Answers]]) -> Answers:
    """Join predictions for subsets of a plan's test sets to predictions for all test sets."""
    first_predictions = predictions_by_pass[0][1]
    shape = (1, int(plan.test_offsets[-1]), *first_predictions.values.shape[2:])
    joined_values = np.empty(shape, dtype=first_predictions.values.dtype)
    for test_sets, pass_predictions in predictions_by_pass:
        for index, test_set in enumerate(test_sets.tolist()):
            joined_values[:, plan.test_offsets[test_set] : plan.test_offsets[test_set + 1]] = (
                pass_predictions.for_question(index)
            )
    has_prediction = np.ones((1, plan.n_questions), dtype=bool)
    return replace(first_predictions, plan=plan, values=joined_values, answered=has_prediction)


# Average precision has no calibrated interval, because its intervals cover too rarely in spatial
# fields with long-range correlation: the share of the event differs from field to field.
CALIBRATED_SCORES = ("auc",)  # scores of whole test sets that have intervals for dependent rows
UNCALIBRATED_REASON = "it has no interval for rows that may depend on each other."


def held_out_score(run: HonestRun, requested_score: str | Loss, event: Event | None) -> Measured:
    """Return a score of the held-out predictions, averaged as in the search.

    It is that of the search itself if it was requested there, or else computed from the
    predictions, without a fit. If rows may depend on each other, it has an interval only if one was
    calibrated for this case.
    """
    score, data = (
        _compute_score(run, requested_score, event),
        run.problem.data if event is None else event.data,
    )
    if not data.dependent or score.reason is not None:
        return score
    if score.interval is not None and (
        as_loss(requested_score, data).per_row or requested_score in CALIBRATED_SCORES
    ):
        return score
    return replace(score, std_error=None, interval=None, reason=UNCALIBRATED_REASON)


def _compute_score(run: HonestRun, score: str | Loss, event: Event | None) -> Measured:
    """Compute the score of held-out predictions, with the interval that the testing method gives.

    At a horizon it is the score of a survival outcome that a search knows as "auc-at-5", so that
    both have the same interval.
    """
    problem, testing = run.problem, run.testing_method
    data = problem.data if event is None else event.data
    name = score.name if isinstance(score, Loss) else score
    horizon_score = None if event is None else event.make_horizon_score(name)
    if horizon_score is not None:
        data = problem.data
    loss = as_loss(score if horizon_score is None else horizon_score, data)
    for estimate in (run.risk, *run.risk.scores.values()):
        if _is_same_score(estimate, loss, event, problem):
            return Measured(name, estimate.value, estimate.std_error, estimate.interval)
    winner_predictions, predictions_without_two_folds = (
        list(run.answered_rows.answers),
        list(run.pair_predictions_by_response.values()),
    )
    if event is not None and horizon_score is None:
        winner_predictions = [
            event.answers(class_predictions) for class_predictions in winner_predictions
        ]
        predictions_without_two_folds = [
            event.answers(class_predictions) for class_predictions in predictions_without_two_folds
        ]
    rated_predictions = _select_response(winner_predictions, loss.response)
    left_two_out = _select_response(predictions_without_two_folds, loss.response)
    if rated_predictions is None:
        return Measured(name, reason=f"the model gives no answers that '{name}' could rate.")
    interval = choose_interval(
        None, loss, data, testing.outer_method, rated_predictions.plan, calibrated=True
    )
    risk_terms = Terms(problem.confidence_level, problem.rule, interval=interval)
    try:
        tested_risk = testing.risk(rated_predictions, left_two_out, data, loss, risk_terms)
    except Refusal as refusal:
        return Measured(name, reason=str(refusal))
    score_value, score_interval = (
        loss.scale.value(float(tested_risk.value)),
        loss.scale.interval(tested_risk.read_interval()),
    )
    return Measured(name, score_value, tested_risk.read_std_error(), score_interval)


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


def try_add_pair_predictions(run: HonestRun, response: Response) -> HonestRun:
    """Return the run with predictions by models that lack a further fold, if these exist.

    They exist if the method `pairs` tested the run. They show how much the scores vary with the
    training rows, so that a score has the same interval whether or not the search was asked to
    compute it.
    """
    try:
        return run.add_pair_predictions(get_pair_predictions(run, response))
    except Refusal:
        return run


def _is_same_score(
    estimate: RiskEstimate, loss: Loss, event: Event | None, problem: EstimationProblem
) -> bool:
    """Return True if an estimate of the search is this score of this event, whatever its name."""
    requested_loss = next(
        (problem_loss for problem_loss in problem.losses if problem_loss.name == estimate.scoring),
        None,
    )
    if (
        requested_loss is None
        or type(requested_loss) is not type(loss)
        or any(
            getattr(requested_loss, option, None) != getattr(loss, option, None)
            for option in ("horizons", "until", "usual_average", "over_classes")
        )
    ):
        return False
    return event is None or bool(loss.horizons) or event.matches_label(estimate.positive)


def _select_response(all_predictions: Sequence[Answers], response: Response) -> Answers | None:
    """Return the predictions of a kind; the second class's probability also serves as score."""
    predictions_by_response = {predictions.response: predictions for predictions in all_predictions}
    if response in predictions_by_response:
        return predictions_by_response[response]
    if response == "score" and "probability" in predictions_by_response:
        probabilities = predictions_by_response["probability"]
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


def computable_losses(run: HonestRun) -> Iterator[tuple[Loss, Answers, LeftTwoOut | None]]:
    """Yield each loss that can be computed from the predictions, with these predictions.

    The third item are the losses of models that lack a further fold, or None if they are unknown.
    """
    for loss, estimate in _losses_to_report(run):
        predictions = _select_response(run.answered_rows.answers, loss.response)
        if predictions is not None:
            is_predicted = loss.response in run.answers
            yield (
                loss,
                predictions,
                _left_two_out_losses(run, loss, estimate) if is_predicted else None,
            )


def _losses_to_report(run: HonestRun) -> Iterator[tuple[Loss, RiskEstimate | None]]:
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


def _left_two_out_losses(
    run: HonestRun, loss: Loss, estimate: RiskEstimate | None
) -> LeftTwoOut | None:
    """Return the losses of models that lack a further fold, stored or from their predictions."""
    if estimate is not None and estimate.influences is not None:
        return estimate.influences.left_two_out
    pair_predictions = run.pair_predictions_by_response.get(loss.response)
    if pair_predictions is None or not isinstance(loss, RowLoss):
        return None
    return LeftTwoOut.from_answers(
        pair_predictions, row_losses(pair_predictions, run.problem.data, loss)
    )
