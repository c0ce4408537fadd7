"""The honest risk of choosing among all learners, from the fits by which each was tested."""

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
    done: Mapping[str, TunedLearner], order: Sequence[str], problem: Problem, testing: Procedure
) -> RiskEstimate | None:
    """Return the risk of "take learner and setting with the smallest inner risk, then fit".

    It costs nothing more: every learner was tuned inside the same outer splits, so in each of them
    the answers of the learner that looked best inside are taken, of equals the first in `order`.
    So it is for every question of the outer method: the fit on all rows, which .632+ asks besides,
    is that of the learner with the smallest inner risk on all rows. None if a learner lacks an
    answer, or there is a question before which no inner risk is known.
    """
    results, answers, inner_risks, further = [], [], [], []
    for name in order:
        one = done[name]
        if one.answers is None or not one.answers.answered.all():
            return None
        results.append(one)
        answers.append(one.answers)
        if one.winners is not None:
            inner_risks.append(one.winners.inner_risk)
        if one.left_two_out is not None:
            further.append(one.left_two_out)
    inner = np.array(inner_risks)
    inner[np.isnan(inner)] = np.inf  # a fit failed: nothing is known of this learner here
    if np.isinf(inner).all(axis=0).any():
        return None
    least, unknown = Minimum(), np.full(len(results), np.nan)
    chosen = np.array([least.choose(column, unknown) for column in inner.T])
    mixed = _mixed(answers, chosen)
    complete = len(further) == len(results)
    left_two_out = _mixed(further, chosen[further[0].plan.fold]) if complete else None
    note = _note(order, chosen[~mixed.plan.own_rows])
    refusals: dict[str, str] = {}
    for one in reversed(results):  # of several reasons that of the first learner stays
        refusals |= one.risk.refusals
    common: dict[str, Any] = {  # all learners together made the choice
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
        return to_estimate(tested, replace(like, **common, notes=notes), {})

    first, scores = results[0].risk, {}
    for place, (name, score) in enumerate(problem.scores.items()):
        more = None if left_two_out is None else left_two_out.also[place]
        scores[name] = risk(score, mixed.also[place], more, first.scores[name])
    whole = risk(Score(problem.loss, problem.interval), mixed, left_two_out, first)
    return replace(whole, scores=scores)


def _mixed(answers: Sequence[Answers], chosen: np.ndarray) -> Answers:
    """Return the answers of the chosen learner to every question."""
    plan = answers[0].plan
    values = answers[0].values.astype(np.result_type(*map(attrgetter("values.dtype"), answers)))
    for question, learner in enumerate(chosen):
        if answers[0].response == "scored":
            part = slice(question, question + 1)
        else:
            part = slice(*plan.test_offsets[question : question + 2])
        values[:, part] = answers[learner].values[:, part]
    notes: dict[str, None] = {}
    for each in answers:
        notes |= dict.fromkeys(each.notes)
    further = zip(*map(attrgetter("also"), answers), strict=True)
    also = tuple(_mixed(those, chosen) for those in further)
    return replace(answers[0], values=values, notes=tuple(notes), also=also)


def _note(order: Sequence[str], chosen: np.ndarray) -> str:
    """Return a sentence on how often each learner was chosen, the most frequent first."""
    counts = np.bincount(chosen, minlength=len(order))
    often = [f"{order[i]} {counts[i]}" for i in np.argsort(-counts, kind="stable") if counts[i]]
    return (
        f"risk of choosing among {len(order)} learners too; chosen in the outer splits: "
        f"{', '.join(often)}"
    )
