"""The interval that the risk of a tuned learner gets where the user asks for none.

Chosen from the calibration battery (docs/intervals.md, decisions 15 and 23): Beta for losses with
a bound, log-normal for other losses that are never negative, both with the variance of independent
rows enlarged. It is made from the outer folds that were drawn, whatever engine answered them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from truerisk.api.road.problem import Problem
from truerisk.core.contracts import Method
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms import as_form
from truerisk.methods.interval_forms.inflation import calibrated_word
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.parts.procedure import Procedure

__all__ = ["default_word", "with_default_interval", "with_usual_intervals"]


def default_word(method: Method, loss: Loss, data: Data) -> str | None:
    """The word of the calibrated interval, None where it is not made for the method or the loss.

    It takes rows, or what lies together, as independent: rows in the order of time are neither.
    """
    if method.respects_time:
        return None
    word = calibrated_word(loss, data)
    pools = isinstance(method, Averaged) and method.average_of(loss) == "pooled"
    if word is None or (pools and not loss.one_scale):  # one rank of all answers has no spread
        return None
    return word if as_form(word).lacking(method.gives) is None else None


def with_usual_intervals(problem: Problem, method: Method) -> Problem:
    """The problem in which scores of whole test sets have the calibrated interval, if any.

    Losses of rows keep the method's own, and what a user asked for stays.
    """

    def word(loss: Loss) -> str | None:
        of_folds = isinstance(method, Averaged) and not loss.per_row
        return default_word(method, loss, problem.data) if of_folds else None

    return _worded(problem, word)


def with_default_interval(problem: Problem, testing: Procedure) -> Problem:
    """The problem that asks for the calibrated interval, unless the user asked for one.

    The further scores have theirs: what a user asks for is the interval of the loss.
    """
    return _worded(problem, lambda loss: default_word(testing.outer_method, loss, problem.data))


def _worded(problem: Problem, word: Callable[[Loss], str | None]) -> Problem:
    """The problem with these words: of the loss if none was asked for, and of every score."""
    scores = {
        name: replace(score, interval=word(score.loss)) for name, score in problem.scores.items()
    }
    return replace(problem, scores=scores, interval=problem.interval or word(problem.loss))
