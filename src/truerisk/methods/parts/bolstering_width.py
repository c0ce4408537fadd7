"""The kernel width of bolstered error estimates."""

from __future__ import annotations

import numpy as np

from truerisk.core.errors import Refusal

__all__ = ["kernel_width"]

_BLOCK = 2_000_000  # distances held at a time


def kernel_width(rows: np.ndarray) -> float:
    """The mean distance to the nearest other row over the median of the chi distribution."""
    from scipy.special import chdtri

    n, p = rows.shape
    if n < 2:
        raise Refusal(
            "method 'bolstered' takes its kernel width from the distances within a class, and a "
            "class has one training row: use 'bee'."
        )
    squares = (rows**2).sum(axis=1)
    nearest = np.empty(n)
    step = max(1, _BLOCK // n)
    for start in range(0, n, step):
        part = rows[start : start + step]
        gaps = squares - 2 * part @ rows.T  # squared distances, less what a row shares
        gaps[np.arange(len(part)), np.arange(start, start + len(part))] = np.inf
        at = gaps.argmin(axis=1)  # the distance anew: differences of squares lose digits
        nearest[start : start + step] = np.sqrt(((part - rows[at]) ** 2).sum(axis=1))
    return float(nearest.mean() / np.sqrt(chdtri(max(p, 1), 0.5)))
