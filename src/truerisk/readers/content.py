"""The text of a file: opened, decompressed up to a limit and decoded, or the reason why not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import zipfile
from codecs import getincrementaldecoder
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, first_line
from truerisk.core.frozen import frozen
from truerisk.kernels import available
from truerisk.readers.cells import quoted
from truerisk.readers.delimited_text import PADDING, Pieces, padded, survey


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


_CHUNK = 1 << 20
_HEAD = 1 << 16
_MARK = "\ufeff".encode()
_ZIP = b"PK\x03\x04"
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export it as CSV",
    b"\x28\xb5\x2f\xfd": "Zstandard-compressed; decompress it first (gzip, bzip2 and xz are read)",
    b"\x93NUMPY": "a NumPy array; export it as CSV",
    b"%PDF": "a PDF document; export the table as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


@frozen(eq=False)
class Text:
    """The text of a file as UTF-8, in an array for the compiled reader; decoded on request.

    `pieces` is None without the compiled reader.
    """

    content: NDArray[np.uint8]
    pieces: Pieces | None

    @property
    def n_bytes(self) -> int:
        """Number of bytes of the text, without the padding."""
        return len(self.content) - PADDING

    def first(self, n_bytes: int) -> str:
        """Return the characters that are complete within the first bytes."""
        return getincrementaldecoder("utf-8")().decode(self.content[:n_bytes].tobytes())

    @cached_property
    def full_text(self) -> str:
        """The decoded text."""
        return str(self.content[: self.n_bytes].data, "utf-8")

    @cached_property
    def head(self) -> str:
        """The first characters, for inspection."""
        return self.first(min(self.n_bytes, 4 * _HEAD))[:_HEAD]

    @cached_property
    def goes_on(self) -> bool:
        """True if there is more text than the head."""
        return len(self.head.encode()) < self.n_bytes


def read_text(path: str | os.PathLike[str], *, max_bytes: int) -> Text:
    """Return the text of a plain, gzip, bzip2, xz or zip file.

    Compression is recognised by the first bytes, not by the name. A file that is larger than
    `max_bytes` is refused by its size, a compressed one as soon as the limit is exceeded. A byte
    order mark is removed.
    """
    name = quoted(path, 200)
    content = _content(Path(path), name, max_bytes)
    text = _checked(content[len(_MARK) if content[: len(_MARK)].tobytes() == _MARK else 0 :], name)
    shown = text.full_text if text.head.isspace() else text.head
    if not shown or shown.isspace():
        raise BadData(f"{name} is empty: give a table with a header line and rows.")
    return text


def _content(path: Path, name: str, max_bytes: int) -> NDArray[np.uint8]:
    try:
        with _opened(path, name, max_bytes) as file:
            head = file.peek(8)[:8]
            if head.startswith(_ZIP):
                archive = zipfile.ZipFile(file)
                members = [member for member in archive.infolist() if not member.is_dir()]
                if len(members) != 1:
                    raise BadData(
                        f"{name} is a ZIP archive of {len(members)} files or an Excel workbook: "
                        "give one file of it, exported as CSV."
                    )
                if members[0].flag_bits & 1:
                    raise BadData(f"{name} is a ZIP archive with a password: unpack it first.")
                return _capped(archive.open(members[0]), name, max_bytes)
            for magic, what in _FOREIGN.items():
                if head.startswith(magic):
                    raise BadData(f"{name} is {what}.")
            unpacked = _decompressed(file, head)
            at_once = _at_once(file) if unpacked is file else None
            return _capped(unpacked, name, max_bytes) if at_once is None else at_once
    except BadData:
        raise
    except (EOFError, gzip.BadGzipFile) as damage:  # BadGzipFile is a subclass of OSError.
        raise _damaged(name, damage) from None
    except OSError as trouble:
        # For bz2 this means that the file was read, and its content is invalid.
        if trouble.strerror is None:
            raise _damaged(name, trouble) from None
        raise BadData(f"{name} cannot be read: {trouble.strerror}; check the file.") from None
    except Exception as damage:  # noqa: BLE001  unpacking raises of many kinds
        raise _damaged(name, damage) from None


def _damaged(name: str, error: Exception) -> BadData:
    return BadData(f"{name} is damaged: {first_line(error)}; fetch it again.")


def _opened(path: Path, name: str, max_bytes: int) -> io.BufferedReader:
    try:
        status = path.stat()
    except FileNotFoundError:
        raise BadData(f"{name} does not exist: check the path.") from None
    except ValueError:
        raise BadData(f"{name} is no path of a file: check the path.") from None
    if stat.S_ISDIR(status.st_mode):
        raise BadData(f"{name} is a directory: give one file of it.")
    if stat.S_ISFIFO(status.st_mode):
        raise BadData(f"{name} is a pipe, which can be read but once: save it as a file first.")
    _refuse_size(name, status.st_size, max_bytes)
    return path.open("rb")


def refuse_large(path: str | os.PathLike[str], max_bytes: int) -> None:
    """Raise if the file on disk is larger than the limit."""
    _refuse_size(quoted(path, 200), Path(path).stat().st_size, max_bytes)


def _refuse_size(name: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise _too_large(name, f"holds {size:,} bytes", max_bytes)


def _decompressed(file: io.BufferedReader, head: bytes) -> _Readable:
    if head.startswith(b"\x1f\x8b"):
        return gzip.open(file)
    if head.startswith(b"BZh"):
        return bz2.open(file)
    if head.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(file)
    return file


def _at_once(file: io.BufferedReader) -> NDArray[np.uint8] | None:
    """Read a plain file into an array of its size; return None if its length differs."""
    status = os.fstat(file.fileno())
    n_bytes = status.st_size
    if not stat.S_ISREG(status.st_mode) or not n_bytes:
        return None
    content = np.empty(n_bytes + PADDING, dtype=np.uint8)
    n_read = file.readinto(content.data)
    content[n_bytes:] = 0
    if n_read == n_bytes:
        return content
    file.seek(0)
    return None


def _capped(file: _Readable, name: str, max_bytes: int) -> NDArray[np.uint8]:
    content = bytearray()
    while chunk := file.read(min(_CHUNK, max_bytes + 1)):
        content += chunk
        if len(content) > max_bytes:
            raise _too_large(name, "grows past the cap when it is read", max_bytes)
    return padded(content)


def _too_large(name: str, how: str, max_bytes: int) -> BadData:
    return BadData(
        f"{name} {how}, more than the cap of {max_bytes:,} bytes: take a sample of its rows or "
        f"columns, or raise {mention('max_bytes')}."
    )


def _checked(content: NDArray[np.uint8], name: str) -> Text:
    """Return the text if it is UTF-8 without NUL; other than ASCII is decoded once to check."""
    text = Text(content, survey(content) if available() else None)
    if text.pieces is None or text.pieces.zeros.any():
        _refuse_nul(content[: text.n_bytes].tobytes(), name)
    if text.pieces is None or text.pieces.foreign.any():
        _refuse_foreign_bytes(content[: text.n_bytes], name)
    return text


def _refuse_nul(content: bytes, name: str) -> None:
    nul = content.find(b"\x00")
    if nul >= 0:
        raise BadData(
            f"{name} is not a text table: line {_line(content, nul)} holds a NUL byte; "
            "give a CSV file in UTF-8."
        )


def _refuse_foreign_bytes(content: NDArray[np.uint8], name: str) -> None:
    decoder = getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), _CHUNK):
            decoder.decode(content[start : start + _CHUNK].data)
        decoder.decode(b"", final=True)
        return
    except UnicodeDecodeError:  # Its position refers to a part of the content.
        whole = content.tobytes()
    try:
        whole.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadData(
            f"{name} is not UTF-8: line {_line(whole, error.start)} holds the byte "
            f"0x{whole[error.start]:02x} ({error.reason}); save the file as UTF-8."
        ) from None


def _line(content: bytes, position: int) -> int:
    return content.count(b"\n", 0, position) + 1
