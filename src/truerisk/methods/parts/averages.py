"""From answers to mean losses, and from mean losses to a standard error where a formula allows.

Two averages differ where folds are unequal: *pooled* (every tested row counts alike) and *fold*
(every fold counts alike). Pooled is the default for losses of single rows, fold for the others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Terms, Tested
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss, RowLoss
from truerisk.core.plan.order import ORDERED, is_ordered
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms import RowEvidence, Sureness, as_form
from truerisk.methods.interval_forms.shaken import Shaken
from truerisk.methods.parts.choosing_inside import by_rule
from truerisk.methods.parts.row_influences import losses_by_influence

__all__ = [
    "OF_CROSS_VALIDATION",
    "OF_ONE_SPLIT",
    "Average",
    "Averaged",
    "check_average",
    "failure_notes",
    "mean_by_question",
    "means_by_row",
    "position_weights",
    "row_losses",
    "split_risks",
    "tested_by_average",
    "tested_with",
]

Average = Literal["pooled", "fold"]


OF_ONE_SPLIT = frozenset({Basis.LOSSES, Basis.MEAN, Basis.ONCE})


class Averaged(Method):
    """A method whose risk is the plain mean of the losses of its answers."""

    gives: ClassVar[frozenset[Basis]] = OF_ONE_SPLIT | {Basis.SPLITS}
    has_folds: ClassVar[bool] = False  # whether its test sets may be folds, each row in one

    @abstractmethod
    def average_of(self, loss: Loss) -> Average | None:
        """Which mean; None is the usual one of the loss."""

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_average(answers, data, loss, terms, self.average_of(loss))

    def reduce_units(
        self, answers: Answers, data: Data, loss: Loss, terms: Terms
    ) -> Sequence[Sequence[Tested]]:
        unit = answers.plan.unit
        in_order = (np.diff(unit) >= 0).all() and answers.answered.all()
        if terms.with_errors or not isinstance(loss, RowLoss) or not in_order:
            return super().reduce_units(answers, data, loss, terms)
        return _means_by_unit(answers, data, loss, self.average_of(loss) or "pooled")


OF_CROSS_VALIDATION = Averaged.gives | {Basis.EQUALLY_OFTEN}


def check_average(average: str | None) -> None:
    """Refuse an unknown average."""
    if average not in (None, "pooled", "fold"):
        raise UnknownName(f"average={average!r} is unknown; use 'pooled', 'fold' or None.")


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
        told = np.repeat(answers.answered, answers.plan.test_sizes, axis=1)
        _refuse_non_finite(answers.values, loss, told)
        return answers.values
    if answers.answered.all():
        losses = loss.of_rows(data, rows, answers.values)
        _refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        return losses
    answered = np.repeat(answers.answered, answers.plan.test_sizes, axis=1)
    values = answers.values.copy()
    values[~answered] = 0  # a loss need not understand "no answer"
    losses = np.where(answered, loss.of_rows(data, rows, values), np.nan)
    _refuse_non_finite(losses, loss, answered)
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
            except Refusal:
                if not lenient:
                    raise
    if not lenient:
        _refuse_non_finite(risks, loss, answers.answered)
    return risks


def tested_by_average(
    answers: Answers,
    data: Data,
    loss: Loss,
    terms: Terms,
    average: Average | None,
    *,
    unsure: str | None = None,
    usual: str | None = None,
    shaken: Answers | None = None,
) -> list[Tested]:
    """One estimate per candidate; values alone where the terms ask for no standard errors.

    With `unsure` no standard error is given and the sentence says why. Else the terms name the
    interval, or the method its `usual` one; where neither does, rows tested once have Wald's and
    repeated tests the corrected resampled t. Splits that go forward in time have none. `shaken` are
    answers to the same rows by models that lack a further fold, one line per candidate.
    """
    if average is None:
        average = "pooled" if loss.per_row else "fold"
    asked = terms.interval if terms.with_errors else None
    if unsure is None and terms.with_errors and loss.per_row and is_ordered(answers.plan):
        unsure = ORDERED
    if asked is not None and unsure is not None:
        raise Refusal(f"interval '{asked}' is not to be had from this method: {unsure}")
    if asked is not None:
        as_form(asked).check(data, loss)
    if not isinstance(loss, RowLoss) and (average == "pooled" or not (asked or usual)):
        if asked is not None:
            as_form(asked).require({Basis.LOSSES, Basis.SPLITS}, "a score of all folds at once")
        by_split = split_risks(answers, data, loss, lenient=average == "pooled")
        return _rated(answers, data, loss, by_split, average)
    losses, by_split = _losses(answers, data, loss)
    weights, total = _average_weights(data, answers.plan, average)
    values = losses @ weights / total if loss.per_row else by_split.mean(axis=1)
    if not terms.with_errors:
        return [Tested(float(value), split_risks=by_split[c]) for c, value in enumerate(values)]
    rows, per_row, shares, repeatedly = means_by_row(losses, weights / total, answers.plan)
    sure: list[Sureness] = [(None, None, () if unsure is None else (unsure,)) for _ in values]
    if unsure is None:
        form = as_form(asked or usual or ("corrected-t" if repeatedly else "wald"))
        best = None
        if form.counts_choice and len(values) > 1 and np.isfinite(values).any():
            plain = replace(terms, interval=None)  # rules may need the errors
            best = by_rule(tested_by_average(answers, data, loss, plain, average), terms.rule)
        evidence = RowEvidence(
            values=values,
            loss=loss,
            terms=terms,
            groups=None if data.groups is None else data.groups[rows],
            data=data,
            plan=answers.plan,
            rows=rows,
            losses=per_row,
            weights=shares,
            repeatedly=repeatedly,
            by_position=losses,
            split_risks=by_split,
            best=best,
            shaken=None if shaken is None else Shaken.of(shaken, _losses(shaken, data, loss)[0]),
        )
        sure = form.of_each(evidence)
    if not loss.per_row:
        return tested_with(sure, answers, values, by_split)
    return tested_with(sure, answers, values, by_split, per_row, rows)


def _losses(answers: Answers, data: Data, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    """Losses of all positions and risks of all test sets; a score is spread over its rows."""
    if isinstance(loss, RowLoss):
        losses = row_losses(answers, data, loss)
        return losses, mean_by_question(losses, answers.plan, data)
    by_split = split_risks(answers, data, loss)
    weights = position_weights(data, answers.plan)
    return losses_by_influence(answers, data, loss, by_split, weights), by_split


def tested_with(
    sure: Sequence[Sureness],
    answers: Answers,
    values: np.ndarray,
    by_split: np.ndarray,
    losses: np.ndarray | None = None,
    rows: np.ndarray | None = None,
) -> list[Tested]:
    """One estimate per candidate, of its value and how sure it is; failed fits are noted first."""
    return [
        Tested(
            float(value),
            error,
            interval,
            None if losses is None else losses[c],
            rows,
            by_split[c],
            failure_notes(answers, c) + notes,
        )
        for c, (value, (error, interval, notes)) in enumerate(zip(values, sure, strict=True))
    ]


def means_by_row(
    losses: np.ndarray, weights: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Tested rows ascending, their mean losses, their weights, and whether some come repeatedly.

    The mean of a row's losses is weighted as they are, so that the rows add up to the value: where
    folds are averaged and unequal, a row counts for more in a smaller fold.
    """
    rows, _ = plan.positions
    if (rows[1:] > rows[:-1]).all():  # rows in ascending order need no copy
        return rows, losses, weights, False
    rows, order, starts = _by_row(plan)
    if len(rows) == len(order):
        return rows, losses[:, order], weights[order], False
    losses, weights = losses[:, order], weights[order]
    shares = np.add.reduceat(weights, starts)
    runs = _run_lengths(starts, len(order))
    means = np.add.reduceat(losses, starts, axis=1) / runs
    if (weights != np.repeat(weights[starts], runs)).any():  # else whole numbers stay whole
        own = shares > 0
        means[:, own] = np.add.reduceat(losses * weights, starts, axis=1)[:, own] / shares[own]
    return rows, means, shares, True


