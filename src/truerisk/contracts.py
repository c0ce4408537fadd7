"""Contracts between the packages: a Method plans and reduces, an Engine answers, a Rule chooses.

A method never sees a learner and an engine never sees a method; they meet in Plan and Answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.plan.answers import Answers, Ask, Response
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import (
    Evaluation,
    RisksByColumn,
    Target,
    Tested,
    ranks_of,
    std_errors_of,
    values_of,
)
from truerisk.results.interval import Basis

if TYPE_CHECKING:
    from truerisk.core.family import Family


@dataclass(frozen=True)
class Streams:
    """Independent random streams of one seed, by name: adding one never changes another."""

    seed: int

    def get(self, name: str) -> np.random.Generator:
        return np.random.default_rng([int(self.seed), *name.encode()])

    def child(self, name: str) -> Streams:
        """The streams of a part, independent of this one's by construction."""
        return Streams(int(self.get(f"child {name}").integers(2**63)))


class Rule(ABC):
    """Chooses a candidate from a risk curve; `ties` says in words how ties are broken."""

    word: ClassVar[str]
    ties: ClassVar[str]
    needs_std_errors: ClassVar[bool] = False

    @abstractmethod
    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        """Position of the chosen; `std_errors` is NaN where there is none or none is needed."""


def by_rule(tested: Sequence[Tested], rule: Rule) -> int:
    """The rule's candidate, by ranks where all candidates have one.

    A rule that needs standard errors compares values: ranks are on another scale.
    """
    if rule.needs_std_errors:
        return rule.choose(values_of(tested), std_errors_of(tested))
    ranks, none = ranks_of(tested), np.full(len(tested), np.nan)
    return rule.choose(values_of(tested) if ranks is None else ranks, none)


@dataclass(frozen=True)
class Terms:
    """What a method is told besides data and loss.

    `with_errors` is False where only the values are needed (choosing inside an outer split).
    `interval` is the word of the interval that was asked for, None for the method's own. `scores`
    are further losses to be told of the same fits, each with terms of its own.
    """

    confidence_level: float
    rule: Rule
    n_candidates: int = 1
    with_errors: bool = True
    interval: str | None = None
    scores: tuple[tuple[Loss, Terms], ...] = ()


def in_every_loss(
    rate: Callable[..., Evaluation], loss: Loss, terms: Terms, *answers: Answers
) -> Evaluation:
    """Rate the answers of several passes in the loss and in each further one of the terms."""
    scores: list[Evaluation] = []
    for place, (other, its) in enumerate(terms.scores):
        told = [one.also[place] for one in answers]
        scores.append(rate(other, its, *told))
    return replace(rate(loss, terms, *answers), scores=tuple(scores))


class Method(ABC):
    """A way to estimate risk.

    `target` is "Err", the mean risk of the procedure over training sets, "Err_XY", the risk of
    this fitted rule, "CER", its conditional risk (fresh labels at the x's of the training rows), or
    "training", the apparent risk.
    """

    splits: ClassVar[bool] = True  # whether rows are held out, so that copies and groups can leak
    respects_time: ClassVar[bool] = False  # whether later rows in its train sets are meant
    respects_space: ClassVar[bool] = False  # whether it leaves out rows that lie together
    rates_all: ClassVar[bool] = True  # whether each candidate gets a risk; else a note says why not
    perfect_is_0: ClassVar[bool] = True  # whether a rule that is never wrong has risk 0
    gives: ClassVar[frozenset[Basis]] = frozenset()  # what its answers may give an interval
    has_given_splits: ClassVar[bool] = False  # whether a user's splits may test training rows
    spares_fits: ClassVar[bool] = False  # whether some candidates are not fitted in every split
    tunes_inside: ClassVar[bool] = False  # whether it tests the choice of a candidate (Procedure)
    shares_folds: ClassVar[bool] = False  # whether the questions that test it also compare

    @property
    @abstractmethod
    def word(self) -> str:
        """How the method calls itself in results."""

    @property
    @abstractmethod
    def target(self) -> Target:
        """Which of the four risks of `Target` the method estimates."""

    @property
    @abstractmethod
    def bias(self) -> str:
        """Which way it errs, and why."""

    @property
    def goes_forward(self) -> bool:
        """Whether rows are tested only by models that saw rows before them."""
        return self.respects_time

    @property
    def n_parts(self) -> int:
        """The number of parts of the rows, of which the smallest training set is one or more."""
        return 2

    @property
    def outer_method(self) -> Method:
        """The method that tests: this one, unless it tunes inside its training sets."""
        return self

    @property
    def resamples(self) -> bool:
        """Whether a procedure can be tuned anew in each of its training sets."""
        return self.splits

    def instead(self, reason: str) -> Method | None:
        """The method to use where no engine can answer this one's plan (and why), None for none."""
        return None

    def giving(self, need: Basis, interval: str) -> Method | None:
        """Return a method that draws what an interval needs and this one lacks, or None."""
        return None

    def procedure(self, outer: Method, *, compare: bool) -> Method | None:
        """Return its own test of a choice by it, or None where any splits may test that."""
        return None

    @property
    def tells_scores(self) -> Method:
        """The method that tells further scores of what is tested, itself or a part of it."""
        return self

    def loss_of(self, data: Data, loss: Loss, *, asked: bool) -> Loss:
        """The loss it reports in: the given one, unless the method has a loss of its own.

        `asked` says that the user named the loss; one that contradicts is then refused.
        """
        return loss

    @abstractmethod
    def plan(self, data: Data, streams: Streams) -> Plan:
        """Draw the plan; the same data and seed give the same plan."""

    @abstractmethod
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        """One estimate per candidate from the answers to this method's plan."""

    def reduce_units(
        self, answers: Answers, data: Data, loss: Loss, terms: Terms
    ) -> Sequence[Sequence[Tested]]:
        """`reduce` of the questions of outer split 0, 1, ... each by itself."""
        unit = answers.plan.unit
        return [
            self.reduce(answers.only(np.flatnonzero(unit == u)), data, loss, terms)
            for u in range(int(unit.max()) + 1)
        ]

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        """Ask the whole plan at once and reduce; methods that tune ask in two passes."""
        answers = ask(plan)
        rated: list[Evaluation] = []
        for place, (one, its) in enumerate(((loss, terms), *terms.scores)):
            told = answers.also[place - 1] if place else answers
            tested = self.reduce(told, data, one, its)
            tested = tested if isinstance(tested, RisksByColumn) else tuple(tested)
            rated.append(Evaluation(plan, tested, told.n_fits, answers=told))
        return replace(rated[0], scores=tuple(rated[1:]))

    def check(self, data: Data, loss: Loss) -> None:
        """Refuse data or a loss this method cannot serve; called before anything is drawn."""
        return


