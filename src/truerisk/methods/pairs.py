"""The risk of a tuned learner from one set of folds, left out one at a time and in pairs.

`testing_method` returns the method that tests a chosen setting: `Pairs`, or nested validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

from truerisk.contracts import Method, Streams, Terms, evaluate_every_loss
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals.choice import calibrated_interval_name
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.methods.parts.averages import Averaged, tested_by_average
from truerisk.methods.parts.procedure import (
    Procedure,
    add_winners,
    choose_in_outer_splits,
    make_nested_procedure,
    make_winners,
)
from truerisk.methods.words import DEFAULT_FOLDS, as_method
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.leaks import find_split_order
from truerisk.plan.pairs import add_pair_fits
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, LazyRisks, Tested
from truerisk.results.interval import Basis


@frozen
class Pairs(Procedure):
    """Method that estimates the risk of "choose a setting, then fit" from one set of K folds.

    Every candidate is fitted without each fold and without each pair of folds. The fits without one
    fold give each candidate's K-fold risk, by which a setting is chosen on all rows. Within outer
    fold i, candidate c has the mean loss on the folds j ≠ i of its fits without i and j, in which
    fold i took no part. The winner c(i) is tested on fold i by its fit without i, which exists
    already. `procedure` is the mean of these tests.

    C candidates need C K(K+1)/2 fits; for K = 5 this is three times as many as the search itself
    needs. `folds` is the method that compares the candidates: a K-fold word, or a splitter whose
    folds partition the rows. None stands for the folds of the search, or five folds. `average` sets
    how the tests are averaged, as in `KFold`. Row r of fold i is also predicted by the K − 1 fits
    of c(i) without i and j; the spread of these predictions shows how much the procedure depends on
    its training rows (`intervals/calibrated.py`).

    Parameters
    ----------
    folds : str, int, Method or splitter, optional
        The folds that compare and test. By default those of the search, or five folds.
    compare : bool, default=False
        If True, a single candidate has an inner risk as well.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.Nested : Risk of choosing and fitting, by nested folds.
    truerisk.methods.KFold : K-fold cross-validation.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> grid = {"n_neighbors": [1, 5, 25]}
    >>> curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=tr.methods.Pairs())
    >>> print(curve.procedure)
    risk 0.1333 (zero-one, pairs (5-fold)), 95 % interval [0.0512, 0.2724] (beta-cv)
    """

    folds: Any = None
    compare: bool = False
    average: Average | None = None

    shares_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)

    @property
    @override
    def name(self) -> str:
        return f"pairs ({self.inner_method.name})"

    @property
    @override
    def tested_by(self) -> str:
        return "pairs"

    @property
    @override
    def outer_method(self) -> Method:
        return replace(self.inner_method, average=self.average)  # type: ignore[type-var]

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        """Kinds of evidence for confidence intervals that the inner K-fold method provides."""
        return self.inner_method.gives

    @property
    @override
    def inner_method(self) -> Averaged:
        method = as_method(DEFAULT_FOLDS if self.folds is None else self.folds)
        if method.respects_time:
            raise Refusal(
                f"'{method.name}' cannot be left out in pairs: the model without folds i and j is "
                "asked about both, and would be tested on rows before those that it learned from. "
                f"Name the outer splits, such as {mention('outer', method.name.partition(' ')[0])}."
            )
        if not isinstance(method, Averaged) or not method.has_folds:
            raise Refusal(
                f"'{method.name}' has no folds to leave out in pairs: choose by a K-fold word such "
                f"as '10-fold', or name the outer splits, such as {mention('outer', '10-fold')}."
            )
        return method

    @override
    def asks_inside(self, n_candidates: int) -> bool:
        return True

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        method = self.inner_method
        folds = method.plan(data, streams)
        try:
            return add_pair_fits(folds)
        except Refusal as refusal:
            outer_advice = (
                "the same splitter"
                if find_split_order(folds) is not None
                else mention("outer", "10-fold")
            )
            raise BadData(
                f"the folds of '{method.name}' cannot be left out in pairs: {refusal}. Choose "
                "by folds that hold every row once, or name the outer splits, such as "
                f"{outer_advice}."
            ) from None

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        fold_predictions = ask(plan.part_named("outer"))
        pair_predictions = ask(plan.part_named("inner"))
        inner_method = self.inner_method
        chosen_candidates, inner_estimates = choose_in_outer_splits(
            inner_method, pair_predictions, data, loss, terms
        )
        winners = make_winners(chosen_candidates, inner_estimates)
        n_search_fits, n_fits = (
            fold_predictions.n_fits,
            fold_predictions.n_fits + pair_predictions.n_fits,
        )
        cost_note = f"this took {n_fits} fits; a search without honest risk takes {n_search_fits}."

        def rate(
            loss: Loss, terms: Terms, outer_predictions: Answers, inner_predictions: Answers
        ) -> Evaluation:
            winner_predictions, left_two_out = (
                outer_predictions.picked(chosen_candidates),
                inner_predictions.picked(chosen_candidates[inner_predictions.plan.fold]),
            )
            procedure_estimate = self.risk(winner_predictions, left_two_out, data, loss, terms)
            candidate_estimates: Sequence[Tested] = (procedure_estimate,)
            # A search has already computed the candidates' risks.
            # They would cost time, so they are computed here only when they are read.
            if terms.n_candidates > 1:
                procedure_estimate = replace(
                    procedure_estimate, notes=(cost_note, *procedure_estimate.notes)
                )
                reduce_candidates = partial(
                    inner_method.reduce, outer_predictions, data, loss, terms
                )
                candidate_estimates = LazyRisks(reduce_candidates, terms.n_candidates)
            evaluation = Evaluation(
                plan,
                candidate_estimates,
                n_fits,
                answers=winner_predictions,
                left_two_out=left_two_out,
            )
            return add_winners(evaluation, procedure_estimate, winners)

        return evaluate_every_loss(rate, loss, terms, fold_predictions, pair_predictions)

    @override
    def risk(
        self, tested: Answers, left_two_out: Answers | None, data: Data, loss: Loss, terms: Terms
    ) -> Tested:
        default_interval = calibrated_interval_name(loss, data)
        return tested_by_average(
            tested,
            data,
            loss,
            terms,
            self.average,
            usual=default_interval,
            left_two_out=left_two_out,
        )[0]


def testing_method(
    outer: Any, select_by: Method, default_outer: Any, *, compare: bool = False
) -> Procedure:
    """Return the method that estimates the risk of tuning by `select_by`.

    It is either `Pairs` or nested cross-validation. "pairs" is used if `outer` is None. If
    `select_by` has no folds (a criterion, random splits), `default_outer` is the outer method. If
    `select_by` respects the order of time, its folds cannot be left out in pairs, and it is its own
    outer method. `compare` has the same meaning as in `Nested`.

    >>> testing_method("pairs", as_method("5-fold"), "10-fold").name
    'pairs (5-fold)'
    >>> testing_method("pairs", as_method("aic"), "10-fold").name
    'nested (10-fold, inner aic)'
    >>> testing_method("pairs", as_method("forward-3"), "10-fold").name
    'nested (forward-3, inner forward-3)'
    """
    method = Pairs() if outer is None else as_method(outer)
    own_procedure = select_by.procedure(method, compare=compare)
    if own_procedure is not None:
        method = own_procedure
    elif not isinstance(method, Pairs):
        method = make_nested_procedure(method, select_by, compare)
    elif method.folds is not None:
        method = replace(method, compare=compare)
    elif select_by.goes_forward:
        method = make_nested_procedure(select_by, select_by, compare)
    elif isinstance(select_by, Averaged) and select_by.has_folds:
        method = replace(method, folds=select_by, compare=compare)
    else:
        method = make_nested_procedure(default_outer, select_by, compare)
    return cast(Procedure, method)
