"""Methods that need only one fit: out-of-bag error, and approximate leave-one-out."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss
from truerisk.methods import registry
from truerisk.methods.parts.averages import tested_by_average
from truerisk.plan.answers import Answers
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.own_rows import OutOfBagRows, TakenOutRows
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis

SHARED_MEMBERS_REASON = (
    "no formula is known for the standard error of an out-of-bag risk: the answers to different "
    "rows share members and training rows."
)


@frozen
class OutOfBag(Method):
    r"""Out-of-bag error: each row is tested by the ensemble members fitted without this row.

    .. math:: \frac{1}{n} \sum_i \ell\left(y_i, \frac{1}{|B_i|} \sum_{b \in B_i} f_b(x_i)\right),
              \quad B_i = \{b : i \notin T^*_b\}

    where :math:`T^*_b` is the bootstrap sample of member b. It needs only the one fit that is made
    anyway. Each row is predicted by about 37 % of the members. The estimate is therefore the risk
    of a smaller ensemble, and pessimistic as long as more members still help.

    It is defined for ensembles that draw bootstrap samples themselves (forests with
    ``bootstrap=True``, bagging). For any other model the leave-one-out bootstrap
    ``Bootstrap("oob")`` is used instead, which draws the samples itself; the result carries its
    name and gives the reason. A member that drew any copy of a row has seen that row, also if the
    training set contains copies. A row that every member drew cannot be predicted: such an ensemble
    is too small, and the fit is reported as failed.

    See Also
    --------
    truerisk.methods.Bootstrap : Bootstrap estimates such as .632+.
    truerisk.methods.ExactOutOfBag : Leave-one-out bootstrap without random error.

    References
    ----------
    Breiman (1996), Out-of-bag estimation. Breiman (2001), Random forests.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> estimate = tr.estimate_risk(forest, X, y, cv=tr.methods.OutOfBag())
    >>> estimate.method, estimate.n_fits
    ('oob', 1)
    """

    name = "oob"
    target: ClassVar[Target] = "Err"
    bias = "slightly pessimistic: each row is tested by the 37 % of the members that missed it"
    splits: ClassVar[bool] = False

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if loss.response == "scored":
            raise Refusal(
                f"method 'oob' cannot use the scorer {loss.name}, which asks the whole model: use "
                "a loss of truerisk, or a K-fold word."
            )
        if data.groups is not None:
            raise Refusal(
                "method 'oob' would ignore the groups: bags are drawn row by row, so that rows of "
                "a group are in and out of the same bag. Use tr.methods.Bootstrap('oob'), which "
                "draws whole groups, or 'K-fold' words."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        builder.ask(train=(ALL, ()), test=(ALL, ()))
        return builder.build(OutOfBagRows(np.zeros(1, dtype=np.int32)))

    @override
    def instead(self, reason: str) -> Method:
        bootstrap: Method = registry.load(".632+")("oob")
        return bootstrap

    @override
    def giving(self, need: Basis, interval: str) -> Method | None:
        return self.instead(interval) if need is Basis.SAMPLES else None

    def average_of(self, loss: Loss) -> Average:
        """Return how a loss is averaged over test sets: here all rows form a single test set.

        Parameters
        ----------
        loss : Loss
            The loss to estimate.

        Returns
        -------
        {"pooled"}
            The average.
        """
        return "pooled"

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_average(answers, data, loss, terms, "pooled", unsure=SHARED_MEMBERS_REASON)


APPROXIMATION_WARNING = (
    "approximate: one Newton step per row and, under an L1 penalty, the same columns; error rates "
    "along L1 paths of 50 rows were up to 18 points off those of exact leave-one-out ('loo')"
)
NO_STD_ERROR_REASON = (
    "there is no standard error: no formula accounts for the error of the approximation."
)


@frozen
class ApproximateLeaveOneOut(Method):
    r"""Approximate leave-one-out (ALO) from one fit: one Newton step removes each row from the fit.

    .. math:: \frac{1}{n} \sum_i \ell\left(y_i, s_i + \frac{h_i\, g_i}{1 - h_i W_i}\right),\qquad
        h_i = z_i^\top (Z^\top W Z + D)^{-1} z_i

    with :math:`s_i` the score of row i, g and W the derivatives of its loss in the score, Z the
    columns in the fit and D the curvature of the penalty, which does not change. For squared loss
    without an L1 penalty (`LinearRegression`, `Ridge`, `RidgeClassifier`) the result is exact. For
    logistic regression (`LogisticRegression`, `LogisticPath`, two classes) and for `Lasso` and
    `ElasticNet` it is an approximation, which is good if no row changes which columns are selected;
    every result says so. Other learners are refused, unless they have a method ``taken_out(X, y)``.

    Steps before the learner in a pipeline are not fitted again; they were fitted on all rows.

    See Also
    --------
    truerisk.methods.LeaveOneOut : Cross-validation with one fold per row.
    truerisk.methods.GCV : Generalised cross-validation.

    References
    ----------
    Rad and Maleki (2020), A scalable estimate of the out-of-sample prediction error via approximate
    leave-one-out cross-validation, J. R. Statist. Soc. B 82.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> method = tr.methods.ApproximateLeaveOneOut()
    >>> alo, loo = (tr.estimate_risk(RidgeClassifier(), X, y, cv=cv) for cv in (method, "loo"))
    >>> round(alo.value, 4) == round(loo.value, 4), alo.n_fits, loo.n_fits
    (True, 1, 60)
    """

    name = "alo"
    target: ClassVar[Target] = "Err"
    bias = "optimistic where a row decides which columns are selected; else as leave-one-out"
    splits: ClassVar[bool] = False

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if loss.response == "scored":
            raise Refusal(
                f"method 'alo' cannot use the scorer {loss.name}, which asks the whole model: use "
                "a loss of truerisk, or 'loo'."
            )
        if data.groups is not None:
            raise Refusal(
                "method 'alo' would ignore the groups: rows are taken out one by one, and others "
                "of their group stay. Use 'K-fold' words, which keep groups together."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        builder.ask(train=(ALL, ()), test=(ALL, ()))
        return builder.build(TakenOutRows(np.zeros(1, dtype=np.int32)))

    def average_of(self, loss: Loss) -> Average:
        """Return how a loss is averaged over test sets: here all rows form a single test set.

        Parameters
        ----------
        loss : Loss
            The loss to estimate.

        Returns
        -------
        {"pooled"}
            The average.
        """
        return "pooled"

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        estimates = tested_by_average(
            answers, data, loss, terms, "pooled", unsure=NO_STD_ERROR_REASON
        )
        return [
            replace(estimate, notes=(APPROXIMATION_WARNING, *estimate.notes))
            for estimate in estimates
        ]
