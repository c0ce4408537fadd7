"""Racing: settings that are very unlikely to win are not fitted on further folds.

After some folds, candidate c has lost δ more than the best one, per unit of weight, on rows of
total weight W. On all rows, of total weight W + R, its mean difference is predicted to be the same.
A difference of 0 is then z = δ √(W + R) / √(V R) standard deviations away, where V is the variance
of δ, and the remaining rows are expected to have the same variance. The best candidate, and
candidates tied with it, have z = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms, in_every_loss
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Average, Loss, RowLoss, check_average
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import Averaged, average_weights, row_losses
from truerisk.methods.parts.procedure import choose_inside, winners_of, with_winners
from truerisk.plan.answers import Answers, Ask, filled
from truerisk.plan.pairs import partitions_of
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target, Tested
from truerisk.results.interval import Basis

LEAST = 1.75  # standard deviations; dropping the winner costs more early than late …
MORE = 1.0  # … and so are the savings larger: this is added in proportion to the rows seen
UNSEEN = 2  # number of additional rows of typical difference that are assumed to have been seen

AskSome = Callable[[np.ndarray], Answers]
"""Function that returns the answers of candidate c in fit f for the entries marked in an array."""


@dataclass(eq=False)
class Race:
    """One race over the questions `order` of a plan; `alive` marks the remaining candidates."""

    order: np.ndarray
    alive: np.ndarray
    total: float
    losses: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    groups: list[np.ndarray] = field(default_factory=list)

    def see(self, losses: np.ndarray, weights: np.ndarray, groups: np.ndarray | None) -> None:
        """Record the losses of all candidates on the next question; drop hopeless candidates."""
        self.losses.append(losses)
        self.weights.append(weights)
        if groups is not None:
            self.groups.append(groups)
        at = np.flatnonzero(self.alive)
        seen = np.concatenate([part[at] for part in self.losses], axis=1)
        groups = np.concatenate(self.groups) if self.groups else None
        self.alive[at[hopeless(seen, np.concatenate(self.weights), self.total, groups)]] = False


def raced(
    ask: AskSome, plan: Plan, races: Sequence[np.ndarray], n: int, seen: Seen
) -> tuple[Answers, np.ndarray]:
    """Return the answers of n candidates, and which of them reached the end of each race.

    `races` holds the questions of each race in their order. All races proceed to their next
    question at the same time, so that a fit that serves two races is made once.
    """
    running = [
        Race(order, np.ones(n, dtype=bool), float(seen.weights_of(order).sum())) for order in races
    ]
    parts: list[Answers] = []
    made = np.zeros((n, plan.n_fits), dtype=bool)
    for turn in range(max(len(order) for order in races)):
        requested = np.zeros_like(made)
        going = [race for race in running if turn < len(race.order)]
        for race in going:
            requested[race.alive, plan.fit[race.order[turn]]] = True
        requested &= ~made
        if requested.any():
            parts = [filled([*parts, ask(requested)])]
            made |= requested
        for race in going:
            if turn + 1 < len(race.order):
                race.see(*seen.losses_of(parts[0], int(race.order[turn])))
    return parts[0], np.array([race.alive for race in running])


@frozen(eq=False)
class Seen:
    """The losses of rows that a race sees, and the weights of the rows in the risk."""

    data: Data
    loss: RowLoss
    plan: Plan
    weights: np.ndarray

    def weights_of(self, questions: np.ndarray) -> np.ndarray:
        """Return the weights of the rows of some questions."""
        offsets = self.plan.test_offsets
        return np.concatenate([self.weights[offsets[q] : offsets[q + 1]] for q in questions])

    def losses_of(
        self, answers: Answers, question: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return losses (NaN if unknown), weights and groups of the rows of one question."""
        requested = np.array([question])
        rows = self.plan.test_rows(question)[0]
        groups = None if self.data.clusters is None else self.data.clusters[rows]
        return (
            row_losses(answers.select(requested), self.data, self.loss),
            self.weights_of(requested),
            groups,
        )


