"""Losses of rows and of whole test sets, from answers; one that is no number is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, RowLoss
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan


def position_weights(data: Data, plan: Plan) -> np.ndarray | None:
    """Weight of every answer: its row's sample weight times its count; None where all are 1."""
    rows, counts = plan.positions
    weights = data.weights(rows)
    if counts is None:
        return weights
    return counts.astype(np.float64) if weights is None else weights * counts


def row_losses(answers: Answers, data: Data, loss: RowLoss) -> np.ndarray:
    """`(n_candidates, n_positions)` losses; NaN where a fit failed."""
    rows, _ = answers.plan.positions
    if answers.response == "loss":
        is_answered = np.repeat(answers.answered, answers.plan.test_sizes, axis=1)
        refuse_non_finite(answers.values, loss, is_answered)
        return answers.values
    if answers.answered.all():
        losses = loss.of_rows(data, rows, answers.values)
        refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        return losses
    answered = np.repeat(answers.answered, answers.plan.test_sizes, axis=1)
    values = answers.values.copy()
    values[~answered] = 0  # a loss need not understand "no answer"
    losses = np.where(answered, loss.of_rows(data, rows, values), np.nan)
    refuse_non_finite(losses, loss, answered)
    return losses


def split_risks(answers: Answers, data: Data, loss: Loss, *, lenient: bool = False) -> np.ndarray:
    """`(n_candidates, n_questions)` risks of single test sets; NaN where a fit failed.

    With `lenient` it is NaN, too, where the loss does not exist on a test set (AUC of one row).
    """
    if isinstance(loss, RowLoss):
        return mean_by_question(row_losses(answers, data, loss), answers.plan, data)
    plan = answers.plan
    offsets = plan.test_offsets
    rows, _ = plan.positions
    weights = None if answers.response == "scored" else position_weights(data, plan)
    risks = np.full((answers.n_candidates, plan.n_questions), np.nan)
    for q in range(plan.n_questions):
        part = slice(offsets[q], offsets[q + 1])
        ok = answers.answered[:, q]
        if ok.any():
            w = None if weights is None else weights[part]
            try:
                risks[ok, q] = loss.of_set(data, rows[part], answers.of(q)[ok], w)
            except Refusal as refusal:
                if not lenient:
                    raise Refusal(f"{refusal} {_place(plan, q)}") from None
    if not lenient:
        bad = np.argwhere(~np.isfinite(risks) & answers.answered)
        refuse_non_finite(risks, loss, answers.answered, *(_place(plan, q) for _, q in bad[:1]))
    return risks


