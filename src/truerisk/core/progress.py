"""Progress events of a running computation, sent to the listener of the current context.

A Python call shows its progress line in a terminal or a notebook. The environment variable
TRUERISK_PROGRESS switches it off ("0"), or on everywhere ("1").
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present

PROGRESS_VARIABLE = "TRUERISK_PROGRESS"

P = ParamSpec("P")
R = TypeVar("R")


@frozen
class Progress:
    """Progress event: `done` of `total` fits (or other units) of the current stage are finished."""

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
    """Return the listener of the current context, or None."""
    return _listener.get()


class FitFollower(Protocol):
    """Observer of single fits, such as the callbacks of scikit-learn that a search was given."""

    def fit_function(self, jobs: Sequence[tuple[int, list[Any]]]) -> Callable[..., list[Any]]:
        """Return the function that makes the fits of these jobs, and observes each of them."""


_fit_follower: ContextVar[FitFollower | None] = ContextVar("truerisk_fit_follower", default=None)


@contextmanager
def follow_fits(fit_follower: FitFollower | None) -> Iterator[None]:
    """Let `fit_follower` observe every fit that the generic engine makes in this context."""
    token = _fit_follower.set(fit_follower)
    try:
        yield
    finally:
        _fit_follower.reset(token)


def fit_follower() -> FitFollower | None:
    """Return the observer of the fits in the current context, or None."""
    return _fit_follower.get()


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name the current stage of the computation; names of nested stages are joined by colons."""
    outer_stage = _stage.get()
    token = _stage.set(f"{outer_stage}: {name}" if outer_stage else name)
    try:
        yield
    finally:
        _stage.reset(token)


class FitCounter:
    """Progress listener that adds up the fits of several computations.

    `finish` replaces the reported number of fits by the number that the computation really made.
    """

    def __init__(self, listener: Listener | None, total: int) -> None:
        self._listener = listener
        self._total = total
        self._finished = self._before = self._done = 0

    def __call__(self, progress: Progress) -> None:
        """Add the progress of one computation to the total, and send the total to the listener."""
        if progress.done == 0:  # Another pass of the same computation starts.
            self._before = self._done
        self._done = max(self._done, min(self._before + progress.done, self._total))
        if self._listener is not None:
            self._listener(Progress(progress.stage, self._done, self._total, progress.unit))

    def finish(self, n_fits: int) -> None:
        """Count a finished computation with `n_fits` fits, whatever number its events reported."""
        self._finished += n_fits
        self._before = self._done = self._finished


@contextmanager
def count_fits(n_total: int) -> Iterator[FitCounter]:
    """Add up the fits of all computations in this context, and report the sum out of `n_total`."""
    fit_counter = FitCounter(_listener.get(), n_total)
    with listen(fit_counter):
        yield fit_counter


def report_progress(n_done: int, n_total: int, unit_name: str = "fits") -> None:
    """Send a progress event to the listener: `n_done` of `n_total` units are finished.

    The unit is named by `unit_name`; by default the units are fits.
    """
    listener = _listener.get()
    if listener is not None:
        listener(Progress(_stage.get(), n_done, n_total, unit_name))


def _progress_display_kind() -> Literal["terminal", "notebook"] | None:
    """Return where progress can be shown: "terminal", "notebook", or None for nowhere."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else None


def progress_switch() -> bool | None:
    """Return the setting of TRUERISK_PROGRESS: True (on), False (off), or None if it is not set."""
    return {"0": False, "1": True}.get(os.environ.get(PROGRESS_VARIABLE, "").strip())


@contextmanager
def progress_display(is_enabled: bool) -> Iterator[None]:
    """Show the progress of the code in this context, unless there is a listener already."""
    if not is_enabled or _listener.get() is not None:
        yield
        return
    check_present("truerisk.core.progress_line")
    from truerisk.core.progress_line import ProgressLine

    display_kind = _progress_display_kind()
    progress_line = ProgressLine(display_kind is not None, in_notebook=display_kind == "notebook")
    with listen(progress_line):
        try:
            yield
        finally:
            progress_line.close()


def displays_progress(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that its calls show their progress in a terminal or notebook.

    They do so only in the main thread of the main process.
    """

    @wraps(function)
    def showing(*args: P.args, **options: P.kwargs) -> R:
        is_main = threading.current_thread() is threading.main_thread()
        is_main = is_main and multiprocessing.current_process().name == "MainProcess"
        is_switched_on = progress_switch()
        if not is_main or not (
            _progress_display_kind() if is_switched_on is None else is_switched_on
        ):
            return function(*args, **options)
        with progress_display(True):
            return function(*args, **options)

    return showing
