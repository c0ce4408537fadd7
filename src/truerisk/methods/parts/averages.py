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

from truerisk.contracts import Method, Terms, choose_by_rule
from truerisk.core.errors import Refusal
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.intervals import RowEvidence, Sureness, as_form
from truerisk.intervals.choice import calibrated_interval_name, choose_interval, resolve_interval
from truerisk.losses.loss import Average, Loss, RowLoss
from truerisk.losses.row_losses import find_infinite_losses
from truerisk.methods.parts.caveats import (
    dominant_rows_note,
    unseen_error_note,
)
from truerisk.plan.answers import Answers
from truerisk.plan.leaks import find_split_order
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import LeftTwoOut, Tested, to_compact_losses
from truerisk.results.finding import Finding
from truerisk.results.interval import Basis

ROW_MEAN_BASES: frozenset[Basis] = frozenset({Basis.LOSSES, Basis.MEAN})


class Averaged(Method):
    """Base class of methods that estimate the risk by the plain mean of their predictions' losses.

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

    gives: ClassVar[frozenset[Basis]] = ROW_MEAN_BASES | {Basis.SPLITS}
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
            default_interval = choose_interval(
                None, loss, data, self, answers.plan, calibrated=True
            )
        risks = tested_by_average(answers, data, loss, terms, average, usual=default_interval)
        if not terms.with_errors or find_split_order(answers.plan) is None:
            return risks
        # Notes on forecasts come first, because the last note says why there is no interval.
        notes = _forecast_notes(answers.plan, data)
        return [replace(risk, notes=(*notes, *risk.notes)) for risk in risks]

    @override
    def reduce_units(
        self, answers: Answers, data: Data, loss: Loss, terms: Terms
    ) -> Sequence[Sequence[Tested]]:
        outer_split_numbers = answers.plan.unit
        is_in_order = (np.diff(outer_split_numbers) >= 0).all() and answers.answered.all()
        if terms.with_errors or not isinstance(loss, RowLoss) or not is_in_order:
            return super().reduce_units(answers, data, loss, terms)
        return _means_by_outer_split(answers, data, loss, self.average_of(loss))


def tested_by_average(
    predictions: Answers,
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
    predictions : Answers
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
    interval_name, unsure, is_time_ordered = resolve_interval(
        predictions.plan, data, loss, terms, unsure, usual
    )
    # A row's influence has no meaning if scores of different models are ranked together.
    has_comparable_scores = average == "fold" or loss.one_scale
    has_interval = has_comparable_scores and terms.with_errors and interval_name is not None
    if not isinstance(loss, RowLoss) and not has_interval:
        return _estimates_without_errors(predictions, data, loss, average)
    losses, risks_by_split, values = _losses_and_risks(predictions, data, loss, average)
    weights, weight_sum = average_weights(data, predictions.plan, average)
    if loss.per_row:
        values = losses @ weights / weight_sum
    if not terms.with_errors:
        return [
            Tested(float(value), split_risks=risks_by_split[candidate])
            for candidate, value in enumerate(values)
        ]
    rows, row_means, row_shares, is_repeated = means_by_row(
        losses, weights / weight_sum, predictions.plan
    )
    infinity_findings = find_infinite_losses(predictions, data, loss)
    row_arguments: dict[str, Any] = (
        {"losses": to_compact_losses(row_means), "rows": rows} if loss.per_row else {}
    )
    row_arguments["findings"] = infinity_findings
    if unsure is not None:
        intervals: list[Sureness] = [(None, None, (unsure,))] * len(values)
        return make_estimates(intervals, predictions, values, risks_by_split, **row_arguments)
    interval_form, best_candidate = (
        as_form(interval_name or ("corrected-t" if is_repeated else "wald")),
        None,
    )
    if interval_form.counts_choice and len(values) > 1 and np.isfinite(values).any():
        terms_without_interval = replace(
            terms, interval=None
        )  # Standard errors are kept, as the selection rule may need them.
        best_candidate = choose_by_rule(
            tested_by_average(predictions, data, loss, terms_without_interval, average), terms.rule
        )
    left_two_out_losses = None
    if left_two_out is not None:
        left_two_out_losses = LeftTwoOut.from_answers(
            left_two_out, _losses_and_risks(left_two_out, data, loss, average)[0]
        )
    is_biased = average == "fold" and loss.is_biased_on_small_sets
    # Row numbers replace missing times, because splits can go forward in time without times.
    row_times = rows if data.time is None else data.time[rows]
    evidence = RowEvidence(
        values=values,
        loss=loss,
        terms=terms,
        groups=None if data.clusters is None else data.clusters[rows],
        data=data,
        plan=predictions.plan,
        rows=rows,
        losses=row_means,
        weights=row_shares,
        repeatedly=is_repeated,
        by_position=losses,
        split_risks=risks_by_split,
        best=best_candidate,
        times=row_times if is_time_ordered else None,
        left_two_out=left_two_out_losses,
        one_row=None if loss.per_row else single_row_changes(predictions, data, loss, values),
        pooled=values_of_pooled_ranks(predictions, data, loss) if is_biased else None,
    )
    intervals = interval_form.of_each(evidence)
    # Notes on dominant rows need a loss without upper bound; notes on distances need coordinates.
    if loss.upper is None or data.places is not None:
        intervals = _add_notes(
            intervals, evidence, predictions.values, weights / weight_sum, infinity_findings
        )
    risks = make_estimates(intervals, predictions, values, risks_by_split, **row_arguments)
    if not is_time_ordered and loss.tells_influences:
        for candidate, risk in enumerate(risks):
            risks[candidate] = replace(risk, influences=evidence.influences(candidate, risk.losses))
    return risks


def _add_notes(
    intervals: Sequence[Sureness],
    evidence: RowEvidence,
    predictions: np.ndarray,
    prediction_shares: np.ndarray,
    infinity_findings: Sequence[tuple[Finding, ...]],
) -> list[Sureness]:
    """Add notes on rows that dominate the loss, and on distances between test and training rows.

    Intervals are removed if `unseen_error_note` says that they are not justified.
    """
    coordinates = evidence.data.places
    distance_notes = () if coordinates is None else _distance_notes(evidence.plan, coordinates)
    intervals_with_notes = []
    for candidate, (std_error, interval, notes) in enumerate(intervals):
        losses = evidence.losses[candidate]
        unseen_error_notes = unseen_error_note(
            evidence.loss,
            predictions[candidate],
            evidence.by_position[candidate],
            prediction_shares,
        )
        if unseen_error_notes and interval is not None:
            interval, notes = None, notes + unseen_error_notes
        dominant_rows_notes = dominant_rows_note(evidence.loss, losses, evidence.weights)
        further_notes = (
            dominant_rows_notes
            if evidence.loss.per_row and not infinity_findings[candidate]
            else ()
        ) + distance_notes
        # The last note has to be the reason why there is no interval.
        intervals_with_notes.append(
            (
                std_error,
                interval,
                further_notes + notes if interval is None else notes + further_notes,
            )
        )
    return intervals_with_notes


def _forecast_notes(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return notes on how much later the test rows are than their training rows."""
    check_present("truerisk.methods.parts.ahead")
    from truerisk.methods.parts.ahead import forecast_notes

    return forecast_notes(plan, data)


