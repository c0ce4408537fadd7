"""`cv_results_` in the format of GridSearchCV: a dict of arrays that `pandas.DataFrame` accepts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from sklearn.exceptions import FitFailedWarning as SklearnFitFailedWarning

from truerisk.core.arguments import mention, repr_on_one_line
from truerisk.core.errors import BadArgument, FitFailed, FitFailedWarning, warn
from truerisk.core.formats import format_params
from truerisk.engines.running.fitting import extract_model_message
from truerisk.estimation.problem import EstimationProblem, draw_plan
from truerisk.estimation.run import Computation, compute_risks, tuning_problem
from truerisk.methods.parts.averages import split_risks
from truerisk.plan.builder import add_training_row_test_sets
from truerisk.results.evaluation import Evaluation, risk_values
from truerisk.results.interval import tied_groups
from truerisk.results.results import RiskCurve


def rate_settings(
    problem: EstimationProblem,
    *,
    error_score: Any,
    has_several_scores: bool,
    trained: bool,
    **run_options: Any,
) -> tuple[Computation, dict[str, Any]]:
    """Compute the risk of each candidate of a search, and return the risks with `cv_results_`.

    All rows are used.

    If `trained` is True, every fit is also tested on its training rows. With
    `has_several_scores`, the keys contain the names of the scores.
    """
    with suppress_fit_warnings(error_score):
        if trained:
            run_options, training_scores_by_loss = _fit_with_training_scores(problem, **run_options)
        tuning_run = compute_risks(tuning_problem(problem), problem.tuning_method, **run_options)
    if error_score != "raise":
        tuning_run = _assign_error_score(tuning_run, error_score)
    main_score_name = problem.name if has_several_scores else "score"
    results_by_score = {
        main_score_name: tuning_run,
        **(tuning_run.score_computations if has_several_scores else {}),
    }
    training_scores = (
        dict(zip(results_by_score, training_scores_by_loss[-len(results_by_score) :], strict=True))
        if trained
        else {}
    )
    return tuning_run, _cv_results(results_by_score, training_scores)


def _fit_with_training_scores(
    problem: EstimationProblem, **run_options: Any
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Compute all fits of a search, and score each model on its training rows.

    The result holds options for a later computation, and an array of training scores for every
    score.

    The options hold the plan and its predictions, so the fits are not repeated.
    """
    problem = tuning_problem(problem)
    planned_problem, _, plan = draw_plan(problem, problem.tuning_method)
    all_predictions = problem.create_asking(**run_options)(add_training_row_test_sets(plan))
    question_numbers = np.arange(plan.n_questions)
    training_predictions = all_predictions.select(question_numbers + plan.n_questions)
    predictions_with_losses = zip(
        (training_predictions, *training_predictions.also), planned_problem.losses, strict=True
    )
    training_scores = [
        np.asarray(loss.score(split_risks(predictions, problem.data, loss)))
        for predictions, loss in predictions_with_losses
    ]
    return {"plan": plan, "known": [all_predictions.select(question_numbers)]}, training_scores


@contextmanager
def suppress_fit_warnings(error_score: Any) -> Iterator[None]:
    """Suppress the warnings of single failed fits if `error_score` is a number.

    A warning that summarises all failed fits follows later.
    """
    with warnings.catch_warnings():
        if error_score != "raise":
            warnings.simplefilter("ignore", FitFailedWarning)
        yield


