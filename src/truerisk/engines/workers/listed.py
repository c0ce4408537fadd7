"""Execution of batches that are known in advance, on worker processes, an executor or a cluster."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from numbers import Integral
from typing import Any

from truerisk.core.arguments import mention
from truerisk.core.errors import FitFailed
from truerisk.engines.workers.crews import SharedCall, UserExecutor, WorkerPool
from truerisk.engines.workers.processes import ProcessPool
from truerisk.engines.workers.scheduler import BatchQueue, BatchRun

# After this many deaths of workers while they ran a batch, the batch runs alone.
DEATHS_BEFORE_RUNNING_ALONE = 2
PATIENCE = 60.0  # A cluster may have no workers for this number of seconds.


def make_worker_pool(executor: Any, n_workers: int) -> WorkerPool:
    """Return a pool of worker processes, or a pool on the user's executor."""
    is_process_count = isinstance(executor, Integral)
    return ProcessPool(n_workers) if is_process_count else UserExecutor(executor, n_workers)


def run_known_batches(
    worker_pool: WorkerPool,
    task: Callable[..., Any],
    shared_arguments: tuple[Any, ...],
    batches: Sequence[Any] | Callable[[int | None], Sequence[Any]],
    describe_batch: Callable[[Any], str] | None,
) -> Generator[tuple[int, Any], None, None]:
    """Yield `(number, task(*shared, batch))` for every batch, in the order of completion."""
    batch_list = batches(worker_pool.workers) if callable(batches) else batches
    batch_run = BatchRun(
        worker_pool, SharedCall(task, shared_arguments), _BatchQueue(batch_list, describe_batch)
    )
    with closing(batch_run.results()) as results:
        for numbered_batch, result in results:
            if numbered_batch is not None:
                yield numbered_batch[0], result


NumberedBatch = tuple[int, Any]


class _BatchQueue(BatchQueue):
    """Queue of batches that are all known in advance. The first failed batch ends the run."""

    def __init__(self, batches: Sequence[Any], describe_batch: Callable[[Any], str] | None) -> None:
        self.waiting_batches: deque[NumberedBatch] = deque(enumerate(batches))
        self.batches_to_run_alone: deque[NumberedBatch] = deque()
        self.deaths_by_batch: Counter[int] = Counter()
        self.describe_batch, self.patience = describe_batch, PATIENCE

    def __bool__(self) -> bool:
        return bool(self.waiting_batches or self.batches_to_run_alone)

    def pop_batch(self) -> NumberedBatch | None:
        """Return the next batch, or None while batches that may kill workers wait to run alone."""
        return (
            self.waiting_batches.popleft()
            if self.waiting_batches and not self.batches_to_run_alone
            else None
        )

    def pop_isolated_batch(self) -> NumberedBatch | None:
        return self.batches_to_run_alone.popleft() if self.batches_to_run_alone else None

    def payload(self, batch: NumberedBatch) -> Any:
        return batch[1]

    def requeue(self, batch: NumberedBatch, *, alone: bool) -> None:
        (self.batches_to_run_alone if alone else self.waiting_batches).appendleft(batch)

    def handle_lost_batch(
        self, batch: NumberedBatch, error: BaseException | None, *, deaths: int, alone: bool
    ) -> None:
        """Queue a batch again whose worker died; after two deaths it has to run alone.

        Raise if the worker of a batch that ran alone died.
        """
        batch_number, batch_content = batch
        if alone:
            description = (
                ""
                if self.describe_batch is None
                else f" again and again over {self.describe_batch(batch_content)}"
            )
            raise _worker_death_error(error, description) from error
        self.deaths_by_batch[batch_number] += deaths
        self.requeue(batch, alone=self.deaths_by_batch[batch_number] >= DEATHS_BEFORE_RUNNING_ALONE)

    def handle_failed_batch(
        self, batch: NumberedBatch, error: BaseException, *, alone: bool
    ) -> None:
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
