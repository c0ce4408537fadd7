"""The plans of an assessment, drawn once: every learner is tuned and tested on the same splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from truerisk.api.road.problem import Problem, loss_by
from truerisk.api.road.testing_method import testing_method
from truerisk.api.road.usual_word import usual_word
from truerisk.core.contracts import Method, Streams
from truerisk.core.errors import Refusal
from truerisk.core.plan.plan import Plan
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.racing import Racing
from truerisk.methods.words import USUAL_FOLDS, as_method

__all__ = ["Schedule", "usual_method"]

MOST_IN_FOLDS = 10_000


def usual_method(n_rows: int) -> str:
    """How so many rows are usually split: of very many, one test tells enough.

    >>> [usual_method(n) for n in (100, 5_000, 50_000)]
    ['5-fold', '5-fold', 'holdout']
    """
    return USUAL_FOLDS if n_rows <= MOST_IN_FOLDS else "holdout"


@dataclass(frozen=True, eq=False)
class Schedule:
    """The methods that compare settings, the first of which tunes, and the one that tests.

    `given` are the further arguments that change the numbers, as they were typed.
    """

    methods: tuple[Method, ...]
    plans: tuple[Plan, ...]
    nested: Procedure
    nested_plan: Plan
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def draw(
        cls, problem: Problem, methods: Sequence[Any] | None, outer: Any, *, several: bool
    ) -> Schedule:
        """Check the methods and draw their plans; `several` learners are compared inside, too.

        A method that is None is the usual one for so many rows.
        """
        usual = usual_word(problem.data, usual_method(problem.data.n_rows))
        chosen = tuple(as_method(method) for method in methods or (usual,))
        for method in chosen:
            if isinstance(method, Racing):
                raise Refusal(
                    f"how many fits '{method.word}' takes shows as it goes, and an assessment says "
                    "it beforehand: compare settings by their folds, such as '10-fold', or race "
                    "them in HonestSearchCV."
                )
        nested = testing_method(outer, chosen[0], usual, problem.interval, compare=several)
        for method in chosen:
            method.check(problem.data, loss_by(method, problem))
        nested.check(problem.data, loss_by(nested, problem))
        streams = Streams(problem.seed)
        return cls(
            methods=chosen,
            plans=tuple(method.plan(problem.data, streams) for method in chosen),
            nested=nested,
            nested_plan=nested.plan(problem.data, streams),
        )

    def fits(self, n_settings: int, *, twice: bool = False) -> int:
        """How many fits a learner with so many settings needs, with that of the apparent risk.

        Where its scores are asked apart from its labels, the outer winners are fitted `twice`.
        """
        fits = sum(plan.n_fits for plan in self.plans) * n_settings + 1
        fits += self.outside.n_fits * (twice + (not self.shares_fits))
        if self.nested.asks_inside(n_settings):
            fits += self.inside.n_fits * n_settings
        return fits

    @cached_property
    def outside(self) -> Plan:
        """The fits that test, and their questions."""
        return self.nested_plan.only(self.nested_plan.questions("outer"))

    @cached_property
    def inside(self) -> Plan:
        """The fits that compare the settings on outer training rows, and their questions."""
        return self.nested_plan.only(self.nested_plan.questions("inner"))

    @cached_property
    def shares_fits(self) -> bool:
        """Whether the fits that tune on all rows test, too."""
        return self.nested.shares_folds and self.outside.asks_like(self.plans[0])
