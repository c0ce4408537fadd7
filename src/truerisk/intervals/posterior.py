"""The Bayesian posterior of an error rate, from rows that were tested once."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.overrides import override
from truerisk.intervals.form import (
    NO_SPREAD,
    OF_A_MEAN,
    ONE_ROW_NOTE,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
)
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.interval import Basis

SEVERAL_MODELS_NOTE = (
    "different splits tested different models; the posterior counts their errors as if one model "
    "had made them."
)


class BetaPosterior(IntervalForm[RowEvidence]):
    r"""Equal-tailed interval of the posterior Beta(e + 1, n − e + 1) for e errors in n test rows.

    Each row was tested once. Rows of a hold-out are independent tests of one model, and the
    posterior is exact. Rows of several folds are not, and a note says so. With groups, the number
    of rows is n/max(1, d), where d is the factor by which groups enlarge the variance of the mean
    (`beta-grouped`).
    """

    name: ClassVar[str] = "beta"
    needs: ClassVar[Needs] = {
        **OF_A_MEAN,
        Basis.ERROR_COUNT: f"use {mention('scoring', 'zero-one')}, or interval='wald'",
        Basis.EQUAL_ROWS: "use interval='wald'",
        Basis.ONCE: "use interval='beta-ncv'",
    }
    reference: ClassVar[str] = (
        "Gelman A, Carlin JB, Stern HS, Dunson DB, Vehtari A, Rubin DB (2013). Bayesian data "
        "analysis, 3rd edition. CRC Press, chapter 2."
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        value, groups = float(evidence.values[c]), evidence.groups
        row_variance, n_rows = evidence.variance(c, None)
        effective_rows, variance = float(n_rows), row_variance
        if groups is not None:
            variance, _ = evidence.variance(c, groups)
            n_groups = float(len(np.unique(groups)))
            effective_rows = (
                n_rows / max(1.0, variance / row_variance) if row_variance > 0 else n_groups
            )
        posterior = ErrorPosterior(effective_rows * value, effective_rows)
        interval = posterior.interval(evidence.terms.confidence_level)
        several_models_note = (SEVERAL_MODELS_NOTE,) if len(evidence.split_risks[c]) > 1 else ()
        one_row_note = (ONE_ROW_NOTE,) if n_rows < 2 else ()
        notes = several_models_note + one_row_note + (() if variance > 0 else (NO_SPREAD,))
        return variance**0.5 or None, replace(interval, method=evidence.named(self.name)), notes