def _rated(
    answers: Answers, data: Data, loss: Loss, by_split: np.ndarray, average: Average
) -> list[Tested]:
    """Losses that only rate whole sets: no per-row losses, hence no standard error of their own."""
    values = by_split.mean(axis=1) if average == "fold" else _pooled_sets(answers, data, loss)
    note = f"loss '{loss.word}' has no per-row losses: no standard error is justified."
    if loss.tells_influences and average == "fold":
        note = note[:-1] + " by them; interval='logit-cv' rests on what each row does to it."
    return [
        Tested(float(value), split_risks=by_split[c], notes=(*failure_notes(answers, c), note))
        for c, value in enumerate(values)
    ]


def _pooled_sets(answers: Answers, data: Data, loss: Loss) -> np.ndarray:
    """The loss of all answers of a repetition taken as one test set, averaged over repetitions."""
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
    _refuse_non_finite(values[:, None], loss, whole[:, None])
    return values


def _means_by_unit(
    answers: Answers, data: Data, loss: RowLoss, average: Average
) -> list[list[Tested]]:
    """Mean losses of the questions of each outer split, which stand one after the other."""
    plan = answers.plan
    rows, _ = plan.positions
    weights = position_weights(data, plan)
    starts = np.searchsorted(plan.unit, np.arange(int(plan.unit[-1]) + 2))
    means = []
    for first, end in pairwise(starts):
        part = slice(plan.test_offsets[first], plan.test_offsets[end])
        losses = loss.of_rows(data, rows[part], answers.values[:, part])
        _refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        given = np.ones(losses.shape[1]) if weights is None else weights[part]
        mine, total = _shares(given, plan.test_sizes[first:end], average)
        means.append([Tested(float(value)) for value in losses @ mine / total])
    return means


