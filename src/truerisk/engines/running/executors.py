"""Where batches of fits run: in this process, on loky by a number, or on the user's executor.

Any object with `submit(function, *args) -> Future` will do. Results do not depend on the choice:
a fit is seeded by its number in the plan, and answers are put back by it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from copy import copy
from dataclasses import is_dataclass
from functools import partial
from threading import Thread
from typing import Any

from truerisk.core.errors import FitFailed, UnknownName
from truerisk.core.identity import is_from

__all__ = ["reusable_workers", "run_batches", "workers_of"]

LOOK_EVERY = 2.0  # seconds
IDLE = 120  # seconds before a worker without work ends; ending just as work comes breaks the pool


def workers_of(executor: Any) -> int | None:
    """How many workers an executor has; None for running in this process."""
    if executor is None:
        return None
    if isinstance(executor, (bool, str)):
        raise UnknownName(
            f"executor={executor!r} is unknown; use None (this process), a number of worker "
            "processes, or any object with submit(function, *args)."
        )
    if isinstance(executor, int):
        if executor < 1:
            raise UnknownName(f"executor={executor}: a number of workers is at least 1.")
        return executor
    if not callable(getattr(executor, "submit", None)):
        raise UnknownName(f"executor={executor!r} has no submit(function, *args).")
    return int(getattr(executor, "_max_workers", 0) or 2)


def run_batches(
    executor: Any, task: Callable[..., Any], shared: tuple[Any, ...], batches: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """`(number, task(*shared, batch))` of every batch, as each one is done."""
    if executor is None:
        for number, batch in enumerate(batches):
            yield number, task(*shared, batch)
        return
    if isinstance(executor, int):
        yield from _on_workers(executor, task, shared, batches)
    else:
        yield from _on_futures(executor, task, shared, batches)


def _on_workers(
    n_workers: int, task: Callable[..., Any], shared: tuple[Any, ...], batches: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Worker processes of our own: Ctrl-C is for the parent, which then ends them."""
    workers = reusable_workers(n_workers)
    yield from _on_futures(
        workers, task, shared, batches, partial(workers.shutdown, kill_workers=True)
    )


def reusable_workers(n_workers: int) -> Any:
    """Worker processes that stay for the next run; a pool that broke is not given out again."""
    from loky import get_reusable_executor

    return get_reusable_executor(
        max_workers=n_workers, initializer=_depend, initargs=(os.getpid(),), timeout=IDLE
    )


def _depend(parent: int) -> None:
    """A worker lives as long as its parent, which alone hears Ctrl-C from a terminal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A parent that was killed tells no one."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os.kill(os.getpid(), signal.SIGKILL)


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


def _on_futures(
    executor: Any,
    task: Callable[..., Any],
    shared: tuple[Any, ...],
    batches: Sequence[Any],
    end: Callable[[], None] | None = None,
) -> Iterator[tuple[int, Any]]:
    running: dict[Future[Any], int] = {}
    shared = _apart(shared)
    try:
        for number, batch in enumerate(batches):
            running[executor.submit(task, *shared, batch)] = number
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    except BrokenExecutor as error:  # by submit, too, if a worker dies early
        raise FitFailed(
            f"a worker process died ({type(error).__name__}): out of memory, or the model crashed "
            "it. Use fewer workers, or executor=None to see where."
        ) from error
    except KeyboardInterrupt:
        if end is not None:
            end()  # before futures are cancelled, of which loky's thread would complain
        raise
    finally:
        for future in running:
            future.cancel()
