"""The out-of-bag risk of forests and bagging, read off one fit."""

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
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.parts.averages import tested_by_average

__all__ = ["OutOfBag"]

UNSURE = (
    "no formula is known for the standard error of an out-of-bag risk: the answers to different "
    "rows share members and training rows."
)


@dataclass(frozen=True)
class OutOfBag(Method):
    r"""Each training row is tested by the members of the ensemble that were fitted without it.

    .. math:: \frac{1}{n} \sum_i \ell\left(y_i, \frac{1}{|B_i|} \sum_{b \in B_i} f_b(x_i)\right),
              \quad B_i = \{b : i \notin T^*_b\}

    with :math:`T^*_b` the bootstrap sample of member b. It costs the one fit that there is anyhow.
    A row is answered by about 37 % of the members, so it is the risk of a smaller ensemble, and
    pessimistic while more members still help.

    It is defined for ensembles that bag rows themselves (forests with ``bootstrap=True``, bagging).
    For any other model the leave-one-out bootstrap takes its place, ``Bootstrap("oob")``, which
    draws the bags itself; the result is named after it and says why. A member that drew any copy
    of a row has seen it, also where a training set holds copies. A row that every member drew has
    no answer: such an ensemble is too small, and the fit is said to have failed.

    References
    ----------
    Breiman (1996), Out-of-bag estimation. Breiman (2001), Random forests.
    """

    word = "oob"
    target: ClassVar[Target] = "Err"
    bias = "slightly pessimistic: each row is tested by the 37 % of the members that missed it"
    splits: ClassVar[bool] = False

    def check(self, data: Data, loss: Loss) -> None:
        if loss.response == "scored":
            raise Refusal(
                f"method 'oob' cannot use the scorer {loss.word}, which asks the whole model: use "
                "a loss of truerisk, or a K-fold word."
            )
        if data.groups is not None:
            raise Refusal(
                "method 'oob' would ignore the groups: bags are drawn row by row, so that rows of "
                "a group are in and out of the same bag. Use tr.methods.Bootstrap('oob'), which "
                "draws whole groups, or 'K-fold' words."
            )

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        builder.ask(train=(ALL, ()), test=(ALL, ()))
        return replace(builder.build(), out_of_bag=np.zeros(1, dtype=np.int32))

    def instead(self, reason: str) -> Method:
        return Bootstrap("oob")

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_average(answers, data, loss, terms, "pooled", unsure=UNSURE)
