"""Workers of a Dask cluster: by the address of its scheduler, or by a Client."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.errors import MissingExtra, StudyIncomplete, UnknownName
from truerisk.core.identity import is_a
from truerisk.study.pool import IN_FLIGHT, Pool
from truerisk.study.tasks import Batch, Order
from truerisk.study.work import run_batch

__all__ = ["DaskPool"]

ANSWER = 10.0  # seconds that the scheduler may take to answer a question
LOOK_EVERY = 5.0  # seconds between looks at how many workers there are
RECONNECT = 60.0  # seconds that a client tries to find a lost scheduler again


class DaskPool(Pool):
    """The cluster runs batches anew that a dead worker took along; it says so when it gives up."""

    def __init__(self, where: Any) -> None:
        self._client = _client(where) if isinstance(where, str) else _checked(where)
        self._own = isinstance(where, str)
        self._log = logging.getLogger("distributed.client")
        self._level = self._log.level
        if self._own:  # a lost scheduler is one sentence here, not tracebacks
            self._log.setLevel(logging.CRITICAL)
        self._executor = self._client.get_executor(pure=False)
        self._content: tuple[np.ndarray, ...] = ()
        self._scattered: list[Any] | None = None
        self._looked = 0.0
        self._look()

    def share(self, arrays: Sequence[np.ndarray], folder: Path) -> None:
        self._content, self._scattered = tuple(arrays), None

    @property
    def arrays(self) -> list[Any]:
        """The arrays on all workers: sent when first asked for, and anew when they were lost."""
        if self._scattered is None:
            sent = [self._client.scatter(a, broadcast=True, timeout=ANSWER) for a in self._content]
            self._scattered = sent
        return self._scattered

    def submit(self, order: Order, batch: Batch) -> Future[Any]:
        return self._executor.submit(run_batch, order, batch, *self.arrays)

    def deaths(self, error: BaseException) -> int:
        """KilledWorker comes after the scheduler has tried several times itself."""
        if not is_a(error, "distributed:KilledWorker"):
            return super().deaths(error)
        return int(getattr(error, "allowed_failures", 0)) + 1

    def replace(self) -> None:
        self._scattered = None  # the dead may have been the last to hold them
        self._looked = 0.0

    def missing(self) -> str | None:
        if time.monotonic() - self._looked > LOOK_EVERY or self._lacking:
            self._look()
        return self._lacking

    def _look(self) -> None:
        """Ask the scheduler for its workers."""
        self._looked = time.monotonic()
        where = self._client.scheduler.address
        self._lacking: str | None = f"the Dask scheduler at {where} does not answer"
        if self._client.status != "running":
            return
        try:
            threads = self._client.sync(self._client.scheduler.ncores, callback_timeout=ANSWER)
        except (OSError, TimeoutError):
            return
        self.workers = max(1, sum(threads.values()))
        self.slots = IN_FLIGHT * self.workers
        self._lacking = None if threads else f"the Dask scheduler at {where} has no workers"

    def close(self, *, kill: bool = False) -> None:
        self._scattered = None
        if self._own:
            self._client.close(timeout=ANSWER)
            self._log.setLevel(self._level)


def _client(address: str) -> Any:
    """A client of the scheduler at `dask://host:port`."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("dask://… needs distributed: pip install 'truerisk[dask]'.") from None
    scheme, _, place = address.partition("://")
    if not place.rpartition(":")[2].isdecimal():
        raise UnknownName(
            f"executor={address!r}: write dask://host:port, such as dask://10.0.0.1:8786."
        )
    wanted = f"{'tls' if scheme == 'dask+tls' else 'tcp'}://{place}"
    try:
        client: Any = Client  # it has no types
        return client(wanted, timeout=RECONNECT, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise StudyIncomplete(
            f"no Dask scheduler answers at {wanted} ({error}): start one there with "
            "`dask scheduler`, or look at the address."
        ) from None


def _checked(client: Any) -> Any:
    if not callable(getattr(client, "get_executor", None)):
        raise UnknownName(
            f"executor={client!r} is no Client of distributed: give Client(address), or "
            "'dask://host:port'."
        )
    if getattr(client, "asynchronous", False):
        raise UnknownName("the Client is asynchronous: give one made with asynchronous=False.")
    return client
