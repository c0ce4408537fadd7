"""Approximate leave-one-out: every row is taken out of the one fit to first order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.errors import Refusal
from truerisk.core.evaluation import Tested
from truerisk.core.losses import Loss
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import tested_by_average

__all__ = ["ApproximateLeaveOneOut"]

WARNING = (
    "approximate: one Newton step per row and, under an L1 penalty, the same columns; error rates "
    "along L1 paths of 50 rows were up to 18 points off those of exact leave-one-out ('loo')"
)
UNSURE = "no formula is stated for the standard error: it would leave the approximation out."


@dataclass(frozen=True)
class ApproximateLeaveOneOut(Method):
    r"""Leave-one-out from one fit, each row taken out by one Newton step (ALO).

    .. math:: \frac{1}{n} \sum_i \ell\left(y_i, s_i + \frac{h_i\, g_i}{1 - h_i W_i}\right),\qquad
        h_i = z_i^\top (Z^\top W Z + D)^{-1} z_i

    with :math:`s_i` the score of row i, g and W the derivatives of its loss in the score, Z the
    columns in the fit and D the curvature of the penalty, which stays as it stands. For squared
    loss without an L1 penalty (`LinearRegression`, `Ridge`, `RidgeClassifier`) it is exact. For
    logistic regression (`LogisticRegression`, `LogisticPath`, two classes) and for `Lasso` and
    `ElasticNet` it is an approximation, good where no row changes which columns are selected; every
    result says so. Other learners are refused, unless they have a method ``taken_out(X, y)``.

    Steps before the learner in a pipeline stay as they were fitted on all rows.

    References
    ----------
    Rad and Maleki (2020), A scalable estimate of the out-of-sample prediction error via approximate
    leave-one-out cross-validation, J. R. Statist. Soc. B 82.
    """

    word = "alo"
    target: ClassVar[Target] = "Err"
    bias = "optimistic where a row decides which columns are selected; else as leave-one-out"
    splits: ClassVar[bool] = False

    def check(self, data: Data, loss: Loss) -> None:
        if loss.response == "scored":
            raise Refusal(
                f"method 'alo' cannot use the scorer {loss.word}, which asks the whole model: use "
                "a loss of truerisk, or 'loo'."
            )
        if data.groups is not None:
            raise Refusal(
                "method 'alo' would ignore the groups: rows are taken out one by one, and others "
                "of their group stay. Use 'K-fold' words, which keep groups together."
            )

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        builder.ask(train=(ALL, ()), test=(ALL, ()))
        return replace(builder.build(), taken_out=np.zeros(1, dtype=np.int32))

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        tested = tested_by_average(answers, data, loss, terms, "pooled", unsure=UNSURE)
        return [replace(one, notes=(WARNING, *one.notes)) for one in tested]
