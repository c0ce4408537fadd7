"""Progress and notes on stderr, results on stdout."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from truerisk.core.present import seconds
from truerisk.core.progress import Progress, listen

__all__ = ["say", "shown_progress", "worded_warnings"]

PATIENCE = 2.0  # seconds between lines where the terminal cannot rewrite one


def say(text: str) -> None:
    """A line on stderr."""
    click.echo(text, err=True)


class _Line:
    """One line that is rewritten on a terminal; a line every two seconds elsewhere."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.stage = ""
        self.started = self.shown = time.monotonic()
        self.width = 0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage != self.stage or progress.done == 0:
            self.stage, self.started = progress.stage, now
        patience = 0.1 if self.live else PATIENCE
        if now - self.shown < patience:
            return
        self.shown = now
        self._show(self._text(progress, now - self.started))

    def _text(self, progress: Progress, spent: float) -> str:
        share = progress.done / max(progress.total, 1)
        left = f", about {seconds(spent / share - spent)} left" if 0 < share < 1 else ""
        return f"{progress.stage}: {progress.done} of {progress.total} fits{left}"

    def _show(self, text: str) -> None:
        if self.live:
            click.echo("\r" + text.ljust(self.width), err=True, nl=False)
            self.width = len(text)
        else:
            click.echo(text, err=True)

    def close(self) -> None:
        if self.live and self.width:
            click.echo("\r" + " " * self.width + "\r", err=True, nl=False)


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of what runs inside."""
    line = _Line()
    with listen(line):
        try:
            yield
        finally:
            line.close()


@contextmanager
def worded_warnings() -> Iterator[None]:
    """Warnings as sentences on stderr, each once, without file names and source lines."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        text = f"warning: {' '.join(str(message).split())}"
        if text not in said:
            said.add(text)
            say(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.showwarning = show
        yield
