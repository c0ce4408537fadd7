"""Run many fits on the user's executor, and store their answers as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.arguments import mention
from truerisk.core.errors import FitFailed, FitFailedWarning, TrueRiskError, describe_error, warn
from truerisk.core.family import Family
from truerisk.core.progress import fit_follower, report_progress
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.executors import run_batches
from truerisk.engines.running.fit_warnings import WarningCounts
from truerisk.engines.running.fitting import (
    FitResult,
    Job,
    failure_error,
    fit_batch,
)
from truerisk.plan.answers import Answers, Failure, add_further_predictions, allocate_predictions
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.kept_fits import StoredFits

BATCHES_PER_WORKER = 4
# With a store of fits, batches are smaller: an interruption loses the fits of unfinished batches.
BATCHES_PER_WORKER_STORED = 32


def run_jobs(
    engine: str,
    jobs: list[Job],
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    run: RunOptions,
    *,
    stops_at_failure: bool = True,
    batch_size: int | None = None,
    fit_function: Callable[..., list[FitResult]] | None = None,
) -> Answers:
    """Run all jobs on the user's executor, and collect the predictions in one `Answers`.

    Fits that are in the user's store are not repeated, and new fits are added to it.
    """
    n_result_rows = len(family) if run.candidate_by_fit is None else 1
    # Without a `fit_function` of an engine, the learners allocate their own matrices.
    if fit_function is None and jobs:
        refuse_too_large(family, data, plan)
    collector = _ResultCollector(data, plan, request, n_result_rows, run.is_needed)
    if fit_function is None and (follower := fit_follower()) is not None:
        fit_function = follower.fit_function(jobs)
    is_local = run.executor is None
    task = (
        partial(fit_batch, fit_function=fit_function, step_trees=run.step_cache)
        if is_local
        else partial(_run_in_worker, fit_function=fit_function)
    )
    shared_arguments = (family, data, plan, request, run.seed, stops_at_failure)
    n_total_fits, unit_name, batches_per_worker = (
        plan.n_fits * n_result_rows,
        "fits",
        BATCHES_PER_WORKER,
    )
    if run.is_needed is not None:
        n_total_fits = int(run.is_needed.sum())
    report_progress(0, n_total_fits)
    stored_fits = None
    if run.fit_store is not None and "rules" not in plan.needs:
        stored_fits = _find_stored_fits(engine, jobs, family, data, plan, request, run)
        for fit_results in stored_fits.stored_results(collector.values):
            collector.add(fit_results, run.candidate_by_fit)
        jobs, unit_name, batches_per_worker = (
            stored_fits.jobs(),
            stored_fits.progress_unit,
            BATCHES_PER_WORKER_STORED,
        )
        report_progress(collector.n_fits, n_total_fits, unit_name)
    batches = partial(_divide_into_batches, jobs, batch_size, batches_per_worker)
    batch_results = run_batches(
        run.executor, task, shared_arguments, batches, batch_name=_batch_name
    )
    with closing(batch_results):
        for fit_results in _batch_results(batch_results, run.executor):
            if stored_fits is not None:
                stored_fits.store_results(fit_results)
            last_result = fit_results[-1]
            if stops_at_failure and last_result.failure is not None:
                raise failure_error(last_result)
            collector.add(fit_results, run.candidate_by_fit)
            report_progress(collector.n_fits, n_total_fits, unit_name)
    return collector.to_answers(engine, n_total_fits)


def _find_stored_fits(engine: str, jobs: list[Job], *context: Any) -> StoredFits:
    """Return the jobs of a run, divided into stored fits and fits that have to run."""
    check_present("truerisk.engines.running.kept_fits")
    from truerisk.engines.running.kept_fits import read_stored_fits

    return read_stored_fits(engine, jobs, *context)


def _batch_results(
    results: Iterator[tuple[int, list[FitResult]]], executor: Any
) -> Iterator[list[FitResult]]:
    """Yield the results of each batch of fits; raise FitFailed if the executor itself fails."""
    try:
        for _, fit_results in results:
            yield fit_results
    except TrueRiskError:
        raise
    except Exception as error:
        if executor is None:
            raise
        raise FitFailed(
            f"the executor cannot run the fits ({describe_error(error)}): use another one, or "
            f"{mention('n_jobs', None)} to see whether they run in this process."
        ) from error


def _batch_name(batch: list[Job]) -> str:
    """Return the numbers of a batch's fits as text for error messages."""
    first_fit, last_fit = batch[0][0], batch[-1][0]
    return f"fit {first_fit}" if first_fit == last_fit else f"fits {first_fit} to {last_fit}"