@dataclass(frozen=True)
class Request:
    """What the answers must be: the response the loss needs, and the scorer for "scored".

    For "loss", which a plan of drawn train sets needs, `loss` is what the answers cost. `also` is
    what the same models are to be asked besides.
    """

    response: Response
    scorer: Any = None
    loss: Loss | None = None
    also: tuple[Request, ...] = ()

    @classmethod
    def of(cls, loss: Loss, plan: Plan, scores: Iterable[Loss] = ()) -> Request:
        """Return what a plan asks so that this loss and these scores can be computed."""
        asked = []
        for one in (loss, *scores):
            own = cls(one.response, getattr(one, "scorer", None))
            asked.append(cls("loss", loss=one) if plan.has_drawn_fits else own)
        return replace(asked[0], also=tuple(asked[1:]))

    @property
    def each(self) -> tuple[Request, ...]:
        """What is asked and what is asked besides, one by one."""
        return replace(self, also=()), *self.also

    @property
    def responses(self) -> list[Response]:
        """What is asked for, in the order of `each`."""
        return [one.response for one in self.each]

    @property
    def key(self) -> tuple[Response, int, int]:
        """The same for requests that are answered alike, whatever they ask besides."""
        return self.response, id(self.loss), id(self.scorer)


class Shelf(Protocol):
    """Stored answers of the fits of one plan and one set of candidates, by the fit's number."""

    def stored(self, fits: Container[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """(fit, content) of each of these fits that is stored, with what `keep` was given."""
        ...

    def keep(self, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        """Keep what a fit of so many seconds answered: plain values and arrays."""
        ...


@dataclass(frozen=True)
class Fits:
    """How many fits a store spared, and how many were added to it."""

    reused: int
    added: int


class Keeper(Protocol):
    """Keeps what single fits answered, so that a run that was cut off goes on."""

    @property
    def n_found(self) -> int:
        """How many fits were found until now, and need not be made."""
        ...

    @property
    def n_added(self) -> int:
        """How many fits were left here until now."""
        ...

    def shelf(
        self,
        engine: str,
        family: Family,
        candidates: Sequence[int],
        data: Data,
        plan: Plan,
        request: Request,
        seed: int,
    ) -> Shelf:
        """The place for the fits of these candidates, which the engine answers together."""
        ...


@dataclass(frozen=True)
class RunOptions:
    """How an engine is to run: on which executor, with which seed for models without one.

    An engine that makes fits may leave them with the `keeper`, and find them there again. Where
    `needed` is given, candidate c is asked in fit f if `needed[c, f]`, and nothing else is
    answered. `steps` holds the fitted steps of pipelines that begin alike, where there are several.
    """

    executor: Any = None
    seed: int = 0
    only: np.ndarray | None = field(default=None, repr=False)
    keeper: Keeper | None = field(default=None, repr=False)
    needed: np.ndarray | None = field(default=None, repr=False)
    steps: Any = field(default=None, repr=False)


class Engine(ABC):
    """Turns a plan into answers for all candidates of a family at once.

    `serves` names what else it answers than questions about rows as they are, by the words of
    `plan.plan.EXTRAS`: replaced labels ("flips"), drawn train sets ("laws"), how many training rows
    an answer rests on ("counted"), degrees of freedom ("freedom"), the coefficients of linear rules
    ("rules"), members of an ensemble fitted without a row ("out_of_bag"), a row taken out to first
    order ("taken_out"), points around rows ("moves"). It is not asked otherwise. `cuts_columns`
    says whether it serves families that take X as a matrix of rows against rows
    (`Family.pairwise`), `answers_besides` whether one run answers what a request asks besides,
    `leaves_out` whether it spares the fits of candidates that are not asked in them
    (`RunOptions.needed`), `compiled` whether it answers with the compiled module alone.
    """

    word: ClassVar[str]
    serves: ClassVar[frozenset[str]] = frozenset()
    cuts_columns: ClassVar[bool] = False
    answers_besides: ClassVar[bool] = False
    leaves_out: ClassVar[bool] = False
    compiled: ClassVar[bool] = False

    @abstractmethod
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        """Why this engine cannot answer exactly, or None if it can."""

    def lacks(self, plan: Plan) -> str | None:
        """Say what the plan asks for and this engine does not serve; None if it serves all."""
        for word, sentence in plan.needs.items():
            if word not in self.serves:
                return sentence
        return None

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Seconds that it takes and that scikit-learn's own fits take, None where it never loses.

        They follow from shapes alone, by a rule that was calibrated once on one core, so that one
        table has one engine on every machine; `auto` passes over the engine that would be slower.
        """
        return None

    @abstractmethod
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        """The answers; exactly those of the generic engine."""
