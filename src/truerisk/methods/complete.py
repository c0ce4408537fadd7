"""Cross-validation over all training sets of one size, and over all bootstrap samples."""

from __future__ import annotations

from typing import ClassVar

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import is_number, mention
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.methods.parts.averages import tested_by_average
from truerisk.plan.answers import Answers
from truerisk.plan.extras.laws import plan_all_draws
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested

NO_STD_ERROR_REASON = (
    "the training sets behind the expected losses overlap, and no formula gives the standard error."
)


def refuse_set_losses_and_groups(name: str, data: Data, loss: Loss) -> None:
    """Raise Refusal if the loss is not a mean over rows, or if the data have groups.

    Groups cannot be kept together, because training rows are drawn one by one.
    """
    if not loss.per_row:
        raise Refusal(
            f"method '{name}' averages losses of single rows, and loss '{loss.name}' has none: use "
            f"a loss such as 'zero-one' or 'brier', or {mention('cv', '10-fold')}."
        )
    if data.groups is not None:
        raise Refusal(
            f"method '{name}' would ignore the groups: it draws rows one by one. "
            "Use 'K-fold' words, which keep groups together."
        )


@frozen
class Complete(Method):
    r"""Mean risk of the models of all training sets of m rows, each tested on the other n − m rows.

    .. math:: \frac{1}{\binom{n}{m}} \sum_{T: |T| = m} \frac{1}{n - m} \sum_{i \notin T}
              \ell(y_i, f_T(x_i))

    This is the limit of Monte-Carlo or repeated K-fold cross-validation, without random error. For
    m = n − 1 it is leave-one-out; for m = (1 − 1/K) n it is the mean of K-fold cross-validation
    over all (unstratified) divisions into folds. `m` is a number of rows or, between 0 and 1, a
    share of the rows, which is rounded.

    For nearest neighbours it is computed in closed form (Mullin and Sukthankar, 2000). Other
    learners are fitted on every training set, if there are at most 20,000.

    Parameters
    ----------
    m : int or float, default=0.9
        The number of training rows, or their share of the rows.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    truerisk.methods.LeaveOneOut : Cross-validation with one fold per row.
    truerisk.methods.ExactOutOfBag : Leave-one-out bootstrap without random error.

    References
    ----------
    Mullin and Sukthankar (2000), Complete cross-validation for nearest neighbor classifiers.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(KNeighborsClassifier(), X, y, cv=tr.methods.Complete()))
    risk 0.1620 (zero-one, complete)
    """

    m: int | float = 0.9

    target: ClassVar[Target] = "Err"

    def __post_init__(self) -> None:
        if not is_number(self.m) or not (0 < self.m < 1 or (self.m >= 1 and self.m % 1 == 0)):
            raise BadArgument(
                f"{mention('m', self.m)} is neither a number of training rows nor a share of them."
            )

    @property
    @override
    def name(self) -> str:
        return "complete" if self.m == 0.9 else f"complete (m={self.m:.15g})"

    @property
    @override
    def bias(self) -> str:
        share_text = f"{self.m:.0%}" if self.m < 1 else f"{self.m:.15g}"
        return f"slightly pessimistic: each model sees {share_text} of the rows"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        refuse_set_losses_and_groups("complete", data, loss)
        if self._n_training_rows(data.n_rows) >= data.n_rows:
            raise BadData(f"m={self.m:.15g} of {data.n_rows} rows leaves none to test on.")

    def _n_training_rows(self, n_rows: int) -> int:
        if self.m >= 1:
            return int(self.m)
        return max(1, min(round(self.m * n_rows), n_rows - 1))

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        n_train = self._n_training_rows(data.n_rows)
        if n_train >= data.n_rows:
            raise BadData(f"m={self.m:.15g} of {data.n_rows} rows leaves none to test on.")
        return plan_all_draws(data.n_rows, "subsets", n_train)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_average(answers, data, loss, terms, "pooled", unsure=NO_STD_ERROR_REASON)


@frozen
class ExactOutOfBag(Method):
    r"""Exact limit of the leave-one-out bootstrap for infinitely many bootstrap samples.

    .. math:: \mathrm{Err}_1 = \frac{1}{n} \sum_i
              \mathrm{E}\left[\ell(y_i, f_{T^*}(x_i)) \mid i \notin T^*\right]

    where :math:`T^*` is a bootstrap sample of n rows drawn with replacement. For each row, losses
    are averaged over the samples that miss it, and then over rows. A sample contains about 63.2 %
    of the rows, so that the estimate is pessimistic, about as much as cross-validation with half of
    the rows.

    For nearest neighbours it is computed in closed form. Other learners are fitted on every sample,
    if there are at most 20,000 different samples (n ≤ 8).

    See Also
    --------
    truerisk.methods.Bootstrap : Bootstrap estimates such as .632+.
    truerisk.methods.Complete : Mean over all training sets of one size.

    References
    ----------
    Efron and Tibshirani (1997), Improvements on cross-validation: the .632+ bootstrap method.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(KNeighborsClassifier(), X, y, cv=tr.methods.ExactOutOfBag()))
    risk 0.1805 (zero-one, exact-oob)
    """

    name = "exact-oob"
    target: ClassVar[Target] = "Err"
    bias = "pessimistic: each model sees 63 % of the rows, some of them several times"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        refuse_set_losses_and_groups(self.name, data, loss)
        if data.n_rows < 2:
            raise BadData("the out-of-bag error of one row has nothing to train on.")

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        return plan_all_draws(data.n_rows, "bootstraps", data.n_rows)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return tested_by_average(answers, data, loss, terms, "pooled", unsure=NO_STD_ERROR_REASON)
