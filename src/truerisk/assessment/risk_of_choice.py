"""Honest risk of choosing among all learners, from the fits by which each learner was tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.contracts import Terms
from truerisk.estimation.problem import Problem, Score
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import Answers
from truerisk.results.results import RiskEstimate, to_estimate
from truerisk.selection.rules import Minimum


def risk_of_choice(
    learners: Mapping[str, TunedLearner], order: Sequence[str], problem: Problem, testing: Procedure
) -> RiskEstimate | None:
    """Return the risk of choosing the learner and setting of the smallest inner risk, then fitting.

    It needs no further fit: every learner was tuned inside the same outer splits, so in each split
    the predictions of the learner with the smallest inner risk are taken (of equal learners, the
    first in `order`). The same holds for every question of the outer method: the fit on all rows,
    which .632+ also requests, is that of the learner with the smallest inner risk on all rows. The
    result is None if a learner lacks a prediction, or if no inner risk is known for a question.
    """
    results, answers, inner_risks, further_answers = [], [], [], []
    for name in order:
        learner = learners[name]
        if learner.answers is None or not learner.answers.answered.all():
            return None
        results.append(learner)
        answers.append(learner.answers)
        if learner.winners is not None:
            inner_risks.append(learner.winners.inner_risk)
        if learner.left_two_out is not None:
            further_answers.append(learner.left_two_out)
    inner = np.array(inner_risks)
    inner[np.isnan(inner)] = np.inf  # A learner whose inner fit failed cannot be chosen here.
    if np.isinf(inner).all(axis=0).any():
        return None
    minimum_rule, unknown_errors = Minimum(), np.full(len(results), np.nan)
    chosen = np.array([minimum_rule.choose(column, unknown_errors) for column in inner.T])
    mixed_answers = _chosen_answers(answers, chosen)
    has_all_answers = len(further_answers) == len(results)
    left_two_out = (
        _chosen_answers(further_answers, chosen[further_answers[0].plan.fold])
        if has_all_answers
        else None
    )
    note = _note(order, chosen[~mixed_answers.plan.own_rows])
    refusals: dict[str, str] = {}
    # If several learners were refused, the first one's reason stays.
    for learner in reversed(results):
        refusals |= learner.risk.refusals
    # These fields describe all learners, which took part in the choice.
    common_fields: dict[str, Any] = {
        "params": {},
        "answered": None,
        "scores": {},
        "engine": ", ".join(dict.fromkeys(map(attrgetter("risk.engine"), results))),
        "refusals": refusals,
        "n_fits": sum(map(attrgetter("n_fits"), results)),
        "seconds": sum(map(attrgetter("seconds"), results)),
        "findings": problem.findings,
    }

    def risk(
        one: Score, of: Answers, left_two_out: Answers | None, like: RiskEstimate
    ) -> RiskEstimate:
        terms = Terms(problem.confidence_level, problem.rule, interval=one.interval)
        tested = testing.risk(of, left_two_out, problem.data, one.loss, terms)
        notes = (*one.loss.notes, *map(attrgetter("note"), problem.findings), note)
        return to_estimate(tested, replace(like, **common_fields, notes=notes), {})

    first_risk, scores = results[0].risk, {}
    for index, (name, score) in enumerate(problem.scores.items()):
        score_left_two_out = None if left_two_out is None else left_two_out.also[index]
        scores[name] = risk(
            score, mixed_answers.also[index], score_left_two_out, first_risk.scores[name]
        )
    main_risk = risk(Score(problem.loss, problem.interval), mixed_answers, left_two_out, first_risk)
    return replace(main_risk, scores=scores)


def _chosen_answers(answers: Sequence[Answers], chosen: np.ndarray) -> Answers:
    """Return, for every question, the predictions of the learner that was chosen there."""
    plan = answers[0].plan
    values = answers[0].values.astype(np.result_type(*map(attrgetter("values.dtype"), answers)))
    for question, learner in enumerate(chosen):
        if answers[0].response == "scored":
            positions = slice(question, question + 1)
        else:
            positions = slice(*plan.test_offsets[question : question + 2])
        values[:, positions] = answers[learner].values[:, positions]
    notes: dict[str, None] = {}
    for learner_answers in answers:
        notes |= dict.fromkeys(learner_answers.notes)
    extra_by_score = zip(*map(attrgetter("also"), answers), strict=True)
    extra_answers = tuple(
        _chosen_answers(score_answers, chosen) for score_answers in extra_by_score
    )
    return replace(answers[0], values=values, notes=tuple(notes), also=extra_answers)


def _note(order: Sequence[str], chosen: np.ndarray) -> str:
    """Return a sentence on how often each learner was chosen, the most frequent learner first."""
    counts = np.bincount(chosen, minlength=len(order))
    count_texts = [
        f"{order[i]} {counts[i]}" for i in np.argsort(-counts, kind="stable") if counts[i]
    ]
    return (
        f"risk of choosing among {len(order)} learners too; chosen in the outer splits: "
        f"{', '.join(count_texts)}"
    )
