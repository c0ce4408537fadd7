"""The encoding of plans: a pool of blocks of rows, and row sets made of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen

ALL = -1  # the base of a row set that starts from all rows


@frozen(eq=False)
class Blocks:
    """Lists of row numbers, ascending within a block.

    `counts` holds the multiplicity of each row if a row can occur repeatedly.
    """

    rows: np.ndarray
    offsets: np.ndarray
    counts: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, block: int) -> np.ndarray:
        return self.rows[self.offsets[block] : self.offsets[block + 1]]

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of rows of each block."""
        return self.offsets[1:] - self.offsets[:-1]


@frozen(eq=False)
class RowSets:
    """Row sets over the pool of blocks: `base[s]` (a block, or ALL) minus the listed blocks."""

    base: np.ndarray
    minus: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.base)

    def without(self, s: int) -> np.ndarray:
        """Return the blocks that row set s leaves out."""
        return self.minus[self.offsets[s] : self.offsets[s + 1]]

    @cached_property
    def leave_one_block_out(self) -> bool:
        """True if every set is all rows but one block."""
        one_each = len(self.minus) == len(self.base) and self.offsets[-1] == len(self.minus)
        return bool(
            one_each
            and (self.base == ALL).all()
            and (self.offsets[1:] > self.offsets[:-1]).all()  # each set removes exactly one block
        )

    @classmethod
    def read(cls, array: Mapping[str, np.ndarray], name: str) -> RowSets:
        """Return the row sets that a stored plan holds under this name."""
        base, minus = array[f"{name}.base"].astype(np.int32), array[f"{name}.minus"]
        return cls(base, minus.astype(np.int32), array[f"{name}.offsets"].astype(np.int64))

    def take(self, which: np.ndarray) -> RowSets:
        """Select row sets by their positions."""
        offsets, inside = spread(self.offsets, which)
        return RowSets(self.base[which], self.minus[inside], offsets)


def offsets_of(lengths: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the start of each list when lists of these lengths are concatenated, and the end."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def spread(offsets: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select some of several concatenated lists: return their new offsets and their positions."""
    lengths = np.diff(offsets)[which]
    new = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(np.asarray(offsets)[which] - new[:-1], lengths) + np.arange(new[-1])
    return new, places


def covered(n_rows: int, blocks: Blocks, sets: RowSets, which: np.ndarray) -> np.ndarray:
    """Count the distinct rows that the chosen sets remove. Their blocks may overlap."""
    counts = np.empty(len(which), dtype=np.int64)
    at_once = max(1, (1 << 24) // max(1, n_rows))
    for first in range(0, len(which), at_once):
        some = which[first : first + at_once]
        offsets, places = spread(sets.offsets, some)
        lengths, rows = spread(blocks.offsets, sets.minus[places])
        of_set = np.repeat(np.repeat(np.arange(len(some)), np.diff(offsets)), np.diff(lengths))
        gone = np.zeros((len(some), n_rows), dtype=bool)
        gone[of_set, blocks.rows[rows]] = True
        counts[first : first + at_once] = gone.sum(axis=1)
    return counts


def among(block: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a mask of the `rows` that are in the ascending `block`."""
    if not len(block):
        return np.zeros(len(rows), dtype=bool)
    at = np.minimum(np.searchsorted(block, rows), len(block) - 1)
    return block[at] == rows


def places_among(some: np.ndarray | None, retained: np.ndarray) -> np.ndarray | None:
    """Return the positions in `retained` of numbers that are in `some`; None if there are none."""
    if some is None:
        return None
    places = np.flatnonzero(np.isin(retained, some)).astype(np.int32)
    return places if len(places) else None


def occurrences(ascending: np.ndarray, requested: np.ndarray) -> np.ndarray:
    """Count how often each requested key occurs in an ascending list."""
    right = np.searchsorted(ascending, requested, side="right")
    return right - np.searchsorted(ascending, requested, side="left")
