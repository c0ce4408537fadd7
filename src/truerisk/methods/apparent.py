"""The apparent risk, which is the risk on the training rows."""

from __future__ import annotations

from typing import ClassVar

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.methods.parts.averages import tested_by_average
from truerisk.plan.answers import Answers
from truerisk.plan.builder import plan_one_fit
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested


@frozen
class Apparent(Method):
    """Training (empirical) risk R_n, the mean loss of one fit on its own training rows.

    R_n = (1/n) Σ ℓ(y_i, f(x_i)). It is optimistic as an estimate of the true risk. It estimates the
    training risk only; a 1-nearest-neighbour rule has apparent risk 0.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    truerisk.methods.Bootstrap : Bootstrap estimates such as .632+.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.Apparent()))
    risk 0.1000 (zero-one, apparent)
    """

    name = "apparent"
    target: ClassVar[Target] = "training"
    bias = "optimistic: the rows that are tested were used for the fit"
    splits: ClassVar[bool] = False

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        return plan_one_fit(data.n_rows)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        reason = "the apparent risk is no estimate of a true risk: no standard error is justified."
        return tested_by_average(answers, data, loss, terms, None, unsure=reason)
