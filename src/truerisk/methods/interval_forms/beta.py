"""The Beta posterior of an error rate."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.losses import Loss
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.form import NO_SPREAD, Evidence, IntervalForm, Sureness
from truerisk.methods.interval_forms.wald import variance_of_mean

__all__ = ["BetaPosterior"]

SEVERAL_RULES = (
    "the rows of different splits were tested by different rules; their errors are counted as if "
    "one rule had made them."
)


class BetaPosterior(IntervalForm):
    r"""Equal-tailed interval of Beta(e + 1, n − e + 1), e errors in n rows that were tested once.

    Rows of a hold-out are independent tests of one rule, and the posterior is exact. Those of
    several folds are not, and a note says so. With groups the rows count for
    n/max(1, d), d the factor by which groups enlarge the variance of the mean (`beta-grouped`).
    """

    word: ClassVar[str] = "beta"

    def check(self, data: Data, loss: Loss) -> None:
        super().check(data, loss)
        if not loss.binary:
            raise Refusal(
                f"interval 'beta' is the posterior of an error rate, and loss '{loss.word}' is "
                "no count of errors: use loss='zero-one', or interval='wald'."
            )
        if data.sample_weight is not None:
            raise Refusal(
                "interval 'beta' counts errors, and weighted rows have no count: use "
                "interval='wald'."
            )

    def of(self, evidence: Evidence) -> Sureness:
        losses, weights = evidence.losses, evidence.weights
        if evidence.repeatedly or losses is None or weights is None:
            raise self.lacks("rows that are tested once", "use interval='beta-ncv'")
        plain, n = variance_of_mean(losses, weights, evidence.value, None)
        effective, name, variance = float(n), self.word, plain
        if evidence.groups is not None:
            name = "beta-grouped"
            variance, _ = variance_of_mean(losses, weights, evidence.value, evidence.groups)
            effective = (
                n / max(1.0, variance / plain)
                if plain > 0
                else float(len(np.unique(evidence.groups)))
            )
        posterior = ErrorPosterior(effective * evidence.value, effective)
        interval = replace(posterior.interval(evidence.terms.confidence_level), method=name)
        several = evidence.split_risks is not None and len(evidence.split_risks) > 1
        notes = ((SEVERAL_RULES,) if several else ()) + (() if variance > 0 else (NO_SPREAD,))
        return variance**0.5 or None, interval, notes
