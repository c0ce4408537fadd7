"""Sparse tables as dense ones, where an engine goes through them so.

Which arithmetic the learner has for a sparse table is the engine's business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.preparation.prepared import OwnArithmetic

__all__ = ["as_dense", "is_bearable"]

MOST = 2**25  # cells: 256 MiB
ALWAYS = 2**20  # so few cells are made in no time, however empty
PER_NUMBER = 100  # cells for one that is not 0: writing more zeros takes longer than fits without


def is_bearable(table: Any) -> bool:
    """Whether a table is dense, or neither too large nor too empty to be made so."""
    if not hasattr(table, "toarray"):
        return True
    cells = int(np.prod(table.shape, dtype=np.float64))
    return cells <= MOST and cells <= max(ALWAYS, PER_NUMBER * table.nnz)


def as_dense(table: Any) -> Any:
    """The table without gaps; one that is not bearable is the learner's business."""
    if not is_bearable(table):
        raise OwnArithmetic("sparse, and too large or too empty")
    return table.toarray() if hasattr(table, "toarray") else table
