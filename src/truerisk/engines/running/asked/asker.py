"""Hooks of the generic engine for the additional questions of a plan with an `Extra`."""

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
    """A hook that requests nothing further. Subclasses define what differs for their plans."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def refusal(self, family: Family, request: Request) -> str | None:
        """Return why the plan cannot be answered, or None."""
        return None

    def prepare(self, model: Any, fit: int) -> None:
        """Change a model that is about to be fitted."""

    def stand_in(self, model: Any, given: Any, test: Enquiry) -> Any:
        """Return the object that predicts, instead of the model, rows that it was fitted on."""
        return model

    def say(self, model: Any, data: Data, given: Any, tests: Sequence[Enquiry]) -> dict[str, Any]:
        """Return further outputs of the fitted model, by the names that `Gathered` reads."""
        return {}

    def answers(
        self, engine: Engine, family: Family, data: Data, request: Request, run: RunOptions
    ) -> Answers | None:
        """Return the answers to the plan, or None if they come from fits on its training sets."""
        return None
