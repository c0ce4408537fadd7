"""The progress line of a computation in a terminal or a notebook."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

from truerisk.core.formats import clean

QUIET = 2.0  # a computation of fewer seconds shows no progress
LIVE_EVERY = 0.1  # seconds between updates of the line on a terminal
LONGEST_SILENCE = 60.0  # Elsewhere lines come after 2, 4, 8, ... seconds, and finally each minute.


class Stage(Protocol):
    """The fields of a `Progress` that the line uses."""

    @property
    def stage(self) -> str:
        """Name of the stage."""

    @property
    def done(self) -> int:
        """Number of units that are finished."""

    @property
    def total(self) -> int:
        """Number of units of the whole stage."""

    @property
    def unit(self) -> str:
        """Name of the units that are counted, such as fits."""


def duration(value: float) -> str:
    """Format a duration, rounded as far as an estimate deserves.

    >>> [duration(s) for s in (0.4, 59, 200, 9000)]
    ['1 s', '59 s', '3 min', '2.5 h']
    """
    if value < 100:
        return f"{max(1, round(value))} s"
    return f"{value / 60:.0f} min" if value < 100 * 60 else f"{value / 3600:.1f} h"


class ProgressLine:
    """Progress line that is rewritten on a terminal; elsewhere, lines at growing intervals.

    A notebook gets a separate output cell, which is empty at the end.
    """

    def __init__(
        self,
        live: bool,
        clock: Callable[[], float] = time.monotonic,
        *,
        in_notebook: bool = False,
    ) -> None:
        self.in_notebook = in_notebook
        self.live = live
        self.clock = clock
        self.due = clock() + QUIET
        self.silence = QUIET
        self.width = 0
        self.cell: Any = None
        self.total = 0
        # the time when the first fits were done, and their number
        self.first: tuple[float, int] | None = None

    def __call__(self, progress: Stage) -> None:
        """Write the line again if its time has come or the stage is finished."""
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
        text = f"{clean(progress.stage, 60)}: " if progress.stage else ""
        self._show(
            f"{text}{progress.done} of {progress.total} {progress.unit}{self._left(progress, now)}"
        )

    def _show(self, text: str) -> None:
        if self.in_notebook:
            self.cell = _in_cell(text, self.cell)
        elif self.live:
            # A line that wraps cannot be overwritten.
            text = text[: shutil.get_terminal_size().columns - 1]
            _write("\r" + text.ljust(self.width))
            self.width = len(text)
        else:
            _write(f"{text}\n")

    def _left(self, progress: Stage, now: float) -> str:
        """Estimate the time left from the pace since the first fits, without worker startup."""
        if self.first is None or not self.first[1] < progress.done < progress.total:
            return ""
        pace = (now - self.first[0]) / (progress.done - self.first[1])
        return f", about {duration(pace * (progress.total - progress.done))} left"

    def close(self) -> None:
        """Leave an empty line in place of the progress line."""
        if self.cell is not None:
            _in_cell("", self.cell)
        elif self.width:
            self._show("")
            _write("\r")


def _write(text: str) -> None:
    """Write to stderr; an error while writing progress must never end a computation."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # The disk may be full or the stream closed.
            sys.stderr.write(text)
            sys.stderr.flush()


def _in_cell(text: str, cell: Any) -> Any:
    """Show the text under a notebook cell, in place of the previous text."""
    content = {"text/plain": text}
    if cell is None:
        return import_module("IPython.display").display(content, raw=True, display_id=True)
    cell.update(content, raw=True)
    return cell
