"""Racing: settings that cannot win any more in all likelihood are fitted on no further fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.core.answers import Answers, Ask
from truerisk.core.contracts import Method, Streams, Target, Terms, in_every_loss
from truerisk.core.errors import BadData, Refusal
from truerisk.core.evaluation import Evaluation, Tested
from truerisk.core.interval import Basis
from truerisk.core.losses import Loss, RowLoss
from truerisk.core.plan.pairs import partitions_of
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import Average, Averaged, average_weights, check_average
from truerisk.methods.parts.choosing_inside import choose, inner_risks, tuned, winners_of
from truerisk.methods.parts.race import Seen, raced

__all__ = ["RacedPairs", "Racing"]


@dataclass(frozen=True)
class Racing(Method):
    r"""K-fold cross-validation that asks hopeless settings no further (a race; Kuhn, 2014).

    The folds are asked one after the other. A setting leaves when its losses on the rows so far
    make it improbable that it will have the smallest risk on all of them: a difference of 0 to the
    best one lies more than 1.75 + (share of the rows seen) standard deviations from what is
    foretold (`parts/race.py`). Who reaches the end has its K-fold risk, to the last digit, and the
    smallest one wins. Who left has no risk, and its notes say when.

    The choice is nearly always the one of all folds. Where it is not, the race is still what is
    done, and `RacedPairs` estimates the risk of doing it. `average` as in `KFold`.

    References
    ----------
    Maron O, Moore AW (1994). Hoeffding races: accelerating model selection search for
    classification and function approximation. Advances in Neural Information Processing Systems 6.
    Kuhn M (2014). Futility analysis in the cross-validation of machine learning models.
    arXiv:1405.6974.
    """

    folds: Any = "10-fold"
    average: Average | None = None

    target: ClassVar[Target] = "Err"
    rates_all: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_average(self.average)

    @property
    def word(self) -> str:
        return f"racing ({self.method.word})"

    @property
    def bias(self) -> str:
        return self.method.bias

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        """What its folds give."""
        return self.method.gives

    @property
    def tells_scores(self) -> Method:
        return self.method

    @property
    def method(self) -> Averaged:
        """The folds that are asked."""
        from truerisk.methods.words import as_method

        method = as_method(self.folds)
        if not isinstance(method, Averaged) or not method.has_folds:
            raise Refusal(
                f"'{method.word}' has no folds to race over: name a K-fold word, such as "
                "tr.methods.Racing('10-fold')."
            )
        if self.average is None:
            return method
        averaged: Averaged = replace(method, average=self.average)  # type: ignore[type-var]
        return averaged

    def check(self, data: Data, loss: Loss) -> None:
        self.method.check(data, loss)
        if not isinstance(loss, RowLoss):
            raise Refusal(
                f"'{loss.word}' rates whole test sets, and a race goes by the losses of single "
                "rows: choose by the folds themselves, such as '10-fold', or by another loss."
            )

    def plan(self, data: Data, streams: Streams) -> Plan:
        plan = self.method.plan(data, streams)
        try:
            several = len(partitions_of(plan)) > 1
        except Refusal as refusal:
            raise BadData(
                f"the folds of '{self.method.word}' are none to race over: {refusal}. Choose by "
                "folds that hold every row once, such as '10-fold'."
            ) from None
        if several:
            raise Refusal(
                f"'{self.method.word}' tests every row repeatedly, and a race asks each one once: "
                "use one set of folds, such as '10-fold'."
            )
        return plan

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        tested = self.method.reduce(answers, data, loss, terms)
        made, n = answers.made, answers.plan.n_questions
        return [
            one if made[c].all() else replace(one, notes=(_left(int(made[c].sum()), n), *one.notes))
            for c, one in enumerate(tested)
        ]

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        answers = self.run(ask, data, loss, plan, terms)

        def told(loss: Loss, terms: Terms, answers: Answers) -> Evaluation:
            tested = tuple(self.reduce(answers, data, loss, terms))
            return Evaluation(plan, tested, answers.n_fits, answers=answers)

        return in_every_loss(told, loss, terms, answers)

    def run(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Answers:
        """The answers of the race on all rows; a single candidate has nobody to race against."""
        check_rule(terms)
        if terms.n_candidates == 1:
            return ask(plan, number=0)
        order = np.arange(plan.n_questions)
        seen = self.seen(data, loss, plan)
        return raced(_some(ask, plan, 0), plan, [order], terms.n_candidates, seen)[0]

    def seen(self, data: Data, loss: Loss, plan: Plan) -> Seen:
        """How a race over questions of this plan looks at its answers."""
        assert isinstance(loss, RowLoss)
        average = self.method.average_of(loss)
        return Seen(data, loss, plan, average_weights(data, plan, average)[0])


@dataclass(frozen=True)
class RacedPairs(Pairs):
    """The risk of "race, then fit": the same race in every outer training set of the pairs.

    Inside outer fold i the settings race over the other folds j, by their fits without i and j,
    first those of the folds next to i on a circle: the fit without two neighbours serves both their
    races at once. A race sees its own questions alone, so what left the race inside i did so
    without fold i. What is fitted is the union of what the races ask. `folds` is the `Racing`.
    """

    folds: Any = None

    @property
    def race(self) -> Racing:
        """The race that is tested."""
        return self.folds if isinstance(self.folds, Racing) else Racing()

    @property
    def word(self) -> str:
        return f"raced {super().word}"

    @property
    def tested_by(self) -> str:
        return "raced pairs"

    @property
    def _folds(self) -> Averaged:
        return self.race.method

    def check(self, data: Data, loss: Loss) -> None:
        self.race.check(data, loss)
        super().check(data, loss)

    def plan(self, data: Data, streams: Streams) -> Plan:
        self.race.plan(data, streams)  # refuses what is none to race over
        return super().plan(data, streams)

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        if terms.n_candidates == 1:
            return super().evaluate(ask, data, loss, plan, terms)
        outside = plan.only(plan.questions("outer"))
        inside = plan.only(plan.questions("inner"))
        n = terms.n_candidates
        search = self.race.run(ask, data, loss, outside, terms)
        seen = self.race.seen(data, loss, inside)
        without_two, ends = raced(_some(ask, inside, 1), inside, _circle(inside), n, seen)
        compared = _of_those(without_two, ends)
        inner = inner_risks(self._folds, compared, data, loss, terms)
        chosen = np.array([choose(unit, terms) for unit in inner])
        winners = winners_of(chosen, inner)
        asked = np.zeros((n, outside.n_fits), dtype=bool)
        asked[chosen, outside.fit] = True
        without_one = ask(outside, asked=asked, number=0)
        lacking = int((asked & ~search.made).sum())
        n_fits = search.n_fits + without_two.n_fits + lacking
        whole = n * (outside.n_fits + inside.n_fits)
        price = f"{n_fits} fits; without a race {whole}. The race on all rows made {search.n_fits}."

        def told(loss: Loss, terms: Terms, one: Answers, two: Answers, all_: Answers) -> Evaluation:
            tested, shaken = one.picked(chosen), two.picked(chosen[two.plan.fold])
            procedure = self.risk(tested, shaken, data, loss, terms)
            procedure = replace(procedure, notes=(price, *procedure.notes))
            curve = tuple(self.race.reduce(all_, data, loss, terms))
            return tuned(
                Evaluation(plan, curve, n_fits, answers=tested, shaken=shaken), procedure, winners
            )

        return in_every_loss(told, loss, terms, without_one, without_two, search)


def check_rule(terms: Terms) -> None:
    """A race seeks the smallest risk; a rule that wants another setting may have lost it."""
    if terms.n_candidates > 1 and terms.rule.word != "min":
        raise Refusal(
            f"rule '{terms.rule.word}' may choose a setting that a race has left behind, as it "
            "seeks the smallest risk: use rule='min', or compare by folds, such as '10-fold'."
        )


def _some(ask: Ask, plan: Plan, number: int) -> Any:
    """Ask a plan in parts, which are one pass."""

    def some(asked: np.ndarray) -> Answers:
        return ask(plan, asked=asked, number=number)

    return some


def _circle(inside: Plan) -> list[np.ndarray]:
    """The questions of every unit, those of the folds next to it on a circle first."""
    units = int(inside.unit.max()) + 1
    order = []
    for unit in range(units):
        mine = np.flatnonzero(inside.unit == unit)
        ahead = (inside.fold[mine] - unit) % units
        order.append(mine[np.lexsort((ahead, np.minimum(ahead, units - ahead)))])
    return order


def _of_those(answers: Answers, ends: np.ndarray) -> Answers:
    """The answers inside each unit of those who reached the end of its race alone."""
    return replace(answers, answered=answers.answered & ends[answers.plan.unit].T)


def _left(folds: int, of: int) -> str:
    return f"left the race after {folds} of {of} folds, so it has no risk on all rows."
