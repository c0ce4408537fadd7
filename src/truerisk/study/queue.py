"""The order of tasks: cells alternate, batches are worth their overhead, suspects come last.

A worker that ends loses all batches in flight, whether or not they caused it. These go to the end
of the queue. Those that are lost a second time are run task by task and alone, when nothing else is
left, until the task that ends its worker is found and quarantined.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field

import numpy as np

from truerisk.core.errors import StudyIncomplete
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.engines.workers.scheduler import Batches
from truerisk.study.schema import Fate, State
from truerisk.study.store import Cell
from truerisk.study.tasks import Batch, Limits, failed, worded

WORTH_SENDING = 0.2  # Minimum seconds of a batch; sending costs milliseconds.
LARGEST = 2_000
SLACK = 120.0  # Seconds beyond its tasks' limits after which a batch counts as lost.


@frozen
class Rules:
    """Options of a run.

    `attempts` is the number of times that a task may end its worker before it is quarantined, and
    `patience` the seconds that the run waits if there are no workers.
    """

    attempts: int = 3
    patience: float = 60.0
    limits: Limits = field(default_factory=Limits)
    unit: str = "replicates"


USUAL = Rules()


@dataclass(eq=False)
class _Lane:
    """The tasks of one cell that are still waiting."""

    cell: Cell
    numbers: np.ndarray
    n_taken: int = 0
    seconds: float = 0.0
    timed: int = 0

    @property
    def left(self) -> int:
        return len(self.numbers) - self.n_taken

    def take(self, size: int) -> Batch:
        numbers = self.numbers[self.n_taken : self.n_taken + size]
        self.n_taken += len(numbers)
        return Batch(self.cell.id, self.cell.content, tuple(numbers.tolist()))


class Queue(Batches):
    """Waiting tasks, whose outcomes are the results of batches."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.patience = rules, rules.patience
        self._lanes: deque[_Lane] = deque()
        self._of: dict[int, _Lane] = {}
        self._again: deque[Batch] = deque()
        self._alone: deque[Batch] = deque()
        self._blamed: Counter[tuple[int, int]] = Counter()
        self._tried: Counter[tuple[int, int]] = Counter()
        self._answered = False

    def add(self, cell: Cell, ended: np.ndarray, suspects: Mapping[int, int]) -> None:
        """Add a cell's unfinished tasks; suspects of an earlier run remain suspects."""
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

    @override
    def next(self) -> Batch | None:
        if not self._lanes:
            return self._again.popleft() if self._again else None
        lane = self._lanes[0]
        self._lanes.rotate(-1)
        batch = lane.take(self._size(lane))
        if not lane.left:
            self._lanes.remove(lane)
        return batch

    @override
    def next_alone(self) -> Batch | None:
        return self._alone.popleft() if self._alone else None

    def timed(self, fates: Sequence[Fate]) -> None:
        """Record the times of tasks, which determine the size of the next batches."""
        for outcome in fates:
            if outcome.seconds:  # The time is unknown if the worker died.
                lane = self._of[outcome.cell]
                lane.seconds += outcome.seconds
                lane.timed += 1
                self._answered = True

    @override
    def give_back(self, batch: Batch, *, alone: bool) -> None:
        (self._alone if alone else self._again).append(batch)

    def failed(self, batch: Batch, error: BaseException, *, alone: bool) -> list[Fate] | None:
        """Return the outcomes if an executor failed with a task, which is then isolated."""
        if isinstance(error, StudyIncomplete | CancelledError):
            self.give_back(batch, alone=alone)
            raise error if isinstance(error, StudyIncomplete) else self.stopped(error)
        if not self._answered or not isinstance(error, Exception):
            raise StudyIncomplete(
                f"the executor cannot run the tasks ({type(error).__name__}: {error}): all workers "
                "need truerisk and what the study imports."
            ) from error
        if len(batch.numbers) > 1:
            self._again.extend(_halves(batch))
            return None
        return [failed(batch, batch.numbers[0], 0.0, worded(error))]

    def blame(
        self, batch: Batch, error: BaseException | None = None, *, deaths: int = 1, alone: bool
    ) -> list[Fate]:
        """Return the outcomes of tasks that become suspected or quarantined."""
        if alone and len(batch.numbers) == 1:
            return [self._tried_alone(batch, deaths)]
        if not alone and not self._hit(batch):
            self._again.extend(_halves(batch))
        # Tasks run one by one: a batch takes a fraction of a second, but new workers take seconds.
        else:
            self._alone.extend(
                Batch(batch.cell, batch.content, (number,)) for number in batch.numbers
            )
        return [_suspected_fate(batch, number, 0) for number in batch.numbers]

    def longest(self, batch: Batch, ahead: int) -> float | None:
        """Return the time limit of a batch; those ahead of it may have waited for one another."""
        seconds = self.rules.limits.seconds
        return None if seconds is None else (1 + ahead) * len(batch.numbers) * seconds + SLACK

    @override
    def stopped(self, reason: str | BaseException) -> StudyIncomplete:
        if isinstance(reason, str):
            return StudyIncomplete(
                f"{reason}: what was found is stored, and the study goes on when it is run again."
            )
        return StudyIncomplete(
            "a worker of the executor died, and an executor that was given is not replaced: what "
            "was found is stored; give a new one and run again, or a number of workers."
        )

    def _tried_alone(self, batch: Batch, deaths: int) -> Fate:
        (number,) = batch.numbers
        self._tried[batch.cell, number] += deaths
        tries = self._tried[batch.cell, number]
        if tries < self.rules.attempts:
            self._alone.append(batch)
            return _suspected_fate(batch, number, tries)
        reason = f"its worker ended {tries} times, each time with no other task in flight."
        return Fate(
            batch.cell, number, State.QUARANTINED, attempts=tries, error=f"quarantined: {reason}"
        )

    def _hit(self, batch: Batch) -> bool:
        """Return True if a task of the batch was in flight twice when a worker ended."""
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


def _suspected_fate(batch: Batch, number: int, tries: int) -> Fate:
    return Fate(batch.cell, number, State.SUSPECT, attempts=tries, error="its worker ended")
