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
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

__all__ = ["Parcel", "abandoned", "run_parcel"]

LARGE = 1 << 16  # bytes of an array that is worth a place of its own
ALIGNED = 64  # bytes that processors like arrays to start at
HEAD = struct.Struct("<Q")


class Parcel:
    """A task and what it is given besides a batch, in a file of the temporary folder."""

    def __init__(self, task: Callable[..., Any], shared: tuple[Any, ...]) -> None:
        self._folder = Path(mkdtemp(prefix="truerisk-"))
        self.path = str(self._folder / "parcel")
        try:
            _write(self.path, (task, shared))
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """The name goes; a worker that maps the content keeps it until it opens another parcel."""
        shutil.rmtree(self._folder, ignore_errors=True)


_latest: list[Path] = []


def abandoned() -> None:
    """In a worker whose parent was killed, which would have removed the file."""
    for path in _latest:
        shutil.rmtree(path.parent, ignore_errors=True)


def run_parcel(path: str, batch: Any) -> Any:
    """What a worker does: the task of the parcel, on a batch."""
    task, shared = _opened(path)
    return task(*shared, batch)


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


@lru_cache(maxsize=1)
def _opened(path: str) -> Any:
    """The content of the latest parcel, opened by the first batch that names it."""
    _latest[:] = [Path(path)]
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
