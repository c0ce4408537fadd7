"""Write text files of results: check the place before the work, and explain a failure."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from truerisk.core.arguments import path_of, shown
from truerisk.core.errors import NotWritten, message_of

T = TypeVar("T")


def place_of(path: Any, like: str = "report.html") -> Path:
    """Return the path of a file that can be written, as far as this can be checked in advance."""
    place = path_of("path", path, like)
    try:
        is_folder = place.is_dir()
        place.resolve()
    except (OSError, RuntimeError) as error:  # a name that is too long, or circular links
        raise NotWritten(f"{shown(str(place))} cannot be written: {message_of(error)}.") from None
    if is_folder:
        raise NotWritten(f"{place} is a folder; name a file in it, such as {like}.")
    folder = place.absolute().parent
    if not folder.is_dir():
        raise NotWritten(
            f"{place} cannot be written: there is no folder '{place.parent}'; make it, or name "
            "another place."
        )
    if not os.access(place if place.exists() else folder, os.W_OK):
        raise NotWritten(f"{place} cannot be written: permission denied; name another place.")
    return place


def also_written(path: Any, make: Callable[[], str]) -> str:
    """Return the text from `make`, and write it to `path` if given, which is checked first."""
    place = None if path is None else place_of(path)
    text = make()
    if place is not None:
        write_text(text if text.endswith("\n") else f"{text}\n", place)
    return text


def write_text(text: str, path: Any) -> None:
    """Write a whole file; if that fails, keep the old content and raise with the reason."""
    write_file(path, lambda place: place.write_text(text, encoding="utf-8"))


def write_file(path: Any, write: Callable[[Path], T]) -> T:
    """Write a whole file by calling `write` with a path, and return the result of that call.

    The new content is written to a temporary file, which then replaces the target (of a link, the
    file it leads to). A pipe, a device or an open stream is written to directly.
    """
    place = place_of(path)
    try:
        return _swap(place.resolve(), write) if _can_be_swapped(place) else write(place)
    except OSError as error:
        raise NotWritten(f"{place} cannot be written: {error.strerror or error}.") from error


def _can_be_swapped(place: Path) -> bool:
    """Return False for a pipe, a device, an open stream, or a folder without write access."""
    if place.absolute().parts[1:2] in (("dev",), ("proc",)):
        return False  # /dev/stdout may lead to a file that is being written
    folder = place.resolve().parent
    return (place.is_file() or not place.exists()) and os.access(folder, os.W_OK)


def _swap(place: Path, write: Callable[[Path], T]) -> T:
    """Write to a temporary file and replace the old file, whose permissions are preserved."""
    beside = place.with_name(f".truerisk-{os.getpid()}-{token_hex(4)}.part")
    try:
        written = write(beside)
        if place.exists():
            beside.chmod(place.stat().st_mode & 0o7777)
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return written
