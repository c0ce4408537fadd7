"""Each score in every subgroup: values, simultaneous intervals, shrunken values, reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from truerisk.core import present
from truerisk.core.displays import displays
from truerisk.core.interval import Interval
from truerisk.core.records import Count, Record, Share, Size
from truerisk.core.registry import of_word
from truerisk.core.results import frame_of
from truerisk.core.scale import OwnScale, Scale

__all__ = ["FEWEST", "Subgroup", "SubgroupRisks", "Subgroups"]

FEWEST = 10  # rows or groups of a level, and rows of either class where a score needs both


@dataclass(frozen=True)
class Subgroup:
    """The rows of one level: how many, and the events among them where y has two classes."""

    column: str
    level: str
    n_rows: Count
    n_events: Count | None = None

    @property
    def shown(self) -> str:
        """The level as a line of a table names it."""
        return f"{self.column} = {self.level}" if self.column else self.level


@dataclass(frozen=True)
class SubgroupRisk:
    """One loss in one subgroup; `value` is None where it has too few rows, and `reason` says so.

    The `interval` holds together with those of all other subgroups. `shrunken` is the value drawn
    to the mean of its column's levels, on a scale on which their noise does not depend on their
    size; `kept` is the share of its own value in it.
    """

    subgroup: Subgroup
    value: float | None = None
    std_error: Size | None = None
    interval: Interval | None = None
    shrunken: float | None = None
    kept: Share | None = None
    reason: str | None = None
    perfect: float | None = None

    @property
    def own_scale(self) -> OwnScale:
        """Value and interval as people state them: a score as a score."""
        return Scale(self.perfect).shown(self.value, self.interval)

    @property
    def own_shrunken(self) -> float | None:
        """The shrunken value on the same scale."""
        return Scale(self.perfect).value(self.shrunken)


@dataclass(frozen=True)
class SubgroupRisks:
    """One loss in all subgroups, beside all rows together.

    `quantile` is the number of standard errors at which all intervals hold together. `spreads` are,
    for each column with three levels or more, the standard deviation between its levels that noise
    does not explain.
    """

    loss: str
    whole: SubgroupRisk
    levels: tuple[SubgroupRisk, ...]
    quantile: float | None = None
    spreads: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    positive: Any = None

    @property
    def named_loss(self) -> str:
        """The loss, with the class that it speaks of."""
        return present.of_class(self.loss, self.positive)


@dataclass(frozen=True)
class Subgroups(Record):
    """Every loss in every level of the columns that were asked for.

    Intervals hold together for all levels of all columns, loss by loss, with the probability
    `confidence_level`; that of all rows stands alone. ``subgroups["auc"]`` are the lines of a loss.
    """

    schema: ClassVar[str] = "truerisk.subgroups/1"

    risks: tuple[SubgroupRisks, ...]
    confidence_level: Share
    notes: tuple[str, ...] = ()

    def __getitem__(self, loss: str) -> SubgroupRisks:
        return of_word(loss, {one.loss: one for one in self.risks})

    def __iter__(self) -> Iterator[str]:
        return (one.loss for one in self.risks)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that were asked for."""
        levels = self.risks[0].levels if self.risks else ()
        return tuple(dict.fromkeys(one.subgroup.column for one in levels))

    @property
    def too_small(self) -> tuple[str, ...]:
        """Levels without a value of some loss."""
        lacking = (r.subgroup.shown for one in self.risks for r in one.levels if r.value is None)
        return tuple(dict.fromkeys(lacking))

    def frame(self) -> Any:
        """A line for each loss and level, that of all rows first."""
        lines = [(one.named_loss, risk) for one in self.risks for risk in (one.whole, *one.levels)]
        return frame_of(
            {
                "loss": [loss for loss, _ in lines],
                "column": [r.subgroup.column for _, r in lines],
                "level": [r.subgroup.level for _, r in lines],
                "rows": [r.subgroup.n_rows for _, r in lines],
                "events": [r.subgroup.n_events for _, r in lines],
                "risk": [r.value for _, r in lines],
                "std_error": [r.std_error for _, r in lines],
                "low": [r.interval and r.interval.low for _, r in lines],
                "high": [r.interval and r.interval.high for _, r in lines],
                "shrunken": [r.shrunken for _, r in lines],
                "reason": [r.reason for _, r in lines],
            }
        )

    def plot(self, loss: str | None = None, ax: Any = None) -> Any:
        """A forest plot of one loss, the first by default (needs matplotlib)."""
        risks = self.risks[0] if loss is None else self[loss]
        return displays.load("subgroups")(risks, ax=ax)

    def __str__(self) -> str:
        tables = [f"{_title(one)}\n{present.text_table(HEAD, _rows(one))}" for one in self.risks]
        said = [f"note: {note}" for note in self.all_notes]
        return "\n\n".join([*tables, *(["\n".join(said)] if said else [])])

    def _repr_html_(self) -> str:
        return "".join(present.html_table(_title(one), HEAD, _rows(one)) for one in self.risks)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What is to be said of all losses, then of single ones."""
        return tuple(dict.fromkeys((*self.notes, *(n for one in self.risks for n in one.notes))))


HEAD = ["subgroup", "rows", "events", "value", "interval", "shrunken", "why not"]


def _title(risks: SubgroupRisks) -> str:
    name = present.clean(risks.named_loss, 60)
    return name if risks.whole.perfect is None else f"{name} (larger is better)"


def _rows(risks: SubgroupRisks) -> list[list[str]]:
    rows = []
    for one in (risks.whole, *risks.levels):
        own, events = one.own_scale, one.subgroup.n_events
        rows.append(
            [
                one.subgroup.shown,
                str(one.subgroup.n_rows),
                "–" if events is None else str(events),
                present.number(own.value),
                str(own.interval or "–"),
                present.number(one.own_shrunken),
                one.reason or "",
            ]
        )
    return rows
