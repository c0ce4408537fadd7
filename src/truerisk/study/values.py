"""Results as they are stored: plain values as JSON, arrays as .npy bytes one after the other.

Nothing is pickled, neither written nor read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.errors import BadStore

__all__ = ["Packed", "pack", "unpack"]

ARRAYS = "arrays"  # under this name the text lists the arrays, in the order of their bytes


@dataclass(frozen=True)
class Packed:
    """One result, ready for the store."""

    text: str
    npy: bytes | None = None


def pack(content: Mapping[str, Any]) -> Packed:
    """Arrays and NumPy numbers become .npy bytes; all else must be JSON.

    A value that neither can say (an object, NaN outside of arrays) is an error, so that what is
    read back is what was found.
    """
    arrays = {k: v for k, v in content.items() if isinstance(v, np.ndarray | np.generic)}
    plain = {k: v for k, v in content.items() if k not in arrays}
    if ARRAYS in plain:
        raise ValueError(f"a result cannot be named {ARRAYS!r}.")
    if not arrays:
        return Packed(json.dumps(plain, allow_nan=False))
    stream = io.BytesIO()
    for array in arrays.values():
        np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return Packed(json.dumps({**plain, ARRAYS: list(arrays)}, allow_nan=False), stream.getvalue())


def unpack(text: str, npy: bytes | None) -> dict[str, Any]:
    """What `pack` was given; NumPy numbers come back as arrays without axes."""
    try:
        content = json.loads(text)
        stream = io.BytesIO(npy or b"")
        for name in content.pop(ARRAYS, ()):
            content[name] = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:  # noqa: BLE001  whatever a changed header makes NumPy read
        raise BadStore(f"a stored result cannot be read ({error}): the file was changed.") from None
    return content
