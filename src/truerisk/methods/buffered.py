"""Blocks with a buffer: a block is tested by a model that saw nothing near it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.arguments import check_count
from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import Average, check_average
from truerisk.methods.parts.in_space import InSpace, check_length, said, told_of_classes
from truerisk.resampling.blocks import block_folds, blocks_of, rows_within, side_of

__all__ = ["Buffered"]


@dataclass(frozen=True)
class Buffered(InSpace):
    """Each block is tested by the model fitted on all rows further than `radius` from it.

    The blocks are those of `Blocks`, left out one by one, or in `k` folds of them. No training row
    lies within `radius` of a tested one (None: the side of a cell). `block=` must be coordinates,
    and distances are Euclidean in their unit.

    Le Rest K et al. (2014). Spatial leave-one-out cross-validation for variable selection in the
    presence of spatial autocorrelation. Global Ecology and Biogeography 23:811–820.
    """

    radius: float | None = None
    k: int | None = None
    size: float | None = None
    average: Average | None = None

    def __post_init__(self) -> None:
        check_average(self.average)
        check_length("radius", self.radius, least=0)
        check_length("size", self.size)
        if self.k is not None:
            check_count("k", self.k, 2, "folds of blocks need a whole number K >= 2, or None")

    @property
    def word(self) -> str:
        return f"buffered{said(folds=self.k, radius=self.radius, size=self.size)}"

    @property
    def bias(self) -> str:
        apart = "the side of a cell" if self.radius is None else f"{self.radius:g}"
        return (
            f"the risk at places further than {apart} from all training rows: pessimistic for "
            "nearer places, and by the rows that the buffer takes from training"
        )

    def plan(self, data: Data, streams: Streams) -> Plan:
        side = side_of(data, self.size)  # labels are refused here
        radius = side if self.radius is None else float(self.radius)
        folds = blocks_of(data, self.size)
        if self.k is not None:
            rng = streams.get("folds")
            folds = block_folds(data, self.k, self.size, rng, stratify=True)
        builder = PlanBuilder(data.n_rows)
        for fold, block in enumerate(builder.partition(folds)):
            tested = np.flatnonzero(folds == fold)
            near = rows_within(data, tested, radius)
            if len(tested) + len(near) == data.n_rows:
                raise BadData(
                    f"radius={radius:g} leaves no row to train on when block {fold} is tested, "
                    f"with {len(tested)} of {data.n_rows} rows: give a smaller radius."
                )
            minus = (block, builder.block(near)) if len(near) else (block,)
            builder.ask(train=(ALL, minus), test=(block, ()), fold=fold)
        return told_of_classes(builder.build(), data)
