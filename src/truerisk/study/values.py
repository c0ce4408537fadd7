"""Plain values as one text, its hash and seeds from it; results as they are stored.

The hash is a key. A result is stored as JSON, its arrays as .npy bytes one after the other.

Nothing is pickled, neither written nor read.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from truerisk.core.errors import BadStore
from truerisk.core.frozen import frozen


def canonical(content: Any) -> str:
    """The one way to write a plain value: sorted names, no spaces, no NaN.

    >>> canonical({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(content: Any) -> str:
    """The hash of a plain value: equal contents have equal keys, on any machine.

    >>> key_of({"n": 30, "method": "loo"}) == key_of({"method": "loo", "n": 30})
    True
    """
    return hash_of(canonical(content))


def hash_of(text: str) -> str:
    """The same of a value as `canonical` wrote it."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def seed_of(*parts: Any) -> int:
    """A seed of 63 bits from a key and whatever tells replicates apart."""
    digest = hashlib.blake2b(canonical(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def digest_of(array: np.ndarray) -> str:
    """The hash of an array: its type, its shape and its bytes in row order."""
    content = np.ascontiguousarray(array)  # of a single number it makes an array of one
    shape = np.shape(array)
    digest = hashlib.blake2b(f"{content.dtype.str}{shape}".encode(), digest_size=16)
    digest.update(content.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


ARRAYS = "arrays"  # under this name the text lists the arrays, in the order of their bytes


@frozen
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
