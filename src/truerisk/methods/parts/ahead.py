"""Notes on how far ahead in time rows were tested, relative to their training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.data.data import Data
from truerisk.plan.plan import Plan
from truerisk.splitting.in_time import times_of


def ahead_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return notes on the forecast distances and training windows.

    There are none if a training row is later than a tested row.

    >>> from truerisk.plan.builder import split_plan
    >>> rows = np.arange(6)
    >>> data = Data.check(rows[:, None], rows / 2, task="regression")
    >>> plan = split_plan(6, [(rows[:2], rows[2:4]), (rows[:4], rows[4:])])
    >>> ahead_notes(plan, data)[0][:63]
    'the risk is that of forecasts 1 to 2 rows ahead of windows of 2'
    """
    times = times_of(data)
    ends = []
    for q in range(plan.n_questions):
        last = times[plan.train_rows(int(plan.fit[q]))[0]].max()
        tested = times[plan.test_rows(q)[0]]
        if tested.min() <= last:
            return ()
        ends += [tested.min() - last, tested.max() - last]
    least, most = plan.train_sizes.min(), plan.train_sizes.max()
    sizes = f"{least}" if least == most else f"{least} to {most}"
    ahead = _range(min(ends), max(ends), data)
    note = f"the risk is that of forecasts {ahead} ahead of windows of {sizes} rows: it says "
    return (f"{note}nothing of times further ahead.", *_lacking(plan, data))


def _lacking(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return a note on windows that lack a class, which their models cannot predict."""
    if data.codes is None:
        return ()
    n_classes = [len(np.unique(data.codes[plan.train_rows(fit)[0]])) for fit in range(plan.n_fits)]
    few = sum(n < data.n_classes for n in n_classes)
    if not few:
        return ()
    sentence = f"{few} of {plan.n_fits} windows lack a class of y, which their models never predict"
    return (f"{sentence}: start later, with fewer forecasts or a longer window.",)


def _range(low: Any, high: Any, data: Data) -> str:
    if data.time is None:
        return f"{low} to {high} rows"
    if data.time.dtype.kind != "M":
        return f"{low:.4g} to {high:.4g}"
    units = {"days": "D", "hours": "h", "minutes": "m", "seconds": "s"}
    reached = (name for name, unit in units.items() if high >= np.timedelta64(1, unit))  # type: ignore[call-overload]
    name = next(reached, "seconds")
    unit: Any = np.timedelta64(1, units[name])  # type: ignore[call-overload]
    return f"{low / unit:.4g} to {high / unit:.4g} {name}"
