"""How a cost grows: the exponent p of cost ~ n^p, fitted to measurements at several n."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["exponent"]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Slope of the least-squares line of log cost on log n.

    >>> exponent([10, 20, 40], [3.0, 12.0, 48.0])
    2.0
    """
    n, cost = np.asarray(sizes, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    if n.shape != cost.shape or len(np.unique(n)) < 2:
        raise ValueError("an exponent needs one cost for each of two or more different sizes.")
    if not (n > 0).all() or not (cost > 0).all():
        raise ValueError("an exponent needs sizes and costs above 0.")
    slope = np.polyfit(np.log(n), np.log(cost), 1)[0]
    return round(float(slope), 6)
