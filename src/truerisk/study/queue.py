"""Queue of the tasks of a study, which decides the order and the size of batches.

Cells alternate. Batches are large enough to be worth the overhead of sending them. When a worker
process ends, all batches in flight are lost, whether or not they caused it, and go to the end of
the queue. The tasks of a batch that is lost a second time become suspects. They are run one by one
after all other tasks, until the task that ends its worker is found and quarantined.
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
from truerisk.engines.workers.scheduler import BatchQueue
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.store import Cell
from truerisk.study.tasks import ReplicateBatch, TaskLimits, failed_outcome, traceback_text

MIN_BATCH_SECONDS = (
    0.2  # A batch should take at least so many seconds, as sending costs milliseconds.
)
MAX_BATCH_SIZE = 2_000
# A batch counts as lost so many seconds after the time limits of its tasks.
LOST_BATCH_SECONDS = 120.0


@frozen
class StudyRunOptions:
    """Options of a run of a study: attempts, patience, limits, and the unit shown as progress.

    A task that has ended its worker `max_attempts` times is quarantined. `patience` is the number
    of seconds for which the run waits if there are no workers.
    """

    max_attempts: int = 3
    patience: float = 60.0
    limits: TaskLimits = field(default_factory=TaskLimits)
    progress_unit: str = "replicates"


DEFAULT_RUN_OPTIONS = StudyRunOptions()


@dataclass(eq=False)
class _CellTasks:
    """The tasks of a cell that were not yet sent to a worker, and the times of finished tasks."""

    cell: Cell
    replicate_numbers: np.ndarray
    n_taken: int = 0
    seconds: float = 0.0
    n_timed: int = 0

    @property
    def n_left(self) -> int:
        return len(self.replicate_numbers) - self.n_taken

    def take_batch(self, batch_size: int) -> ReplicateBatch:
        replicate_numbers = self.replicate_numbers[self.n_taken : self.n_taken + batch_size]
        self.n_taken += len(replicate_numbers)
        return ReplicateBatch(self.cell.id, self.cell.content, tuple(replicate_numbers.tolist()))


class Queue(BatchQueue):
    """Queue of a study's tasks, from which the scheduler takes batches."""

    def __init__(self, rules: StudyRunOptions) -> None:
        self.run_options, self.patience = rules, rules.patience
        self._cells_with_tasks: deque[_CellTasks] = deque()
        self._tasks_of_cell: dict[int, _CellTasks] = {}
        self._retried_batches: deque[ReplicateBatch] = deque()
        self._isolated_batches: deque[ReplicateBatch] = deque()
        self._losses_of_task: Counter[tuple[int, int]] = Counter()
        self._attempts_of_task: Counter[tuple[int, int]] = Counter()
        self._has_results = False

    def add(self, cell: Cell, ended_numbers: np.ndarray, suspects: Mapping[int, int]) -> None:
        """Add to the queue those tasks of a cell that have not ended.

        `suspects` maps tasks that ended their worker in an earlier run to their number of attempts.
        They are run alone.
        """
        is_unfinished = np.ones(cell.n_wanted, dtype=bool)
        is_unfinished[ended_numbers] = False
        is_unfinished[list(suspects)] = False
        cell_tasks = _CellTasks(cell, np.flatnonzero(is_unfinished))
        self._tasks_of_cell[cell.id] = cell_tasks
        if cell_tasks.n_left:
            self._cells_with_tasks.append(cell_tasks)
        for replicate_number, n_attempts in sorted(suspects.items()):
            self._attempts_of_task[cell.id, replicate_number] = n_attempts
            self._isolated_batches.append(
                ReplicateBatch(cell.id, cell.content, (replicate_number,))
            )

    def __bool__(self) -> bool:
        return bool(self._cells_with_tasks or self._retried_batches or self._isolated_batches)

    @override
    def pop_batch(self) -> ReplicateBatch | None:
        if not self._cells_with_tasks:
            return self._retried_batches.popleft() if self._retried_batches else None
        cell_tasks = self._cells_with_tasks[0]
        self._cells_with_tasks.rotate(-1)
        batch = cell_tasks.take_batch(self._batch_size(cell_tasks))
        if not cell_tasks.n_left:
            self._cells_with_tasks.remove(cell_tasks)
        return batch

    @override
    def pop_isolated_batch(self) -> ReplicateBatch | None:
        return self._isolated_batches.popleft() if self._isolated_batches else None

    def record_times(self, outcomes: Sequence[TaskOutcome]) -> None:
        """Record the running times of tasks, which determine the size of the next batches."""
        for outcome in outcomes:
            if outcome.seconds:  # A task whose worker ended has no running time.
                cell_tasks = self._tasks_of_cell[outcome.cell]
                cell_tasks.seconds += outcome.seconds
                cell_tasks.n_timed += 1
                self._has_results = True

    @override
    def requeue(self, batch: ReplicateBatch, *, alone: bool) -> None:
        (self._isolated_batches if alone else self._retried_batches).append(batch)

    def handle_failed_batch(
        self, batch: ReplicateBatch, error: BaseException, *, alone: bool
    ) -> list[TaskOutcome] | None:
        """Handle an error of the executor: return the failed outcome, or None to retry the batch.

        A batch of several tasks is halved and retried, until the task that causes the error is
        alone. That task has failed.
        """
        if isinstance(error, StudyIncomplete | CancelledError):
            self.requeue(batch, alone=alone)
            raise error if isinstance(error, StudyIncomplete) else self.no_workers_error(error)
        if not self._has_results or not isinstance(error, Exception):
            raise StudyIncomplete(
                f"the executor cannot run the tasks ({type(error).__name__}: {error}): all workers "
                "need truerisk and what the study imports."
            ) from error
        if len(batch.replicate_numbers) > 1:
            self._retried_batches.extend(_split_into_halves(batch))
            return None
        return [failed_outcome(batch, batch.replicate_numbers[0], 0.0, traceback_text(error))]

    def handle_lost_batch(
        self,
        batch: ReplicateBatch,
        error: BaseException | None = None,
        *,
        deaths: int = 1,
        alone: bool,
    ) -> list[TaskOutcome]:
        """Return the outcomes of tasks whose worker ended: each is suspected or quarantined."""
        if alone and len(batch.replicate_numbers) == 1:
            return [self._handle_isolated_loss(batch, deaths)]
        if not alone and not self._is_second_loss(batch):
            self._retried_batches.extend(_split_into_halves(batch))
        # The tasks are run one by one, as a new worker costs more time than a small batch.
        else:
            self._isolated_batches.extend(
                ReplicateBatch(batch.cell_number, batch.cell_content, (replicate_number,))
                for replicate_number in batch.replicate_numbers
            )
        return [
            _suspected_outcome(batch, replicate_number, 0)
            for replicate_number in batch.replicate_numbers
        ]

    def time_limit(self, batch: ReplicateBatch, ahead: int) -> float | None:
        """Return the seconds after which a batch counts as lost, or None without a time limit.

        `ahead` is the number of batches that the same worker may have to run before it.
        """
        seconds = self.run_options.limits.seconds
        return (
            None
            if seconds is None
            else (1 + ahead) * len(batch.replicate_numbers) * seconds + LOST_BATCH_SECONDS
        )

    @override
    def no_workers_error(self, reason: str | BaseException) -> StudyIncomplete:
        if isinstance(reason, str):
            return StudyIncomplete(
                f"{reason}: what was found is stored, and the study goes on when it is run again."
            )
        return StudyIncomplete(
            "a worker of the executor died, and an executor that was given is not replaced: what "
            "was found is stored; give a new one and run again, or a number of workers."
        )

    def _handle_isolated_loss(self, batch: ReplicateBatch, deaths: int) -> TaskOutcome:
        (replicate_number,) = batch.replicate_numbers
        self._attempts_of_task[batch.cell_number, replicate_number] += deaths
        n_attempts = self._attempts_of_task[batch.cell_number, replicate_number]
        if n_attempts < self.run_options.max_attempts:
            self._isolated_batches.append(batch)
            return _suspected_outcome(batch, replicate_number, n_attempts)
        reason = f"its worker ended {n_attempts} times, each time with no other task in flight."
        return TaskOutcome(
            batch.cell_number,
            replicate_number,
            State.QUARANTINED,
            attempts=n_attempts,
            error=f"quarantined: {reason}",
        )

    def _is_second_loss(self, batch: ReplicateBatch) -> bool:
        """Count a lost worker for each task of a batch; return True if a task has lost two."""
        self._losses_of_task.update(
            (batch.cell_number, replicate_number) for replicate_number in batch.replicate_numbers
        )
        return any(
            self._losses_of_task[batch.cell_number, replicate_number] > 1
            for replicate_number in batch.replicate_numbers
        )

    def _batch_size(self, cell_tasks: _CellTasks) -> int:
        if not self.slots or not cell_tasks.n_timed:
            return 1
        mean_seconds = max(cell_tasks.seconds / cell_tasks.n_timed, 1e-6)
        fair_batch_size = (
            sum(other_tasks.n_left for other_tasks in self._cells_with_tasks) // (2 * self.slots)
            + 1
        )
        return max(1, min(round(MIN_BATCH_SECONDS / mean_seconds), fair_batch_size, MAX_BATCH_SIZE))


def _split_into_halves(batch: ReplicateBatch) -> Iterable[ReplicateBatch]:
    middle_index = len(batch.replicate_numbers) // 2
    halves = (batch.replicate_numbers[:middle_index], batch.replicate_numbers[middle_index:])
    return [
        ReplicateBatch(batch.cell_number, batch.cell_content, half_numbers)
        for half_numbers in halves
        if half_numbers
    ]


def _suspected_outcome(
    batch: ReplicateBatch, replicate_number: int, n_attempts: int
) -> TaskOutcome:
    return TaskOutcome(
        batch.cell_number,
        replicate_number,
        State.SUSPECT,
        attempts=n_attempts,
        error="its worker ended",
    )
