"""Read the text of a file: open it, decompress it up to a limit, and check that it is UTF-8.

Errors say why a file cannot be read.
"""

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
from truerisk.kernels import is_available
from truerisk.readers.cells import quote
from truerisk.readers.delimited_text import PADDING, TextPieces, divide_into_pieces, pad_bytes


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


_CHUNK_SIZE = 1 << 20
_HEAD_SIZE = 1 << 16
_BYTE_ORDER_MARK = "\ufeff".encode()
_ZIP_START = b"PK\x03\x04"
_FOREIGN_FORMATS = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; export it as CSV",
    b"\x28\xb5\x2f\xfd": "Zstandard-compressed; decompress it first (gzip, bzip2 and xz are read)",
    b"\x93NUMPY": "a NumPy array; export it as CSV",
    b"%PDF": "a PDF document; export the table as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


@frozen(eq=False)
class FileText:
    """The text of a file as UTF-8 bytes in an array, which the compiled reader needs.

    The text is decoded on request. `pieces` is None without the compiled reader.
    """

    padded_bytes: NDArray[np.uint8]
    pieces: TextPieces | None

    @property
    def n_bytes(self) -> int:
        """Number of bytes of the text, without the padding."""
        return len(self.padded_bytes) - PADDING

    def decode_start(self, n_bytes: int) -> str:
        """Decode the first `n_bytes` bytes, omitting an incomplete character at their end."""
        return getincrementaldecoder("utf-8")().decode(self.padded_bytes[:n_bytes].tobytes())

    @cached_property
    def full_text(self) -> str:
        """The whole text of the file, decoded from UTF-8."""
        return str(self.padded_bytes[: self.n_bytes].data, "utf-8")

    @cached_property
    def head(self) -> str:
        """First characters of the text, by which format and delimiter are recognised."""
        return self.decode_start(min(self.n_bytes, 4 * _HEAD_SIZE))[:_HEAD_SIZE]

    @cached_property
    def continues_after_head(self) -> bool:
        """True if the text is longer than `head`."""
        return len(self.head.encode()) < self.n_bytes


def read_text(path: str | os.PathLike[str], *, max_bytes: int) -> FileText:
    """Return the text of a file that is plain or compressed by gzip, bzip2, xz or zip.

    Compression is recognised by the first bytes, not by the name. A file whose size exceeds
    `max_bytes` is refused. A compressed file is refused as soon as its decompressed content exceeds
    this limit. A byte order mark is removed.
    """
    name = quote(path, 200)
    file_bytes = _read_file(Path(path), name, max_bytes)
    text = _check_encoding(
        file_bytes[
            len(_BYTE_ORDER_MARK)
            if file_bytes[: len(_BYTE_ORDER_MARK)].tobytes() == _BYTE_ORDER_MARK
            else 0 :
        ],
        name,
    )
    inspected_text = text.full_text if text.head.isspace() else text.head
    if not inspected_text or inspected_text.isspace():
        raise BadData(f"{name} is empty: give a table with a header line and rows.")
    return text


def _read_file(path: Path, name: str, max_bytes: int) -> NDArray[np.uint8]:
    try:
        with _open_file(path, name, max_bytes) as file:
            first_bytes = file.peek(8)[:8]
            if first_bytes.startswith(_ZIP_START):
                archive = zipfile.ZipFile(file)
                members = [member for member in archive.infolist() if not member.is_dir()]
                if len(members) != 1:
                    raise BadData(
                        f"{name} is a ZIP archive of {len(members)} files or an Excel workbook: "
                        "give one file of it, exported as CSV."
                    )
                if members[0].flag_bits & 1:
                    raise BadData(f"{name} is a ZIP archive with a password: unpack it first.")
                return _read_limited(archive.open(members[0]), name, max_bytes)
            for magic_bytes, description in _FOREIGN_FORMATS.items():
                if first_bytes.startswith(magic_bytes):
                    raise BadData(f"{name} is {description}.")
            unpacked_file = _open_decompressed(file, first_bytes)
            plain_content = _read_plain_file(file) if unpacked_file is file else None
            return (
                _read_limited(unpacked_file, name, max_bytes)
                if plain_content is None
                else plain_content
            )
    except BadData:
        raise
    except (EOFError, gzip.BadGzipFile) as error:  # BadGzipFile is a subclass of OSError.
        raise _damaged_file_error(name, error) from None
    except OSError as os_error:
        # bz2 raises an OSError without a system message if the content is invalid.
        if os_error.strerror is None:
            raise _damaged_file_error(name, os_error) from None
        raise BadData(f"{name} cannot be read: {os_error.strerror}; check the file.") from None
    except Exception as error:  # noqa: BLE001  Decompression may raise any error.
        raise _damaged_file_error(name, error) from None


