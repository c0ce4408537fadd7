"""Where batches run: in this process, on worker processes, on an executor of the user, on Dask."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import StudyIncomplete, UnknownName
from truerisk.engines.workers.dask_cluster import is_address, is_cluster
from truerisk.engines.workers.executors import workers_of
from truerisk.engines.workers.processes import IN_FLIGHT, Processes
from truerisk.study.limits import end_child, run_limited
from truerisk.study.pool import Pool
from truerisk.study.sharing import frozen
from truerisk.study.tasks import Batch, Order, one_thread, run_task
from truerisk.study.work import run_batch

__all__ = ["Here", "UserPool", "Workers", "pool_of", "refuse_unknown"]


class Here(Pool):
    """No workers: each task in this process, when it is submitted."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._quiet = False

    def share(self, arrays: Sequence[np.ndarray], folder: Path) -> None:
        self._arrays = [frozen(array) for array in arrays]

    def submit(self, order: Order, batch: Batch) -> Future[Any]:
        if not self._quiet:  # once: looking for the BLAS takes milliseconds
            import_module("scipy.linalg")  # libraries that are loaded later would not hear of it
            import_module("sklearn.utils.extmath")
            self._stack.enter_context(one_thread())
            self._quiet = True
        if order.limits:
            fates = run_limited(order, batch, self.arrays)
        else:
            fates = [run_task(order.work, batch, n, self.arrays) for n in batch.numbers]
        future: Future[Any] = Future()
        future.set_result(fates)
        return future

    def close(self, *, kill: bool = False) -> None:
        self._stack.close()
        end_child()


class Workers(Pool):
    """Worker processes of our own; a broken pool is replaced."""

    breaks_as_a_whole = True

    def __init__(self, n_workers: int) -> None:
        self.workers = n_workers
        self.slots = IN_FLIGHT * n_workers
        self._processes = Processes(n_workers)

    def submit(self, order: Order, batch: Batch) -> Future[Any]:
        return self._processes.submit(run_batch, order, batch, *self.arrays)

    def replace(self) -> None:
        self._processes.replace()

    def close(self, *, kill: bool = False) -> None:
        if kill:
            self._processes.end()


class UserPool(Pool):
    """An executor of the user on this machine: used, never closed, and not replaced."""

    breaks_as_a_whole = True

    def __init__(self, executor: Any) -> None:
        self.workers = workers_of(executor) or 1
        self.slots = IN_FLIGHT * self.workers
        self._executor = executor

    def submit(self, order: Order, batch: Batch) -> Future[Any]:
        return self._executor.submit(run_batch, order, batch, *self.arrays)

    def replace(self) -> None:
        raise StudyIncomplete(
            "a worker of the executor died, and an executor that was given is not replaced: what "
            "was found is stored; give a new one and run again, or a number of workers."
        )


def refuse_unknown(executor: Any) -> None:
    """Say that nothing answers to `executor`, before a store is made for it."""
    if isinstance(executor, str) and executor.isdecimal():
        workers_of(int(executor))
    elif isinstance(executor, str):
        if not is_address(executor):
            raise UnknownName(
                f"executor={shown(executor)} is unknown; use a number of worker processes, "
                "'dask://host:port' or 'dask+tls://host:port'."
            )
    elif not is_cluster(executor):
        workers_of(executor)


def pool_of(executor: Any) -> Pool:
    """The pool that `executor` names: None, a number, "dask://host:port", a Client, an executor."""
    refuse_unknown(executor)
    if executor is None:
        return Here()
    if isinstance(executor, str):
        return pool_of(int(executor)) if executor.isdecimal() else _on_dask(executor)
    if is_cluster(executor):
        return _on_dask(executor)
    n_workers = workers_of(executor)
    if isinstance(executor, Integral):
        return Workers(n_workers or 1)
    return UserPool(executor)


def _on_dask(where: Any) -> Pool:
    from truerisk.study.dask_pool import DaskPool

    return DaskPool(where)
