"""Nested validation on one set of folds: each of them, and each two, are left out once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers, Ask
from truerisk.core.contracts import Method, Streams, Terms, in_every_loss
from truerisk.core.errors import BadData, Refusal
from truerisk.core.evaluation import Evaluation, Tested
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss
from truerisk.core.plan.order import is_ordered
from truerisk.core.plan.pairs import with_pairs
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import Average, Averaged, check_average, tested_by_average
from truerisk.methods.parts.choosing_inside import choose, inner_risks, tuned, winners_of
from truerisk.methods.parts.interval_choice import calibrated_word
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import USUAL_FOLDS, as_method

__all__ = ["Pairs"]


@dataclass(frozen=True)
class Pairs(Procedure):
    r"""The risk of "choose a setting, then fit", from one set of K folds.

    Every candidate is fitted without each fold and without each two folds. The fits without one
    fold give each candidate's K-fold risk, by which a setting is chosen on all rows. Inside outer
    fold i candidate c has the mean loss on the folds j ≠ i of its fits without i and j, in which
    fold i took no part; the winner c(i) is tested on fold i by its fit without i, which is there
    already. `procedure` is the mean of these tests.

    C candidates take C K(K+1)/2 fits: for K = 5 three times those of the search itself. `folds` is
    the method that compares the candidates, a K-fold word or a splitter whose folds partition the
    rows; None are those that the search chooses by, or five. `average` says how the tests are
    averaged, as in `KFold`. Row r of fold i was answered by the K − 1 fits of c(i) without i and j,
    too; their spread tells how much the procedure depends on its training rows
    (`interval_forms/inflation.py`).
    """

    folds: Any = None
    compare: bool = False
    average: Average | None = None

    shares_folds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)

    @property
    def word(self) -> str:
        return f"pairs ({self._folds.word})"

    @property
    def tested_by(self) -> str:
        return "pairs"

    @property
    def outer_method(self) -> Method:
        return replace(self._folds, average=self.average)  # type: ignore[type-var]

    @property
    def inner_method(self) -> Method:
        return self._folds

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        """What its folds give, tested as they are."""
        return self._folds.gives

    @property
    def _folds(self) -> Averaged:
        method = as_method(USUAL_FOLDS if self.folds is None else self.folds)
        if method.respects_time:
            raise Refusal(
                f"'{method.word}' cannot be left out in pairs: the model without folds i and j is "
                "asked about both, and would be tested on rows before those that it learned from. "
                f"Name the outer splits, such as outer='{method.word.partition(' ')[0]}'."
            )
        if not isinstance(method, Averaged) or not method.has_folds:
            raise Refusal(
                f"'{method.word}' has no folds to leave out in pairs: choose by a K-fold word such "
                "as '10-fold', or name the outer splits, such as outer='10-fold'."
            )
        return method

    def asks_inside(self, n_candidates: int) -> bool:
        return True

    def plan(self, data: Data, streams: Streams) -> Plan:
        folds = self._folds.plan(data, streams)
        try:
            return with_pairs(folds)
        except Refusal as refusal:
            splits = "the same splitter" if is_ordered(folds) else "outer='10-fold'"
            raise BadData(
                f"the folds of '{self._folds.word}' cannot be left out in pairs: {refusal}. Choose "
                f"by folds that hold every row once, or name the outer splits, such as {splits}."
            ) from None

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        without_one = ask(plan.only(plan.questions("outer")))
        without_two = ask(plan.only(plan.questions("inner")))
        inner = inner_risks(self._folds, without_two, data, loss, terms)
        chosen = np.array([choose(unit, terms) for unit in inner])
        winners = winners_of(chosen, inner)
        search, n_fits = without_one.n_fits, without_one.n_fits + without_two.n_fits
        price = f"{n_fits} fits; a plain search makes {search}."

        def told(loss: Loss, terms: Terms, one: Answers, two: Answers) -> Evaluation:
            tested, shaken = one.picked(chosen), two.picked(chosen[two.plan.fold])
            procedure = self.risk(tested, shaken, data, loss, terms)
            curve: tuple[Tested, ...] = (procedure,)
            if terms.n_candidates > 1:
                procedure = replace(procedure, notes=(price, *procedure.notes))
                curve = tuple(self._folds.reduce(one, data, loss, terms))
            found = Evaluation(plan, curve, n_fits, answers=tested, shaken=shaken)
            return tuned(found, procedure, winners)

        return in_every_loss(told, loss, terms, without_one, without_two)

    def risk(
        self, tested: Answers, shaken: Answers | None, data: Data, loss: Loss, terms: Terms
    ) -> Tested:
        usual = calibrated_word(loss, data)
        return tested_by_average(
            tested, data, loss, terms, self.average, usual=usual, shaken=shaken
        )[0]
