"""The part of the generic engine that asks what one type of `Extra` asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.running.answering import Enquiry
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan


class Asker:
    """Asks nothing further; a subclass says what is different for its plans."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def refusal(self, family: Family, request: Request) -> str | None:
        """Why the plan cannot be answered, or None."""
        return None

    def prepare(self, model: Any, fit: int) -> None:
        """Change a model that is about to be fitted."""

    def stand_in(self, model: Any, given: Any, test: Enquiry) -> Any:
        """What answers, in the place of the model, about rows that it was fitted on."""
        return model

    def say(self, model: Any, data: Data, given: Any, tests: Sequence[Enquiry]) -> dict[str, Any]:
        """What the fitted model says besides its answers, by the names that `Gathered` reads."""
        return {}

    def answers(
        self, engine: Engine, family: Family, data: Data, request: Request, run: RunOptions
    ) -> Answers | None:
        """The answers to the plan, None where fits on its train sets give them."""
        return None
