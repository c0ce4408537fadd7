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
from truerisk.results.evaluation import LeftTwoOut, Tested, to_compact_losses
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
    # True if the method's test sets may be folds, so that each row is in exactly one test set.
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
        average, default_interval = self.average_of(loss), None
        if terms.rule.needs_std_errors and not loss.per_row:
            default_interval = choose(None, loss, data, self, answers.plan, calibrated=True)
        risks = tested_by_average(answers, data, loss, terms, average, usual=default_interval)
        if not terms.with_errors or order_of(answers.plan) is None:
            return risks
        # Notes on forecasts come first, because the last note says why there is no interval.
        notes = _ahead_notes(answers.plan, data)
        return [replace(risk, notes=(*notes, *risk.notes)) for risk in risks]

    @override
    def reduce_units(
        self, answers: Answers, data: Data, loss: Loss, terms: Terms
    ) -> Sequence[Sequence[Tested]]:
        unit = answers.plan.unit
        is_in_order = (np.diff(unit) >= 0).all() and answers.answered.all()
        if terms.with_errors or not isinstance(loss, RowLoss) or not is_in_order:
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
    interval_name, unsure, in_time = own_interval(answers.plan, data, loss, terms, unsure, usual)
    # If scores of different models were ranked together, the influences would be meaningless.
    has_comparable_scores = average == "fold" or loss.one_scale
    has_interval = has_comparable_scores and terms.with_errors and interval_name is not None
    if not isinstance(loss, RowLoss) and not has_interval:
        return _tested_without_errors(answers, data, loss, average)
    losses, by_split, values = _losses_and_risks(answers, data, loss, average)
    weights, weight_sum = average_weights(data, answers.plan, average)
    if loss.per_row:
        values = losses @ weights / weight_sum
    if not terms.with_errors:
        return [
            Tested(float(value), split_risks=by_split[candidate])
            for candidate, value in enumerate(values)
        ]
    rows, per_row, shares, is_repeated = means_by_row(losses, weights / weight_sum, answers.plan)
    infinite_losses = infinite_findings(answers, data, loss)
    row_facts: dict[str, Any] = (
        {"losses": to_compact_losses(per_row), "rows": rows} if loss.per_row else {}
    )
    row_facts["findings"] = infinite_losses
    if unsure is not None:
        bounds: list[Sureness] = [(None, None, (unsure,))] * len(values)
        return estimates_with(bounds, answers, values, by_split, **row_facts)
    interval_form, best_candidate = (
        as_form(interval_name or ("corrected-t" if is_repeated else "wald")),
        None,
    )
    if interval_form.counts_choice and len(values) > 1 and np.isfinite(values).any():
        plain_terms = replace(terms, interval=None)  # The selection rule may need standard errors.
        best_candidate = by_rule(
            tested_by_average(answers, data, loss, plain_terms, average), terms.rule
        )
    left_two_out_losses = None
    if left_two_out is not None:
        left_two_out_losses = LeftTwoOut.from_answers(
            left_two_out, _losses_and_risks(left_two_out, data, loss, average)[0]
        )
    is_biased = average == "fold" and loss.is_biased_on_small_sets
    # Without times the row numbers serve as times, because splits may still go forward in time.
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
        repeatedly=is_repeated,
        by_position=losses,
        split_risks=by_split,
        best=best_candidate,
        times=times if in_time else None,
        left_two_out=left_two_out_losses,
        one_row=None if loss.per_row else changes_by_one_row(answers, data, loss, values),
        pooled=values_of_pooled_ranks(answers, data, loss) if is_biased else None,
    )
    bounds = interval_form.of_each(evidence)
    # Notes are needed only for losses without an upper bound, and for rows with coordinates.
    if loss.upper is None or data.places is not None:
        bounds = _with_notes(
            bounds, evidence, answers.values, weights / weight_sum, infinite_losses
        )
    risks = estimates_with(bounds, answers, values, by_split, **row_facts)
    if not in_time and loss.tells_influences:
        for candidate, risk in enumerate(risks):
            risks[candidate] = replace(risk, influences=evidence.influences(candidate, risk.losses))
    return risks


