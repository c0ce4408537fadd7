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
from truerisk.core.progress import tell
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.executors import run_batches
from truerisk.engines.running.fit_warnings import Tally
from truerisk.engines.running.fitting import (
    Job,
    Piece,
    error_of,
    fit_pieces,
)
from truerisk.plan.answers import Answers, Failure, empty_values, with_extras
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.kept_fits import StoredFits

SHARE = 4  # number of batches per worker
# the same if fits are stored; these batches are smaller, because an interrupted batch is lost
SHARE_STORED = 32


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
    one: Callable[..., list[Piece]] | None = None,
) -> Answers:
    """Run `fit_pieces` for all (fit, candidates) on the user's executor, and collect the answers.

    Fits that the keeper has stored are not repeated, and new ones are stored there.
    """
    n_rows_out = len(family) if run.only is None else 1
    if one is None and jobs:  # These are scikit-learn's own fits.
        refuse_too_large(family, data, plan)
    collected = _Collected(data, plan, request, n_rows_out, run.needed)
    here = run.executor is None
    task = partial(fit_pieces, one=one, tries=run.steps) if here else partial(_in_worker, one=one)
    shared = (family, data, plan, request, run.seed, stop)
    total, unit, share = plan.n_fits * n_rows_out, "fits", SHARE
    if run.needed is not None:
        total = int(run.needed.sum())
    tell(0, total)
    store = None
    if run.fit_store is not None and "rules" not in plan.needs:
        store = _split_stored(engine, jobs, family, data, plan, request, run)
        for pieces in store.stored_pieces(collected.values):
            collected.add(pieces, run.only)
        jobs, unit, share = store.jobs(), store.unit, SHARE_STORED
        tell(collected.n_fits, total, unit)
    batches = partial(_batches, jobs, batch, share)
    results = run_batches(run.executor, task, shared, batches, named=_named)
    with closing(results):
        for pieces in _pieces(results, run.executor):
            if store is not None:
                store.keep(pieces)
            last = pieces[-1]
            if stop and last.failure is not None:
                raise error_of(last)
            collected.add(pieces, run.only)
            tell(collected.n_fits, total, unit)
    return collected.answers(engine, total)


def _split_stored(engine: str, jobs: list[Job], *context: Any) -> StoredFits:
    """Return the jobs of a run, divided into stored ones and ones still to run."""
    check_present("truerisk.engines.running.kept_fits")
    from truerisk.engines.running.kept_fits import read_stored_fits

    return read_stored_fits(engine, jobs, *context)


def _pieces(found: Iterator[tuple[int, list[Piece]]], executor: Any) -> Iterator[list[Piece]]:
    """Yield the pieces of each batch; raise FitFailed if the executor itself fails."""
    try:
        for _, pieces in found:
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


def _named(batch: list[Job]) -> str:
    """Return the name of a batch for error messages."""
    first, last = batch[0][0], batch[-1][0]
    return f"fit {first}" if first == last else f"fits {first} to {last}"


def _batches(jobs: list[Job], size: int | None, share: int, workers: int | None) -> list[list[Job]]:
    """Divide jobs into batches: single jobs in this process, else `share` batches per worker."""
    if size is None:
        size = 1 if workers is None else max(1, -(-len(jobs) // (share * workers)))
    return [jobs[start : start + size] for start in range(0, len(jobs), size)]


class _Collected:
    """Collects the answers of batches, which arrive in any order."""

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
        wanted = np.ones((n_candidates, plan.n_fits), dtype=bool) if only is None else only
        self.answered = wanted[:, plan.fit]
        self.fit_seconds = np.where(wanted, 0.0, np.nan)
        self.answer_seconds = np.where(wanted, 0.0, np.nan)
        self.failures: list[Failure] = []
        self.warned = Tally()
        self.n_fits = 0

    def add(self, pieces: list[Piece], only: np.ndarray | None) -> None:
        for piece in pieces:
            self._add(piece, piece.candidate if only is None else 0)
            self.warned.add(piece.warned)
        self.n_fits += len(pieces)

    def _add(self, piece: Piece, row: int) -> None:
        order, starts = self.plan.questions_of
        questions = order[starts[piece.fit] : starts[piece.fit + 1]]
        self.fit_seconds[row, piece.fit] = piece.fit_seconds
        self.answer_seconds[row, piece.fit] = piece.answer_seconds
        if piece.failure is not None:
            self.answered[row, questions] = False
            self.failures.append(Failure(piece.fit, row, piece.failure))
            return
        offsets = self.plan.test_offsets
        by_request = (piece.answers, *piece.also)
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
        self.warned.say(total)
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


def _in_worker(*arguments: Any, one: Callable[..., list[Piece]] | None) -> list[Piece]:
    """Run a batch with one BLAS thread, since the worker processes compete for the cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return fit_pieces(*arguments, one=one)
