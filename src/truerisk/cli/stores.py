"""Stores on the command line: where they lie, and what ends a run that writes to one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from truerisk.core.arguments import store_of

__all__ = ["in_a_folder", "store_path", "terminated"]

store_path = click.Path(dir_okay=False, path_type=Path)


def in_a_folder(ctx: click.Context, option: click.Parameter, store: Path | None) -> Path | None:
    """Refuse a folder that is not there, for which the lock would be blamed."""
    if store is not None and not store_of(store, "--store").absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder '{store.parent}'.")
    return store


@contextmanager
def terminated() -> Iterator[None]:
    """A batch system says SIGTERM before it kills: as good as Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
