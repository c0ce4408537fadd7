"""When two risks are the same: one rule for choosing, ranking and bootstrapped choosing."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["TIE", "tied"]

TIE = 1e-12  # sums of equal fold risks in another order differ by less


def tied(risks: Any, least: Any) -> Any:
    """Whether risks are as small as the least; relative, so that no unit of a loss counts.

    >>> tied(np.array([0.3, 0.1 + 1e-14, 0.1]), 0.1).tolist()
    [False, True, True]
    >>> bool(tied(3e-14, 1e-14))
    False
    """
    return risks <= least + TIE * np.abs(least)
