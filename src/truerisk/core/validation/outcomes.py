"""What came and what was said of it: the rows that every number of a validation is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.link import IDENTITY, LOGIT, Link

__all__ = ["Outcomes"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Whether the event came, what was given for it, the weight of the row, and its member.

    `given` are probabilities of the event, or decision values. Where `link` is the identity,
    `came` are numbers and `given` the answers. Rows of one `member` depend on each other: the
    answers to one row, or the rows of one group.
    """

    came: np.ndarray
    given: np.ndarray
    weights: np.ndarray
    members: np.ndarray
    link: Link = LOGIT

    @classmethod
    def of(
        cls,
        came: np.ndarray,
        given: np.ndarray,
        weights: np.ndarray | None = None,
        members: np.ndarray | None = None,
        link: Link = LOGIT,
    ) -> Outcomes:
        """Rows that do not depend on each other, unless `members` says which do."""
        w = np.ones(len(came)) if weights is None else weights.astype(np.float64)
        kept = w > 0
        some = np.arange(kept.sum()) if members is None else members[kept]
        some = np.unique(some, return_inverse=True)[1].ravel()
        return cls(came[kept].astype(np.float64), given[kept], w[kept], some, link)

    @classmethod
    def held_out(cls, held: HeldOut, clip: float | None) -> Outcomes:
        """Of the second class, or of numbers; a row that was answered often weighs as others do."""
        given = held.answers if held.answers.ndim == 1 else held.answers[:, 1]
        distinct, place, times = np.unique(held.rows, return_inverse=True, return_counts=True)
        del distinct
        own = np.ones(len(given)) if held.weights is None else held.weights
        members = held.rows if held.groups is None else held.groups
        numbers = held.response == "value"
        return cls.of(
            held.truth if numbers else held.truth == 1,
            clipped(given, clip) if held.response == "probability" else given,
            own / times[place],
            members,
            IDENTITY if numbers else LOGIT,
        )

    @property
    def n(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def n_rows(self) -> int:
        """How many answers there are."""
        return len(self.came)

    @cached_property
    def n_events(self) -> int:
        """Answers to rows in which the event came."""
        return int(np.count_nonzero(self.came))

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


def clipped(given: np.ndarray, clip: float | None) -> np.ndarray:
    """Probabilities between `clip` and 1 − `clip`, or as they are."""
    within = np.clip(given, 0.0, 1.0)
    return within if clip is None else np.clip(within, clip, 1 - clip)
