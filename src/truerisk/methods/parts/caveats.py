"""Notes that few rows dominate a loss, or that no row shows how large a loss may become."""

from __future__ import annotations

import numpy as np

from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Log

# Share of the total. The largest of 50 squared normal errors has a seventh of their sum.
SHARE = 1 / 3
FEWEST = 20  # Minimum number of rows. With fewer rows the largest loss is a large part of any sum.
# Number of confidently wrong predictions up to which their count has a relative error of a third or
# more.
FEW = 9
# Share of the predictions. Beyond it the intervals of log loss covered in only 62 %
# (docs/intervals-measured.md).
RULED_OUT = 0.1
DEAREST = float(-np.log(np.finfo(np.float64).eps))  # log loss of a certain but wrong prediction
BOUNDED = "scoring=tr.losses.Log(clip=0.001) bounds what a row costs."


def few_rows_note(loss: Loss, losses: np.ndarray, weights: np.ndarray) -> tuple[str, ...]:
    """Return a note if few rows carry more than a third of a loss without an upper bound.

    These are the largest 1 % of the rows and, for log loss, up to nine confidently wrong
    predictions.

    >>> from truerisk.losses.row_losses import Squared
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
    if isinstance(loss, Log) and (at_the_end := int((losses >= DEAREST).sum())) <= FEW:
        few = max(few, at_the_end)
    share = float(parts[-few:].sum()) / total if total > 0 else 0.0
    if parts[0] < 0 or share <= SHARE:
        return ()
    who = "the largest row" if few == 1 else f"the {few} largest rows"
    note = f"{who} of {n} carr{'ies' if few == 1 else 'y'} {share:.0%} of the {loss.name} loss: "
    note += "value and interval rest on these few, and say nothing of rarer rows."
    return (f"{note} {BOUNDED}" if isinstance(loss, Log) else note,)


def unseen_note(
    loss: Loss, answers: np.ndarray, losses: np.ndarray, shares: np.ndarray
) -> tuple[str, ...]:
    """Return why log loss has no interval, if many predictions rule a class out and none was wrong.

    >>> sure = np.array([[1.0, 0.0]] * 4)
    >>> unseen_note(Log(), sure, np.zeros(4), np.full(4, 0.25))[0][:48]
    '100% of the answers give some class no chance at'
    >>> unseen_note(Log(clip=0.01), sure, np.zeros(4), np.full(4, 0.25))
    ()
    """
    if not isinstance(loss, Log) or loss.upper is not None or not np.isfinite(losses).all():
        return ()
    ruled_out = float(shares[answers.min(axis=1) <= np.finfo(np.float64).eps].sum())
    if ruled_out <= RULED_OUT or losses.max() >= DEAREST:
        return ()
    note = (
        f"{ruled_out:.0%} of the answers give some class no chance at all, and no row here was of "
        f"it: the first would cost {DEAREST:.2f}, and nothing tells how rare it is, so there is no "
        f"interval. {BOUNDED}"
    )
    return (note,)
