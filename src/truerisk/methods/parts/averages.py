"""From answers to mean losses, and from mean losses to a standard error where a formula allows.

Two averages differ where folds are unequal: *pooled* (every tested row counts alike) and *fold*
(every fold counts alike). A score of whole test sets is pooled by taking all answers of a
repetition as one set. Which of them is the default, the loss says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Terms, by_rule
from truerisk.core.branches import check_present
from truerisk.data.data import Data
from truerisk.intervals import RowEvidence, Sureness, as_form
from truerisk.losses.loss import Average, Loss, RowLoss
from truerisk.methods.parts.caveats import (
    few_rows_note,
    infinite_findings,
    unseen_note,
)
from truerisk.methods.parts.interval_choice import calibrated_word, choose, own_interval
from truerisk.methods.parts.set_risks import (
    changes_by_one_row,
    losses_by_influence,
    mean_by_question,
    of_sets,
    position_weights,
    positive,
    refuse_non_finite,
    row_losses,
    values_of_all_answers,
)
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import order_of
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Shaken, Tested, compact
from truerisk.results.finding import Finding
from truerisk.results.interval import Basis

OF_ROW_MEANS: frozenset[Basis] = frozenset({Basis.LOSSES, Basis.MEAN})


class Averaged(Method):
    """A method whose risk is the plain mean of the losses of its answers."""

    gives: ClassVar[frozenset[Basis]] = OF_ROW_MEANS | {Basis.SPLITS}
    has_folds: ClassVar[bool] = False  # whether its test sets may be folds, each row in one

    @abstractmethod
    def average_of(self, loss: Loss) -> Average:
        """Which mean of a loss."""

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        average, usual = self.average_of(loss), None
        if terms.rule.needs_std_errors and not loss.per_row:
            usual = choose(None, loss, data, self, answers.plan, calibrated=True)
        risks = tested_by_average(answers, data, loss, terms, average, usual=usual)
        if not terms.with_errors or order_of(answers.plan) is None:
            return risks
        notes = _ahead_notes(answers.plan, data)  # first: the last note is why there is no interval
        return [replace(risk, notes=(*notes, *risk.notes)) for risk in risks]

    def reduce_units(
        self, answers: Answers, data: Data, loss: Loss, terms: Terms
    ) -> Sequence[Sequence[Tested]]:
        unit = answers.plan.unit
        in_order = (np.diff(unit) >= 0).all() and answers.answered.all()
        if terms.with_errors or not isinstance(loss, RowLoss) or not in_order:
            return super().reduce_units(answers, data, loss, terms)
        return _means_by_unit(answers, data, loss, self.average_of(loss))


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
    repeated tests the corrected resampled t. Rows with times, and splits that go forward, have that
    of losses that depend on those before them, and rows at places that of losses that go together
    there. `shaken` are answers to the same rows by models that lack a further fold, one line per
    candidate.
    """
    average = loss.averaged(average)
    own = own_interval(answers.plan, data, loss, terms, unsure, usual)
    one_spread = average == "fold" or loss.one_scale  # else one rank of answers that differ
    has_interval = one_spread and terms.with_errors and own.word is not None
    if not isinstance(loss, RowLoss) and not has_interval:
        return _rated(answers, data, loss, average)
    losses, by_split, values = _losses(answers, data, loss, average)
    weights, total = average_weights(data, answers.plan, average)
    if loss.per_row:
        values = losses @ weights / total
    if not terms.with_errors:
        return [Tested(float(value), split_risks=by_split[c]) for c, value in enumerate(values)]
    rows, per_row, shares, repeatedly = means_by_row(losses, weights / total, answers.plan)
    infinite = infinite_findings(answers, data, loss)
    told: dict[str, Any] = {"losses": compact(per_row), "rows": rows} if loss.per_row else {}
    told["findings"] = infinite
    if own.unsure is not None:
        bounds: list[Sureness] = [(None, None, (own.unsure,))] * len(values)
        return tested_with(bounds, answers, values, by_split, **told)
    form, best = as_form(own.word or ("corrected-t" if repeatedly else "wald")), None
    if form.counts_choice and len(values) > 1 and np.isfinite(values).any():
        plain = replace(terms, interval=None)  # rules may need the errors
        best = by_rule(tested_by_average(answers, data, loss, plain, average), terms.rule)
    moved = None
    if shaken is not None:
        moved = Shaken.of(shaken, _losses(shaken, data, loss, average)[0])
    is_biased = average == "fold" and loss.is_biased_on_small_sets
    times = rows if data.time is None else data.time[rows]  # splits go forward without times, too
    evidence = RowEvidence(
        values=values,
        loss=loss,
        terms=terms,
        groups=None if data.clusters is None else data.clusters[rows],
        data=data,
        plan=answers.plan,
        rows=rows,
        losses=per_row,
        weights=shares,
        repeatedly=repeatedly,
        by_position=losses,
        split_risks=by_split,
        best=best,
        times=times if own.in_time else None,
        shaken=moved,
        one_row=None if loss.per_row else changes_by_one_row(answers, data, loss, values),
        pooled=values_of_all_answers(answers, data, loss) if is_biased else None,
    )
    bounds = form.of_each(evidence)
    bounds = _with_notes(bounds, evidence, answers.values, weights / total, infinite)
    risks = tested_with(bounds, answers, values, by_split, **told)
    if own.in_time or not loss.tells_influences:
        return risks
    return [
        replace(risk, influences=evidence.influences(c, risk.losses))
        for c, risk in enumerate(risks)
    ]


