"""Keys, seeds and stored results: conversion of plain values and arrays to text, hashes and bytes.

A key is the hash of a plain value's text. A result is stored as JSON, with its arrays as
consecutive .npy bytes.

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


def to_canonical_json(plain_value: Any) -> str:
    """Return the JSON text of a plain value in canonical form: sorted keys, no spaces, no NaN.

    >>> to_canonical_json({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    return json.dumps(plain_value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def hash_plain_value(plain_value: Any) -> str:
    """Return the hash of a plain value; equal contents have equal keys on any machine.

    >>> hash_plain_value({"n": 30, "method": "loo"}) == hash_plain_value({"method": "loo", "n": 30})
    True
    """
    return hash_text(to_canonical_json(plain_value))


def hash_text(text: str) -> str:
    """Return the hash of a text, which `to_canonical_json` has written."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def derive_seed(*seed_components: Any) -> int:
    """Return a seed of 63 bits, the hash of plain values such as a problem and a replicate."""
    digest = hashlib.blake2b(to_canonical_json(seed_components).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def hash_array(array: np.ndarray) -> str:
    """Return the hash of an array's dtype, its shape and its bytes in row order."""
    contiguous_array = np.ascontiguousarray(array)  # A scalar becomes an array of one element here.
    shape = np.shape(array)
    digest = hashlib.blake2b(f"{contiguous_array.dtype.str}{shape}".encode(), digest_size=16)
    digest.update(contiguous_array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


ARRAY_NAMES_KEY = (
    "arrays"  # Under this key, the text of a result lists the names of its arrays in order.
)


@frozen
class PackedResult:
    """A result as it is stored: JSON text, and its arrays as .npy bytes."""

    text: str
    npy: bytes | None = None


def pack_result(result_content: Mapping[str, Any]) -> PackedResult:
    """Convert a result to JSON text, and its arrays and NumPy numbers to .npy bytes.

    A value that neither format supports, such as an object or NaN outside of arrays, raises an
    error, so that values are restored exactly.
    """
    arrays = {
        name: value
        for name, value in result_content.items()
        if isinstance(value, np.ndarray | np.generic)
    }
    plain_values = {name: value for name, value in result_content.items() if name not in arrays}
    if ARRAY_NAMES_KEY in plain_values:
        raise ValueError(f"a result cannot be named {ARRAY_NAMES_KEY!r}.")
    if not arrays:
        return PackedResult(json.dumps(plain_values, allow_nan=False))
    npy_stream = io.BytesIO()
    for array in arrays.values():
        np.lib.format.write_array(npy_stream, np.asarray(array), allow_pickle=False)
    return PackedResult(
        json.dumps({**plain_values, ARRAY_NAMES_KEY: list(arrays)}, allow_nan=False),
        npy_stream.getvalue(),
    )


def unpack_result(result_text: str, npy_bytes: bytes | None) -> dict[str, Any]:
    """Restore the result that `pack_result` converted; NumPy numbers become arrays without axes."""
    try:
        result_content = json.loads(result_text)
        npy_stream = io.BytesIO(npy_bytes or b"")
        for name in result_content.pop(ARRAY_NAMES_KEY, ()):
            result_content[name] = np.lib.format.read_array(npy_stream, allow_pickle=False)
    # If the bytes of an array were changed, NumPy may raise an error of any class.
    except Exception as error:  # noqa: BLE001  Changed bytes may raise an error of any class.
        raise BadStore(f"a stored result cannot be read ({error}): the file was changed.") from None
    return result_content
