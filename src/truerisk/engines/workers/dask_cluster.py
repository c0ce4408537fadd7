"""A Dask cluster, by the address of its scheduler or by a Client: for runs and for studies."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from truerisk.core.arguments import shown
from truerisk.core.errors import MissingExtra, TrueRiskError, UnknownName
from truerisk.core.identity import is_a

__all__ = ["CLIENT", "DaskCluster", "is_address", "is_cluster", "parts_of"]

CLIENT = "distributed:Client"
SCHEMES = ("dask://", "dask+tls://")
ANSWER = 10.0  # seconds that the scheduler may take to answer a question
LOOK_EVERY = 5.0  # seconds between looks at how many workers there are
RECONNECT = 60.0  # seconds that a client tries to find a lost scheduler again


def is_address(executor: Any) -> bool:
    """Whether this is written as the address of a Dask scheduler."""
    return isinstance(executor, str) and executor.startswith(SCHEMES)


def is_cluster(executor: Any) -> bool:
    """Whether this names a Dask cluster: an address, or a Client."""
    return is_address(executor) or is_a(executor, CLIENT)


def parts_of(address: str) -> tuple[str, str]:
    """The scheme and the place of an address."""
    scheme, _, place = address.partition("://")
    if not place.rpartition(":")[2].isdecimal():
        raise UnknownName(
            f"executor={shown(address)}: write dask://host:port, such as dask://10.0.0.1:8786."
        )
    return scheme, place


class DaskCluster:
    """The cluster runs anew what a dead worker took along; it says so when it gives up.

    `unreachable` is the error that says that no scheduler answers.
    """

    def __init__(self, where: Any, unreachable: type[TrueRiskError]) -> None:
        self._own = isinstance(where, str)
        self._client = _client(where, unreachable) if self._own else _checked(where)
        self._log = logging.getLogger("distributed.client")
        self._level = self._log.level
        if self._own:  # a lost scheduler is one sentence here, not tracebacks
            self._log.setLevel(logging.CRITICAL)
        self._executor = self._client.get_executor(pure=False)
        self._held: list[tuple[Any, Any]] = []  # contents, each with its future or None
        self._looked = 0.0
        self.workers = 1
        self.look()

    def keep(self, contents: Sequence[Any]) -> None:
        """What `sent` is to hold; a content that it holds already is not sent again."""
        held = [(one, self._future(one)) for one in contents]
        self._held = held

    def _future(self, content: Any) -> Any:
        return next((future for held, future in self._held if held is content), None)

    @property
    def sent(self) -> list[Any]:
        """The contents on all workers: sent when first asked for, and anew when they were lost."""
        try:
            for place, (content, future) in enumerate(self._held):
                if future is None:
                    self._held[place] = content, self._on_all_workers(content)
        except KeyError as error:  # the scheduler looks up a worker that has just died
            raise ConnectionError(f"the worker at {error} died while it was sent to") from error
        return [future for _, future in self._held]

    def _on_all_workers(self, one: Any) -> Any:
        """In a list: others of its kind would be taken apart."""
        return self._client.scatter([one], broadcast=True, timeout=ANSWER)[0]

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def deaths(self, error: BaseException) -> int:
        """How many deaths of workers an error of a future stands for; 0 if it is none.

        KilledWorker comes after the scheduler has tried several times itself. What is cancelled
        needed something that went with its last holder.
        """
        if is_a(error, "distributed:KilledWorker"):
            return int(getattr(error, "allowed_failures", 0)) + 1
        return int(isinstance(error, CancelledError))

    def lost(self) -> None:
        """Workers died, and may have been the last to hold what was sent."""
        self._held = [(content, None) for content, _ in self._held]
        self._looked = 0.0

    def missing(self) -> str | None:
        """What is lacking for anything to run, as a sentence, or None."""
        if time.monotonic() - self._looked > LOOK_EVERY or self._lacking:
            self.look()
        return self._lacking

    def look(self) -> None:
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
        self._lacking = None if threads else f"the Dask scheduler at {where} has no workers"

    def close(self) -> None:
        """Let go of what was sent, and of a client of our own."""
        self._held = []
        if self._own:
            self._client.close(timeout=ANSWER)
            self._log.setLevel(self._level)


def _client(address: str, unreachable: type[TrueRiskError]) -> Any:
    """A client of the scheduler at `dask://host:port`."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("dask://… needs distributed: pip install 'truerisk[dask]'.") from None
    scheme, place = parts_of(address)
    wanted = f"{'tls' if scheme == 'dask+tls' else 'tcp'}://{place}"
    try:
        client: Any = Client  # it has no types
        return client(wanted, timeout=RECONNECT, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise unreachable(
            f"no Dask scheduler answers at {wanted} ({error}): start one there with "
            "`dask scheduler`, or look at the address."
        ) from None


def _checked(client: Any) -> Any:
    if not callable(getattr(client, "get_executor", None)):
        raise UnknownName(
            f"executor={shown(client)} is no Client of distributed: give Client(address), or "
            "'dask://host:port'."
        )
    if getattr(client, "asynchronous", False):
        raise UnknownName("the Client is asynchronous: give one made with asynchronous=False.")
    return client
