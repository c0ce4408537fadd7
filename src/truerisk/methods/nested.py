"""The risk of a tuned learner: choose inside every outer training set, test outside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms, in_every_loss
from truerisk.core.errors import BadData, Refusal
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, check_average
from truerisk.methods.parts.averages import Averaged, tested_by_average
from truerisk.methods.parts.interval_choice import calibrated_word
from truerisk.methods.parts.procedure import (
    Procedure,
    by_fit,
    chosen_candidate,
    inner_risks,
    winners_of,
    with_winners,
)
from truerisk.methods.splitter import refuse_known_rows
from truerisk.methods.words import USUAL_FOLDS, as_method
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.leaks import order_of
from truerisk.plan.nesting import nest, with_pairs
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, RisksToRead, Tested, values_of
from truerisk.results.interval import Basis


@dataclass(frozen=True)
class Nested(Procedure):
    """The risk of the whole procedure "choose a setting by `inner`, then fit" (Wallman, §3.4).

    In every split of `outer` the candidates are compared by `inner` on the training rows alone;
    the winner is fitted on them and tested on the outer test rows, which took no part in the
    choice. `procedure` is the outer risk; the candidates' own values are their inner risks,
    averaged over the outer splits. Inner and outer folds come from independent streams.

    With a single candidate nothing is chosen, and the outer risk is all there is, unless
    `compare` asks for its inner risk (to choose among several families inside).
    """

    outer: Any = USUAL_FOLDS
    inner: Any = USUAL_FOLDS
    compare: bool = False

    shares_folds: ClassVar[bool] = False

    @property
    def word(self) -> str:
        return f"nested ({self.outer_method.word}, inner {self.inner_method.word})"

    @property
    def outer_method(self) -> Method:
        return self._part(self.outer, "outer")

    @property
    def inner_method(self) -> Method:
        return self._part(self.inner, "inner")

    def _part(self, given: Any, which: str) -> Method:
        method = as_method(given)
        serves = method.resamples or (which == "inner" and method.target != "training")
        if type(method).evaluate is not Method.evaluate or not serves:
            raise Refusal(
                f"'{method.word}' cannot be the {which} method of nested validation: "
                "use one that splits once over, such as '10-fold', 'loo', 'monte-carlo' or '.632+' "
                "(out of bag: tr.methods.Bootstrap('oob'))."
            )
        return method

    def instead(self, reason: str) -> Nested | None:
        inner = self.inner_method.instead(reason)
        return None if inner is None else replace(self, inner=inner)

    def plan(self, data: Data, streams: Streams) -> Plan:
        outer = self.outer_method.plan(data, streams.child("outer"))
        if outer.laws is not None:
            raise Refusal(
                f"'{self.outer_method.word}' cannot be the outer method of nested validation: its "
                "training sets are too many to tune in each. Use '10-fold' or 'monte-carlo'."
            )
        refuse_known_rows(self.outer_method, outer)
        # splits with equal training rows share one fit, so they must choose alike
        outer = merge_equal_fits(outer)
        return nest(outer, [self._inside(outer, fit, data, streams) for fit in range(outer.n_fits)])

    def _inside(self, outer: Plan, fit: int, data: Data, streams: Streams) -> Plan:
        """The inner plan of one outer training set."""
        rows = outer.train_rows(fit)[0]
        try:
            return self.inner_method.plan(data.subset(rows), streams.child(f"inner {fit}"))
        except BadData as error:
            where = f"inside outer training set {fit}, with {len(rows)} of {data.n_rows} rows"
            raise BadData(f"{where}: {error}") from error

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        outside = plan.part_named("outer")
        inner: Sequence[Sequence[Tested]] = []
        n_fits = 0
        if self.asks_inside(terms.n_candidates):
            answers = ask(plan.part_named("inner"), besides=False)
            n_fits = answers.n_fits
            inner = inner_risks(self.inner_method, answers, data, loss, terms)
        chosen = np.array([chosen_candidate(unit, terms) for unit in inner] or [0] * outside.n_fits)
        chosen, inner = chosen[outside.fit], [inner[fit] for fit in outside.fit] if inner else []
        outer = ask(outside, only=by_fit(outside, chosen))
        winners, n_fits = winners_of(chosen, inner), n_fits + outer.n_fits

        def rate(one: Loss, terms: Terms, outer: Answers) -> Evaluation:
            procedure = self.outer_method.reduce(outer, data, one, terms)[0]
            curve = _averaged(inner) if inner else (procedure,)
            if inner and one is not loss:  # the inner splits were asked what the choice needs
                none = Tested(np.nan, notes=(f"the settings were compared by '{loss.word}'.",))
                curve = (none,) * len(curve)
            return with_winners(Evaluation(plan, curve, n_fits, answers=outer), procedure, winners)

        return in_every_loss(rate, loss, terms, outer)


def _averaged(inner: Sequence[Sequence[Tested]]) -> tuple[Tested, ...]:
    """Each candidate's inner risk, averaged over the outer splits."""
    note = "mean of the inner risks over the outer splits; the honest risk is `procedure`"
    values = np.array([values_of(unit) for unit in inner])
    return tuple(Tested(float(v), notes=(note,)) for v in values.mean(axis=0))


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
    (`intervals/calibrated.py`).
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
            splits = "the same splitter" if order_of(folds) is not None else "outer='10-fold'"
            raise BadData(
                f"the folds of '{self._folds.word}' cannot be left out in pairs: {refusal}. Choose "
                f"by folds that hold every row once, or name the outer splits, such as {splits}."
            ) from None

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        without_one = ask(plan.part_named("outer"))
        without_two = ask(plan.part_named("inner"))
        inner = inner_risks(self._folds, without_two, data, loss, terms)
        chosen = np.array([chosen_candidate(unit, terms) for unit in inner])
        winners = winners_of(chosen, inner)
        search, n_fits = without_one.n_fits, without_one.n_fits + without_two.n_fits
        price = f"{n_fits} fits; a plain search makes {search}."

        def rate(loss: Loss, terms: Terms, one: Answers, two: Answers) -> Evaluation:
            tested, shaken = one.picked(chosen), two.picked(chosen[two.plan.fold])
            procedure = self.risk(tested, shaken, data, loss, terms)
            curve: Sequence[Tested] = (procedure,)
            if terms.n_candidates > 1:  # a search has this curve already, and never reads it
                procedure = replace(procedure, notes=(price, *procedure.notes))
                reduce = partial(self._folds.reduce, one, data, loss, terms)
                curve = RisksToRead(reduce, terms.n_candidates)
            evaluation = Evaluation(plan, curve, n_fits, answers=tested, shaken=shaken)
            return with_winners(evaluation, procedure, winners)

        return in_every_loss(rate, loss, terms, without_one, without_two)

    def risk(
        self, tested: Answers, shaken: Answers | None, data: Data, loss: Loss, terms: Terms
    ) -> Tested:
        usual = calibrated_word(loss, data)
        return tested_by_average(
            tested, data, loss, terms, self.average, usual=usual, shaken=shaken
        )[0]
