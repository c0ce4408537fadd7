"""Execution of batches that are known in advance, on worker processes, an executor or a cluster."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from numbers import Integral
from typing import Any

from truerisk.core.arguments import mention
from truerisk.core.errors import FitFailed
from truerisk.engines.workers.crews import Shared, UserExecutor, WorkerPool
from truerisk.engines.workers.processes import Processes
from truerisk.engines.workers.scheduler import Batches, BatchRun

# A batch during which this many workers died runs alone the next time.
DEATHS_BEFORE_RUNNING_ALONE = 2
PATIENCE = 60.0  # A cluster may have no workers for this number of seconds.


def open_workers_on(executor: Any, workers: int) -> WorkerPool:
    """Return a worker pool with a number of processes, or on an executor of the user."""
    is_number = isinstance(executor, Integral)
    return Processes(workers) if is_number else UserExecutor(executor, workers)


def run_listed(
    workers: WorkerPool,
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    batches: Sequence[Any] | Callable[[int | None], Sequence[Any]],
    describe_batch: Callable[[Any], str] | None,
) -> Generator[tuple[int, Any], None, None]:
    """Yield `(number, task(*shared, batch))` for every batch, in the order of completion."""
    batch_list = batches(workers.workers) if callable(batches) else batches
    run = BatchRun(workers, Shared(task, shared), _Listed(batch_list, describe_batch))
    with closing(run.results()) as results:
        for numbered_batch, result in results:
            if numbered_batch is not None:
                yield numbered_batch[0], result


NumberedBatch = tuple[int, Any]


class _Listed(Batches):
    """Queue of batches that are known in advance; the first failed fit ends the run."""

    def __init__(self, batches: Sequence[Any], describe_batch: Callable[[Any], str] | None) -> None:
        self.waiting: deque[NumberedBatch] = deque(enumerate(batches))
        self.alone: deque[NumberedBatch] = deque()
        self.hit: Counter[int] = Counter()
        self.named, self.patience = describe_batch, PATIENCE

    def __bool__(self) -> bool:
        return bool(self.waiting or self.alone)

    def next(self) -> NumberedBatch | None:
        """Return the next batch, or None while suspected batches have to run alone."""
        return self.waiting.popleft() if self.waiting and not self.alone else None

    def next_alone(self) -> NumberedBatch | None:
        return self.alone.popleft() if self.alone else None

    def content(self, batch: NumberedBatch) -> Any:
        return batch[1]

    def give_back(self, batch: NumberedBatch, *, alone: bool) -> None:
        (self.alone if alone else self.waiting).appendleft(batch)

    def blame(
        self, batch: NumberedBatch, error: BaseException | None, *, deaths: int, alone: bool
    ) -> None:
        """Queue a batch again after its worker died; after two deaths, to run alone.

        Raise if the worker of a batch that ran alone died.
        """
        batch_number, batch_content = batch
        if alone:
            description = (
                "" if self.named is None else f" again and again over {self.named(batch_content)}"
            )
            raise _worker_death_error(error, description) from error
        self.hit[batch_number] += deaths
        self.give_back(batch, alone=self.hit[batch_number] >= DEATHS_BEFORE_RUNNING_ALONE)

    def failed(self, batch: NumberedBatch, error: BaseException, *, alone: bool) -> None:
        raise error

    def no_workers_error(self, reason: str | BaseException) -> FitFailed:
        if isinstance(reason, str):
            return FitFailed(f"{reason}: start workers, or use {mention('n_jobs', None)}.")
        return _worker_death_error(reason)


def _worker_death_error(error: BaseException | None, description: str = "") -> FitFailed:
    return FitFailed(
        f"a worker process died ({type(error).__name__}){description}: out of memory, or the model "
        f"crashed it. Use fewer workers, or {mention('n_jobs', None)} to see where."
    )