def _divide_into_batches(
    jobs: list[Job], batch_size: int | None, batches_per_worker: int, n_workers: int | None
) -> list[list[Job]]:
    """Divide jobs into batches; by default several per worker.

    Without workers each batch is a single job.
    """
    if batch_size is None:
        batch_size = (
            1 if n_workers is None else max(1, -(-len(jobs) // (batches_per_worker * n_workers)))
        )
    return [
        jobs[first_job : first_job + batch_size] for first_job in range(0, len(jobs), batch_size)
    ]


class _ResultCollector:
    """Collector that copies the predictions of fits, which end in any order, into arrays."""

    def __init__(
        self,
        data: Data,
        plan: Plan,
        request: Request,
        n_candidates: int,
        requested_fits: np.ndarray | None = None,
    ) -> None:
        self.plan, self.request = plan, request
        self.values = [
            allocate_predictions(data, plan, single_request.response, n_candidates)
            for single_request in request.all_requests
        ]
        self.extra = None
        if plan.extra is not None:
            self.extra = plan.extra.make_collector(plan, n_candidates, data.n_classes)
        is_requested = (
            np.ones((n_candidates, plan.n_fits), dtype=bool)
            if requested_fits is None
            else requested_fits
        )
        self.answered = is_requested[:, plan.fit]
        self.fit_seconds = np.where(is_requested, 0.0, np.nan)
        self.answer_seconds = np.where(is_requested, 0.0, np.nan)
        self.failures: list[Failure] = []
        self.warned = WarningCounts()
        self.n_fits = 0

    def add(self, fit_results: list[FitResult], requested_fits: np.ndarray | None) -> None:
        for fit_result in fit_results:
            self._add_result(fit_result, fit_result.candidate if requested_fits is None else 0)
            self.warned.add(fit_result.warnings)
        self.n_fits += len(fit_results)

    def _add_result(self, fit_result: FitResult, result_row: int) -> None:
        test_sets_by_fit, fit_offsets = self.plan.questions_of
        test_sets = test_sets_by_fit[fit_offsets[fit_result.fit] : fit_offsets[fit_result.fit + 1]]
        self.fit_seconds[result_row, fit_result.fit] = fit_result.fit_seconds
        self.answer_seconds[result_row, fit_result.fit] = fit_result.answer_seconds
        if fit_result.failure is not None:
            self.answered[result_row, test_sets] = False
            self.failures.append(Failure(fit_result.fit, result_row, fit_result.failure))
            return
        test_offsets = self.plan.test_offsets
        predictions_by_request = (fit_result.answers, *fit_result.further_answers)
        for response, values, predictions in zip(
            self.request.responses, self.values, predictions_by_request, strict=True
        ):
            for test_set, test_set_predictions in zip(test_sets, predictions, strict=True):
                if response == "scored":
                    values[result_row, test_set] = test_set_predictions
                else:
                    values[result_row, test_offsets[test_set] : test_offsets[test_set + 1]] = (
                        test_set_predictions
                    )
        if self.extra is not None:
            self.extra.store_results(fit_result.fit, result_row, fit_result.extra)

    def to_answers(self, engine: str, n_total_fits: int) -> Answers:
        self.warned.issue_all(n_total_fits)
        if self.failures:
            warn(
                f"{len(self.failures)} of {n_total_fits} fits failed; their candidates have no "
                "risk. "
                f"The first: {self.failures[0].message}",
                FitFailedWarning,
            )
        predictions = Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values[0],
            answered=self.answered,
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            failures=tuple(sorted(self.failures, key=lambda f: (f.fit, f.candidate))),
            n_fits=n_total_fits,
            extra=None if self.extra is None else self.extra.to_answers(),
        )
        return add_further_predictions(predictions, self.request.responses, self.values)


def _run_in_worker(
    *arguments: Any, fit_function: Callable[..., list[FitResult]] | None
) -> list[FitResult]:
    """Run a batch of fits with one BLAS thread, because the worker processes share the cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return fit_batch(*arguments, fit_function=fit_function)
