"""The scores of held-out answers as a search tells them: value, standard error, interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerisk.api.road.event import Event
from truerisk.api.validating.honest import HonestRun
from truerisk.core.answers import Answers, Response
from truerisk.core.contracts import Terms
from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.loss_words import as_loss
from truerisk.methods.parts.interval_choice import choose

__all__ = ["ScoreTold", "score_of"]

# Average precision is not among them: in fields that reach far its intervals hold too rarely,
# since it moves with the share of the event, which differs from field to field.
CALIBRATED = ("auc",)  # of whole test sets, for rows that may depend on each other
DEPENDENT = "no interval of it was calibrated for rows that may depend on each other."


@dataclass(frozen=True)
class ScoreTold:
    """A score on its own scale; `reason` says why there is none."""

    value: float | None = None
    std_error: float | None = None
    interval: Interval | None = None
    reason: str | None = None


def score_of(run: HonestRun, word: str, event: Event | None) -> ScoreTold:
    """A score of the held-out answers, averaged over folds as the search averages it.

    That of the search itself where it was asked for, else from the answers, without a fit. Where
    rows may depend on each other it has an interval if one was calibrated for that.
    """
    found, data = _told(run, word, event), run.problem.data
    if not data.dependent or found.reason is not None:
        return found
    if found.interval is not None and (as_loss(word, data).per_row or word in CALIBRATED):
        return found
    return replace(found, std_error=None, interval=None, reason=DEPENDENT)


def _told(run: HonestRun, word: str, event: Event | None) -> ScoreTold:
    """The score, with the interval that its method gives."""
    for told in (run.risk, *run.risk.scores.values()):
        if told.loss == word and (event is None or event.is_of(told.positive)):
            shown = told.own_scale
            return ScoreTold(shown.value, told.std_error, shown.interval)
    problem, testing = run.problem, run.testing
    data = problem.data if event is None else event.data
    loss = as_loss(word, data)
    told_rows, moved = list(run.answered.told), list(run.moved.values())
    if event is not None:
        told_rows, moved = ([event.answers(one) for one in some] for some in (told_rows, moved))
    answers = _with_response(told_rows, loss.response)
    shaken = _with_response(moved, loss.response)
    if answers is None:
        return ScoreTold(reason=f"the model gives no answers that '{word}' could rate.")
    interval = choose(None, loss, data, testing.outer_method, answers.plan, calibrated=True)
    terms = Terms(problem.confidence_level, problem.rule, interval=interval)
    try:
        tested = testing.risk(answers, shaken, data, loss, terms)
    except Refusal as refusal:
        return ScoreTold(reason=str(refusal))
    shown = loss.scale.shown(float(tested.value), tested.read_interval())
    return ScoreTold(shown.value, tested.read_std_error(), shown.interval)


def _with_response(told: Sequence[Answers], response: Response) -> Answers | None:
    """Answers of that kind; a probability of the second class is a score, too."""
    known = {one.response: one for one in told}
    if response in known:
        return known[response]
    if response == "score" and "probability" in known:
        given = known["probability"]
        return replace(given, response="score", values=np.ascontiguousarray(given.values[..., 1]))
    return None
