"""Where batches of fits run: in this process, on loky by a number, on Dask, on the user's executor.

Any object with `submit(function, *args) -> Future` will do. Results do not depend on the choice:
a fit is seeded by its number in the plan, and answers are put back by it.

A worker that dies takes along the batches in flight, of which one may be guilty. They are run
again; those that were in flight twice run alone, until the one whose worker dies then is known.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from numbers import Integral
from typing import Any

from truerisk.core.arguments import check_count, shown
from truerisk.core.errors import FitFailed, UnknownName
from truerisk.engines.workers.crews import PATIENCE, Crew, crew_of
from truerisk.engines.workers.dask_cluster import is_address, is_cluster, parts_of
from truerisk.engines.workers.interruptions import done_of, uninterrupted

__all__ = ["run_batches", "workers_of"]

Batches = Sequence[Any] | Callable[[int | None], Sequence[Any]]
SUSPECT = 2  # deaths of workers during a batch, after which it runs alone
STILLBORN = 3  # times that workers may die before they have begun


def workers_of(executor: Any) -> int | None:
    """How many workers an executor has; None for running in this process.

    2 where that is known only when it runs: of a cluster, and of an executor that does not say.
    """
    if executor is None:
        return None
    if is_cluster(executor):
        if is_address(executor):
            parts_of(executor)  # one that is none is refused before anything runs
        return 2
    if isinstance(executor, (bool, str)):
        raise UnknownName(
            f"executor={shown(executor)} is unknown; use None (this process), a number of worker "
            "processes, 'dask://host:port', or any object with submit(function, *args)."
        )
    if isinstance(executor, Integral):  # NumPy's whole numbers as well
        if executor < 1:
            raise UnknownName(f"executor={executor}: a number of workers is at least 1.")
        check_count("executor", executor)
        return int(executor)
    if not callable(getattr(executor, "submit", None)):
        raise UnknownName(f"executor={shown(executor)} has no submit(function, *args).")
    return int(getattr(executor, "_max_workers", 0) or 2)


def run_batches(
    executor: Any,
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    batches: Batches,
    *,
    named: Callable[[Any], str] | None = None,
) -> Generator[tuple[int, Any], None, None]:
    """`(number, task(*shared, batch))` of every batch, as each one is done.

    `batches` may depend on the number of workers, None in this process. `named` says of a batch
    that ends its workers what it is. Whoever may stop listening closes it: what runs is ended.
    """
    workers = workers_of(executor)
    if workers is None:
        for number, batch in enumerate(batches(None) if callable(batches) else batches):
            yield number, task(*shared, batch)
        return
    with crew_of(executor, workers) as crew:
        made = batches(crew.workers) if callable(batches) else batches
        if made:
            crew.share(task, shared)
            yield from _Run(crew, made, named).results()


class _Run:
    """The batches of a run: those that wait, those in flight, and those under suspicion."""

    def __init__(
        self, crew: Crew, batches: Sequence[Any], named: Callable[[Any], str] | None
    ) -> None:
        self.crew, self.batches, self.named = crew, batches, named
        self.waiting = deque(range(len(batches)))
        self.alone: deque[int] = deque()
        self.running: dict[Future[Any], int] = {}
        self.hit: Counter[int] = Counter()
        self.single = False  # whether the batch that runs is alone
        self.stillborn = 0
        self.quiet = time.monotonic()  # since when nothing has come back

    def results(self) -> Iterator[tuple[int, Any]]:
        try:
            while self.waiting or self.alone or self.running:
                self._begin()
                done = done_of(self.running, self.crew.look_every)
                self._lose_patience(bool(done))
                died = None
                for future in done:
                    number = self.running.pop(future)
                    error = _error_of(future)
                    if error is None:
                        self.stillborn = 0
                        yield number, future.result()
                    elif self.crew.deaths(error):
                        self._blame(number, error)
                        died = error
                    else:
                        raise error
                if died is not None:
                    yield from self._after(died)
        except BaseException:  # Ctrl-C and close() as well: nobody waits for what still runs
            with uninterrupted():
                self.crew.end()  # before futures are cancelled: loky's thread would complain
                for future in self.running:
                    future.cancel()
            raise

    def _begin(self) -> None:
        """Have as many batches in flight as there are slots; a suspect when nothing else is."""
        if self.alone:
            if not self.running:
                self.single = True
                self._submit(self.alone)
            return
        slots = len(self.batches) if self.crew.slots is None else self.crew.slots
        while self.waiting and len(self.running) < slots:
            self.single = False
            self._submit(self.waiting)

    def _submit(self, queue: deque[int]) -> None:
        """The first batch of the queue begins; a pool may be found broken only now."""
        number = queue[0]
        try:
            future = self.crew.submit(self.batches[number])
        except Exception as error:
            if not self.crew.unsent(error):
                raise
            self.stillborn += 1
            if self.stillborn > STILLBORN or not self.crew.replace():
                raise _sentence(error) from error
        else:
            self.running[future] = number
            queue.popleft()

    def _blame(self, number: int, error: BaseException) -> None:
        """A batch was in flight when a worker died: it runs again, or is found guilty."""
        if self.single:
            name = (
                ""
                if self.named is None
                else f" again and again over {self.named(self.batches[number])}"
            )
            raise _sentence(error, name) from error
        self.hit[number] += self.crew.deaths(error)
        (self.alone if self.hit[number] >= SUSPECT else self.waiting).appendleft(number)

    def _after(self, error: BaseException) -> Iterator[tuple[int, Any]]:
        """What a death leaves: results that had come, batches lost, and a crew to be replaced."""
        if self.crew.breaks_as_a_whole:
            done_of(self.running, every=True)
            for future, number in list(self.running.items()):
                also = _error_of(future)
                del self.running[future]
                if also is None:
                    yield number, future.result()
                elif self.crew.deaths(also):
                    self._blame(number, also)
                else:
                    raise also
        if not self.crew.replace():
            raise _sentence(error) from error

    def _lose_patience(self, found: bool) -> None:
        """A cluster without workers is waited for, for a minute."""
        now = time.monotonic()
        lacking = None if found else self.crew.lacking()
        if lacking is None:
            self.quiet = now
        elif now - self.quiet > PATIENCE:
            raise FitFailed(f"{lacking}: start workers, or use executor=None.")


def _error_of(future: Future[Any]) -> BaseException | None:
    """The error of a future that is done; that it was cancelled is one, too."""
    try:
        return future.exception()
    except BaseException as error:  # noqa: BLE001  CancelledError is none of Exception's
        return error


def _sentence(error: BaseException, where: str = "") -> FitFailed:
    return FitFailed(
        f"a worker process died ({type(error).__name__}){where}: out of memory, or the model "
        "crashed it. Use fewer workers, or executor=None to see where."
    )
