"""Honest risk of choosing among all learners, from the fits by which each learner was tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.contracts import Terms
from truerisk.estimation.problem import EstimationProblem, FurtherScore
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import Answers
from truerisk.results.results import RiskEstimate, to_estimate
from truerisk.selection.rules import Minimum


def risk_of_choice(
    learners: Mapping[str, TunedLearner],
    tie_order: Sequence[str],
    problem: EstimationProblem,
    testing_method: Procedure,
) -> RiskEstimate | None:
    """Return the risk of choosing among all learners and their settings.

    The tested procedure chooses the learner and the setting with the smallest inner risk, and then
    fits it.

    The estimate of this risk needs no further fit: every learner was tuned inside the same outer
    splits, so in each split the predictions of the learner with the smallest inner risk are taken
    (of equal learners, the first in `tie_order`). The same holds for every test set of the outer
    method: the fit on all rows, which .632+ also requests, is that of the learner with the smallest
    inner risk on all rows. The result is None if a learner lacks a prediction, or if no inner risk
    is known for a test set.
    """
    tuned_learners, predictions_by_learner, inner_risks, left_two_out_predictions = [], [], [], []
    for name in tie_order:
        learner = learners[name]
        if learner.answers is None or not learner.answers.answered.all():
            return None
        tuned_learners.append(learner)
        predictions_by_learner.append(learner.answers)
        if learner.winners is not None:
            inner_risks.append(learner.winners.inner_risk)
        if learner.left_two_out is not None:
            left_two_out_predictions.append(learner.left_two_out)
    inner_risk_table = np.array(inner_risks)
    inner_risk_table[np.isnan(inner_risk_table)] = (
        np.inf
    )  # A learner whose inner fit failed cannot be chosen in this split.
    if np.isinf(inner_risk_table).all(axis=0).any():
        return None
    minimum_rule, unknown_std_errors = Minimum(), np.full(len(tuned_learners), np.nan)
    chosen_indices = np.array(
        [minimum_rule.choose(column, unknown_std_errors) for column in inner_risk_table.T]
    )
    choice_predictions = _chosen_predictions(predictions_by_learner, chosen_indices)
    has_all_left_two_out = len(left_two_out_predictions) == len(tuned_learners)
    left_two_out = (
        _chosen_predictions(
            left_two_out_predictions, chosen_indices[left_two_out_predictions[0].plan.fold]
        )
        if has_all_left_two_out
        else None
    )
    choice_note = _choice_note(tie_order, chosen_indices[~choice_predictions.plan.own_rows])
    refusals: dict[str, str] = {}
    # If an engine refused several learners, the reason for the first learner is kept.
    for learner in reversed(tuned_learners):
        refusals |= learner.risk.refusals
    # These fields describe all learners, because all of them took part in the choice.
    common_fields: dict[str, Any] = {
        "params": {},
        "answered": None,
        "scores": {},
        "engine": ", ".join(dict.fromkeys(map(attrgetter("risk.engine"), tuned_learners))),
        "refusals": refusals,
        "n_fits": sum(map(attrgetter("n_fits"), tuned_learners)),
        "seconds": sum(map(attrgetter("seconds"), tuned_learners)),
        "findings": problem.findings,
    }

    def risk(
        score: FurtherScore,
        predictions: Answers,
        left_two_out: Answers | None,
        template: RiskEstimate,
    ) -> RiskEstimate:
        risk_terms = Terms(problem.confidence_level, problem.rule, interval=score.interval)
        tested_risk = testing_method.risk(
            predictions, left_two_out, problem.data, score.loss, risk_terms
        )
        notes = (*score.loss.notes, *map(attrgetter("note"), problem.findings), choice_note)
        return to_estimate(tested_risk, replace(template, **common_fields, notes=notes), {})

    first_risk, scores = tuned_learners[0].risk, {}
    for index, (name, score) in enumerate(problem.scores.items()):
        score_left_two_out = None if left_two_out is None else left_two_out.also[index]
        scores[name] = risk(
            score, choice_predictions.also[index], score_left_two_out, first_risk.scores[name]
        )
    main_risk = risk(
        FurtherScore(problem.loss, problem.interval), choice_predictions, left_two_out, first_risk
    )
    return replace(main_risk, scores=scores)


def _chosen_predictions(
    predictions_by_learner: Sequence[Answers], chosen_indices: np.ndarray
) -> Answers:
    """Return, for every test set, the predictions of the learner that was chosen for it."""
    plan = predictions_by_learner[0].plan
    values = predictions_by_learner[0].values.astype(
        np.result_type(*map(attrgetter("values.dtype"), predictions_by_learner))
    )
    for test_set, learner in enumerate(chosen_indices):
        if predictions_by_learner[0].response == "scored":
            test_positions = slice(test_set, test_set + 1)
        else:
            test_positions = slice(*plan.test_offsets[test_set : test_set + 2])
        values[:, test_positions] = predictions_by_learner[learner].values[:, test_positions]
    notes: dict[str, None] = {}
    for learner_predictions in predictions_by_learner:
        notes |= dict.fromkeys(learner_predictions.notes)
    predictions_by_score = zip(*map(attrgetter("also"), predictions_by_learner), strict=True)
    extra_predictions = tuple(
        _chosen_predictions(score_predictions, chosen_indices)
        for score_predictions in predictions_by_score
    )
    return replace(
        predictions_by_learner[0], values=values, notes=tuple(notes), also=extra_predictions
    )


def _choice_note(learner_names: Sequence[str], chosen_indices: np.ndarray) -> str:
    """Return a sentence on how often each learner was chosen, the most frequent learner first."""
    choice_counts = np.bincount(chosen_indices, minlength=len(learner_names))
    count_texts = [
        f"{learner_names[i]} {choice_counts[i]}×"
        for i in np.argsort(-choice_counts, kind="stable")
        if choice_counts[i]
    ]
    return (
        f"this risk includes the choice among {len(learner_names)} learners; the outer splits "
        f"chose {', '.join(count_texts)}"
    )
