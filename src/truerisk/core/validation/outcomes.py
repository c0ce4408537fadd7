"""What came and what was said of it: the rows that every number of a validation is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.link import IDENTITY, LOGIT, Link

__all__ = ["Outcomes"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Whether the event came, what was given for it, the weight of the answer, member and row.

    `given` are probabilities of the event, or decision values. Where `link` is the identity,
    `came` are numbers and `given` the answers. Answers of one `member` depend on each other: those
    to one row, or to the rows of one group. `rows` says which row is answered. The `weights` add up
    to the number of rows, whatever unit they were given in.
    """

    came: np.ndarray
    given: np.ndarray
    weights: np.ndarray
    members: np.ndarray
    rows: np.ndarray
    link: Link = LOGIT

    @classmethod
    def of(
        cls,
        came: np.ndarray,
        given: np.ndarray,
        weights: np.ndarray | None = None,
        members: np.ndarray | None = None,
        link: Link = LOGIT,
        rows: np.ndarray | None = None,
    ) -> Outcomes:
        """Those that weigh anything: of rows, and members, of their own unless it is said."""
        w = np.ones(len(came)) if weights is None else weights
        rows = np.arange(len(came)) if rows is None else rows
        members = rows if members is None else members
        kept = w > 0
        members, rows = (np.unique(of[kept], return_inverse=True)[1] for of in (members, rows))
        w = w[kept].astype(np.float64)
        w *= (1 + rows.max(initial=-1)) / w.sum()
        return cls(came[kept].astype(np.float64), given[kept], w, members, rows, link)

    @classmethod
    def held_out(cls, held: HeldOut, clip: float | None) -> Outcomes:
        """Of the second class, or of numbers; a row that was answered often weighs as others do."""
        given = held.answers if held.answers.ndim == 1 else held.answers[:, 1]
        _, place, times = np.unique(held.rows, return_inverse=True, return_counts=True)
        own = np.ones(len(given)) if held.weights is None else held.weights
        numbers = held.response == "value"
        return cls.of(
            held.truth if numbers else held.truth == 1,
            clipped(given, clip) if held.response == "probability" else given,
            own / times[place],
            held.rows if held.groups is None else held.groups,
            IDENTITY if numbers else LOGIT,
            held.rows,
        )

    @property
    def n(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def n_answers(self) -> int:
        """How many answers there are: several to a row that was tested repeatedly."""
        return len(self.came)

    @cached_property
    def n_rows(self) -> int:
        """How many rows were answered."""
        return len(np.unique(self.rows))

    @cached_property
    def n_events(self) -> int:
        """Rows in which the event came."""
        return len(np.unique(self.rows[self.came == 1]))

    @property
    def n_rarer(self) -> int:
        """Rows of the rarer outcome."""
        return min(self.n_events, self.n_rows - self.n_events)

    @property
    def of_one_class(self) -> bool:
        """Whether the event came always, or never."""
        return self.n_events in (0, self.n_rows)

    @cached_property
    def linear(self) -> np.ndarray:
        """What was given, on the scale of the link: log(p/(1 − p)) of probabilities."""
        return self.link.of(self.given)

    def mean(self, values: np.ndarray) -> float:
        """The weighted mean."""
        return float(self.weights @ values / self.n)

    def quantiles(self, values: np.ndarray, shares: Sequence[float]) -> np.ndarray:
        """Weighted quantiles, linear between the middles of weights: NumPy's of equal ones."""
        order = np.argsort(values, kind="stable")
        weights = self.weights[order]
        middle = np.cumsum(weights) - (weights + weights[0]) / 2
        return np.interp(np.asarray(shares) * middle[-1], middle, values[order])


def clipped(given: np.ndarray, clip: float | None) -> np.ndarray:
    """Probabilities between `clip` and 1 − `clip`, or as they are."""
    within = np.clip(given, 0.0, 1.0)
    return within if clip is None else np.clip(within, clip, 1 - clip)