def _damaged_file_error(name: str, error: Exception) -> BadData:
    return BadData(f"{name} is damaged: {first_line(error)}; fetch it again.")


def _open_file(path: Path, name: str, max_bytes: int) -> io.BufferedReader:
    try:
        file_status = path.stat()
    except FileNotFoundError:
        raise BadData(f"{name} does not exist: check the path.") from None
    except ValueError:
        raise BadData(f"{name} is no path of a file: check the path.") from None
    if stat.S_ISDIR(file_status.st_mode):
        raise BadData(f"{name} is a directory: give one file of it.")
    if stat.S_ISFIFO(file_status.st_mode):
        raise BadData(f"{name} is a pipe, which can be read but once: save it as a file first.")
    _refuse_too_large(name, file_status.st_size, max_bytes)
    return path.open("rb")


def refuse_large_file(path: str | os.PathLike[str], max_bytes: int) -> None:
    """Raise if the size of the file on disk exceeds `max_bytes`."""
    _refuse_too_large(quote(path, 200), Path(path).stat().st_size, max_bytes)


def _refuse_too_large(name: str, n_bytes: int, max_bytes: int) -> None:
    if n_bytes > max_bytes:
        raise _too_large_error(name, f"holds {n_bytes:,} bytes", max_bytes)


def _open_decompressed(file: io.BufferedReader, first_bytes: bytes) -> _Readable:
    if first_bytes.startswith(b"\x1f\x8b"):
        return gzip.open(file)
    if first_bytes.startswith(b"BZh"):
        return bz2.open(file)
    if first_bytes.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(file)
    return file


def _read_plain_file(file: io.BufferedReader) -> NDArray[np.uint8] | None:
    """Read a regular file into an array; return None if the file has another size than reported."""
    file_status = os.fstat(file.fileno())
    n_bytes = file_status.st_size
    if not stat.S_ISREG(file_status.st_mode) or not n_bytes:
        return None
    file_bytes = np.empty(n_bytes + PADDING, dtype=np.uint8)
    n_read = file.readinto(file_bytes.data)
    file_bytes[n_bytes:] = 0
    if n_read == n_bytes:
        return file_bytes
    file.seek(0)
    return None


def _read_limited(file: _Readable, name: str, max_bytes: int) -> NDArray[np.uint8]:
    file_bytes = bytearray()
    while chunk := file.read(min(_CHUNK_SIZE, max_bytes + 1)):
        file_bytes += chunk
        if len(file_bytes) > max_bytes:
            raise _too_large_error(name, "grows past the cap when it is read", max_bytes)
    return pad_bytes(file_bytes)


def _too_large_error(name: str, size_clause: str, max_bytes: int) -> BadData:
    return BadData(
        f"{name} {size_clause}, more than the cap of {max_bytes:,} bytes: take a sample of its "
        f"rows or columns, or raise {mention('max_bytes')}."
    )


def _check_encoding(padded_bytes: NDArray[np.uint8], name: str) -> FileText:
    """Return the content as text; raise if it has a NUL byte or is not UTF-8.

    Only content with bytes outside ASCII has to be decoded for this check.
    """
    text = FileText(padded_bytes, divide_into_pieces(padded_bytes) if is_available() else None)
    if text.pieces is None or text.pieces.n_nul_bytes.any():
        _refuse_nul(padded_bytes[: text.n_bytes].tobytes(), name)
    if text.pieces is None or text.pieces.n_non_ascii_bytes.any():
        _refuse_invalid_utf8(padded_bytes[: text.n_bytes], name)
    return text


def _refuse_nul(text_bytes: bytes, name: str) -> None:
    nul_position = text_bytes.find(b"\x00")
    if nul_position >= 0:
        raise BadData(
            f"{name} is not a text table: line {_line_number(text_bytes, nul_position)} holds a "
            "NUL byte; give a CSV file in UTF-8."
        )


def _refuse_invalid_utf8(text_bytes: NDArray[np.uint8], name: str) -> None:
    decoder = getincrementaldecoder("utf-8")()
    try:
        for chunk_start in range(0, len(text_bytes), _CHUNK_SIZE):
            decoder.decode(text_bytes[chunk_start : chunk_start + _CHUNK_SIZE].data)
        decoder.decode(b"", final=True)
        return
    except UnicodeDecodeError:
        # The error gives a position within a chunk, so the whole content is decoded again.
        all_bytes = text_bytes.tobytes()
    try:
        all_bytes.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadData(
            f"{name} is not UTF-8: line {_line_number(all_bytes, error.start)} holds the byte "
            f"0x{all_bytes[error.start]:02x} ({error.reason}); save the file as UTF-8."
        ) from None


def _line_number(text_bytes: bytes, byte_position: int) -> int:
    return text_bytes.count(b"\n", 0, byte_position) + 1
