"""`LearningCurve`: the risk at several numbers of training rows, and what to expect at others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from truerisk.core import present
from truerisk.core.arguments import is_number, shown
from truerisk.core.displays import displays
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.interval import Interval
from truerisk.core.records import Column, Range, Record, Share
from truerisk.core.results import RiskEstimate, frame_of
from truerisk.core.scale import OwnScale, Scale
from truerisk.core.statistics.power_law import PowerLaw

__all__ = ["ExpectedRisk", "LearningCurve"]

N_PLACES = 16  # at which the law is read for a picture
FURTHEST = 4.0  # times the largest size: how far the band was checked (docs/learning-curves.md)


@dataclass(frozen=True)
class ExpectedRisk:
    """The risk to expect of a learner that is trained on `n_train` rows.

    `extrapolated` says that there were fewer. `perfect` as in `RiskEstimate`: of a score, the
    score of a rule without error.
    """

    n_train: float
    value: float
    interval: Interval
    extrapolated: bool
    perfect: float | None = None

    @property
    def own_scale(self) -> OwnScale:
        """The value and its interval as people state them."""
        return Scale(self.perfect).shown(self.value, self.interval)

    @property
    def score(self) -> float | None:
        """The value as a score, larger is better; None for a pure loss."""
        return None if self.perfect is None else self.own_scale.value

    @property
    def score_interval(self) -> Interval | None:
        """The interval of the score."""
        return None if self.perfect is None else self.own_scale.interval

    def __str__(self) -> str:
        own = self.own_scale
        assert own.value is not None
        return f"with {self.n_train:g} rows expect {present.risk(own.value)} {own.interval}"


@dataclass(frozen=True, eq=False)
class LearningCurve(Record):
    """Risks at several numbers of training rows, and the law a + b n^−c that they follow.

    `sizes` are the rows that the fits were trained on, on average; `estimates` the risks there, of
    the same tested rows, with the `covariance` of their errors (None where `lacking` says why).
    `law` is None where it does not fit or has no covariance, and `lacking` then says why: the
    curve has no band, and is not carried on.
    """

    schema: ClassVar[str] = "truerisk.learning-curve/1"
    derived: ClassVar[Mapping[str, str]] = {"law": "law", "expected": "_written_expected"}

    sizes: Annotated[np.ndarray, Column("sizes", least=1, numbers=Range(1, np.inf))]
    estimates: Annotated[tuple[RiskEstimate, ...], Column("sizes")]
    covariance: Annotated[np.ndarray, Column("sizes", n_axes=2)] | None
    confidence_level: Share
    lower: float | None = 0.0
    upper: float | None = None
    lacking: str | None = None

    @property
    def flaw(self) -> tuple[str, str] | None:
        """What makes it none, where it was read from a file."""
        if (np.diff(self.sizes) <= 0).any():
            return "sizes", "ascending"
        n = len(self.sizes)
        square = self.covariance is None or self.covariance.shape == (n, n)
        return None if square else ("covariance", f"{n} lines of {n} numbers")

    @cached_property
    def values(self) -> np.ndarray:
        """The risk at each size."""
        return np.array([one.value for one in self.estimates], dtype=float)

    @cached_property
    def law(self) -> PowerLaw | None:
        """What the risks follow, with its uncertainty."""
        if self.covariance is None or self.lacking is not None:
            return None
        return PowerLaw(self.sizes, self.values, self.covariance, self.lower)

    @cached_property
    def expected(self) -> tuple[ExpectedRisk, ...]:
        """What the law says from the first size up to twice the rows; empty without a law."""
        if self.law is None:
            return ()
        n, first = float(self.estimates[-1].n_rows), float(self.sizes[0])
        last = min(2 * n, FURTHEST * float(self.sizes[-1]))
        places = np.union1d(np.geomspace(first, last, N_PLACES), [min(n, last)])
        return tuple(self.at(float(place)) for place in places)

    @property
    def _written_expected(self) -> list[dict[str, float]]:
        return [
            {"n_train": at.n_train, "value": at.value, "low": at.interval.low}
            | {"high": at.interval.high}
            for at in self.expected
        ]

    def at(self, n: float) -> ExpectedRisk:
        """The risk to expect with `n` training rows, up to four times as many as were measured.

        Its interval is the band of the law at `n`, for the mean risk over training sets.
        """
        if not is_number(n) or not n > 0:
            raise BadArgument(f"curve.at({shown(n)}): give a number of training rows.")
        if self.law is None:
            raise Refusal(f"the learning curve has no law to read a risk from: {self.lacking}")
        low, high = float(self.sizes[0]), float(self.sizes[-1])
        if not low <= n <= FURTHEST * high:
            raise Refusal(
                f"curve.at({n:g}): the curve was measured from {low:g} to {high:g} training rows, "
                f"and is carried on to {FURTHEST * high:g} at most."
            )
        ends = self.law.interval(float(n), self.confidence_level)
        least, most = self._least, np.inf if self.upper is None else self.upper
        ends = max(least, ends[0]), min(most, ends[1])
        interval = Interval(float(ends[0]), float(ends[1]), "power-law", self.confidence_level)
        perfect = self.estimates[-1].perfect
        return ExpectedRisk(n, min(most, self.law.mean(float(n))), interval, n > high, perfect)

    @property
    def _least(self) -> float:
        return -np.inf if self.lower is None else self.lower

    def __len__(self) -> int:
        return len(self.sizes)

    def frame(self) -> Any:
        """A line for each size: rows, risk, standard error, interval, and the band of the law."""
        band = [None if self.law is None else self.at(size) for size in self.sizes]
        estimates = self.estimates
        return frame_of(
            {
                "n_train": self.sizes.tolist(),
                "risk": [e.value for e in estimates],
                "std_error": [e.std_error for e in estimates],
                "low": [e.interval and e.interval.low for e in estimates],
                "high": [e.interval and e.interval.high for e in estimates],
                "law": [b and b.value for b in band],
                "law_low": [b and b.interval.low for b in band],
                "law_high": [b and b.interval.high for b in band],
                "n_fits": [e.n_fits for e in estimates],
            }
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the risks, the law and its band (needs matplotlib); `to` says how many rows far."""
        return displays.load("learning-curve")(self, ax=ax, **options)

    def __str__(self) -> str:
        return "\n".join([present.text_table(self._head, self._rows()), *self._said()])

    def _repr_html_(self) -> str:
        return present.html_table("; ".join(self._said()), self._head, self._rows())

    @property
    def _head(self) -> list[str]:
        what = self.estimates[-1]
        return ["training rows", what.scale.head(what.named_loss), "interval", "law"]

    def _rows(self) -> list[list[str]]:
        rows = []
        for size, estimate in zip(self.sizes, self.estimates, strict=True):
            own, band = estimate.own_scale, "–"
            if self.law is not None:
                band = str(self.at(float(size))).partition(" expect ")[2]
            value = "–" if own.value is None else present.risk(own.value)
            rows.append([f"{size:g}", value, str(own.interval or "–"), band])
        return rows

    def _said(self) -> list[str]:
        if self.law is None:
            return [f"note: {self.lacking}"]
        law, further = self.law, self.at(round(2 * float(self.sizes[-1])))
        return [f"best fit {law.a:.4g} + {law.b:.4g} n^-{law.c:.3g}; {further}"]