def _with_notes(
    bounds: Sequence[Sureness],
    evidence: RowEvidence,
    answers: np.ndarray,
    shares: np.ndarray,
    infinite: Sequence[tuple[Finding, ...]],
) -> list[Sureness]:
    """Add notes on rows that dominate the loss, and on distances between test and training rows.

    Intervals are removed if `unseen_note` says that they are not justified.
    """
    places = evidence.data.places
    distance_notes = () if places is None else _apart_note(evidence.plan, places)
    bounds_with_notes = []
    for candidate, (error, interval, notes) in enumerate(bounds):
        losses = evidence.losses[candidate]
        unseen_notes = unseen_note(
            evidence.loss, answers[candidate], evidence.by_position[candidate], shares
        )
        if unseen_notes and interval is not None:
            interval, notes = None, notes + unseen_notes
        few_rows_notes = few_rows_note(evidence.loss, losses, evidence.weights)
        further_notes = (
            few_rows_notes if evidence.loss.per_row and not infinite[candidate] else ()
        ) + distance_notes
        # The last note has to be the reason why there is no interval.
        bounds_with_notes.append(
            (error, interval, further_notes + notes if interval is None else notes + further_notes)
        )
    return bounds_with_notes


def _ahead_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return notes on how much later the test rows are than their training rows."""
    check_present("truerisk.methods.parts.ahead")
    from truerisk.methods.parts.ahead import ahead_notes

    return ahead_notes(plan, data)


def _apart_note(plan: Plan, places: np.ndarray) -> tuple[str, ...]:
    """Return a note on the distances in space between test rows and their training rows."""
    check_present("truerisk.plan.distances")
    from truerisk.plan.distances import distance_note

    return distance_note(plan, places)


def _losses_and_risks(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loss of each prediction, the risk of each test set, and each candidate's value.

    For a loss of single rows the third array is not used, and equals the second.
    """
    if isinstance(loss, RowLoss):
        losses = row_losses(answers, data, loss)
        by_split = mean_by_test_set(losses, answers.plan, data)
        return losses, by_split, by_split
    by_split, values = risks_of_test_sets(answers, data, loss, average)
    weights = position_weights(data, answers.plan)
    return losses_by_influence(answers, data, loss, values, weights), by_split, values


