"""Forecast of the time that an engine takes for a plan, from the times of a few of its fits.

Two numbers of fits are timed, each with all settings, to separate work that is done once (a
decomposition of all rows, for example) from the work of each fit: seconds = once + each · fits. If
an engine says that fits share nothing, one number is enough. An engine that makes every fit of
every setting separately is timed on single fits, spread over fits and settings. If settings share
the steps of a pipeline, it is timed on whole fits as well.

A forecast supports a decision: if a fit takes long, the times of one plan are not measured again
for the next plan, whose fits see fewer rows. The time is assumed to grow with the square of the
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
from truerisk.engines.running.doors import shared_steps_of_family
from truerisk.engines.running.executors import count_workers
from truerisk.engines.settings import group_candidates
from truerisk.engines.templates.one_fit import OneFit
from truerisk.engines.templates.one_pass import OnePass
from truerisk.estimation.problem import EstimationProblem
from truerisk.plan.plan import Plan

# A timing that takes at least this many seconds is not repeated with more fits.
ENOUGH_SECONDS = 0.25
# If an earlier plan has shown how much work is done once, a single timing is enough if it takes at
# least this many seconds.
ENOUGH_SECONDS_LATER = 0.02
# A timing that takes at least this many seconds is not repeated to exclude imports.
LONG_TIMING_SECONDS = 2.0
# If a fit takes at least this many seconds, fits of the next plan are not timed.
LONG_FIT_SECONDS = 10.0
# If settings are fitted separately, at least this many fits are timed: a cheap, a medium and an
# expensive one.
MIN_SINGLE_FITS = 3
N_FITS_FACTOR = 4  # factor by which the number of timed fits grows from one timing to the next

TimingFunction = Callable[[int], float]
"""Function that makes a number of fits and returns the seconds that they took."""


@frozen
class Pace:
    """Time that an engine needs: seconds once per plan, and further seconds for each fit."""

    engine: str
    seconds_once: float
    seconds_each: float
    rows: float  # mean number of training rows of a fit

    def seconds(self, n_fits: int) -> float:
        """Return the seconds of `n_fits` fits of the same kind."""
        return self.seconds_once + self.seconds_each * n_fits

    def scale_to_rows(self, rows: float) -> Pace:
        """Return the pace of fits that are trained on the given number of rows.

        The seconds are assumed to grow with the square of the number of rows.
        """
        growth = (rows / self.rows) ** 2
        return replace(
            self,
            seconds_once=growth * self.seconds_once,
            seconds_each=growth * self.seconds_each,
            rows=rows,
        )

    @property
    def once_share(self) -> float:
        """Share of a single-fit plan's seconds that goes into work done once per plan."""
        return (
            self.seconds_once / (self.seconds_once + self.seconds_each)
            if self.seconds_once
            else 0.0
        )


