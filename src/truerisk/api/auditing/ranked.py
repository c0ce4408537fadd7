r"""The bootstrap bias correction for AUC, which is no mean over rows but can be weighted.

In every sample the copies of the rows are weights: the weighted AUC of each test set, averaged over
the sets as the search averages them, chooses a candidate, and the AUC of the rows without a copy
tests it. With the rows of a set in the order of their scores, in groups g of equal scores,

.. math:: \mathrm{AUC} =
   \frac{\sum_g P_g \left(\sum_{h<g} N_h + N_g / 2\right)}{\sum_g P_g \sum_g N_g}

for the weights P and N of the positive and the negative rows: one sort per candidate and set serves
all samples.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.errors import Refusal
from truerisk.core.progress import tell
from truerisk.core.table.data import Data
from truerisk.core.ties import tied
from truerisk.methods.interval_forms.bootstrapped_choice import Corrected

__all__ = ["corrected_ranks", "weighted_auc_risk"]

CELLS = 1 << 22  # of a block of samples


def corrected_ranks(
    answers: Answers, data: Data, rng: np.random.Generator, replicates: int
) -> Corrected:
    """The risk of choosing by AUC, from the scores that all candidates gave all tested rows."""
    rows, _ = answers.plan.positions
    sets = [slice(a, b) for a, b in pairwise(answers.plan.test_offsets)]
    positive = data.codes_of(rows) == 1
    whole = _risks(answers.values, positive, sets, np.ones((1, len(rows))))[0]
    tested, chosen = [], []
    block = max(1, CELLS // len(rows))
    for start in range(0, replicates, block):
        tell(start, replicates, "samples")
        counts = _copies(data, min(block, replicates - start), rng)[:, rows]
        choice = _smallest(_risks(answers.values, positive, sets, counts))
        chosen.append(choice)
        outside = (counts == 0).astype(np.float64)
        risks = np.full(len(choice), np.nan)
        for c in np.unique(choice[choice >= 0]):
            mine = choice == c
            risks[mine] = _risks(answers.values[[c]], positive, sets, outside[mine])[:, 0]
        tested.append(risks)
    risks, choices = np.concatenate(tested), np.concatenate(chosen)
    usable = np.isfinite(risks)
    if not usable.any():
        raise Refusal(
            "no test set keeps both classes in a bootstrap sample: use fewer folds, or "
            "level='nested'."
        )
    return Corrected(
        value=float(risks[usable].mean()),
        selected=float(np.nanmin(whole)),
        replicates=risks[usable],
        frequencies=np.bincount(choices[usable], minlength=len(answers.values)),
    )


def weighted_auc_risk(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """1 − AUC of one set for every row of `weights`; NaN where a class has no weight.

    >>> scores, positive = np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True])
    >>> weighted_auc_risk(scores, positive, np.array([[1.0, 1, 1, 1], [1, 0, 1, 0]])).tolist()
    [0.125, 0.0]
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)
    sorted_weights = weights[:, order]
    P = np.add.reduceat(sorted_weights * positive[order], starts, axis=1)
    N = np.add.reduceat(sorted_weights * ~positive[order], starts, axis=1)
    below = np.cumsum(N, axis=1) - N / 2
    pairs = P.sum(axis=1) * N.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        risk: np.ndarray = 1 - (P * below).sum(axis=1) / pairs
    return risk


def _risks(
    values: np.ndarray, positive: np.ndarray, sets: list[slice], weights: np.ndarray
) -> np.ndarray:
    """`(samples, candidates)`: the mean over the sets in which the AUC exists."""
    total = np.zeros((len(weights), len(values)))
    known = np.zeros_like(total)
    for part in sets:
        for c, scores in enumerate(values[:, part]):
            risk = weighted_auc_risk(scores, positive[part], weights[:, part])
            there = np.isfinite(risk)
            total[there, c] += risk[there]
            known[there, c] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known > 0, total / known, np.nan))


def _smallest(risks: np.ndarray) -> np.ndarray:
    """The first candidate with the smallest risk in each sample, −1 where none has one."""
    lost = np.isnan(risks).all(axis=1)
    filled = np.where(np.isnan(risks), np.inf, risks)
    least = filled.min(axis=1, keepdims=True)
    return np.where(lost, -1, tied(filled, least).argmax(axis=1))


def _copies(data: Data, size: int, rng: np.random.Generator) -> np.ndarray:
    """Copies of every row in so many samples of rows, or of whole groups."""
    member = data.groups
    n_units = data.n_rows if member is None else int(member.max()) + 1
    drawn = rng.integers(n_units, size=(size, n_units))
    drawn += n_units * np.arange(size)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=size * n_units).reshape(size, n_units)
    return np.asarray(counts if member is None else counts[:, member], dtype=np.float64)
