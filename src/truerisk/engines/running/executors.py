"""Where batches run: in this process, on loky by a number, on Dask, on the user's executor.

Any object with `submit(function, *args) -> Future` will do. Results do not depend on the choice:
a fit is seeded by its number in the plan, and answers are put back by it. Only batches that run
elsewhere need the package `engines/workers`, and only those on a cluster its file for Dask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from numbers import Integral
from types import ModuleType
from typing import TYPE_CHECKING, Any

from truerisk.core.arguments import check_count, shown
from truerisk.core.errors import FitFailed, TrueRiskError, UnknownName
from truerisk.core.identity import is_a
from truerisk.core.registry import check_present

if TYPE_CHECKING:
    from truerisk.engines.workers.crews import Crew
    from truerisk.engines.workers.dask_cluster import Cluster

CLIENT = "distributed:Client"
SCHEMES = ("dask://", "dask+tls://")


def workers_of(executor: Any) -> int | None:
    """How many workers an executor has; None for running in this process.

    2 where that is known only when it runs: of a cluster, and of an executor that does not say.
    """
    if executor is None:
        return None
    if _is_cluster(executor):
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
    if n_jobs is None:
        return None
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
    elif _is_cluster(executor):
        check_present("truerisk.engines.workers.dask_cluster")
        from truerisk.engines.workers.dask_cluster import connected

        with connected(executor, refusal, _idle.get()) as cluster:
            yield cluster
    else:
        crew = _workers().crew_on(executor, workers)
        try:
            yield crew
        finally:
            crew.close()


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
    if executor is None:
        made = batches(None) if callable(batches) else batches
        yield from ((number, task(*shared, batch)) for number, batch in enumerate(made))
        return
    with crew_of(executor, FitFailed) as crew:
        yield from _workers().run_listed(crew, task, shared, batches, named)


def _workers() -> ModuleType:
    """Return the branch that runs batches elsewhere."""
    check_present("truerisk.engines.workers.listed")
    from truerisk.engines.workers import listed

    return listed


def _is_cluster(executor: Any) -> bool:
    """Return True for a Dask cluster: a Client, or the address of a scheduler, which is checked."""
    if not (isinstance(executor, str) and executor.startswith(SCHEMES)):
        return is_a(executor, CLIENT)
    if not executor.partition("://")[2].rpartition(":")[2].isdecimal():
        raise UnknownName(
            f"n_jobs={shown(executor)}: write dask://host:port, such as dask://10.0.0.1:8786."
        )
    return True


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread: workers share the cores, and sums are added in one order."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)
