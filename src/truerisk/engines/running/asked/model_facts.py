"""The degrees of freedom and the linear rules that fitted models state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import Enquiry
from truerisk.engines.running.asked.asker import Asker
from truerisk.models.stated.degrees_of_freedom import bring_to_minimum, degrees_of_freedom
from truerisk.models.stated.linear_rule import linear_rule, why_no_rule
from truerisk.plan.extras.model_facts import free_fits, ruled_fits
from truerisk.plan.plan import Plan


class StatesFacts(Asker):
    """Asks the models of the fits that a plan names."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.free = frozenset(free_fits(plan).tolist())
        self.ruled = frozenset(ruled_fits(plan).tolist())

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        return why_no_rule(family.last, family.settings) if self.ruled else None

    @override
    def prepare(self, model: Any, fit: int) -> None:
        if fit in self.free:
            bring_to_minimum(model)

    @override
    def say(self, model: Any, data: Data, given: Any, tests: Sequence[Enquiry]) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if given.fit in self.free:
            facts["freedom"] = degrees_of_freedom(model, given.cut(), given.weights)
        if given.fit in self.ruled:
            facts["rules"] = linear_rule(model, given.cut(), data.classes)
        return facts
