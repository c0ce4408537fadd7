"""A Dask cluster as a worker pool, given by the address of its scheduler or by a Client.

The cluster keeps the table for the duration of a call, because a call uses the same rows several
times. Fits and studies run on it.
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
from truerisk.engines.workers.crews import SharedCall, WorkerPool

REPLY_SECONDS = 10.0  # Number of seconds that the scheduler may take to reply.
SECONDS_BETWEEN_COUNTS = 5.0  # Number of seconds between two counts of the workers.
# Sending data to a worker may take this number of seconds, plus the time for the data's size.
SEND = 30.0
MIN_BYTES_PER_SECOND = 1e6  # Lowest assumed transfer rate in bytes per second.
RECONNECT = 60.0  # Number of seconds during which a client tries to reach a lost scheduler again.


@contextmanager
def connect_to_cluster(
    address_or_client: Any,
    error_class: type[TrueRiskError],
    idle_clusters: dict[Any, Cluster] | None,
) -> Iterator[Cluster]:
    """Provide a connection to a cluster: an idle one of this call, or a new one."""
    idle_cluster = None if idle_clusters is None else idle_clusters.pop(address_or_client, None)
    cluster = Cluster(address_or_client, error_class) if idle_cluster is None else idle_cluster
    # The workers are counted here, because their number may change between two runs.
    cluster.missing_resource()
    try:
        yield cluster
    except BaseException:
        cluster.close()
        raise
    if idle_clusters is None or address_or_client in idle_clusters:
        cluster.close()
    else:
        idle_clusters[address_or_client] = cluster


class Cluster(WorkerPool):
    """Worker pool on a Dask cluster, which runs the tasks of a dead worker again by itself.

    It repeats them until it gives up with the error KilledWorker. `unreachable` is the class of the
    error that is raised if no scheduler replies.
    """

    breaks_as_a_whole = False

    def __init__(self, address_or_client: Any, unreachable: type[TrueRiskError]) -> None:
        self._owns_client = isinstance(address_or_client, str)
        self._client = (
            _client(address_or_client, unreachable)
            if self._owns_client
            else _synchronous_client(address_or_client)
        )
        self._log = logging.getLogger("distributed.client")
        self._log_level = self._log.level
        # A lost scheduler is reported in one sentence, without the tracebacks that Dask logs.
        if self._owns_client:
            self._log.setLevel(logging.CRITICAL)
        # Pairs of a shared object and its future on the cluster (None: it has to be sent).
        self._shared_objects: list[tuple[Any, Any]] = []
        self.count_workers()

    def send_shared_call(self, shared: SharedCall) -> None:
        """Register the shared data; X is sent separately, so that later runs can use it again."""
        tables = [argument.X for argument in shared.shared_arguments if isinstance(argument, Data)]
        shared_without_tables = replace(
            shared, shared_arguments=_insert_tables(shared.shared_arguments, [None] * len(tables))
        )
        future_by_id = {id(shared_object): future for shared_object, future in self._shared_objects}
        self._shared_objects = [
            (shared_object, future_by_id.get(id(shared_object)))
            for shared_object in (shared_without_tables, *tables)
        ]

    @override
    def submit(self, batch: Any) -> Future[Any]:
        dask_future = self._client.submit(
            _run_sent, *self._send_missing_objects(), batch, pure=False
        )
        future: Future[Any] = Future()
        future.add_done_callback(lambda ended: dask_future.cancel() if ended.cancelled() else None)
        self._client.loop.add_callback(_forward_result, dask_future, future)
        return future

    def _send_missing_objects(self) -> list[Any]:
        """Send the shared objects that the cluster lacks; return the futures of all of them.

        An object is sent again under a new name (`hash`). Otherwise the scheduler might hear later
        that the old object was released, and would drop the new object of the same name.
        """
        try:
            for object_index, (shared_object, future) in enumerate(self._shared_objects):
                if future is None:
                    self._shared_objects[object_index] = shared_object, self._send(shared_object)
        # The scheduler raises KeyError if it looks up a worker that has just died.
        except KeyError as error:
            raise ConnectionError(f"the worker at {error} died while it was sent to") from error
        return [future for _, future in self._shared_objects]

    def _send(self, shared_object: Any) -> Any:
        """Send a shared object to one worker, from which the other workers fetch it.

        Raise a TimeoutError if that does not end in time. A `broadcast` would copy it to every
        worker: if one of them dies meanwhile, distributed never ends the copy, and holds the lock
        that every later broadcast needs.
        """
        from dask.sizeof import sizeof

        async def scatter() -> Any:
            # The object is wrapped in a list because Dask would split it otherwise.
            (future,) = await self._client.scatter(
                [shared_object], hash=False, timeout=REPLY_SECONDS, asynchronous=True
            )
            return future

        time_limit = SEND + sizeof(shared_object) / MIN_BYTES_PER_SECOND
        return self._client.sync(scatter, callback_timeout=time_limit)

    def count_deaths(self, error: BaseException) -> int:
        """Return how many workers died, judging by the exception of a batch's future.

        KilledWorker is raised after the scheduler has tried several times itself. A cancelled task
        needed data that was lost with its last holder, or its scheduler was lost, which is not a
        death of a worker.
        """
        if is_a(error, "distributed:KilledWorker"):
            return int(getattr(error, "allowed_failures", 0)) + 1
        if isinstance(error, _LostConnection) or not isinstance(error, CancelledError):
            return 0
        return int(self._client.status == "running")

    @override
    def was_not_submitted(self, error: BaseException) -> bool:
        # An OSError means that the worker failed before it received the batch.
        return isinstance(error, OSError) or self.count_deaths(error) > 0

    def replace(self) -> bool:
        """Mark the shared data to be sent again: a dead worker may have held the only copy.

        The cluster replaces workers itself.
        """
        self._shared_objects = [(shared_object, None) for shared_object, _ in self._shared_objects]
        self._last_count_time = 0.0
        return True

    @override
    def missing_resource(self) -> str | None:
        if (
            time.monotonic() - self._last_count_time > SECONDS_BETWEEN_COUNTS
            or self._missing_resource
        ):
            self.count_workers()
        return self._missing_resource

    def count_workers(self) -> None:
        """Ask the scheduler for its workers, and record their number or why there are none."""
        self._last_count_time = time.monotonic()
        scheduler_address = self._client.scheduler.address
        self._missing_resource: str | None = (
            f"the Dask scheduler at {scheduler_address} does not answer"
        )
        if self._client.status != "running":
            return
        try:
            threads_by_worker = self._client.sync(
                self._client.scheduler.ncores, callback_timeout=REPLY_SECONDS
            )
        except (OSError, TimeoutError):
            return
        self.workers = max(1, sum(threads_by_worker.values()))
        self._missing_resource = (
            None
            if threads_by_worker
            else f"the Dask scheduler at {scheduler_address} has no workers"
        )

    def close(self) -> None:
        """Release the shared data, and close the client unless it is the user's."""
        self._shared_objects = []
        if self._owns_client:
            self._client.close(timeout=REPLY_SECONDS)
            self._log.setLevel(self._log_level)


