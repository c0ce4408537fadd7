"""Worker pools that run batches of fits, and the data that all batches of a run share.

The shared data is sent to a pool once, before the first batch.
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

# Number of batches per worker: one that runs, and one that already waits on the worker.
BATCHES_PER_WORKER = 2
# Number of batches submitted at a time to an executor with an unknown number of workers.
MAX_BATCHES_OF_UNKNOWN_POOL = 64
PROCESS_EXECUTORS = (
    "concurrent.futures.process:ProcessPoolExecutor",
    "loky.process_executor:ProcessPoolExecutor",
)
"""Executors whose workers are processes of this machine."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and the packages on which results may depend.

    The packages are not imported.
    """
    dependency_versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    python_version = ".".join(platform.python_version_tuple()[:2])
    return {"truerisk": __version__, "python": python_version, **dependency_versions}


@frozen(eq=False)
class SharedCall:
    """Function that a worker calls with a batch, and the arguments that all batches share.

    A worker refuses to run it if its package versions differ from those of the calling process.
    """

    task: Callable[..., Any]
    shared_arguments: tuple[Any, ...]
    error_class: type[TrueRiskError] = FitFailed
    versions: Mapping[str, str] = field(default_factory=lambda: dict(versions()))

    def __call__(self, batch: Any) -> Any:
        """Run the task on a batch; raise if package versions differ from those of the caller."""
        local_versions = versions()
        if local_versions != self.versions:
            expected_versions = self.versions.items()
            version_differences = [
                f"{name} {local_versions.get(name)} (not {expected_version})"
                for name, expected_version in expected_versions
                if local_versions[name] != expected_version
            ]
            raise self.error_class(
                f"the worker {platform.node()} has {', '.join(version_differences)}: "
                "install the same versions on all machines, or the numbers depend on who "
                "computed them."
            )
        return self.task(*self.shared_arguments, batch)


class WorkerPool(ABC):
    """Pool of workers to which at most `slots` batches are submitted at a time."""

    workers: int = 1
    breaks_as_a_whole = True  # True if all submitted batches are lost when one worker dies.

    @property
    def slots(self) -> int:
        """Number of batches that are submitted at a time."""
        return BATCHES_PER_WORKER * self.workers

    @abstractmethod
    def send_shared_call(self, shared: SharedCall) -> None:
        """Send the data that all batches share to the workers."""

    @abstractmethod
    def submit(self, batch: Any) -> Future[Any]:
        """Submit a batch of fits to the workers, and return the future of its result."""

    def count_deaths(self, error: BaseException) -> int:
        """Return how many workers died, judging by the exception of a batch's future."""
        return int(isinstance(error, BrokenExecutor))

    def was_not_submitted(self, error: BaseException) -> bool:
        """Return True if `error` says that a batch was not submitted because workers had died."""
        return self.count_deaths(error) > 0

    def replace(self) -> bool:
        """Replace dead workers by new ones, or return False if the pool cannot do so."""
        return False

    def missing_resource(self) -> str | None:
        """Return a sentence on what the pool lacks to run batches, or None if it is ready."""
        return None

    def terminate(self) -> None:
        """Terminate the running batches because their results are no longer needed."""
        return

    def close(self) -> None:
        """Release the data that the batches shared."""
        return


class UserExecutor(WorkerPool):
    """Pool on the user's own executor, which is neither closed nor replaced.

    Only process pools are known to run on this machine. All other executors receive the shared data
    with each batch.
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._payload: Payload | None = None

    @property
    @override
    def slots(self) -> int:
        max_workers = getattr(self._executor, "_max_workers", None)
        return BATCHES_PER_WORKER * self.workers if max_workers else MAX_BATCHES_OF_UNKNOWN_POOL

    @override
    def send_shared_call(self, shared: SharedCall) -> None:
        if is_a(self._executor, *PROCESS_EXECUTORS):
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


def _copy_containers(shared_object: Any) -> Any:
    """Copy our objects and tuples that a pool may still be pickling on its own thread.

    Meanwhile this thread reads results, which makes our objects cache values. This would change
    their dictionaries while they are being pickled. Arrays and the user's objects are not copied.
    """
    if isinstance(shared_object, tuple):
        return tuple(_copy_containers(element) for element in shared_object)
    if not (is_dataclass(shared_object) and is_from(shared_object, "truerisk")):
        return shared_object
    object_copy = copy(shared_object)
    if hasattr(object_copy, "__dict__"):
        vars(object_copy).update(
            {name: _copy_containers(value) for name, value in vars(shared_object).items()}
        )
    return object_copy
