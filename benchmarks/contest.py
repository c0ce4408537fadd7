"""Two sides run in alternation: peer, ours, peer, ours ...; a speed is the ratio of their medians.

Machines drift by tens of percent within a minute, so a number of one side alone says little. Both
sides return what they computed: if that differs the result is an error, not a ratio.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.results import Result

__all__ = ["Side", "alternate", "contest", "difference"]

Side = Callable[[], Any]
Pair = tuple[float, float]


def alternate(
    peer: Side,
    ours: Side,
    repeats: int,
    *,
    compare: Callable[[Any, Any], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    ours_times: int = 1,
) -> list[Pair]:
    """`(peer, ours)` seconds of each round, after one round that only warms up.

    `compare` sees what both returned in every round, outside the measured time. Where ours takes
    a thousandth of the peer, `ours_times` runs in a row make one: their mean.
    """
    if repeats < 1:
        raise ValueError(f"repeats={repeats}: a contest has at least one round.")
    rounds = [_round(peer, ours, compare, clock, ours_times) for _ in range(repeats + 1)]
    return rounds[1:]


def contest(
    what: str,
    peer: Side,
    ours: Side,
    repeats: int,
    *,
    ratio: float | None = None,
    seconds: float | None = None,
    tolerance: float | None = 1e-10,
    clock: Callable[[], float] = time.perf_counter,
    ours_times: int = 1,
) -> Result:
    """One line of the table; `ratio` and `seconds` are the most that ours may take.

    `tolerance` is how far the numbers of both sides may differ, absolutely; None where the sides
    do different things on purpose, as in start-up times.
    """
    wanted = [] if ratio is None else [f"ratio <= {ratio:g}"]
    wanted += [] if seconds is None else [f"<= {seconds:g} s"]
    target = " and ".join(wanted)

    def compare(theirs: Any, own: Any) -> None:
        why = None if tolerance is None else difference(theirs, own, tolerance)
        if why is not None:
            raise _Disagreement(why)

    try:
        rounds = alternate(peer, ours, repeats, compare=compare, clock=clock, ours_times=ours_times)
    except _Disagreement as disagreement:
        return Result(what, target, error=f"the sides disagree: {disagreement}")
    theirs, own = ([pair[side] for pair in rounds] for side in (0, 1))
    result = Result(what, target, median(theirs), median(own), peer_all=theirs, ours_all=own)
    held = [median(own) <= ratio * median(theirs)] if ratio is not None else []
    held += [median(own) <= seconds] if seconds is not None else []
    return Result(**{**vars(result), "met": all(held) if held else None})


def difference(theirs: Any, own: Any, tolerance: float) -> str | None:
    """What differs between the numbers of both sides, or None."""
    a, b = np.asarray(theirs, dtype=np.float64), np.asarray(own, dtype=np.float64)
    if a.shape != b.shape:
        return f"the peer gave shape {a.shape}, ours {b.shape}."
    far = ~(np.abs(a - b) <= tolerance)  # NaN is far from everything
    if not far.any():
        return None
    at = tuple(int(i) for i in np.argwhere(far)[0])
    return (
        f"{int(far.sum())} of {a.size} numbers differ by more than {tolerance:g}, "
        f"the first at {at}: the peer gave {a[at]:.12g}, ours {b[at]:.12g}."
    )


class _Disagreement(Exception):
    """Both sides ran and computed different numbers."""


def _round(
    peer: Side,
    ours: Side,
    compare: Callable[[Any, Any], None] | None,
    clock: Callable[[], float],
    ours_times: int,
) -> Pair:
    theirs, peer_seconds = _timed(peer, clock)
    own, own_seconds = _timed(ours, clock, ours_times)
    if compare is not None:
        compare(theirs, own)
    return peer_seconds, own_seconds


def _timed(side: Side, clock: Callable[[], float], times: int = 1) -> tuple[Any, float]:
    gc.collect()  # neither side pays for the garbage of the other
    started = clock()
    for _ in range(times):
        found = side()
    return found, (clock() - started) / times
