"""Held-out parts: once (hold-out), or many times (Monte-Carlo cross-validation)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.arguments import check_count, check_flag, check_share
from truerisk.core.contracts import Method, Streams, Target, Terms, Tested
from truerisk.core.losses import Loss
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms import NO_SPREAD, Evidence, as_form
from truerisk.methods.parts.averages import Average, Averaged, check_average, tested_by_average
from truerisk.resampling.held_out import draw_held_out

__all__ = ["Holdout", "MonteCarlo", "with_posterior"]


def with_posterior(tested: Tested, data: Data, loss: Loss, terms: Terms) -> Tested:
    """The Beta posterior as interval, where one rule was tested on independent rows for errors."""
    independent = data.groups is None and data.sample_weight is None
    if not (loss.binary and independent and tested.losses is not None):
        return tested
    if terms.interval is not None or not np.isfinite(tested.losses).all():
        return tested
    shares = np.full(len(tested.losses), 1 / len(tested.losses))
    evidence = Evidence(tested.value, loss, terms, tested.losses, shares)
    error, interval, notes = as_form("beta").of(evidence)
    kept = tuple(note for note in tested.notes if note not in (*notes, NO_SPREAD))
    return replace(tested, std_error=error, interval=interval, notes=kept + notes)


@dataclass(frozen=True)
class Holdout(Method):
    """One split: fit on `1 - test_share` of the rows, test on the rest.

    For zero-one loss the interval is the Beta posterior of the fitted rule's error rate.
    """

    test_share: float = 1 / 3
    stratify: bool = True

    word = "holdout"
    target: ClassVar[Target] = "Err_XY"
    offers: ClassVar[tuple[str, ...]] = ("wald", "bbc", "beta")

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
        tested = tested_by_average(answers, data, loss, terms, None)
        return [with_posterior(one, data, loss, terms) for one in tested]


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

    def average_of(self, loss: Loss) -> Average | None:
        return self.average
