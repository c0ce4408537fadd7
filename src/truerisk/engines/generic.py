"""The generic engine: clone, fit, predict, for any model and any plan."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from truerisk.core.answers import Answers, Failure
from truerisk.core.contracts import Engine, Request, Run
from truerisk.core.data import Data
from truerisk.core.errors import FitFailedWarning, UnknownName
from truerisk.core.family import Family
from truerisk.core.plan import Plan
from truerisk.core.progress import tell
from truerisk.engines.enumerating import enumerated, too_many
from truerisk.engines.executors import run_batches, workers_of
from truerisk.engines.fitting import (
    Piece,
    empty_counts,
    empty_values,
    error_of,
    fit_pieces,
    place_counts,
)
from truerisk.engines.warned import Warned, say_once

__all__ = ["Generic"]


@dataclass(frozen=True)
class Generic(Engine):
    """One fit per train set and candidate; the reference that every other engine must equal.

    With `error="raise"` (the default) the first failing fit stops the run and is named with its
    split and parameters; with "warn" the candidates concerned have no risk, the rest is kept.
    `batch` fixes how many fits a task holds (default: a few tasks per worker).
    """

    error: Literal["raise", "warn"] = "raise"
    batch: int | None = None

    word: ClassVar[str] = "generic"
    draws: ClassVar[bool] = True
    counts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.error not in ("raise", "warn"):
            raise UnknownName(f"error={self.error!r} is unknown; use 'raise' or 'warn'.")

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        return too_many(plan, request)

    def run(self, family: Family, data: Data, plan: Plan, request: Request, run: Run) -> Answers:
        if plan.laws is not None:
            return enumerated(self, family, data, plan, request, run)
        batches = self._batches(family, plan, run)
        n_rows_out = len(family) if run.only is None else 1
        collected = _Collected(data, plan, request, n_rows_out)
        shared = (family, data, plan, request, run.seed, self.error == "raise")
        total = plan.n_fits * n_rows_out
        tell(0, total)
        for _, pieces in run_batches(run.executor, _task(run.executor), shared, batches):
            last = pieces[-1]
            if self.error == "raise" and last.failure is not None:
                raise error_of(last)
            collected.add(pieces, run.only)
            tell(collected.n_fits, total)
        return collected.answers(self.word, total)

    def _batches(self, family: Family, plan: Plan, run: Run) -> list[list[tuple[int, list[int]]]]:
        everyone = list(range(len(family)))
        jobs = [
            (fit, everyone if run.only is None else [int(run.only[fit])])
            for fit in range(plan.n_fits)
        ]
        workers = workers_of(run.executor)
        if self.batch is not None:
            size = self.batch
        else:
            size = 1 if workers is None else max(1, -(-len(jobs) // (4 * workers)))
        return [jobs[start : start + size] for start in range(0, len(jobs), size)]


class _Collected:
    """Answers put in their place as batches come in, in any order."""

    def __init__(self, data: Data, plan: Plan, request: Request, n_candidates: int) -> None:
        self.plan, self.request = plan, request
        self.values = empty_values(data, plan, request, n_candidates)
        self.counts = empty_counts(data, plan, n_candidates)
        self.answered = np.ones((n_candidates, plan.n_questions), dtype=bool)
        self.fit_seconds = np.zeros((n_candidates, plan.n_fits))
        self.answer_seconds = np.zeros((n_candidates, plan.n_fits))
        self.failures: list[Failure] = []
        self.warned: list[Warned] = []
        self.n_fits = 0

    def add(self, pieces: list[Piece], only: np.ndarray | None) -> None:
        for piece in pieces:
            self._add(piece, piece.candidate if only is None else 0)
            self.warned.extend(piece.warned)
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
        for question, answer in zip(questions, piece.answers, strict=True):
            if self.request.response == "scored":
                self.values[row, question] = answer
            else:
                offsets = self.plan.test_offsets
                self.values[row, offsets[question] : offsets[question + 1]] = answer
        place_counts(self.counts, self.plan, piece, row)

    def answers(self, engine: str, total: int) -> Answers:
        say_once(self.warned, total)
        if self.failures:
            warnings.warn(
                f"{len(self.failures)} of {total} fits failed; their candidates have no risk. "
                f"The first: {self.failures[0].sentence}",
                FitFailedWarning,
                stacklevel=2,
            )
        return Answers(
            plan=self.plan,
            response=self.request.response,
            values=self.values,
            answered=self.answered,
            engine=engine,
            fit_seconds=self.fit_seconds,
            answer_seconds=self.answer_seconds,
            failures=tuple(sorted(self.failures, key=lambda f: (f.fit, f.candidate))),
            n_fits=total,
            counts=self.counts,
        )


def _task(executor: Any) -> Any:
    return fit_pieces if executor is None else _in_worker


def _in_worker(*arguments: Any) -> list[Piece]:
    """One core per worker process: threads of the BLAS would fight for it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return fit_pieces(*arguments)
