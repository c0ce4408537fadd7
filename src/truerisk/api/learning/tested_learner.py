"""A problem, and the methods that test it with fewer rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.api.road.problem import Problem
from truerisk.core.contracts import Method, Streams
from truerisk.core.errors import Refusal
from truerisk.core.interval import Basis
from truerisk.core.plan.plan import Plan
from truerisk.core.progress import listen
from truerisk.methods.nested import Nested
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.parts.interval_choice import gives
from truerisk.methods.splitter import refuse_known_rows
from truerisk.methods.subsampled import Subsampled

__all__ = ["TestedLearner", "testing"]


@dataclass(frozen=True, eq=False)
class TestedLearner:
    """A problem, the splits that test it, and how its settings are compared inside, if at all."""

    problem: Problem
    method: Averaged
    select_by: Method | None = None
    store: Any = None

    @property
    def n_inner(self) -> int:
        """How many folds compare the settings inside a training set; 0 where nothing is tuned."""
        if self.select_by is None or len(self.problem.family) == 1:
            return 0
        return int(getattr(self.select_by, "k", 10))

    def whole(self) -> Plan:
        """The splits with all of their training rows, if they test every row equally often."""
        plan = self._drawn(self.method)
        refuse_known_rows(self.method, plan)
        given = gives(self.method, self.problem.data, plan)
        if self.method.respects_time or not {Basis.MEAN, Basis.EQUALLY_OFTEN} <= given:
            raise Refusal(
                f"'{self.method.word}' does not test all rows equally often (splits that go "
                "forward in time mix more rows with later ones): use folds, such as '10-fold' or "
                "'5x10-fold'."
            )
        return plan

    def cut(self, n_train: int) -> Plan:
        """The splits with so many training rows."""
        return self._drawn(Subsampled(n_train, self.method))

    def _drawn(self, method: Method) -> Plan:
        streams = Streams(self.problem.seed)
        if self.select_by is not None:
            streams = streams.child("outer")  # where `Nested` draws them
        return method.plan(self.problem.data, streams)

    def at(self, n_train: int) -> tuple[Problem, Method]:
        """What is asked, of fits on so many rows."""
        cut = Subsampled(n_train, self.method)
        problem = replace(self.problem, calibrated="all")
        return problem, cut if self.select_by is None else Nested(cut, self.select_by)

    def asked(self, n_train: int) -> list[tuple[Plan, int]]:
        """The plans of fits on so many rows, each with the number of settings it is asked for."""
        problem, method = self.at(n_train)
        plan, settings = method.plan(problem.data, Streams(problem.seed)), len(problem.family)
        if not isinstance(method, Nested):
            return [(plan, settings)]
        parts = [(plan.only(plan.questions("outer")), 1)]
        if method.asks_inside(settings):
            parts.append((plan.only(plan.questions("inner")), settings))
        return parts

    def try_fit(self, n_train: int) -> None:
        """Fit every setting once on so many rows, the fewest that one of the fits sees."""
        plan = self.asked(n_train)[-1][0]
        part = plan.only(np.flatnonzero(plan.fit == plan.train_sizes.argmin()))
        with listen(None), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.problem.asking(executor=None)(part, None)


def testing(method: Any) -> Averaged:
    """The method, if its training sets can be cut."""
    return Subsampled(1, method).method
