"""What to do next: cells take turns, batches last long enough to be worth sending, suspects last.

A worker that ends takes all batches in flight with it, guilty or not. Theirs go to the end of the
queue; those that are hit a second time are tried task by task and alone, when nothing else is left,
until the task that ends its worker is found and quarantined.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from truerisk.study.states import Fate, State
from truerisk.study.store import Cell
from truerisk.study.tasks import Batch, failed, worded

__all__ = ["Queue"]

WORTH_SENDING = 0.2  # seconds; sending costs milliseconds
LARGEST = 2_000


@dataclass(eq=False)
class _Lane:
    """The tasks of one cell that were not yet given out."""

    cell: Cell
    numbers: np.ndarray
    given: int = 0
    seconds: float = 0.0
    timed: int = 0

    @property
    def left(self) -> int:
        return len(self.numbers) - self.given

    def take(self, size: int) -> Batch:
        numbers = self.numbers[self.given : self.given + size]
        self.given += len(numbers)
        return Batch(self.cell.id, self.cell.content, tuple(numbers.tolist()))


@dataclass(eq=False)
class Queue:
    """Tasks that wait; `slots` is how many batches are in flight at most, 0 for one by one."""

    attempts: int
    slots: int = 0
    _lanes: deque[_Lane] = field(default_factory=deque)
    _of: dict[int, _Lane] = field(default_factory=dict)
    _again: deque[Batch] = field(default_factory=deque)
    _alone: deque[Batch] = field(default_factory=deque)
    _blamed: Counter[tuple[int, int]] = field(default_factory=Counter)
    _tried: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, cell: Cell, ended: np.ndarray, suspects: Mapping[int, int]) -> None:
        """The tasks of a cell that have not ended; suspects of an earlier run stay suspects."""
        open_ = np.ones(cell.wanted, dtype=bool)
        open_[ended] = False
        open_[list(suspects)] = False
        lane = _Lane(cell, np.flatnonzero(open_))
        self._of[cell.id] = lane
        if lane.left:
            self._lanes.append(lane)
        for number, tries in sorted(suspects.items()):
            self._tried[cell.id, number] = tries
            self._alone.append(Batch(cell.id, cell.content, (number,)))

    def __bool__(self) -> bool:
        return bool(self._lanes or self._again or self._alone)

    def next(self) -> Batch | None:
        """A batch that may run beside others."""
        if not self._lanes:
            return self._again.popleft() if self._again else None
        lane = self._lanes[0]
        self._lanes.rotate(-1)
        batch = lane.take(self._size(lane))
        if not lane.left:
            self._lanes.remove(lane)
        return batch

    def next_alone(self) -> Batch | None:
        """A batch that runs when nothing else does."""
        return self._alone.popleft() if self._alone else None

    def timed(self, fates: Sequence[Fate]) -> None:
        """How long tasks took, which decides how many the next batches hold."""
        for fate in fates:
            lane = self._of[fate.cell]
            lane.seconds += fate.seconds or 0.0
            lane.timed += 1

    def give_back(self, batch: Batch, *, alone: bool) -> None:
        """A batch that was not run, through no fault of its own."""
        (self._alone if alone else self._again).append(batch)

    def unsendable(self, batch: Batch, error: Exception) -> list[Fate]:
        """The executor failed with the batch, not with its worker: found task by task."""
        if len(batch.numbers) > 1:
            self._again.extend(_halves(batch))
            return []
        return [failed(batch, batch.numbers[0], 0.0, worded(error))]

    def blame(self, batch: Batch, *, alone: bool, deaths: int = 1) -> list[Fate]:
        """The worker of the batch ended; the fates of those that are thereby suspect or worse."""
        if alone and len(batch.numbers) == 1:
            return [self._tried_alone(batch, deaths)]
        if not alone and not self._hit(batch):
            self._again.extend(_halves(batch))
        else:  # one by one: a batch is a fraction of a second, new workers take seconds
            self._alone.extend(_single(batch, number) for number in batch.numbers)
        return [_suspect(batch, number, 0) for number in batch.numbers]

    def _tried_alone(self, batch: Batch, deaths: int) -> Fate:
        (number,) = batch.numbers
        self._tried[batch.cell, number] += deaths
        tries = self._tried[batch.cell, number]
        if tries < self.attempts:
            self._alone.append(batch)
            return _suspect(batch, number, tries)
        reason = f"its worker ended {tries} times, each time with no other task in flight."
        return Fate(
            batch.cell, number, State.QUARANTINED, attempts=tries, error=f"quarantined: {reason}"
        )

    def _hit(self, batch: Batch) -> bool:
        """Whether some task of the batch was in flight when a worker ended, for the second time."""
        self._blamed.update((batch.cell, number) for number in batch.numbers)
        return any(self._blamed[batch.cell, number] > 1 for number in batch.numbers)

    def _size(self, lane: _Lane) -> int:
        if not self.slots or not lane.timed:
            return 1
        mean = max(lane.seconds / lane.timed, 1e-6)
        fair = sum(other.left for other in self._lanes) // (2 * self.slots) + 1
        return max(1, min(round(WORTH_SENDING / mean), fair, LARGEST))


def _halves(batch: Batch) -> Iterable[Batch]:
    middle = len(batch.numbers) // 2
    parts = (batch.numbers[:middle], batch.numbers[middle:])
    return [Batch(batch.cell, batch.content, part) for part in parts if part]


def _single(batch: Batch, number: int) -> Batch:
    return Batch(batch.cell, batch.content, (number,))


def _suspect(batch: Batch, number: int, tries: int) -> Fate:
    return Fate(batch.cell, number, State.SUSPECT, attempts=tries, error="its worker ended")
