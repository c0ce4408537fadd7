"""Compute losses of rows and risks of test sets from predictions, and intervals from their means.

Two averages differ if folds have unequal sizes: *pooled* (every tested row counts alike) and *fold*
(every fold counts alike). A score of whole test sets is pooled by treating all predictions of a
repetition as one set. The loss determines which average is the default.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Terms, by_rule
from truerisk.core.errors import Refusal
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.intervals import RowEvidence, Sureness, as_form
from truerisk.intervals.choice import calibrated_name, choose, own_interval
from truerisk.losses.loss import Average, Loss, RowLoss
from truerisk.losses.row_losses import infinite_findings
from truerisk.methods.parts.caveats import (
    few_rows_note,
    unseen_note,
)
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import order_of
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import LeftTwoOut, Tested, compact
from truerisk.results.finding import Finding
from truerisk.results.interval import Basis

OF_ROW_MEANS: frozenset[Basis] = frozenset({Basis.LOSSES, Basis.MEAN})


class Averaged(Method):
    """Base class of methods whose risk is the plain mean of the losses of their predictions.

    See Also
    --------
    truerisk.extend.Method : Base class of all methods.
    truerisk.methods.KFold : A method of this kind.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from truerisk.extend import ALL, Averaged, PlanBuilder
    >>> class OddEven(Averaged):
    ...     name, target, bias = "odd-even", "Err", "pessimistic: each model sees half of the rows"
    ...
    ...     def plan(self, data, streams):
    ...         builder = PlanBuilder(data.n_rows)
    ...         for fold in builder.partition(np.arange(data.n_rows) % 2):
    ...             builder.ask(train=(ALL, (fold,)), test=(fold, ()), fold=fold)
    ...         return builder.build()
    ...
    ...     def average_of(self, loss):
    ...         return loss.averaged(None)
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=OddEven()))
    risk 0.2167 (zero-one, odd-even), 95 % interval [0.1031, 0.3777] (beta-cv)
    """

    gives: ClassVar[frozenset[Basis]] = OF_ROW_MEANS | {Basis.SPLITS}
    # True if its test sets may be folds, so that each row is in exactly one of them.
    has_folds: ClassVar[bool] = False

    @abstractmethod
    def average_of(self, loss: Loss) -> Average:
        """Return how the method averages a loss over its test sets.

        Parameters
        ----------
        loss : Loss
            The loss to estimate.

        Returns
        -------
        {"pooled", "fold"}
            The average: over all rows together, or first within each fold.
        """

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        average, usual = self.average_of(loss), None
        if terms.rule.needs_std_errors and not loss.per_row:
            usual = choose(None, loss, data, self, answers.plan, calibrated=True)
        risks = tested_by_average(answers, data, loss, terms, average, usual=usual)
        if not terms.with_errors or order_of(answers.plan) is None:
            return risks
        # These notes come first, because the last note says why there is no interval.
        notes = _ahead_notes(answers.plan, data)
        return [replace(risk, notes=(*notes, *risk.notes)) for risk in risks]

    @override
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
    left_two_out: Answers | None = None,
) -> list[Tested]:
    """Return one estimate per candidate: the mean of the losses of its predictions.

    If the terms request no standard errors, the estimates are values only. The interval is that of
    the terms, or the `usual` one of the method. If neither is given, rows that were tested once get
    Wald's interval, and repeated tests the corrected resampled t. Rows with times, and splits that
    go forward in time, get the interval of losses that depend on earlier losses; rows with places
    get that of losses that depend on losses nearby.

    Parameters
    ----------
    answers : Answers
        The predictions for the plan.
    data : Data
        The checked rows of the call.
    loss : Loss
        The loss to estimate.
    terms : Terms
        Confidence level, rule and further scores.
    average : {"pooled", "fold"} or None
        The average; None for the usual one of the loss.
    unsure : str, optional
        The reason why there is no standard error. If it is given, none is computed.
    usual : str, optional
        Name of the usual interval of the method.
    left_two_out : Answers, optional
        Predictions for the same rows by models that lack a further fold, one line per candidate.

    Returns
    -------
    list of Tested
        The estimate of each candidate.

    See Also
    --------
    truerisk.extend.Averaged : Base class of methods that use this function.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from truerisk.extend import tested_by_average
    >>> class FoldMeans(tr.methods.KFold):
    ...     def reduce(self, answers, data, loss, terms):
    ...         return tested_by_average(answers, data, loss, terms, "fold", usual="wald")
    >>> X, y = tr.datasets.make_simple(62, random_state=0)
    >>> cv = FoldMeans(5)
    >>> [round(tr.estimate_risk(GaussianNB(), X, y, cv=m).value, 4) for m in (cv, "5-fold")]
    [0.1115, 0.1129]
    """
    average = loss.averaged(average)
    name, unsure, in_time = own_interval(answers.plan, data, loss, terms, unsure, usual)
    # Otherwise the scores of different models would be ranked together.
    one_spread = average == "fold" or loss.one_scale
    has_interval = one_spread and terms.with_errors and name is not None
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
    row_facts: dict[str, Any] = {"losses": compact(per_row), "rows": rows} if loss.per_row else {}
    row_facts["findings"] = infinite
    if unsure is not None:
        bounds: list[Sureness] = [(None, None, (unsure,))] * len(values)
        return tested_with(bounds, answers, values, by_split, **row_facts)
    form, best = as_form(name or ("corrected-t" if repeatedly else "wald")), None
    if form.counts_choice and len(values) > 1 and np.isfinite(values).any():
        plain = replace(terms, interval=None)  # The rule may need the standard errors.
        best = by_rule(tested_by_average(answers, data, loss, plain, average), terms.rule)
    moved = None
    if left_two_out is not None:
        moved = LeftTwoOut.from_answers(left_two_out, _losses(left_two_out, data, loss, average)[0])
    is_biased = average == "fold" and loss.is_biased_on_small_sets
    # Splits may go forward even if the rows have no times.
    times = rows if data.time is None else data.time[rows]
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
        times=times if in_time else None,
        left_two_out=moved,
        one_row=None if loss.per_row else changes_by_one_row(answers, data, loss, values),
        pooled=values_of_all_answers(answers, data, loss) if is_biased else None,
    )
    bounds = form.of_each(evidence)
    # The notes are on losses without a largest value, and on rows at places.
    if loss.upper is None or data.places is not None:
        bounds = _with_notes(bounds, evidence, answers.values, weights / total, infinite)
    risks = tested_with(bounds, answers, values, by_split, **row_facts)
    if not in_time and loss.tells_influences:
        for c, risk in enumerate(risks):
            risks[c] = replace(risk, influences=evidence.influences(c, risk.losses))
    return risks


def _with_notes(
    bounds: Sequence[Sureness],
    evidence: RowEvidence,
    answers: np.ndarray,
    shares: np.ndarray,
    infinite: Sequence[tuple[Finding, ...]],
) -> list[Sureness]:
    """Add notes on few decisive rows, and on distances between tested rows and training rows."""
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
        # The last note has to be the reason why there is no interval.
        noted.append((error, interval, more + notes if interval is None else notes + more))
    return noted


def _ahead_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return notes on how far ahead of their training rows the rows were tested."""
    check_present("truerisk.methods.parts.ahead")
    from truerisk.methods.parts.ahead import ahead_notes

    return ahead_notes(plan, data)


