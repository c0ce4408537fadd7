"""Hooks by which the generic engine computes the extra outputs that a plan requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.running.answering import RowsToPredict
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan


class ExtraOutputs:
    """Base class of hooks that compute extra outputs of fitted models, such as row counts.

    This class itself computes none.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def refusal(self, family: Family, request: Request) -> str | None:
        """Return why the extra outputs cannot be computed for this family, or None if they can."""
        return None

    def prepare(self, model: Any, fit: int) -> None:
        """Change a model in place before it is fitted on the training rows of fit number `fit`."""

    def predictor_for(self, model: Any, fit_input: Any, test_rows: RowsToPredict) -> Any:
        """Return the object that predicts training rows: the fitted model, unless overridden."""
        return model

    def extra_outputs(
        self, model: Any, data: Data, fit_input: Any, tests: Sequence[RowsToPredict]
    ) -> dict[str, Any]:
        """Return the extra outputs of the fitted model, each under the name of its kind."""
        return {}

    def answers(
        self, engine: Engine, family: Family, data: Data, request: Request, run: RunOptions
    ) -> Answers | None:
        """Return the predictions of all fits, or None if the engine has to compute them."""
        return None
