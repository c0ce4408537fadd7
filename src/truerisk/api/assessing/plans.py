"""The plans of an assessment, drawn once: every learner is tuned and tested on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from truerisk.api.road.problem import Problem, loss_by, method_of
from truerisk.core.contracts import Method, Streams
from truerisk.core.plan.plan import Plan
from truerisk.methods.nested import Nested
from truerisk.methods.words import as_method

__all__ = ["Schedule", "usual_method"]

FOLDS = ((2_000, "10-fold"), (10_000, "5-fold"))


def usual_method(n_rows: int) -> str:
    """How so many rows are usually split: the more there are, the less a repetition tells.

    >>> [usual_method(n) for n in (100, 5_000, 50_000)]
    ['10-fold', '5-fold', 'holdout']
    """
    return next((word for most, word in FOLDS if n_rows <= most), "holdout")


@dataclass(frozen=True, eq=False)
class Schedule:
    """The methods that compare settings, the first of which tunes; the outer one; their plans."""

    methods: tuple[Method, ...]
    plans: tuple[Plan, ...]
    outer: Method
    nested: Nested
    nested_plan: Plan

    @classmethod
    def draw(
        cls, problem: Problem, methods: Sequence[Any] | None, outer: Any, *, several: bool
    ) -> Schedule:
        """Check the methods and draw their plans; `several` learners are compared inside, too.

        A method that is None is the usual one for so many rows.
        """
        usual = usual_method(problem.data.n_rows)
        chosen = tuple(as_method(method) for method in methods or (usual,))
        testing = method_of(problem, usual if outer is None else outer)
        nested = Nested(testing, chosen[0], several)
        for method in (*chosen, nested):
            method.check(problem.data, loss_by(method, problem))
        streams = Streams(problem.seed)
        return cls(
            methods=chosen,
            plans=tuple(method.plan(problem.data, streams) for method in chosen),
            outer=testing,
            nested=nested,
            nested_plan=nested.plan(problem.data, streams),
        )

    def fits(self, n_settings: int, *, twice: bool = False) -> int:
        """How many fits a learner with so many settings needs, with that of the apparent risk.

        Where its scores are asked apart from its labels, the outer winners are fitted `twice`.
        """
        whole = self.nested_plan
        fits = sum(plan.n_fits for plan in self.plans) * n_settings + 1
        fits += whole.only(whole.questions("outer")).n_fits * (2 if twice else 1)
        if n_settings > 1 or self.nested.compare:
            fits += whole.only(whole.questions("inner")).n_fits * n_settings
        return fits
