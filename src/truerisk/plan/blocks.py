"""Compact encoding of plans: a pool of blocks of rows, and row sets that are composed of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from truerisk.core.frozen import frozen

ALL = -1  # As the base of a row set, this number stands for all rows.


@frozen(eq=False)
class Blocks:
    """Concatenated blocks of row numbers, which ascend within a block.

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
    """Sets of rows, each given as a base minus some blocks.

    The base of set s is the block `base[s]`, or ALL rows. The blocks that are removed from set s
    are `minus[offsets[s]:offsets[s + 1]]`.
    """

    base: np.ndarray
    removed_blocks: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.base)

    def get_removed_blocks(self, s: int) -> np.ndarray:
        """Return the blocks that row set s leaves out."""
        return self.removed_blocks[self.offsets[s] : self.offsets[s + 1]]

    @cached_property
    def leaves_one_block_out(self) -> bool:
        """True if every set consists of all rows except one block."""
        removes_one_on_average = len(self.removed_blocks) == len(self.base) and self.offsets[
            -1
        ] == len(self.removed_blocks)
        return bool(
            removes_one_on_average
            and (self.base == ALL).all()
            and (self.offsets[1:] > self.offsets[:-1]).all()  # Each set removes exactly one block.
        )

    @classmethod
    def from_arrays(cls, array: Mapping[str, np.ndarray], name: str) -> RowSets:
        """Build row sets from the arrays of a stored plan, which are named after `name`."""
        base, minus = array[f"{name}.base"].astype(np.int32), array[f"{name}.minus"]
        return cls(base, minus.astype(np.int32), array[f"{name}.offsets"].astype(np.int64))

    def take(self, which: np.ndarray) -> RowSets:
        """Select row sets by their positions."""
        offsets, block_positions = select_lists(self.offsets, which)
        return RowSets(self.base[which], self.removed_blocks[block_positions], offsets)


def offsets_from_lengths(lengths: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return the offsets of concatenated lists, given their lengths.

    They are the start of each list, followed by the end of the last list.
    """
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def select_lists(offsets: np.ndarray, list_numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select some of several concatenated lists.

    Return the offsets of the selected lists, and the positions of their elements among all
    elements.
    """
    lengths = np.diff(offsets)[list_numbers]
    new_offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    element_positions = np.repeat(
        np.asarray(offsets)[list_numbers] - new_offsets[:-1], lengths
    ) + np.arange(new_offsets[-1])
    return new_offsets, element_positions


def count_removed_rows(
    n_rows: int, blocks: Blocks, row_sets: RowSets, set_numbers: np.ndarray
) -> np.ndarray:
    """Return the number of distinct rows that each of the chosen row sets removes.

    The blocks that a row set removes may overlap.
    """
    counts = np.empty(len(set_numbers), dtype=np.int64)
    batch_size = max(1, (1 << 24) // max(1, n_rows))
    for batch_start in range(0, len(set_numbers), batch_size):
        batch = set_numbers[batch_start : batch_start + batch_size]
        offsets, block_positions = select_lists(row_sets.offsets, batch)
        row_offsets, row_positions = select_lists(
            blocks.offsets, row_sets.removed_blocks[block_positions]
        )
        set_of_row = np.repeat(
            np.repeat(np.arange(len(batch)), np.diff(offsets)), np.diff(row_offsets)
        )
        is_removed = np.zeros((len(batch), n_rows), dtype=bool)
        is_removed[set_of_row, blocks.rows[row_positions]] = True
        counts[batch_start : batch_start + batch_size] = is_removed.sum(axis=1)
    return counts


def is_in_block(block: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a mask of the `rows` that are in `block`; the rows of the block must ascend."""
    if not len(block):
        return np.zeros(len(rows), dtype=bool)
    block_positions = np.minimum(np.searchsorted(block, rows), len(block) - 1)
    return block[block_positions] == rows


def find_positions(
    searched_numbers: np.ndarray | None, retained_numbers: np.ndarray
) -> np.ndarray | None:
    """Return where `retained_numbers` contains searched numbers, or None if it contains none."""
    if searched_numbers is None:
        return None
    found_positions = np.flatnonzero(np.isin(retained_numbers, searched_numbers)).astype(np.int32)
    return found_positions if len(found_positions) else None


def count_occurrences(sorted_keys: np.ndarray, requested_keys: np.ndarray) -> np.ndarray:
    """Return how often each requested key occurs in an ascending list."""
    end_positions = np.searchsorted(sorted_keys, requested_keys, side="right")
    return end_positions - np.searchsorted(sorted_keys, requested_keys, side="left")
