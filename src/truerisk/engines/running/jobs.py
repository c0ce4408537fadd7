"""Run many fits on the user's executor, and store their answers as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request, RunOptions
from truerisk.core.arguments import mention
from truerisk.core.errors import FitFailed, FitFailedWarning, TrueRiskError, message_of, warn
from truerisk.core.family import Family
from truerisk.core.progress import report_progress
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.executors import run_batches
from truerisk.engines.running.fit_warnings import WarningCounts
from truerisk.engines.running.fitting import (
    FitResult,
    Job,
    error_of,
    fit_batch,
)
from truerisk.plan.answers import Answers, Failure, empty_values, with_extras
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.kept_fits import StoredFits

BATCHES_PER_WORKER = 4  # number of batches per worker
# The number of batches per worker if fits are stored: an interrupted batch is lost, so it is small.
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
    stop: bool = True,
    batch: int | None = None,
    fit_function: Callable[..., list[FitResult]] | None = None,
) -> Answers:
    """Run all jobs on the user's executor, and collect the predictions in one `Answers`.

    Fits that are in the user's store are not repeated, and new fits are added to it.
    """
    n_rows_out = len(family) if run.only is None else 1
    if fit_function is None and jobs:  # The learners' own `fit` is called.
        refuse_too_large(family, data, plan)
    collected = _Collected(data, plan, request, n_rows_out, run.needed)
    is_local = run.executor is None
    task = (
        partial(fit_batch, fit_function=fit_function, tries=run.steps)
        if is_local
        else partial(_run_in_worker, fit_function=fit_function)
    )
    shared = (family, data, plan, request, run.seed, stop)
    n_total, unit_name, batches_per_worker = plan.n_fits * n_rows_out, "fits", BATCHES_PER_WORKER
    if run.needed is not None:
        n_total = int(run.needed.sum())
    report_progress(0, n_total)
    store = None
    if run.fit_store is not None and "rules" not in plan.needs:
        store = _split_stored(engine, jobs, family, data, plan, request, run)
        for pieces in store.stored_pieces(collected.values):
            collected.add(pieces, run.only)
        jobs, unit_name, batches_per_worker = store.jobs(), store.unit, BATCHES_PER_WORKER_STORED
        report_progress(collected.n_fits, n_total, unit_name)
    batches = partial(_divide_into_batches, jobs, batch, batches_per_worker)
    results = run_batches(run.executor, task, shared, batches, batch_name=_batch_name)
    with closing(results):
        for pieces in _batch_results(results, run.executor):
            if store is not None:
                store.keep(pieces)
            last_piece = pieces[-1]
            if stop and last_piece.failure is not None:
                raise error_of(last_piece)
            collected.add(pieces, run.only)
            report_progress(collected.n_fits, n_total, unit_name)
    return collected.answers(engine, n_total)


def _split_stored(engine: str, jobs: list[Job], *context: Any) -> StoredFits:
    """Return the jobs of a run, divided into those in the store and those that have to run."""
    check_present("truerisk.engines.running.kept_fits")
    from truerisk.engines.running.kept_fits import read_stored_fits

    return read_stored_fits(engine, jobs, *context)


def _batch_results(
    results: Iterator[tuple[int, list[FitResult]]], executor: Any
) -> Iterator[list[FitResult]]:
    """Yield the results of each batch of fits; raise FitFailed if the executor itself fails."""
    try:
        for _, pieces in results:
            yield pieces
    except TrueRiskError:
        raise
    except Exception as error:
        if executor is None:
            raise
        raise FitFailed(
            f"the executor cannot run the fits ({message_of(error)}): use another one, or "
            f"{mention('n_jobs', None)} to see whether they run in this process."
        ) from error


def _batch_name(batch: list[Job]) -> str:
    """Return the numbers of a batch's fits as text for error messages."""
    first_fit, last_fit = batch[0][0], batch[-1][0]
    return f"fit {first_fit}" if first_fit == last_fit else f"fits {first_fit} to {last_fit}"


def _divide_into_batches(
    jobs: list[Job], batch_size: int | None, batches_per_worker: int, workers: int | None
) -> list[list[Job]]:
    """Divide jobs into batches: single jobs in this process, else several batches per worker."""
    if batch_size is None:
        batch_size = (
            1 if workers is None else max(1, -(-len(jobs) // (batches_per_worker * workers)))
        )
    return [jobs[start : start + batch_size] for start in range(0, len(jobs), batch_size)]


class _Collected:
    """Arrays of predictions, filled in from batches of fits that end in any order."""

    def __init__(
        self,
        data: Data,
        plan: Plan,
        request: Request,
        n_candidates: int,
        only: np.ndarray | None = None,
    ) -> None:
        self.plan, self.request = plan, request
        self.values = [
            empty_values(data, plan, one.response, n_candidates) for one in request.all_requests
        ]
        self.extra = None
        if plan.extra is not None:
            self.extra = plan.extra.gather(plan, n_candidates, data.n_classes)
        is_requested = np.ones((n_candidates, plan.n_fits), dtype=bool) if only is None else only
        self.answered = is_requested[:, plan.fit]
        self.fit_seconds = np.where(is_requested, 0.0, np.nan)
        self.answer_seconds = np.where(is_requested, 0.0, np.nan)
        self.failures: list[Failure] = []
        self.warned = WarningCounts()
        self.n_fits = 0

    def add(self, pieces: list[FitResult], only: np.ndarray | None) -> None:
        for piece in pieces:
            self._add(piece, piece.candidate if only is None else 0)
            self.warned.add(piece.warnings)
        self.n_fits += len(pieces)

    def _add(self, piece: FitResult, row: int) -> None:
        questions_by_fit, starts = self.plan.questions_of
        questions = questions_by_fit[starts[piece.fit] : starts[piece.fit + 1]]
        self.fit_seconds[row, piece.fit] = piece.fit_seconds
        self.answer_seconds[row, piece.fit] = piece.answer_seconds
        if piece.failure is not None:
            self.answered[row, questions] = False
            self.failures.append(Failure(piece.fit, row, piece.failure))
            return
        offsets = self.plan.test_offsets
        by_request = (piece.answers, *piece.further_answers)
        for response, values, answers in zip(
            self.request.responses, self.values, by_request, strict=True
        ):
            for question, answer in zip(questions, answers, strict=True):
                if response == "scored":
                    values[row, question] = answer
                else:
                    values[row, offsets[question] : offsets[question + 1]] = answer
        if self.extra is not None:
            self.extra.place(piece.fit, row, piece.extra)

    def answers(self, engine: str, total: int) -> Answers:
        self.warned.issue_all(total)
        if self.failures:
            warn(
                f"{len(self.failures)} of {total} fits failed; their candidates have no risk. "
                f"The first: {self.failures[0].sentence}",
                FitFailedWarning,
            )
        answers = Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values[0],
            answered=self.answered,
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            failures=tuple(sorted(self.failures, key=lambda f: (f.fit, f.candidate))),
            n_fits=total,
            extra=None if self.extra is None else self.extra.finished(),
        )
        return with_extras(answers, self.request.responses, self.values)


def _run_in_worker(
    *arguments: Any, fit_function: Callable[..., list[FitResult]] | None
) -> list[FitResult]:
    """Run a batch of fits with one BLAS thread, because the worker processes share the cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return fit_batch(*arguments, fit_function=fit_function)
