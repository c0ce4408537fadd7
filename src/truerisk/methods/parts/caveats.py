"""What is to be known of tested rows: that few decide, how far ahead they lie, how far apart.

`infinite_findings` looks for held-out rows whose own class had probability 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import Log
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import distances_to_seen
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding
from truerisk.splitting.in_time import times_of


def ahead_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """How far ahead of which training windows rows were tested; nothing where later rows train.

    >>> from truerisk.plan.builder import split_plan
    >>> rows = np.arange(6)
    >>> data = Data.check(rows[:, None], rows / 2, task="regression")
    >>> plan = split_plan(6, [(rows[:2], rows[2:4]), (rows[:4], rows[4:])])
    >>> ahead_notes(plan, data)[0][:63]
    'the risk is that of forecasts 1 to 2 rows ahead of windows of 2'
    """
    times = times_of(data)
    ends = []
    for q in range(plan.n_questions):
        last = times[plan.train_rows(int(plan.fit[q]))[0]].max()
        tested = times[plan.test_rows(q)[0]]
        if tested.min() <= last:
            return ()
        ends += [tested.min() - last, tested.max() - last]
    least, most = plan.train_sizes.min(), plan.train_sizes.max()
    sizes = f"{least}" if least == most else f"{least} to {most}"
    ahead = _range(min(ends), max(ends), data)
    note = f"the risk is that of forecasts {ahead} ahead of windows of {sizes} rows: it says "
    return (f"{note}nothing of times further ahead.", *_lacking(plan, data))


def _lacking(plan: Plan, data: Data) -> tuple[str, ...]:
    """How many windows lack a class, of which their models know nothing."""
    if data.codes is None:
        return ()
    n_classes = [len(np.unique(data.codes[plan.train_rows(fit)[0]])) for fit in range(plan.n_fits)]
    few = sum(n < data.n_classes for n in n_classes)
    if not few:
        return ()
    sentence = f"{few} of {plan.n_fits} windows lack a class of y, which their models never predict"
    return (f"{sentence}: start later, with fewer forecasts or a longer window.",)


def _range(low: Any, high: Any, data: Data) -> str:
    if data.time is None:
        return f"{low} to {high} rows"
    if data.time.dtype.kind != "M":
        return f"{low:.4g} to {high:.4g}"
    units = {"days": "D", "hours": "h", "minutes": "m", "seconds": "s"}
    reached = (name for name, unit in units.items() if high >= np.timedelta64(1, unit))  # type: ignore[call-overload]
    name = next(reached, "seconds")
    unit: Any = np.timedelta64(1, units[name])  # type: ignore[call-overload]
    return f"{low / unit:.4g} to {high / unit:.4g} {name}"


def apart_note(plan: Plan, data: Data) -> tuple[str, ...]:
    """At which distance from the training places the risk is one; nothing without places.

    >>> import numpy as np
    >>> from truerisk.plan.builder import leave_out
    >>> places = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> data = Data.check(places, [0, 1, 0, 1], task="classification", block=places)
    >>> apart_note(leave_out(4, [np.array([0, 0, 1, 1])]), data)[0][:50]
    'the risk is that at places 2 to 3 (median 2.5) fro'
    """
    if data.places is None:
        return ()
    apart = distances_to_seen(plan, data.places)
    finite = apart[np.isfinite(apart)]
    if not len(finite):
        return ()
    least, middle, most = np.percentile(finite, [0, 50, 100])
    sentence = (
        f"the risk is that at places {least:.3g} to {most:.3g} (median {middle:.3g}) from the "
        "nearest training row, Euclidean in the unit of block=: it says nothing of places further "
        "away."
    )
    return (sentence,)


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
