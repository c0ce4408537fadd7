"""Five numbers that a box plot draws."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["five_numbers"]


def five_numbers(values: Any) -> tuple[float, float, float, float, float]:
    """Tukey's box: whiskers to the last value within 1.5 quartile distances, quartiles, median.

    >>> five_numbers([1, 2, 3, 4, 5, 20])
    (1.0, 2.25, 3.5, 4.75, 5.0)
    """
    given = np.sort(np.asarray(values, dtype=np.float64))
    first, middle, third = np.quantile(given, [0.25, 0.5, 0.75])
    reach = 1.5 * (third - first)
    inside = given[(given >= first - reach) & (given <= third + reach)]
    return float(inside[0]), float(first), float(middle), float(third), float(inside[-1])
