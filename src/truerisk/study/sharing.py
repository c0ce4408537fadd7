"""Large arrays travel once: a memory-mapped file for processes here, a scatter on a cluster.

A task names its arrays by position; their bytes are never part of it. Whoever receives them may
read them only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.study.keys import digest_of

__all__ = ["Mapped", "frozen", "mapped", "received"]


@dataclass(frozen=True)
class Mapped:
    """An array in a file that every process of this machine can map."""

    path: str


def mapped(arrays: Sequence[np.ndarray], folder: Path) -> list[Mapped]:
    """The arrays as files of `folder`, named by their content: written only where not there yet."""
    found = []
    for array in arrays:
        path = folder / f"{digest_of(array)}.npy"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}")
            with draft.open("wb") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
            draft.replace(path)  # at once: no one reads half of a file
        found.append(Mapped(str(path.resolve())))
    return found


def frozen(array: np.ndarray) -> np.ndarray:
    """The same array, not to be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def received(arrays: Sequence[Any]) -> list[np.ndarray]:
    """The arrays in the process that works on them."""
    return [_opened(a.path) if isinstance(a, Mapped) else frozen(a) for a in arrays]


@lru_cache(maxsize=32)
def _opened(path: str) -> np.ndarray:
    return np.load(path, mmap_mode="r", allow_pickle=False)
