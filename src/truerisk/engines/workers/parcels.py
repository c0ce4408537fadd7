"""What all batches of a run share, for worker processes of this machine: one file, which they map.

Pickle leaves large arrays to the file as they lie in memory, those inside of frames and sparse
matrices, too; a worker maps them, so that all workers together hold them once. A batch then names
the file. Whoever writes into a mapped array changes a copy of those bytes, which no other process
sees.
"""

from __future__ import annotations

import mmap
import pickle
import shutil
import struct
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

LARGE = 1 << 16  # bytes of an array that is worth a place of its own
ALIGNED = 64  # bytes that processors like arrays to start at
HEAD = struct.Struct("<Q")


class Parcel:
    """What is called with each batch, in a file of the temporary folder."""

    def __init__(self, content: Any) -> None:
        self._folder = Path(mkdtemp(prefix="truerisk-"))
        self.path = str(self._folder / "parcel")
        try:
            _write(self.path, content)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """The name goes; a worker that maps the content keeps it until it opens another parcel."""
        shutil.rmtree(self._folder, ignore_errors=True)


_open: dict[str, Any] = {}
"""The content of the latest parcel that this process has opened, by its path."""


def abandoned() -> None:
    """In a worker whose parent was killed, which would have removed the file."""
    for path in list(_open):
        shutil.rmtree(Path(path).parent, ignore_errors=True)


def run_parcel(path: str, batch: Any) -> Any:
    """What a worker does: it calls the content of the parcel with a batch."""
    return opened(path)(batch)


def opened(path: str) -> Any:
    """The content of a parcel; the first batch that names it opens it."""
    if path not in _open:
        _open.clear()  # before the next one takes memory
        _open[path] = _read(path)
    return _open[path]


def path_of(part: Any) -> str | None:
    """The parcel from which this process has a part; None where it came in another way."""
    for path, content in _open.items():
        if any(part is other for other in content.parts):
            return path
    return None


def _write(path: str, content: Any) -> None:
    """The pickled content, where each array lies, and the arrays."""
    from cloudpickle import dumps  # classes of a notebook have no module to be imported from

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
