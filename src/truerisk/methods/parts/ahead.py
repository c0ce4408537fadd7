"""Notes on how far ahead in time rows were tested, relative to their training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.data.data import Data
from truerisk.plan.plan import Plan
from truerisk.splitting.in_time import get_row_times


def forecast_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return notes on how far ahead the models forecast, and on their training windows' sizes.

    Return no notes if a test row is not later than all of its training rows.

    >>> from truerisk.plan.builder import plan_from_splits
    >>> rows = np.arange(6)
    >>> data = Data.check(rows[:, None], rows / 2, task="regression")
    >>> plan = plan_from_splits(6, [(rows[:2], rows[2:4]), (rows[:4], rows[4:])])
    >>> forecast_notes(plan, data)[0][:63]
    'the risk is that of forecasts 1 to 2 rows ahead of windows of 2'
    """
    row_times = get_row_times(data)
    time_distances = []
    for test_set in range(plan.n_questions):
        last_training_time = row_times[plan.train_rows(int(plan.fit[test_set]))[0]].max()
        test_times = row_times[plan.test_rows(test_set)[0]]
        if test_times.min() <= last_training_time:
            return ()
        time_distances += [
            test_times.min() - last_training_time,
            test_times.max() - last_training_time,
        ]
    smallest_window, largest_window = plan.train_sizes.min(), plan.train_sizes.max()
    sizes_text = (
        f"{smallest_window}"
        if smallest_window == largest_window
        else f"{smallest_window} to {largest_window}"
    )
    distance_text = _distance_text(min(time_distances), max(time_distances), data)
    forecast_note = (
        f"the risk is that of forecasts {distance_text} ahead of windows of {sizes_text} rows: it "
        "says "
    )
    return (f"{forecast_note}nothing of times further ahead.", *_missing_class_notes(plan, data))


def _missing_class_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return a note if training windows lack a class, which their models cannot predict."""
    if data.codes is None:
        return ()
    class_counts = [
        len(np.unique(data.codes[plan.train_rows(fit)[0]])) for fit in range(plan.n_fits)
    ]
    n_lacking_windows = sum(n < data.n_classes for n in class_counts)
    if not n_lacking_windows:
        return ()
    sentence = (
        f"{n_lacking_windows} of {plan.n_fits} windows lack a class of y, which their models "
        "never predict"
    )
    return (f"{sentence}: start later, with fewer forecasts or a longer window.",)


def _distance_text(low: Any, high: Any, data: Data) -> str:
    if data.time is None:
        return f"{low} to {high} rows"
    if data.time.dtype.kind != "M":
        return f"{low:.4g} to {high:.4g}"
    unit_codes = {"days": "D", "hours": "h", "minutes": "m", "seconds": "s"}
    usable_units = (
        unit_name
        for unit_name, time_unit in unit_codes.items()
        if high >= np.timedelta64(1, time_unit)  # type: ignore[call-overload]
    )
    unit_name = next(usable_units, "seconds")
    time_unit: Any = np.timedelta64(1, unit_codes[unit_name])  # type: ignore[call-overload]
    return f"{low / time_unit:.4g} to {high / time_unit:.4g} {unit_name}"
