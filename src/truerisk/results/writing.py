"""Write results to files: check the path before the computation, and explain a failure."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from truerisk.core.arguments import file_path, repr_on_one_line
from truerisk.core.errors import NotWritten, describe_error

T = TypeVar("T")


def writable_path(path: Any, example_name: str = "report.html") -> Path:
    """Return `path` as a Path, or raise NotWritten if no file can be written there.

    This is checked as far as it is possible before writing.
    """
    file = file_path("path", path, example_name)
    try:
        is_folder = file.is_dir()
        file.resolve()
    # The errors mean that the file name is too long, or that symbolic links are circular.
    except (OSError, RuntimeError) as error:
        raise NotWritten(
            f"{repr_on_one_line(str(file))} cannot be written: {describe_error(error)}."
        ) from None
    if is_folder:
        raise NotWritten(f"{file} is a folder; name a file in it, such as {example_name}.")
    folder = file.absolute().parent
    if not folder.is_dir():
        raise NotWritten(
            f"{file} cannot be written: there is no folder '{file.parent}'; make it, or name "
            "another place."
        )
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise NotWritten(f"{file} cannot be written: permission denied; name another place.")
    return file


def written_text(path: Any, make_text: Callable[[], str]) -> str:
    """Return the text that `make_text` returns, and write it to `path`.

    The path is checked before the text is made.
    """
    file = None if path is None else writable_path(path)
    text = make_text()
    if file is not None:
        write_text(text if text.endswith("\n") else f"{text}\n", file)
    return text


def write_text(text: str, path: Any) -> None:
    """Write a whole text file; if writing fails, keep the old file and raise NotWritten."""
    write_file(path, lambda file: file.write_text(text, encoding="utf-8"))


def write_file(path: Any, write: Callable[[Path], T]) -> T:
    """Write a whole file by a call of `write` with a path, and return the result of the call.

    The new content is written to a temporary file, which then replaces the target (of a link, the
    file it leads to). A pipe, a device or an open stream is written to directly.
    """
    file = writable_path(path)
    try:
        return _replace_file(file.resolve(), write) if _can_be_replaced(file) else write(file)
    except OSError as error:
        raise NotWritten(f"{file} cannot be written: {error.strerror or error}.") from error


def _can_be_replaced(file: Path) -> bool:
    """Return True if `file` can be replaced by a new file of the same name.

    A pipe, a device, an open stream and a file in an unwritable folder cannot be replaced.
    """
    if file.absolute().parts[1:2] in (("dev",), ("proc",)):
        return False  # /dev/stdout may link to a file to which another program writes.
    folder = file.resolve().parent
    return (file.is_file() or not file.exists()) and os.access(folder, os.W_OK)


def _replace_file(file: Path, write: Callable[[Path], T]) -> T:
    """Write a temporary file, and replace the old file by the temporary file.

    The permissions of the old file are preserved.
    """
    temporary_file = file.with_name(f".truerisk-{os.getpid()}-{token_hex(4)}.part")
    try:
        result = write(temporary_file)
        if file.exists():
            temporary_file.chmod(file.stat().st_mode & 0o7777)
        temporary_file.replace(file)
    except BaseException:
        temporary_file.unlink(missing_ok=True)
        raise
    return result
