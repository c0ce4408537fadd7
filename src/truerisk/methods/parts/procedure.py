"""Shared code of methods that tune within every outer training set and test on other rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Terms, choose_by_rule
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals.choice import adapt_method_to_interval
from truerisk.losses.loss import Loss
from truerisk.methods import registry
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import (
    ChosenCandidates,
    Evaluation,
    OuterSplit,
    Target,
    Tested,
)
from truerisk.results.interval import Basis


def choose_in_outer_splits(
    inner_method: Method, predictions: Answers, data: Data, loss: Loss, terms: Terms
) -> tuple[np.ndarray, Sequence[Sequence[Tested]]]:
    """Choose a candidate within every outer training set, by the risks of the inner method.

    Return the chosen candidate of every outer split, and for every outer split the inner estimate
    of each candidate.
    """
    inner_terms = replace(terms, with_errors=terms.rule.needs_std_errors, interval=None)
    inner_estimates = inner_method.reduce_units(predictions, data, loss, inner_terms)
    chosen_candidates = np.zeros(len(inner_estimates), dtype=np.int64)
    for outer_split, estimates in enumerate(inner_estimates):
        chosen_candidates[outer_split] = chosen_candidate(estimates, terms)
    return chosen_candidates, inner_estimates


def chosen_candidate(tested: Sequence[Tested], terms: Terms) -> int:
    """Return the number of the candidate that the selection rule chooses by these estimates.

    A single candidate is returned even if its fits failed.

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
    return choose_by_rule(tested, terms.rule)


def candidate_of_each_fit(plan: Plan, chosen_candidates: np.ndarray) -> np.ndarray:
    """Return the candidate chosen for each outer fit, given the choice for each test set."""
    candidate_of_fit = np.zeros(plan.n_fits, dtype=np.int64)
    candidate_of_fit[plan.fit] = chosen_candidates
    return candidate_of_fit


def make_winners(
    chosen_candidates: np.ndarray, inner_estimates: Sequence[Sequence[Tested]]
) -> ChosenCandidates:
    """Return the candidate chosen for every outer test set, with this candidate's inner risk."""
    risks = np.full(len(chosen_candidates), np.nan)
    for test_set, estimates in enumerate(inner_estimates):
        risks[test_set] = estimates[int(chosen_candidates[test_set])].value
    return ChosenCandidates(chosen_candidates, risks, has_inner_risks=bool(inner_estimates))


def add_winners(evaluation: Evaluation, procedure: Tested, winners: ChosenCandidates) -> Evaluation:
    """Add the procedure's risk, its winners and a record of every outer split to an evaluation.

    The evaluation holds the predictions of the winners. A test set that consists of the fit's own
    training rows is not an outer split.
    """
    assert evaluation.answers is not None
    assert procedure.split_risks is not None
    plan = evaluation.answers.plan
    test_sets = np.flatnonzero(~plan.own_rows)
    outer_splits = map(
        OuterSplit,
        plan.repeat[test_sets].tolist(),
        plan.fold[test_sets].tolist(),
        winners.candidate[test_sets].tolist(),
        winners.inner_risk[test_sets].tolist(),
        procedure.split_risks[test_sets].astype(np.float64).tolist(),
        plan.train_sizes[plan.fit[test_sets]].tolist(),
        plan.test_sizes[test_sets].tolist(),
    )
    return replace(evaluation, procedure=procedure, winners=winners, units=tuple(outer_splits))


class Procedure(Method):
    """Base class of methods for the risk of the whole procedure "choose a setting, then fit".

    The plan has a part "outer", whose test sets test the chosen candidates, and a part "inner". The
    inner test sets of unit q compare the candidates on the training rows of outer test set q. If
    `compare` is true, a single candidate is evaluated inside as well, so that it can be compared
    with candidates of another family.
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
        """Name of the outer method, whose splits test the chosen candidates."""
        return self.outer_method.name

    def asks_inside(self, n_candidates: int) -> bool:
        """Return True if candidates have to be compared within every outer training set.

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
        """Return the index of the pass (one run of all fits) that tests the chosen candidates.

        It is the first pass if tuning and testing share folds, otherwise the pass after tuning. The
        models of a pass have its seeds, so that the winners must be fitted again in the same pass.

        Parameters
        ----------
        n_candidates : int
            The number of candidates.

        Returns
        -------
        int
            The index of the pass, 0 or 1.
        """
        return 0 if self.shares_folds else int(self.asks_inside(n_candidates))

    @property
    @override
    def bias(self) -> str:
        return f"{self.outer_method.bias}; the tuning is inside and adds no optimism"

    def giving(self, need: Basis, interval: str) -> Method:
        """Return the nested method whose outer splits give the evidence that an interval needs.

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
        outer_method = adapt_method_to_interval(self.outer_method, interval)
        return make_nested_procedure(outer_method, self.inner_method, self.compare)

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
        """Return the risk of the procedure, from the winners' predictions for outer test rows.

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


def make_nested_procedure(outer: Any, inner: Any, compare: bool = False) -> Procedure:
    """Return nested validation, in which `inner` chooses a setting and `outer` tests it."""
    procedure: Procedure = registry.load("nested")(outer, inner, compare)
    return procedure
