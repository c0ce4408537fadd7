"""What is to be known of tested rows: that few decide, or that none shows what a row may cost.

`infinite_findings` looks for held-out rows whose own class had probability 0.
"""

from __future__ import annotations

import numpy as np

from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Log
from truerisk.plan.answers import Answers
from truerisk.results.finding import Finding

SHARE = 1 / 3  # of the total; of 50 normal errors the largest square has a seventh
FEWEST = 20  # rows; of fewer the largest has much of any total
FEW = 9  # rows that are surely wrong: their number has a relative error of a third, or more
RULED_OUT = 0.1  # of answers; beyond it log loss was held in 62 % (docs/intervals-measured.md)
DEAREST = float(-np.log(np.finfo(np.float64).eps))  # what a sure and wrong answer costs
BOUNDED = "scoring=tr.losses.Log(clip=0.001) bounds what a row costs."


def few_rows_note(loss: Loss, losses: np.ndarray, weights: np.ndarray) -> tuple[str, ...]:
    """Said where few rows carry more than a third of a loss without a bound.

    Few are the largest 1 % of the rows and, of log loss, up to nine that are sure and wrong.

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
    note = f"{who} of {n} carr{'ies' if few == 1 else 'y'} {share:.0%} of the {loss.word} loss: "
    note += "value and interval rest on these few, and say nothing of rarer rows."
    return (f"{note} {BOUNDED}" if isinstance(loss, Log) else note,)


def infinite_findings(answers: Answers, data: Data, loss: Loss) -> list[tuple[Finding, ...]]:
    """Find, for each candidate, held-out rows to whose own class it gave probability 0.

    Their log loss is infinite, and so is the mean: a value exists only by the clip, and no interval
    is justified. Answers about the very rows of a fit are passed over, as is a loss with a `clip`.
    """
    plan = answers.plan
    if type(loss) is not Log or loss.clip is not None or answers.response != "probability":
        return [()] * answers.n_candidates
    rows, counted = plan.positions[0], ~np.repeat(plan.own_rows, plan.test_sizes)
    if data.sample_weight is not None:
        counted &= data.sample_weight[rows] > 0
    place, truth = np.arange(len(rows)), data.codes_of(rows)
    hit = [rows[counted & (values[place, truth] == 0)] for values in answers.values]
    return [_infinite(np.unique(those), rows[counted]) for those in hit]


def _infinite(rows: np.ndarray, tested: np.ndarray) -> tuple[Finding, ...]:
    """Say which of the tested rows have an infinite log loss, if any."""
    if not len(rows):
        return ()
    n_rows = len(np.unique(tested))
    finding = Finding(
        "infinite-loss",
        f"{len(rows)} of {n_rows} held-out rows (first: row {rows[0]}) had probability 0 for their "
        "own class, so the log loss is infinite. The value given counts that probability as "
        "2.2e-16, as scikit-learn does: it depends on this clip, and there is no interval.",
        "scoring=tr.losses.Log(clip=0.001), or the word log-clip-0.001, bounds what a row costs "
        "and has an interval.",
    )
    return (finding,)


def unseen_note(
    loss: Loss, answers: np.ndarray, losses: np.ndarray, shares: np.ndarray
) -> tuple[str, ...]:
    """Why log loss has no interval: many answers rule a class out, and none of them was wrong.

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
