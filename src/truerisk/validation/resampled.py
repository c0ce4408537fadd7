"""Repeat the whole procedure, tuning and fit, in bootstrap samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Request, Streams
from truerisk.core.errors import Refusal, TrueRiskWarning, warn
from truerisk.core.formats import format_seconds as in_words
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.estimation.run import compute_risks
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.pairs import testing_method
from truerisk.methods.words import name_default_method
from truerisk.plan.partitions import count_row_copies
from truerisk.plan.plan import Plan
from truerisk.validation.honest import HonestRun, add_score_for_request
from truerisk.validation.wishes import DEPENDENT_ROWS_REASON

LONG_RUN_SECONDS = (
    60.0  # The user is warned if bootstrap samples are expected to take more seconds.
)


@frozen
class BootstrapWithEveryClass(Bootstrap):
    """Bootstrap method whose samples all contain every class.

    In other samples fewer classes, or nothing, could be fitted.
    """

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        with warnings.catch_warnings():
            # A note reports the number of omitted samples instead of a warning.
            warnings.simplefilter("ignore", TrueRiskWarning)
            plan = super().plan(data, streams)
        if data.task != "classification":
            return plan
        row_copies = count_row_copies(plan, np.arange(plan.n_questions))
        class_counts_by_sample = row_copies @ np.eye(data.n_classes)[data.class_codes]
        complete_samples = np.flatnonzero((class_counts_by_sample > 0).all(axis=1))
        if not len(complete_samples):
            n_classes = data.n_classes
            classes_text = "both outcomes" if n_classes == 2 else f"all {n_classes} classes"
            raise Refusal(f"no bootstrap sample holds {classes_text}.")
        return plan.select(complete_samples)


@frozen(eq=False)
class BootstrapPredictions:
    """Predictions of all rows by the models of bootstrap samples.

    `row_copies[b, i]` is the number of copies of row i in sample b, and `answers[b]` holds the
    predictions of the model of sample b. `n_omitted_samples` samples are omitted: those that lack a
    class, and those whose model failed.
    """

    row_copies: np.ndarray
    answers: np.ndarray
    n_omitted_samples: int
    n_fits: int

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return zip(self.row_copies, self.answers, strict=True)


def bootstrap_predictions(
    run: HonestRun, request: Request, replicates: int, samples: Any, seed: int
) -> BootstrapPredictions:
    """Tune and fit in every bootstrap sample, and predict all rows with each model.

    The samples are given, or drawn with `seed` with groups kept whole. Refusal is raised if the
    procedure cannot be repeated in a sample, or if rows depend on others that a sample would
    separate.
    """
    if run.problem.data.dependent:
        raise Refusal(f"a bootstrap sample draws single rows, {DEPENDENT_ROWS_REASON}")
    problem = replace(run.problem, seed=seed, interval=None, scores={})
    n_samples = replicates if samples is None else max(len(samples), 1)
    method: Any = BootstrapWithEveryClass("bootstrap", n_samples, samples)
    if len(problem.family) > 1:
        assert problem.tuning_method is not None
        method = testing_method(method, problem.tuning_method, name_default_method(problem.data))
    _warn_of_long_run_time(run, n_samples)
    with stage("bootstrap"):
        computation = compute_risks(add_score_for_request(problem, request), method)
    resampled_predictions = computation.answers
    if resampled_predictions is None:
        raise Refusal(f"'{computation.method.name}' keeps no answers about single rows.")
    requested_predictions = next(
        predictions
        for predictions in (resampled_predictions, *resampled_predictions.also)
        if predictions.response == request.response
    )
    plan, is_fitted = requested_predictions.plan, requested_predictions.answered[0]
    fitted_samples = np.flatnonzero(is_fitted)
    if not len(fitted_samples):
        raise Refusal("the procedure failed in every bootstrap sample.")
    values = np.array(
        [requested_predictions.for_question(int(sample))[0] for sample in fitted_samples]
    )
    return BootstrapPredictions(
        count_row_copies(plan, fitted_samples),
        values,
        n_samples - len(fitted_samples),
        computation.n_fits,
    )


def _warn_of_long_run_time(run: HonestRun, n_samples: int) -> None:
    """Warn of a long run time, estimated from the time of the fits of the honest run."""
    problem, n_inner_fits = run.problem, 0
    if len(problem.family) > 1:
        assert problem.tuning_method is not None
        n_inner_fits = problem.tuning_method.plan(problem.data, Streams(problem.seed)).n_fits
    n_fits = n_samples * (1 + n_inner_fits * len(problem.family))
    expected_seconds = run.risk.seconds / max(run.risk.n_fits, 1) * n_fits
    if expected_seconds > LONG_RUN_SECONDS:
        warn(
            f"{n_samples} bootstrap samples of the whole procedure will take about "
            f"{in_words(expected_seconds)}: fewer replicates= give a coarser correction, "
            "replicates=0 gives none, and n_jobs= spreads the fits.",
            TrueRiskWarning,
        )
