"""The one way from a plan to answers: an engine is chosen, its pass gets a seed, and it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Engine, Keeper, Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.engines.choice import choose_engine

__all__ = ["Asking"]


class Asking:
    """What a method asks through; it remembers which engine answered, and who refused and why.

    Passes of one computation (inner, outer) get seeds of their own, by their number.
    """

    def __init__(
        self,
        family: Family,
        data: Data,
        loss: Loss,
        *,
        engine: Any = "auto",
        executor: Any = None,
        seed: int = 0,
        passes: int = 0,
        keeper: Keeper | None = None,
    ) -> None:
        self.family, self.data, self.loss = family, data, loss
        self.asked, self.executor, self.keeper = engine, executor, keeper
        self.seed, self.passes = seed, passes
        self.engine = ""
        self.refusals: dict[str, str] = {}

    def __call__(self, plan: Plan, only: np.ndarray | None = None) -> Answers:
        """Answers that the loss needs, of all candidates or in fit f of candidate `only[f]`."""
        return self.answers(plan, Request.of(self.loss, plan), only)

    def answers(self, plan: Plan, request: Request, only: np.ndarray | None = None) -> Answers:
        """The next pass, with answers as they are requested."""
        engine = self.choose(plan, request)
        seed = np.random.SeedSequence([self.seed, self.passes]).generate_state(1)[0]
        self.passes += 1
        run = RunOptions(self.executor, int(seed), only, self.keeper)
        return engine.run(self.family, self.data, plan, request, run)

    def choose(self, plan: Plan, request: Request) -> Engine:
        """Which engine answers such a question."""
        engine, refusals = choose_engine(self.asked, self.family, self.data, plan, request)
        self.refusals |= refusals
        self.engine = engine.word
        return engine
