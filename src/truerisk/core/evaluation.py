"""What a method found: risks, who was chosen in each outer split, and the answers they rest on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.influences import Influences
from truerisk.core.interval import Interval
from truerisk.core.plan.plan import Plan

__all__ = [
    "Evaluation",
    "LazyInterval",
    "OuterSplit",
    "RisksByColumn",
    "Tested",
    "Winners",
    "ranks_of",
    "std_errors_of",
    "values_of",
]


class LazyInterval(Protocol):
    """How sure a risk is, made when someone asks."""

    def std_error(self) -> float | None:
        """None where there is none."""
        ...

    def interval(self) -> Interval:
        """At the level that was asked for."""
        ...


@dataclass(frozen=True, eq=False)
class Tested:
    """One risk with all that belongs to it, before it gets its name and its papers.

    `losses[j]` is the loss of row `loss_rows[j]`; `split_risks` the risk in each fold or split.
    `later` makes the standard error and the interval when someone reads them, where that takes
    longer than all the rest.
    `rank` orders candidates where the values themselves are too small to tell them apart: the log
    of the value, say. `table` are the named numbers that the value was made of. `influences` say
    what each row does to the value, for who takes the difference of two.
    """

    value: float
    std_error: float | None = None
    interval: Interval | None = None
    losses: np.ndarray | None = None
    loss_rows: np.ndarray | None = None
    split_risks: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    later: LazyInterval | None = None
    rank: float | None = None
    table: Mapping[str, float] | None = None
    influences: Influences | None = None

    def read_std_error(self) -> float | None:
        """The standard error, made now if it was left for later."""
        return self.std_error if self.later is None else self.later.std_error()

    def read_interval(self) -> Interval | None:
        """The interval, made now if it was left for later."""
        return self.interval if self.later is None else self.later.interval()


@dataclass(frozen=True, eq=False)
class RisksByColumn(Sequence[Tested]):
    """Risks of many candidates, of which a rule reads two columns and a reader a few lines.

    `one(c)` puts candidate c's together when it is read.
    """

    values: np.ndarray
    ranks: np.ndarray
    one: Callable[[int], Tested]

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, candidate: int) -> Tested: ...

    @overload
    def __getitem__(self, candidate: slice) -> tuple[Tested, ...]: ...

    def __getitem__(self, candidate: int | slice) -> Tested | tuple[Tested, ...]:
        numbers = range(len(self))[candidate]
        if isinstance(numbers, range):
            return tuple(self.one(c) for c in numbers)
        return self.one(numbers)


def values_of(tested: Sequence[Tested]) -> np.ndarray:
    """The value of every risk."""
    if isinstance(tested, RisksByColumn):
        return tested.values
    return np.array([one.value for one in tested])


def ranks_of(tested: Sequence[Tested]) -> np.ndarray | None:
    """The rank of every risk, None where some have none."""
    if isinstance(tested, RisksByColumn):
        return tested.ranks
    ranks = [one.rank for one in tested if one.rank is not None]
    return np.array(ranks) if len(ranks) == len(tested) else None


def std_errors_of(tested: Sequence[Tested]) -> np.ndarray:
    """The standard error of every risk, NaN where there is none."""
    errors = (one.read_std_error() for one in tested)
    return np.array([np.nan if error is None else error for error in errors])


@dataclass(frozen=True)
class OuterSplit:
    """What happened in one outer split: which candidate won inside, and how it did outside."""

    repeat: int
    fold: int
    candidate: int
    inner_risk: float
    risk: float
    n_train: int
    n_test: int


@dataclass(frozen=True, eq=False)
class Winners:
    """Who was tested in every question of a procedure's last pass, and its inner risk.

    Every question has one, also those that are no split (the apparent risk in .632+). `compared`
    says that candidates were asked inside before; where they were not, `inner_risk` is NaN.
    """

    candidate: np.ndarray
    inner_risk: np.ndarray
    compared: bool


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a method found: a risk per candidate and, where it tunes, the risk of the procedure.

    `tested[c]` is candidate c's estimate. `procedure` is the honest risk of "tune, then fit" as a
    whole (nested, three-way); `units` are its outer splits and `winners` what was tested in every
    question of `answers`. `shaken` are answers of the same winners to the same rows by models that
    lack some more training rows, where the method has them. `scores` say the same in further losses
    of the same fits, where the terms ask for them: the choices are those of the first loss.
    """

    plan: Plan
    tested: Sequence[Tested]
    n_fits: int
    procedure: Tested | None = None
    units: tuple[OuterSplit, ...] = ()
    winners: Winners | None = None
    answers: Answers | None = None
    shaken: Answers | None = None
    scores: tuple[Evaluation, ...] = ()
