"""Forecast of the time that an engine takes for a plan, from the times of a few of its fits.

Two numbers of fits are timed, each with all settings, to separate work that is done once (a
decomposition of all rows, for example) from the work of each fit: seconds = once + each · fits. If
an engine says that fits share nothing, one number is enough. An engine that makes every fit of
every setting separately is timed on single fits, spread over fits and settings. If settings share
the steps of a pipeline, it is timed on whole fits as well.

A forecast supports a decision: if a fit takes long, what one pass has shown is not measured again
in the next one, whose fits see fewer rows. The time is assumed to grow with the square of the
number of rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from truerisk.contracts import Engine, Request
from truerisk.core.frozen import frozen
from truerisk.engines.generic import Generic
from truerisk.engines.running.doors import steps_shared_by
from truerisk.engines.running.executors import workers_of
from truerisk.engines.settings import groups_along
from truerisk.engines.templates.one_fit import OneFit
from truerisk.engines.templates.one_pass import OnePass
from truerisk.estimation.problem import Problem
from truerisk.plan.plan import Plan

ENOUGH = 0.25  # Seconds. A longer timing is not repeated with more fits.
# Seconds. One such timing is enough if the pass before showed the work that is done once.
FAIR = 0.02
LONG = 2.0  # Seconds. A timing of this length is not repeated to exclude imports.
LONGEST = 10.0  # Seconds. A fit of this length is not repeated for the next pass.
FEWEST = 3  # number of single fits (cheap, medium and expensive) for an engine with one per setting
FACTOR = 4  # factor by which the number of timed fits grows

Timing = Callable[[int], float]
"""Function that returns the seconds that this number of fits takes."""


@frozen
class Pace:
    """Seconds that an engine spends once, and seconds that it spends on each fit."""

    engine: str
    once: float
    each: float
    rows: float  # number of training rows of a fit

    def seconds(self, n_fits: int) -> float:
        """Return the seconds of `n_fits` fits of the same kind."""
        return self.once + self.each * n_fits

    def of_rows(self, rows: float) -> Pace:
        """Return the pace of fits that see `rows` rows."""
        growth = (rows / self.rows) ** 2
        return replace(self, once=growth * self.once, each=growth * self.each, rows=rows)

    @property
    def share(self) -> float:
        """Share of the work that is done once in the seconds of a single fit."""
        return self.once / (self.once + self.each) if self.once else 0.0


def pace_of(
    problem: Problem,
    plan: Plan,
    *,
    winners: bool = False,
    like: Pace | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Pace:
    """Return the pace of a plan's fits, each with all settings, or with one if `winners`.

    If one fit is long, the work that is done once is assumed to have the same share as in `like`.
    If it is very long, `like` itself is used; for single fits this is the case unless they are
    short.
    """
    engine = problem.asking().choose(plan, Request.from_plan(problem.loss, plan))
    like = like if like is not None and like.engine == engine.name else None
    settings, rows = len(problem.family), float(plan.train_sizes.mean())
    shared = steps_shared_by(problem.family, problem.data, len(problem.family))
    alone = isinstance(engine, Generic) and shared is None
    if like is not None and like.seconds(1) >= LONGEST and not alone:
        return like.of_rows(rows)
    if alone:
        times = 1 if winners else settings
        if like is not None and like.each * _workers(problem, engine) >= settings * ENOUGH:
            return replace(like, each=like.each * times / settings).of_rows(rows)

        def single(n: int) -> float:
            return _timed(problem, plan, _spread(n, plan.n_fits), _spread(n, settings), clock)

        least = ENOUGH if like is None else FAIR
        each = times * mean_of(single, plan.n_fits * settings, min(FEWEST, settings), least)
        return Pace(engine.name, 0.0, each / _workers(problem, engine), rows)

    def whole(n: int) -> float:
        only = _spread(n, settings) if winners else None
        return _timed(problem, plan, _spread(n, plan.n_fits), only, clock)

    share = 0.0 if _shares_nothing(engine, problem) else None
    share = share if like is None else like.share
    once, each = line_of(whole, plan.n_fits, share, first=like is None)
    return Pace(engine.name, once, each / _workers(problem, engine), rows)


def mean_of(timing: Timing, most: int, fewest: int, enough: float = ENOUGH) -> float:
    """Return the seconds of one of `most` fits that share nothing, as a mean over a few.

    The mean is over as many fits as can be timed quickly.

    >>> mean_of(lambda n: 2.0 * n, 1000, 3)
    2.0
    """
    n, seconds = 1, timing(1)  # this timing includes imports and caches
    if seconds >= enough and fewest <= 1:
        return seconds
    while True:
        n = min(most, fewest if n < fewest else n * FACTOR)
        seconds = timing(n)
        if seconds >= enough or n == most:
            return seconds / n


def line_of(
    timing: Timing, most: int, share: float | None = None, *, first: bool = True
) -> tuple[float, float]:
    """Return the seconds that are spent once, and for each of `most` fits.

    They come from the two largest numbers of fits that can be timed quickly. If the `share` of work
    done once is known, a timing of one fit is enough, unless it is short. The `first` timing
    includes imports and caches.

    >>> line_of(lambda n: 5.0 + 2.0 * n, 1000)
    (5.0, 2.0)
    """
    n, seconds = 1, timing(1)
    enough = ENOUGH if first else FAIR  # The `share` includes the overhead of a call.
    if seconds < (LONG if first and share is not None else enough):
        seconds = timing(1)  # The second timing excludes imports and first use of caches.
    if share is not None and seconds >= enough:
        return share * seconds, (1 - share) * seconds
    while n < most:
        before, n = (n, seconds), min(most, n * (FACTOR if seconds < ENOUGH else 2))
        seconds = timing(n)
        if seconds >= ENOUGH or n == most:
            each = max(seconds - before[1], 0.0) / (n - before[0])
            return max(seconds - each * n, 0.0), each
    return 0.0, seconds / n


def _timed(
    problem: Problem,
    plan: Plan,
    fits: np.ndarray,
    candidates: np.ndarray | None,
    clock: Callable[[], float],
) -> float:
    """Return the seconds of these fits, each with its candidate, or with all if none are given.

    A fit that is listed several times, each time with another candidate, is made as often.
    """
    runs = [(fits, candidates)]
    if candidates is not None and len(np.unique(fits)) < len(fits):
        runs = [(fits[i : i + 1], candidates[i : i + 1]) for i in range(len(fits))]
    seconds = 0.0
    for some, only in runs:
        part = plan.select(np.flatnonzero(np.isin(plan.fit, some)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = clock()
            problem.asking(executor=None)(part, only)
            seconds += clock() - started
    return seconds


def _spread(n: int, most: int) -> np.ndarray:
    """Return n of 0, ..., most - 1, evenly spread and ascending; with repetitions if n is larger.

    >>> _spread(1, 10).tolist(), _spread(4, 10).tolist(), _spread(4, 2).tolist()
    ([5], [1, 3, 6, 8], [0, 0, 1, 1])
    """
    return ((np.arange(n) + 0.5) * most / n).astype(np.int64)


def _shares_nothing(engine: Engine, problem: Problem) -> bool:
    """Return True if the engine does nothing for several fits at once."""
    if isinstance(engine, Generic | OneFit):
        return True
    if not isinstance(engine, OnePass):
        return False
    return not any(map(engine.shares_work, groups_along(problem.family, engine.along)))


def _workers(problem: Problem, engine: Engine) -> int:
    """Return the number of workers that share the fits; a one-pass engine runs in this process."""
    shares = isinstance(engine, Generic | OneFit)
    return (workers_of(problem.executor) or 1) if shares else 1