def hopeless(
    losses: np.ndarray, weights: np.ndarray, total: float, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return a mask of candidates that are very unlikely to be the best on rows of weight `total`.

    `losses[c]` are the losses of the rows seen so far. Rows of a group are summed first. A
    candidate with a failed fit cannot have a risk; if all candidates have failed, none is dropped.

    >>> errors = np.array([[0, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 1], [0, 1, 0, 0, 0, 0]])
    >>> hopeless(errors, np.ones(6), 12.0).tolist()
    [False, True, False]
    """
    failed = np.isnan(losses).any(axis=1)
    if failed.all():
        return np.zeros(len(losses), dtype=bool)
    seen = float(weights.sum())
    sums = np.where(failed, np.inf, losses @ weights)
    more = losses - losses[int(sums.argmin())]
    mean = more @ weights / seen
    amounts = _by_group(weights * more, groups)
    shifts = _by_group(weights, groups)
    spread = ((amounts - mean[:, None] * shifts) ** 2).sum(axis=1)
    unlike = amounts[~failed]
    unlike = unlike[unlike != 0]
    spread += UNSEEN * float((unlike**2).mean()) if len(unlike) else 0.0
    variance = spread / seen**2
    with np.errstate(divide="ignore", invalid="ignore"):
        away = mean * np.sqrt(total / (variance * (total - seen)))
    beaten: np.ndarray = failed | (away > LEAST + MORE * seen / total)
    return beaten


def _by_group(amounts: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    if groups is None:
        return amounts
    order = np.argsort(groups, kind="stable")
    starts = np.unique(groups[order], return_index=True)[1]
    return np.add.reduceat(amounts[..., order], starts, axis=-1)


@frozen
class Racing(Method):
    """K-fold cross-validation that drops hopeless settings early (a race; Kuhn, 2014).

    The folds are processed one after the other. A setting is dropped if its losses so far make it
    improbable that it has the smallest risk on all rows: a difference of 0 from the best setting is
    more than 1.75 + (share of the rows seen) standard deviations away from the predicted difference
    (`hopeless`). Settings that reach the end have exactly their K-fold risk, and the smallest one
    wins. Dropped settings have no risk, and their notes tell when they were dropped.

    The choice is nearly always the same as with all folds. Where it is not, the race is still the
    procedure that is applied, and `RacedPairs` estimates the risk of that procedure. `average` has
    the same meaning as in `KFold`.

    Parameters
    ----------
    folds : str, int, Method or splitter, default="10-fold"
        The folds over which the race runs.
    average : {"pooled", "fold"}, optional
        How the tests are averaged: over all rows together ("pooled"), or first within each fold
        ("fold"). By default as the loss requires.

    See Also
    --------
    truerisk.methods.KFold : K-fold cross-validation.

    References
    ----------
    Maron O, Moore AW (1994). Hoeffding races: accelerating model selection search for
    classification and function approximation. Advances in Neural Information Processing Systems 6.
    Kuhn M (2014). Futility analysis in the cross-validation of machine learning models.
    arXiv:1405.6974.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.svm import SVC
    >>> X, y = tr.datasets.make_simple(100, random_state=0)
    >>> grid, method = {"C": [1e-3, 1, 10]}, tr.methods.Racing()
    >>> curve = tr.risk_curve(SVC(), grid, X, y, cv=method, engine="generic")
    >>> curve.best_params, curve.values.round(2).tolist()
    ({'C': 0.001}, [0.2, 0.22, nan])
    """

    folds: Any = "10-fold"
    average: Average | None = None

    target: ClassVar[Target] = "Err"
    rates_all: ClassVar[bool] = False
    spares_fits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_average(self.average)

    @property
    @override
    def name(self) -> str:
        return f"racing ({self.method.name})"

    @property
    @override
    def bias(self) -> str:
        return self.method.bias

    @property
    def gives(self) -> frozenset[Basis]:  # type: ignore[override]
        """Kinds of evidence that the folds of this method provide for intervals."""
        return self.method.gives

    @property
    @override
    def tells_scores(self) -> Method:
        return self.method

    def procedure(self, outer: Method, *, compare: bool) -> RacedPairs:
        """Return the method that repeats the race in every outer training set of the pairs.

        Parameters
        ----------
        outer : Method
            The requested outer splits, which must be pairs of the folds of the race.
        compare : bool
            If True, a single candidate is also compared.

        Returns
        -------
        Method
            The method.
        """
        if not isinstance(outer, Pairs) or outer.folds is not None:
            raise Refusal(
                f"'{self.name}' is tested in the pairs of its own folds, and '{outer.name}' was "
                f"asked for: use {mention('outer', 'pairs')}, or compare by folds, such as "
                "'10-fold'."
            )
        return RacedPairs(self, compare, outer.average)

    @property
    def method(self) -> Averaged:
        """The K-fold method over whose folds the race runs."""
        from truerisk.methods.words import as_method

        method = as_method(self.folds)
        if not isinstance(method, Averaged) or not method.has_folds:
            raise Refusal(
                f"'{method.name}' has no folds to race over: name a K-fold word, such as "
                "tr.methods.Racing('10-fold')."
            )
        if self.average is None:
            return method
        averaged: Averaged = replace(method, average=self.average)  # type: ignore[type-var]
        return averaged

    @override
    def check(self, data: Data, loss: Loss) -> None:
        self.method.check(data, loss)
        if not isinstance(loss, RowLoss):
            raise Refusal(
                f"'{loss.name}' rates whole test sets, and a race compares losses of single rows: "
                "choose by the folds themselves, such as '10-fold', or by another loss."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        plan = self.method.plan(data, streams)
        try:
            several = len(partitions_of(plan)) > 1
        except Refusal as refusal:
            raise BadData(
                f"the folds of '{self.method.name}' are none to race over: {refusal}. Choose by "
                "folds that hold every row once, such as '10-fold'."
            ) from None
        if several:
            raise Refusal(
                f"'{self.method.name}' tests every row repeatedly, and a race tests each row once: "
                "use one set of folds, such as '10-fold'."
            )
        return plan

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        tested = self.method.reduce(answers, data, loss, terms)
        made, n = answers.made, answers.plan.n_questions
        return [
            one if made[c].all() else replace(one, notes=(_note(int(made[c].sum()), n), *one.notes))
            for c, one in enumerate(tested)
        ]

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        answers = self.run(ask, data, loss, plan, terms)

        def rate(loss: Loss, terms: Terms, answers: Answers) -> Evaluation:
            tested = tuple(self.reduce(answers, data, loss, terms))
            return Evaluation(plan, tested, answers.n_fits, answers=answers)

        return in_every_loss(rate, loss, terms, answers)

    def run(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Answers:
        """Return the answers of the race on all rows; a single candidate is tested on all folds.

        Parameters
        ----------
        ask : callable
            Requests the answers to a plan.
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits and the questions that they answer.
        terms : Terms
            Confidence level, rule and further scores.

        Returns
        -------
        Answers
            The predictions of all candidates as far as they raced.
        """
        # A race seeks the smallest risk, and may have dropped the candidate that another rule
        # chooses.
        if terms.n_candidates > 1 and terms.rule.name != "min":
            raise Refusal(
                f"rule '{terms.rule.name}' may choose a setting that a race has dropped, as a race "
                f"seeks the smallest risk: use {mention('rule', 'min')}, or compare by folds, such "
                "as '10-fold'."
            )
        if terms.n_candidates == 1:
            return ask(plan, number=0)
        order = np.arange(plan.n_questions)
        seen = self.seen(data, loss, plan)
        return raced(_some(ask, plan, 0), plan, [order], terms.n_candidates, seen)[0]

    def seen(self, data: Data, loss: Loss, plan: Plan) -> Seen:
        """Return the view that a race on this plan has of its answers.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        Seen
            The view.
        """
        assert isinstance(loss, RowLoss)
        average = self.method.average_of(loss)
        return Seen(data, loss, plan, average_weights(data, plan, average)[0])


@frozen
class RacedPairs(Pairs):
    """The risk of "race, then fit": the race is repeated in every outer training set of the pairs.

    Within outer fold i, the settings race over the other folds j, with their fits without i and j.
    The races start with the folds next to i on a circle, because the fit without two adjacent folds
    serves both of their races at once. A race sees only its own questions, so that a setting is
    dropped within i without the use of fold i. The fits that are made are the union of those that
    the races need. `folds` is the `Racing` method.
    """

    folds: Any = None

    @property
    def race(self) -> Racing:
        """The race that is tested."""
        return self.folds if isinstance(self.folds, Racing) else Racing()

    @property
    @override
    def name(self) -> str:
        return f"raced {super().name}"

    @property
    @override
    def tested_by(self) -> str:
        return "raced pairs"

    @property
    @override
    def inner_method(self) -> Averaged:
        return self.race.method

    @override
    def check(self, data: Data, loss: Loss) -> None:
        self.race.check(data, loss)
        super().check(data, loss)

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        self.race.plan(data, streams)  # refuses folds that cannot be raced over
        return super().plan(data, streams)

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        if terms.n_candidates == 1:
            return super().evaluate(ask, data, loss, plan, terms)
        outside = plan.part_named("outer")
        inside = plan.part_named("inner")
        n = terms.n_candidates
        search = self.race.run(ask, data, loss, outside, terms)
        seen = self.race.seen(data, loss, inside)
        without_two, ends = raced(_some(ask, inside, 1), inside, _circle(inside), n, seen)
        # marks the candidates that reached the end of the race in each unit
        ended = ends[without_two.plan.unit].T
        compared = replace(without_two, answered=without_two.answered & ended)
        chosen, inner = choose_inside(self.inner_method, compared, data, loss, terms)
        winners = winners_of(chosen, inner)
        requested = np.zeros((n, outside.n_fits), dtype=bool)
        requested[chosen, outside.fit] = True
        without_one = ask(outside, requested=requested, number=0)
        lacking = int((requested & ~search.made).sum())
        n_fits = search.n_fits + without_two.n_fits + lacking
        whole = n * (outside.n_fits + inside.n_fits)
        price = f"{n_fits} fits; without a race {whole}. The race on all rows made {search.n_fits}."

        def rate(loss: Loss, terms: Terms, one: Answers, two: Answers, all_: Answers) -> Evaluation:
            tested, left_two_out = one.picked(chosen), two.picked(chosen[two.plan.fold])
            procedure = self.risk(tested, left_two_out, data, loss, terms)
            procedure = replace(procedure, notes=(price, *procedure.notes))
            curve = tuple(self.race.reduce(all_, data, loss, terms))
            return with_winners(
                Evaluation(plan, curve, n_fits, answers=tested, left_two_out=left_two_out),
                procedure,
                winners,
            )

        return in_every_loss(rate, loss, terms, without_one, without_two, search)


def _some(ask: Ask, plan: Plan, number: int) -> Any:
    """Return a function that asks a plan in parts, which belong to one pass."""

    def some(requested: np.ndarray) -> Answers:
        return ask(plan, requested=requested, number=number)

    return some


def _circle(inside: Plan) -> list[np.ndarray]:
    """Return the questions of every outer fold, those of the folds next to it on a circle first."""
    units = int(inside.unit.max()) + 1
    order = []
    for unit in range(units):
        mine = np.flatnonzero(inside.unit == unit)
        ahead = (inside.fold[mine] - unit) % units
        order.append(mine[np.lexsort((ahead, np.minimum(ahead, units - ahead)))])
    return order


def _note(folds: int, of: int) -> str:
    return f"left the race after {folds} of {of} folds, so it has no risk on all rows."
