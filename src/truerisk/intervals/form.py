"""What an interval declares, the one check of its needs, and the evidence that it is made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np

from truerisk.contracts import Terms
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.intervals.instability import instabilities, instability_of_pairs
from truerisk.losses.loss import Loss
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Influences, Shaken
from truerisk.results.interval import Basis, Interval, normal_quantile, quantile_of_t

if TYPE_CHECKING:
    from truerisk.intervals.components import SpatialComponents

Needs = Mapping[Basis, str]
"""What an interval rests on, and the remedy where that is lacking."""

Sureness = tuple[float | None, Interval | None, tuple[str, ...]]
"""Standard error, interval, and notes that say why there is none."""

NONE: Sureness = (None, None, ())
NO_SPREAD = (
    "every row has the same loss: their spread is 0 and says nothing about the error of the mean."
)
UNBOUNDED = "the losses hold too little independent information for an upper limit of their mean."
ONE_ROW = "one tested row has no spread: there is no standard error."
OF_ROWS = {
    Basis.ROW_LOSSES: "use a K-fold word with interval='conservative-z', or a loss such as "
    "'zero-one', 'brier' or 'log'"
}
OF_A_MEAN = {**OF_ROWS, Basis.MEAN: "use a K-fold word such as '10-fold'"}

OF_LOSS = {
    Basis.ROW_LOSSES,
    Basis.INFLUENCES,
    Basis.UPPER_BOUND,
    Basis.NEVER_NEGATIVE,
    Basis.ERROR_COUNT,
}
OF_DATA = {Basis.EQUAL_ROWS: "data with sample_weight", Basis.PLACES: "data without block="}

MUELLER_WATSON = (
    "Müller UK, Watson MW (2022). Spatial correlation robust inference. Econometrica 90:2901–2935."
)

AT_ONCE = 1 << 15  # cells: they stay in a cache


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The values of all candidates; `groups` are those of the tested rows, where there are some."""

    values: np.ndarray
    loss: Loss
    terms: Terms
    groups: np.ndarray | None = None

    @cached_property
    def z(self) -> float:
        """The quantile of the normal distribution that the level asks for."""
        return normal_quantile(self.terms.confidence_level)

    def reach(self, degrees: float) -> float:
        """That of Student's t, which is the normal one of infinitely many degrees."""
        return quantile_of_t(self.terms.confidence_level, degrees)

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest loss, and how far the largest lies above it: for `Basis.UPPER_BOUND`."""
        low, high = self.loss.lower, self.loss.upper
        assert low is not None and high is not None
        return low, high - low

    def named(self, word: str) -> str:
        """The name of an interval that adds up groups first, where there are groups."""
        return word if self.groups is None else f"{word}-grouped"

    def around(self, value: float, half: float, name: str) -> Interval:
        """`value ± half`, cut to the values the loss can take."""
        least, most = self.loss.lower, self.loss.upper
        low = value - half if least is None else max(value - half, least)
        high = value + half if most is None else min(value + half, most)
        return Interval(float(low), float(high), name, self.terms.confidence_level)

    def skewed(self, value: float, half: float, name: str) -> Interval | None:
        """`value ± half` on the scale on which a risk is nearly symmetric, to first order.

        That is the logit of losses with bounds. Of others that are never negative it is
        1/√value: where a few large losses are missing, both the mean and its error are too small.
        That scale ends at infinity, which leaves no interval if `half` is twice the value or more.
        """
        loss = self.loss
        if loss.lower is not None and loss.upper is not None:
            low, span = self.bounds
            share = (value - low) / span
            spread, logit = half / (span * share * (1 - share)), np.log(share / (1 - share))
            ends = low + span / 2 * (1 + np.tanh(np.array([logit - spread, logit + spread]) / 2))
        elif loss.lower == 0:
            if half >= 2 * value:
                return None
            ends = value / (1 + np.array([0.5, -0.5]) * half / value) ** 2
        else:
            return self.around(value, half, name)
        return Interval(float(ends[0]), float(ends[1]), name, self.terms.confidence_level)

    def beta(self, value: float, size: float, name: str) -> Interval:
        """Quantiles of Beta(size m + ½, size (1 − m) + ½), m the value as a share of the bound."""
        from scipy.special import betaincinv, gammaincinv

        (low, span), level = self.bounds, self.terms.confidence_level
        share = float(np.clip((value - low) / span, 0, 1))
        tails = np.array([1 - level, 1 + level]) / 2
        a, b = size * share + 0.5, size * (1 - share) + 0.5
        # The oldest SciPy has NaN for a value of 1e-21, where Beta(a, b) is Gamma(a) / b.
        quantiles = betaincinv(a, b, tails) if b < HUGE else gammaincinv(a, tails) / b
        ends = low + span * quantiles
        return Interval(float(ends[0]), float(ends[1]), name, level)


HUGE = 1e12  # the two differ by a share of about a / b


@dataclass(frozen=True, eq=False, kw_only=True)
class RowEvidence(Evidence):
    """Values that are means of losses of rows which were held out.

    `losses[c, j]` is candidate c's loss of row `rows[j]`, the mean of its tests where a row was
    tested `repeatedly`; `weights` are the shares of these rows in the value and add to 1.
    `by_position` holds the losses of single tests, `split_risks` those of whole test sets. `best`
    is the candidate that the rule chose, None where nobody asked. `shaken` are losses of the same
    rows by models that lack a further fold. `one_row` is what another answer to one row does to the
    value of each candidate, of scores that rate whole test sets. `pooled` are the values of all
    answers of a repetition as one test set, where `values` are means over folds of a score that is
    biased on small test sets. `times` are those of the rows, where they were tested in the order of
    time.
    """

    data: Data
    plan: Plan
    rows: np.ndarray
    losses: np.ndarray
    weights: np.ndarray
    repeatedly: bool
    by_position: np.ndarray
    split_risks: np.ndarray
    best: int | None = None
    shaken: Shaken | None = None
    one_row: np.ndarray | None = None
    pooled: np.ndarray | None = None
    times: np.ndarray | None = None

    @cached_property
    def marks(self) -> np.ndarray:
        """A number for each tested row that does not depend on where the row stands."""
        return self.data.row_marks[self.rows]

    @cached_property
    def components(self) -> SpatialComponents | None:
        """Those of the places of the tested rows; None where they are too few."""
        assert self.data.places is not None
        check_present("truerisk.intervals.components")
        from truerisk.intervals.components import spatial_components

        return spatial_components(self.data.places[self.rows], self.terms.confidence_level)

    @cached_property
    def instability(self) -> np.ndarray | None:
        """That of every candidate, by repeated drawings or by models without a further fold."""
        if self.repeatedly:
            return instabilities(self.by_position, self.losses, self.weights, self.plan)
        if self.shaken is None:
            return None
        residuals = self.losses - self.values[:, None]
        return instability_of_pairs(self.shaken, residuals, self.weights, self.rows, self.groups)

    @cached_property
    def variances(self) -> tuple[list[float], int]:
        """Of the mean of independent rows, or groups, for every candidate; how many there are."""
        variances, m = variances_of_means(self.losses, self.weights, self.values, self.groups)
        return variances.tolist(), m

    def influences(self, c: int, losses: np.ndarray | None) -> Influences | None:
        """What each row does to the value of candidate c; None of repeated and of failed tests.

        `losses` are its losses where they are kept elsewhere, so that they are held once.
        """
        if self.repeatedly or not np.isfinite(self.values[c]):
            return None
        shaken = self.shaken
        if shaken is not None:
            shaken = replace(shaken, losses=shaken.losses[c : c + 1])
        one_row = 0.0  # numbers change by as little as they do
        if self.loss.response == "label" and self.one_row is not None:
            one_row = float(self.one_row[c])
        elif self.loss.response == "label" and self.loss.binary:
            one_row = float(np.sqrt((self.weights**2).mean()))
        return Influences(
            losses=self.losses[c] if losses is None else losses,
            rows=self.rows,
            weights=self.weights,
            groups=self.groups,
            k=float(self.plan.n_rows / self.plan.test_sizes.mean()),
            one_row=one_row,
            shaken=shaken,
        )

    def variance(self, c: int, groups: np.ndarray | None) -> tuple[float, int]:
        """That of one candidate, of independent rows or of the groups that are named."""
        mine = slice(c, c + 1)
        variances, m = variances_of_means(
            self.losses[mine], self.weights, self.values[mine], groups
        )
        return float(variances[0]), m


def variances_of_means(
    losses: np.ndarray, weights: np.ndarray, values: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """m/(m−1) Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² over the m groups or rows with a weight, and m.

    One for each value and its line of losses.
    """
    member = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    sizes = weights if member is None else np.bincount(member, weights)
    m = int(np.count_nonzero(sizes))
    variances = np.zeros(len(losses))
    step = max(1, AT_ONCE // max(1, len(weights)))
    for start in range(0, len(losses) if m > 1 else 0, step):
        part = slice(start, start + step)
        residuals = losses[part] - values[part, None]
        residuals *= weights
        if member is not None:
            residuals = np.array([np.bincount(member, line) for line in residuals])
        variances[part] = m / (m - 1) * np.square(residuals, out=residuals).sum(axis=1)
    return variances, m


E = TypeVar("E", bound=Evidence)


def dependence(data: Data) -> str | None:
    """Why what rests on independent rows, or groups, is not justified; None where it may be.

    Labels of blocks are groups, which methods keep whole and add up first.
    """
    if data.time is None and data.places is None:
        return None
    given, others = ("time=", "before") if data.time is not None else ("block=", "beside")
    word = "forward-5" if data.time is not None else "blocks-5"
    return (
        f"{given} is given, and rows may depend on those {others} them: an interval of independent "
        f"rows is not justified. A method such as '{word}' has one that accounts for it."
    )


def word_of_dependence(loss: Loss, data: Data, in_time: bool) -> str | None:
    """The interval that counts how losses depend on others: those before them, or those beside."""
    if in_time:
        return "hac" if loss.per_row else None
    calibrated = loss.per_row or loss.holds_in_space
    return "spatial" if data.block is not None and loss.tells_influences and calibrated else None


def if_independent(form: IntervalForm[E], evidence: E, data: Data) -> list[Sureness]:
    """Those of all candidates by a form that takes rows as independent; else None with why."""
    why = dependence(data)
    if why is None:
        return form.of_each(evidence)
    if evidence.terms.interval is not None:
        raise Refusal(f"interval '{form.word}' is not available here: {why}")
    return [(None, None, (why,))] * len(evidence.values)


class IntervalForm(ABC, Generic[E]):
    """One way to make a standard error and an interval.

    It is made only where all that it `needs` is given. `reference` says where it was published, and
    `caution`, the end of a sentence "Intervals ...", what no publication says of it.
    """

    word: ClassVar[str]
    needs: ClassVar[Needs]
    reference: ClassVar[str]
    caution: ClassVar[str] = ""
    counts_choice: ClassVar[bool] = False  # whether it must know which candidate was chosen

    @abstractmethod
    def of(self, evidence: E, c: int) -> Sureness:
        """The interval of candidate c; None and a note where the numbers justify none."""

    def of_each(self, evidence: E) -> list[Sureness]:
        """Return those of all candidates, none where there is no value.

        What somebody's own form made wrong is refused.
        """
        each = [NONE] * len(evidence.values)
        for c in np.flatnonzero(np.isfinite(evidence.values)).tolist():
            match made := self.of(evidence, c):
                case (None | Real(), None | Interval(Real(), Real()), tuple()):
                    interval = made[1]
                    if interval is None or -inf < interval.low <= interval.high < inf:
                        each[c] = made
                        continue
            raise BadArgument(
                f"interval '{self.word}' gave {shown(made)}: give a standard error or None, an "
                "Interval from low to high or None, and a tuple of notes."
            )
        return each

    def check(self, data: Data, loss: Loss) -> None:
        """Refuse a loss or data that it is not made for, before anything is drawn."""
        if data.time is not None and Basis.TIMES not in self.needs:
            raise Refusal(f"interval '{self.word}' is not available here: {dependence(data)}")
        given = {
            Basis.ROW_LOSSES: loss.per_row,
            Basis.INFLUENCES: loss.tells_influences,
            Basis.UPPER_BOUND: loss.lower is not None and loss.upper is not None,
            Basis.NEVER_NEGATIVE: loss.lower == 0,
            Basis.ERROR_COUNT: loss.binary,
            Basis.EQUAL_ROWS: data.sample_weight is None,
            Basis.PLACES: data.block is not None,
        }
        for need in self.needs:
            if not given.get(need, True):
                who = OF_DATA.get(need, f"loss '{loss.word}'")
                raise self._refusal(need, who)

    def require(self, given: Collection[Basis], who: str) -> None:
        """Refuse a method, or answers, that lack something that it needs."""
        need = self.lacking(given)
        if need is not None:
            raise self._refusal(need, who)

    def lacking(self, given: Collection[Basis]) -> Basis | None:
        """The first of its needs that a method, or its answers, must give and do not."""
        for need in self.needs:
            if need not in OF_LOSS and need not in OF_DATA and need not in given:
                return need
        return None

    def _refusal(self, need: Basis, who: str) -> Refusal:
        """The sentence that says who lacks what, and what to do."""
        what, remedy = need.value, self.needs[need]
        return Refusal(f"interval '{self.word}' needs {what}, which {who} cannot give: {remedy}.")


def is_none(error: float, value: float) -> bool:
    """Whether a spread is 0 up to rounding; relative, so that no unit of a loss counts."""
    return error <= 1e-12 * abs(value)
