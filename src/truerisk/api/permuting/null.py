"""Risks of a procedure on permuted labels, in this process or on workers."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.permuting.orders import SHIFTS, Orders
from truerisk.api.road.problem import Problem
from truerisk.core.contracts import Method, Streams, Terms
from truerisk.core.errors import Refusal
from truerisk.core.plan.order import is_ordered
from truerisk.core.progress import listen, tell
from truerisk.engines.workers.executors import run_batches, workers_of

__all__ = ["Repeated"]

BATCHES = 4  # for each worker
STEPS = 100  # of the progress that is told in this process


@dataclass(frozen=True, eq=False)
class Repeated:
    """A problem, the method that tells its risk, and the orders of its labels."""

    problem: Problem
    method: Method
    orders: Orders

    def observed(self) -> tuple[float, str]:
        """The risk with the labels as they are, and which engine told it."""
        return self._told(self.problem)

    def risk(self, number: int) -> float:
        """The risk with permuted labels, all splits and choices made anew."""
        data = self.problem.data.with_targets_of(self.orders.of_number(number))
        return self._told(replace(self.problem, data=data))[0]

    def _told(self, problem: Problem) -> tuple[float, str]:
        """Value and engine: what `compute` finds, without its intervals and papers."""
        data, loss, asking = problem.data, problem.loss, problem.asking(scores=(), executor=None)
        plan = self.method.plan(data, Streams(problem.seed))
        if self.orders.what != SHIFTS and is_ordered(plan):
            raise Refusal(
                "the splits go forward in time, and rows in the order of time are not "
                "exchangeable: permuted labels would have another dependence than y has. With "
                "time= they are taken on in time instead."
            )
        terms = Terms(
            problem.confidence_level, problem.rule, len(problem.family), with_errors=False
        )
        found = self.method.evaluate(asking, data, loss, plan, terms)
        tested = found.tested[0] if found.procedure is None else found.procedure
        if not np.isfinite(tested.value):
            raise Refusal(f"a fit failed, so there is no risk to count. {' '.join(tested.notes)}")
        return float(tested.value), asking.engine

    def null(self, n_permutations: int, executor: Any) -> np.ndarray:
        """The risks of so many permutations, which depend on their numbers alone."""
        found = np.empty(n_permutations)
        workers = workers_of(executor)
        size = STEPS if workers is None else BATCHES * workers
        batches = np.array_split(np.arange(n_permutations), min(size, n_permutations))
        tell(0, n_permutations, "permutations")
        done = 0
        with closing(run_batches(executor, _risks, (self,), batches)) as coming:
            for number, risks in coming:
                found[batches[number]] = risks
                done += len(risks)
                tell(done, n_permutations, "permutations")
        return found


def _risks(procedure: Repeated, numbers: np.ndarray) -> list[float]:
    """The risks of these permutations; what fits warn of was said of the labels as they are."""
    with listen(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [procedure.risk(int(j)) for j in numbers]
