"""Plans of an assessment, drawn once for all learners, and the fits that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any

from truerisk.assessment.out_of_fold import refits
from truerisk.contracts import FitStore, Method
from truerisk.core.errors import Refusal
from truerisk.core.family import tunes_inside
from truerisk.core.frozen import frozen
from truerisk.core.progress import Count
from truerisk.estimation.problem import Problem, choose_intervals, draw_plan
from truerisk.estimation.run import Computed, compute, tuning_problem
from truerisk.methods.pairs import testing_method
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import USUAL_FOLDS, as_method, default_name
from truerisk.plan.plan import Plan

MOST_IN_FOLDS = 10_000


def method_name_by_size(n_rows: int) -> str:
    """Name the default splits of so many rows: a single test set if there are very many.

    >>> [method_name_by_size(n) for n in (100, 5_000, 50_000)]
    ['5-fold', '5-fold', 'holdout']
    """
    return USUAL_FOLDS if n_rows <= MOST_IN_FOLDS else "holdout"


@frozen(eq=False)
class Schedule:
    """The methods that compare settings, the first of which tunes, and the one that tests."""

    methods: tuple[Method, ...]
    plans: tuple[Plan, ...]
    nested: Procedure
    nested_plan: Plan

    @classmethod
    def draw(
        cls, problems: Mapping[str, Problem], methods: Sequence[Any] | None, outer: Any
    ) -> Schedule:
        """Check the methods and draw their plans; several learners are compared inside, too.

        A method that is None is the usual one for so many rows.
        """
        problem, several = next(iter(problems.values())), len(problems) > 1
        usual = default_name(problem.data, method_name_by_size(problem.data.n_rows))
        chosen = tuple(map(as_method, methods or (usual,)))
        for method in chosen:
            if method.spares_fits:
                raise Refusal(
                    f"how many fits '{method.name}' takes is known only at its end, and an "
                    "assessment states it beforehand: compare settings by their folds, such as "
                    "'10-fold', or race them in HonestSearchCV."
                )
        nested = testing_method(outer, chosen[0], usual, problem.interval, compare=several)
        # The methods already make the fits that the interval needs.
        plain = replace(problem, interval=None)
        *plans, nested_plan = (draw_plan(plain, method)[2] for method in (*chosen, nested))
        return cls(chosen, tuple(plans), nested, nested_plan)

    def tuned(self, problem: Problem, count: Count, fit_store: FitStore | None) -> list[Computed]:
        """Compute the risk of every setting on all rows, by each of the methods."""
        computations = []
        for method, plan in zip(self.methods, self.plans, strict=True):
            tuning = tuning_problem(replace(problem, interval=None, select_by=method))
            computations.append(compute(tuning, method, plan=plan, fit_store=fit_store))
            count.finish(computations[-1].n_fits)
        return computations

    def with_methods(self, problem: Problem) -> Problem:
        """Return the problem with its methods, and with its intervals as the tests have them."""
        problem = replace(problem, select_by=self.methods[0], testing=self.nested, calibrated=True)
        return choose_intervals(problem, self.nested, self.nested_plan)

    def fits(self, problem: Problem) -> int:
        """Count the fits that a learner needs, with that of the apparent risk.

        Where its scores are asked apart from its labels, the outer winners are fitted twice. A
        search is fitted once more, for its own claim.
        """
        n_settings = len(problem.family)
        fits = sum(map(attrgetter("n_fits"), self.plans)) * n_settings + 1
        outside, inside = map(self.nested_plan.part_named, ("outer", "inner"))
        fits += outside.n_fits * (refits(problem) + (not self.shares_fits))
        if self.nested.asks_inside(n_settings):
            fits += inside.n_fits * n_settings
        return fits + tunes_inside(problem.family)

    @cached_property
    def shares_fits(self) -> bool:
        """True if the fits that tune on all rows test, too."""
        outside = self.nested_plan.part_named("outer")
        return self.nested.shares_folds and outside.asks_like(self.plans[0])
