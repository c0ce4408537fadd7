"""The line that shows the progress of a computation in a terminal or a notebook."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

from truerisk.core.formats import clean

QUIET = 2.0  # a run that is over sooner shows no progress
LIVE_EVERY = 0.1  # seconds between rewritings of the line on a terminal
LONGEST_SILENCE = 60.0  # elsewhere lines come after 2, 4, 8, ... seconds, at last each minute


class Stage(Protocol):
    """The part of a computation that a `Progress` tells of."""

    @property
    def stage(self) -> str: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def unit(self) -> str: ...


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
        self.first: tuple[float, int] | None = None  # when the first fits were done, and how many

    def __call__(self, progress: Stage) -> None:
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
            text = text[: shutil.get_terminal_size().columns - 1]  # a wrapped line stays
            _write("\r" + text.ljust(self.width))
            self.width = len(text)
        else:
            _write(f"{text}\n")

    def _left(self, progress: Stage, now: float) -> str:
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


def _in_cell(text: str, cell: Any) -> Any:
    """Show the text under the cell of a notebook, in the place of what was shown before."""
    content = {"text/plain": text}
    if cell is None:
        return import_module("IPython.display").display(content, raw=True, display_id=True)
    cell.update(content, raw=True)
    return cell
