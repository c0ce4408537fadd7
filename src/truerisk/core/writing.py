"""Text files of results: a place is checked before the work, and a failure is a sentence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, NotWritten

__all__ = ["place_of", "write_text"]


def place_of(path: Any) -> Path:
    """The path of a file that can be written, as far as that shows before it is tried."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise BadArgument(f"path={shown(path)}: name a file, such as 'report.html'.")
    place = Path(os.fsdecode(path))
    if place.is_dir():
        raise NotWritten(f"{place} is a folder; name a file in it, such as report.html.")
    folder = place.absolute().parent
    if not folder.is_dir():
        raise NotWritten(
            f"{place} cannot be written: there is no folder '{place.parent}'; make it, or name "
            "another place."
        )
    if not os.access(place if place.exists() else folder, os.W_OK):
        raise NotWritten(f"{place} cannot be written: permission denied; name another place.")
    return place


def write_text(text: str, path: Any) -> None:
    """Write a whole file, or leave none behind and say why."""
    place = place_of(path)
    was_there = place.exists()
    try:
        place.write_text(text, encoding="utf-8")
    except BaseException as error:
        if not was_there:
            place.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise NotWritten(f"{place} cannot be written: {error.strerror}.") from error
        raise
