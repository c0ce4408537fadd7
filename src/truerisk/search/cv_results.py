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
from sklearn.exceptions import FitFailedWarning as TheirWarning

from truerisk.core.arguments import mention, shown
from truerisk.core.errors import BadArgument, FitFailed, FitFailedWarning, warn
from truerisk.core.formats import params_text
from truerisk.engines.running.fitting import why_of
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
    """Rate the settings of a search on all rows; also return its `cv_results_`.

    With `trained` every fit is also tested on its training rows. `several` scores have their own
    names.
    """
    with own_warning(error_score):
        if trained:
            options, scores = _with_training_rows(problem, **options)
        computed = compute(tuning_problem(problem), problem.select_by, **options)
    if error_score != "raise":
        computed = _counted(computed, error_score)
    name = problem.name if several else "score"
    scored = {name: computed, **(computed.by_score if several else {})}
    of_training = dict(zip(scored, scores[-len(scored) :], strict=True)) if trained else {}
    return computed, _cv_results(scored, of_training)


def _with_training_rows(
    problem: Problem, **options: Any
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return options for rating the settings, and each score on each split's training set."""
    problem = tuning_problem(problem)
    told_in, _, plan = draw_plan(problem, problem.select_by)
    answers = problem.asking(**options)(with_training_rows(plan))
    questions = np.arange(plan.n_questions)
    trained = answers.select(questions + plan.n_questions)
    pairs = zip((trained, *trained.also), told_in.losses, strict=True)
    scores = [np.asarray(loss.score(split_risks(each, problem.data, loss))) for each, loss in pairs]
    return {"plan": plan, "known": [answers.select(questions)]}, scores


@contextmanager
def own_warning(error_score: Any) -> Iterator[None]:
    """Suppress the warnings of single failed fits, if one summary warning follows at the end."""
    with warnings.catch_warnings():
        if error_score != "raise":
            warnings.simplefilter("ignore", FitFailedWarning)
        yield


def _cv_results(
    by_score: Mapping[str, Computed], trained: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Collect times, parameters, every score of every split, their mean, spread and rank.

    For a setting that left a race, the splits on which it was not rated are NaN, and so is the
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
    # Settings may have left a race; this is the number of their folds.
    if not computed.method.rates_all:
        results["n_resources"] = answers.made[:, fits].sum(axis=1)
    for name in sorted(set[str]().union(*candidates)):
        results[f"param_{name}"] = _param_column(name, candidates)
    results["params"] = list(map(dict, candidates))
    for name, each in by_score.items():
        loss, tested = each.problem.loss, each.tested
        scores = loss.score(np.array([t.split_risks for t in tested]))
        for split, of_split in enumerate(scores.T):
            results[f"split{split}_test_{name}"] = of_split
        means = loss.score(values_of(tested))
        results[f"mean_test_{name}"] = means
        results[f"std_test_{name}"] = scores.std(axis=1)
        # The best has rank 1; settings within the tie tolerance share the smallest rank; failures
        # are last.
        ranks = np.empty(len(means), dtype=np.int32)
        before = 0
        for group in tied_groups(-np.nan_to_num(means, nan=-np.inf)):
            ranks[group] = before + 1
            before += len(group)
        results[f"rank_test_{name}"] = ranks
    for name, scores in trained.items():
        results |= {f"split{split}_train_{name}": of for split, of in enumerate(scores.T)}
        results[f"mean_train_{name}"] = scores.mean(axis=1)
        results[f"std_train_{name}"] = scores.std(axis=1)
    return results


def _param_column(name: str, candidates: Sequence[Mapping[str, Any]]) -> MaskedArray[Any, Any]:
    """Return the values of one parameter, masked for candidates that do not set it."""
    values = np.empty(len(candidates), dtype=object)
    mask = np.ones(len(candidates), dtype=bool)
    are_numbers = True
    for number, params in enumerate(candidates):
        if name in params:
            value = values[number] = params[name]
            mask[number] = False
            is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            are_numbers = are_numbers and is_number
    if are_numbers:
        values[mask] = values[~mask][0]
        values = np.array(values.tolist())
    return MaskedArray(values, mask=mask)


def say_fits(computed: Computed, results: Mapping[str, Any], verbose: int) -> None:
    """Print the number of fits; from `verbose` 2 also a line per fit, from 3 with its score.

    Settings that share a fit are finished at the same time, so that everything is printed after
    tuning.
    """
    answers = computed.all_answers
    plan = answers.plan
    n_splits, settings = plan.n_questions, results["params"]
    made = answers.made[:, plan.fit]
    if verbose > 0:
        raced = "" if made.all() else "up to "
        print(  # noqa: T201  what verbose asks for
            f"Fitting {raced}{n_splits} folds for each of {len(settings)} candidates, "
            f"totalling {made.sum()} fits"
        )
    if verbose < 2:
        return
    seconds = answers.fit_seconds + answers.answer_seconds
    for number, params in enumerate(settings):
        for split in np.flatnonzero(made[number]).tolist():
            score = f" {_score(results, split, number)}" if verbose > 2 else ""
            spent = seconds[number, plan.fit[split]]
            print(  # noqa: T201
                f"[CV {split + 1}/{n_splits}] END {params_text(params)};{score} "
                f"total time={spent:6.1f}s"
            )


def _score(results: Mapping[str, Any], split: int, number: int) -> str:
    test = results[f"split{split}_test_score"][number]
    trained = results.get(f"split{split}_train_score", np.empty(0))
    if not len(trained):
        return f"score={test:.3f}"
    return f"score=(train={trained[number]:.3f}, test={test:.3f})"


class FitsFailed(FitFailedWarning, TheirWarning):
    """Some fits of a search failed; also of the class of GridSearchCV's warning."""


def _counted(computed: Computed, error_score: float) -> Computed:
    """Assign this score to failed fits; raise if all fits failed."""
    answers = computed.all_answers
    if not answers.failures:
        return computed
    total, failed = answers.n_fits, len(answers.failures)
    reasons = Counter(why_of(failure.sentence) for failure in answers.failures)
    failures = "\n".join(
        f"{n} fits failed with the following error:\n{why}" for why, n in reasons.items()
    )
    if failed == total:
        raise FitFailed.like(
            "ValueError",
            f"All the {total} fits failed: it is likely that your model is misconfigured. Use "
            f"error_score='raise' to see where the first one does.\n{failures}",
        )
    warn(
        f"{failed} fits failed out of a total of {total}.\nThe score on these train-test "
        f"partitions for these parameters will be set to {error_score}. Use error_score='raise' "
        f"to see where the first one does.\n{failures}",
        FitsFailed,
    )
    if np.isnan(error_score):
        return computed
    losses = computed.problem.losses
    whole, *scores = (
        _with_score(rated, answers.answered, loss.perfect - error_score)
        for rated, loss in zip((computed, *computed.scores), losses, strict=True)
    )
    return replace(computed, tested=whole.tested, scores=tuple(scores))


def _with_score(evaluation: Evaluation, answered: np.ndarray, risk: float) -> Evaluation:
    """Assign a risk to the fits that failed."""
    risks = np.array([tested.split_risks for tested in evaluation.tested])
    risks[~answered] = risk
    tested = (
        replace(tested_fold, value=float(of_one.mean()), split_risks=of_one)
        for tested_fold, of_one in zip(evaluation.tested, risks, strict=True)
    )
    return replace(evaluation, tested=tuple(tested))


def chosen_by(refit: Callable[..., Any], curve: RiskCurve, results: Mapping[str, Any]) -> RiskCurve:
    """Return the curve with the best setting that a function chooses by its number."""
    number, n_settings = refit(results), len(results["params"])
    if not isinstance(number, int | np.integer):
        raise BadArgument(
            f"best_index_ returned is not an integer: {mention('refit', refit)} gave "
            f"{shown(number)}."
        )
    if not 0 <= number < n_settings:
        raise IndexError(
            f"best_index_ index out of range: refit={shown(refit)} gave {number}, and there are "
            f"{n_settings} settings, from 0 on."
        )
    return replace(curve, best=int(number), rule=shown(refit))
