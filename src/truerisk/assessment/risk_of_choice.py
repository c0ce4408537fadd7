"""The honest risk of choosing among all learners, from the fits by which each was tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.contracts import Terms
from truerisk.estimation.problem import Problem, Score
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import Answers
from truerisk.results.results import RiskEstimate, dress
from truerisk.selection.rules import Minimum


def risk_of_choice(
    done: Mapping[str, TunedLearner], order: Sequence[str], problem: Problem, testing: Procedure
) -> RiskEstimate | None:
    """Nested risk of "take the learner and setting with the smallest inner risk, then fit".

    It costs nothing more: every learner was tuned inside the same outer splits, so in each of them
    the answers of the learner that looked best inside are taken, of equals the first in `order`.
    So it is for every question of the outer method: the fit on all rows, which .632+ asks besides,
    is that of the learner with the smallest inner risk on all rows. None if a learner lacks an
    answer, or there is a question before which no inner risk is known.
    """
    results = [done[name] for name in order]
    answers = [one.answers for one in results]
    if any(a is None or not a.answered.all() for a in answers):
        return None
    inner = np.array([one.winners.inner_risk for one in results if one.winners is not None])
    inner[np.isnan(inner)] = np.inf  # a fit failed: nothing is known of this learner here
    if np.isinf(inner).all(axis=0).any():
        return None
    least = Minimum()
    chosen = np.array([least.choose(column, np.full(len(results), np.nan)) for column in inner.T])
    mixed = _mixed([a for a in answers if a is not None], chosen)
    further = [one.shaken for one in results if one.shaken is not None]
    complete = len(further) == len(results)
    shaken = _mixed(further, chosen[further[0].plan.fold]) if complete else None
    note = _note(order, chosen[~mixed.plan.own_rows])

    def risk(one: Score, papers: RiskEstimate, of: Answers, shaken: Answers | None) -> RiskEstimate:
        terms = Terms(problem.confidence_level, problem.rule, interval=one.interval)
        tested = testing.risk(of, shaken, problem.data, one.loss, terms)
        seen = tuple(finding.note for finding in problem.findings)
        papers = _papers(results, papers, (*one.loss.notes, *seen, note))
        return dress(tested, replace(papers, findings=problem.findings), {})

    first = results[0].risk
    moved = [None] * len(mixed.also) if shaken is None else shaken.also
    pairs = zip(problem.scores.items(), mixed.also, moved, strict=True)
    scores = {name: risk(one, first.scores[name], of, more) for (name, one), of, more in pairs}
    whole = risk(Score(problem.loss, problem.interval), first, mixed, shaken)
    return replace(whole, scores=scores)


def _mixed(answers: Sequence[Answers], chosen: np.ndarray) -> Answers:
    """The chosen learner's answers to every question."""
    plan = answers[0].plan
    values = answers[0].values.astype(np.result_type(*(a.values.dtype for a in answers)))
    for question, learner in enumerate(chosen):
        if answers[0].response == "scored":
            part = slice(question, question + 1)
        else:
            part = slice(*plan.test_offsets[question : question + 2])
        values[:, part] = answers[learner].values[:, part]
    notes = tuple(dict.fromkeys(note for a in answers for note in a.notes))
    also = tuple(_mixed(those, chosen) for those in zip(*(a.also for a in answers), strict=True))
    return replace(answers[0], values=values, notes=notes, also=also)


def _note(order: Sequence[str], chosen: np.ndarray) -> str:
    """How often which learner was chosen, the most frequent first."""
    counts = np.bincount(chosen, minlength=len(order))
    often = [f"{order[i]} {counts[i]}" for i in np.argsort(-counts, kind="stable") if counts[i]]
    return (
        f"risk of choosing among {len(order)} learners too; chosen in the outer splits: "
        f"{', '.join(often)}"
    )


def _papers(
    results: Sequence[TunedLearner], first: RiskEstimate, notes: tuple[str, ...]
) -> RiskEstimate:
    """What is said of the choice besides its value: all learners together made it."""
    risks = [result.risk for result in results]
    refusals = {word: why for risk in reversed(risks) for word, why in risk.refusals.items()}
    return replace(
        first,
        params={},
        answered=None,
        scores={},
        engine=", ".join(dict.fromkeys(risk.engine for risk in risks)),
        refusals=refusals,
        n_fits=sum(result.n_fits for result in results),
        seconds=sum(result.seconds for result in results),
        notes=notes,
    )