def _average_weights(data: Data, plan: Plan, average: Average) -> tuple[np.ndarray, float]:
    """Weight of each answer in the risk, and their sum."""
    given = position_weights(data, plan)
    weights = np.ones(len(plan.positions[0])) if given is None else given
    return _shares(weights, plan.test_sizes, average)


def _shares(weights: np.ndarray, sizes: np.ndarray, average: Average) -> tuple[np.ndarray, float]:
    """Weights of answers in a mean, and their sum; whole numbers stay whole (6/12 is 0.5)."""
    if average == "pooled":
        return weights, _positive(float(weights.sum()))
    totals = np.add.reduceat(weights, np.cumsum(sizes) - sizes)
    _positive(totals.min())
    return weights / np.repeat(totals, sizes), len(sizes)


def _positive(total: float) -> float:
    if total <= 0:
        raise Refusal(
            "all rows of a test set have a sample_weight of 0: their mean loss does not exist. "
            "Give some of them weight, or use fewer folds."
        )
    return total


def mean_by_question(losses: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """`(n_candidates, n_questions)` means of losses of positions, weighted as the rows are."""
    weights = position_weights(data, plan)
    starts = plan.test_offsets[:-1]
    if (plan.test_sizes == 1).all():  # leave-one-out: a mean of one
        _positive(1.0 if weights is None else float(weights.min()))
        return losses
    if weights is None:
        return np.add.reduceat(losses, starts, axis=1) / plan.test_sizes
    totals = np.add.reduceat(weights, starts)
    _positive(totals.min())
    return np.add.reduceat(losses * weights, starts, axis=1) / totals


def _by_row(plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tested rows ascending, the positions sorted by row, and where each row's run starts."""
    rows, _ = plan.positions
    order = np.argsort(rows, kind="stable")
    distinct, starts = np.unique(rows[order], return_index=True)
    return distinct, order, starts


def _run_lengths(starts: np.ndarray, total: int) -> np.ndarray:
    return np.diff(np.append(starts, total))


def failure_notes(answers: Answers, candidate: int) -> tuple[str, ...]:
    """What is to be said of failed fits of a candidate, and what the engine notes."""
    failed = [f for f in answers.failures if f.candidate == candidate]
    if not failed:
        return answers.notes
    note = f"{len(failed)} of {answers.plan.n_fits} fits failed, so there is no value; "
    return (note + f"the first: {failed[0].sentence}", *answers.notes)


def _refuse_non_finite(losses: np.ndarray, loss: Loss, answered: np.ndarray) -> None:
    if np.isfinite(losses).all():
        return
    bad = ~np.isfinite(losses) & answered
    if bad.any():
        candidate, at = (int(v) for v in np.argwhere(bad)[0])
        raise Refusal(
            f"loss '{loss.word}' is {losses[candidate, at]} for candidate {candidate}: one of "
            "the scores is non-finite. The model answered NaN or infinity, or the loss is not "
            "defined on a test set this small; check the candidate, or use fewer folds."
        )
