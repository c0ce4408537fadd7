"""Sparse tables as dense ones, on which the solver of LogisticRegression is followed.

scikit-learn takes the same sums of products over fewer cells, so only rounding tells the two apart,
and that is allowed for (`stops.py`). The kernel leaves out what is 0 of columns that mostly are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.templates.prepared import OwnArithmetic

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
