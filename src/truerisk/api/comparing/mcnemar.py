"""McNemar's test: rows that one rule got wrong and the other right."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.api.comparing.contract import PairedTest, Tolerance
from truerisk.api.comparing.pairing import Basis, Pairs
from truerisk.core.comparison import Comparison
from truerisk.core.errors import Refusal

__all__ = ["McNemar"]


class McNemar(PairedTest):
    r"""Exact: of the m rows on which the rules differ, a is wrong on Bin(m, ½) if they are alike.

    The p-value is min(1, 2 P(Bin(m, ½) ≤ min(n_a, n_b))). `details` has McNemar's (1947)
    chi-square with Edwards' continuity correction, (|n_a − n_b| − 1)²/m, as Dietterich (1998)
    prints it and R's `mcnemar.test` computes it, with its p-value.
    """

    word = "mcnemar"
    works_on: ClassVar[Basis] = "rows"

    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        a, b = pairs.of_rows()
        if not np.isin([a, b], (0, 1)).all():
            raise Refusal("McNemar's test counts errors: losses must be 0 or 1 (loss='zero-one').")
        from scipy.special import bdtr, chdtrc

        a_alone, b_alone = int(((a == 1) & (b == 0)).sum()), int(((b == 1) & (a == 0)).sum())
        m = a_alone + b_alone
        details: dict[str, float] = {"a alone wrong": a_alone, "b alone wrong": b_alone}
        notes: tuple[str, ...] = ()
        p = None
        if m:
            p = min(1.0, 2 * float(bdtr(min(a_alone, b_alone), m, 0.5)))
            chi2 = max(abs(a_alone - b_alone) - 1, 0) ** 2 / m
            details |= {"chi-square, corrected": chi2, "its p-value": float(chdtrc(1, chi2))}
        else:
            notes = ("the two rules err on the same rows: nothing tells them apart.",)
        assumed = ["rows are independent of each other"]
        if not pairs.one_rule:
            assumed.append(
                "the rules are taken as fixed: how they vary over training sets is not counted, "
                "which flatters the p-value after cross-validation"
            )
        return Comparison(
            test=self.word,
            difference=float((a - b).mean()),
            n_pairs=len(a),
            loss=pairs.loss,
            p_value=p,
            details=details,
            assumed=tuple(assumed),
            notes=notes,
        )
