"""Warnings about rows that stand on both sides of a split: copies of a row, rows of one group."""

from __future__ import annotations

import warnings

import numpy as np

from truerisk.core.contracts import Method
from truerisk.core.data import Data
from truerisk.core.errors import DuplicateRowsWarning, GroupLeakWarning
from truerisk.core.plan import Plan
from truerisk.methods.tuning import asks_own_rows

__all__ = ["warn_of_leaks"]


def warn_of_leaks(data: Data, method: Method, plan: Plan) -> None:
    """Count tested rows whose copy, or whose group, was in the training set."""
    if not method.splits and plan.out_of_bag is None and plan.taken_out is None:
        return
    if data.groups is not None:
        leaking = _straddling(plan, data.groups)
        if len(leaking):
            warnings.warn(
                f"groups are given but method '{method.word}' ignores them: {len(leaking)} rows "
                f"(first: row {leaking[0]}) are tested by models that saw their group. "
                "The estimate is too good; use a word such as '10-fold' or a Group splitter.",
                GroupLeakWarning,
                stacklevel=4,
            )
    keys = data.row_keys
    if keys is None or int(keys.max()) + 1 == len(keys):
        return
    leaking = _straddling(plan, keys)
    if len(leaking):
        warnings.warn(
            f"{len(leaking)} rows of X (first: row {leaking[0]}) have an exact copy in a training "
            "set that they test: if they are copies of one case the estimate is too good. "
            "Remove the copies, or give groups=.",
            DuplicateRowsWarning,
            stacklevel=4,
        )


def _straddling(plan: Plan, keys: np.ndarray) -> np.ndarray:
    """Tested rows that leak; a fit that is asked for its apparent risk was asked on purpose."""
    leaking = plan.straddling(keys)
    if not len(leaking):
        return leaking
    own = asks_own_rows(plan)
    for left_out in (plan.out_of_bag, plan.taken_out):
        if left_out is not None:
            own[left_out] = False
    return plan.only(np.flatnonzero(~own)).straddling(keys) if own.any() else leaking
