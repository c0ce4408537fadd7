"""The generic engine: clone, fit, predict, for any model and any plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.errors import UnknownName
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.running.doors import copies
from truerisk.engines.running.fitting import asker_of
from truerisk.engines.running.jobs import run_jobs
from truerisk.plan.answers import Answers
from truerisk.plan.plan import EXTRAS, Plan


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
    serves: ClassVar[frozenset[str]] = frozenset(EXTRAS)
    cuts_columns: ClassVar[bool] = True
    answers_besides: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.error not in ("raise", "warn"):
            raise UnknownName(f"error={self.error!r} is unknown; use 'raise' or 'warn'.")

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        asker = asker_of(plan)
        return None if asker is None else asker.refusal(family, request)

    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        asker = asker_of(plan)
        answers = None if asker is None else asker.answers(self, family, data, request, run)
        if answers is not None:
            return answers
        jobs = [
            (fit, candidates)
            for fit in range(plan.n_fits)
            if (candidates := _candidates_of(fit, len(family), run))
        ]
        context = family, data, plan, request, run
        answers = run_jobs(self.word, jobs, *context, stop=self.error == "raise", batch=self.batch)
        if plan.blocks.counts is None:
            return answers
        return replace(answers, notes=answers.notes + copies().copies_note(family, plan))


def _candidates_of(fit: int, n_candidates: int, run: RunOptions) -> list[int]:
    """The candidates of a fit."""
    if run.only is not None:
        return [int(run.only[fit])]
    if run.needed is not None:
        return [int(candidate) for candidate in np.flatnonzero(run.needed[:, fit])]
    return list(range(n_candidates))
