"""What a method found: risks, who was chosen in each outer split, and the answers they rest on.

What models answered about rows they had not seen is kept row by row, with what each row does to a
cross-validated value: the difference of two values is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, overload

import numpy as np

from truerisk.data.data import Data
from truerisk.plan.answers import Answers, Response
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding
from truerisk.results.interval import Interval


class LazyInterval(Protocol):
    """How sure a risk is, made when someone asks."""

    def std_error(self) -> float | None:
        """None where there is none."""
        ...

    def interval(self) -> Interval:
        """At the level that was asked for."""
        ...


Target = Literal["Err", "Err_XY", "CER", "training"]


@dataclass(frozen=True, eq=False)
class Tested:
    """One risk with all that belongs to it, before it gets its name and its papers.

    `losses[j]` is the loss of row `loss_rows[j]`; `split_risks` the risk in each fold or split.
    `later` makes the standard error and the interval when someone reads them, where that takes
    longer than all the rest.
    `rank` orders candidates where the values themselves are too small to tell them apart: the log
    of the value, say. `table` are the named numbers that the value was made of. `influences` say
    what each row does to the value, for who takes the difference of two. `findings` are what was
    seen in the answers; the notes say it, too.
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
    findings: tuple[Finding, ...] = ()

    def read_std_error(self) -> float | None:
        """The standard error, made now if it was left for later."""
        return self.std_error if self.later is None else self.later.std_error()

    def read_interval(self) -> Interval | None:
        """The interval, made now if it was left for later."""
        return self.interval if self.later is None else self.later.interval()


@dataclass(frozen=True, eq=False)
class RisksByColumn(Sequence[Tested]):
    """Risks of many candidates, of which a rule reads two columns and a reader a few lines.

    `tested_at(c)` puts candidate c's together when it is read.
    """

    values: np.ndarray
    ranks: np.ndarray
    tested_at: Callable[[int], Tested]

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, candidate: int) -> Tested: ...

    @overload
    def __getitem__(self, candidate: slice) -> tuple[Tested, ...]: ...

    def __getitem__(self, candidate: int | slice) -> Tested | tuple[Tested, ...]:
        numbers = range(len(self))[candidate]
        if isinstance(numbers, range):
            return tuple(self.tested_at(c) for c in numbers)
        return self.tested_at(numbers)


@dataclass(eq=False)
class RisksToRead(Sequence[Tested]):
    """Risks that are made when the first of them is read: one for each candidate."""

    make: Callable[[], Sequence[Tested]]
    n_candidates: int

    def __len__(self) -> int:
        return self.n_candidates

    @cached_property
    def _made(self) -> tuple[Tested, ...]:
        return tuple(self.make())

    def __getitem__(self, candidate: Any) -> Any:
        return self._made[candidate]

    def __reduce__(self) -> Any:
        return tuple, (self._made,)


def values_of(tested: Sequence[Tested]) -> np.ndarray:
    """The value of every risk."""
    if isinstance(tested, RisksByColumn):
        return tested.values
    return np.array([risk.value for risk in tested])


def ranks_of(tested: Sequence[Tested]) -> np.ndarray | None:
    """Return the rank of every risk, None where some have none."""
    if isinstance(tested, RisksByColumn):
        return tested.ranks
    ranks = np.empty(len(tested))
    for c, risk in enumerate(tested):
        if risk.rank is None:
            return None
        ranks[c] = risk.rank
    return ranks


def std_errors_of(tested: Sequence[Tested]) -> np.ndarray:
    """The standard error of every risk, NaN where there is none."""
    errors = (risk.read_std_error() for risk in tested)
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


def compact(losses: np.ndarray) -> np.ndarray:
    """The same losses to be kept: where all are 0 or 1, a byte holds each."""
    errors = losses == 1
    return errors.view(np.int8) if (errors | (losses == 0)).all() else losses


AT_ONCE = 1 << 15  # losses of models without a further fold: there are K - 1 of each row


