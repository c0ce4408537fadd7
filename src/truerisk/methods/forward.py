"""Forward validation: models are fitted on the past and tested on what follows, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truerisk.core.arguments import check_count
from truerisk.core.contracts import Streams
from truerisk.core.plan.builder import split_plan
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import Average, check_average
from truerisk.methods.parts.in_time import InTime, check_span, said_spans
from truerisk.resampling.in_time import forward_splits

__all__ = ["Forward"]


@dataclass(frozen=True)
class Forward(InTime):
    r"""K forecasts: each model sees rows before an origin and is tested on the rows after it.

    .. math:: \frac{1}{n} \sum_{j=1}^{K} \sum_{i \in T_j} ℓ(y_i, f_j(x_i)), \quad
       f_j \text{ fitted on } \{i : o_j - gap - window \le t_i < o_j - gap\}

    with :math:`o_j` the first time in test set :math:`T_j`. The window grows from the first row
    (None: an expanding origin) or moves along (a rolling one). `horizon` is how long a test set
    lasts; by default each has n // (K + 1) rows, and the last one ends with the rows. `gap`,
    `window` and `horizon` are in the unit of `time=`: numbers, or lengths of time such as
    ``numpy.timedelta64(7, "D")`` where it holds dates. Without `time=` the order of the rows is
    that of time, and they count rows. A training set lacks the groups that it is tested on.

    It estimates the mean risk of such forecasts: models of windows of these lengths, tested up to a
    horizon ahead. That is not the risk of a model of all rows, which sees more of them.

    Tashman LJ (2000). Out-of-sample tests of forecasting accuracy: an analysis and review.
    International Journal of Forecasting 16:437–450.
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
    def word(self) -> str:
        return f"forward-{self.k}{said_spans(self, gap=0, window=None, horizon=None)}"

    @property
    def bias(self) -> str:
        seen = "all rows" if self.window is None else "a window of the rows"
        return (
            f"the mean risk of {self.k} forecasts, by models of {seen} before them: pessimistic "
            "for a model of all rows, and silent on what comes later than these forecasts reach"
        )

    def plan(self, data: Data, streams: Streams) -> Plan:
        splits = forward_splits(data, self.k, self.gap, self.window, self.horizon)
        return split_plan(data.n_rows, splits)
