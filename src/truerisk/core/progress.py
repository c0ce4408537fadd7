"""Who listens to a running computation: one listener, held per context, none by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Listener", "Progress", "listen", "stage", "tell"]


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


def tell(done: int, total: int) -> None:
    """Report `done` of `total` fits to whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener(Progress(_stage.get(), done, total))
