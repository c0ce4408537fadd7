"""The out-of-bag error of infinitely many bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Streams, Target, Terms
from truerisk.core.errors import BadData
from truerisk.core.evaluation import Tested
from truerisk.core.losses import Loss
from truerisk.core.plan.partitions import draw_every
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.complete import UNSURE, refuse_what_draws_cannot_serve
from truerisk.methods.parts.averages import tested_by_average

__all__ = ["ExactOutOfBag"]


@dataclass(frozen=True)
class ExactOutOfBag(Method):
    r"""Leave-one-out bootstrap without the noise of drawing: the limit of many replicates.

    .. math:: \mathrm{Err}_1 = \frac{1}{n} \sum_i
              \mathrm{E}\left[\ell(y_i, f_{T^*}(x_i)) \mid i \notin T^*\right]

    with :math:`T^*` a bootstrap sample, n rows drawn with replacement: for each row the mean over
    the samples that miss it, then the mean over rows. A sample holds about 63.2 % of the rows, so
    the estimate is pessimistic, about like cross-validation with half of them.

    Nearest neighbours have it in closed form; other learners are fitted on every sample, as long
    as there are at most 20,000 different ones (n ≤ 8).

    References
    ----------
    Efron and Tibshirani (1997), Improvements on cross-validation: the .632+ bootstrap method.
    """

    word = "exact-oob"
    target: ClassVar[Target] = "Err"
    bias = "pessimistic: each model sees 63 % of the rows, some of them several times"

    def check(self, data: Data, loss: Loss) -> None:
        refuse_what_draws_cannot_serve(self.word, data, loss)
        if data.n_rows < 2:
            raise BadData("the out-of-bag error of one row has nothing to train on.")

    def plan(self, data: Data, streams: Streams) -> Plan:
        return draw_every(data.n_rows, "bootstraps", data.n_rows)

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_average(answers, data, loss, terms, "pooled", unsure=UNSURE)
