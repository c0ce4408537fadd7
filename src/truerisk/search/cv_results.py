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
from truerisk.core.formats import params_text
from truerisk.engines.running.fitting import model_message_of
from truerisk.estimation.problem import Problem, draw_plan
from truerisk.estimation.run import Computed, compute, tuning_problem
from truerisk.methods.parts.averages import split_risks
from truerisk.plan.builder import with_training_rows
from truerisk.results.evaluation import Evaluation, values_of
from truerisk.results.interval import tied_groups
from truerisk.results.results import RiskCurve


def rate_settings(
    problem: Problem, *, error_score: Any, several: bool, trained: bool, **options: Any
) -> tuple[Computed, dict[str, Any]]:
    """Compute the risks of a search's candidates on all rows, and return them with `cv_results_`.

    If `trained` is True, every fit is also tested on its training rows. If there are `several`
    scores, the keys contain their names.
    """
    with without_fit_warnings(error_score):
        if trained:
            options, scores = _with_training_rows(problem, **options)
        computed = compute(tuning_problem(problem), problem.select_by, **options)
    if error_score != "raise":
        computed = _with_error_score(computed, error_score)
    name = problem.name if several else "score"
    results_by_score = {name: computed, **(computed.by_score if several else {})}
    training_scores = (
        dict(zip(results_by_score, scores[-len(results_by_score) :], strict=True))
        if trained
        else {}
    )
    return computed, _cv_results(results_by_score, training_scores)


