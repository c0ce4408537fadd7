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

MIN_SEPARATE_BYTES = 1 << 16  # Arrays with at least this many bytes are stored outside the pickle.
ALIGNMENT_BYTES = 64  # Arrays start at multiples of this many bytes, which processors read faster.
HEADER_LENGTH_FORMAT = struct.Struct("<Q")


class Payload:
    """Temporary file with the function that workers call with each batch, and its shared data."""

    def __init__(self, shared_object: Any) -> None:
        self._folder = Path(mkdtemp(prefix="truerisk-"))
        self.path = str(self._folder / "parcel")
        try:
            _write(self.path, shared_object)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the payload file; its content stays readable for workers that have opened it."""
        shutil.rmtree(self._folder, ignore_errors=True)


_open_payloads: dict[str, Any] = {}
"""Content of the latest payload file that this process has opened, by the path of the file."""


def remove_payload_files() -> None:
    """Remove the payload files that a killed parent process left behind; called in its worker."""
    for path in list(_open_payloads):
        shutil.rmtree(Path(path).parent, ignore_errors=True)


def run_payload(path: str, batch: Any) -> Any:
    """Call the function stored in a payload file with a batch, in a worker process."""
    return open_payload(path)(batch)


def open_payload(path: str) -> Any:
    """Return the content of a payload file. The content of the latest file is kept in memory."""
    if path not in _open_payloads:
        _open_payloads.clear()  # The old content is released before the new content takes memory.
        _open_payloads[path] = _read_payload(path)
    return _open_payloads[path]


def find_payload_path(shared_argument: Any) -> str | None:
    """Return the payload file from which this process read an object, or None."""
    for path, payload in _open_payloads.items():
        if any(shared_argument is argument for argument in payload.shared_arguments):
            return path
    return None


def _write(path: str, payload: Any) -> None:
    """Write the pickled content to a file, followed by the large arrays.

    The header of the file holds the sizes of the arrays.
    """
    # cloudpickle is needed because workers cannot import classes of a notebook.
    from cloudpickle import dumps

    arrays: list[memoryview] = []

    def in_band(buffer: pickle.PickleBuffer) -> bool:
        raw_bytes = buffer.raw()
        if raw_bytes.nbytes < MIN_SEPARATE_BYTES:
            return True
        arrays.append(raw_bytes)
        return False

    pickled_bytes = dumps(payload, protocol=5, buffer_callback=in_band)
    array_sizes = [array.nbytes for array in arrays]
    with Path(path).open("wb") as file:
        header = pickle.dumps((pickled_bytes, array_sizes))
        file.write(HEADER_LENGTH_FORMAT.pack(len(header)))
        file.write(header)
        for array in arrays:
            file.seek(_aligned_position(file.tell()))
            file.write(array)


def _aligned_position(file_position: int) -> int:
    return -(-file_position // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _read_payload(path: str) -> Any:
    with Path(path).open("rb") as file:
        file_bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    (header_length,) = HEADER_LENGTH_FORMAT.unpack(file_bytes[: HEADER_LENGTH_FORMAT.size])
    file_position = HEADER_LENGTH_FORMAT.size + header_length
    pickled_bytes, array_sizes = pickle.loads(file_bytes[HEADER_LENGTH_FORMAT.size : file_position])
    arrays = []
    for array_size in array_sizes:
        file_position = _aligned_position(file_position)
        arrays.append(file_bytes[file_position : file_position + array_size])
        file_position += array_size
    return pickle.loads(pickled_bytes, buffers=arrays)