@dataclass(frozen=True, eq=False)
class Shaken:
    """Losses of rows that were tested by models without their own fold and a further one.

    `losses[c, t]` is candidate c's loss of row `rows[t]` by the model that lacks fold `other[t]`
    besides the row's own.
    """

    rows: np.ndarray
    other: np.ndarray
    losses: np.ndarray

    @classmethod
    def of(cls, answers: Answers, losses: np.ndarray) -> Shaken:
        """Those of the "inner" questions of a plan of pairs."""
        plan = answers.plan
        unit = plan.unit.astype(np.min_scalar_type(int(plan.unit.max(initial=0))))
        return cls(plan.positions[0], np.repeat(unit, plan.test_sizes), compact(losses))

    def by_row(self, candidate: int, rows: np.ndarray) -> np.ndarray:
        """The mean loss of each row by all models of one candidate that answered it."""
        sums, times = np.zeros(len(rows)), np.zeros(len(rows))
        for part, place in self.parts(rows):
            np.add.at(sums, place, self.losses[candidate, part].astype(np.float64))
            np.add.at(times, place, 1.0)
        return sums / times

    def parts(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Slices of the losses, short ones, and where their rows stand among ascending `rows`."""
        every = rows[-1] + 1 == len(rows)  # each stands at its own number
        for start in range(0, len(self.rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            yield part, self.rows[part] if every else np.searchsorted(rows, self.rows[part])

    def minus(self, other: Shaken) -> Shaken:
        """The differences of two candidates on the same rows and folds."""
        return Shaken(self.rows, self.other, self.losses - other.losses)


@dataclass(frozen=True, eq=False)
class Influences:
    """The losses whose weighted mean is a value, a row each, of rows that were tested once.

    Of a score that rates whole test sets it is the value plus the row's influence. `losses[j]`
    belongs to row `rows[j]`, `weights` add to 1, `groups` are those of the rows. `k` is the number
    of folds. `one_row` is what another answer to a single row does to the value where answers are
    labels, 0 where they are not. `shaken` are the losses by models that lack a further fold.
    """

    losses: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    groups: np.ndarray | None
    k: float
    one_row: float
    shaken: Shaken | None

    @property
    def in_pairs(self) -> bool:
        """Whether fits without a further fold tell how much the losses move."""
        return self.shaken is not None


FOLDS = 1.8  # times the variance of independent rows, of one drawing of the folds; calibrated


@dataclass(frozen=True, eq=False)
class PairedLosses:
    """`losses[c, j]` of candidate c on row j, whose `shares` in the risk add to 1.

    A candidate without a risk has NaN. Rows of one of the `groups` may depend on each other.
    `one_row[c]` is what another answer to one row does to the risk of candidate c, where answers
    are labels. `factors[c]` is by how much its difference from the winner varies more than one of
    independent rows; None where fits without a further fold do not tell it.
    """

    losses: np.ndarray
    shares: np.ndarray
    groups: np.ndarray | None = None
    one_row: np.ndarray | None = None
    factors: np.ndarray | None = None

    def by_unit(self) -> tuple[np.ndarray, np.ndarray]:
        """What each row, or group, adds to every risk, and its share; those without any are out."""
        parts, shares = self.losses * self.shares, self.shares
        if self.groups is not None:
            member = np.unique(self.groups, return_inverse=True)[1].ravel()
            parts = np.array([np.bincount(member, line) for line in parts])
            shares = np.bincount(member, shares)
        counts = shares > 0
        return parts[:, counts], shares[counts]


class Comparable(Protocol):
    """What holds losses of several candidates on the same rows."""

    def losses(self) -> PairedLosses:
        """The losses; a refusal says why there are none."""
        ...


OF_ROWS: tuple[Response, ...] = ("label", "probability", "score", "value")


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Answers to one plan of every line in it, or of one `candidate`, beside the truth.

    `answers` are those of the loss and those that were asked for besides; `truth` is y, or the
    codes of its labels, which are `classes` in the order of the codes, None for numbers. `times`
    are those of all rows, if they had any; `placed` says whether they had places. For an outcome in
    time, probabilities are those of the intervals that the `horizons` bound.
    """

    answers: tuple[Answers, ...]
    truth: np.ndarray
    classes: np.ndarray | None
    candidate: int = 0
    times: np.ndarray | None = None
    placed: bool = False
    horizons: tuple[float, ...] = ()

    @classmethod
    def of(cls, answers: Answers | None, data: Data) -> AnsweredRows | None:
        """Return None if rows were not answered one by one: by a scorer, or for drawn fits."""
        if answers is None:
            return None
        kinds: dict[Response, Answers | None] = dict.fromkeys(OF_ROWS)  # in this order
        for each in (*answers.also, answers):
            if each.response in kinds:
                kinds[each.response] = each
        rows = tuple(filter(None, kinds.values()))
        if not rows:
            return None
        return cls(
            rows,
            data.y if data.codes is None else data.codes,
            data.classes,
            times=data.time,
            placed=data.block is not None,
            horizons=data.horizons,
        )

    @property
    def unseen(self) -> np.ndarray:
        """Which answers are of a model that did not see the row: a bootstrap asks others, too."""
        plan = self.answers[0].plan
        seen = [plan.seen(q) & ~plan.without_row[q] for q in range(plan.n_questions)]
        return ~np.concatenate(seen)