class _LostConnection(CancelledError):
    """Loss of the connection to the scheduler while a result was read.

    No worker has died and the batch has not failed: it has to run again.
    """


async def _forward_result(dask_future: Any, future: Future[Any]) -> None:
    """Pass the result of a batch to its future, on the event loop of the Dask client.

    The executor of distributed does not report a result whose only holder died before it was read.
    """
    with suppress(InvalidStateError):  # A future that was cancelled meanwhile accepts no result.
        try:
            future.set_result(await dask_future)
        except BaseException as error:  # noqa: BLE001  The code that waits for the batch handles it.
            is_lost = is_a(error, "distributed.comm.core:CommClosedError")
            future.set_exception(_LostConnection(str(error)) if is_lost else error)


def _run_sent(shared: SharedCall, *tables_and_batch: Any) -> Any:
    *tables, batch = tables_and_batch
    return replace(shared, shared_arguments=_insert_tables(shared.shared_arguments, tables))(batch)


def _insert_tables(arguments: Sequence[Any], tables: Sequence[Any]) -> tuple[Any, ...]:
    """Return shared arguments in which each `Data` has the given table as X.

    The `Data` keep their cached values.
    """
    new_arguments, next_tables = [], iter(tables)
    for argument in arguments:
        if isinstance(argument, Data):
            argument = copy(argument)
            vars(argument)["X"] = next(next_tables)
        new_arguments.append(argument)
    return tuple(new_arguments)


def _client(address: str, unreachable_error: type[TrueRiskError]) -> Any:
    """Return a client of the Dask scheduler at the address `dask://host:port`, or raise."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("dask://… needs distributed: pip install 'truerisk[dask]'.") from None
    scheme, _, host_and_port = address.partition("://")
    scheduler_address = f"{'tls' if scheme == 'dask+tls' else 'tcp'}://{host_and_port}"
    try:
        client_class: Any = Client  # Any is needed because distributed has no type annotations.
        return client_class(scheduler_address, timeout=RECONNECT, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise unreachable_error(
            f"no Dask scheduler answers at {scheduler_address} ({error}): start one there with "
            "`dask scheduler`, or look at the address."
        ) from None


def _synchronous_client(client: Any) -> Any:
    if not callable(getattr(client, "scatter", None)):
        raise UnknownName(
            f"{mention('n_jobs', client)} is no Client of distributed: give Client(address), or "
            "'dask://host:port'."
        )
    if getattr(client, "asynchronous", False):
        raise UnknownName("the Client is asynchronous: give one made with asynchronous=False.")
    return client
