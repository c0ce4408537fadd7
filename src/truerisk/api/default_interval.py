"""The interval that the risk of a tuned learner gets where the user asks for none.

Chosen from the calibration battery (docs/intervals.md, decision 15): Beta for losses with a bound,
log-normal for other losses that are never negative, both with the variance of independent rows
enlarged. Where a further repetition of the outer folds costs next to nothing, ten of them make it
narrower; that is decided by the engine and the number of rows, not by a clock.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from truerisk.api.compute import Computed, Problem, compute, procedure_of
from truerisk.core.contracts import Method
from truerisk.core.losses import Loss
from truerisk.core.results import RiskEstimate
from truerisk.methods.kfold import KFold
from truerisk.methods.nested import Nested

__all__ = ["MOST_ROWS", "QUICK", "REPEATS", "default_word", "sharpened", "with_default_interval"]

QUICK = ("knn",)  # engines for which a further repetition is a further reading of what they know
MOST_ROWS = 1000  # beyond, the interval is narrow and repetitions are not
REPEATS = 10


def default_word(method: Method, loss: Loss) -> str | None:
    """The word of the calibrated interval, None where it is not made for the method or the loss."""
    if not loss.per_row or loss.lower != 0:
        return None
    word = "log-cv" if loss.upper is None else "beta-cv"
    return word if word in method.offers else None


def with_default_interval(problem: Problem, nested: Nested) -> Problem:
    """The problem that asks for the calibrated interval, unless the user asked for one."""
    if problem.interval is not None:
        return problem
    return replace(problem, interval=default_word(nested.outer_method, problem.loss))


def sharpened(
    risk: RiskEstimate, nested: Nested, honest: Computed, tuned: Computed
) -> RiskEstimate:
    """The same value with the interval of ten repetitions of its folds, where they are cheap."""
    outer, problem = nested.outer_method, honest.problem
    quick = {honest.engine, tuned.engine} <= set(QUICK) and problem.data.n_rows <= MOST_ROWS
    if type(outer) is not KFold or outer.folds is not None or outer.repeats > 1:
        return risk
    if not quick or risk.interval is None:
        return risk
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first repetition has said it
        again = compute(problem, replace(nested, outer=replace(outer, repeats=REPEATS)))
    more = procedure_of(again)
    if more is None or more.interval is None:
        return risk
    note = (
        f"the interval is that of {REPEATS} repetitions of the outer folds, mean {more.value:.4g}"
    )
    return replace(
        risk,
        interval=more.interval,
        n_fits=risk.n_fits + more.n_fits,
        seconds=risk.seconds + more.seconds,
        notes=(*risk.notes, note),
    )
