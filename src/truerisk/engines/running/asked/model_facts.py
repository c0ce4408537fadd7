"""The degrees of freedom and the linear classification rules of fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import RowsToPredict
from truerisk.engines.running.asked.asker import ExtraOutputs
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom, tighten_tolerance
from truerisk.models.stated.linear_rule import linear_rule, linear_rule_refusal
from truerisk.plan.extras.model_facts import fits_with_freedom, fits_with_rules
from truerisk.plan.plan import Plan


class ModelFactOutputs(ExtraOutputs):
    """Hook that computes degrees of freedom and linear rules of the fits that a plan names."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.freedom_fits = frozenset(fits_with_freedom(plan).tolist())
        self.rule_fits = frozenset(fits_with_rules(plan).tolist())

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        return linear_rule_refusal(family.last, family.settings) if self.rule_fits else None

    @override
    def prepare(self, model: Any, fit: int) -> None:
        if fit in self.freedom_fits:
            tighten_tolerance(model)

    @override
    def extra_outputs(
        self, model: Any, data: Data, fit_input: Any, tests: Sequence[RowsToPredict]
    ) -> dict[str, Any]:
        outputs_by_name: dict[str, Any] = {}
        if fit_input.fit in self.freedom_fits:
            outputs_by_name["freedom"] = degrees_of_freedom(
                model, fit_input.make_features(), fit_input.weights
            )
        if fit_input.fit in self.rule_fits:
            outputs_by_name["rules"] = linear_rule(model, fit_input.make_features(), data.classes)
        return outputs_by_name
