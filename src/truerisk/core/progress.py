"""Who listens to a running computation: one listener, held per context, and the line it shows.

A call of Python shows its line where a person looks on: in a terminal or a notebook. The
environment variable TRUERISK_PROGRESS switches it off ("0"), or on everywhere ("1").
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

SWITCH = "TRUERISK_PROGRESS"
QUIET = 2.0  # a run that is over sooner shows no progress
LIVE_EVERY = 0.1  # seconds between rewritings of the line on a terminal
LONGEST_SILENCE = 60.0  # elsewhere lines come after 2, 4, 8, ... seconds, at last each minute

P = ParamSpec("P")
R = TypeVar("R")


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


class ProgressLine:
    """One line that is rewritten on a terminal; elsewhere a few lines, ever further apart.

    A notebook has an output of its own for it, which is empty at the end.
    """

    def __init__(self, live: bool | None = None, clock: Callable[[], float] = time.monotonic):
        self.in_notebook = live is None and _in_notebook()
        self.live = (self.in_notebook or _on_terminal()) if live is None else live
        self.clock = clock
        self.due = clock() + QUIET
        self.silence = QUIET
        self.width = 0
        self.cell: Any = None
        self.total = 0
        self.first: tuple[float, int] | None = None  # when the first fits were done, and how many

    def __call__(self, progress: Progress) -> None:
        now = self.clock()
        if progress.total != self.total or (
            self.first is not None and progress.done < self.first[1]
        ):
            self.total, self.first = progress.total, None
        if self.first is None and progress.done > 0:
            self.first = now, progress.done
        if now < self.due:
            return
        self.due = now + (LIVE_EVERY if self.live else self.silence)
        self.silence = min(2 * self.silence, LONGEST_SILENCE)
        from truerisk.core.present import clean  # numpy, which --help does not need

        text = f"{clean(progress.stage, 60)}: " if progress.stage else ""
        self._show(
            f"{text}{progress.done} of {progress.total} {progress.unit}{self._left(progress, now)}"
        )

    def _show(self, text: str) -> None:
        if self.in_notebook:
            self.cell = _in_cell(text, self.cell)
        elif self.live:
            text = text[: shutil.get_terminal_size().columns - 1]  # a wrapped line stays
            _write("\r" + text.ljust(self.width))
            self.width = len(text)
        else:
            _write(f"{text}\n")

    def _left(self, progress: Progress, now: float) -> str:
        """From the pace since the first fits: workers that start up do not count."""
        if self.first is None or not self.first[1] < progress.done < progress.total:
            return ""
        pace = (now - self.first[0]) / (progress.done - self.first[1])
        return f", about {duration(pace * (progress.total - progress.done))} left"

    def close(self) -> None:
        """Leave an empty line where the progress stood."""
        if self.cell is not None:
            _in_cell("", self.cell)
        elif self.width:
            self._show("")
            _write("\r")


def _write(text: str) -> None:
    """Write to stderr; a line of progress that cannot be written never ends a computation."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # a full disk, a closed stream
            sys.stderr.write(text)
            sys.stderr.flush()


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


def _in_cell(text: str, cell: Any) -> Any:
    """Show the text under the cell of a notebook, in the place of what was shown before."""
    content = {"text/plain": text}
    if cell is None:
        return import_module("IPython.display").display(content, raw=True, display_id=True)
    cell.update(content, raw=True)
    return cell


def wanted() -> bool | None:
    """Whether the user wants to see progress, None where nothing is said."""
    return {"0": False, "1": True}.get(os.environ.get(SWITCH, "").strip())


@contextmanager
def shown(is_shown: bool) -> Iterator[None]:
    """Show the progress of what runs inside, unless somebody listens already."""
    if not is_shown or _listener.get() is not None:
        yield
        return
    line = ProgressLine()
    with listen(line):
        try:
            yield
        finally:
            line.close()


def shows_progress(call: Callable[P, R]) -> Callable[P, R]:
    """A call that shows its progress where a person looks on, in the process of that person."""

    @wraps(call)
    def showing(*args: P.args, **options: P.kwargs) -> R:
        is_main = threading.current_thread() is threading.main_thread()
        is_main = is_main and multiprocessing.current_process().name == "MainProcess"
        is_seen = wanted()
        with shown(is_main and (_on_terminal() or _in_notebook() if is_seen is None else is_seen)):
            return call(*args, **options)

    return showing
