"""Which labels change places: of all rows, or of groups that stay whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.core.table.data import Data

__all__ = ["Orders"]


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders of the labels: row i is given the label of row `of(number)[i]`.

    Labels are exchangeable between rows, and between groups where there are groups. Where all rows
    of a group have one label, the labels of groups change places (`what` is "labels of groups").
    Where they differ, all labels of a group go to another one of the same size, in their order
    ("groups of equal size"). Order `number` has a stream of random numbers of its own.
    """

    what: str
    labels: np.ndarray  # of each row the place of what it belongs to: a row, or a group
    first: np.ndarray  # of each of these its first row, or all of its rows one after the other
    blocks: tuple[np.ndarray, ...]  # of those that change places with each other
    seed: int

    @classmethod
    def of(cls, data: Data, seed: int) -> Orders:
        """The orders that the data allow; refused where no label can change its place."""
        _refuse_one_value(data)
        if data.groups is None:
            every = np.arange(data.n_rows)
            return cls("rows", every, every, (every,), seed)
        names, first, member = np.unique(data.groups, return_index=True, return_inverse=True)
        member = member.ravel()
        if (data.y == data.y[first[member]]).all():
            return cls("labels of groups", member, first, (np.arange(len(names)),), seed)
        return cls._of_equal_groups(member, seed)

    @classmethod
    def _of_equal_groups(cls, member: np.ndarray, seed: int) -> Orders:
        """Every group hands its labels, in their order, to another one of its size."""
        sizes = np.bincount(member)
        blocks = tuple(np.flatnonzero(sizes == size) for size in np.unique(sizes))
        if all(len(block) == 1 for block in blocks):
            raise BadData(
                f"the {len(sizes)} groups all differ in size and hold several labels each, so no "
                "group can take over the labels of another one and there is nothing to permute: "
                "test without groups only where rows are independent."
            )
        by_group = np.argsort(member, kind="stable")
        return cls("groups of equal size", member, by_group, blocks, seed)

    @property
    def n_units(self) -> int:
        """How many rows, or groups, have others to change places with."""
        return sum(len(block) for block in self.blocks if len(block) > 1)

    def of_number(self, number: int) -> np.ndarray:
        """Of each row the row whose label it is given, in permutation `number` (from 0 on)."""
        rng = Streams(self.seed).get(f"permutation {number}")
        taken = np.empty(sum(map(len, self.blocks)), dtype=np.int64)
        for block in self.blocks:
            taken[block] = rng.permutation(block)
        if self.what != "groups of equal size":
            found: np.ndarray = self.first[taken[self.labels]]
            return found
        sizes = np.bincount(self.labels)
        starts = np.cumsum(sizes) - sizes
        inside = np.empty(len(self.labels), dtype=np.int64)  # the place of a row in its group
        inside[self.first] = np.arange(len(self.labels)) - starts[self.labels[self.first]]
        return np.asarray(self.first[starts[taken[self.labels]] + inside])


def _refuse_one_value(data: Data) -> None:
    if data.task == "other":
        raise BadData("there is no target to permute: give a classifier or a regressor and its y.")
    if (data.y == data.y[:1]).all():
        raise BadData(
            "y has one value only: every permutation of it is y itself, and nothing can be tested."
        )
