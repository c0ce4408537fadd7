"""Splits in the order of time: forecasts from past rows, and time periods with purged rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Streams, Terms
from truerisk.core.arguments import check_count, is_number, mention
from truerisk.core.errors import BadArgument
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.methods.parts.ahead import forecast_notes
from truerisk.methods.parts.averages import ROW_MEAN_BASES, Averaged, tested_by_average
from truerisk.plan.answers import Answers
from truerisk.plan.builder import plan_from_splits
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis
from truerisk.splitting.in_time import forward_splits, get_row_times, purged_splits


def check_span(name: str, span: Any, *, may_be_0: bool) -> None:
    """Raise BadArgument unless a value is a number or a duration, and not negative.

    If `may_be_0` is false, 0 is refused as well, and None is accepted.
    """
    if span is None and not may_be_0:
        return
    requirement = "a number or a length of time is wanted, such as np.timedelta64(7, 'D'), "
    requirement += "not negative" if may_be_0 else "more than 0"
    try:
        is_duration = isinstance(span, timedelta | np.timedelta64)
        is_valid = is_duration or is_number(span)
        # Python compares a duration only with another duration, so zero must be a duration as well.
        zero = span - span if is_duration else 0
        is_valid = is_valid and bool(span >= zero if may_be_0 else span > zero)
    except (TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise BadArgument(f"{mention(name, span)}: {requirement}.")


def describe_spans(method: Any, **defaults: Any) -> str:
    """Format the durations that differ from their defaults as a suffix of a method's name.

    >>> from types import SimpleNamespace
    >>> describe_spans(SimpleNamespace(gap=3, window=None), gap=0, window=None)
    ' (gap 3)'
    """
    values = {name: getattr(method, name) for name in defaults}
    span_texts = [
        f"{span_name} {span}"
        for span_name, span in values.items()
        if span is not None and (span_name, span) not in defaults.items()
    ]
    return f" ({', '.join(span_texts)})" if span_texts else ""


class TimeSplitMethod(Averaged):
    """Base class of methods that split the rows by time.

    Without `time=`, the order of the rows is taken as the order of time.
    """

    average: Average | None
    target: ClassVar[Target] = "Err"
    respects_time: ClassVar[bool] = True
    gives: ClassVar[frozenset[Basis]] = ROW_MEAN_BASES

    @override
    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        data_with_times = (
            data if data.time is not None else replace(data, time=get_row_times(data).astype(float))
        )
        estimates = tested_by_average(answers, data_with_times, loss, terms, self.average_of(loss))
        notes = forecast_notes(answers.plan, data) if terms.with_errors else ()
        return [replace(estimate, notes=(*notes, *estimate.notes)) for estimate in estimates]


@frozen
class Forward(TimeSplitMethod):
    r"""K forecasts: each model is fitted on rows before an origin and tested on rows after it.

    .. math:: \frac{1}{n} \sum_{j=1}^{K} \sum_{i \in T_j} ℓ(y_i, f_j(x_i)), \quad
       f_j \text{ fitted on } \{i : o_j - gap - window \le t_i < o_j - gap\}

    with :math:`o_j` the first time in test set :math:`T_j`. The training window grows from the
    first row (None: an expanding origin) or moves along (a rolling origin). `horizon` is the
    duration of a test set; by default each test set has n // (K + 1) rows, and the last one ends
    with the last row. `gap`, `window` and `horizon` are in the unit of `time=`: numbers, or
    durations such as ``numpy.timedelta64(7, "D")`` if it holds dates. Without `time=` the order of
    the rows is the order of time, and these parameters count rows. A training set does not contain
    groups that it is tested on.

    The method estimates the mean risk of such forecasts: of models trained on windows of these
    lengths and tested up to a horizon ahead. This is not the risk of a model of all rows, which is
    trained on more rows.

    Tashman LJ (2000). Out-of-sample tests of forecasting accuracy: an analysis and review.
    International Journal of Forecasting 16:437–450.

    Parameters
    ----------
    k : int, default=5
        The number of forecasts.
    gap : number or timedelta64, default=0
        The time between the training rows and the test rows. It is in the unit of `time=`, or a
        number of rows without it.
    window : number or timedelta64, optional
        The length of the training window. By default it begins with the first row. It is in the
        unit of `time=`, or a number of rows without it.
    horizon : number or timedelta64, optional
        The duration of a test set. By default each test set has n // (K + 1) rows. It is in the
        unit of `time=`, or a number of rows without it.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Purged : Time periods without the rows around them.
    risk_over_time : Look at losses over time.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> load = tr.datasets.make_daily_load
    >>> X, y = load(365, random_state=0)
    >>> method = tr.methods.Forward(3)
    >>> est = tr.estimate_risk(Ridge(), X, y, time=load.dates(365), cv=method)
    >>> est.method, est.n_fits, est.ordered
    ('forward-3', 3, True)
    """

    k: int = 5
    gap: Any = 0
    window: Any = None
    horizon: Any = None
    average: Average | None = None

    def __post_init__(self) -> None:
        check_average(self.average)
        check_count("k", self.k)
        for name in ("gap", "window", "horizon"):
            check_span(name, getattr(self, name), may_be_0=name == "gap")

    @property
    @override
    def n_parts(self) -> int:
        return self.k + 1

    @property
    @override
    def name(self) -> str:
        return f"forward-{self.k}{describe_spans(self, gap=0, window=None, horizon=None)}"

    @property
    @override
    def bias(self) -> str:
        window_text = "all rows" if self.window is None else "a window of the rows"
        return (
            f"the mean risk of {self.k} forecasts, by models of {window_text} before them: "
            "pessimistic for a model of all rows, and says nothing of times later than these "
            "forecasts"
        )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        splits = forward_splits(data, self.k, self.gap, self.window, self.horizon)
        return plan_from_splits(data.n_rows, splits)


@frozen
class Purged(TimeSplitMethod):
    """K time periods, each tested by a model that was fitted on rows far enough from the period.

    A label that is known only some time after its row (such as a ten-day return) overlaps with the
    labels of adjacent rows. Rows within `purge` of the test rows, before or after, are removed from
    the training set. Rows within a further `embargo` after them are removed as well, for features
    that look back. Both are in the unit of `time=`, or count rows if it is not given (see
    `Forward`). A training set does not contain groups that it is tested on.

    Models are trained on rows later than those they are tested on. The result is the risk of
    inferring what happened in a time period from what happened around it, for a process that does
    not change. For the risk of forecasts use `Forward`.

    López de Prado M (2018). Advances in Financial Machine Learning, chapter 7. Wiley.

    Parameters
    ----------
    k : int, default=5
        The number of time periods.
    purge : number or timedelta64, default=0
        The distance between training and test rows, before and after. It is in the unit of `time=`,
        or a number of rows without it.
    embargo : number or timedelta64, default=0
        The further distance of training rows after the test rows. It is in the unit of `time=`, or
        a number of rows without it.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Forward : Forecasts of later rows.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Ridge
    >>> load = tr.datasets.make_daily_load
    >>> X, y = load(365, random_state=0)
    >>> method = tr.methods.Purged(5, purge=np.timedelta64(7, "D"))
    >>> est = tr.estimate_risk(Ridge(), X, y, time=load.dates(365), cv=method)
    >>> est.method, est.n_fits, est.ordered
    ('purged-5 (purge 7 days)', 5, True)
    """

    k: int = 5
    purge: Any = 0
    embargo: Any = 0
    average: Average | None = None

    def __post_init__(self) -> None:
        check_average(self.average)
        check_count("k", self.k, 2, "purged blocks need a whole number K >= 2")
        for name in ("purge", "embargo"):
            check_span(name, getattr(self, name), may_be_0=True)

    @property
    @override
    def name(self) -> str:
        return f"purged-{self.k}{describe_spans(self, purge=0, embargo=0)}"

    @property
    @override
    def bias(self) -> str:
        return (
            f"the mean risk in {self.k} stretches of time, by models of the rows around each: "
            "pessimistic for a model of all rows, optimistic for forecasts of a changing process"
        )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        return plan_from_splits(data.n_rows, purged_splits(data, self.k, self.purge, self.embargo))
