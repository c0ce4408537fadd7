"""Spatial blocks: neighbouring rows are left out together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truerisk.core.arguments import check_count, check_flag
from truerisk.core.contracts import Streams
from truerisk.core.plan.partitions import leave_out
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import Average, check_average
from truerisk.methods.parts.in_space import InSpace, check_length, said, told_of_classes
from truerisk.resampling.blocks import block_folds

__all__ = ["Blocks"]


@dataclass(frozen=True)
class Blocks(InSpace):
    """K folds of whole blocks: each is tested by the model fitted on the rows of the others.

    Rows near each other are alike, so that a model which saw the neighbours of a row is tested on
    what it half knows. `block=` says where rows lie. Of coordinates the blocks are the cells of a
    grid of side `size` (None: 25 squares cover the box around the places), which is stretched so
    that whole cells cover the box, as in verde; of labels each is a block, and so is every group
    with all cells that it reaches into. Blocks are dealt to folds of about equal size, `stratify`
    by class as well.

    Roberts DR et al. (2017). Cross-validation strategies for data with temporal, spatial,
    hierarchical, or phylogenetic structure. Ecography 40:913–929.
    """

    k: int = 5
    size: float | None = None
    stratify: bool = True
    average: Average | None = None

    has_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)
        check_count("k", self.k, 2, "folds of blocks need a whole number K >= 2")
        check_length("size", self.size)
        check_flag("stratify", self.stratify)

    @property
    def word(self) -> str:
        return f"blocks-{self.k}{said(size=self.size)}"

    @property
    def bias(self) -> str:
        return (
            f"the risk at places outside the training blocks, by {self.k - 1}/{self.k} of the "
            "rows: pessimistic for places among the training rows, optimistic for places further "
            "from them than a block reaches"
        )

    def plan(self, data: Data, streams: Streams) -> Plan:
        rng = streams.get("folds")
        folds = block_folds(data, self.k, self.size, rng, stratify=self.stratify)
        return told_of_classes(leave_out(data.n_rows, [folds]), data)