def _with_notes(
    bounds: Sequence[Sureness],
    evidence: RowEvidence,
    answers: np.ndarray,
    shares: np.ndarray,
    infinite: Sequence[tuple[Finding, ...]],
) -> list[Sureness]:
    """What is to be known of few rows, and of rows that lie apart from those that were seen."""
    places = evidence.data.places
    apart = () if places is None else _apart_note(evidence.plan, places)
    noted = []
    for c, (error, interval, notes) in enumerate(bounds):
        losses = evidence.losses[c]
        unseen = unseen_note(evidence.loss, answers[c], evidence.by_position[c], shares)
        if unseen and interval is not None:
            interval, notes = None, notes + unseen
        few = few_rows_note(evidence.loss, losses, evidence.weights)
        more = (few if evidence.loss.per_row and not infinite[c] else ()) + apart
        # the last note is why there is no interval
        noted.append((error, interval, more + notes if interval is None else notes + more))
    return noted


def _ahead_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """How far ahead of their training rows rows were tested."""
    check_present("truerisk.methods.parts.ahead")
    from truerisk.methods.parts.ahead import ahead_notes

    return ahead_notes(plan, data)


def _apart_note(plan: Plan, places: np.ndarray) -> tuple[str, ...]:
    """How far from their training rows rows were tested."""
    check_present("truerisk.plan.distances")
    from truerisk.plan.distances import apart_note

    return apart_note(plan, places)


def _losses(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses of all positions, risks of all test sets, and the value of a score."""
    if isinstance(loss, RowLoss):
        losses = row_losses(answers, data, loss)
        by_split = mean_by_question(losses, answers.plan, data)
        return losses, by_split, by_split
    by_split, values = of_sets(answers, data, loss, average)
    weights = position_weights(data, answers.plan)
    return losses_by_influence(answers, data, loss, values, weights), by_split, values


def influences_by_row(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """The tested rows, ascending, and what each adds to the error of every candidate's risk.

    That is its mean loss minus the risk, times its share: the sum of their squares is the variance
    of the risk of independent rows, and that of their products, of two risks on the same rows,
    their covariance.
    """
    losses, _, values = _losses(answers, data, loss, average)
    weights, total = average_weights(data, answers.plan, average)
    if loss.per_row:
        values = losses @ weights / total
    rows, per_row, shares, _ = means_by_row(losses, weights / total, answers.plan)
    return rows, (per_row - values[:, None]) * shares


def tested_with(
    bounds: Sequence[Sureness],
    answers: Answers,
    values: np.ndarray,
    by_split: np.ndarray,
    losses: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    findings: Sequence[tuple[Finding, ...]] = (),
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
            findings=findings[c] if findings else (),
        )
        for c, (value, (error, interval, notes)) in enumerate(zip(values, bounds, strict=True))
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
    order = np.argsort(rows, kind="stable")
    rows, starts = np.unique(rows[order], return_index=True)
    losses, weights = losses[:, order], weights[order]
    if len(rows) == len(order):
        return rows, losses, weights, False
    shares = np.add.reduceat(weights, starts)
    runs = np.diff(np.append(starts, len(order)))
    means = np.add.reduceat(losses, starts, axis=1) / runs
    if (weights != np.repeat(weights[starts], runs)).any():  # else whole numbers stay whole
        own = shares > 0
        means[:, own] = np.add.reduceat(losses * weights, starts, axis=1)[:, own] / shares[own]
    return rows, means, shares, True


def _rated(answers: Answers, data: Data, loss: Loss, average: Average) -> list[Tested]:
    """Losses that only rate whole sets: no per-row losses, hence no standard error of their own."""
    by_split, values = of_sets(answers, data, loss, average)
    note = f"loss '{loss.word}' has no per-row losses: no standard error is justified."
    calibrated = calibrated_word(loss, data)
    if calibrated is not None and (average == "fold" or loss.one_scale):
        note = (
            f"{note[:-1]} by them. interval='{calibrated}' of tr.estimate_risk, tr.assess and "
            "HonestSearchCV uses the influence of each row."
        )
    return [
        Tested(float(value), split_risks=by_split[c], notes=(*failure_notes(answers, c), note))
        for c, value in enumerate(values)
    ]


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
        refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        own = np.ones(losses.shape[1]) if weights is None else weights[part]
        mine, total = _shares(own, plan.test_sizes[first:end], average)
        means.append([Tested(float(value)) for value in losses @ mine / total])
    return means


def average_weights(data: Data, plan: Plan, average: Average) -> tuple[np.ndarray, float]:
    """Weight of each answer in the risk, and their sum."""
    own = position_weights(data, plan)
    weights = np.ones(len(plan.positions[0])) if own is None else own
    return _shares(weights, plan.test_sizes, average)


def _shares(weights: np.ndarray, sizes: np.ndarray, average: Average) -> tuple[np.ndarray, float]:
    """Weights of answers in a mean, and their sum; whole numbers stay whole (6/12 is 0.5)."""
    if average == "pooled":
        return weights, positive(float(weights.sum()))
    totals = np.add.reduceat(weights, np.cumsum(sizes) - sizes)
    positive(totals.min())
    return weights / np.repeat(totals, sizes), len(sizes)


def failure_notes(answers: Answers, candidate: int) -> tuple[str, ...]:
    """What is to be said of failed fits of a candidate, and what the engine notes."""
    failed = answers.failures and [f for f in answers.failures if f.candidate == candidate]
    if not failed:
        return answers.notes
    note = f"{len(failed)} of {answers.plan.n_fits} fits failed, so there is no value; "
    return (note + f"the first: {failed[0].sentence}", *answers.notes)
