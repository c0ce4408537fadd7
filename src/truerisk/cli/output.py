"""Progress and notes on stderr, results on stdout."""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from truerisk.core.errors import visible
from truerisk.core.progress import Progress, duration, listen

QUIET = 2.0  # a run that is over sooner shows no progress
LIVE_EVERY = 0.1  # seconds between rewritings of the line on a terminal
LONGEST_SILENCE = 60.0  # elsewhere lines come after 2, 4, 8, ... seconds, at last each minute


def say(text: str) -> None:
    """Lines on stderr."""
    show(text, err=True)


def show(text: str, *, err: bool = False) -> None:
    """Lines on stdout; all that the command prints comes by here.

    So no name or label of a file that they quote moves the terminal.
    """
    click.echo("\n".join(map(visible, text.split("\n"))), err=err)


def listed(option: str, words: str | None, what: str, example: str) -> list[str] | None:
    """The words of an option that takes several with commas; none but commas are refused.

    >>> listed("--scores", "auc, log", "score", "auc"), listed("--scores", None, "score", "auc")
    (['auc', 'log'], None)
    """
    if words is None:
        return None
    parts = [word.strip() for word in words.split(",") if word.strip()]
    if not parts:
        raise click.UsageError(f"{option} names no {what}; write {option} {example}.")
    return parts


class ProgressLine:
    """One line that is rewritten on a terminal; elsewhere a few lines, ever further apart."""

    def __init__(self, live: bool | None = None, clock: Callable[[], float] = time.monotonic):
        self.live = (sys.stderr is not None and sys.stderr.isatty()) if live is None else live
        self.clock = clock
        self.due = clock() + QUIET
        self.silence = QUIET
        self.width = 0
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
        text = self._text(progress, now)
        if self.live:
            text = text[: shutil.get_terminal_size().columns - 1]  # a wrapped line stays
            click.echo("\r" + text.ljust(self.width), err=True, nl=False)
            self.width = len(text)
        else:
            say(text)

    def _text(self, progress: Progress, now: float) -> str:
        from truerisk.core.present import clean  # numpy, which --help does not need

        text = f"{clean(progress.stage, 60)}: " if progress.stage else ""
        return (
            f"{text}{progress.done} of {progress.total} {progress.unit}{self._left(progress, now)}"
        )

    def _left(self, progress: Progress, now: float) -> str:
        """From the pace since the first fits: workers that start up do not count."""
        if self.first is None or not self.first[1] < progress.done < progress.total:
            return ""
        pace = (now - self.first[0]) / (progress.done - self.first[1])
        return f", about {duration(pace * (progress.total - progress.done))} left"

    def close(self) -> None:
        """Leave an empty line where the progress stood."""
        if self.live and self.width:
            click.echo("\r" + " " * self.width + "\r", err=True, nl=False)
            self.width = 0


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of what runs inside."""
    line = ProgressLine()
    with listen(line):
        try:
            yield
        finally:
            line.close()


class _Heard:
    """Warnings by their text, with how many of how many fits gave each."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.times: Counter[str] = Counter()
        self.fits: Counter[str] = Counter()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        from truerisk.engines.running.fit_warnings import alike, apart

        text, times, fits = apart(" ".join(str(message).split()))
        key = alike(text) if fits else text  # those of fits come again with other numbers
        self.texts.setdefault(key, text)
        self.times[key] += times
        self.fits[key] += fits

    def say(self) -> None:
        from truerisk.engines.running.fit_warnings import counted

        for key, text in self.texts.items():
            say(f"warning: {counted(text, self.times[key], self.fits[key])}")


@contextmanager
def worded_warnings() -> Iterator[None]:
    """Warnings as sentences on stderr when all is done, each once with its count.

    Without file names and source lines; what is deprecated concerns developers, not users.
    """
    heard = _Heard()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = heard
        try:
            yield
        finally:
            heard.say()
