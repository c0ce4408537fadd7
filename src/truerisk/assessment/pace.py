"""Forecast how long an engine takes for a plan, from the times of a few of its own fits.

Two numbers of fits are timed, each with all settings, so that what is done once (a decomposition of
all rows, say) and what each fit adds are told apart: seconds = once + each · fits. Where an engine
says that fits share nothing, one number is enough. An engine that makes every fit of every setting
by itself is timed on single ones, spread over fits and settings; where settings share the steps of
a pipeline, it is timed on whole fits as well.

A forecast is for deciding: where a fit takes long, what one pass has told is not asked again in the
next one, whose fits see fewer rows. Its seconds are taken to grow with the square of the rows.
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

ENOUGH = 0.25  # seconds; a longer timing is not repeated with more fits
FAIR = 0.02  # seconds; one timing of so many is enough where the pass before told what is once
LONG = 2.0  # seconds; so long a timing is not repeated to be rid of imports
LONGEST = 10.0  # seconds; so long a fit is not made again for the next pass
FEWEST = 3  # single fits of an engine that makes one per setting: cheap, middling and dear ones
FACTOR = 4  # by which the number of timed fits grows

Timing = Callable[[int], float]
"""Seconds that so many fits take."""


@frozen
class Pace:
    """Seconds that an engine spends once, and seconds that it spends on each fit."""

    engine: str
    once: float
    each: float
    rows: float  # how many a fit saw

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
    """The pace of the fits of a plan, each with all settings; with `winners` with one of them.

    Where one fit is long, what is done once is taken to have the share that it has in `like`, and
    where it is very long, `like` is the answer; of single fits, where they are not short.
    """
    engine = problem.asking().choose(plan, Request.of(problem.loss, plan))
    like = like if like is not None and like.engine == engine.word else None
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
        return Pace(engine.word, 0.0, each / _workers(problem, engine), rows)

    def whole(n: int) -> float:
        only = _spread(n, settings) if winners else None
        return _timed(problem, plan, _spread(n, plan.n_fits), only, clock)

    share = 0.0 if _shares_nothing(engine, problem) else None
    share = share if like is None else like.share
    once, each = line_of(whole, plan.n_fits, share, first=like is None)
    return Pace(engine.word, once, each / _workers(problem, engine), rows)


def mean_of(timing: Timing, most: int, fewest: int, enough: float = ENOUGH) -> float:
    """Seconds of one of `most` fits that share nothing, the mean over as many as are quick to make.

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
    """Seconds once and for each of `most` fits, by the two largest numbers that are quick to time.

    With the `share` of what is done once a timing of one fit is enough, if it is not short. Imports
    and caches are in the `first` one.

    >>> line_of(lambda n: 5.0 + 2.0 * n, 1000)
    (5.0, 2.0)
    """
    n, seconds = 1, timing(1)
    enough = ENOUGH if first else FAIR  # in `share` is what it takes to ask at all
    if seconds < (LONG if first and share is not None else enough):
        seconds = timing(1)  # a second timing leaves imports and caches out
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
    """Seconds of these fits, each of its candidate; of all candidates where none are given.

    A fit that stands there several times, each time with another candidate, is made as often.
    """
    runs = [(fits, candidates)]
    if candidates is not None and len(np.unique(fits)) < len(fits):
        runs = [(fits[i : i + 1], candidates[i : i + 1]) for i in range(len(fits))]
    seconds = 0.0
    for some, only in runs:
        part = plan.only(np.flatnonzero(np.isin(plan.fit, some)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = clock()
            problem.asking(executor=None)(part, only)
            seconds += clock() - started
    return seconds


def _spread(n: int, most: int) -> np.ndarray:
    """So many of 0, ..., most - 1, evenly spread, ascending; with repetitions where n is larger.

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
    """Among how many the fits are shared: an engine of one pass runs in this process."""
    shares = isinstance(engine, Generic | OneFit)
    return (workers_of(problem.executor) or 1) if shares else 1
