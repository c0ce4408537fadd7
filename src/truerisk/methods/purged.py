"""Purged cross-validation: stretches of time, tested by models of the rows around them."""

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
from truerisk.resampling.in_time import purged_splits

__all__ = ["Purged"]


@dataclass(frozen=True)
class Purged(InTime):
    """K stretches of time, each tested by the model of all rows that are far enough from it.

    A label that is known only some time after its row (a return over ten days) is shared in part by
    the rows next to it. Rows within `purge` of the test rows, before or after, are taken from the
    training set, and those of a further `embargo` after them, where features look back. Both are in
    the unit of `time=`, or count rows where it is not given (see `Forward`). A training set lacks
    the groups that it is tested on, too.

    Models see rows later than those they are tested on: this is the risk of telling what happened
    in a stretch of time from what happened around it, of a process that stays what it is. Of
    forecasts ask `Forward`.

    López de Prado M (2018). Advances in Financial Machine Learning, chapter 7. Wiley.
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
    def word(self) -> str:
        return f"purged-{self.k}{said_spans(self, purge=0, embargo=0)}"

    @property
    def bias(self) -> str:
        return (
            f"the mean risk in {self.k} stretches of time, by models of the rows around each: "
            "pessimistic for a model of all rows, optimistic for forecasts of a changing process"
        )

    def plan(self, data: Data, streams: Streams) -> Plan:
        return split_plan(data.n_rows, purged_splits(data, self.k, self.purge, self.embargo))
