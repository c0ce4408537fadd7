"""The interval that the risk of a tuned learner gets where the user asks for none.

Chosen from the calibration battery (docs/intervals.md, decision 15): Beta for losses with a bound,
log-normal for other losses that are never negative, both with the variance of independent rows
enlarged. Where ten repetitions of the outer folds cost little, they make it narrower; that is
decided by the engine and the size of the data, not by a clock.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from truerisk.api.compute import Computed, Problem, compute, procedure_of
from truerisk.core.contracts import Method
from truerisk.core.data import Data
from truerisk.core.losses import Loss
from truerisk.core.results import RiskEstimate
from truerisk.methods.kfold import KFold
from truerisk.methods.nested import Nested

__all__ = ["REPEATS", "default_word", "quick", "sharpened", "with_default_interval"]

MOST_ROWS = {"knn": 1000}  # a further repetition is a further reading of what the engine knows
MOST_NUMBERS = dict.fromkeys(("least-squares", "discriminant", "quadratic", "fisher"), 5000)
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


def quick(engine: str, data: Data) -> bool:
    """Whether ten repetitions of the outer folds take well under a second."""
    n_columns = data.X.shape[1] if np.ndim(data.X) == 2 else 1
    few_rows = data.n_rows <= MOST_ROWS.get(engine, 0)
    return few_rows or data.n_rows * n_columns <= MOST_NUMBERS.get(engine, 0)


def sharpened(
    risk: RiskEstimate, nested: Nested, honest: Computed, tuned: Computed
) -> RiskEstimate:
    """The same value with the interval of ten repetitions of its folds, where they are cheap."""
    outer, problem = nested.outer_method, honest.problem
    if type(outer) is not KFold or outer.folds is not None or outer.repeats > 1:
        return risk
    cheap = all(quick(engine, problem.data) for engine in (honest.engine, tuned.engine))
    if not cheap or risk.interval is None:
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
