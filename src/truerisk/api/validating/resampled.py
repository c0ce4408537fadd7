"""Bootstrap samples in which the whole procedure, tuning and fit, is done anew."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.road.compute import compute
from truerisk.api.road.testing_method import testing_method
from truerisk.api.validating.honest import HonestRun, asking_besides, richest
from truerisk.core.contracts import Request
from truerisk.core.errors import Refusal, TrueRiskWarning
from truerisk.core.plan.samples import times_drawn
from truerisk.core.present import seconds as in_words
from truerisk.core.progress import stage
from truerisk.methods.bootstrap import Bootstrap

__all__ = ["Resampled", "resampled"]

LONG = 60.0  # seconds that deserve a word before they pass


@dataclass(frozen=True, eq=False)
class Resampled:
    """What models of bootstrap samples answer about all rows.

    `times[b, i]` is how often sample b holds row i, `answers[b]` what its model says of all rows.
    `n_failed` samples, whose model failed, are left out.
    """

    times: np.ndarray
    answers: np.ndarray
    n_failed: int
    n_fits: int

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return zip(self.times, self.answers, strict=True)


def resampled(
    run: HonestRun, wanted: Request, replicates: int, samples: Any, seed: int, executor: Any
) -> Resampled:
    """Tune and fit in every sample, and ask each model about all rows.

    The samples are drawn with `seed`, groups whole, or given. Refused where the procedure cannot be
    repeated in a sample.
    """
    problem = replace(run.problem, seed=seed, interval=None, scores={})
    if executor is not None:
        problem = replace(problem, executor=executor)
    method: Any = Bootstrap("bootstrap", replicates, samples)
    if len(problem.family) > 1:
        method = testing_method(method, run.asked.select_by, "10-fold")
    warn_of_hours(run, replicates if samples is None else len(samples))
    with stage("bootstrap"):
        told = compute(asking_besides(problem, wanted), method)
    found = told.evaluation.answers
    if found is None:
        raise Refusal(f"'{told.method.word}' keeps no answers about single rows.")
    answers = richest(found, wanted)
    plan, fine = answers.plan, answers.answered[0]
    questions = np.flatnonzero(fine)
    if not len(questions):
        raise Refusal("the procedure failed in every bootstrap sample.")
    values = np.array([answers.of(int(q))[0] for q in questions])
    return Resampled(
        times_drawn(plan, questions), values, int((~fine).sum()), told.evaluation.n_fits
    )


def warn_of_hours(run: HonestRun, n_samples: int) -> None:
    """A forecast, by what the honest run took for its fits."""
    risk = run.risk
    inside = run.asked.testing.inner_method.word if len(run.problem.family) > 1 else ""
    folds = int(inside.partition("-")[0]) if inside.partition("-")[0].isdigit() else 10
    n_fits = n_samples * (1 + (folds * len(run.problem.family) if inside else 0))
    expected = risk.seconds / max(risk.n_fits, 1) * n_fits
    if expected > LONG:
        warnings.warn(
            f"{n_samples} bootstrap samples of the whole procedure will take about "
            f"{in_words(expected)}: replicates=50 gives a coarser correction, replicates=0 none, "
            "and executor= spreads the fits.",
            TrueRiskWarning,
            stacklevel=4,
        )