def of_sets(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """Risks of all test sets, and the value that they, or their answers together, have."""
    if average == "pooled":
        values = pooled_values(answers, data, loss)
        return split_risks(answers, data, loss, lenient=True), values
    by_split = split_risks(answers, data, loss)
    return by_split, by_split.mean(axis=1)


def pooled_values(answers: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return the loss of all answers of a repetition as one test set, averaged over repetitions."""
    if answers.response == "scored":
        raise Refusal(
            f"scorer {loss.word} rates one fitted model at a time: answers of several folds "
            "cannot be pooled; use average='fold'."
        )
    plan = answers.plan
    rows, _ = plan.positions
    weights = position_weights(data, plan)
    repeat = np.repeat(plan.repeat, plan.test_sizes)
    whole: np.ndarray = np.all(answers.answered, axis=1)
    risks = []
    for r in np.unique(repeat):
        mine = repeat == r
        w = None if weights is None else weights[mine]
        risks.append(loss.of_set(data, rows[mine], answers.values[whole][:, mine], w))
    values = np.full(len(whole), np.nan)
    values[whole] = np.mean(risks, axis=0)
    refuse_non_finite(values[:, None], loss, whole[:, None])
    return values


def values_of_all_answers(answers: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return the loss of all answers of a repetition as one test set, also for scores of ranks.

    Scores by several models do not compare: each row then has the share of its test set that it
    ranks above, ties counted half.
    """
    if loss.one_scale:
        return pooled_values(answers, data, loss)
    from scipy.stats import rankdata

    offsets = answers.plan.test_offsets
    ranks = np.empty(answers.values.shape)
    for first, end in pairwise(offsets):
        mine = answers.values[:, first:end]
        ranks[:, first:end] = (rankdata(mine, axis=1) - 0.5) / (end - first)
    return pooled_values(replace(answers, values=ranks), data, loss)


def mean_by_question(losses: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """`(n_candidates, n_questions)` means of losses of positions, weighted as the rows are."""
    weights = position_weights(data, plan)
    starts = plan.test_offsets[:-1]
    if (plan.test_sizes == 1).all():  # leave-one-out: a mean of one
        positive(1.0 if weights is None else float(weights.min()))
        return losses
    if weights is None:
        return np.add.reduceat(losses, starts, axis=1) / plan.test_sizes
    totals = np.add.reduceat(weights, starts)
    positive(totals.min())
    return np.add.reduceat(losses * weights, starts, axis=1) / totals


def positive(total: float) -> float:
    """A sum of weights that a mean can be divided by."""
    if total <= 0:
        raise Refusal(
            "all rows of a test set have a sample_weight of 0: their mean loss does not exist. "
            "Give some of them weight, or use fewer folds."
        )
    return total


def _place(plan: Plan, question: int) -> str:
    """Which test set it was, in a sentence."""
    several = f" of repetition {plan.repeat[question]}" if plan.repeat.any() else ""
    return f"It is fold {plan.fold[question]}{several}."


def refuse_non_finite(
    losses: np.ndarray, loss: Loss, answered: np.ndarray, place: str = ""
) -> None:
    """Refuse losses that are no numbers, but for those of fits that failed."""
    if np.isfinite(losses).all():
        return
    bad = ~np.isfinite(losses) & answered
    if bad.any():
        candidate, at = (int(v) for v in np.argwhere(bad)[0])
        flaw = (
            f"loss '{loss.word}' is {losses[candidate, at]} for candidate {candidate}: one of "
            "the scores is non-finite. The model answered NaN or infinity, or the loss is not "
            "defined on a test set this small; check the candidate, or use fewer folds."
        )
        raise Refusal(f"{flaw} {place}".rstrip())


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
        test_set = data, rows[part], answers.values[ok][:, part], w, values[ok]
        influences[:, part] = loss.influences(*test_set)
        shares = np.full(len(part), 1 / len(part)) if w is None else w / w.sum()
        whole += ((influences[:, part] * shares) ** 2).sum(axis=1)
        twice += loss.counted_twice(*test_set)
    once = np.divide(whole - twice, whole, out=np.ones_like(whole), where=whole > 0)
    losses = np.repeat(values[:, None], len(rows), axis=1)
    losses[ok] += influences * np.sqrt(np.maximum(once, LEAST))[:, None]
    return losses


def changes_by_one_row(answers: Answers, data: Data, loss: Loss, values: np.ndarray) -> np.ndarray:
    """How much another answer to a single row changes each value; NaN where a fit failed."""
    changes, ok = np.full(len(values), np.nan), np.isfinite(values)
    repeat = np.repeat(answers.plan.repeat, answers.plan.test_sizes)
    part = np.flatnonzero(repeat == repeat[0])
    rows, values_there = answers.plan.positions[0][part], answers.values[ok][:, part]
    changes[ok] = loss.of_one_row(data, rows, values_there, data.weights(rows))
    return changes


def _sets(plan: Plan, loss: Loss) -> Iterator[np.ndarray]:
    """The positions of every test set on which influences are taken."""
    if loss.one_scale:
        repeat = np.repeat(plan.repeat, plan.test_sizes)
        yield from (np.flatnonzero(repeat == r) for r in np.unique(repeat))
        return
    offsets = plan.test_offsets
    yield from (np.arange(offsets[q], offsets[q + 1]) for q in range(plan.n_questions))
