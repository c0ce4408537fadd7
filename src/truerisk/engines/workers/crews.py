"""Who runs batches: what a crew is, what it is sent, and an executor of the user.

What all batches share is sent to a crew once, before the first of them.
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
from truerisk.core.version import __version__
from truerisk.engines.workers.parcels import Parcel, run_parcel

IN_FLIGHT = 2  # batches per worker: the next one waits where it will run
UNCOUNTED = 64  # batches in flight on an executor that does not say how many workers it has
PROCESSES = (
    "concurrent.futures.process:ProcessPoolExecutor",
    "loky.process_executor:ProcessPoolExecutor",
)
"""Executors whose workers are processes of this machine."""


@cache
def versions() -> dict[str, str]:
    """What numbers can depend on here; asked without importing it."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"truerisk": __version__, "python": python, **packages}


@frozen(eq=False)
class Shared:
    """A task and what it is given besides a batch; called with a batch where that is to run.

    A worker with other versions than those of the process that asks refuses.
    """

    task: Callable[..., Any]
    parts: tuple[Any, ...]
    refusal: type[TrueRiskError] = FitFailed
    versions: Mapping[str, str] = field(default_factory=lambda: dict(versions()))

    def __call__(self, batch: Any) -> Any:
        here = versions()
        if here != self.versions:
            wanted = self.versions.items()
            other = [f"{name} {here.get(name)} (not {v})" for name, v in wanted if here[name] != v]
            raise self.refusal(
                f"the worker {platform.node()} has {', '.join(other)}: install the same versions "
                "on all machines, or the numbers depend on who computed them."
            )
        return self.task(*self.parts, batch)


class Crew(ABC):
    """Whoever takes batches; so many at a time as fill its `slots`."""

    workers: int = 1
    breaks_as_a_whole = True  # whether one death is the end of all batches in flight

    @property
    def slots(self) -> int:
        return IN_FLIGHT * self.workers

    @abstractmethod
    def share(self, shared: Shared) -> None:
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

    def missing(self) -> str | None:
        """What is lacking for any batch to run, as a sentence, or None."""
        return None

    def end(self) -> None:
        """End what still runs: nobody waits for it."""
        return

    def close(self) -> None:
        """Let go of what was sent."""
        return


class UserExecutor(Crew):
    """An executor of the user: used, never closed, and not replaced.

    Where its workers are is known of process pools only; all others get everything with each batch.
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._parcel: Parcel | None = None

    @property
    def slots(self) -> int:
        counted = getattr(self._executor, "_max_workers", None)
        return IN_FLIGHT * self.workers if counted else UNCOUNTED

    def share(self, shared: Shared) -> None:
        if is_a(self._executor, *PROCESSES):
            self._parcel = Parcel(shared)
        else:
            self._shared = _apart(shared)

    def submit(self, batch: Any) -> Future[Any]:
        if self._parcel is None:
            return self._executor.submit(self._shared, batch)
        return self._executor.submit(run_parcel, self._parcel.path, batch)

    def close(self) -> None:
        if self._parcel is not None:
            self._parcel.remove()


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
