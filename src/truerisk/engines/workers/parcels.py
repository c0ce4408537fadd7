"""Shared data of all batches of a run, in one file that local worker processes map to memory.

Pickle writes large arrays to the file as they are in memory, including those inside frames and
sparse matrices. Workers map the file, so that all of them together hold the arrays once. A batch
then names the file. Writing to a mapped array changes a private copy of those bytes, which other
processes do not see.
"""

from __future__ import annotations

import mmap
import pickle
import shutil
import struct
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

LARGE = 1 << 16  # Arrays with at least this many bytes are stored outside the pickle.
ALIGNED = 64  # Arrays start at multiples of this many bytes, which processors read faster.
HEAD = struct.Struct("<Q")


class Payload:
    """Function to call with each batch, stored with its data in a file of the temporary folder."""

    def __init__(self, content: Any) -> None:
        self._folder = Path(mkdtemp(prefix="truerisk-"))
        self.path = str(self._folder / "parcel")
        try:
            _write(self.path, content)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the file. A worker that maps it keeps its content until it opens another file."""
        shutil.rmtree(self._folder, ignore_errors=True)


_open: dict[str, Any] = {}
"""Content of the latest file that this process has opened, by its path."""


def remove_payload_files() -> None:
    """Remove the payload files in a worker whose parent was killed before it could do so."""
    for path in list(_open):
        shutil.rmtree(Path(path).parent, ignore_errors=True)


def run_payload(path: str, batch: Any) -> Any:
    """Call the function stored in a payload file with a batch, in a worker process."""
    return open_payload(path)(batch)


def open_payload(path: str) -> Any:
    """Return the content of a payload file, reading it if it is not the latest file read."""
    if path not in _open:
        _open.clear()  # The old content is released before the new content takes memory.
        _open[path] = _read(path)
    return _open[path]


def path_of(part: Any) -> str | None:
    """Return the payload file from which this process read an object, or None."""
    for path, content in _open.items():
        if any(part is argument for argument in content.parts):
            return path
    return None


def _write(path: str, content: Any) -> None:
    """Write the pickled content to a file, followed by the large arrays.

    The head of the file holds the sizes of the arrays.
    """
    # cloudpickle is needed because workers cannot import classes of a notebook.
    from cloudpickle import dumps

    arrays: list[memoryview] = []

    def in_band(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True
        arrays.append(raw)
        return False

    pickled = dumps(content, protocol=5, buffer_callback=in_band)
    array_sizes = [array.nbytes for array in arrays]
    with Path(path).open("wb") as file:
        head = pickle.dumps((pickled, array_sizes))
        file.write(HEAD.pack(len(head)))
        file.write(head)
        for array in arrays:
            file.seek(_aligned_position(file.tell()))
            file.write(array)


def _aligned_position(position: int) -> int:
    return -(-position // ALIGNED) * ALIGNED


def _read(path: str) -> Any:
    with Path(path).open("rb") as file:
        file_bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    (length,) = HEAD.unpack(file_bytes[: HEAD.size])
    position = HEAD.size + length
    pickled, array_sizes = pickle.loads(file_bytes[HEAD.size : position])
    arrays = []
    for array_size in array_sizes:
        position = _aligned_position(position)
        arrays.append(file_bytes[position : position + array_size])
        position += array_size
    return pickle.loads(pickled, buffers=arrays)
