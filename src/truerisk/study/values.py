"""Plain values as text, with hashes and seeds of it; results in the form in which they are stored.

The hash is a key. A result is stored as JSON, with its arrays as consecutive .npy bytes.

Nothing is pickled or unpickled.
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
    """Return the canonical text of a plain value: sorted names, no spaces, no NaN.

    >>> canonical({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(content: Any) -> str:
    """Return the hash of a plain value; equal contents have equal keys on any machine.

    >>> key_of({"n": 30, "method": "loo"}) == key_of({"method": "loo", "n": 30})
    True
    """
    return hash_of(canonical(content))


def hash_of(text: str) -> str:
    """Return the hash of a value that `canonical` has written."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def seed_of(*parts: Any) -> int:
    """Return a seed of 63 bits from a key and the identity of a replicate."""
    digest = hashlib.blake2b(canonical(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def digest_of(array: np.ndarray) -> str:
    """Return the hash of an array: its type, its shape and its bytes in row order."""
    content = np.ascontiguousarray(array)  # This turns a single number into an array of one.
    shape = np.shape(array)
    digest = hashlib.blake2b(f"{content.dtype.str}{shape}".encode(), digest_size=16)
    digest.update(content.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


ARRAYS = "arrays"  # key under which the text lists the arrays, in the order of their bytes


@frozen
class Packed:
    """One result in the form in which it is stored."""

    text: str
    npy: bytes | None = None


def pack(content: Mapping[str, Any]) -> Packed:
    """Convert arrays and NumPy numbers to .npy bytes; everything else must be JSON.

    A value that neither supports (an object, NaN outside of arrays) is an error, so that values are
    restored exactly.
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
    """Restore what `pack` was given; NumPy numbers become arrays without axes."""
    try:
        content = json.loads(text)
        stream = io.BytesIO(npy or b"")
        for name in content.pop(ARRAYS, ()):
            content[name] = np.lib.format.read_array(stream, allow_pickle=False)
    # A changed header may cause any error in NumPy.
    except Exception as error:  # noqa: BLE001  A changed header may make NumPy raise anything.
        raise BadStore(f"a stored result cannot be read ({error}): the file was changed.") from None
    return content
