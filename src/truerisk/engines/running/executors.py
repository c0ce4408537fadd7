"""Where batches run: in this process, on loky by a number, on Dask, on the user's executor.

Any object with `submit(function, *args) -> Future` will do. Results do not depend on the choice:
a fit is seeded by its number in the plan, and answers are put back by it.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

from truerisk.core.arguments import check_count, shown
from truerisk.core.errors import FitFailed, TrueRiskError, UnknownName
from truerisk.engines.workers.crews import Crew, Shared, UserExecutor
from truerisk.engines.workers.dask_cluster import Cluster, is_address, is_cluster, parts_of
from truerisk.engines.workers.processes import Processes
from truerisk.engines.workers.scheduler import Batches, BatchRun

SUSPECT = 2  # deaths of workers during a batch, after which it runs alone
PATIENCE = 60.0  # seconds that a cluster may lack workers


def workers_of(executor: Any) -> int | None:
    """How many workers an executor has; None for running in this process.

    2 where that is known only when it runs: of a cluster, and of an executor that does not say.
    """
    if executor is None:
        return None
    if is_cluster(executor):
        if is_address(executor):
            parts_of(executor)  # one that is none is refused before anything runs
        return 2
    if isinstance(executor, (bool, str)):
        raise UnknownName(
            f"n_jobs={shown(executor)} is unknown; use None (this process), a number of worker "
            "processes, 'dask://host:port', or any object with submit(function, *args)."
        )
    if isinstance(executor, Integral):  # NumPy's whole numbers as well
        if executor < 1:
            raise UnknownName(f"n_jobs={executor}: a number of workers is at least 1.")
        check_count("n_jobs", executor)
        return int(executor)
    if not callable(getattr(executor, "submit", None)):
        raise UnknownName(f"n_jobs={shown(executor)} has no submit(function, *args).")
    return int(getattr(executor, "_max_workers", 0) or 2)


def executor_of(n_jobs: Any) -> Any:
    """Return where fits run, None for this process.

    Numbers mean what they mean in joblib: 1 is this process, -1 a worker for each core.
    """
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        workers_of(n_jobs)  # which refuses what is no executor
        return n_jobs
    if n_jobs == 0:
        raise UnknownName("n_jobs=0: give a number of worker processes, -1 for one per core.")
    cores, wanted = os.cpu_count() or 1, int(n_jobs)
    workers = wanted if wanted > 0 else max(1, cores + 1 + wanted)
    return None if workers == 1 else workers


_idle: ContextVar[dict[Any, Cluster] | None] = ContextVar("truerisk_clusters", default=None)


@contextmanager
def connections_kept() -> Iterator[None]:
    """In the block, clusters stay connected and keep the table that they were sent last."""
    if _idle.get() is not None:
        yield
        return
    idle: dict[Any, Cluster] = {}
    token = _idle.set(idle)
    try:
        yield
    finally:
        _idle.reset(token)
        for cluster in idle.values():
            cluster.close()


@contextmanager
def crew_of(executor: Any, refusal: type[TrueRiskError]) -> Iterator[Crew | None]:
    """The crew that `executor` names, None for this process; `refusal` says that there is none."""
    workers = workers_of(executor)
    if workers is None:
        yield None
    elif is_cluster(executor):
        with _cluster(executor, refusal) as cluster:
            yield cluster
    else:
        own = isinstance(executor, Integral)
        crew = Processes(workers) if own else UserExecutor(executor, workers)
        try:
            yield crew
        finally:
            crew.close()


@contextmanager
def _cluster(where: Any, refusal: type[TrueRiskError]) -> Iterator[Cluster]:
    """A cluster, connected to anew where no earlier run of the call has left the connection."""
    idle = _idle.get()
    kept = None if idle is None else idle.pop(where, None)
    cluster = Cluster(where, refusal) if kept is None else kept
    cluster.missing()  # counts the workers, who come and go between two runs
    try:
        yield cluster
    except BaseException:
        cluster.close()
        raise
    if idle is None or where in idle:
        cluster.close()
    else:
        idle[where] = cluster


def run_batches(
    executor: Any,
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    batches: Sequence[Any] | Callable[[int | None], Sequence[Any]],
    *,
    named: Callable[[Any], str] | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """`(number, task(*shared, batch))` of every batch, as each one is done.

    `batches` may depend on the number of workers, None in this process. `named` says of a batch
    that ends its workers what it is. Whoever may stop listening closes it: what runs is ended.
    """
    with crew_of(executor, FitFailed) as crew:
        workers = None if crew is None else crew.workers
        made = batches(workers) if callable(batches) else batches
        run = BatchRun(crew, Shared(task, shared), _Listed(made, named))
        with closing(run.results()) as coming:
            for numbered, result in coming:
                if numbered is not None:
                    yield numbered[0], result


Numbered = tuple[int, Any]


class _Listed(Batches):
    """Batches that are known beforehand; the error of one is the end of all."""

    def __init__(self, made: Sequence[Any], named: Callable[[Any], str] | None) -> None:
        self.waiting: deque[Numbered] = deque(enumerate(made))
        self.alone: deque[Numbered] = deque()
        self.hit: Counter[int] = Counter()
        self.named, self.patience = named, PATIENCE

    def __bool__(self) -> bool:
        return bool(self.waiting or self.alone)

    def next(self) -> Numbered | None:
        """None while there are suspects: who is guilty is to be known soon."""
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
        """It runs again; alone after two deaths, and of another one it is guilty."""
        number, content = batch
        if alone:
            named = "" if self.named is None else f" again and again over {self.named(content)}"
            raise _death(error, named) from error
        self.hit[number] += deaths
        self.give_back(batch, alone=self.hit[number] >= SUSPECT)

    def failed(self, batch: Numbered, error: BaseException, *, alone: bool) -> None:
        raise error

    def stopped(self, reason: str | BaseException) -> FitFailed:
        if isinstance(reason, str):
            return FitFailed(f"{reason}: start workers, or use n_jobs=None.")
        return _death(reason)


def _death(error: BaseException | None, where: str = "") -> FitFailed:
    return FitFailed(
        f"a worker process died ({type(error).__name__}){where}: out of memory, or the model "
        "crashed it. Use fewer workers, or n_jobs=None to see where."
    )


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread: workers share the cores, and sums are added in one order."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)