def influences_by_row(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tested rows in ascending order, and their influence on every candidate's risk.

    The influence is the row's mean loss minus the risk, times the row's share of the weights. For
    independent rows the sum of squared influences is the variance of the risk. The sum of products
    of the influences on two risks of the same rows is their covariance.
    """
    losses, _, values = _losses_and_risks(answers, data, loss, average)
    weights, weight_sum = average_weights(data, answers.plan, average)
    if loss.per_row:
        values = losses @ weights / weight_sum
    rows, per_row, shares, _ = means_by_row(losses, weights / weight_sum, answers.plan)
    return rows, (per_row - values[:, None]) * shares


def estimates_with(
    bounds: Sequence[Sureness],
    answers: Answers,
    values: np.ndarray,
    by_split: np.ndarray,
    losses: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    findings: Sequence[tuple[Finding, ...]] = (),
) -> list[Tested]:
    """Build each candidate's estimate from its value, interval and losses; note failed fits."""
    tested = []
    for candidate, (value, (error, interval, notes)) in enumerate(zip(values, bounds, strict=True)):
        tested.append(
            Tested(
                float(value),
                error,
                interval,
                None if losses is None else losses[candidate],
                rows,
                by_split[candidate],
                failure_notes(answers, candidate) + notes,
                findings=findings[candidate] if findings else (),
            )
        )
    return tested


def means_by_row(
    losses: np.ndarray, weights: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Average the losses of each row, if rows are tested repeatedly.

    Return the tested rows (ascending), their mean losses, their weights, and True if any row was
    tested repeatedly. A row's mean uses the weights of its losses, so that the weighted sum over
    rows is the value: if unequal folds count alike, a row has a larger weight in a smaller fold.
    """
    rows, _ = plan.positions
    if (rows[1:] > rows[:-1]).all():  # Rows in ascending order are returned without a copy.
        return rows, losses, weights, False
    row_order = np.argsort(rows, kind="stable")
    rows, starts = np.unique(rows[row_order], return_index=True)
    losses, weights = losses[:, row_order], weights[row_order]
    if len(rows) == len(row_order):
        return rows, losses, weights, False
    shares = np.add.reduceat(weights, starts)
    n_repeats = np.diff(np.append(starts, len(row_order)))
    means = np.add.reduceat(losses, starts, axis=1) / n_repeats
    # With equal weights the losses are not multiplied, so that counts stay exact whole numbers.
    if (weights != np.repeat(weights[starts], n_repeats)).any():
        has_weight = shares > 0
        means[:, has_weight] = (
            np.add.reduceat(losses * weights, starts, axis=1)[:, has_weight] / shares[has_weight]
        )
    return rows, means, shares, True


def _tested_without_errors(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> list[Tested]:
    """Return estimates for losses of whole test sets, without standard errors.

    A note says why there are none, and which interval can be requested instead.
    """
    by_split, values = risks_of_test_sets(answers, data, loss, average)
    note = f"loss '{loss.name}' has no per-row losses: no standard error is justified."
    calibrated_interval = calibrated_name(loss, data)
    if calibrated_interval is not None and (average == "fold" or loss.one_scale):
        note = (
            f"{note[:-1]} by them. interval='{calibrated_interval}' of tr.estimate_risk, "
            "tr.assess and HonestSearchCV uses the influence of each row."
        )
    return [
        Tested(
            float(value),
            split_risks=by_split[candidate],
            notes=(*failure_notes(answers, candidate), note),
        )
        for candidate, value in enumerate(values)
    ]


def _means_by_unit(
    answers: Answers, data: Data, loss: RowLoss, average: Average
) -> list[list[Tested]]:
    """Return each candidate's mean loss over the inner test sets of each outer split."""
    plan, offsets = answers.plan, answers.plan.test_offsets
    rows, _ = plan.positions
    weights, _ = average_weights(data, plan, average)
    starts = np.searchsorted(plan.unit, np.arange(int(plan.unit[-1]) + 2))
    means = []
    for first_question, end_question in pairwise(starts.tolist()):
        positions = slice(offsets[first_question], offsets[end_question])
        losses = loss.of_rows(data, rows[positions], answers.values[:, positions])
        refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        unit_weights, weight_sum = weights[positions], end_question - first_question
        if average == "pooled":
            weight_sum = refuse_zero_weight(float(unit_weights.sum()))
        means.append(list(map(Tested, (losses @ unit_weights / weight_sum).tolist())))
    return means


def average_weights(data: Data, plan: Plan, average: Average) -> tuple[np.ndarray, float]:
    """Return the weight of each prediction's loss in the risk, and the sum of the weights.

    Weights are not divided by their sum, so that counts stay exact whole numbers (6/12 is 0.5).
    """
    weights, sizes = position_weights(data, plan), plan.test_sizes
    if weights is None:
        weights, totals = np.ones(len(plan.positions[0])), sizes
    else:
        totals = np.add.reduceat(weights, plan.test_offsets[:-1])
    if average == "pooled":
        return weights, refuse_zero_weight(float(weights.sum()))
    refuse_zero_weight(totals.min())
    return weights / np.repeat(totals, sizes), len(sizes)


def failure_notes(answers: Answers, candidate: int) -> tuple[str, ...]:
    """Return notes on a candidate's failed fits, followed by the notes of the engine."""
    candidate_failures = answers.failures and [
        f for f in answers.failures if f.candidate == candidate
    ]
    if not candidate_failures:
        return answers.notes
    note = f"{len(candidate_failures)} of {answers.plan.n_fits} fits failed, so there is no value; "
    return (note + f"the first: {candidate_failures[0].sentence}", *answers.notes)


def position_weights(data: Data, plan: Plan) -> np.ndarray | None:
    """Return each prediction's weight: the row's sample weight times its count in the test set.

    Return None if all weights are 1.
    """
    rows, counts = plan.positions
    weights = data.weights(rows)
    if counts is None:
        return weights
    return counts.astype(np.float64) if weights is None else weights * counts


def row_losses(answers: Answers, data: Data, loss: RowLoss) -> np.ndarray:
    """Return the loss of each candidate's prediction for each test row; NaN if a fit failed.

    The array has shape (n_candidates, n_predictions).
    """
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
    """Return each candidate's risk on each test set; NaN if a fit failed.

    The array has shape (n_candidates, n_test_sets). If `lenient` is true, the risk is also NaN if
    the loss does not exist on a test set (AUC of one row); otherwise Refusal is raised.
    """
    if isinstance(loss, RowLoss):
        return mean_by_test_set(row_losses(answers, data, loss), answers.plan, data)
    plan = answers.plan
    offsets = plan.test_offsets
    rows, _ = plan.positions
    weights = None if answers.response == "scored" else position_weights(data, plan)
    risks = np.full((answers.n_candidates, plan.n_questions), np.nan)
    for question in range(plan.n_questions):
        positions = slice(offsets[question], offsets[question + 1])
        is_answered = answers.answered[:, question]
        if is_answered.any():
            question_weights = None if weights is None else weights[positions]
            try:
                risks[is_answered, question] = loss.of_set(
                    data,
                    rows[positions],
                    answers.for_question(question)[is_answered],
                    question_weights,
                )
            except Refusal as refusal:
                if not lenient:
                    raise Refusal(
                        f"{refusal.sentence.marked} {_test_set_sentence(plan, question)}"
                    ) from None
    if not lenient:
        bad_entries = np.argwhere(~np.isfinite(risks) & answers.answered)
        refuse_non_finite(
            risks,
            loss,
            answers.answered,
            *(_test_set_sentence(plan, question) for _, question in bad_entries[:1]),
        )
    return risks


def risks_of_test_sets(
    answers: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """Return each candidate's risks on all test sets, and their mean or the pooled value."""
    if average == "pooled":
        values = pooled_values(answers, data, loss)
        return split_risks(answers, data, loss, lenient=True), values
    by_split = split_risks(answers, data, loss)
    return by_split, by_split.mean(axis=1)


def pooled_values(answers: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return each candidate's loss on a repetition's pooled predictions, averaged over repetitions.

    Raise Refusal for scorers, which rate one fitted model at a time.
    """
    if answers.response == "scored":
        raise Refusal(
            f"scorer {loss.name} rates one fitted model at a time: answers of several folds "
            "cannot be pooled; use average='fold'."
        )
    plan = answers.plan
    rows, _ = plan.positions
    weights = position_weights(data, plan)
    repeat = np.repeat(plan.repeat, plan.test_sizes)
    is_complete: np.ndarray = np.all(answers.answered, axis=1)
    risks = []
    for r in np.unique(repeat):
        is_in_repeat = repeat == r
        repeat_weights = None if weights is None else weights[is_in_repeat]
        risks.append(
            loss.of_set(
                data,
                rows[is_in_repeat],
                answers.values[is_complete][:, is_in_repeat],
                repeat_weights,
            )
        )
    values = np.full(len(is_complete), np.nan)
    values[is_complete] = np.mean(risks, axis=0)
    refuse_non_finite(values[:, None], loss, is_complete[:, None])
    return values


def values_of_pooled_ranks(answers: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return each candidate's loss on all predictions of a repetition, also for ranking losses.

    Decision values of different models cannot be compared. They are replaced by ranks: the share of
    the test set that a row ranks above, with ties counted half.
    """
    if loss.one_scale:
        return pooled_values(answers, data, loss)
    from scipy.stats import rankdata

    offsets = answers.plan.test_offsets
    ranks = np.empty(answers.values.shape)
    for start, end in pairwise(offsets):
        scores = answers.values[:, start:end]
        ranks[:, start:end] = (rankdata(scores, axis=1) - 0.5) / (end - start)
    return pooled_values(replace(answers, values=ranks), data, loss)


def mean_by_test_set(losses: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """Return each candidate's weighted mean loss on each test set.

    `losses` has one column per predicted row. The result has shape (n_candidates, n_test_sets).
    """
    weights = position_weights(data, plan)
    starts = plan.test_offsets[:-1]
    if (plan.test_sizes == 1).all():  # With leave-one-out each mean is a single loss.
        refuse_zero_weight(1.0 if weights is None else float(weights.min()))
        return losses
    if weights is None:
        return np.add.reduceat(losses, starts, axis=1) / plan.test_sizes
    totals = np.add.reduceat(weights, starts)
    refuse_zero_weight(totals.min())
    return np.add.reduceat(losses * weights, starts, axis=1) / totals


def refuse_zero_weight(total: float) -> float:
    """Return a sum of weights, or raise Refusal if it is 0, because means are divided by it."""
    if total <= 0:
        raise Refusal(
            "all rows of a test set have a sample_weight of 0: their mean loss does not exist. "
            "Give some of them weight, or use fewer folds."
        )
    return total


def _test_set_sentence(plan: Plan, question: int) -> str:
    """Return a sentence with the fold and repetition of a test set."""
    several = f" of repetition {plan.repeat[question]}" if plan.repeat.any() else ""
    return f"It is fold {plan.fold[question]}{several}."


def refuse_non_finite(
    losses: np.ndarray, loss: Loss, answered: np.ndarray, location: str = ""
) -> None:
    """Raise Refusal if losses are NaN or infinite, except the losses of failed fits."""
    if np.isfinite(losses).all():
        return
    is_bad = ~np.isfinite(losses) & answered
    if is_bad.any():
        candidate, position = (int(v) for v in np.argwhere(is_bad)[0])
        sentence = (
            f"loss '{loss.name}' is {losses[candidate, position]} for candidate {candidate}: one "
            "of the scores is non-finite. The model answered NaN or infinity, or the loss is not "
            "defined on a test set this small; check the candidate, or use fewer folds."
        )
        raise Refusal(f"{sentence} {location}".rstrip())


# At least this share of the squared influences remains after correction for double counting.
# Two rows can have no more than half of their influence in common.
MIN_INFLUENCE_SHARE = 0.5


def losses_by_influence(
    answers: Answers, data: Data, loss: Loss, values: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Convert a score of whole test sets to losses of rows: the risk plus each row's influence.

    The array has shape (n_candidates, n_predictions), with NaN if a fit failed. To first order, the
    variance of the mean of these values is the variance of the risk. If predictions of different
    models are comparable, all predictions of a repetition form one test set here, even if the risk
    is a mean over folds, because a small fold gives a poor estimate of a row's influence. Ranks are
    computed within a fold and compared with the mean of all folds, because the only positive row of
    a test set would have no influence on the AUC of that set.
    """
    rows = answers.plan.positions[0]
    has_value = np.isfinite(values)
    influences = np.zeros((int(has_value.sum()), len(rows)))
    squared_sums, counted_twice = np.zeros(len(influences)), np.zeros(len(influences))
    for positions in _influence_sets(answers.plan, loss) if has_value.any() else ():
        set_weights = None if weights is None else weights[positions]
        test_set = (
            data,
            rows[positions],
            answers.values[has_value][:, positions],
            set_weights,
            values[has_value],
        )
        influences[:, positions] = loss.influences(*test_set)
        shares = (
            np.full(len(positions), 1 / len(positions))
            if set_weights is None
            else set_weights / set_weights.sum()
        )
        squared_sums += ((influences[:, positions] * shares) ** 2).sum(axis=1)
        counted_twice += loss.counted_twice(*test_set)
    counted_once = np.divide(
        squared_sums - counted_twice,
        squared_sums,
        out=np.ones_like(squared_sums),
        where=squared_sums > 0,
    )
    losses = np.repeat(values[:, None], len(rows), axis=1)
    losses[has_value] += (
        influences * np.sqrt(np.maximum(counted_once, MIN_INFLUENCE_SHARE))[:, None]
    )
    return losses


def changes_by_one_row(answers: Answers, data: Data, loss: Loss, values: np.ndarray) -> np.ndarray:
    """Return how much each candidate's risk changes if one row is predicted differently.

    It is NaN for candidates with failed fits.
    """
    changes, has_value = np.full(len(values), np.nan), np.isfinite(values)
    repeat = np.repeat(answers.plan.repeat, answers.plan.test_sizes)
    positions = np.flatnonzero(repeat == repeat[0])
    rows, predictions = (
        answers.plan.positions[0][positions],
        answers.values[has_value][:, positions],
    )
    changes[has_value] = loss.of_one_row(data, rows, predictions, data.weights(rows))
    return changes


def _influence_sets(plan: Plan, loss: Loss) -> Iterator[np.ndarray]:
    """Yield arrays of prediction numbers, one per set within which influences are computed."""
    if loss.one_scale:
        repeat = np.repeat(plan.repeat, plan.test_sizes)
        yield from (np.flatnonzero(repeat == r) for r in np.unique(repeat))
        return
    offsets = plan.test_offsets
    yield from (np.arange(offsets[q], offsets[q + 1]) for q in range(plan.n_questions))
