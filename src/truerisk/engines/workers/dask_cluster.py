"""A Dask cluster, given by its scheduler's address or a Client, for fits and for studies.

A cluster keeps the table for the duration of a call, which uses the same rows several times.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import Any

from truerisk.core.arguments import mention
from truerisk.core.errors import MissingExtra, TrueRiskError, UnknownName
from truerisk.core.identity import is_a
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.workers.crews import Shared, WorkerPool

ANSWER = 10.0  # seconds that the scheduler may take to reply
LOOK_EVERY = 5.0  # seconds between looks at how many workers there are
SEND = 30.0  # Seconds that sending to a worker may take, in addition to the time for its content.
SLOWEST = 1e6  # bytes a second
RECONNECT = 60.0  # seconds during which a client tries to reach a lost scheduler again


@contextmanager
def connected(
    where: Any, refusal: type[TrueRiskError], idle: dict[Any, Cluster] | None
) -> Iterator[Cluster]:
    """Provide a cluster: an idle one of this call, or a new connection."""
    connected = None if idle is None else idle.pop(where, None)
    cluster = Cluster(where, refusal) if connected is None else connected
    cluster.missing()  # The call counts the workers, whose number may change between two runs.
    try:
        yield cluster
    except BaseException:
        cluster.close()
        raise
    if idle is None or where in idle:
        cluster.close()
    else:
        idle[where] = cluster


class Cluster(WorkerPool):
    """A pool on a cluster, which itself repeats what a dead worker was doing until it gives up.

    `unreachable` is the class of the error that is raised if no scheduler replies.
    """

    breaks_as_a_whole = False

    def __init__(self, where: Any, unreachable: type[TrueRiskError]) -> None:
        self._own = isinstance(where, str)
        self._client = _client(where, unreachable) if self._own else _checked(where)
        self._log = logging.getLogger("distributed.client")
        self._level = self._log.level
        if self._own:  # A lost scheduler is reported in one sentence, not with tracebacks.
            self._log.setLevel(logging.CRITICAL)
        self._contents: list[tuple[Any, Any]] = []  # The contents, each with its future or None.
        self.look()

    def share(self, shared: Shared) -> None:
        """Register the shared data; X is sent separately, and once if the next run has it too."""
        tables = [part.X for part in shared.parts if isinstance(part, Data)]
        without = replace(shared, parts=_with_tables(shared.parts, [None] * len(tables)))
        sent = {id(content): future for content, future in self._contents}
        self._contents = [(content, sent.get(id(content))) for content in (without, *tables)]

    @override
    def submit(self, batch: Any) -> Future[Any]:
        sent = self._client.submit(_run_sent, *self._sent(), batch, pure=False)
        future: Future[Any] = Future()
        future.add_done_callback(lambda ended: sent.cancel() if ended.cancelled() else None)
        self._client.loop.add_callback(_hand_over, sent, future)
        return future

    def _sent(self) -> list[Any]:
        """Return the contents on the cluster; send those that are not there, or were lost.

        Anew by another name (`hash`): the scheduler may hear later that the former was let go, and
        would drop the new one of the same name.
        """
        try:
            for place, (content, future) in enumerate(self._contents):
                if future is None:
                    self._contents[place] = content, self._send(content)
        except KeyError as error:  # The scheduler looks up a worker that has just died.
            raise ConnectionError(f"the worker at {error} died while it was sent to") from error
        return [future for _, future in self._contents]

    def _send(self, content: Any) -> Any:
        """Send a content to one worker, from which the others fetch it.

        Raise a TimeoutError if that does not end in time. A `broadcast` would copy it to every
        worker: if one of them dies meanwhile, distributed never ends the copy, and holds the lock
        that every later broadcast needs.
        """
        from dask.sizeof import sizeof

        async def scatter() -> Any:
            (future,) = await self._client.scatter(  # A list prevents the content from being split.
                [content], hash=False, timeout=ANSWER, asynchronous=True
            )
            return future

        limit = SEND + sizeof(content) / SLOWEST
        return self._client.sync(scatter, callback_timeout=limit)

    def deaths(self, error: BaseException) -> int:
        """Return the number of deaths of workers that an error implies.

        KilledWorker is raised after the scheduler has tried several times itself. A cancelled task
        needed data that was lost with its last holder, or its scheduler was lost, which is not a
        death of a worker.
        """
        if is_a(error, "distributed:KilledWorker"):
            return int(getattr(error, "allowed_failures", 0)) + 1
        return int(isinstance(error, CancelledError) and self._client.status == "running")

    @override
    def unsent(self, error: BaseException) -> bool:
        # The worker that was to receive the batch failed.
        return isinstance(error, OSError) or self.deaths(error) > 0

    def replace(self) -> bool:
        """Mark the data to be sent again, since a dead worker may have been its last holder.

        The cluster replaces workers itself.
        """
        self._contents = [(content, None) for content, _ in self._contents]
        self._looked = 0.0
        return True

    @override
    def missing(self) -> str | None:
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
        """Release the shared data, and close the client if it is our own."""
        self._contents = []
        if self._own:
            self._client.close(timeout=ANSWER)
            self._log.setLevel(self._level)


async def _hand_over(sent: Any, future: Future[Any]) -> None:
    """Pass the result of a batch to its future, on the client's event loop.

    The executor of distributed does not report a result whose only holder died before it was read.
    """
    with suppress(InvalidStateError):  # The future was cancelled.
        try:
            future.set_result(await sent)
        except BaseException as error:  # noqa: BLE001  The code that waits for the batch handles it.
            future.set_exception(error)


def _run_sent(shared: Shared, *tables_and_batch: Any) -> Any:
    *tables, batch = tables_and_batch
    return replace(shared, parts=_with_tables(shared.parts, tables))(batch)


def _with_tables(parts: Sequence[Any], tables: Sequence[Any]) -> tuple[Any, ...]:
    """Return the same parts, where the data have these tables as X and keep their cached values."""
    filled, left = [], iter(tables)
    for part in parts:
        if isinstance(part, Data):
            part = copy(part)
            vars(part)["X"] = next(left)
        filled.append(part)
    return tuple(filled)


def _client(address: str, unreachable: type[TrueRiskError]) -> Any:
    """Return a client of the scheduler at `dask://host:port`."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("dask://… needs distributed: pip install 'truerisk[dask]'.") from None
    scheme, _, place = address.partition("://")
    wanted = f"{'tls' if scheme == 'dask+tls' else 'tcp'}://{place}"
    try:
        client: Any = Client  # distributed has no type annotations.
        return client(wanted, timeout=RECONNECT, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise unreachable(
            f"no Dask scheduler answers at {wanted} ({error}): start one there with "
            "`dask scheduler`, or look at the address."
        ) from None


def _checked(client: Any) -> Any:
    if not callable(getattr(client, "scatter", None)):
        raise UnknownName(
            f"{mention('n_jobs', client)} is no Client of distributed: give Client(address), or "
            "'dask://host:port'."
        )
    if getattr(client, "asynchronous", False):
        raise UnknownName("the Client is asynchronous: give one made with asynchronous=False.")
    return client
