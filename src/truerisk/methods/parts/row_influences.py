"""Scores of whole test sets as losses of rows: what each row does to the mean of all scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.loss import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

__all__ = ["changes_by_one_row", "losses_by_influence"]

LEAST = 0.5  # of the squares of influences: two rows can have no more than half in common


def losses_by_influence(
    answers: Answers, data: Data, loss: Loss, values: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """`(n_candidates, n_positions)`: the value plus a row's influence about it.

    The spread of these is that of the value to first order, so that they serve as losses of rows.
    Where answers of several models compare, all those of a repetition are one test set here, also
    if the value is a mean over folds: a small fold tells badly what a row does. Ranks are those of
    a fold, and are held against the mean of all folds: the only positive row of a test set would
    have no influence about the AUC of that set. NaN where a fit failed.
    """
    rows = answers.plan.positions[0]
    ok = np.isfinite(values)
    influences = np.zeros((int(ok.sum()), len(rows)))
    whole, twice = np.zeros(len(influences)), np.zeros(len(influences))
    for part in _sets(answers.plan, loss) if ok.any() else ():
        w = None if weights is None else weights[part]
        asked = data, rows[part], answers.values[ok][:, part], w, values[ok]
        influences[:, part] = loss.influences(*asked)
        shares = np.full(len(part), 1 / len(part)) if w is None else w / w.sum()
        whole += ((influences[:, part] * shares) ** 2).sum(axis=1)
        twice += loss.counted_twice(*asked)
    once = np.divide(whole - twice, whole, out=np.ones_like(whole), where=whole > 0)
    losses = np.repeat(values[:, None], len(rows), axis=1)
    losses[ok] += influences * np.sqrt(np.maximum(once, LEAST))[:, None]
    return losses


def changes_by_one_row(answers: Answers, data: Data, loss: Loss, values: np.ndarray) -> np.ndarray:
    """How much another answer to a single row changes each value; NaN where a fit failed."""
    changes, ok = np.full(len(values), np.nan), np.isfinite(values)
    repeat = np.repeat(answers.plan.repeat, answers.plan.test_sizes)
    part = np.flatnonzero(repeat == repeat[0])
    rows, told = answers.plan.positions[0][part], answers.values[ok][:, part]
    changes[ok] = loss.of_one_row(data, rows, told, data.weights(rows))
    return changes


def _sets(plan: Plan, loss: Loss) -> Iterator[np.ndarray]:
    """The positions of every test set on which influences are taken."""
    if loss.one_scale:
        repeat = np.repeat(plan.repeat, plan.test_sizes)
        yield from (np.flatnonzero(repeat == r) for r in np.unique(repeat))
        return
    offsets = plan.test_offsets
    yield from (np.arange(offsets[q], offsets[q + 1]) for q in range(plan.n_questions))
