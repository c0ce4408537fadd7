"""Notes that few rows dominate a loss, or that no row shows how large a loss may become."""

from __future__ import annotations

import numpy as np

from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Log

# A note is given if few rows carry more than this share of the total loss.
# For comparison, the largest of 50 squared normal errors has a seventh of their sum.
MAX_LOSS_SHARE = 1 / 3
# With fewer rows than this no note is given, because the largest loss is a large part of any sum.
MIN_ROWS = 20
# At most this number of confidently wrong predictions is too few to estimate how frequent they are:
# its relative error is a third or more.
MAX_CONFIDENT_ERRORS = 9
# Log loss has no interval if more than this share of predictions gives a class probability 0.
# In such cases only 62 % of the intervals contained the risk (docs/intervals-measured.md).
MAX_RULED_OUT_SHARE = 0.1
MAX_LOG_LOSS = float(
    -np.log(np.finfo(np.float64).eps)
)  # Largest log loss of a prediction that is confident and wrong.
CLIPPING_ADVICE = "scoring=tr.losses.Log(clip=0.001) bounds what a row costs."


def dominant_rows_note(loss: Loss, losses: np.ndarray, weights: np.ndarray) -> tuple[str, ...]:
    """Return a note if few rows carry more than a third of a loss without an upper bound.

    These are the largest 1 % of the rows and, for log loss, up to nine confidently wrong
    predictions.

    >>> from truerisk.losses.row_losses import Squared
    >>> dominant_rows_note(Squared(), np.r_[np.ones(99), 60.0], np.full(100, 0.01))[0][:63]
    'the largest row of 100 carries 38% of the squared loss: value a'
    >>> dominant_rows_note(Squared(), np.ones(100), np.full(100, 0.01))
    ()
    """
    n = len(losses)
    if loss.upper is not None or n < MIN_ROWS or not np.isfinite(losses).all():
        return ()
    weighted_losses = np.sort(losses * weights)
    n_largest_rows, total_loss = -(-n // 100), float(weighted_losses.sum())
    if (
        isinstance(loss, Log)
        and (n_confident_errors := int((losses >= MAX_LOG_LOSS).sum())) <= MAX_CONFIDENT_ERRORS
    ):
        n_largest_rows = max(n_largest_rows, n_confident_errors)
    largest_share = (
        float(weighted_losses[-n_largest_rows:].sum()) / total_loss if total_loss > 0 else 0.0
    )
    if weighted_losses[0] < 0 or largest_share <= MAX_LOSS_SHARE:
        return ()
    subject = "the largest row" if n_largest_rows == 1 else f"the {n_largest_rows} largest rows"
    warning_note = (
        f"{subject} of {n} carr{'ies' if n_largest_rows == 1 else 'y'} {largest_share:.0%} "
        f"of the {loss.name} loss: "
    )
    warning_note += "value and interval rest on these few, and say nothing of rarer rows."
    return (f"{warning_note} {CLIPPING_ADVICE}" if isinstance(loss, Log) else warning_note,)


def unseen_error_note(
    loss: Loss, predictions: np.ndarray, losses: np.ndarray, shares: np.ndarray
) -> tuple[str, ...]:
    """Return a note that log loss has no interval, if no confidently wrong prediction was seen.

    There is no interval if many predictions give a class the probability 0 and none of these
    predictions was wrong.

    >>> sure = np.array([[1.0, 0.0]] * 4)
    >>> unseen_error_note(Log(), sure, np.zeros(4), np.full(4, 0.25))[0][:48]
    '100% of the answers give some class no chance at'
    >>> unseen_error_note(Log(clip=0.01), sure, np.zeros(4), np.full(4, 0.25))
    ()
    """
    if not isinstance(loss, Log) or loss.upper is not None or not np.isfinite(losses).all():
        return ()
    ruled_out_share = float(shares[predictions.min(axis=1) <= np.finfo(np.float64).eps].sum())
    if ruled_out_share <= MAX_RULED_OUT_SHARE or losses.max() >= MAX_LOG_LOSS:
        return ()
    warning_note = (
        f"{ruled_out_share:.0%} of the answers give some class no chance at all, and no row here "
        f"was of it: the first would cost {MAX_LOG_LOSS:.2f}, and nothing tells how rare it is, so "
        f"there is no interval. {CLIPPING_ADVICE}"
    )
    return (warning_note,)
