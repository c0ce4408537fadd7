"""Run batches of fits in this process, on loky workers, on Dask, or on the user's executor.

Any object with `submit(function, *args) -> Future` is an executor. Results do not depend on the
choice: a fit is seeded by its number in the plan, and its answers are stored by that number. Only
batches that run outside this process need the package `engines/workers`. Only batches on a cluster
need its module for Dask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from numbers import Integral
from types import ModuleType
from typing import TYPE_CHECKING, Any

from joblib.parallel import get_active_backend

from truerisk.core.arguments import check_count, mention
from truerisk.core.errors import FitFailed, Refusal, TrueRiskError, UnknownName
from truerisk.core.identity import is_a
from truerisk.core.registry import check_present

if TYPE_CHECKING:
    from truerisk.engines.workers.crews import WorkerPool
    from truerisk.engines.workers.dask_cluster import Cluster

DASK_CLIENT = "distributed:Client"
DASK_SCHEMES = ("dask://", "dask+tls://")
DASK_BACKEND = "joblib._dask:DaskDistributedBackend"
LOKY_BACKEND = "joblib._parallel_backends:LokyBackend"


def count_workers(executor: Any) -> int | None:
    """Return the number of workers of an executor, or None if fits run in this process.

    Return 2 if the number is known only at run time: for a cluster, and for an executor without
    `_max_workers`. Raise UnknownName if the value is not an executor.
    """
    if executor is None:
        return None
    if _is_cluster(executor):
        return 2
    if isinstance(executor, (bool, str)):
        raise UnknownName(
            f"{mention('n_jobs', executor)} is unknown; use None (this process), a number of "
            "worker processes, 'dask://host:port', or any object with submit(function, *args)."
        )
    if isinstance(executor, Integral):  # Integral includes NumPy's integers.
        if executor < 1:
            raise UnknownName(
                f"{mention('n_jobs', int(executor))}: a number of workers is at least 1."
            )
        check_count("n_jobs", executor)
        return int(executor)
    if not callable(getattr(executor, "submit", None)):
        raise UnknownName(f"{mention('n_jobs', executor)} has no submit(function, *args).")
    return int(getattr(executor, "_max_workers", 0) or 2)


def resolve_executor(n_jobs: Any) -> Any:
    """Return the executor on which fits run, or None if they run in this process.

    Numbers have the same meaning as in joblib: 1 is this process, -1 is one worker per core. None
    stands for the backend and the number of `joblib.parallel_config`, which is 1 by default.
    """
    if n_jobs is None:
        n_jobs = _n_jobs_of_joblib()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        count_workers(n_jobs)  # This call raises UnknownName if the value is not an executor.
        return n_jobs
    if n_jobs == 0:
        raise UnknownName(
            f"{mention('n_jobs', 0)}: give a number of worker processes, -1 for one per core."
        )
    n_cores, n_requested = os.cpu_count() or 1, int(n_jobs)
    n_workers = n_requested if n_requested > 0 else max(1, n_cores + 1 + n_requested)
    return None if n_workers == 1 else n_workers


def _n_jobs_of_joblib() -> Any:
    """Return the number of jobs of `joblib.parallel_config`, or the Client of its Dask backend.

    The number is 1 within a task of joblib, whose other workers are busy. Raise Refusal if the
    backend is neither loky nor Dask.
    """
    backend, n_jobs = get_active_backend(prefer="processes")
    n_jobs = backend.default_n_jobs if n_jobs is None else n_jobs
    if n_jobs == 1 or backend.nesting_level:
        return 1
    if is_a(backend, LOKY_BACKEND):
        return n_jobs
    if is_a(backend, DASK_BACKEND):
        return backend.client
    if backend.effective_n_jobs(n_jobs) == 1:  # The sequential backend ignores n_jobs.
        return 1
    raise Refusal(
        f"fits do not run on {type(backend).__name__}, which joblib.parallel_config chose for "
        f"{n_jobs} jobs: use its backend 'loky' or 'dask', or give n_jobs here (1 is this process)."
    )


_idle_clusters: ContextVar[dict[Any, Cluster] | None] = ContextVar(
    "truerisk_clusters", default=None
)


@contextmanager
def reuse_connections() -> Iterator[None]:
    """Keep Dask clusters connected within a `with` block, so that data are sent to them once."""
    if _idle_clusters.get() is not None:
        yield
        return
    idle_clusters: dict[Any, Cluster] = {}
    context_token = _idle_clusters.set(idle_clusters)
    try:
        yield
    finally:
        _idle_clusters.reset(context_token)
        for cluster in idle_clusters.values():
            cluster.close()


@contextmanager
def open_workers(executor: Any, error_class: type[TrueRiskError]) -> Iterator[WorkerPool | None]:
    """Yield the pool of workers of `executor`, or None if tasks run in this process.

    If the workers cannot be reached, the error class `error_class` is raised.
    """
    n_workers = count_workers(executor)
    if n_workers is None:
        yield None
    elif _is_cluster(executor):
        check_present("truerisk.engines.workers.dask_cluster")
        from truerisk.engines.workers.dask_cluster import connect_to_cluster

        with connect_to_cluster(executor, error_class, _idle_clusters.get()) as cluster:
            yield cluster
    else:
        worker_pool = _worker_module().make_worker_pool(executor, n_workers)
        try:
            yield worker_pool
        finally:
            worker_pool.close()


def run_batches(
    executor: Any,
    task: Callable[..., Any],
    shared_arguments: tuple[Any, ...],
    batches: Sequence[Any] | Callable[[int | None], Sequence[Any]],
    *,
    batch_name: Callable[[Any], str] | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """Yield `(number, task(*shared, batch))` for every batch, in the order of completion.

    `batches` may be a function of the number of workers, which is None in this process.
    `batch_name` returns the name of a batch for the error message if the batch crashes its workers.
    A caller that may stop early has to close the generator; running tasks are then ended.
    """
    if executor is None:
        batch_list = batches(None) if callable(batches) else batches
        yield from (
            (batch_number, task(*shared_arguments, batch))
            for batch_number, batch in enumerate(batch_list)
        )
        return
    with open_workers(executor, FitFailed) as worker_pool:
        yield from _worker_module().run_known_batches(
            worker_pool, task, shared_arguments, batches, batch_name
        )


def _worker_module() -> ModuleType:
    """Return the module that runs batches on workers."""
    check_present("truerisk.engines.workers.listed")
    from truerisk.engines.workers import listed

    return listed


def _is_cluster(executor: Any) -> bool:
    """Return True for a Dask cluster, given as a Client or as the address of a scheduler.

    Raise UnknownName if the address has no port number.
    """
    if not (isinstance(executor, str) and executor.startswith(DASK_SCHEMES)):
        return is_a(executor, DASK_CLIENT)
    if not executor.partition("://")[2].rpartition(":")[2].isdecimal():
        raise UnknownName(
            f"{mention('n_jobs', executor)}: write dask://host:port, such as dask://10.0.0.1:8786."
        )
    return True


def limit_to_one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, so that workers do not compete for cores.

    Rounding is then reproducible too.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)
