"""Reduce the training sets of a method to a given size, for the risk with fewer training rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams
from truerisk.core.arguments import check_count
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.words import DEFAULT_FOLDS, as_method
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target
from truerisk.results.interval import Basis
from truerisk.splitting.samples import cut_subsamples, shuffle_for_subsamples

MAX_DRAWS = 10


@frozen
class Subsampled(Averaged):
    """Method with the test sets of another method, and training sets reduced to `n_train` rows.

    The rows of a training set are put into one random order, which is the same for all sizes. The
    rows of a smaller `n_train` are therefore contained in those of a larger one. `draws` disjoint
    subsamples are taken of each training set, by default as many as possible, but at most 10,
    because a risk with fewer training rows depends more on which rows they are. Class shares are
    preserved. Groups stay whole, and fill a subsample as nearly as they can. A training set of at
    most `n_train` rows is used as it is.

    Parameters
    ----------
    n_train : int
        The number of training rows.
    of : str, int, Method or splitter, default="5-fold"
        The method whose test sets are used.
    draws : int, optional
        The number of disjoint subsamples of each training set. By default as many as possible, but
        at most 10.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    learning_curve : Measure the risk at several sizes.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.Subsampled(20)))
    risk 0.1333 (zero-one, 20 rows of 5-fold), 95 % interval [0.0557, 0.2596] (beta-cv)
    """

    n_train: int
    of: Any = DEFAULT_FOLDS
    draws: int | None = None

    target: ClassVar[Target] = "Err"

    def __post_init__(self) -> None:
        check_count("n_train", self.n_train)
        if self.draws is not None:
            check_count("draws", self.draws)

    @property
    def method(self) -> Averaged:
        """The method whose test sets are used, and whose training sets are reduced in size."""
        method = as_method(self.of)
        if not isinstance(method, Averaged) or type(method).evaluate is not Method.evaluate:
            raise Refusal(
                f"the training sets of '{method.name}' cannot be cut to a size: use a method that "
                "holds rows out, such as '10-fold' or '5x10-fold'."
            )
        return method

    @property
    @override
    def name(self) -> str:
        return f"{self.n_train} rows of {self.method.name}"

    @property
    @override
    def bias(self) -> str:
        return f"of {self.n_train} training rows, and pessimistic for more"

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        """Kinds of evidence for confidence intervals that the other method's test sets provide."""
        return self.method.gives

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        full_plan = self.method.plan(data, streams)
        train_sizes = full_plan.train_sizes
        if self.n_train >= train_sizes.max():
            return full_plan
        max_draws = MAX_DRAWS if self.draws is None else self.draws
        samples_by_fit = self._draw_subsamples(
            full_plan, data, streams.get("subsamples"), max_draws
        )
        # Every training set gives equally many subsamples, so that rows are tested equally often.
        n_draws = min(len(samples) for samples in samples_by_fit)
        if self.draws is not None and self.draws > n_draws:
            raise BadData(
                f"draws={self.draws}: {train_sizes.min()} training rows hold {n_draws} disjoint "
                f"subsamples of {self.n_train}."
            )
        builder = PlanBuilder(data.n_rows)
        for draw in range(n_draws):
            for test_set in range(full_plan.n_questions):
                train_block = builder.block(samples_by_fit[full_plan.fit[test_set]][draw])
                builder.ask(
                    (train_block, ()),
                    (builder.block(full_plan.test_rows(test_set)[0]), ()),
                    repeat=int(full_plan.repeat[test_set]) * n_draws + draw,
                    fold=int(full_plan.fold[test_set]),
                )
        return builder.build()

    def _draw_subsamples(
        self, full_plan: Plan, data: Data, rng: np.random.Generator, max_draws: int
    ) -> list[list[np.ndarray]]:
        """Return the subsamples that are drawn from each training set.

        A training set of at most `n_train` rows is used as a whole.
        """
        samples = []
        for fit in range(full_plan.n_fits):
            rows, row_counts = full_plan.train_rows(fit)
            if row_counts is not None:
                raise Refusal(f"'{self.method.name}' draws rows repeatedly: use '10-fold'.")
            # Small training sets get an order, too: the orders must be the same for all sizes.
            row_order = shuffle_for_subsamples(data, rows, rng)
            is_small = len(rows) <= self.n_train
            samples.append(
                [rows]
                if is_small
                else cut_subsamples(row_order, data.groups, self.n_train, max_draws)
            )
        return samples

    @override
    def average_of(self, loss: Loss) -> Average:
        return self.method.average_of(loss)
