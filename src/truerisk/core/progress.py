"""Who listens to a running computation: one listener, held per context, none by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Count", "Listener", "Progress", "counting", "listen", "stage", "tell"]


@dataclass(frozen=True)
class Progress:
    """`done` of `total` fits of the current stage are finished."""

    stage: str
    done: int
    total: int


Listener = Callable[[Progress], None]

_listener: ContextVar[Listener | None] = ContextVar("truerisk_listener", default=None)
_stage: ContextVar[str] = ContextVar("truerisk_stage", default="")


@contextmanager
def listen(listener: Listener | None) -> Iterator[None]:
    """Send every progress event of this context to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name what is being computed; nested stages are joined by a colon."""
    outer = _stage.get()
    token = _stage.set(f"{outer}: {name}" if outer else name)
    try:
        yield
    finally:
        _stage.reset(token)


class Count:
    """How many fits of several computations are finished; `reach` corrects it after each one."""

    def __init__(self, listener: Listener, total: int) -> None:
        self._listener = listener
        self._total = total
        self._before = self._done = 0

    def __call__(self, progress: Progress) -> None:
        if progress.done == 0:  # a computation starts
            self._before = self._done
        self._done = max(self._done, min(self._before + progress.done, self._total))
        self._listener(Progress(progress.stage, self._done, self._total))

    def reach(self, done: int) -> None:
        """So many fits are finished, whatever the engines told."""
        self._done = min(done, self._total)


@contextmanager
def counting(total: int) -> Iterator[Count]:
    """Inside, events count the fits of all computations together, `total` of them."""
    listener = _listener.get()
    count = Count(listener or _deaf, total)
    with listen(None if listener is None else count):
        yield count


def _deaf(_: Progress) -> None:
    """Nobody listens."""


def tell(done: int, total: int) -> None:
    """Report `done` of `total` fits to whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener(Progress(_stage.get(), done, total))
