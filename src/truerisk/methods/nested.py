"""The risk of a tuned learner: tune within each outer training set, and test on other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms, evaluate_every_loss
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.methods.parts.procedure import (
    Procedure,
    add_winners,
    candidate_of_each_fit,
    choose_in_outer_splits,
    make_winners,
)
from truerisk.methods.words import DEFAULT_FOLDS, as_method
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.leaks import refuse_overlapping_rows
from truerisk.plan.nesting import nest_plans
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Tested, risk_values


@frozen
class Nested(Procedure):
    """The risk of the whole procedure "choose a setting by `inner`, then fit" (Wallman, §3.4).

    In every split of `outer` the candidates are compared by `inner`, on the training rows alone.
    The winner is fitted on the training rows and tested on the outer test rows, which took no part
    in the choice. `procedure` is the outer risk. The candidates' own values are their inner risks,
    averaged over the outer splits. Inner and outer folds come from independent random streams.

    If there is a single candidate, nothing is chosen, and only the outer risk is estimated, unless
    `compare` requests the inner risk as well (to choose among several families within each split).

    Parameters
    ----------
    outer : str, int, Method or splitter, default="5-fold"
        The splits that test.
    inner : str, int, Method or splitter, default="5-fold"
        The method that compares candidates within the training rows.
    compare : bool, default=False
        If True, a single candidate has an inner risk as well.

    See Also
    --------
    truerisk.methods.Pairs : Risk of choosing and fitting, from one set of folds.
    truerisk.methods.BootstrapBiasCorrected : K-fold cross-validation with a bootstrapped choice.
    truerisk.methods.ThreeWay : Training, validation and test part.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> grid = {"n_neighbors": [1, 5, 25]}
    >>> curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=tr.methods.Nested())
    >>> print(curve.procedure)
    risk 0.1333 (zero-one, nested (5-fold, inner 5-fold)), 95 % interval [0.0491, 0.2788] (beta-cv)
    """

    outer: Any = DEFAULT_FOLDS
    inner: Any = DEFAULT_FOLDS
    compare: bool = False

    shares_folds: ClassVar[bool] = False

    @property
    @override
    def name(self) -> str:
        return f"nested ({self.outer_method.name}, inner {self.inner_method.name})"

    @property
    @override
    def outer_method(self) -> Method:
        return self._usable_method(self.outer, "outer")

    @property
    @override
    def inner_method(self) -> Method:
        return self._usable_method(self.inner, "inner")

    @property
    @override
    def n_parts(self) -> int:
        return max(self.outer_method.n_parts, self.inner_method.n_parts)

    def _usable_method(self, cv: Any, role: str) -> Method:
        method = as_method(cv)
        is_usable = method.resamples or (role == "inner" and method.target != "training")
        if type(method).evaluate is not Method.evaluate or not is_usable:
            raise Refusal(
                f"'{method.name}' cannot be the {role} method of nested validation: "
                "use one that splits once over, such as '10-fold', 'loo', 'monte-carlo' or '.632+' "
                "(out of bag: tr.methods.Bootstrap('oob'))."
            )
        return method

    @override
    def instead(self, reason: str) -> Nested | None:
        inner_method = self.inner_method.instead(reason)
        return None if inner_method is None else replace(self, inner=inner_method)

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        outer_plan = self.outer_method.plan(data, streams.child("outer"))
        if outer_plan.has_drawn_fits:
            raise Refusal(
                f"'{self.outer_method.name}' cannot be the outer method of nested validation: its "
                "training sets are too many to tune in each. Use '10-fold' or 'monte-carlo'."
            )
        if self.outer_method.has_given_splits:
            refuse_overlapping_rows(self.outer_method.name, outer_plan)
        # Outer splits with equal training rows choose the same candidate, so they share one fit.
        outer_plan = merge_equal_fits(outer_plan)
        return nest_plans(
            outer_plan,
            [self._inner_plan(outer_plan, fit, data, streams) for fit in range(outer_plan.n_fits)],
        )

    def _inner_plan(self, outer_plan: Plan, fit: int, data: Data, streams: Streams) -> Plan:
        """Return the plan by which candidates are compared within one outer training set."""
        rows = outer_plan.train_rows(fit)[0]
        try:
            return self.inner_method.plan(data.subset(rows), streams.child(f"inner {fit}"))
        except BadData as error:
            location = f"inside outer training set {fit}, with {len(rows)} of {data.n_rows} rows"
            raise BadData(f"{location}: {error.sentence.marked_text}") from error

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        outer_plan = plan.part_named("outer")
        inner_estimates: Sequence[Sequence[Tested]] = []
        winners_by_fit, n_fits = np.zeros(outer_plan.n_fits, dtype=np.int64), 0
        if self.asks_inside(terms.n_candidates):
            inner_predictions = ask(plan.part_named("inner"), extras=False)
            n_fits = inner_predictions.n_fits
            winners_by_fit, inner_estimates = choose_in_outer_splits(
                self.inner_method, inner_predictions, data, loss, terms
            )
        winners_by_fit, inner_estimates = (
            winners_by_fit[outer_plan.fit],
            [inner_estimates[fit] for fit in outer_plan.fit] if inner_estimates else [],
        )
        outer_predictions = ask(outer_plan, only=candidate_of_each_fit(outer_plan, winners_by_fit))
        winners, n_fits = (
            make_winners(winners_by_fit, inner_estimates),
            n_fits + outer_predictions.n_fits,
        )

        def rate(scored_loss: Loss, terms: Terms, outer_predictions: Answers) -> Evaluation:
            procedure_estimate = self.outer_method.reduce(
                outer_predictions, data, scored_loss, terms
            )[0]
            candidate_estimates = (
                _mean_inner_risks(inner_estimates) if inner_estimates else (procedure_estimate,)
            )
            # Within the outer splits, risks were computed only in the loss that chooses a setting.
            if inner_estimates and scored_loss is not loss:
                no_estimate = Tested(
                    np.nan, notes=(f"the settings were compared by '{loss.name}'.",)
                )
                candidate_estimates = (no_estimate,) * len(candidate_estimates)
            return add_winners(
                Evaluation(plan, candidate_estimates, n_fits, answers=outer_predictions),
                procedure_estimate,
                winners,
            )

        return evaluate_every_loss(rate, loss, terms, outer_predictions)


def _mean_inner_risks(inner_estimates: Sequence[Sequence[Tested]]) -> tuple[Tested, ...]:
    """Return each candidate's inner risk, averaged over the outer splits."""
    mean_note = (
        "mean over the outer splits of the risk by which each inner search chose (optimistic); "
        "the honest risk is `procedure`"
    )
    values = np.array([risk_values(split_estimates) for split_estimates in inner_estimates])
    return tuple(Tested(float(v), notes=(mean_note,)) for v in values.mean(axis=0))
