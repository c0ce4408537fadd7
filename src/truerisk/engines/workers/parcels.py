"""Shared data of all batches of a run, in one file that local worker processes map.

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

LARGE = 1 << 16  # number of bytes from which an array is stored separately
ALIGNED = 64  # byte alignment of arrays that processors prefer
HEAD = struct.Struct("<Q")


class Payload:
    """An object that is called with each batch, stored in a file of the temporary folder."""

    def __init__(self, content: Any) -> None:
        self._folder = Path(mkdtemp(prefix="truerisk-"))
        self.path = str(self._folder / "parcel")
        try:
            _write(self.path, content)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the file; a worker that maps it keeps its content until it opens another one."""
        shutil.rmtree(self._folder, ignore_errors=True)


_open: dict[str, Any] = {}
"""Content of the latest file that this process has opened, by its path."""


def abandoned() -> None:
    """Remove the file in a worker whose parent was killed before it could do so."""
    for path in list(_open):
        shutil.rmtree(Path(path).parent, ignore_errors=True)


def run_payload(path: str, batch: Any) -> Any:
    """Call the content of the file with a batch, in a worker."""
    return opened(path)(batch)


def opened(path: str) -> Any:
    """Return the content of the file, which is opened for the first batch that names it."""
    if path not in _open:
        _open.clear()  # The old content is released before the next one takes memory.
        _open[path] = _read(path)
    return _open[path]


def path_of(part: Any) -> str | None:
    """Return the file from which this process has a part; None if it came in another way."""
    for path, content in _open.items():
        if any(part is other for other in content.parts):
            return path
    return None


def _write(path: str, content: Any) -> None:
    """Write the pickled content, the offsets of the arrays, and the arrays."""
    from cloudpickle import dumps  # Classes of a notebook cannot be imported from a module.

    arrays: list[memoryview] = []

    def in_band(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True
        arrays.append(raw)
        return False

    pickled = dumps(content, protocol=5, buffer_callback=in_band)
    sizes = [array.nbytes for array in arrays]
    with Path(path).open("wb") as file:
        head = pickle.dumps((pickled, sizes))
        file.write(HEAD.pack(len(head)))
        file.write(head)
        for array in arrays:
            file.seek(_aligned(file.tell()))
            file.write(array)


def _aligned(place: int) -> int:
    return -(-place // ALIGNED) * ALIGNED


def _read(path: str) -> Any:
    with Path(path).open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    (length,) = HEAD.unpack(whole[: HEAD.size])
    place = HEAD.size + length
    pickled, sizes = pickle.loads(whole[HEAD.size : place])
    arrays = []
    for size in sizes:
        place = _aligned(place)
        arrays.append(whole[place : place + size])
        place += size
    return pickle.loads(pickled, buffers=arrays)
