"""Who runs batches: worker processes of our own, an executor of the user, a Dask cluster.

What all batches share is sent to a crew once, before the first of them. A cluster keeps the table
for as long as a call lives, which asks about the same rows several times.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, is_dataclass
from numbers import Integral
from typing import Any

from truerisk.core.errors import FitFailed
from truerisk.core.identity import is_a, is_from
from truerisk.core.table.data import Data
from truerisk.engines.workers.dask_cluster import DaskCluster, is_cluster
from truerisk.engines.workers.parcels import Parcel, run_parcel
from truerisk.engines.workers.processes import IN_FLIGHT, Processes
from truerisk.engines.workers.same_versions import refuse_other_versions, versions

__all__ = ["Crew", "connections_kept", "crew_of"]

LOOK_EVERY = 2.0  # seconds
PATIENCE = 60.0  # seconds that a cluster may lack workers
PROCESSES = (
    "concurrent.futures.process:ProcessPoolExecutor",
    "loky.process_executor:ProcessPoolExecutor",
)
"""Executors whose workers are processes of this machine."""


class Crew(ABC):
    """Whoever takes batches; of `slots` at a time, None for all at once."""

    workers: int
    slots: int | None = None
    breaks_as_a_whole = True  # whether one death is the end of all batches in flight
    look_every: float | None = None  # seconds that pass until it is asked what it lacks

    @abstractmethod
    def share(self, task: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        """Have what all batches share where they will run."""

    @abstractmethod
    def submit(self, batch: Any) -> Future[Any]:
        """Begin a batch."""

    def deaths(self, error: BaseException) -> int:
        """How many workers an error of a future stands for; 0 if it is no death."""
        return int(isinstance(error, BrokenExecutor))

    def unsent(self, error: BaseException) -> bool:
        """Whether a batch could not begin because workers had died before."""
        return self.deaths(error) > 0

    def replace(self) -> bool:
        """Have workers again after some died; False where that is not for us to do."""
        return False

    def lacking(self) -> str | None:
        """What is missing for any batch to run, as a sentence, or None."""
        return None

    def end(self) -> None:
        """End what still runs: nobody waits for it."""
        return

    def close(self) -> None:
        """Let go of what was sent."""
        return


_idle: ContextVar[dict[Any, Crew] | None] = ContextVar("truerisk_clusters", default=None)


@contextmanager
def connections_kept() -> Iterator[None]:
    """In the block, clusters stay connected and keep the table that they were sent last."""
    if _idle.get() is not None:
        yield
        return
    idle: dict[Any, Crew] = {}
    token = _idle.set(idle)
    try:
        yield
    finally:
        _idle.reset(token)
        for crew in idle.values():
            crew.close()


@contextmanager
def crew_of(executor: Any, workers: int) -> Iterator[Crew]:
    """The crew that `executor` names, of so many workers where they cannot be asked for."""
    if not is_cluster(executor):
        own = isinstance(executor, Integral)
        crew: Crew = _Processes(int(executor)) if own else _Given(executor, workers)
        try:
            yield crew
        finally:
            crew.close()
        return
    idle = _idle.get()
    kept = None if idle is None else idle.pop(executor, None)
    crew = _Cluster(executor) if kept is None else kept
    crew.lacking()  # counts the workers, who come and go between two passes
    try:
        yield crew
    except BaseException:
        crew.close()
        raise
    if idle is None or executor in idle:
        crew.close()
    else:
        idle[executor] = crew


class _Processes(Crew):
    """Worker processes of our own, who map what their batches share."""

    def __init__(self, n_workers: int) -> None:
        self.workers = n_workers
        self.slots = IN_FLIGHT * n_workers
        self._parcel: Parcel | None = None
        self._processes = Processes(n_workers)

    def share(self, task: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        self._parcel = Parcel(task, shared)

    def submit(self, batch: Any) -> Future[Any]:
        assert self._parcel is not None
        return self._processes.submit(run_parcel, self._parcel.path, batch)

    def replace(self) -> bool:
        self._processes.replace()
        return True

    def end(self) -> None:
        self._processes.end()

    def close(self) -> None:
        if self._parcel is not None:
            self._parcel.remove()


class _Given(Crew):
    """An executor of the user: used, never closed, and not replaced.

    Where its workers are is known of process pools only; all others get everything with each batch.
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._parcel: Parcel | None = None

    def share(self, task: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        if is_a(self._executor, *PROCESSES):
            self._parcel = Parcel(task, shared)
        else:
            self._task, self._shared = task, _apart(shared)

    def submit(self, batch: Any) -> Future[Any]:
        if self._parcel is None:
            return self._executor.submit(self._task, *self._shared, batch)
        return self._executor.submit(run_parcel, self._parcel.path, batch)

    def close(self) -> None:
        if self._parcel is not None:
            self._parcel.remove()


@dataclass(frozen=True, eq=False)
class _Sent:
    """What all batches share but the table, as one thing that a cluster holds."""

    task: Callable[..., Any]
    shared: tuple[Any, ...]
    versions: Mapping[str, str]


class _Cluster(Crew):
    """Dask: it starts the batches of a dead worker anew itself, and says when it gives up."""

    breaks_as_a_whole = False
    look_every = LOOK_EVERY

    def __init__(self, where: Any) -> None:
        self._dask = DaskCluster(where, FitFailed)
        self._count()

    def _count(self) -> None:
        self.workers = self._dask.workers
        self.slots = IN_FLIGHT * self.workers

    def share(self, task: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        tables = [part.X for part in shared if isinstance(part, Data)]
        without = _with_tables(shared, [None] * len(tables))
        self._dask.keep([_Sent(task, without, versions()), *tables])

    def submit(self, batch: Any) -> Future[Any]:
        return self._dask.submit(_run_sent, *self._dask.sent, batch)

    def deaths(self, error: BaseException) -> int:
        return self._dask.deaths(error)

    def unsent(self, error: BaseException) -> bool:
        return isinstance(error, OSError) or self.deaths(error) > 0  # a worker that was sent to

    def replace(self) -> bool:
        """Wait until there is a worker, for a minute at most."""
        self._dask.lost()
        patience = time.monotonic() + PATIENCE
        while (lacking := self._dask.missing()) is not None:
            if time.monotonic() > patience:
                raise FitFailed(f"{lacking}: start workers, or use executor=None.")
            time.sleep(LOOK_EVERY)
        return True

    def lacking(self) -> str | None:
        lacking = self._dask.missing()
        self._count()
        return lacking

    def close(self) -> None:
        self._dask.close()


def _run_sent(sent: _Sent, *tables_and_batch: Any) -> Any:
    refuse_other_versions(sent.versions, FitFailed)
    *tables, batch = tables_and_batch
    return sent.task(*_with_tables(sent.shared, tables), batch)


def _with_tables(shared: tuple[Any, ...], tables: Sequence[Any]) -> tuple[Any, ...]:
    """The same parts, the data among them with these X and with what they have worked out."""
    parts, left = [], iter(tables)
    for part in shared:
        if isinstance(part, Data):
            part = copy(part)
            vars(part)["X"] = next(left)
        parts.append(part)
    return tuple(parts)


def _apart(part: Any) -> Any:
    """What a pool may still be pickling, on a thread of its own, while this one reads results.

    Reading lets our objects remember what they worked out; their dictionaries are then no longer
    those that are being written. Arrays and the user's objects are the same.
    """
    if isinstance(part, tuple):
        return tuple(_apart(one) for one in part)
    if not (is_dataclass(part) and is_from(part, "truerisk")):
        return part
    twin = copy(part)
    if hasattr(twin, "__dict__"):
        vars(twin).update({name: _apart(value) for name, value in vars(part).items()})
    return twin
