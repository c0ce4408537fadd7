"""Progress line of a computation in a terminal or a notebook."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

from truerisk.core.formats import escape_and_truncate

SECONDS_BEFORE_FIRST_LINE = (
    2.0  # seconds before the first line; shorter computations show no progress
)
SECONDS_BETWEEN_UPDATES = 0.1  # seconds between updates of the line on a terminal
# If stderr is no terminal, progress is written on new lines, after 2, 4, 8, ... seconds.
# Later there is one line a minute.
MAX_SECONDS_BETWEEN_LINES = 60.0


class ProgressEvent(Protocol):
    """Attributes of a `Progress` event that the progress line uses."""

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


def format_duration(value: float) -> str:
    """Format a number of seconds as a rounded duration in seconds, minutes or hours.

    >>> [format_duration(s) for s in (0.4, 59, 200, 9000)]
    ['1 s', '59 s', '3 min', '2.5 h']
    """
    if value < 100:
        return f"{max(1, round(value))} s"
    return f"{value / 60:.0f} min" if value < 100 * 60 else f"{value / 3600:.1f} h"


class ProgressLine:
    """Listener that writes the progress of a computation to a terminal, a notebook or a log.

    On a terminal it rewrites one line. Outside of a terminal the lines come at growing intervals. A
    notebook gets a separate output cell, which is empty at the end.
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
        self.due = clock() + SECONDS_BEFORE_FIRST_LINE
        self.silence = SECONDS_BEFORE_FIRST_LINE
        self.width = 0
        self.cell: Any = None
        self.total = 0
        # The time when the first fits were finished, and the number of these fits.
        self.first_fits: tuple[float, int] | None = None

    def __call__(self, progress: ProgressEvent) -> None:
        """Show the progress again if the time of the next update has come."""
        current_time = self.clock()
        if progress.total != self.total or (
            self.first_fits is not None and progress.done < self.first_fits[1]
        ):
            self.total, self.first_fits = progress.total, None
        if self.first_fits is None and progress.done > 0:
            self.first_fits = current_time, progress.done
        if current_time < self.due:
            return
        self.due = current_time + (SECONDS_BETWEEN_UPDATES if self.live else self.silence)
        self.silence = min(2 * self.silence, MAX_SECONDS_BETWEEN_LINES)
        stage_text = f"{escape_and_truncate(progress.stage, 60)}: " if progress.stage else ""
        self._show(
            f"{stage_text}{progress.done} of {progress.total} "
            f"{progress.unit}{self._remaining_time(progress, current_time)}"
        )

    def _show(self, text: str) -> None:
        if self.in_notebook:
            self.cell = _show_in_cell(text, self.cell)
        elif self.live:
            # A line wider than the terminal is cut, because a wrapped line cannot be overwritten.
            text = text[: shutil.get_terminal_size().columns - 1]
            _write("\r" + text.ljust(self.width))
            self.width = len(text)
        else:
            _write(f"{text}\n")

    def _remaining_time(self, progress: ProgressEvent, current_time: float) -> str:
        """Return the estimated remaining time as text, from the pace since the first fits finished.

        The pace thus excludes the start of the workers.
        """
        if self.first_fits is None or not self.first_fits[1] < progress.done < progress.total:
            return ""
        seconds_per_unit = (current_time - self.first_fits[0]) / (
            progress.done - self.first_fits[1]
        )
        return (
            f", about {format_duration(seconds_per_unit * (progress.total - progress.done))} left"
        )

    def close(self) -> None:
        """Replace the progress line by an empty line."""
        if self.cell is not None:
            _show_in_cell("", self.cell)
        elif self.width:
            self._show("")
            _write("\r")


def _write(text: str) -> None:
    """Write a text to stderr, and ignore errors, since they must not end a computation."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # The disk may be full, or stderr may be closed.
            sys.stderr.write(text)
            sys.stderr.flush()


def _show_in_cell(text: str, cell: Any) -> Any:
    """Show the text in the output of a notebook cell, in place of the previous text."""
    mime_bundle = {"text/plain": text}
    if cell is None:
        return import_module("IPython.display").display(mime_bundle, raw=True, display_id=True)
    cell.update(mime_bundle, raw=True)
    return cell
