"""Plans of an assessment, drawn once for all learners, and the number of fits that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any, cast

from truerisk.assessment.out_of_fold import needs_refits
from truerisk.contracts import FitStore, Method
from truerisk.core.errors import Refusal
from truerisk.core.family import tunes_inside
from truerisk.core.frozen import frozen
from truerisk.core.progress import FitCounter
from truerisk.estimation.problem import EstimationProblem, choose_intervals, draw_plan
from truerisk.estimation.run import Computation, compute_risks, tuning_problem
from truerisk.intervals.choice import adapt_method_to_interval
from truerisk.methods.pairs import testing_method
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import DEFAULT_FOLDS, as_method, name_default_method
from truerisk.plan.plan import Plan
from truerisk.search.door import load_from_search

MAX_ROWS_FOR_FOLDS = 10_000


def method_name_by_size(n_rows: int) -> str:
    """Return the name of the default splits for this number of rows.

    Above 10,000 rows it is a single test set.

    >>> [method_name_by_size(n) for n in (100, 5_000, 50_000)]
    ['5-fold', '5-fold', 'holdout']
    """
    return DEFAULT_FOLDS if n_rows <= MAX_ROWS_FOR_FOLDS else "holdout"


@frozen(eq=False)
class Schedule:
    """Resampling methods of an assessment, and their plans.

    `methods` compare the settings, and the first of them tunes. `nested_method` tests the tuning.
    """

    methods: tuple[Method, ...]
    plans: tuple[Plan, ...]
    nested_method: Procedure
    nested_plan: Plan

    @classmethod
    def draw(
        cls, problems: Mapping[str, EstimationProblem], methods: Sequence[Any] | None, outer: Any
    ) -> Schedule:
        """Check the methods and draw a plan for each of them.

        Several learners are compared inside the outer splits, too.

        None stands for the default method for this number of rows.
        """
        problem, has_several_learners = next(iter(problems.values())), len(problems) > 1
        default_method_name = name_default_method(
            problem.data, method_name_by_size(problem.data.n_rows)
        )
        chosen_methods = tuple(map(as_method, methods or (default_method_name,)))
        for method in chosen_methods:
            if method.spares_fits:
                raise Refusal(
                    f"how many fits '{method.name}' takes is known only at its end, and an "
                    "assessment states it beforehand: compare settings by their folds, such as "
                    "'10-fold', or race them in HonestSearchCV."
                )
        data, tuning_method = problem.data, chosen_methods[0]
        nested = testing_method(
            outer, tuning_method, default_method_name, compare=has_several_learners
        )
        if data.groups is not None or data.dependent:
            nested = load_from_search("keep-apart")(nested, tuning_method, data, problem.seed)
        if problem.interval is not None:
            nested = cast(Procedure, adapt_method_to_interval(nested, problem.interval))
        # No interval is requested here, since the plans already hold the fits that an interval
        # needs.
        plain_problem = replace(problem, interval=None)
        *plans, nested_plan = (
            draw_plan(plain_problem, method)[2] for method in (*chosen_methods, nested)
        )
        return cls(chosen_methods, tuple(plans), nested, nested_plan)

    def tune(
        self, problem: EstimationProblem, fit_counter: FitCounter, fit_store: FitStore | None
    ) -> list[Computation]:
        """Estimate the risk of every setting from all rows, once by each method of the schedule."""
        computations = []
        for method, plan in zip(self.methods, self.plans, strict=True):
            problem_to_tune = tuning_problem(replace(problem, interval=None, tuning_method=method))
            computations.append(
                compute_risks(problem_to_tune, method, plan=plan, fit_store=fit_store)
            )
            fit_counter.finish(computations[-1].n_fits)
        return computations

    def with_methods(self, problem: EstimationProblem) -> EstimationProblem:
        """Return the problem with this schedule's methods, and intervals for the test splits."""
        problem = replace(
            problem,
            tuning_method=self.methods[0],
            testing_method=self.nested_method,
            uses_calibrated_interval=True,
        )
        return choose_intervals(problem, self.nested_method, self.nested_plan)

    def n_fits(self, problem: EstimationProblem) -> int:
        """Count all fits for the assessment of a learner, including the fit for the apparent risk.

        If its probabilities are requested apart from its labels, the outer winners are fitted
        twice. A learner that searches inside its fit is fitted once more, for the score that it
        claims itself.
        """
        n_settings = len(problem.family)
        n_fits = sum(map(attrgetter("n_fits"), self.plans)) * n_settings + 1
        outer_plan, inner_plan = map(self.nested_plan.part_named, ("outer", "inner"))
        n_fits += outer_plan.n_fits * (needs_refits(problem) + (not self.shares_fits))
        if self.nested_method.asks_inside(n_settings):
            n_fits += inner_plan.n_fits * n_settings
        return n_fits + tunes_inside(problem.family)

    @cached_property
    def shares_fits(self) -> bool:
        """True if the fits that tune on all rows are used for testing as well."""
        outer_plan = self.nested_plan.part_named("outer")
        return self.nested_method.shares_folds and outer_plan.asks_like(self.plans[0])
