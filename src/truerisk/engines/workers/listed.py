"""Batches known in advance, run on worker processes, an executor or a cluster."""

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

DOUBTFUL = 2  # number of deaths during a batch after which it runs alone
PATIENCE = 60.0  # seconds during which a cluster may have no workers


def open_workers_on(executor: Any, workers: int) -> WorkerPool:
    """Return the crew of a number of processes, or of an executor of the user."""
    own = isinstance(executor, Integral)
    return Processes(workers) if own else UserExecutor(executor, workers)


def run_listed(
    workers: WorkerPool,
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    batches: Sequence[Any] | Callable[[int | None], Sequence[Any]],
    named: Callable[[Any], str] | None,
) -> Generator[tuple[int, Any], None, None]:
    """Yield `(number, task(*shared, batch))` of every batch, as each one is done."""
    made = batches(workers.workers) if callable(batches) else batches
    run = BatchRun(workers, Shared(task, shared), _Listed(made, named))
    with closing(run.results()) as coming:
        for numbered, result in coming:
            if numbered is not None:
                yield numbered[0], result


Numbered = tuple[int, Any]


class _Listed(Batches):
    """Batches that are known in advance; the first error ends the run."""

    def __init__(self, made: Sequence[Any], named: Callable[[Any], str] | None) -> None:
        self.waiting: deque[Numbered] = deque(enumerate(made))
        self.alone: deque[Numbered] = deque()
        self.hit: Counter[int] = Counter()
        self.named, self.patience = named, PATIENCE

    def __bool__(self) -> bool:
        return bool(self.waiting or self.alone)

    def next(self) -> Numbered | None:
        """Return the next batch, or None while suspected batches remain to be tested alone."""
        return self.waiting.popleft() if self.waiting and not self.alone else None

    def next_alone(self) -> Numbered | None:
        return self.alone.popleft() if self.alone else None

    def content(self, batch: Numbered) -> Any:
        return batch[1]

    def give_back(self, batch: Numbered, *, alone: bool) -> None:
        (self.alone if alone else self.waiting).appendleft(batch)

    def blame(
        self, batch: Numbered, error: BaseException | None, *, deaths: int, alone: bool
    ) -> None:
        """Repeat the batch after a death, alone after two; raise if it fails when it runs alone."""
        number, content = batch
        if alone:
            named = "" if self.named is None else f" again and again over {self.named(content)}"
            raise _death(error, named) from error
        self.hit[number] += deaths
        self.give_back(batch, alone=self.hit[number] >= DOUBTFUL)

    def failed(self, batch: Numbered, error: BaseException, *, alone: bool) -> None:
        raise error

    def stopped(self, reason: str | BaseException) -> FitFailed:
        if isinstance(reason, str):
            return FitFailed(f"{reason}: start workers, or use {mention('n_jobs', None)}.")
        return _death(reason)


def _death(error: BaseException | None, where: str = "") -> FitFailed:
    return FitFailed(
        f"a worker process died ({type(error).__name__}){where}: out of memory, or the model "
        f"crashed it. Use fewer workers, or {mention('n_jobs', None)} to see where."
    )
