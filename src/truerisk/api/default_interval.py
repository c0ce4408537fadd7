"""The interval that the risk of a tuned learner gets where the user asks for none.

Chosen from the calibration battery (docs/intervals.md, decisions 15 and 20): Beta for losses with
a bound, log-normal for other losses that are never negative, both with the variance of independent
rows enlarged. Where ten repetitions of the outer folds cost little, it is made from them, since
they show how unstable the learner is. The engine and the size of the work decide, not a clock.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

from truerisk.api.compute import Computed, Problem, compute, procedure_of
from truerisk.core.contracts import Method
from truerisk.core.data import Data
from truerisk.core.errors import TrueRiskError
from truerisk.core.losses import Loss
from truerisk.core.present import without_folders
from truerisk.core.results import RiskEstimate
from truerisk.methods.kfold import KFold
from truerisk.methods.nested import Nested

__all__ = ["REPEATS", "default_word", "quick", "sharpened", "with_default_interval"]

REPEATS = 10
ONE_DRAWING = "the interval is that of one drawing of the outer folds:"

# (rows, columns, fits of one repetition) whose ten repetitions take about a second
QUICK: dict[str, Callable[[int, int, int], bool]] = {
    "knn": lambda n, p, fits: n <= 1000,  # one more repetition reads what the engine knows
    "least-squares": lambda n, p, fits: n * p <= 12_000 and fits <= 10_000,
    **dict.fromkeys(
        ("discriminant", "quadratic", "fisher"),
        lambda n, p, fits: n * p <= 5_000 and p <= 40 and fits <= 10_000,
    ),
    "tree": lambda n, p, fits: n * p * fits <= 1_000_000,
    "logistic-path": lambda n, p, fits: n * p * fits <= 20_000_000,
}


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


def quick(engine: str, data: Data, n_fits: int) -> bool:
    """Whether ten repetitions of outer folds that take `n_fits` fits each need about a second."""
    shape: tuple[int, ...] = getattr(data.X, "shape", ())  # of sparse tables and frames, too
    n_columns = shape[1] if len(shape) == 2 else 1
    return engine in QUICK and QUICK[engine](data.n_rows, n_columns, n_fits)


def sharpened(
    risk: RiskEstimate, nested: Nested, honest: Computed, tuned: Computed
) -> RiskEstimate:
    """The same value with the interval of ten repetitions of its folds, where they are cheap.

    Nobody asked for them, so where they cannot be had the risk keeps its interval, with a note.
    """
    if risk.value is None or risk.interval is None or not _cheap(nested, honest, tuned):
        return risk
    try:
        more = _of_ten(nested, honest.problem)
    except TrueRiskError as error:
        first = without_folders(str(error).splitlines()[0])
        return _noted(risk, f"{ONE_DRAWING} ten could not be had: {first}")
    if more is None or more.interval is None:
        return risk
    if risk.value not in more.interval:
        return _noted(risk, f"{ONE_DRAWING} that of ten, {more.interval}, does not hold the value.")
    note = (
        f"the interval is that of {REPEATS} repetitions of the outer folds, mean {more.value:.4g}"
    )
    return replace(
        _noted(risk, note, *(one for one in more.notes if one not in risk.notes)),
        interval=more.interval,
        n_fits=risk.n_fits + more.n_fits,
        seconds=risk.seconds + more.seconds,
    )


def _cheap(nested: Nested, honest: Computed, tuned: Computed) -> bool:
    """Whether the outer folds can be drawn again, and that nobody waits for it."""
    outer, problem = nested.outer_method, honest.problem
    if type(outer) is not KFold or outer.folds is not None or outer.repeats > 1:
        return False
    engines = {honest.engine, tuned.engine}
    if not all(quick(engine, problem.data, honest.evaluation.n_fits) for engine in engines):
        return False
    if "tree" not in engines:
        return True
    from truerisk.engines.trees.growing import grows  # scikit-learn takes some ten times as long

    return grows(problem.family, problem.data, honest.evaluation.plan)


def _of_ten(nested: Nested, problem: Problem) -> RiskEstimate | None:
    """The risk of the procedure from ten repetitions; the first has said all warnings."""
    outer = nested.outer_method
    assert isinstance(outer, KFold)  # as `_cheap` has seen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return procedure_of(
            compute(problem, replace(nested, outer=replace(outer, repeats=REPEATS)))
        )


def _noted(risk: RiskEstimate, *notes: str) -> RiskEstimate:
    return replace(risk, notes=(*risk.notes, *notes))