def _cv_results(
    run_by_score: Mapping[str, Computation], training_scores: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Collect the times, parameters, split scores, means, spreads and ranks of all candidates.

    For a candidate that left a race, the splits on which it was not rated are NaN, and so is the
    mean.

    `run_by_score` holds the results of each score, by its name in the keys. `training_scores` holds
    the scores on the splits' training rows.
    """
    tuning_run = next(iter(run_by_score.values()))
    predictions, candidates = tuning_run.all_answers, tuning_run.problem.family.candidates
    fit_by_split = predictions.plan.fit
    results: dict[str, Any] = {
        "mean_fit_time": np.nanmean(predictions.fit_seconds[:, fit_by_split], axis=1),
        "std_fit_time": np.nanstd(predictions.fit_seconds[:, fit_by_split], axis=1),
        "mean_score_time": np.nanmean(predictions.answer_seconds[:, fit_by_split], axis=1),
        "std_score_time": np.nanstd(predictions.answer_seconds[:, fit_by_split], axis=1),
    }
    # A race stops rating some candidates early, so report on how many folds each was rated.
    if not tuning_run.method.rates_all:
        results["n_resources"] = predictions.made[:, fit_by_split].sum(axis=1)
    for key_suffix in sorted(set[str]().union(*candidates)):
        results[f"param_{key_suffix}"] = _param_column(key_suffix, candidates)
    results["params"] = list(map(dict, candidates))
    for key_suffix, score_run in run_by_score.items():
        loss, candidate_risks = score_run.problem.loss, score_run.tested
        scores_by_split = loss.score(
            np.array([candidate_risk.split_risks for candidate_risk in candidate_risks])
        )
        for split, split_scores in enumerate(scores_by_split.T):
            results[f"split{split}_test_{key_suffix}"] = split_scores
        mean_scores = loss.score(risk_values(candidate_risks))
        results[f"mean_test_{key_suffix}"] = mean_scores
        results[f"std_test_{key_suffix}"] = scores_by_split.std(axis=1)
        # The best candidate has rank 1, and failed candidates come last.
        # Candidates within the tie tolerance share the smallest rank.
        ranks = np.empty(len(mean_scores), dtype=np.int32)
        n_better = 0
        for tied_candidates in tied_groups(-np.nan_to_num(mean_scores, nan=-np.inf)):
            ranks[tied_candidates] = n_better + 1
            n_better += len(tied_candidates)
        results[f"rank_test_{key_suffix}"] = ranks
    for key_suffix, scores_by_split in training_scores.items():
        results |= {
            f"split{split}_train_{key_suffix}": scores_of_split
            for split, scores_of_split in enumerate(scores_by_split.T)
        }
        results[f"mean_train_{key_suffix}"] = scores_by_split.mean(axis=1)
        results[f"std_train_{key_suffix}"] = scores_by_split.std(axis=1)
    return results


def _param_column(
    parameter_name: str, candidates: Sequence[Mapping[str, Any]]
) -> MaskedArray[Any, Any]:
    """Return the values of one parameter by candidate, masked for candidates that do not set it."""
    parameter_values = np.empty(len(candidates), dtype=object)
    mask = np.ones(len(candidates), dtype=bool)
    are_numbers = True
    for candidate, params in enumerate(candidates):
        if parameter_name in params:
            parameter_value = parameter_values[candidate] = params[parameter_name]
            mask[candidate] = False
            is_number = isinstance(parameter_value, int | float | np.number) and not isinstance(
                parameter_value, bool
            )
            are_numbers = are_numbers and is_number
    if are_numbers:
        parameter_values[mask] = parameter_values[~mask][0]
        parameter_values = np.array(parameter_values.tolist())
    return MaskedArray(parameter_values, mask=mask)


def print_fits(tuning_run: Computation, results: Mapping[str, Any], verbose: int) -> None:
    """Print the number of fits, and further lines if `verbose` is larger.

    From `verbose` 2 there is a line for each fit, and from 3 this line has the score.

    Candidates that share a fit are finished at the same time, so everything is printed after
    tuning.
    """
    predictions = tuning_run.all_answers
    plan = predictions.plan
    n_splits, settings = plan.n_questions, results["params"]
    is_computed = predictions.made[:, plan.fit]
    if verbose > 0:
        up_to_text = "" if is_computed.all() else "up to "
        print(  # noqa: T201  The user asks for it by `verbose`.
            f"Fitting {up_to_text}{n_splits} folds for each of {len(settings)} candidates, "
            f"totalling {is_computed.sum()} fits"
        )
    if verbose < 2:
        return
    seconds_by_fit = predictions.fit_seconds + predictions.answer_seconds
    for candidate_number, params in enumerate(settings):
        for split in np.flatnonzero(is_computed[candidate_number]).tolist():
            score_text = f" {_score(results, split, candidate_number)}" if verbose > 2 else ""
            fit_and_predict_seconds = seconds_by_fit[candidate_number, plan.fit[split]]
            print(  # noqa: T201
                f"[CV {split + 1}/{n_splits}] END {format_params(params)};{score_text} "
                f"total time={fit_and_predict_seconds:6.1f}s"
            )


def _score(results: Mapping[str, Any], split: int, number: int) -> str:
    test_score = results[f"split{split}_test_score"][number]
    training_scores = results.get(f"split{split}_train_score", np.empty(0))
    if not len(training_scores):
        return f"score={test_score:.3f}"
    return f"score=(train={training_scores[number]:.3f}, test={test_score:.3f})"


class SomeFitsFailedWarning(FitFailedWarning, SklearnFitFailedWarning):
    """Warning that some fits of a search failed; GridSearchCV's warning is a base class."""


def _assign_error_score(tuning_run: Computation, error_score: float) -> Computation:
    """Give failed fits the score `error_score`; raise FitFailed if all fits failed."""
    predictions = tuning_run.all_answers
    if not predictions.failures:
        return tuning_run
    n_total, n_failed = predictions.n_fits, len(predictions.failures)
    reasons = Counter(extract_model_message(failure.message) for failure in predictions.failures)
    failure_text = "\n".join(
        f"{n_fits_of_reason} fits failed with the following error:\n{reason}"
        for reason, n_fits_of_reason in reasons.items()
    )
    if n_failed == n_total:
        raise FitFailed.with_kind(
            "ValueError",
            f"All the {n_total} fits failed: it is likely that your model is misconfigured. Use "
            f"error_score='raise' to see where the first one does.\n{failure_text}",
        )
    warn(
        f"{n_failed} fits failed out of a total of {n_total}.\nThe score on these train-test "
        f"partitions for these parameters will be set to {error_score}. Use error_score='raise' "
        f"to see where the first one does.\n{failure_text}",
        SomeFitsFailedWarning,
    )
    if np.isnan(error_score):
        return tuning_run
    losses = tuning_run.problem.losses
    main_evaluation, *further_evaluations = (
        _assign_failed_fit_risk(score_evaluation, predictions.answered, loss.perfect - error_score)
        for score_evaluation, loss in zip((tuning_run, *tuning_run.scores), losses, strict=True)
    )
    return replace(tuning_run, tested=main_evaluation.tested, scores=tuple(further_evaluations))


def _assign_failed_fit_risk(
    evaluation: Evaluation, is_fit_successful: np.ndarray, risk_of_failed_fit: float
) -> Evaluation:
    """Give failed fits a risk, and compute the mean risk of each candidate again."""
    risks_by_split = np.array(
        [candidate_estimates.split_risks for candidate_estimates in evaluation.tested]
    )
    risks_by_split[~is_fit_successful] = risk_of_failed_fit
    candidate_estimates = (
        replace(
            candidate_estimate, value=float(candidate_risks.mean()), split_risks=candidate_risks
        )
        for candidate_estimate, candidate_risks in zip(
            evaluation.tested, risks_by_split, strict=True
        )
    )
    return replace(evaluation, tested=tuple(candidate_estimates))


def choose_by_function(
    refit: Callable[..., Any], curve: RiskCurve, results: Mapping[str, Any]
) -> RiskCurve:
    """Return the risk curve with the best candidate that a user's function `refit` chooses."""
    chosen_index, n_settings = refit(results), len(results["params"])
    if not isinstance(chosen_index, int | np.integer):
        raise BadArgument(
            f"best_index_ returned is not an integer: {mention('refit', refit)} gave "
            f"{repr_on_one_line(chosen_index)}."
        )
    if not 0 <= chosen_index < n_settings:
        raise IndexError(
            f"best_index_ index out of range: refit={repr_on_one_line(refit)} gave "
            f"{chosen_index}, and there are {n_settings} settings, from 0 on."
        )
    return replace(curve, best=int(chosen_index), rule=repr_on_one_line(refit))
