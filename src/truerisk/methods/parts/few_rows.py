"""Whether a mean loss rests on a few rows: then no interval knows what other rows would add."""

from __future__ import annotations

import numpy as np

from truerisk.core.losses import Loss

__all__ = ["few_rows_note"]

SHARE = 1 / 3  # of the total; of 50 normal errors the largest square has a seventh
FEWEST = 20  # rows; of fewer the largest has much of any total


def few_rows_note(loss: Loss, losses: np.ndarray, weights: np.ndarray) -> tuple[str, ...]:
    """Said where the largest 1 % of the rows carry more than a third of a loss without a bound.

    >>> from truerisk.core.losses import Squared
    >>> few_rows_note(Squared(), np.r_[np.ones(99), 60.0], np.full(100, 0.01))[0][:63]
    'the largest row of 100 carries 38% of the squared loss: value a'
    >>> few_rows_note(Squared(), np.ones(100), np.full(100, 0.01))
    ()
    """
    n = len(losses)
    if loss.upper is not None or n < FEWEST or not np.isfinite(losses).all():
        return ()
    parts = np.sort(losses * weights)
    few, total = -(-n // 100), float(parts.sum())
    share = float(parts[-few:].sum()) / total if total > 0 else 0.0
    if parts[0] < 0 or share <= SHARE:
        return ()
    who = "the largest row" if few == 1 else f"the {few} largest rows"
    note = f"{who} of {n} carr{'ies' if few == 1 else 'y'} {share:.0%} of the {loss.word} loss: "
    return (note + "value and interval rest on so few, and say nothing of rarer rows.",)
