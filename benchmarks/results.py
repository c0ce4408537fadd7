"""A result is one line of the printed table: two medians, a target, and whether it is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Options", "Result", "Unit"]

Unit = Literal["s", "MB", ""]


@dataclass(frozen=True)
class Options:
    """How often every side of a contest runs; `quick` asks the rows for smaller problems."""

    repeats: int = 9
    quick: bool = False


@dataclass(frozen=True)
class Result:
    """`peer` and `ours` are medians in `unit`; `error` says why there is nothing to compare.

    `peer_all` and `ours_all` are the single measurements, in the order they were made.
    """

    what: str
    target: str = ""
    peer: float | None = None
    ours: float | None = None
    unit: Unit = "s"
    met: bool | None = None
    error: str | None = None
    peer_all: Sequence[float] = ()
    ours_all: Sequence[float] = ()

    @property
    def ratio(self) -> float | None:
        """Ours over the peer's: below 1 ours is faster, or smaller."""
        if self.error is not None or self.ours is None or not self.peer:
            return None
        return self.ours / self.peer
