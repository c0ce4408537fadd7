"""Held-out parts: once (hold-out), or many times (Monte-Carlo cross-validation)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truerisk.core.answers import Answers
from truerisk.core.arguments import check_count, check_flag, check_share
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.evaluation import Tested
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import (
    OF_ROW_MEANS,
    Average,
    Averaged,
    check_average,
    tested_by_average,
)
from truerisk.resampling.held_out import draw_held_out

__all__ = ["Holdout", "MonteCarlo", "tested_by_one_split"]


def tested_by_one_split(answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
    """Mean losses; errors of one rule on independent rows have the Beta posterior by default."""
    counts = loss.binary and data.groups is None and data.sample_weight is None
    return tested_by_average(answers, data, loss, terms, None, usual="beta" if counts else None)


@dataclass(frozen=True)
class Holdout(Method):
    """One split: fit on `1 - test_share` of the rows, test on the rest.

    For zero-one loss the interval is the Beta posterior of the fitted rule's error rate.
    """

    test_share: float = 1 / 3
    stratify: bool = True

    word = "holdout"
    target: ClassVar[Target] = "Err_XY"
    gives: ClassVar[frozenset[Basis]] = OF_ROW_MEANS

    def __post_init__(self) -> None:
        check_share("test_share", self.test_share)
        check_flag("stratify", self.stratify)

    @property
    def bias(self) -> str:
        return f"pessimistic for all rows: the model sees {1 - self.test_share:.0%} of them"

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("holdout")
        test = builder.block(draw_held_out(data, self.test_share, rng, stratify=self.stratify))
        builder.ask(train=(ALL, (test,)), test=(test, ()))
        return builder.build()

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_one_split(answers, data, loss, terms)


@dataclass(frozen=True)
class MonteCarlo(Averaged):
    """Monte-Carlo cross-validation: hold-out repeated over `splits` random splits.

    The risks of all splits are kept in `split_risks`: their whole distribution, not its mean only.
    """

    splits_drawn: int = 25
    test_share: float = 1 / 3
    stratify: bool = True
    average: Average | None = None

    word = "monte-carlo"
    target: ClassVar[Target] = "Err"

    def __post_init__(self) -> None:
        check_average(self.average)
        check_count("splits_drawn", self.splits_drawn)
        check_share("test_share", self.test_share)
        check_flag("stratify", self.stratify)

    @property
    def bias(self) -> str:
        return f"pessimistic for all rows: each model sees {1 - self.test_share:.0%} of them"

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("monte-carlo")
        for repeat in range(self.splits_drawn):
            test = builder.block(draw_held_out(data, self.test_share, rng, stratify=self.stratify))
            builder.ask(train=(ALL, (test,)), test=(test, ()), repeat=repeat)
        return builder.build()

    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)
