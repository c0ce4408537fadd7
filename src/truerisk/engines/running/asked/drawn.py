"""Expected losses over randomly drawn training sets, from a fit on each possible set."""

from __future__ import annotations

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.asked.asker import ExtraOutputs
from truerisk.engines.running.listed_draws import expected_losses_of_plan, listed_draws_refusal
from truerisk.plan.answers import Answers


class FitsOfAllDraws(ExtraOutputs):
    """Hook that fits every training set that the random draws of a plan can produce."""

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        return listed_draws_refusal(self.plan, request)

    @override
    def answers(
        self, engine: Engine, family: Family, data: Data, request: Request, run: RunOptions
    ) -> Answers | None:
        return expected_losses_of_plan(engine, family, data, self.plan, request, run)
