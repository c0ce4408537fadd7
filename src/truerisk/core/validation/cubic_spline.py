"""Restricted cubic splines: curves of a few knots, straight beyond the outer ones."""

from __future__ import annotations

import numpy as np

__all__ = ["knot_shares", "spline_columns"]

QUANTILES = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95)}
FEW = 100  # rows from which four knots are used


def knot_shares(n_rows: int) -> tuple[float, ...]:
    """Harrell's quantiles for 4 knots, or 3 where there are fewer than 100 rows.

    >>> knot_shares(101)
    (0.05, 0.35, 0.65, 0.95)
    """
    return QUANTILES[3 if n_rows < FEW else 4]


def spline_columns(values: np.ndarray, knots: np.ndarray) -> np.ndarray:
    r"""`(n, k)` columns: 1, x, and `k − 2` cubic terms (Harrell 2015, section 2.4.5).

    With knots t₁ < ... < t_k the j-th is `(x−t_j)₊³ − (x−t_{k−1})₊³ (t_k−t_j)/(t_k−t_{k−1}) +
    (x−t_k)₊³ (t_{k−1}−t_j)/(t_k−t_{k−1})`, over `(t_k−t₁)²`. Fewer than 3 knots give a line.
    """
    lines = [np.ones(len(values)), values]
    if len(knots) > 2:
        cubed = np.maximum(values[:, None] - knots, 0) ** 3
        *early, last_but_one, last = knots
        gap = last - last_but_one
        for j, knot in enumerate(early):
            bend = cubed[:, j] - cubed[:, -2] * (last - knot) / gap
            bend += cubed[:, -1] * (last_but_one - knot) / gap
            lines.append(bend / (last - knots[0]) ** 2)
    return np.column_stack(lines)
