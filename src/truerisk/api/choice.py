"""The risk of choosing among learners as well: in each outer split by the inner risks alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from truerisk.api.assessment import Assessed
from truerisk.api.compute import Problem
from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Setting
from truerisk.core.results import RiskEstimate, dress
from truerisk.selection.minimum import Minimum

__all__ = ["risk_of_choice"]


def risk_of_choice(
    done: Mapping[str, Assessed], problem: Problem, outer: Method
) -> RiskEstimate | None:
    """Nested risk of "take the learner and setting with the smallest inner risk, then fit".

    It costs nothing more: every learner was tuned inside the same outer splits, so in each split
    the answers of the learner that looked best inside are taken, the first of equals. None if a
    learner lacks an answer, or an outer split has no inner risk at all.
    """
    results = list(done.values())
    answers = [one.answers for one in results]
    if any(a is None or not a.answered.all() for a in answers):
        return None
    inner = np.array([[fold.inner_risk for fold in one.outer] for one in results])
    inner[np.isnan(inner)] = np.inf  # a fit failed: nothing is known of this learner here
    if np.isinf(inner).all(axis=0).any():
        return None
    least = Minimum()
    winners = np.array([least.choose(column, np.full(len(results), np.nan)) for column in inner.T])
    mixed = _mixed([a for a in answers if a is not None], winners)
    setting = Setting(problem.confidence_level, problem.rule, interval=problem.interval)
    tested = outer.reduce(mixed, problem.data, problem.loss, setting)[0]
    counts = np.bincount(winners, minlength=len(results))
    chosen = ", ".join(f"{name} {n}" for name, n in zip(done, counts, strict=True) if n)
    note = f"risk of choosing among {len(done)} learners too; chosen in the outer splits: {chosen}"
    common = replace(
        results[0].risk,
        n_fits=sum(one.n_fits for one in results),
        seconds=sum(one.seconds for one in results),
        notes=(*problem.loss.notes, note),
    )
    return dress(tested, common, {})


def _mixed(answers: list[Answers], winners: np.ndarray) -> Answers:
    """The winner's answers in every outer split."""
    plan = answers[0].plan
    values = answers[0].values.copy()
    for question, winner in enumerate(winners):
        if answers[0].response == "scored":
            part = slice(question, question + 1)
        else:
            part = slice(*plan.test_offsets[question : question + 2])
        values[:, part] = answers[winner].values[:, part]
    return replace(answers[0], values=values)