def measure_pace(
    problem: EstimationProblem,
    plan: Plan,
    *,
    is_winners_only: bool = False,
    earlier_pace: Pace | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Pace:
    """Measure the pace of a plan: the seconds spent once, and the seconds of each fit.

    Each fit includes all settings, or only one setting if `is_winners_only` is True.

    `earlier_pace` is the pace of an earlier plan. If one fit is long, the work that is done once is
    assumed to have the same share as there. If it is very long, `earlier_pace` itself is used; for
    single fits this is the case unless they are short.
    """
    engine = problem.create_asking().choose(plan, Request.from_plan(problem.loss, plan))
    earlier_pace = (
        earlier_pace if earlier_pace is not None and earlier_pace.engine == engine.name else None
    )
    n_settings, mean_train_rows = len(problem.family), float(plan.train_sizes.mean())
    shared_steps = shared_steps_of_family(problem.family, problem.data, len(problem.family))
    has_separate_fits = isinstance(engine, Generic) and shared_steps is None
    if (
        earlier_pace is not None
        and earlier_pace.seconds(1) >= LONG_FIT_SECONDS
        and not has_separate_fits
    ):
        return earlier_pace.scale_to_rows(mean_train_rows)
    if has_separate_fits:
        n_settings_per_fit = 1 if is_winners_only else n_settings
        if (
            earlier_pace is not None
            and earlier_pace.seconds_each * _n_workers(problem, engine)
            >= n_settings * ENOUGH_SECONDS
        ):
            return replace(
                earlier_pace,
                seconds_each=earlier_pace.seconds_each * n_settings_per_fit / n_settings,
            ).scale_to_rows(mean_train_rows)

        def time_single_fits(n: int) -> float:
            return _time_fits(
                problem,
                plan,
                _evenly_spaced_indices(n, plan.n_fits),
                _evenly_spaced_indices(n, n_settings),
                clock,
            )

        enough_seconds = ENOUGH_SECONDS if earlier_pace is None else ENOUGH_SECONDS_LATER
        seconds_each = n_settings_per_fit * mean_seconds(
            time_single_fits,
            plan.n_fits * n_settings,
            min(MIN_SINGLE_FITS, n_settings),
            enough_seconds,
        )
        return Pace(engine.name, 0.0, seconds_each / _n_workers(problem, engine), mean_train_rows)

    def time_whole_fits(n: int) -> float:
        candidates = _evenly_spaced_indices(n, n_settings) if is_winners_only else None
        return _time_fits(problem, plan, _evenly_spaced_indices(n, plan.n_fits), candidates, clock)

    once_share = 0.0 if _shares_no_work(engine, problem) else None
    once_share = once_share if earlier_pace is None else earlier_pace.once_share
    seconds_once, seconds_each = seconds_once_and_each(
        time_whole_fits, plan.n_fits, once_share, is_first=earlier_pace is None
    )
    return Pace(
        engine.name, seconds_once, seconds_each / _n_workers(problem, engine), mean_train_rows
    )


def mean_seconds(
    time_fits: TimingFunction, max_fits: int, min_fits: int, enough_seconds: float = ENOUGH_SECONDS
) -> float:
    """Return the mean seconds per fit of fits that share no work; time at most `max_fits` fits.

    The mean is over as many fits as can be timed quickly.

    >>> mean_seconds(lambda n: 2.0 * n, 1000, 3)
    2.0
    """
    n_fits, seconds = 1, time_fits(1)  # The first timing includes imports and filling caches.
    if seconds >= enough_seconds and min_fits <= 1:
        return seconds
    while True:
        n_fits = min(max_fits, min_fits if n_fits < min_fits else n_fits * N_FITS_FACTOR)
        seconds = time_fits(n_fits)
        if seconds >= enough_seconds or n_fits == max_fits:
            return seconds / n_fits


def seconds_once_and_each(
    time_fits: TimingFunction,
    max_fits: int,
    once_share: float | None = None,
    *,
    is_first: bool = True,
) -> tuple[float, float]:
    """Return the seconds that are spent once per plan, and the seconds of each fit.

    A single timing has at most `max_fits` fits.

    The values come from the two largest numbers of fits that can be timed quickly. If the share of
    the work that is done once is known (`once_share`), a timing of one fit is enough, unless it is
    short. A timing that `is_first` in the process includes imports and filling caches.

    >>> seconds_once_and_each(lambda n: 5.0 + 2.0 * n, 1000)
    (5.0, 2.0)
    """
    n_fits, seconds = 1, time_fits(1)
    enough_seconds = (
        ENOUGH_SECONDS if is_first else ENOUGH_SECONDS_LATER
    )  # `once_share` already includes the overhead of a call.
    if seconds < (LONG_TIMING_SECONDS if is_first and once_share is not None else enough_seconds):
        seconds = time_fits(1)  # The second timing excludes imports and first use of caches.
    if once_share is not None and seconds >= enough_seconds:
        return once_share * seconds, (1 - once_share) * seconds
    while n_fits < max_fits:
        earlier_timing, n_fits = (
            (n_fits, seconds),
            min(max_fits, n_fits * (N_FITS_FACTOR if seconds < ENOUGH_SECONDS else 2)),
        )
        seconds = time_fits(n_fits)
        if seconds >= ENOUGH_SECONDS or n_fits == max_fits:
            seconds_each = max(seconds - earlier_timing[1], 0.0) / (n_fits - earlier_timing[0])
            return max(seconds - seconds_each * n_fits, 0.0), seconds_each
    return 0.0, seconds / n_fits


def _time_fits(
    problem: EstimationProblem,
    plan: Plan,
    timed_fits: np.ndarray,
    candidates: np.ndarray | None,
    clock: Callable[[], float],
) -> float:
    """Return the total seconds that the given fits take.

    `candidates` names the candidate of each fit. If it is None, each fit includes all candidates.

    A fit that is listed several times, each time with another candidate, is made as often.
    """
    runs = [(timed_fits, candidates)]
    if candidates is not None and len(np.unique(timed_fits)) < len(timed_fits):
        runs = [(timed_fits[i : i + 1], candidates[i : i + 1]) for i in range(len(timed_fits))]
    seconds = 0.0
    for fit_numbers, run_candidates in runs:
        part_of_plan = plan.select(np.flatnonzero(np.isin(plan.fit, fit_numbers)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start_time = clock()
            problem.create_asking(executor=None)(part_of_plan, run_candidates)
            seconds += clock() - start_time
    return seconds


def _evenly_spaced_indices(n: int, index_limit: int) -> np.ndarray:
    """Return n ascending, evenly spaced indices below `index_limit`.

    Indices are repeated if n is larger than `index_limit`.

    >>> (
    ...     _evenly_spaced_indices(1, 10).tolist(),
    ...     _evenly_spaced_indices(4, 10).tolist(),
    ...     _evenly_spaced_indices(4, 2).tolist(),
    ... )
    ([5], [1, 3, 6, 8], [0, 0, 1, 1])
    """
    return ((np.arange(n) + 0.5) * index_limit / n).astype(np.int64)


def _shares_no_work(engine: Engine, problem: EstimationProblem) -> bool:
    """Return True if the engine makes each fit separately, so that fits share no work."""
    if isinstance(engine, Generic | OneFit):
        return True
    if not isinstance(engine, OnePass):
        return False
    return not any(map(engine.shares_work, group_candidates(problem.family, engine.along)))


def _n_workers(problem: EstimationProblem, engine: Engine) -> int:
    """Return the number of workers among which the fits are divided.

    It is 1 for a one-pass engine, which runs in this process.
    """
    shares_fits = isinstance(engine, Generic | OneFit)
    return (count_workers(problem.executor) or 1) if shares_fits else 1
