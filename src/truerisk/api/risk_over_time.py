"""`risk_over_time`: the losses of an estimate along time, and whether they drift."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.arguments import check_count, shown
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.present import number, text_table
from truerisk.core.results import RiskEstimate, frame_of
from truerisk.core.statistics.long_run import long_run
from truerisk.core.table.times import checked_times

__all__ = ["RiskOverTime", "risk_over_time"]

FEWEST_TIMES = 300  # of fewer, a test at .05 found a trend in 9 of 100 series without one


@dataclass(frozen=True, eq=False)
class RiskOverTime:
    """Mean losses in stretches of time of about equally many times, and their trend.

    Stretch j has `n_rows[j]` rows from `starts[j]` to `ends[j]`, whose mean loss is `values[j]`.
    `slope` is by how much the loss rises from the first tested time to the last, on a straight
    line; `std_error` and `p_value` (of no trend, two-sided) are None with a reason in `notes` where
    the series is too short, or remembers too long.
    """

    starts: np.ndarray
    ends: np.ndarray
    values: np.ndarray
    n_rows: np.ndarray
    slope: float
    std_error: float | None
    p_value: float | None
    loss: str
    notes: tuple[str, ...] = field(default=())

    def frame(self) -> Any:
        """A line for each stretch."""
        return frame_of(
            {
                "start": self.starts.tolist(),
                "end": self.ends.tolist(),
                "risk": self.values.tolist(),
                "n_rows": self.n_rows.tolist(),
            }
        )

    def __str__(self) -> str:
        rows = [
            [str(start), str(end), number(value), str(n)]
            for start, end, value, n in zip(
                self.starts, self.ends, self.values, self.n_rows, strict=True
            )
        ]
        sure = "" if self.p_value is None else f", p = {number(self.p_value)} of no trend"
        trend = f"trend from first to last: {number(self.slope)} ({self.loss}){sure}"
        return "\n".join([text_table(["from", "to", "risk", "rows"], rows), trend, *self.notes])


def risk_over_time(
    estimate: RiskEstimate, time: Any = None, *, n_stretches: int = 10
) -> RiskOverTime:
    r"""The losses of an estimate along time: a mean for each stretch, and a test for a trend.

    With :math:`\bar{ℓ}_t` the mean loss at time t, the line :math:`a + b\, x_t` is fitted by least
    squares, x from 0 at the first tested time to 1 at the last. The standard error of b is that of
    the mean of :math:`(x_t - \bar{x})(\bar{ℓ}_t - a - b\, x_t)`, which may depend on its past, by
    the cosines of the interval `hac`; the test is the one that this interval inverts.

    Parameters
    ----------
    estimate : RiskEstimate
        One with losses of single rows, as `estimate_risk(..., time=...)` gives.
    time : array, optional
        When each row of X was taken, as it was given to `estimate_risk`; by default the number of
        the row.
    n_stretches : int
        How many means; fewer where there are fewer times.

    Returns
    -------
    RiskOverTime

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> load = tr.datasets.make_daily_load
    >>> X, y = load(730, random_state=1)
    >>> est = tr.estimate_risk(Ridge(), X, y, time=load.dates(730))
    >>> found = tr.risk_over_time(est, load.dates(730), n_stretches=4)
    >>> len(found.values), found.p_value is None
    (4, False)
    """
    if not isinstance(estimate, RiskEstimate):
        raise BadArgument(f"estimate={shown(estimate)}: give what `estimate_risk` returned.")
    check_count("n_stretches", n_stretches)
    losses, rows = estimate.losses, estimate.loss_rows
    if losses is None or rows is None:
        raise Refusal(f"'{estimate.method}' with '{estimate.loss}' has no losses of single rows.")
    if estimate.weighted:
        raise Refusal("rows had weights, which an estimate does not keep: estimate without them.")
    times = np.arange(estimate.n_rows) if time is None else checked_times(time, None, len(time))
    assert times is not None
    if len(times) != estimate.n_rows:
        raise BadData(f"time has {len(times)} entries for an estimate of {estimate.n_rows} rows.")
    distinct, member, counts = np.unique(times[rows], return_inverse=True, return_counts=True)
    member = member.ravel()
    if len(distinct) < 3:
        raise BadData(f"rows of {len(distinct)} times were tested: a line needs three of them.")
    slope, error, p_value, notes = _trend(distinct, np.bincount(member, losses) / counts)
    parts = np.array_split(np.arange(len(distinct)), min(n_stretches, len(distinct)))
    stretch = np.repeat(np.arange(len(parts)), [len(part) for part in parts])[member]
    n_rows = np.bincount(stretch)
    return RiskOverTime(
        starts=np.array([distinct[part[0]] for part in parts]),
        ends=np.array([distinct[part[-1]] for part in parts]),
        values=np.bincount(stretch, losses) / n_rows,
        n_rows=n_rows,
        slope=slope,
        std_error=error,
        p_value=p_value,
        loss=estimate.loss,
        notes=notes,
    )


def _trend(
    times: np.ndarray, losses: np.ndarray
) -> tuple[float, float | None, float | None, tuple[str, ...]]:
    """Slope, standard error and p-value, or why there is none."""
    x = np.asarray((times - times[0]) / (times[-1] - times[0]), dtype=float)
    x = x - x.mean()
    total = float(x @ x)
    slope = float(x @ losses) / total
    n = len(x)
    parts = x * (losses - losses.mean() - slope * x) / total
    found = long_run(parts) if n >= FEWEST_TIMES else None
    if found is None or found.std_error == 0:
        why = f"{n} times are too few, or depend on each other for too long, for a test of a trend."
        return slope, None, None, (why,)
    error = n * found.std_error
    return slope, error, found.p_value(slope / error), ()
