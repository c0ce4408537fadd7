"""Random splits of all rows, and of disjoint halves, whose spread needs no losses of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.arguments import check_count, check_flag, check_share
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.errors import BadData
from truerisk.core.evaluation import Tested
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss
from truerisk.core.plan.blocks import ALL
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms import as_form
from truerisk.methods.interval_forms.evidence import HalfEvidence
from truerisk.methods.interval_forms.form import NONE, if_independent
from truerisk.methods.parts.averages import tested_with
from truerisk.methods.parts.set_risks import split_risks
from truerisk.resampling.folds import draw_folds
from truerisk.resampling.samples import draw_held_out

__all__ = ["PairedHalves"]


@dataclass(frozen=True)
class PairedHalves(Method):
    r"""Monte-Carlo cross-validation whose interval comes from disjoint halves of the rows.

    The value is the mean risk of `splits` random splits that hold out `test_share` of all rows.
    Besides, the rows are cut into two halves `pairs` times, and in either half as many test rows
    are held out `splits` times. The means of two halves share no row, so their squared difference
    is an honest, if generous, measure of the error of the value (`conservative-z`). Any loss will
    do, AUC too. `splits` + 2 · `pairs` · `splits` fits.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error.
    """

    splits_drawn: int = 15
    pairs: int = 10
    test_share: float = 0.1
    stratify: bool = True

    word = "paired-halves"
    target: ClassVar[Target] = "Err"
    gives: ClassVar[frozenset[Basis]] = frozenset({Basis.HALVES})

    def __post_init__(self) -> None:
        check_count("splits_drawn", self.splits_drawn)
        check_count("pairs", self.pairs)
        check_share("test_share", self.test_share, below=0.5)
        check_flag("stratify", self.stratify)

    @property
    def bias(self) -> str:
        return f"slightly pessimistic: each model sees {1 - self.test_share:.0%} of the rows"

    def plan(self, data: Data, streams: Streams) -> Plan:
        """Repetition 0 splits all rows, repetitions 1 + 2 r and 2 + 2 r the halves of pair r."""
        if data.n_rows < 8:
            raise BadData(f"halves of {data.n_rows} rows are too small to train and test in.")
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("paired-halves")
        for fold in range(self.splits_drawn):
            rows = draw_held_out(data, self.test_share, rng, stratify=self.stratify)
            test = builder.block(rows)
            builder.ask((ALL, (test,)), (test, ()), fold=fold)
        for pair in range(self.pairs):
            labels = draw_folds(data, 2, rng, stratify=self.stratify)
            for side in range(2):
                rows = np.flatnonzero(labels == side)
                half, base = data.subset(rows), builder.block(rows)
                for fold in range(self.splits_drawn):
                    held = draw_held_out(half, 2 * self.test_share, rng, stratify=self.stratify)
                    test = builder.block(rows[held])
                    place = 1 + 2 * pair + side
                    builder.ask((base, (test,)), (test, ()), repeat=place, fold=fold)
        return builder.build()

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        risks = split_risks(answers, data, loss)
        repeat = answers.plan.repeat
        means = np.stack([risks[:, repeat == r].mean(axis=1) for r in range(repeat.max() + 1)])
        values, sure = means[0], [NONE] * len(risks)
        if terms.with_errors:
            halves = means[1:].T.reshape(len(values), -1, 2)
            evidence = HalfEvidence(values=values, loss=loss, terms=terms, halves=halves)
            sure = if_independent(as_form(terms.interval or "conservative-z"), evidence, data)
        return tested_with(sure, answers, values, risks)
