"""Three-way split (Mehta): train, validate, refit the winner on both, test once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers, Ask
from truerisk.core.arguments import check_flag, check_share
from truerisk.core.contracts import Method, Streams, Target, Terms, in_every_loss
from truerisk.core.errors import BadArgument
from truerisk.core.evaluation import Evaluation, Tested
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.table.data import Data
from truerisk.methods.holdout import tested_by_one_split
from truerisk.methods.parts.averages import OF_ROW_MEANS
from truerisk.methods.parts.choosing_inside import by_fit, choose, tuned, winners_of
from truerisk.resampling.held_out import draw_held_out

__all__ = ["ThreeWay"]


@dataclass(frozen=True)
class ThreeWay(Method):
    """Train, validation and test parts, drawn at random.

    The candidates are fitted on the training part and compared on the validation part; the winner
    is refitted on both and tested once on the test part. `procedure` is that test; the candidates'
    values are their validation risks, of which the smallest is optimistic.
    """

    validation_share: float = 0.25
    test_share: float = 0.25
    stratify: bool = True

    word = "three-way"
    target: ClassVar[Target] = "Err_XY"
    gives: ClassVar[frozenset[Basis]] = OF_ROW_MEANS

    def __post_init__(self) -> None:
        check_share("validation_share", self.validation_share)
        check_share("test_share", self.test_share)
        check_flag("stratify", self.stratify)
        if self._left <= 0:
            raise BadArgument(
                f"shares {self.validation_share} for validation and {self.test_share} for the test "
                "leave nothing to train on; all three parts need rows."
            )

    @property
    def _left(self) -> float:
        return 1 - self.validation_share - self.test_share

    @property
    def bias(self) -> str:
        return f"pessimistic for all rows: the tested model sees {1 - self.test_share:.0%} of them"

    def plan(self, data: Data, streams: Streams) -> Plan:
        rng = streams.get("three-way")
        test = draw_held_out(data, self.test_share, rng, stratify=self.stratify)
        rest = np.setdiff1d(np.arange(data.n_rows), test)
        share = self.validation_share / (1 - self.test_share)
        inside = draw_held_out(data.subset(rest), share, rng, stratify=self.stratify)
        builder = PlanBuilder(data.n_rows)
        held_out, validation = builder.block(test), builder.block(rest[inside])
        builder.ask((ALL, (held_out, validation)), (validation, ()), part="inner", unit=0)
        builder.ask((ALL, (held_out,)), (held_out, ()), part="outer")
        return builder.build()

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        validated = ask(plan.only(plan.questions("inner")))
        tested = tested_by_one_split(validated, data, loss, terms)
        winner = np.array([choose(tested, terms)])
        outside = plan.only(plan.questions("outer"))
        outer = ask(outside, only=by_fit(outside, winner))
        winners, n_fits = winners_of(winner, [tested]), validated.n_fits + outer.n_fits

        def told(loss: Loss, terms: Terms, inner: Answers, outer: Answers) -> Evaluation:
            curve = tuple(tested_by_one_split(inner, data, loss, terms))
            procedure = self.reduce(outer, data, loss, terms)[0]
            return tuned(Evaluation(plan, curve, n_fits, answers=outer), procedure, winners)

        return in_every_loss(told, loss, terms, validated, outer)

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_one_split(answers, data, loss, terms)
