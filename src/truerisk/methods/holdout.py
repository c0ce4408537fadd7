"""Hold-out methods: one random split, many, training/validation/test, and disjoint halves.

An interval from disjoint halves of the rows does not require losses of single rows.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms, evaluate_every_loss
from truerisk.core.arguments import check_count, check_flag, check_share
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals import as_form
from truerisk.intervals.form import NO_INTERVAL, compute_if_independent
from truerisk.intervals.refitted import HalfEvidence
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.losses.row_losses import find_infinite_losses
from truerisk.methods.parts.averages import (
    ROW_MEAN_BASES,
    Averaged,
    make_estimates,
    split_risks,
    tested_by_average,
)
from truerisk.methods.parts.procedure import (
    add_winners,
    candidate_of_each_fit,
    chosen_candidate,
    make_winners,
)
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.interval import Basis
from truerisk.splitting.folds import draw_folds
from truerisk.splitting.samples import draw_held_out


def estimate_by_one_split(
    predictions: Answers, data: Data, loss: Loss, terms: Terms
) -> list[Tested]:
    """Estimate each candidate's risk by its mean loss on a single test set, with an interval.

    By default the interval of an error rate is a Beta posterior if rows are independent and
    unweighted.
    """
    has_binomial_errors = loss.binary and data.groups is None and data.sample_weight is None
    return tested_by_average(
        predictions, data, loss, terms, None, usual="beta" if has_binomial_errors else None
    )


@frozen
class Holdout(Method):
    """One split: fit on `1 - test_share` of the rows, test on the rest.

    For zero-one loss the interval is the Beta posterior of the fitted rule's error rate.

    Parameters
    ----------
    test_share : float, default=1/3
        The share of the rows that is held out.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.

    See Also
    --------
    truerisk.methods.MonteCarlo : Many random splits.
    truerisk.methods.ThreeWay : Training, validation and test part.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.Holdout()))
    risk 0.1000 (zero-one, holdout), 95 % interval [0.0305, 0.3038] (beta)
    """

    test_share: float = 1 / 3
    stratify: bool = True

    name = "holdout"
    target: ClassVar[Target] = "Err_XY"
    gives: ClassVar[frozenset[Basis]] = ROW_MEAN_BASES

    def __post_init__(self) -> None:
        check_share("test_share", self.test_share)
        check_flag("stratify", self.stratify)

    @property
    @override
    def bias(self) -> str:
        return f"pessimistic: the model sees {1 - self.test_share:.0%} of the rows"

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("holdout")
        test_block = builder.block(
            draw_held_out(data, self.test_share, rng, stratify=self.stratify)
        )
        builder.ask(train=(ALL, (test_block,)), test=(test_block, ()))
        return builder.build()

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return estimate_by_one_split(answers, data, loss, terms)


@frozen
class MonteCarlo(Averaged):
    """Monte-Carlo cross-validation: hold-out repeated over `splits_drawn` random splits.

    The risks of all splits are stored in `split_risks`, which gives their whole distribution and
    not just the mean.

    Parameters
    ----------
    splits_drawn : int, default=25
        The number of random splits.
    test_share : float, default=1/3
        The share of the rows that is held out.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Holdout : One random split.
    truerisk.methods.PairedHalves : Random splits with an interval from disjoint halves.
    truerisk.methods.KFold : K-fold cross-validation.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.MonteCarlo()))
    risk 0.1200 (zero-one, monte-carlo), 95 % interval [0.0411, 0.1989] (corrected-t)
    """

    splits_drawn: int = 25
    test_share: float = 1 / 3
    stratify: bool = True
    average: Average | None = None

    name = "monte-carlo"
    target: ClassVar[Target] = "Err"

    def __post_init__(self) -> None:
        check_average(self.average)
        check_count("splits_drawn", self.splits_drawn)
        check_share("test_share", self.test_share)
        check_flag("stratify", self.stratify)

    @property
    @override
    def bias(self) -> str:
        return f"pessimistic: each model sees {1 - self.test_share:.0%} of the rows"

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("monte-carlo")
        for repeat_number in range(self.splits_drawn):
            test_block = builder.block(
                draw_held_out(data, self.test_share, rng, stratify=self.stratify)
            )
            builder.ask(train=(ALL, (test_block,)), test=(test_block, ()), repeat=repeat_number)
        return builder.build()

    @override
    def average_of(self, loss: Loss) -> Average:
        return loss.averaged(self.average)


@frozen
class ThreeWay(Method):
    """Random division into a training, a validation and a test part.

    The candidates are fitted on the training part and compared on the validation part. The winner
    is fitted again on both parts and tested once on the test part. `procedure` is this test. The
    candidates' values are their validation risks, the smallest of which is optimistic.

    Parameters
    ----------
    validation_share : float, default=0.25
        The share of the rows by which candidates are compared.
    test_share : float, default=0.25
        The share of the rows that is held out.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.

    See Also
    --------
    truerisk.methods.Holdout : One random split.
    truerisk.methods.Nested : Risk of choosing and fitting, by nested folds.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> grid = {"n_neighbors": [1, 5, 25]}
    >>> curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=tr.methods.ThreeWay())
    >>> print(curve.procedure)
    risk 0.0667 (zero-one, three-way), 95 % interval [0.0155, 0.3023] (beta)
    """

    validation_share: float = 0.25
    test_share: float = 0.25
    stratify: bool = True

    name = "three-way"
    target: ClassVar[Target] = "Err_XY"
    gives: ClassVar[frozenset[Basis]] = ROW_MEAN_BASES

    def __post_init__(self) -> None:
        check_share("validation_share", self.validation_share)
        check_share("test_share", self.test_share)
        check_flag("stratify", self.stratify)
        if 1 - self.validation_share - self.test_share <= 0:
            raise BadArgument(
                f"shares {self.validation_share} for validation and {self.test_share} for the test "
                "leave nothing to train on; all three parts need rows."
            )

    @property
    @override
    def bias(self) -> str:
        return f"pessimistic: the model sees {1 - self.test_share:.0%} of the rows"

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        rng = streams.get("three-way")
        test_rows = draw_held_out(data, self.test_share, rng, stratify=self.stratify)
        remaining_rows = np.setdiff1d(np.arange(data.n_rows), test_rows)
        remaining_share = self.validation_share / (1 - self.test_share)
        validation_rows = draw_held_out(
            data.subset(remaining_rows), remaining_share, rng, stratify=self.stratify
        )
        builder = PlanBuilder(data.n_rows)
        test_block, validation_block = (
            builder.block(test_rows),
            builder.block(remaining_rows[validation_rows]),
        )
        builder.ask(
            (ALL, (test_block, validation_block)), (validation_block, ()), part="inner", unit=0
        )
        builder.ask((ALL, (test_block,)), (test_block, ()), part="outer")
        return builder.build()

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        validation_predictions = ask(plan.part_named("inner"))
        validation_estimates = estimate_by_one_split(validation_predictions, data, loss, terms)
        winner = np.array([chosen_candidate(validation_estimates, terms)])
        outer_plan = plan.part_named("outer")
        outer_predictions = ask(outer_plan, only=candidate_of_each_fit(outer_plan, winner))
        winners, n_fits = (
            make_winners(winner, [validation_estimates]),
            validation_predictions.n_fits + outer_predictions.n_fits,
        )

        def rate(
            loss: Loss, terms: Terms, inner_predictions: Answers, outer_predictions: Answers
        ) -> Evaluation:
            candidate_estimates = tuple(estimate_by_one_split(inner_predictions, data, loss, terms))
            procedure_estimate = self.reduce(outer_predictions, data, loss, terms)[0]
            return add_winners(
                Evaluation(plan, candidate_estimates, n_fits, answers=outer_predictions),
                procedure_estimate,
                winners,
            )

        return evaluate_every_loss(rate, loss, terms, validation_predictions, outer_predictions)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        return estimate_by_one_split(answers, data, loss, terms)


@frozen
class PairedHalves(Method):
    """Monte-Carlo cross-validation whose interval comes from pairs of disjoint halves of the rows.

    The value is the mean risk of `splits_drawn` random splits that hold out `test_share` of all
    rows. In addition, the rows are divided into two halves `pairs` times, and in each half as many
    test rows are held out `splits_drawn` times. The means of two halves share no row, so that their
    squared difference is a valid, if conservative, measure of the error of the value
    (`conservative-z`). The method works with any loss, including AUC. It needs `splits_drawn` + 2 ·
    `pairs` · `splits_drawn` fits.

    Parameters
    ----------
    splits_drawn : int, default=15
        The number of random splits.
    pairs : int, default=10
        The number of divisions into two halves.
    test_share : float, default=0.1
        The share of the rows that is held out.
    stratify : bool, default=True
        If True, each part has about the same shares of the classes.

    See Also
    --------
    truerisk.methods.MonteCarlo : Many random splits.
    truerisk.methods.NestedInterval : K-fold cross-validation with the error of its mean.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.PairedHalves()))
    risk 0.1222 (zero-one, paired-halves), 95 % interval [0.0000, 0.2733] (conservative-z)
    """

    splits_drawn: int = 15
    pairs: int = 10
    test_share: float = 0.1
    stratify: bool = True

    name = "paired-halves"
    target: ClassVar[Target] = "Err"
    gives: ClassVar[frozenset[Basis]] = frozenset({Basis.HALVES})

    def __post_init__(self) -> None:
        check_count("splits_drawn", self.splits_drawn)
        check_count("pairs", self.pairs)
        check_share("test_share", self.test_share, upper_limit=0.5)
        check_flag("stratify", self.stratify)

    @property
    @override
    def bias(self) -> str:
        return f"slightly pessimistic: each model sees {1 - self.test_share:.0%} of the rows"

    def plan(self, data: Data, streams: Streams) -> Plan:
        """Draw random splits of all rows, and further random splits within each half of the rows.

        Repeat 0 of the plan splits all rows. Repeats 1 + 2 r and 2 + 2 r split the two halves of
        division r.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        streams : Streams
            The random streams of the call.

        Returns
        -------
        Plan
            The plan.
        """
        if data.n_rows < 8:
            raise BadData(f"halves of {data.n_rows} rows are too small to train and test in.")
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("paired-halves")
        for fold in range(self.splits_drawn):
            rows = draw_held_out(data, self.test_share, rng, stratify=self.stratify)
            test_block = builder.block(rows)
            builder.ask((ALL, (test_block,)), (test_block, ()), fold=fold)
        for pair in range(self.pairs):
            half_numbers = draw_folds(data, 2, rng, stratify=self.stratify)
            for half_index in range(2):
                rows = np.flatnonzero(half_numbers == half_index)
                half_data, half_block = data.subset(rows), builder.block(rows)
                for fold in range(self.splits_drawn):
                    half_test_rows = draw_held_out(
                        half_data, 2 * self.test_share, rng, stratify=self.stratify
                    )
                    test_block = builder.block(rows[half_test_rows])
                    repeat_number = 1 + 2 * pair + half_index
                    builder.ask(
                        (half_block, (test_block,)),
                        (test_block, ()),
                        repeat=repeat_number,
                        fold=fold,
                    )
        return builder.build()

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        risks_by_split = split_risks(answers, data, loss)
        repeat_numbers = answers.plan.repeat
        repeat_means = np.stack(
            [
                risks_by_split[:, repeat_numbers == r].mean(axis=1)
                for r in range(repeat_numbers.max() + 1)
            ]
        )
        values, intervals = repeat_means[0], [NO_INTERVAL] * len(risks_by_split)
        if terms.with_errors:
            half_means = repeat_means[1:].T.reshape(len(values), -1, 2)
            evidence = HalfEvidence(values=values, loss=loss, terms=terms, half_risks=half_means)
            intervals = compute_if_independent(
                as_form(terms.interval or "conservative-z"), evidence, data
            )
        findings = find_infinite_losses(answers, data, loss)
        return make_estimates(intervals, answers, values, risks_by_split, findings=findings)
