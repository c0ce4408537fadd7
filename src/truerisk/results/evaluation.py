"""The result of a method: risks, the winners of outer splits, and the answers behind them.

Predictions of held-out rows are stored per row, with the influence of each row on a cross-validated
value, from which the difference of two values is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, overload

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.answers import Answers, Response
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding
from truerisk.results.interval import Interval


class LazyInterval(Protocol):
    """The standard error and interval of a risk, computed on demand."""

    def std_error(self) -> float | None:
        """Return the standard error, or None if there is none."""
        ...

    def interval(self) -> Interval:
        """Return the interval at the level that was requested."""
        ...


Target = Literal["Err", "Err_XY", "CER", "training"]


@frozen(eq=False)
class Tested:
    """One risk with everything that belongs to it, before its name and provenance are added.

    `losses[j]` is the loss of row `loss_rows[j]`; `split_risks` holds the risk in each fold or
    split. `later` computes the standard error and the interval on demand, if that takes longer than
    everything else. `rank` orders candidates if the values themselves are too small to distinguish
    them, for example by the logarithm of the value. `table` holds the named numbers from which the
    value was computed. `influences` holds the influence of each row on the value, for differences
    of two values. `findings` were noticed in the answers; the notes contain them as well.

    Parameters
    ----------
    value : float
        The risk, as a loss.
    std_error : float, optional
        The standard error of the value.
    interval : Interval, optional
        The interval of the value.
    losses : array, optional
        The losses of single rows.
    loss_rows : array of int, optional
        The row of each loss.
    split_risks : array, optional
        The risk in each fold or split.
    notes : tuple of str, optional
        Notes for the reader.
    later : LazyInterval, optional
        Computes the standard error and the interval on demand, if that takes longer than everything
        else.
    rank : float, optional
        Orders candidates if the values themselves are too small to distinguish them, for example
        the logarithm of the value.
    table : mapping of str to float, optional
        The named numbers from which the value was computed.
    influences : Influences, optional
        The influence of each row on the value, for differences of two values.
    findings : tuple of Finding, optional
        What was noticed in the predictions; the notes contain it as well.

    See Also
    --------
    truerisk.extend.tested_by_average : Compute such risks as means of losses.
    RiskEstimate : The estimate that users get.

    Examples
    --------
    >>> from truerisk.extend import Tested
    >>> Tested(0.25, notes=("a note",)).value
    0.25
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
        """Return the standard error, computed now if it was deferred.

        Returns
        -------
        float or None
            The standard error, or None if there is none.
        """
        return self.std_error if self.later is None else self.later.std_error()

    def read_interval(self) -> Interval | None:
        """Return the interval, computed now if it was deferred.

        Returns
        -------
        Interval or None
            The interval, or None if there is none.
        """
        return self.interval if self.later is None else self.later.interval()