def _apart_note(plan: Plan, places: np.ndarray) -> tuple[str, ...]:
    """Return a note on the distances in space between tested rows and their training rows."""
    check_present("truerisk.plan.distances")
    from truerisk.plan.distances import apart_note

    return apart_note(plan, places)


def _losses(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the losses of all positions, the risks of all test sets, and the values of a score."""
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
    """Return the tested rows in ascending order, and their influence on every candidate's risk.

    The influence is the row's mean loss minus the risk, times the row's share. For independent rows
    the sum of squared influences is the variance of the risk, and the sum of products of the
    influences on two risks of the same rows is their covariance.
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
    """Return an estimate per candidate from its value and its interval; failed fits are noted."""
    tested = []
    for c, (value, (error, interval, notes)) in enumerate(zip(values, bounds, strict=True)):
        tested.append(
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
        )
    return tested


def means_by_row(
    losses: np.ndarray, weights: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Return tested rows (ascending), their mean losses and weights, and whether rows are repeated.

    A row's mean uses the weights of its losses, so that the rows add up to the value: if unequal
    folds count alike, a row has a larger weight in a smaller fold.
    """
    rows, _ = plan.positions
    if (rows[1:] > rows[:-1]).all():  # Rows that are in ascending order need no copy.
        return rows, losses, weights, False
    order = np.argsort(rows, kind="stable")
    rows, starts = np.unique(rows[order], return_index=True)
    losses, weights = losses[:, order], weights[order]
    if len(rows) == len(order):
        return rows, losses, weights, False
    shares = np.add.reduceat(weights, starts)
    runs = np.diff(np.append(starts, len(order)))
    means = np.add.reduceat(losses, starts, axis=1) / runs
    # With equal weights, whole numbers are not multiplied and stay whole.
    if (weights != np.repeat(weights[starts], runs)).any():
        own = shares > 0
        means[:, own] = np.add.reduceat(losses * weights, starts, axis=1)[:, own] / shares[own]
    return rows, means, shares, True


def _rated(answers: Answers, data: Data, loss: Loss, average: Average) -> list[Tested]:
    """Return estimates for losses of whole test sets.

    Without losses of rows they have no standard error from the spread of such losses.
    """
    by_split, values = of_sets(answers, data, loss, average)
    note = f"loss '{loss.name}' has no per-row losses: no standard error is justified."
    calibrated = calibrated_name(loss, data)
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
    """Return the mean losses of the consecutive questions of each outer split."""
    plan, offsets = answers.plan, answers.plan.test_offsets
    rows, _ = plan.positions
    weights, _ = average_weights(data, plan, average)
    starts = np.searchsorted(plan.unit, np.arange(int(plan.unit[-1]) + 2))
    means = []
    for first, end in pairwise(starts.tolist()):
        part = slice(offsets[first], offsets[end])
        losses = loss.of_rows(data, rows[part], answers.values[:, part])
        refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        mine, total = weights[part], end - first
        if average == "pooled":
            total = positive(float(mine.sum()))
        means.append(list(map(Tested, (losses @ mine / total).tolist())))
    return means


def average_weights(data: Data, plan: Plan, average: Average) -> tuple[np.ndarray, float]:
    """Return the weight of each prediction in a mean, and their sum.

    Whole numbers stay whole (6/12 is 0.5).
    """
    weights, sizes = position_weights(data, plan), plan.test_sizes
    if weights is None:
        weights, totals = np.ones(len(plan.positions[0])), sizes
    else:
        totals = np.add.reduceat(weights, plan.test_offsets[:-1])
    if average == "pooled":
        return weights, positive(float(weights.sum()))
    positive(totals.min())
    return weights / np.repeat(totals, sizes), len(sizes)


def failure_notes(answers: Answers, candidate: int) -> tuple[str, ...]:
    """Return notes on a candidate's failed fits, followed by the notes of the engine."""
    failed = answers.failures and [f for f in answers.failures if f.candidate == candidate]
    if not failed:
        return answers.notes
    note = f"{len(failed)} of {answers.plan.n_fits} fits failed, so there is no value; "
    return (note + f"the first: {failed[0].sentence}", *answers.notes)


def position_weights(data: Data, plan: Plan) -> np.ndarray | None:
    """Return each prediction's weight, which is the row's sample weight times its count.

    It is None if all weights are 1.
    """
    rows, counts = plan.positions
    weights = data.weights(rows)
    if counts is None:
        return weights
    return counts.astype(np.float64) if weights is None else weights * counts


def row_losses(answers: Answers, data: Data, loss: RowLoss) -> np.ndarray:
    """Return `(n_candidates, n_positions)` losses, which are NaN if a fit failed."""
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
    values[~answered] = 0  # A loss need not support missing predictions.
    losses = np.where(answered, loss.of_rows(data, rows, values), np.nan)
    refuse_non_finite(losses, loss, answered)
    return losses


def split_risks(answers: Answers, data: Data, loss: Loss, *, lenient: bool = False) -> np.ndarray:
    """Return `(n_candidates, n_questions)` risks of single test sets; NaN if a fit failed.

    With `lenient` the risk is also NaN if the loss does not exist on a test set (AUC of one row).
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
                risks[ok, q] = loss.of_set(data, rows[part], answers.for_question(q)[ok], w)
            except Refusal as refusal:
                if not lenient:
                    raise Refusal(f"{refusal.sentence.marked} {_place(plan, q)}") from None
    if not lenient:
        bad = np.argwhere(~np.isfinite(risks) & answers.answered)
        refuse_non_finite(risks, loss, answers.answered, *(_place(plan, q) for _, q in bad[:1]))
    return risks


def of_sets(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """Return the risks of all test sets, and their mean or the value of the pooled predictions."""
    if average == "pooled":
        values = pooled_values(answers, data, loss)
        return split_risks(answers, data, loss, lenient=True), values
    by_split = split_risks(answers, data, loss)
    return by_split, by_split.mean(axis=1)


def pooled_values(answers: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return the loss of all predictions of a repetition as one set, averaged over repetitions."""
    if answers.response == "scored":
        raise Refusal(
            f"scorer {loss.name} rates one fitted model at a time: answers of several folds "
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
    """Return the loss of all predictions of a repetition as one test set, also for rank scores.

    Scores by different models cannot be compared. Each row is then represented by the share of its
    test set that it ranks above, with ties counted half.
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
    """Return `(n_candidates, n_questions)` mean losses of positions, weighted like the rows."""
    weights = position_weights(data, plan)
    starts = plan.test_offsets[:-1]
    if (plan.test_sizes == 1).all():  # With leave-one-out each mean has a single term.
        positive(1.0 if weights is None else float(weights.min()))
        return losses
    if weights is None:
        return np.add.reduceat(losses, starts, axis=1) / plan.test_sizes
    totals = np.add.reduceat(weights, starts)
    positive(totals.min())
    return np.add.reduceat(losses * weights, starts, axis=1) / totals


def positive(total: float) -> float:
    """Return a sum of weights, or raise if it is 0, so that no mean can be divided by it."""
    if total <= 0:
        raise Refusal(
            "all rows of a test set have a sample_weight of 0: their mean loss does not exist. "
            "Give some of them weight, or use fewer folds."
        )
    return total


def _place(plan: Plan, question: int) -> str:
    """Return a sentence that says which test set it was."""
    several = f" of repetition {plan.repeat[question]}" if plan.repeat.any() else ""
    return f"It is fold {plan.fold[question]}{several}."


def refuse_non_finite(
    losses: np.ndarray, loss: Loss, answered: np.ndarray, place: str = ""
) -> None:
    """Raise if losses are not finite, except those of failed fits."""
    if np.isfinite(losses).all():
        return
    bad = ~np.isfinite(losses) & answered
    if bad.any():
        candidate, at = (int(v) for v in np.argwhere(bad)[0])
        flaw = (
            f"loss '{loss.name}' is {losses[candidate, at]} for candidate {candidate}: one of "
            "the scores is non-finite. The model answered NaN or infinity, or the loss is not "
            "defined on a test set this small; check the candidate, or use fewer folds."
        )
        raise Refusal(f"{flaw} {place}".rstrip())


LEAST = 0.5  # Share of the squared influences. Two rows can have no more than half in common.


def losses_by_influence(
    answers: Answers, data: Data, loss: Loss, values: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return `(n_candidates, n_positions)` values: the risk plus each row's influence on it.

    Their spread is that of the risk to first order, so that they serve as losses of rows. If the
    predictions of different models are comparable, all predictions of a repetition form one test
    set here, even if the risk is a mean over folds, because a small fold gives a poor estimate of a
    row's influence. Ranks are computed within a fold and compared with the mean of all folds,
    because the only positive row of a test set would have no influence on the AUC of that set.
    Values are NaN if a fit failed.
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
    """Return how much another prediction for one row changes each value; NaN for failed fits."""
    changes, ok = np.full(len(values), np.nan), np.isfinite(values)
    repeat = np.repeat(answers.plan.repeat, answers.plan.test_sizes)
    part = np.flatnonzero(repeat == repeat[0])
    rows, values_there = answers.plan.positions[0][part], answers.values[ok][:, part]
    changes[ok] = loss.of_one_row(data, rows, values_there, data.weights(rows))
    return changes


def _sets(plan: Plan, loss: Loss) -> Iterator[np.ndarray]:
    """Yield the positions of every test set within which influences are computed."""
    if loss.one_scale:
        repeat = np.repeat(plan.repeat, plan.test_sizes)
        yield from (np.flatnonzero(repeat == r) for r in np.unique(repeat))
        return
    offsets = plan.test_offsets
    yield from (np.arange(offsets[q], offsets[q + 1]) for q in range(plan.n_questions))
