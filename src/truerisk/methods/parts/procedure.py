"""Shared code of methods that tune in every outer training set and test the winners outside it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Terms, by_rule
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals.choice import with_interval
from truerisk.losses.loss import Loss
from truerisk.methods import registry
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import (
    Evaluation,
    OuterSplit,
    Target,
    Tested,
    Winners,
)
from truerisk.results.interval import Basis


def choose_inside(
    inner: Method, answers: Answers, data: Data, loss: Loss, terms: Terms
) -> tuple[np.ndarray, Sequence[Sequence[Tested]]]:
    """Reduce the inner questions of every outer split, and choose a candidate by each.

    The result holds the chosen candidates, and one estimate per candidate for every outer split.
    """
    quick = replace(terms, with_errors=terms.rule.needs_std_errors, interval=None)
    risks = inner.reduce_units(answers, data, loss, quick)
    chosen = np.zeros(len(risks), dtype=np.int64)
    for split, tested in enumerate(risks):
        chosen[split] = chosen_candidate(tested, terms)
    return chosen, risks


def chosen_candidate(tested: Sequence[Tested], terms: Terms) -> int:
    """Return the rule's candidate; a single one is not chosen, so it may have failed.

    Parameters
    ----------
    tested : sequence of Tested
        The estimate of each candidate.
    terms : Terms
        Confidence level, rule and further scores.

    Returns
    -------
    int
        The number of the chosen candidate.

    See Also
    --------
    truerisk.extend.Rule : The rule that chooses.

    Examples
    --------
    >>> from truerisk.extend import Terms, Tested, chosen_candidate
    >>> from truerisk.selection import Minimum
    >>> chosen_candidate([Tested(0.3), Tested(0.1)], Terms(0.95, Minimum(), n_candidates=2))
    1
    """
    if len(tested) == 1:
        return 0
    return by_rule(tested, terms.rule)


def by_fit(plan: Plan, chosen: np.ndarray) -> np.ndarray:
    """Return the chosen candidate of every fit of the outer plan, given that of every question."""
    only = np.zeros(plan.n_fits, dtype=np.int64)
    only[plan.fit] = chosen
    return only


def winners_of(chosen: np.ndarray, inner: Sequence[Sequence[Tested]]) -> Winners:
    """Return the chosen candidate of every question, and its inner risk."""
    risks = np.full(len(chosen), np.nan)
    for q, tested in enumerate(inner):
        risks[q] = tested[int(chosen[q])].value
    return Winners(chosen, risks, compared=bool(inner))


def with_winners(evaluation: Evaluation, procedure: Tested, winners: Winners) -> Evaluation:
    """Add the risk of the procedure, its winners, and a record of every outer split.

    The predictions are those of the winners. A question that tests a fit on its own training rows
    is not an outer split.
    """
    assert evaluation.answers is not None
    assert procedure.split_risks is not None
    plan = evaluation.answers.plan
    splits = np.flatnonzero(~plan.own_rows)
    units = map(
        OuterSplit,
        plan.repeat[splits].tolist(),
        plan.fold[splits].tolist(),
        winners.candidate[splits].tolist(),
        winners.inner_risk[splits].tolist(),
        procedure.split_risks[splits].astype(np.float64).tolist(),
        plan.train_sizes[plan.fit[splits]].tolist(),
        plan.test_sizes[splits].tolist(),
    )
    return replace(evaluation, procedure=procedure, winners=winners, units=tuple(units))


class Procedure(Method):
    """The risk of the whole procedure "choose a setting, then fit".

    Its plan has a part "outer", whose questions test, and a part "inner", whose questions of unit q
    compare the candidates on the training rows of outer question q. With `compare` a single
    candidate is evaluated inside as well, so that it can be compared with candidates of another
    family.
    """

    compare: bool
    target: ClassVar[Target] = "Err"
    tunes_inside: ClassVar[bool] = True

    @property
    @abstractmethod
    def outer_method(self) -> Method:
        """The method that tests the chosen candidates."""

    @property
    @abstractmethod
    def inner_method(self) -> Method:
        """The method that compares the candidates on the outer training rows."""

    @property
    @override
    def respects_time(self) -> bool:  # type: ignore[override]
        return self.outer_method.respects_time and self.inner_method.respects_time

    @property
    @override
    def respects_space(self) -> bool:  # type: ignore[override]
        return self.outer_method.respects_space and self.inner_method.respects_space

    @property
    @override
    def goes_forward(self) -> bool:
        return self.outer_method.goes_forward

    @property
    @override
    def tells_scores(self) -> Method:
        return self.outer_method

    @property
    def tested_by(self) -> str:
        """Name of the splits that test."""
        return self.outer_method.name

    def asks_inside(self, n_candidates: int) -> bool:
        """Return True if the inner questions are asked with this number of candidates.

        Parameters
        ----------
        n_candidates : int
            The number of candidates.

        Returns
        -------
        bool
            False if there is nothing to choose.
        """
        return n_candidates > 1 or self.compare

    def testing_pass(self, n_candidates: int) -> int:
        """Return the number of the pass that tests.

        It is the first pass if folds are shared, otherwise the one after tuning. The models of a
        pass have its seeds, so that the winners must be fitted again in the same pass.

        Parameters
        ----------
        n_candidates : int
            The number of candidates.

        Returns
        -------
        int
            The number of the pass.
        """
        return 0 if self.shares_folds else int(self.asks_inside(n_candidates))

    @property
    @override
    def bias(self) -> str:
        return f"{self.outer_method.bias}; the tuning is inside and adds no optimism"

    def giving(self, need: Basis, interval: str) -> Method:
        """Return nested validation whose outer splits give what the interval needs.

        Parameters
        ----------
        need : Basis
            What the interval needs.
        interval : str
            Name of the interval.

        Returns
        -------
        Method
            The method.
        """
        outer = with_interval(self.outer_method, interval)
        return nested(outer, self.inner_method, self.compare)

    @override
    def check(self, data: Data, loss: Loss) -> None:
        self.outer_method.check(data, loss)
        self.inner_method.check(data, loss)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        return self.outer_method.reduce(answers, data, loss, terms)

    def risk(
        self, tested: Answers, left_two_out: Answers | None, data: Data, loss: Loss, terms: Terms
    ) -> Tested:
        """Return the risk of the procedure from the tests of its winners.

        Parameters
        ----------
        tested : Answers
            The predictions of the winners for the outer test rows.
        left_two_out : Answers or None
            Predictions of models that lack more training rows.
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        terms : Terms
            Confidence level, rule and further scores.

        Returns
        -------
        Tested
            The risk.
        """
        return self.outer_method.reduce(tested, data, loss, terms)[0]


def nested(outer: Any, inner: Any, compare: bool = False) -> Procedure:
    """Return nested validation: the choice by `inner`, tested by `outer`."""
    procedure: Procedure = registry.load("nested")(outer, inner, compare)
    return procedure
