"""When two risks are the same: one rule for choosing, ranking and bootstrapped choosing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["TIE", "tied", "tied_groups"]

TIE = 1e-12  # sums of equal fold risks in another order differ by less


def tied(risks: Any, least: Any) -> Any:
    """Whether risks are as small as the least; relative, so that no unit of a loss counts.

    >>> tied(np.array([0.3, 0.1 + 1e-14, 0.1]), 0.1).tolist()
    [False, True, True]
    >>> bool(tied(3e-14, 1e-14))
    False
    """
    return risks <= least + TIE * np.abs(least)


def tied_groups(risks: Sequence[float]) -> list[list[int]]:
    """Positions from the smallest risk on, those that are tied together and in their own order.

    >>> tied_groups([0.3, 0.1 + 1e-14, 0.1, float("inf")])
    [[1, 2], [0], [3]]
    """
    groups: list[list[int]] = []
    for at in np.argsort(risks, kind="stable").tolist():
        if groups and tied(risks[at], risks[groups[-1][0]]):
            groups[-1].append(at)
        else:
            groups.append([at])
    return [sorted(group) for group in groups]
