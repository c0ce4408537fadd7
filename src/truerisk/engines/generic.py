"""The generic engine, which clones, fits and predicts; it supports any model and any plan."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.errors import UnknownName
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.doors import copies_module
from truerisk.engines.running.fitting import find_output_hook
from truerisk.engines.running.jobs import run_jobs
from truerisk.plan.answers import Answers
from truerisk.plan.plan import EXTRA_REQUEST_TYPES, Plan


@frozen
class Generic(Engine):
    """Engine that fits each candidate on each training set.

    It is the reference for all other engines, which must return the same numbers.

    Parameters
    ----------
    error : {"raise", "warn"}, default="raise"
        With "raise" the first fit that fails stops the run, and the error names its split and
        parameters. With "warn" the candidates concerned have no risk, and the results of all others
        are returned.
    batch : int, optional
        The number of fits per task. By default each worker gets a few tasks.

    See Also
    --------
    truerisk.engines.names : List the names of engines.
    truerisk.testing.check_engine : Compare an engine with this one.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> engine = tr.engines.Generic()
    >>> tr.estimate_risk(GaussianNB(), X, y, engine=engine).engine
    'generic'
    """

    error: Literal["raise", "warn"] = "raise"
    batch: int | None = None

    name: ClassVar[str] = "generic"
    serves: ClassVar[frozenset[str]] = frozenset(EXTRA_REQUEST_TYPES)
    cuts_columns: ClassVar[bool] = True
    answers_extras: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.error not in ("raise", "warn"):
            raise UnknownName(f"error={self.error!r} is unknown; use 'raise' or 'warn'.")

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        extra_outputs = find_output_hook(plan)
        return None if extra_outputs is None else extra_outputs.refusal(family, request)

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        extra_outputs = find_output_hook(plan)
        predictions = (
            None
            if extra_outputs is None
            else extra_outputs.answers(self, family, data, request, run)
        )
        if predictions is not None:
            return predictions
        jobs = [
            (fit, candidates)
            for fit in range(plan.n_fits)
            if (candidates := _requested_candidates(fit, len(family), run))
        ]
        run_arguments = family, data, plan, request, run
        predictions = run_jobs(
            self.name,
            jobs,
            *run_arguments,
            stops_at_failure=self.error == "raise",
            batch_size=self.batch,
        )
        if plan.blocks.counts is None:
            return predictions
        return replace(
            predictions, notes=predictions.notes + copies_module().copies_note(family, plan)
        )


def _requested_candidates(fit: int, n_candidates: int, run: RunOptions) -> list[int]:
    """Return the candidates whose predictions are requested in this fit."""
    if run.candidate_by_fit is not None:
        return [int(run.candidate_by_fit[fit])]
    if run.is_needed is not None:
        return [int(candidate) for candidate in np.flatnonzero(run.is_needed[:, fit])]
    return list(range(n_candidates))
