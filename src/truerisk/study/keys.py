"""What determines a result, as one text; its hash is the key, and seeds are drawn from it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

__all__ = ["canonical", "digest_of", "hash_of", "key_of", "seed_of"]


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
    found = hashlib.blake2b(f"{content.dtype.str}{shape}".encode(), digest_size=16)
    found.update(content.reshape(-1).view(np.uint8).data)
    return found.hexdigest()