def _distance_notes(plan: Plan, coordinates: np.ndarray) -> tuple[str, ...]:
    """Return a note on the distances in space between test rows and their training rows."""
    check_present("truerisk.plan.distances")
    from truerisk.plan.distances import distance_note

    return distance_note(plan, coordinates)


def _losses_and_risks(
    predictions: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loss of each prediction, the risk on each test set, and each candidate's risk.

    For a loss of single rows the third array is not used, and equals the second.
    """
    if isinstance(loss, RowLoss):
        losses = row_losses(predictions, data, loss)
        risks_by_split = mean_by_test_set(losses, predictions.plan, data)
        return losses, risks_by_split, risks_by_split
    risks_by_split, values = risks_of_test_sets(predictions, data, loss, average)
    weights = prediction_weights(data, predictions.plan)
    return losses_from_influences(predictions, data, loss, values, weights), risks_by_split, values


def influences_by_row(
    predictions: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """Return the influence of each tested row on every candidate's risk.

    The tested rows come first, in ascending order. The influence is the row's mean loss minus the
    risk, times the row's share of the weights. For independent rows the sum of squared influences
    is the variance of the risk. The sum of products of the influences on two risks of the same rows
    is their covariance.
    """
    losses, _, values = _losses_and_risks(predictions, data, loss, average)
    weights, weight_sum = average_weights(data, predictions.plan, average)
    if loss.per_row:
        values = losses @ weights / weight_sum
    rows, row_means, row_shares, _ = means_by_row(losses, weights / weight_sum, predictions.plan)
    return rows, (row_means - values[:, None]) * row_shares


def make_estimates(
    intervals: Sequence[Sureness],
    predictions: Answers,
    values: np.ndarray,
    risks_by_split: np.ndarray,
    losses: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    findings: Sequence[tuple[Finding, ...]] = (),
) -> list[Tested]:
    """Build each candidate's estimate from its value, interval and losses; note failed fits."""
    estimates = []
    for candidate, (value, (std_error, interval, notes)) in enumerate(
        zip(values, intervals, strict=True)
    ):
        estimates.append(
            Tested(
                float(value),
                std_error,
                interval,
                None if losses is None else losses[candidate],
                rows,
                risks_by_split[candidate],
                failure_notes(predictions, candidate) + notes,
                findings=findings[candidate] if findings else (),
            )
        )
    return estimates


def means_by_row(
    losses: np.ndarray, weights: np.ndarray, plan: Plan
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Average the losses of each row, if rows are tested repeatedly.

    Return the tested rows (ascending), their mean losses, their weights, and True if any row was
    tested repeatedly. A row's mean uses the weights of its losses, so that the weighted sum over
    rows is the value: if unequal folds count alike, a row has a larger weight in a smaller fold.
    """
    rows, _ = plan.positions
    if (rows[1:] > rows[:-1]).all():  # Each row occurs once, so there is nothing to average.
        return rows, losses, weights, False
    row_order = np.argsort(rows, kind="stable")
    rows, row_starts = np.unique(rows[row_order], return_index=True)
    losses, weights = losses[:, row_order], weights[row_order]
    if len(rows) == len(row_order):
        return rows, losses, weights, False
    row_weights = np.add.reduceat(weights, row_starts)
    n_repeats = np.diff(np.append(row_starts, len(row_order)))
    row_means = np.add.reduceat(losses, row_starts, axis=1) / n_repeats
    # With equal weights the losses are not multiplied, so that counts stay exact whole numbers.
    if (weights != np.repeat(weights[row_starts], n_repeats)).any():
        has_weight = row_weights > 0
        row_means[:, has_weight] = (
            np.add.reduceat(losses * weights, row_starts, axis=1)[:, has_weight]
            / row_weights[has_weight]
        )
    return rows, row_means, row_weights, True


def _estimates_without_errors(
    predictions: Answers, data: Data, loss: Loss, average: Average
) -> list[Tested]:
    """Return estimates without standard errors, for losses of whole test sets.

    A note says why there are no standard errors, and which interval can be requested instead.
    """
    risks_by_split, values = risks_of_test_sets(predictions, data, loss, average)
    reason_note = (
        f"'{loss.name}' is computed from whole test sets, not row by row: "
        "there is no standard error."
    )
    calibrated_interval = calibrated_interval_name(loss, data)
    if calibrated_interval is not None and (average == "fold" or loss.one_scale):
        reason_note = (
            f"{reason_note} interval='{calibrated_interval}' of tr.estimate_risk, tr.assess and "
            "HonestSearchCV estimates one from the influence of each row."
        )
    return [
        Tested(
            float(value),
            split_risks=risks_by_split[candidate],
            notes=(*failure_notes(predictions, candidate), reason_note),
        )
        for candidate, value in enumerate(values)
    ]


def _means_by_outer_split(
    predictions: Answers, data: Data, loss: RowLoss, average: Average
) -> list[list[Tested]]:
    """Return each candidate's mean inner loss within each outer split.

    The mean is over the inner test sets of the outer split.
    """
    plan, offsets = predictions.plan, predictions.plan.test_offsets
    rows, _ = plan.positions
    weights, _ = average_weights(data, plan, average)
    first_test_sets = np.searchsorted(plan.unit, np.arange(int(plan.unit[-1]) + 2))
    means = []
    for first_test_set, end_test_set in pairwise(first_test_sets.tolist()):
        prediction_slice = slice(offsets[first_test_set], offsets[end_test_set])
        losses = loss.of_rows(data, rows[prediction_slice], predictions.values[:, prediction_slice])
        refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        split_weights, weight_sum = weights[prediction_slice], end_test_set - first_test_set
        if average == "pooled":
            weight_sum = refuse_zero_weight(float(split_weights.sum()))
        means.append(list(map(Tested, (losses @ split_weights / weight_sum).tolist())))
    return means


def average_weights(data: Data, plan: Plan, average: Average) -> tuple[np.ndarray, float]:
    """Return the weight of each prediction's loss in the risk, and the sum of the weights.

    Weights are not divided by their sum, so that counts stay exact whole numbers (6/12 is 0.5).
    """
    weights, test_sizes = prediction_weights(data, plan), plan.test_sizes
    if weights is None:
        weights, weight_sums = np.ones(len(plan.positions[0])), test_sizes
    else:
        weight_sums = np.add.reduceat(weights, plan.test_offsets[:-1])
    if average == "pooled":
        return weights, refuse_zero_weight(float(weights.sum()))
    refuse_zero_weight(weight_sums.min())
    return weights / np.repeat(weight_sums, test_sizes), len(test_sizes)


def failure_notes(predictions: Answers, candidate: int) -> tuple[str, ...]:
    """Return notes on a candidate's failed fits, followed by the notes of the engine."""
    candidate_failures = predictions.failures and [
        failure for failure in predictions.failures if failure.candidate == candidate
    ]
    if not candidate_failures:
        return predictions.notes
    failure_note = (
        f"{len(candidate_failures)} of {predictions.plan.n_fits} fits failed, so there is no "
        "value; "
    )
    return (failure_note + f"the first: {candidate_failures[0].message}", *predictions.notes)


def prediction_weights(data: Data, plan: Plan) -> np.ndarray | None:
    """Return each prediction's weight: the row's sample weight times its count in the test set.

    Return None if all weights are 1.
    """
    rows, counts = plan.positions
    weights = data.weights(rows)
    if counts is None:
        return weights
    return counts.astype(np.float64) if weights is None else weights * counts


def row_losses(predictions: Answers, data: Data, loss: RowLoss) -> np.ndarray:
    """Return the loss of each candidate's prediction for each test row; NaN if a fit failed.

    The array has shape (n_candidates, n_predictions).
    """
    rows, _ = predictions.plan.positions
    if predictions.response == "loss":
        has_prediction = np.repeat(predictions.answered, predictions.plan.test_sizes, axis=1)
        refuse_non_finite(predictions.values, loss, has_prediction)
        return predictions.values
    if predictions.answered.all():
        losses = loss.of_rows(data, rows, predictions.values)
        refuse_non_finite(losses, loss, np.ones(1, dtype=bool))
        return losses
    is_predicted = np.repeat(predictions.answered, predictions.plan.test_sizes, axis=1)
    values = predictions.values.copy()
    values[~is_predicted] = 0  # A loss function need not accept missing predictions.
    losses = np.where(is_predicted, loss.of_rows(data, rows, values), np.nan)
    refuse_non_finite(losses, loss, is_predicted)
    return losses


def split_risks(
    predictions: Answers, data: Data, loss: Loss, *, lenient: bool = False
) -> np.ndarray:
    """Return each candidate's risk on each test set; NaN if a fit failed.

    The array has shape (n_candidates, n_test_sets). If `lenient` is true, the risk is also NaN if
    the loss does not exist on a test set (AUC of one row); otherwise Refusal is raised.
    """
    if isinstance(loss, RowLoss):
        return mean_by_test_set(row_losses(predictions, data, loss), predictions.plan, data)
    plan = predictions.plan
    offsets = plan.test_offsets
    rows, _ = plan.positions
    weights = None if predictions.response == "scored" else prediction_weights(data, plan)
    risks = np.full((predictions.n_candidates, plan.n_questions), np.nan)
    for test_set in range(plan.n_questions):
        prediction_slice = slice(offsets[test_set], offsets[test_set + 1])
        has_prediction = predictions.answered[:, test_set]
        if has_prediction.any():
            test_set_weights = None if weights is None else weights[prediction_slice]
            try:
                risks[has_prediction, test_set] = loss.of_set(
                    data,
                    rows[prediction_slice],
                    predictions.for_question(test_set)[has_prediction],
                    test_set_weights,
                )
            except Refusal as refusal:
                if not lenient:
                    raise Refusal(
                        f"{refusal.sentence.marked_text} {_test_set_sentence(plan, test_set)}"
                    ) from None
    if not lenient:
        bad_entries = np.argwhere(~np.isfinite(risks) & predictions.answered)
        refuse_non_finite(
            risks,
            loss,
            predictions.answered,
            *(_test_set_sentence(plan, test_set) for _, test_set in bad_entries[:1]),
        )
    return risks


def risks_of_test_sets(
    predictions: Answers, data: Data, loss: Loss, average: Average
) -> tuple[np.ndarray, np.ndarray]:
    """Return each candidate's risk on every test set, and its overall risk.

    The overall risk is the mean over the test sets, or the risk of the pooled predictions.
    """
    if average == "pooled":
        values = pooled_values(predictions, data, loss)
        return split_risks(predictions, data, loss, lenient=True), values
    risks_by_split = split_risks(predictions, data, loss)
    return risks_by_split, risks_by_split.mean(axis=1)


def pooled_values(predictions: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return each candidate's loss on a repetition's pooled predictions, averaged over repetitions.

    Raise Refusal for scorers, which rate one fitted model at a time.
    """
    if predictions.response == "scored":
        raise Refusal(
            f"scorer {loss.name} rates one fitted model at a time: answers of several folds "
            "cannot be pooled; use average='fold'."
        )
    plan = predictions.plan
    rows, _ = plan.positions
    weights = prediction_weights(data, plan)
    repeat_numbers = np.repeat(plan.repeat, plan.test_sizes)
    is_complete: np.ndarray = np.all(predictions.answered, axis=1)
    risks_by_repeat = []
    for repeat in np.unique(repeat_numbers):
        is_in_repeat = repeat_numbers == repeat
        repeat_weights = None if weights is None else weights[is_in_repeat]
        risks_by_repeat.append(
            loss.of_set(
                data,
                rows[is_in_repeat],
                predictions.values[is_complete][:, is_in_repeat],
                repeat_weights,
            )
        )
    values = np.full(len(is_complete), np.nan)
    values[is_complete] = np.mean(risks_by_repeat, axis=0)
    refuse_non_finite(values[:, None], loss, is_complete[:, None])
    return values


def values_of_pooled_ranks(predictions: Answers, data: Data, loss: Loss) -> np.ndarray:
    """Return each candidate's loss on all predictions of a repetition, with ranks for scores.

    Decision values of different models cannot be compared. They are replaced by ranks: the share of
    the test set that a row ranks above, with ties counted half.
    """
    if loss.one_scale:
        return pooled_values(predictions, data, loss)
    from scipy.stats import rankdata

    offsets = predictions.plan.test_offsets
    ranks = np.empty(predictions.values.shape)
    for first_prediction, end_prediction in pairwise(offsets):
        scores = predictions.values[:, first_prediction:end_prediction]
        ranks[:, first_prediction:end_prediction] = (rankdata(scores, axis=1) - 0.5) / (
            end_prediction - first_prediction
        )
    return pooled_values(replace(predictions, values=ranks), data, loss)


def mean_by_test_set(losses: np.ndarray, plan: Plan, data: Data) -> np.ndarray:
    """Return each candidate's weighted mean loss on each test set.

    `losses` has one column per predicted row. The result has shape (n_candidates, n_test_sets).
    """
    weights = prediction_weights(data, plan)
    test_set_starts = plan.test_offsets[:-1]
    if (plan.test_sizes == 1).all():  # With leave-one-out each mean is a single loss.
        refuse_zero_weight(1.0 if weights is None else float(weights.min()))
        return losses
    if weights is None:
        return np.add.reduceat(losses, test_set_starts, axis=1) / plan.test_sizes
    weight_sums = np.add.reduceat(weights, test_set_starts)
    refuse_zero_weight(weight_sums.min())
    return np.add.reduceat(losses * weights, test_set_starts, axis=1) / weight_sums


def refuse_zero_weight(total: float) -> float:
    """Return `total`, a sum of weights, or raise Refusal if it is 0.

    Mean losses are divided by this sum.
    """
    if total <= 0:
        raise Refusal(
            "all rows of a test set have a sample_weight of 0: their mean loss does not exist. "
            "Give some of them weight, or use fewer folds."
        )
    return total


def _test_set_sentence(plan: Plan, test_set: int) -> str:
    """Return a sentence with the fold and repetition of a test set."""
    repetition_text = f" of repetition {plan.repeat[test_set]}" if plan.repeat.any() else ""
    return f"It is fold {plan.fold[test_set]}{repetition_text}."


def refuse_non_finite(
    losses: np.ndarray, loss: Loss, has_prediction: np.ndarray, location: str = ""
) -> None:
    """Raise Refusal if losses are NaN or infinite, except the losses of failed fits."""
    if np.isfinite(losses).all():
        return
    is_bad = ~np.isfinite(losses) & has_prediction
    if is_bad.any():
        candidate, prediction_index = (int(v) for v in np.argwhere(is_bad)[0])
        sentence = (
            f"loss '{loss.name}' is {losses[candidate, prediction_index]} for candidate "
            f"{candidate}: one of the scores is non-finite. The model answered NaN or infinity, or "
            "the loss is not defined on a test set this small; check the candidate, or use fewer "
            "folds."
        )
        raise Refusal(f"{sentence} {location}".rstrip())


# Double counting is subtracted from the sum of squared influences.
# At least this share of the sum remains, because two rows share at most half of their influence.
MIN_INFLUENCE_SHARE = 0.5


def losses_from_influences(
    predictions: Answers, data: Data, loss: Loss, values: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Convert a score of whole test sets to losses of rows, each the risk plus the row's influence.

    The array has shape (n_candidates, n_predictions), with NaN if a fit failed. To first order, the
    variance of the mean of these values is the variance of the risk. If predictions of different
    models are comparable, all predictions of a repetition form one test set here, even if the risk
    is a mean over folds, because a small fold gives a poor estimate of a row's influence. Ranks are
    computed within a fold and compared with the mean of all folds, because the only positive row of
    a test set would have no influence on the AUC of that set.
    """
    rows = predictions.plan.positions[0]
    has_value = np.isfinite(values)
    influences = np.zeros((int(has_value.sum()), len(rows)))
    sums_of_squares, variance_counted_twice = np.zeros(len(influences)), np.zeros(len(influences))
    for prediction_indices in _influence_sets(predictions.plan, loss) if has_value.any() else ():
        set_weights = None if weights is None else weights[prediction_indices]
        influence_arguments = (
            data,
            rows[prediction_indices],
            predictions.values[has_value][:, prediction_indices],
            set_weights,
            values[has_value],
        )
        influences[:, prediction_indices] = loss.influences(*influence_arguments)
        row_shares = (
            np.full(len(prediction_indices), 1 / len(prediction_indices))
            if set_weights is None
            else set_weights / set_weights.sum()
        )
        sums_of_squares += ((influences[:, prediction_indices] * row_shares) ** 2).sum(axis=1)
        variance_counted_twice += loss.counted_twice(*influence_arguments)
    share_counted_once = np.divide(
        sums_of_squares - variance_counted_twice,
        sums_of_squares,
        out=np.ones_like(sums_of_squares),
        where=sums_of_squares > 0,
    )
    losses = np.repeat(values[:, None], len(rows), axis=1)
    losses[has_value] += (
        influences * np.sqrt(np.maximum(share_counted_once, MIN_INFLUENCE_SHARE))[:, None]
    )
    return losses


def single_row_changes(
    predictions: Answers, data: Data, loss: Loss, values: np.ndarray
) -> np.ndarray:
    """Return how much each candidate's risk changes if the prediction for a single row changes.

    The change is NaN for candidates with failed fits.
    """
    changes, has_value = np.full(len(values), np.nan), np.isfinite(values)
    repeat_numbers = np.repeat(predictions.plan.repeat, predictions.plan.test_sizes)
    prediction_indices = np.flatnonzero(repeat_numbers == repeat_numbers[0])
    rows, repeat_predictions = (
        predictions.plan.positions[0][prediction_indices],
        predictions.values[has_value][:, prediction_indices],
    )
    changes[has_value] = loss.of_one_row(data, rows, repeat_predictions, data.weights(rows))
    return changes


def _influence_sets(plan: Plan, loss: Loss) -> Iterator[np.ndarray]:
    """Yield the sets of predictions within which influences are computed, as arrays of indices."""
    if loss.one_scale:
        repeat_numbers = np.repeat(plan.repeat, plan.test_sizes)
        yield from (np.flatnonzero(repeat_numbers == r) for r in np.unique(repeat_numbers))
        return
    offsets = plan.test_offsets
    yield from (
        np.arange(offsets[test_set], offsets[test_set + 1]) for test_set in range(plan.n_questions)
    )
