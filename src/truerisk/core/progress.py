"""Who listens to a running computation: one listener, held per context, none by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """`done` of `total` fits (or other units) of the current stage are finished."""

    stage: str
    done: int
    total: int
    unit: str = "fits"


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


def listener() -> Listener | None:
    """Who listens now."""
    return _listener.get()


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
    """Adds up the fits of several computations; `finish` says what one of them really took."""

    def __init__(self, listener: Listener | None, total: int) -> None:
        self._listener = listener
        self._total = total
        self._finished = self._before = self._done = 0

    def __call__(self, progress: Progress) -> None:
        if progress.done == 0:  # a further run of the same computation
            self._before = self._done
        self._done = max(self._done, min(self._before + progress.done, self._total))
        if self._listener is not None:
            self._listener(Progress(progress.stage, self._done, self._total, progress.unit))

    def finish(self, n_fits: int) -> None:
        """A computation of so many fits is over, however many were told."""
        self._finished += n_fits
        self._before = self._done = self._finished


@contextmanager
def counting(total: int) -> Iterator[Count]:
    """Inside, events count the fits of all computations together, `total` of them."""
    count = Count(_listener.get(), total)
    with listen(count):
        yield count


def tell(done: int, total: int, unit: str = "fits") -> None:
    """Report `done` of `total` fits, or of another unit, to whoever listens."""
    told = _listener.get()
    if told is not None:
        told(Progress(_stage.get(), done, total, unit))


def duration(value: float) -> str:
    """Rounded as far as a guess deserves.

    >>> [duration(s) for s in (0.4, 59, 200, 9000)]
    ['1 s', '59 s', '3 min', '2.5 h']
    """
    if value < 100:
        return f"{max(1, round(value))} s"
    return f"{value / 60:.0f} min" if value < 100 * 60 else f"{value / 3600:.1f} h"
