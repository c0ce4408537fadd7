"""Requested properties of fitted models: their degrees of freedom and their linear rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.blocks import find_positions
from truerisk.plan.extra import Extra, ExtraAnswers, ExtraCollector, concatenate_non_none
from truerisk.plan.extras.linear_rules import LinearRules, merge_linear_rules
from truerisk.plan.plan import Plan

REFUSALS_BY_FACT = {
    "freedom": "it does not state the degrees of freedom of its models.",
    "rules": "it does not give the coefficients of its models.",
}


@frozen(eq=False)
class ModelFacts(Extra):
    """Request for properties of fitted models.

    A method passes it to `PlanBuilder.build`. The answers to the plan then have `extra.freedom`, an
    array with one row per candidate and one column per fit, and `extra.rules`, a tuple of
    `LinearRules`.

    Parameters
    ----------
    freedom : array of int, optional
        Numbers of the test sets, ascending, for whose models the degrees of freedom are requested.
    rules : array of int, optional
        Numbers of the test sets, ascending, for whose models the coefficients of the linear rule
        are requested.

    See Also
    --------
    truerisk.extend.PlanBuilder.build : Takes the request as `extra`.
    truerisk.extend.LinearRules : Coefficients and intercepts of linear models.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import truerisk as tr
    >>> from truerisk.extend import ALL, Asking, Data, Family, ModelFacts, PlanBuilder
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> data = Data.check(X, X @ [1.0, 2.0] + 3.0, task="regression")
    >>> builder = PlanBuilder(data.n_rows)
    >>> _ = builder.ask(train=(ALL, ()), test=(ALL, ()), part="apparent")
    >>> first_test_set = np.zeros(1, np.int32)
    >>> plan = builder.build(ModelFacts(freedom=first_test_set, rules=first_test_set))
    >>> answers = Asking(Family.from_grid(LinearRegression()), data, tr.losses.Squared())(plan)
    >>> answers.extra.freedom
    array([[3.]])
    >>> answers.extra.rules[0].coefficients.round(6)
    array([[[1., 2.]]])
    """

    freedom: np.ndarray | None = None
    rules: np.ndarray | None = None

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {name: REFUSALS_BY_FACT[name] for name in self.arrays()}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> ModelFacts | None:
        freedom, rules = (
            find_positions(requested_test_sets, questions)
            for requested_test_sets in (self.freedom, self.rules)
        )
        return None if freedom is None and rules is None else ModelFacts(freedom, rules)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        arrays_by_name = {"freedom": self.freedom, "rules": self.rules}
        return {name: array for name, array in arrays_by_name.items() if array is not None}

    @classmethod
    @override
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> ModelFacts:
        return cls(
            **{name: arrays[name].astype(np.int32) for name in REFUSALS_BY_FACT if name in arrays}
        )

    @override
    def shift_numbers(self, n_fits: int, n_questions: int) -> ModelFacts:
        shifted = {name: array + n_questions for name, array in self.arrays().items()}
        return ModelFacts(**{name: array.astype(np.int32) for name, array in shifted.items()})

    @override
    def join(self, others: Sequence[ModelFacts]) -> ModelFacts:
        all_requests = [self, *others]
        return ModelFacts(
            concatenate_non_none([facts_request.freedom for facts_request in all_requests]),
            concatenate_non_none([facts_request.rules for facts_request in all_requests]),
        )

    @override
    def make_collector(self, plan: Plan, n_candidates: int, n_classes: int) -> FactCollector:
        has_freedom = self.freedom is not None
        degrees_of_freedom = np.full((n_candidates, plan.n_fits), np.nan) if has_freedom else None
        return FactCollector(
            fits_with_freedom(plan),
            fits_with_rules(plan),
            degrees_of_freedom,
            self.rules is not None,
        )


@frozen(eq=False)
class ModelFactResults(ExtraAnswers):
    """Degrees of freedom and linear rules of fitted models.

    `freedom[c, f]` holds the degrees of freedom of candidate c in fit f if they are requested, and
    NaN otherwise. `rules` are the linear rules of the fits for which they are requested.
    """

    freedom: np.ndarray | None = None
    rules: tuple[LinearRules, ...] | None = None

    @override
    def select(self, plan: Plan, questions: np.ndarray) -> ModelFactResults | None:
        fits = np.unique(plan.fit[questions])
        facts_request = ModelFacts.from_holder(plan)
        facts_request = None if facts_request is None else facts_request.select(questions, fits)
        if facts_request is None:
            return None
        has_freedom = self.freedom is not None and facts_request.freedom is not None
        freedom = self.freedom[:, fits] if has_freedom and self.freedom is not None else None
        if self.rules is None or facts_request.rules is None:
            return ModelFactResults(freedom)
        new_fit_numbers = {int(fit): new_number for new_number, fit in enumerate(fits)}
        selected_rules = (
            replace(rule, fit=new_fit_numbers[rule.fit])
            for rule in self.rules
            if rule.fit in new_fit_numbers
        )
        return ModelFactResults(freedom, tuple(selected_rules))

    @override
    def join(self, others: Sequence[tuple[int, Any]]) -> ModelFactResults:
        all_facts = [(0, self), *others]
        rules = [
            replace(rule, candidates=rule.candidates + first_candidate)
            for first_candidate, candidate_facts in all_facts
            for rule in candidate_facts.rules or ()
        ]
        return ModelFactResults(
            concatenate_non_none([candidate_facts.freedom for _, candidate_facts in all_facts]),
            None if self.rules is None else tuple(sorted(rules, key=lambda rule: rule.fit)),
        )


@frozen(eq=False)
class FactCollector(ExtraCollector):
    """Collector of the degrees of freedom and linear rules of models, fit by fit.

    `freedom_fits` and `rule_fits` are the fits for which degrees of freedom and linear rules are
    requested.
    """

    freedom_fits: np.ndarray
    rule_fits: np.ndarray
    freedom: np.ndarray | None
    has_rules: bool
    rules: list[LinearRules] = field(default_factory=list)

    @override
    def store_results(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        self.correct(fit, line, facts)
        if facts.get("rules") is not None:
            new_rules = replace(facts["rules"], fit=fit, candidates=np.array([line]))
            if self.rules and self.rules[-1].shares_rows_with(new_rules):
                # Equal training rows are stored only once.
                new_rules = replace(new_rules, rows=self.rules[-1].rows)
            self.rules.append(new_rules)

    @override
    def correct(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        if self.freedom is not None and "freedom" in facts:
            self.freedom[line, fit] = facts["freedom"]

    @override
    def to_answers(self) -> ModelFactResults:
        return ModelFactResults(
            self.freedom, merge_linear_rules(self.rules) if self.has_rules else None
        )


def fits_with_freedom(plan: Plan) -> np.ndarray:
    """Return the numbers of the fits whose degrees of freedom a plan requests, ascending."""
    facts_request = ModelFacts.from_holder(plan)
    return _fits_of_test_sets(plan, None if facts_request is None else facts_request.freedom)


def fits_with_rules(plan: Plan) -> np.ndarray:
    """Return the numbers of the fits whose linear rules a plan requests, ascending."""
    facts_request = ModelFacts.from_holder(plan)
    return _fits_of_test_sets(plan, None if facts_request is None else facts_request.rules)


def _fits_of_test_sets(plan: Plan, test_sets: np.ndarray | None) -> np.ndarray:
    return np.empty(0, np.int32) if test_sets is None else np.unique(plan.fit[test_sets])


def get_degrees_of_freedom(answers: Any) -> np.ndarray | None:
    """Return the degrees of freedom in these answers, or None if the plan requested none."""
    model_facts = ModelFactResults.from_holder(answers)
    return None if model_facts is None else model_facts.freedom


def get_linear_rules(answers: Any) -> tuple[LinearRules, ...] | None:
    """Return the linear rules in these answers, or None if the plan requested none."""
    model_facts = ModelFactResults.from_holder(answers)
    return None if model_facts is None else model_facts.rules
