"""K-fold cross-validation (repeated, stratified, grouped or reversed), and leave-one-out."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import check_count, check_flag
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.methods import registry
from truerisk.methods.parts.averages import Averaged, tested_by_average
from truerisk.plan.answers import Answers
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder, plan_leave_one_fold_out
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Basis
from truerisk.splitting.folds import fold_numbers

# Some intervals replace K-fold by nested cross-validation.
# The nested cross-validation then has at least this number of repeats.
NESTED_REPEATS = 10


@frozen
class KFold(Averaged):
    """K-fold cross-validation: each fold is tested by the model fitted on the other folds.

    CV = (1/n) Σ_k Σ_{i∈k} ℓ(y_i, f^(−k)(x_i)) pooled, or the mean of the K fold means
    (`average="fold"`; the two differ if folds have different sizes). With `repeats`, new folds are
    drawn each time. `stratify` balances the classes. Groups given with the data stay within one
    fold. `folds` gives the fold numbers instead of drawing them: `(n,)` or `(repeats, n)`.

    Parameters
    ----------
    k : int, default=10
        The number of folds.
    repeats : int, default=1
        How often new folds are drawn.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.
    folds : array, shape (n_rows,) or (repeats, n_rows), optional
        The fold numbers of the rows, instead of drawn ones.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.LeaveOneOut : Cross-validation with one fold per row.
    truerisk.methods.Pairs : Risk of choosing and fitting, from one set of folds.
    truerisk.methods.Blocks : Folds of whole blocks in space.
    truerisk.methods.Forward : Forecasts of later rows.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.KFold()))
    risk 0.1167 (zero-one, 10-fold), 95 % interval [0.0396, 0.2577] (beta-cv)
    """

    k: int = 10
    repeats: int = 1
    stratify: bool = True
    folds: Any = field(default=None, repr=False)
    average: Average | None = None

    target: ClassVar[Target] = "Err"
    has_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)
        if self.folds is None:
            check_count("k", self.k, 2, "K-fold cross-validation needs a whole number K >= 2")
        check_count("repeats", self.repeats)
        check_flag("stratify", self.stratify)

    @property
    @override
    def name(self) -> str:
        if self.folds is not None:
            return "K-fold (given folds)"
        return f"{self.k}-fold" if self.repeats == 1 else f"{self.repeats}x{self.k}-fold"

    @property
    @override
    def bias(self) -> str:
        share_text = f"{self.k - 1}/{self.k}" if self.folds is None else "a part"
        return f"slightly pessimistic: each model sees {share_text} of the rows"

    def giving(self, need: Basis, interval: str) -> Method | None:
        """Return the method that provides what an interval needs: nested CV or paired halves.

        Nested cross-validation has the same folds. Paired halves have test sets of equal size.

        Parameters
        ----------
        need : Basis
            What the interval needs.
        interval : str
            Name of the interval.

        Returns
        -------
        Method or None
            The method, or None if no method provides it.
        """
        if type(self) is not KFold:  # Subclasses test other rows, or average losses in another way.
            return None
        if need is Basis.PAIRS:
            nested_method: Method = registry.load("ncv")(
                self.k,
                repeats=max(self.repeats, NESTED_REPEATS),
                folds=self.folds,
                bias="bates" if interval == "ncv" else None,
                stratify=self.stratify,
            )
            return nested_method
        if need is Basis.HALVES:
            test_share = 1 / self.k if self.folds is None else 0.1
            halves_method: Method = registry.load("paired-halves")(
                test_share=test_share, stratify=self.stratify
            )
            return halves_method
        return None

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        rng, stratify = streams.get("folds"), self.stratify
        fold_labels = fold_numbers(data, self.folds, self.k, self.repeats, rng, stratify=stratify)
        return plan_leave_one_fold_out(data.n_rows, fold_labels)

    @override
    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)


@frozen
class ReversedKFold(KFold):
    """Reversed cross-validation: train on one fold, test on the K − 1 others (Wallman, §3.6).

    It estimates how a learner performs with n/K training rows, tested on many rows. K = 2 is
    ordinary 2-fold CV. The risk is the mean over folds.

    Parameters
    ----------
    k : int, default=10
        The number of folds.
    repeats : int, default=1
        How often new folds are drawn.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.
    folds : array, shape (n_rows,) or (repeats, n_rows), optional
        The fold numbers of the rows, instead of drawn ones.
    average : {"pooled", "fold"}, default="fold"
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold").

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.

    References
    ----------
    Wallman MC (2005). Performance estimation in small sample parameter and classifier selection.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.ReversedKFold()))
    risk 0.2611 (zero-one, reversed)
    """

    average: Average | None = "fold"

    gives: ClassVar[frozenset[Basis]] = frozenset()
    has_folds: ClassVar[bool] = False

    @property
    @override
    def name(self) -> str:
        return "reversed" if self.k == 10 and self.folds is None else f"reversed {super().name}"

    @property
    @override
    def bias(self) -> str:
        return "pessimistic: each model sees one fold only"

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        rng, stratify = streams.get("folds"), self.stratify
        fold_labels = fold_numbers(data, self.folds, self.k, self.repeats, rng, stratify=stratify)
        for repeat, labels_of_repeat in enumerate(fold_labels):
            for fold, block in enumerate(builder.partition(labels_of_repeat)):
                builder.ask((block, ()), (ALL, (block,)), repeat=repeat, fold=fold)
        return builder.build()

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        reason = "test sets of reversed cross-validation overlap: no standard error is justified."
        return tested_by_average(answers, data, loss, terms, self.average, unsure=reason)


@frozen
class LeaveOneOut(Averaged):
    """Leave-one-out cross-validation: each row is tested by the model fitted on all other rows.

    The estimate is nearly unbiased, but often has a high variance. It needs n fits. Losses that
    rate whole test sets (AUC, F1) are computed once over all n pooled answers.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.
    truerisk.methods.ApproximateLeaveOneOut : Leave-one-out from one fit.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.LeaveOneOut()))
    risk 0.1167 (zero-one, loo), 95 % interval [0.0396, 0.2577] (beta-cv)
    """

    name = "loo"
    target: ClassVar[Target] = "Err"
    bias = "almost none: each model sees all rows but one"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if data.groups is not None:
            raise Refusal(
                "method 'loo' would ignore the groups: rows of a group would train the model that "
                "tests another of its rows. Use 'K-fold' words, or "
                "cv=LeaveOneGroupOut() of scikit-learn."
            )
        if data.n_rows < 2:
            raise BadData("leave-one-out of one row (n_samples=1) leaves nothing to train on.")

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        return plan_leave_one_fold_out(data.n_rows, [np.arange(data.n_rows)])

    @override
    def average_of(self, loss: Loss) -> Average:
        return "fold" if loss.response == "scored" else "pooled"
