"""Expected losses over train sets drawn at random, from fits on each of them."""

from __future__ import annotations

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.asked.asker import Asker
from truerisk.engines.running.listed_draws import enumerated, too_many
from truerisk.plan.answers import Answers


class ListsDraws(Asker):
    """Fits every training set that the random draws of a plan can give."""

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        return too_many(self.plan, request)

    @override
    def answers(
        self, engine: Engine, family: Family, data: Data, request: Request, run: RunOptions
    ) -> Answers | None:
        return enumerated(engine, family, data, self.plan, request, run)