def _with_training_rows(
    problem: Problem, **options: Any
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return options for the computation, and each score on the training set of each split.

    The options hold the plan and its predictions, so the fits are not repeated.
    """
    problem = tuning_problem(problem)
    planned_problem, _, plan = draw_plan(problem, problem.select_by)
    answers = problem.asking(**options)(with_training_rows(plan))
    questions = np.arange(plan.n_questions)
    training_answers = answers.select(questions + plan.n_questions)
    answers_with_losses = zip(
        (training_answers, *training_answers.also), planned_problem.losses, strict=True
    )
    scores = [
        np.asarray(loss.score(split_risks(predictions, problem.data, loss)))
        for predictions, loss in answers_with_losses
    ]
    return {"plan": plan, "known": [answers.select(questions)]}, scores


@contextmanager
def without_fit_warnings(error_score: Any) -> Iterator[None]:
    """Suppress the warning of each failed fit if one summary warning follows at the end."""
    with warnings.catch_warnings():
        if error_score != "raise":
            warnings.simplefilter("ignore", FitFailedWarning)
        yield


def _cv_results(
    by_score: Mapping[str, Computed], trained: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Collect the times, parameters, split scores, means, spreads and ranks of all candidates.

    For a candidate that left a race, the splits on which it was not rated are NaN, and so is the
    mean.

    `by_score` holds the results of each score, by its name in the keys. `trained` holds scores of
    the splits on the training rows.
    """
    computed = next(iter(by_score.values()))
    answers, candidates = computed.all_answers, computed.problem.family.candidates
    fits = answers.plan.fit
    results: dict[str, Any] = {
        "mean_fit_time": np.nanmean(answers.fit_seconds[:, fits], axis=1),
        "std_fit_time": np.nanstd(answers.fit_seconds[:, fits], axis=1),
        "mean_score_time": np.nanmean(answers.answer_seconds[:, fits], axis=1),
        "std_score_time": np.nanstd(answers.answer_seconds[:, fits], axis=1),
    }
    # Candidates may have left a race, so the number of folds on which each was rated is reported.
    if not computed.method.rates_all:
        results["n_resources"] = answers.made[:, fits].sum(axis=1)
    for name in sorted(set[str]().union(*candidates)):
        results[f"param_{name}"] = _param_column(name, candidates)
    results["params"] = list(map(dict, candidates))
    for name, score_results in by_score.items():
        loss, candidate_risks = score_results.problem.loss, score_results.tested
        scores = loss.score(
            np.array([candidate_risk.split_risks for candidate_risk in candidate_risks])
        )
        for split, split_scores in enumerate(scores.T):
            results[f"split{split}_test_{name}"] = split_scores
        means = loss.score(values_of(candidate_risks))
        results[f"mean_test_{name}"] = means
        results[f"std_test_{name}"] = scores.std(axis=1)
        # The best candidate has rank 1, and failed candidates come last.
        # Candidates within the tie tolerance share the smallest rank.
        ranks = np.empty(len(means), dtype=np.int32)
        n_better = 0
        for tied_candidates in tied_groups(-np.nan_to_num(means, nan=-np.inf)):
            ranks[tied_candidates] = n_better + 1
            n_better += len(tied_candidates)
        results[f"rank_test_{name}"] = ranks
    for name, scores in trained.items():
        results |= {
            f"split{split}_train_{name}": scores_of_split
            for split, scores_of_split in enumerate(scores.T)
        }
        results[f"mean_train_{name}"] = scores.mean(axis=1)
        results[f"std_train_{name}"] = scores.std(axis=1)
    return results


def _param_column(name: str, candidates: Sequence[Mapping[str, Any]]) -> MaskedArray[Any, Any]:
    """Return the values of one parameter by candidate, masked for candidates that do not set it."""
    values = np.empty(len(candidates), dtype=object)
    mask = np.ones(len(candidates), dtype=bool)
    are_numbers = True
    for candidate, params in enumerate(candidates):
        if name in params:
            parameter_value = values[candidate] = params[name]
            mask[candidate] = False
            is_number = isinstance(parameter_value, int | float | np.number) and not isinstance(
                parameter_value, bool
            )
            are_numbers = are_numbers and is_number
    if are_numbers:
        values[mask] = values[~mask][0]
        values = np.array(values.tolist())
    return MaskedArray(values, mask=mask)


def print_fits(computed: Computed, results: Mapping[str, Any], verbose: int) -> None:
    """Print the number of fits; from `verbose` 2 also a line for each fit, from 3 with its score.

    Candidates that share a fit are finished at the same time, so everything is printed after
    tuning.
    """
    answers = computed.all_answers
    plan = answers.plan
    n_splits, settings = plan.n_questions, results["params"]
    is_made = answers.made[:, plan.fit]
    if verbose > 0:
        up_to = "" if is_made.all() else "up to "
        print(  # noqa: T201  The user asks for it by `verbose`.
            f"Fitting {up_to}{n_splits} folds for each of {len(settings)} candidates, "
            f"totalling {is_made.sum()} fits"
        )
    if verbose < 2:
        return
    seconds = answers.fit_seconds + answers.answer_seconds
    for number, params in enumerate(settings):
        for split in np.flatnonzero(is_made[number]).tolist():
            score = f" {_score(results, split, number)}" if verbose > 2 else ""
            fit_and_predict_seconds = seconds[number, plan.fit[split]]
            print(  # noqa: T201
                f"[CV {split + 1}/{n_splits}] END {params_text(params)};{score} "
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


def _with_error_score(computed: Computed, error_score: float) -> Computed:
    """Assign `error_score` to the failed fits; raise FitFailed if all fits failed."""
    answers = computed.all_answers
    if not answers.failures:
        return computed
    total, failed = answers.n_fits, len(answers.failures)
    reasons = Counter(model_message_of(failure.sentence) for failure in answers.failures)
    failures = "\n".join(
        f"{n_reason} fits failed with the following error:\n{reason}"
        for reason, n_reason in reasons.items()
    )
    if failed == total:
        raise FitFailed.with_kind(
            "ValueError",
            f"All the {total} fits failed: it is likely that your model is misconfigured. Use "
            f"error_score='raise' to see where the first one does.\n{failures}",
        )
    warn(
        f"{failed} fits failed out of a total of {total}.\nThe score on these train-test "
        f"partitions for these parameters will be set to {error_score}. Use error_score='raise' "
        f"to see where the first one does.\n{failures}",
        SomeFitsFailedWarning,
    )
    if np.isnan(error_score):
        return computed
    losses = computed.problem.losses
    main_evaluation, *scores = (
        _with_score(score_evaluation, answers.answered, loss.perfect - error_score)
        for score_evaluation, loss in zip((computed, *computed.scores), losses, strict=True)
    )
    return replace(computed, tested=main_evaluation.tested, scores=tuple(scores))


def _with_score(evaluation: Evaluation, answered: np.ndarray, risk: float) -> Evaluation:
    """Assign a risk to the failed fits, and average each candidate's risks again."""
    risks = np.array([candidate_estimates.split_risks for candidate_estimates in evaluation.tested])
    risks[~answered] = risk
    candidate_estimates = (
        replace(
            candidate_estimate, value=float(candidate_risks.mean()), split_risks=candidate_risks
        )
        for candidate_estimate, candidate_risks in zip(evaluation.tested, risks, strict=True)
    )
    return replace(evaluation, tested=tuple(candidate_estimates))


def choose_by_function(
    refit: Callable[..., Any], curve: RiskCurve, results: Mapping[str, Any]
) -> RiskCurve:
    """Return the risk curve with the best candidate that a user's function `refit` chooses."""
    chosen_number, n_settings = refit(results), len(results["params"])
    if not isinstance(chosen_number, int | np.integer):
        raise BadArgument(
            f"best_index_ returned is not an integer: {mention('refit', refit)} gave "
            f"{repr_on_one_line(chosen_number)}."
        )
    if not 0 <= chosen_number < n_settings:
        raise IndexError(
            f"best_index_ index out of range: refit={repr_on_one_line(refit)} gave "
            f"{chosen_number}, and "
            "there are "
            f"{n_settings} settings, from 0 on."
        )
    return replace(curve, best=int(chosen_number), rule=repr_on_one_line(refit))
