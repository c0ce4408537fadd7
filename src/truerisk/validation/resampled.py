"""Bootstrap samples in which the whole procedure, tuning and fit, is repeated."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Request, Streams
from truerisk.core.errors import Refusal, TrueRiskWarning, warn
from truerisk.core.formats import seconds as in_words
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.estimation.run import compute
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.pairs import testing_method
from truerisk.methods.words import default_name
from truerisk.plan.partitions import times_drawn
from truerisk.plan.plan import Plan
from truerisk.validation.honest import HonestRun, with_extra_answers
from truerisk.validation.wishes import NOT_ROW_BY_ROW

LONG = 60.0  # Expected seconds from which the user is warned.


@frozen
class EveryClass(Bootstrap):
    """Bootstrap samples that contain every class.

    Otherwise fewer classes, or nothing, could be fitted.
    """

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        with warnings.catch_warnings():
            # A note reports the number of omitted samples.
            warnings.simplefilter("ignore", TrueRiskWarning)
            plan = super().plan(data, streams)
        if data.task != "classification":
            return plan
        times = times_drawn(plan, np.arange(plan.n_questions))
        drawn = times @ np.eye(data.n_classes)[data.class_codes]
        whole = np.flatnonzero((drawn > 0).all(axis=1))
        if not len(whole):
            n = data.n_classes
            every = "both outcomes" if n == 2 else f"all {n} classes"
            raise Refusal(f"no bootstrap sample holds {every}.")
        return plan.select(whole)


@frozen(eq=False)
class Resampled:
    """Predictions of all rows by models of bootstrap samples.

    `times[b, i]` is the number of copies of row i in sample b, and `answers[b]` holds its model's
    predictions. `n_left_out` samples are omitted: those that lack a class, and those whose model
    failed.
    """

    times: np.ndarray
    answers: np.ndarray
    n_left_out: int
    n_fits: int

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return zip(self.times, self.answers, strict=True)


def resampled(
    run: HonestRun, wanted: Request, replicates: int, samples: Any, seed: int
) -> Resampled:
    """Tune and fit in every sample, and predict all rows with each model.

    The samples are drawn with `seed`, with groups kept whole, or given. It raises if the procedure
    cannot be repeated in a sample, or if rows depend on others that a sample would separate.
    """
    if run.problem.data.dependent:
        raise Refusal(f"a bootstrap sample draws single rows, {NOT_ROW_BY_ROW}")
    problem = replace(run.problem, seed=seed, interval=None, scores={})
    n_samples = replicates if samples is None else max(len(samples), 1)
    method: Any = EveryClass("bootstrap", n_samples, samples)
    if len(problem.family) > 1:
        assert problem.select_by is not None
        method = testing_method(method, problem.select_by, default_name(problem.data))
    _warn_of_hours(run, n_samples)
    with stage("bootstrap"):
        resampled = compute(with_extra_answers(problem, wanted), method)
    found = resampled.answers
    if found is None:
        raise Refusal(f"'{resampled.method.name}' keeps no answers about single rows.")
    answers = next(one for one in (found, *found.also) if one.response == wanted.response)
    plan, fine = answers.plan, answers.answered[0]
    questions = np.flatnonzero(fine)
    if not len(questions):
        raise Refusal("the procedure failed in every bootstrap sample.")
    values = np.array([answers.for_question(int(q))[0] for q in questions])
    return Resampled(
        times_drawn(plan, questions), values, n_samples - len(questions), resampled.n_fits
    )


def _warn_of_hours(run: HonestRun, n_samples: int) -> None:
    """Warn of a long run time, estimated from the time of the honest run's fits."""
    problem, inside = run.problem, 0
    if len(problem.family) > 1:
        assert problem.select_by is not None
        inside = problem.select_by.plan(problem.data, Streams(problem.seed)).n_fits
    n_fits = n_samples * (1 + inside * len(problem.family))
    expected = run.risk.seconds / max(run.risk.n_fits, 1) * n_fits
    if expected > LONG:
        warn(
            f"{n_samples} bootstrap samples of the whole procedure will take about "
            f"{in_words(expected)}: fewer replicates= give a coarser correction, replicates=0 "
            "gives none, and n_jobs= spreads the fits.",
            TrueRiskWarning,
        )
