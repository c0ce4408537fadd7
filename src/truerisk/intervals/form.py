"""What an interval declares, and the one check of what it needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from numbers import Real
from typing import ClassVar, Generic, TypeVar

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.data.data import Data
from truerisk.intervals.evidence import Evidence
from truerisk.losses.loss import Loss
from truerisk.results.interval import Basis, Interval

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
        """Those of all candidates, none where there is no value."""
        known = np.isfinite(evidence.values).tolist()
        return [self._made(evidence, c) if is_known else NONE for c, is_known in enumerate(known)]

    def _made(self, evidence: E, c: int) -> Sureness:
        """That of one candidate; what somebody's own form made wrong is refused."""
        match made := self.of(evidence, c):
            case (None | Real(), None | Interval(Real(), Real()), tuple()):
                if made[1] is None or not made[1].flaw:
                    return made
        raise BadArgument(
            f"interval '{self.word}' gave {shown(made)}: give a standard error or None, an "
            "Interval from low to high or None, and a tuple of notes."
        )

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
