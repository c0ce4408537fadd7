"""`risk_over_time`: compute the losses of an estimate in periods of time, and test for drift."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core.arguments import RenamedAttribute, check_count, check_level, mention
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.formats import format_number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import Block, blocks_with_caption, frame_from_columns
from truerisk.data.rows import TableView
from truerisk.data.times import checked_times
from truerisk.results.door import load_from_package
from truerisk.results.interval import Scale
from truerisk.results.records import (
    FINITE_RANGE,
    Column,
    FiniteFloat,
    NonNegative,
    PerfectScore,
    Range,
    Record,
    Share,
)
from truerisk.results.results import RiskEstimate
from truerisk.statistics.long_run import long_run_std_error

MAX_P_VALUE = 0.05  # A trend is reported if its p-value is smaller than MAX_P_VALUE.
# Minimum number of times for which a trend is tested.
# With fewer times, a test at level .05 found a trend in 9 of 100 series without a trend.
MIN_TIMES_FOR_TEST = 300

TimeColumn = Annotated[np.ndarray, Column("stretches", kind="times")]
NumberColumn = Annotated[np.ndarray, Column("stretches", numbers=FINITE_RANGE)]

GROUPS_NOTE = (
    "rows come in {met}, which may be met again later: losses far apart depend on each other, so "
    "a trend has no test."
)


@frozen(eq=False)
class RiskOverTime(Record):
    """Result of `risk_over_time`: mean losses in periods of time, and their trend.

    Each period has about equally many times. `std_error`, `p_value`, `low` and `high` are None with
    a reason in `notes` if the series is too short, or its losses are autocorrelated for too long.

    Parameters
    ----------
    starts : array
        The first time of each period.
    ends : array
        The last time of each period.
    values : array of float
        The mean loss or score in each period, on the requested scale.
    n_rows : array of int
        The number of rows in each period.
    slope : float
        The rise of a straight line from the first tested time to the last.
    std_error : float or None
        The standard error of the slope.
    p_value : float or None
        The two-sided p-value of the hypothesis that there is no trend.
    scoring : str
        Name of the loss or score.
    notes : tuple of str, optional
        Notes for the reader.
    low : array of float, optional
        The lower ends of the band, which contains the mean of each single period with
        `confidence_level`.
    high : array of float, optional
        The upper ends of the band.
    confidence_level : float, default=0.95
        The nominal coverage of the band, for each period separately.
    perfect : float, optional
        The score of a perfect model, as in `RiskEstimate`; None for a loss.

    See Also
    --------
    risk_over_time : Compute the risk over time of an estimate.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> load = tr.datasets.make_daily_load
    >>> X, y = load(365, random_state=1)
    >>> est = tr.estimate_risk(Ridge(), X, y, time=load.dates(365))
    >>> found = tr.risk_over_time(est, n_stretches=3)
    >>> found.n_rows.tolist(), found.scoring
    ([100, 100, 100], 'squared')
    """

    stored: ClassVar[Mapping[str, str]] = {"said": "trend_sentence"}

    starts: TimeColumn
    ends: TimeColumn
    values: Annotated[np.ndarray, Column("stretches", least=1, most=1000, numbers=FINITE_RANGE)]
    n_rows: Annotated[np.ndarray, Column("stretches", kind="i8", numbers=Range(0, 2**53))]
    slope: FiniteFloat
    std_error: NonNegative | None
    p_value: Share | None
    scoring: str
    notes: tuple[str, ...] = ()
    low: NumberColumn | None = None
    high: NumberColumn | None = None
    confidence_level: Share = 0.95
    perfect: PerfectScore | None = None

    @property
    def scale(self) -> Scale:
        """Scale of the reported values: a loss, or a score with its perfect value."""
        return Scale(self.perfect)

    said = RenamedAttribute("trend_sentence")

    @cached_property
    def trend_sentence(self) -> str:
        """Sentence that states the size of the trend and the result of its test."""
        slope, measure_name = self.slope, self.scale.short_name(self.scoring)
        change_text = f"{format_number(abs(slope))} from the first time to the last"
        change_text += f" ({self.scoring})" if self.perfect is None else ""
        direction = "rises" if slope > 0 else "falls"
        if self.p_value is None:
            return (
                f"On a straight line the {measure_name} {direction} by {change_text}. "
                f"No test: {self.notes[0]}"
            )
        p_text = "p < 0.0001" if self.p_value < 1e-4 else f"p = {format_number(self.p_value)}"
        if self.p_value < MAX_P_VALUE:
            return (
                f"The {measure_name} {direction} by {change_text}, on a straight line: "
                f"{p_text} without a trend."
            )
        no_trend_text = "No trend beyond chance: on a straight line"
        return f"{no_trend_text} the {measure_name} {direction} by {change_text}, {p_text}."

    def to_frame(self) -> Any:
        """Return a frame with a row for each period.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        missing_column = [None] * len(self.values)
        return frame_from_columns(
            {
                "start": self.starts.tolist(),
                "end": self.ends.tolist(),
                "value": self.values.tolist(),
                "low": missing_column if self.low is None else self.low.tolist(),
                "high": missing_column if self.high is None else self.high.tolist(),
                "n_rows": self.n_rows.tolist(),
            }
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the risk over time and its trend (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default new axes are made.
        **options
            Further options of the plot.

        Returns
        -------
        matplotlib Axes
            The axes with the drawing.
        """
        return load_from_package("risk-over-time")(self, ax=ax, **options)

    def __str__(self) -> str:
        table, *_ = self.blocks()
        return "\n".join([table.text, self._trend_sentence, *self.notes])

    @override
    def blocks(self) -> list[Block]:
        rows = [
            [_format_time(start), _format_time(end), format_number(float(value)), str(n_rows)]
            for start, end, value, n_rows in zip(
                self.starts, self.ends, self.values, self.n_rows, strict=True
            )
        ]
        header = ["from", "to", self.scale.column_heading(self.scoring), "rows"]
        return blocks_with_caption([self._trend_sentence, *self.notes], header, rows)

    @property
    def _trend_sentence(self) -> str:
        p_text = "" if self.p_value is None else f", p = {format_number(self.p_value)} of no trend"
        return f"trend from first to last: {format_number(self.slope)} ({self.scoring}){p_text}"


def _format_time(time: Any) -> str:
    """Return a time as text; a date without its hour if that is midnight.

    >>> _format_time(np.datetime64("2026-03-01T00:00:00.000000000")), _format_time(7)
    ('2026-03-01', '7')
    """
    is_date = isinstance(time, np.datetime64)
    return str(np.datetime_as_string(time, unit="auto") if is_date else time)


def risk_over_time(
    estimate: RiskEstimate,
    time: Any = None,
    *,
    n_stretches: int = 10,
    confidence_level: float = 0.95,
) -> RiskOverTime:
    r"""Compute the mean loss in periods of time, and test it for a trend.

    With :math:`\bar{ℓ}_t` the mean loss at time t, the line :math:`a + b\, x_t` is fitted by least
    squares, where x runs from 0 at the first tested time to 1 at the last. The standard error of b
    is computed from that of the mean of the series
    :math:`(x_t - \bar{x})(\bar{ℓ}_t - a - b\, x_t)`, which may be autocorrelated; it is computed
    with the cosine transforms of the interval `hac`. The test is the one that this interval
    inverts. The band around the mean of a period of m times is :math:`\pm\, f\,
    \sqrt{\hat{Ω}/m}`, where :math:`\hat{Ω}` is the long-run variance of the residuals of the line
    and f the factor of `hac`.

    Parameters
    ----------
    estimate : RiskEstimate
        An estimate with losses of single rows, as `estimate_risk(..., time=...)` returns it.
    time : array, optional
        When each row of X was observed. The default are the times that were passed to
        `estimate_risk`, or the row numbers if there were none. An estimate that was read from a
        file contains no times.
    n_stretches : int, default=10
        The number of periods; fewer if there are fewer times.
    confidence_level : float, default=0.95
        The nominal coverage of the band.

    Returns
    -------
    RiskOverTime
        The means of the periods, the slope, and the test.

    See Also
    --------
    estimate_risk : Estimate the risk, with `time` for ordered rows.
    truerisk.methods.Forward : Method that tests models on later rows.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> load = tr.datasets.make_daily_load
    >>> X, y = load(730, random_state=1)
    >>> est = tr.estimate_risk(Ridge(), X, y, time=load.dates(730))
    >>> found = tr.risk_over_time(est, n_stretches=4)
    >>> len(found.values), found.p_value is None
    (4, False)
    """
    if not isinstance(estimate, RiskEstimate):
        raise BadArgument(f"{mention('estimate', estimate)}: give what `estimate_risk` returned.")
    check_count("n_stretches", n_stretches)
    check_level("confidence_level", confidence_level)
    losses, rows = estimate.losses, estimate.loss_rows
    if losses is None or rows is None:
        raise Refusal(
            f"'{estimate.method}' with '{estimate.scoring}' has no losses of single rows."
        )
    if estimate.weighted:
        raise Refusal("rows had weights, which an estimate does not keep: estimate without them.")
    if time is not None and (isinstance(time, str) or not hasattr(time, "__len__")):
        raise BadArgument(
            f"{mention('time', time)}: give one time for each of {estimate.n_rows} rows."
        )
    if time is None:
        row_times = _times_or_row_numbers(estimate)
    else:
        row_times = checked_times(time, TableView(None, estimate.n_rows))
    assert row_times is not None
    distinct_times, time_index, rows_per_time = np.unique(
        row_times[rows], return_inverse=True, return_counts=True
    )
    time_index = time_index.ravel()
    if len(distinct_times) < 3:
        raise BadData(
            f"rows of {len(distinct_times)} times were tested: a line needs three of them."
        )
    mean_losses = np.bincount(time_index, losses) / rows_per_time
    slope, std_error, p_value, notes = estimate_trend(distinct_times, mean_losses)
    if estimate.n_groups is not None:
        has_places = estimate.answered is not None and estimate.answered.has_coordinates
        recurring_units = "blocks or groups" if has_places else "groups"
        std_error, p_value, notes = None, None, (GROUPS_NOTE.format(met=recurring_units),)
    periods = np.array_split(np.arange(len(distinct_times)), min(n_stretches, len(distinct_times)))
    times_per_period = np.array([len(period) for period in periods])
    period_of_row = np.repeat(np.arange(len(periods)), times_per_period)[time_index]
    n_rows = np.bincount(period_of_row)
    values = np.bincount(period_of_row, losses) / n_rows
    scale, low, high = estimate.scale, None, None
    long_run_result = (
        None if p_value is None else long_run_std_error(_fit_line(distinct_times, mean_losses)[2])
    )
    if long_run_result is not None and long_run_result.std_error > 0:
        half_widths = (
            long_run_result.critical_value(confidence_level)
            * long_run_result.std_error
            * np.sqrt(len(distinct_times) / times_per_period)
        )
        lower_limit = 0.0 if losses.min() >= 0 else -np.inf
        band_ends = (
            scale.values(np.maximum(values - half_widths, lower_limit)),
            scale.values(values + half_widths),
        )
        low, high = np.minimum(*band_ends), np.maximum(*band_ends)
    return RiskOverTime(
        starts=np.array([distinct_times[period[0]] for period in periods]),
        ends=np.array([distinct_times[period[-1]] for period in periods]),
        values=scale.values(values),
        n_rows=n_rows,
        slope=scale.convert_difference(slope),
        std_error=std_error,
        p_value=p_value,
        scoring=estimate.scoring,
        notes=notes,
        low=low,
        high=high,
        confidence_level=confidence_level,
        perfect=estimate.perfect,
    )


def _times_or_row_numbers(estimate: RiskEstimate) -> np.ndarray:
    """Return the times of the estimate's rows, or the row numbers if they have no times."""
    if estimate.answered is None and estimate.ordered:
        raise Refusal(
            f"an estimate read from a file keeps no times of rows: give {mention('time')}."
        )
    known_times = None if estimate.answered is None else estimate.answered.times
    if known_times is None and estimate.answered is not None and estimate.answered.has_coordinates:
        raise Refusal(
            "the rows have places and no times, and their numbers are no times: give "
            f"{mention('time')}."
        )
    return np.arange(estimate.n_rows) if known_times is None else known_times


def _fit_line(times: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Fit a line to losses over time; return the scaled times, the slope and the residuals.

    The times are centred and scaled to a range of 1.
    """
    scaled_times = np.asarray((times - times[0]) / (times[-1] - times[0]), dtype=float)
    scaled_times = scaled_times - scaled_times.mean()
    slope = float(scaled_times @ losses) / float(scaled_times @ scaled_times)
    return scaled_times, slope, losses - losses.mean() - slope * scaled_times


def estimate_trend(
    distinct_times: np.ndarray, mean_losses: np.ndarray
) -> tuple[float, float | None, float | None, tuple[str, ...]]:
    """Return the slope of the trend in mean losses, its standard error and p-value, and notes."""
    scaled_times, slope, residuals = _fit_line(distinct_times, mean_losses)
    n_times = len(scaled_times)
    slope_contributions = scaled_times * residuals / float(scaled_times @ scaled_times)
    long_run_result = (
        long_run_std_error(slope_contributions) if n_times >= MIN_TIMES_FOR_TEST else None
    )
    if long_run_result is None or long_run_result.std_error == 0:
        reason = (
            f"{n_times} time points are too few for a test of a trend, or their losses are "
            "correlated over too long a time."
        )
        return slope, None, None, (reason,)
    std_error = n_times * long_run_result.std_error
    return slope, std_error, long_run_result.p_value(slope / std_error), ()
