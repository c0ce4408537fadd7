"""Warnings about rows that stand on both sides of a split: copies of a row, rows of one group."""

from __future__ import annotations

import warnings

from truerisk.core.contracts import Method
from truerisk.core.errors import DuplicateRowsWarning, GroupLeakWarning
from truerisk.core.plan.leaks import cut_groups, split_copies
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["warn_of_leaks"]


def warn_of_leaks(data: Data, method: Method, plan: Plan) -> None:
    """Count tested rows whose copy, or whose group, was in the training set."""
    leaking = cut_groups(data, plan)
    if len(leaking):
        warnings.warn(
            f"groups are given but method '{method.word}' ignores them: {len(leaking)} rows "
            f"(first: row {leaking[0]}) are tested by models that saw their group. "
            "The estimate is too good; use a word such as '10-fold' or a Group splitter.",
            GroupLeakWarning,
            stacklevel=4,
        )
    leaking = split_copies(data, plan)
    if len(leaking):
        warnings.warn(
            f"{len(leaking)} rows of X (first: row {leaking[0]}) have an exact copy in a training "
            "set that they test: if they are copies of one case the estimate is too good. "
            "Remove the copies, or give groups=.",
            DuplicateRowsWarning,
            stacklevel=4,
        )
