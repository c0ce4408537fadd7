"""How people read the risks of a loss, a score as a score; and when two risks are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from truerisk.core.interval import Interval
from truerisk.core.present import clean


@dataclass(frozen=True)
class OwnScale:
    """A value as people state it, with its interval; `better` is "larger" or "lower"."""

    value: float | None
    interval: Interval | None
    better: str

    @property
    def ends(self) -> list[float]:
        """All that an axis must show: the value and the ends of its interval, where they are."""
        low, high = (self.interval.low, self.interval.high) if self.interval else (None, None)
        return [place for place in (self.value, low, high) if place is not None]

    def named(self, name: str) -> dict[str, float | None]:
        """The value under its name, and the ends of its interval beside it.

        >>> OwnScale(0.75, Interval(0.5, 0.875, "wald"), "larger").named("auc")
        {'auc': 0.75, 'auc.low': 0.5, 'auc.high': 0.875}
        """
        low, high = (self.interval.low, self.interval.high) if self.interval else (None, None)
        return {name: self.value, f"{name}.low": low, f"{name}.high": high}


@dataclass(frozen=True)
class Scale:
    """What every view asks before it shows a risk, so that none shows 1 − AUC for an AUC.

    `perfect` is the score of a rule without error where the risk is the distance to it; it is None
    where people state the risk itself, an error.

    >>> auc, error = Scale(1.0), Scale()
    >>> auc.value(0.205), auc.better, auc.of("auc")
    (0.795, 'larger', 'auc')
    >>> error.value(0.205), error.better, error.of("zero-one")
    (0.205, 'lower', 'zero-one risk')
    """

    perfect: float | None = None

    @property
    def better(self) -> str:
        return "lower" if self.perfect is None else "larger"

    @property
    def noun(self) -> str:
        """What its numbers are called where the loss is named beside them."""
        return "risk" if self.perfect is None else "score"

    @property
    def selected(self) -> str:
        """What the selected value of a tuned learner is."""
        verb = "minimised" if self.perfect is None else "maximised"
        return f"selected: the {self.noun} that tuning {verb}"

    @property
    def optimism(self) -> str:
        """What optimism is: positive where the selected value flatters."""
        ends = ("honest", "selected") if self.perfect is None else ("selected", "honest")
        return f"optimism: {' − '.join(ends)}"

    def of(self, loss: str) -> str:
        """What its numbers are called with the name of the loss."""
        name = clean(loss, 40)
        return f"{name} risk" if self.perfect is None else name

    def short(self, loss: str) -> str:
        """The same where the loss is known: "risk", or the name of the score."""
        return "risk" if self.perfect is None else clean(loss, 40)

    def head(self, loss: str) -> str:
        """The same over a column of numbers: "risk", or the name of the score and its direction."""
        return "risk" if self.perfect is None else f"{clean(loss, 40)} (larger is better)"

    def axis(self, loss: str) -> str:
        """The same along an axis, where the loss is named nowhere else."""
        return f"risk ({clean(loss, 40)})" if self.perfect is None else self.head(loss)

    @overload
    def value(self, risk: float) -> float: ...

    @overload
    def value(self, risk: float | None) -> float | None: ...

    def value(self, risk: float | None) -> float | None:
        """A risk as people read it."""
        if risk is None or self.perfect is None:
            return risk
        return self.perfect - risk

    def interval(self, interval: Interval | None) -> Interval | None:
        if interval is None or self.perfect is None:
            return interval
        return interval.below(self.perfect)

    def gap(self, difference: float) -> float:
        """One risk minus another, as one shown value minus the other."""
        return difference if self.perfect is None else -difference

    def gaps(self, interval: Interval | None) -> Interval | None:
        """The interval of such a difference."""
        return interval if interval is None or self.perfect is None else interval.below(0.0)

    def shown(self, risk: float | None, interval: Interval | None) -> OwnScale:
        """A risk and its interval as people state them."""
        return OwnScale(self.value(risk), self.interval(interval), self.better)


ERROR = Scale()


TIE = 1e-12  # sums of equal fold risks in another order differ by less


def tied(risks: Any, least: Any) -> Any:
    """Whether risks are as small as the least; relative, so that no unit of a loss counts.

    >>> tied(np.array([0.3, 0.1 + 1e-14, 0.1]), 0.1).tolist()
    [False, True, True]
    >>> bool(tied(3e-14, 1e-14))
    False
    """
    return risks <= least + TIE * np.abs(least)


def tied_groups(risks: Sequence[float]) -> list[list[int]]:
    """Positions from the smallest risk on, those that are tied together and in their own order.

    >>> tied_groups([0.3, 0.1 + 1e-14, 0.1, float("inf")])
    [[1, 2], [0], [3]]
    """
    groups: list[list[int]] = []
    for at in np.argsort(risks, kind="stable").tolist():
        if groups and tied(risks[at], risks[groups[-1][0]]):
            groups[-1].append(at)
        else:
            groups.append([at])
    return [sorted(group) for group in groups]