@frozen(eq=False)
class RisksByColumn(Sequence[Tested]):
    """Risks of many candidates, of which usually only two columns and a few entries are read.

    `tested_at(c)` assembles the estimate of candidate c when it is read.
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
    """Risks of all candidates that are computed when the first of them is read."""

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
    """Return the value of every risk."""
    if isinstance(tested, RisksByColumn):
        return tested.values
    return np.array([risk.value for risk in tested])


def ranks_of(tested: Sequence[Tested]) -> np.ndarray | None:
    """Return the rank of every risk, or None if any has none."""
    if isinstance(tested, RisksByColumn):
        return tested.ranks
    ranks = np.empty(len(tested))
    for c, risk in enumerate(tested):
        if risk.rank is None:
            return None
        ranks[c] = risk.rank
    return ranks


def std_errors_of(tested: Sequence[Tested]) -> np.ndarray:
    """Return the standard error of every risk, NaN if there is none."""
    errors = (risk.read_std_error() for risk in tested)
    return np.array([np.nan if error is None else error for error in errors])


@frozen
class OuterSplit:
    """The result of one outer split: the candidate that won inside, and its risk outside."""

    repeat: int
    fold: int
    candidate: int
    inner_risk: float
    risk: float
    n_train: int
    n_test: int


@frozen(eq=False)
class Winners:
    """The candidate tested in every question of a procedure's last pass, and its inner risk.

    Every question has a candidate, including those that are no split (the apparent risk in .632+).
    `compared` is True if candidates were compared inside before; otherwise `inner_risk` is NaN.
    """

    candidate: np.ndarray
    inner_risk: np.ndarray
    compared: bool


@frozen(eq=False)
class Evaluation:
    """Result of a method: a risk per candidate and, if it tunes, the risk of the procedure.

    Parameters
    ----------
    plan : Plan
        The plan that was answered.
    tested : sequence of Tested
        The estimate of each candidate.
    n_fits : int
        The number of fits.
    procedure : Tested, optional
        The honest risk of "tune, then fit" as a whole (nested, three-way).
    units : tuple of OuterSplit, optional
        The outer splits of the procedure.
    winners : Winners, optional
        The candidate that was tested in each question of `answers`.
    answers : Answers, optional
        The predictions behind the estimates.
    left_two_out : Answers, optional
        Predictions of the same winners for the same rows by models that lack further training rows,
        if the method has them.
    scores : tuple of Evaluation, optional
        The evaluations in further losses of the same fits, if the terms request them. All choices
        are made by the first loss.

    See Also
    --------
    truerisk.extend.Method.evaluate : The method that returns it.
    truerisk.extend.Tested : One risk.

    Examples
    --------
    >>> from truerisk.extend import Evaluation, PlanBuilder, Tested
    >>> builder = PlanBuilder(4)
    >>> first, second = builder.partition([0, 0, 1, 1])
    >>> builder.ask(train=(first, ()), test=(second, ()))
    >>> Evaluation(builder.build(), [Tested(0.25)], n_fits=1).tested[0].value
    0.25
    """

    plan: Plan
    tested: Sequence[Tested]
    n_fits: int
    procedure: Tested | None = None
    units: tuple[OuterSplit, ...] = ()
    winners: Winners | None = None
    answers: Answers | None = None
    left_two_out: Answers | None = None
    scores: tuple[Evaluation, ...] = ()


def compact(losses: np.ndarray) -> np.ndarray:
    """Return the losses in compact form: one byte each if all are 0 or 1."""
    errors = losses == 1
    return errors.view(np.int8) if (errors | (losses == 0)).all() else losses


AT_ONCE = 1 << 15  # losses of models without a further fold, of which there are K - 1 per row


@frozen(eq=False)
class LeftTwoOut:
    """Losses of rows that were tested by models without their own fold and a further one.

    `losses[c, t]` is candidate c's loss of row `rows[t]` by the model that lacks fold `other[t]` as
    well as the row's own fold.
    """

    rows: np.ndarray
    other: np.ndarray
    losses: np.ndarray

    @classmethod
    def from_answers(cls, answers: Answers, losses: np.ndarray) -> LeftTwoOut:
        """Collect the losses of models fitted without two folds (the "inner" questions)."""
        plan = answers.plan
        unit = plan.unit.astype(np.min_scalar_type(int(plan.unit.max(initial=0))))
        return cls(plan.positions[0], np.repeat(unit, plan.test_sizes), compact(losses))

    def by_row(self, candidate: int, rows: np.ndarray) -> np.ndarray:
        """Return each row's mean loss over all models of one candidate that predicted it."""
        sums, times = np.zeros(len(rows)), np.zeros(len(rows))
        for part, place in self.parts(rows):
            np.add.at(sums, place, self.losses[candidate, part].astype(np.float64))
            np.add.at(times, place, 1.0)
        return sums / times

    def parts(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield short slices of the losses, and the places of their rows among ascending `rows`."""
        every = rows[-1] + 1 == len(rows)  # True if each row number is its own place
        for start in range(0, len(self.rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            yield part, self.rows[part] if every else np.searchsorted(rows, self.rows[part])

    def minus(self, other: LeftTwoOut) -> LeftTwoOut:
        """Return the differences of two candidates on the same rows and folds."""
        return LeftTwoOut(self.rows, self.other, self.losses - other.losses)


@frozen(eq=False)
class Influences:
    """The losses whose weighted mean is a value, one for each row, if rows were tested once.

    For a score that rates whole test sets, the loss of a row is the value plus the row's influence.
    `losses[j]` belongs to row `rows[j]`, `weights` sum to 1, and `groups` are the groups of the
    rows. `k` is the number of folds. `one_row` is the effect of a different answer to a single row
    on the value if answers are labels, and 0 otherwise. `left_two_out` holds the losses by models
    that lack a further fold.
    """

    losses: np.ndarray
    rows: np.ndarray
    weights: np.ndarray
    groups: np.ndarray | None
    k: float
    one_row: float
    left_two_out: LeftTwoOut | None

    @property
    def in_pairs(self) -> bool:
        """True if fits without a further fold show how much the losses change."""
        return self.left_two_out is not None


# calibrated factor on the variance of independent rows, for a single drawing of the folds
FOLDS = 1.8


@frozen(eq=False)
class PairedLosses:
    """Losses `losses[c, j]` of candidate c on row j, whose `shares` in the risk sum to 1.

    The losses of a candidate without a risk are NaN. Rows of one of the `groups` may depend on each
    other. `one_row[c]` is the effect of a different answer to one row on the risk of candidate c,
    if answers are labels. `factors[c]` is the factor by which the variance of its difference from
    the winner exceeds that of independent rows; it is None without fits that lack a further fold.
    """

    losses: np.ndarray
    shares: np.ndarray
    groups: np.ndarray | None = None
    one_row: np.ndarray | None = None
    factors: np.ndarray | None = None

    def by_unit(self) -> tuple[np.ndarray, np.ndarray]:
        """Return each row's, or group's, part in every risk, and its share if positive."""
        parts, shares = self.losses * self.shares, self.shares
        if self.groups is not None:
            member = np.unique(self.groups, return_inverse=True)[1].ravel()
            parts = np.array([np.bincount(member, line) for line in parts])
            shares = np.bincount(member, shares)
        counts = shares > 0
        return parts[:, counts], shares[counts]


class Comparable(Protocol):
    """An object that holds losses of several candidates on the same rows."""

    def losses(self) -> PairedLosses:
        """Return the losses; refuse with a reason if there are none."""
        ...


OF_ROWS: tuple[Response, ...] = ("label", "probability", "score", "value")


@frozen(eq=False)
class AnsweredRows:
    """Answers to one plan for every candidate, or for one `candidate`, together with the truth.

    `answers` are the answers for the loss and for further requests. `truth` is y, or the codes of
    its labels, which are `classes` in the order of the codes (None for numbers). `times` are the
    times of all rows, if they have any; `placed` is True if they have places. For an outcome in
    time, probabilities are those of the intervals between the `horizons`.
    """

    answers: tuple[Answers, ...]
    truth: np.ndarray
    classes: np.ndarray | None
    candidate: int = 0
    times: np.ndarray | None = None
    placed: bool = False
    horizons: tuple[float, ...] = ()

    @classmethod
    def from_answers(cls, answers: Answers | None, data: Data) -> AnsweredRows | None:
        """Return the answers per row; None if rows were rated by a scorer, or by drawn fits."""
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
        """Mask of the answers by models that had not seen the row; a bootstrap has others too."""
        plan = self.answers[0].plan
        seen = [plan.seen(q) & ~plan.without_row[q] for q in range(plan.n_questions)]
        return ~np.concatenate(seen)
