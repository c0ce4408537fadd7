"""Properties of fitted models: their degrees of freedom and their linear rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.blocks import places_among
from truerisk.plan.extra import Extra, ExtraAnswers, Gathered, end_to_end
from truerisk.plan.extras.linear_rules import LinearRules, gathered
from truerisk.plan.plan import Plan

LACKING = {
    "freedom": "it does not state the degrees of freedom of its models.",
    "rules": "it does not give the coefficients of its models.",
}


@frozen(eq=False)
class ModelFacts(Extra):
    """Questions about properties of the models, each a list of questions (ascending) or None.

    Questions in `freedom` request the degrees of freedom of the model that answers, questions in
    `rules` its linear rule.
    """

    freedom: np.ndarray | None = None
    rules: np.ndarray | None = None

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {name: LACKING[name] for name in self.arrays()}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> ModelFacts | None:
        freedom, rules = (places_among(one, questions) for one in (self.freedom, self.rules))
        return None if freedom is None and rules is None else ModelFacts(freedom, rules)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        both = {"freedom": self.freedom, "rules": self.rules}
        return {name: array for name, array in both.items() if array is not None}

    @classmethod
    @override
    def read(cls, arrays: Mapping[str, np.ndarray]) -> ModelFacts:
        return cls(**{name: arrays[name].astype(np.int32) for name in LACKING if name in arrays})

    @override
    def after(self, n_fits: int, n_questions: int) -> ModelFacts:
        moved = {name: array + n_questions for name, array in self.arrays().items()}
        return ModelFacts(**{name: array.astype(np.int32) for name, array in moved.items()})

    @override
    def joined(self, others: Sequence[ModelFacts]) -> ModelFacts:
        every = [self, *others]
        return ModelFacts(
            end_to_end([one.freedom for one in every]), end_to_end([one.rules for one in every])
        )

    @override
    def gather(self, plan: Plan, n_candidates: int, n_classes: int) -> GatheredFacts:
        free = self.freedom is not None
        table = np.full((n_candidates, plan.n_fits), np.nan) if free else None
        return GatheredFacts(free_fits(plan), ruled_fits(plan), table, self.rules is not None)


@frozen(eq=False)
class Facts(ExtraAnswers):
    """Properties of the fitted models.

    `freedom[c, f]` holds the degrees of freedom of candidate c in fit f if a question requests
    them, and NaN otherwise. `rules` are the linear rules of the fits for which they are requested.
    """

    freedom: np.ndarray | None = None
    rules: tuple[LinearRules, ...] | None = None

    @override
    def select(self, plan: Plan, questions: np.ndarray) -> Facts | None:
        fits = np.unique(plan.fit[questions])
        requested = ModelFacts.from_holder(plan)
        requested = None if requested is None else requested.select(questions, fits)
        if requested is None:
            return None
        free = self.freedom is not None and requested.freedom is not None
        freedom = self.freedom[:, fits] if free and self.freedom is not None else None
        if self.rules is None or requested.rules is None:
            return Facts(freedom)
        place = {int(fit): number for number, fit in enumerate(fits)}
        retained = (replace(r, fit=place[r.fit]) for r in self.rules if r.fit in place)
        return Facts(freedom, tuple(retained))

    @override
    def joined(self, others: Sequence[tuple[int, Any]]) -> Facts:
        every = [(0, self), *others]
        rules = [
            replace(rule, candidates=rule.candidates + first)
            for first, one in every
            for rule in one.rules or ()
        ]
        return Facts(
            end_to_end([one.freedom for _, one in every]),
            None if self.rules is None else tuple(sorted(rules, key=lambda rule: rule.fit)),
        )


@frozen(eq=False)
class GatheredFacts(Gathered):
    """Collects properties of models as they arrive.

    `free` and `ruled` are the fits for which degrees of freedom and linear rules are requested.
    """

    free: np.ndarray
    ruled: np.ndarray
    freedom: np.ndarray | None
    has_rules: bool
    rules: list[LinearRules] = field(default_factory=list)

    @override
    def place(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        self.correct(fit, line, facts)
        if facts.get("rules") is not None:
            one = replace(facts["rules"], fit=fit, candidates=np.array([line]))
            if self.rules and self.rules[-1].shares_rows_with(one):
                one = replace(one, rows=self.rules[-1].rows)  # Equal rows are stored once.
            self.rules.append(one)

    @override
    def correct(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        if self.freedom is not None and "freedom" in facts:
            self.freedom[line, fit] = facts["freedom"]

    @override
    def finished(self) -> Facts:
        return Facts(self.freedom, gathered(self.rules) if self.has_rules else None)


def free_fits(plan: Plan) -> np.ndarray:
    """Return the fits whose degrees of freedom are requested, ascending."""
    facts = ModelFacts.from_holder(plan)
    return _fits(plan, None if facts is None else facts.freedom)


def ruled_fits(plan: Plan) -> np.ndarray:
    """Return the fits whose linear rules are requested, ascending."""
    facts = ModelFacts.from_holder(plan)
    return _fits(plan, None if facts is None else facts.rules)


def _fits(plan: Plan, questions: np.ndarray | None) -> np.ndarray:
    return np.empty(0, np.int32) if questions is None else np.unique(plan.fit[questions])


def freedom_of(answers: Any) -> np.ndarray | None:
    """Return the degrees of freedom in these answers, or None if the plan requested none."""
    facts = Facts.from_holder(answers)
    return None if facts is None else facts.freedom


def rules_of(answers: Any) -> tuple[LinearRules, ...] | None:
    """Return the linear rules in these answers, or None if the plan requested none."""
    facts = Facts.from_holder(answers)
    return None if facts is None else facts.rules
