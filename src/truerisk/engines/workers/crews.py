"""Worker pools that run batches, the data sent to them, and the pool of a user's executor.

What all batches share is sent to a pool once, before the first of them.
"""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Future
from copy import copy
from dataclasses import field, is_dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from truerisk.core.errors import FitFailed, TrueRiskError
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_a, is_from
from truerisk.core.overrides import override
from truerisk.core.version import __version__
from truerisk.engines.workers.parcels import Payload, run_payload

IN_FLIGHT = 2  # Number of batches per worker. The next one already waits where it will run.
UNCOUNTED = 64  # Number of batches in flight on an executor with an unknown number of workers.
PROCESSES = (
    "concurrent.futures.process:ProcessPoolExecutor",
    "loky.process_executor:ProcessPoolExecutor",
)
"""Executors whose workers are processes of this machine."""


@cache
def versions() -> dict[str, str]:
    """Return the versions on which results may depend here, without importing the packages."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"truerisk": __version__, "python": python, **packages}


@frozen(eq=False)
class Shared:
    """A task with its shared arguments; it is called with a batch on the worker.

    A worker refuses if its versions differ from those of the calling process.
    """

    task: Callable[..., Any]
    parts: tuple[Any, ...]
    refusal: type[TrueRiskError] = FitFailed
    versions: Mapping[str, str] = field(default_factory=lambda: dict(versions()))

    def __call__(self, batch: Any) -> Any:
        """Run the task on a batch, or refuse if this worker has other versions of the packages."""
        here = versions()
        if here != self.versions:
            wanted = self.versions.items()
            other = [f"{name} {here.get(name)} (not {v})" for name, v in wanted if here[name] != v]
            raise self.refusal(
                f"the worker {platform.node()} has {', '.join(other)}: install the same versions "
                "on all machines, or the numbers depend on who computed them."
            )
        return self.task(*self.parts, batch)


class WorkerPool(ABC):
    """A pool of workers that runs as many batches at a time as it has `slots`."""

    workers: int = 1
    breaks_as_a_whole = True  # True if the death of one worker loses all batches in flight.

    @property
    def slots(self) -> int:
        """Number of batches that are submitted at a time."""
        return IN_FLIGHT * self.workers

    @abstractmethod
    def share(self, shared: Shared) -> None:
        """Store what all batches share where they will run."""

    @abstractmethod
    def submit(self, batch: Any) -> Future[Any]:
        """Start a batch."""

    def deaths(self, error: BaseException) -> int:
        """Return the number of dead workers that an error of a future implies."""
        return int(isinstance(error, BrokenExecutor))

    def unsent(self, error: BaseException) -> bool:
        """Return True if a batch could not start because workers had died before."""
        return self.deaths(error) > 0

    def replace(self) -> bool:
        """Replace dead workers; return False if the pool cannot do so."""
        return False

    def missing(self) -> str | None:
        """Return what is missing for any batch to run, as a sentence, or None."""
        return None

    def end(self) -> None:
        """Terminate the running batches, whose results are no longer needed."""
        return

    def close(self) -> None:
        """Release the shared data."""
        return


class UserExecutor(WorkerPool):
    """The executor of a user, which is used but neither closed nor replaced.

    Only process pools are known to run on this machine. All others receive the shared data with
    each batch.
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._payload: Payload | None = None

    @property
    @override
    def slots(self) -> int:
        counted = getattr(self._executor, "_max_workers", None)
        return IN_FLIGHT * self.workers if counted else UNCOUNTED

    @override
    def share(self, shared: Shared) -> None:
        if is_a(self._executor, *PROCESSES):
            self._payload = Payload(shared)
        else:
            self._shared = _copy_containers(shared)

    @override
    def submit(self, batch: Any) -> Future[Any]:
        if self._payload is None:
            return self._executor.submit(self._shared, batch)
        return self._executor.submit(run_payload, self._payload.path, batch)

    @override
    def close(self) -> None:
        if self._payload is not None:
            self._payload.remove()


def _copy_containers(part: Any) -> Any:
    """Copy what a pool may still pickle on its own thread while this thread reads results.

    Reading results makes our objects cache values, which would change their dictionaries while they
    are being pickled. Arrays and the user's objects are not copied.
    """
    if isinstance(part, tuple):
        return tuple(_copy_containers(one) for one in part)
    if not (is_dataclass(part) and is_from(part, "truerisk")):
        return part
    twin = copy(part)
    if hasattr(twin, "__dict__"):
        vars(twin).update({name: _copy_containers(value) for name, value in vars(part).items()})
    return twin
