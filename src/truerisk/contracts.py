"""Contracts between the packages: a Method plans and reduces, an Engine answers, a Rule chooses.

A method never sees a learner, and an engine never sees a method; both only use Plan and Answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from truerisk.core.arguments import Extensible, Renamed
from truerisk.core.frozen import frozen
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


@frozen
class Streams:
    """Independent random streams of one seed, by name; a new stream never changes another one.

    Parameters
    ----------
    seed : int
        The seed.

    See Also
    --------
    truerisk.extend.Method.plan : Draws a plan from such streams.

    Examples
    --------
    >>> from truerisk.extend import Streams
    >>> streams = Streams(0)
    >>> bool(streams.get("folds").random() == streams.get("folds").random())
    True
    """

    seed: int

    def get(self, name: str) -> np.random.Generator:
        """Return a generator at the start of the stream with this name.

        Parameters
        ----------
        name : str
            Name of the stream.

        Returns
        -------
        numpy.random.Generator
            The generator.
        """
        return np.random.default_rng([int(self.seed), *name.encode()])

    def child(self, name: str) -> Streams:
        """Return the streams of a part, which are independent of these streams by construction.

        Parameters
        ----------
        name : str
            Name of the part.

        Returns
        -------
        Streams
            The streams of the part.
        """
        return Streams(int(self.get(f"child {name}").integers(2**63)))


class Rule(Extensible, ABC):
    """Base class of rules that choose a candidate from a risk curve.

    `name` is its name, and `ties` describes how ties are broken.

    See Also
    --------
    truerisk.selection.Minimum : Rule that chooses the smallest risk.
    truerisk.selection.OneStandardError : Rule that chooses a simple setting.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> class Last(tr.extend.Rule):
    ...     name, ties = "last", "last in grid order"
    ...
    ...     def choose(self, values, std_errors):
    ...         return int(np.flatnonzero(values <= values.min() + 0.05)[-1])
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> grid = {"n_neighbors": [1, 5, 25]}
    >>> tr.risk_curve(KNeighborsClassifier(), grid, X, y, rule=Last()).best_params
    {'n_neighbors': 25}
    """

    name: ClassVar[str]
    word = Renamed("name")
    ties: ClassVar[str]
    needs_std_errors: ClassVar[bool] = False

    @abstractmethod
    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        """Return the position of the chosen candidate.

        Parameters
        ----------
        values : array, shape (n_candidates,)
            The risks of the candidates.
        std_errors : array, shape (n_candidates,)
            Their standard errors; NaN if they are missing, or if the rule does not need them.

        Returns
        -------
        int
            The position.
        """


def by_rule(tested: Sequence[Tested], rule: Rule) -> int:
    """Return the candidate that the rule chooses, by ranks if all candidates have a rank.

    A rule that needs standard errors compares values instead, because ranks are on another scale.
    """
    if rule.needs_std_errors:
        return rule.choose(values_of(tested), std_errors_of(tested))
    ranks, none = ranks_of(tested), np.full(len(tested), np.nan)
    return rule.choose(values_of(tested) if ranks is None else ranks, none)


@frozen
class Terms:
    """Arguments of a method other than data and loss.

    `with_errors` is False if only the values are needed (to choose inside an outer split).
    `interval` is the name of the requested interval, None for the method's own. `scores` are
    further losses evaluated on the same fits, each with its own terms.

    Parameters
    ----------
    confidence_level : float
        The nominal coverage of intervals.
    rule : Rule
        The rule that chooses a candidate.
    n_candidates : int, default=1
        The number of candidates.
    with_errors : bool, default=True
        False if only the values are needed, to choose inside an outer split.
    interval : str, optional
        Name of the requested interval; None for that of the method.
    scores : tuple of (Loss, Terms), optional
        Further losses that are computed from the same fits, each with its own terms.

    See Also
    --------
    truerisk.extend.Method.reduce : Gets the terms.

    Examples
    --------
    >>> from truerisk.extend import Terms
    >>> from truerisk.selection import Minimum
    >>> Terms(0.9, Minimum()).confidence_level
    0.9
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
    """Reduce the answers of several passes in the loss and in each further loss of the terms."""
    scores: list[Evaluation] = []
    for place, (other, its) in enumerate(terms.scores):
        further_answers = [one.also[place] for one in answers]
        scores.append(rate(other, its, *further_answers))
    return replace(rate(loss, terms, *answers), scores=tuple(scores))


class Method(Extensible, ABC):
    """Base class of methods that estimate risk: a method draws a plan and reduces its answers.

    `target` is "Err", the mean risk of the procedure over training sets, "Err_XY", the risk of the
    rule fitted on these data, "CER", its conditional risk (new labels at the x's of the training
    rows), or "training", the apparent risk.

    See Also
    --------
    truerisk.extend.Averaged : Base class of methods whose risk is a mean of losses; its example is
        a method.
    truerisk.extend.PlanBuilder : Builds a plan.
    truerisk.testing.check_method : Check a method of your own.

    Examples
    --------
    >>> import truerisk as tr
    >>> method = tr.methods.KFold(5)
    >>> method.name, method.target, method.bias
    ('5-fold', 'Err', 'slightly pessimistic: each model sees 4/5 of the rows')
    """

    word = Renamed("name")
    splits: ClassVar[bool] = True  # True if rows are held out, so that copies and groups can leak
    respects_time: ClassVar[bool] = False  # True if later rows in training sets are intended
    respects_space: ClassVar[bool] = False  # True if it leaves out rows near the tested ones
    rates_all: ClassVar[bool] = True  # True if each candidate gets a risk; else a note says why not
    perfect_is_0: ClassVar[bool] = True  # True if a rule that is never wrong has risk 0
    # kinds of evidence that its answers provide for an interval
    gives: ClassVar[frozenset[Basis]] = frozenset()
    has_given_splits: ClassVar[bool] = False  # True if a user's splits may test training rows
    spares_fits: ClassVar[bool] = False  # True if some candidates are not fitted in every split
    tunes_inside: ClassVar[bool] = False  # True if it tests the choice of a candidate (Procedure)
    # True if the questions that test it also compare candidates
    shares_folds: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the method in results."""

    @property
    @abstractmethod
    def target(self) -> Target:
        """The one of the four risks in `Target` that the method estimates."""

    @property
    @abstractmethod
    def bias(self) -> str:
        """The direction of the bias, and its reason."""

    @property
    def goes_forward(self) -> bool:
        """True if rows are tested only by models that saw only earlier rows."""
        return self.respects_time

    @property
    def n_parts(self) -> int:
        """The number of parts of the rows; the smallest training set has at least one part."""
        return 2

    @property
    def outer_method(self) -> Method:
        """The method that tests: this one, unless it tunes inside its training sets."""
        return self

    @property
    def resamples(self) -> bool:
        """True if a procedure can be tuned again in each of its training sets."""
        return self.splits

    def instead(self, reason: str) -> Method | None:
        """Return the method to use if no engine can answer this one's plan, or None.

        Parameters
        ----------
        reason : str
            The reason why no engine can.

        Returns
        -------
        Method or None
            The other method.
        """
        return None

    def giving(self, need: Basis, interval: str) -> Method | None:
        """Return a method that draws what an interval needs and this one lacks, or None.

        Parameters
        ----------
        need : Basis
            What the interval needs.
        interval : str
            Name of the interval.

        Returns
        -------
        Method or None
            The method.
        """
        return None

    def procedure(self, outer: Method, *, compare: bool) -> Method | None:
        """Return the method's own test of a choice by it, or None if any splits may test it.

        Parameters
        ----------
        outer : Method
            The method that tests.
        compare : bool
            If True, a single candidate is also compared.

        Returns
        -------
        Method or None
            The method that tests the choice.
        """
        return None

    @property
    def tells_scores(self) -> Method:
        """The method that estimates further scores: this method or a part of it."""
        return self

    def loss_of(self, data: Data, loss: Loss, *, requested: bool) -> Loss:
        """Return the loss of the estimates: the given one, unless the method has its own loss.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        requested : bool
            True if the user named the loss. A loss that contradicts the method is then refused.

        Returns
        -------
        Loss
            The loss.
        """
        return loss

    @abstractmethod
    def plan(self, data: Data, streams: Streams) -> Plan:
        """Draw the plan; the same data and seed give the same plan.

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

    @abstractmethod
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        """Reduce the answers to this method's plan to one estimate per candidate.

        Parameters
        ----------
        answers : Answers
            The predictions for the plan.
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        terms : Terms
            Confidence level, rule and further scores.

        Returns
        -------
        sequence of Tested
            The estimate of each candidate.
        """

    def reduce_units(
        self, answers: Answers, data: Data, loss: Loss, terms: Terms
    ) -> Sequence[Sequence[Tested]]:
        """Apply `reduce` to the questions of each outer split 0, 1, ... separately.

        Parameters
        ----------
        answers : Answers
            The predictions for the plan.
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        terms : Terms
            Confidence level, rule and further scores.

        Returns
        -------
        sequence of sequences of Tested
            The estimates of the candidates in each outer split.
        """
        unit = answers.plan.unit
        return [
            self.reduce(answers.select(np.flatnonzero(unit == u)), data, loss, terms)
            for u in range(int(unit.max()) + 1)
        ]

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        """Request the whole plan at once and reduce the answers; tuning methods use two passes.

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
        Evaluation
            The risks of the candidates, and of the procedure if the method tunes.
        """
        answers = ask(plan)

        def rate(loss: Loss, terms: Terms, answers: Answers) -> Evaluation:
            tested = self.reduce(answers, data, loss, terms)
            tested = tested if isinstance(tested, RisksByColumn) else tuple(tested)
            return Evaluation(plan, tested, answers.n_fits, answers=answers)

        return in_every_loss(rate, loss, terms, answers)

    def check(self, data: Data, loss: Loss) -> None:
        """Refuse data or a loss that this method cannot handle; called before anything is drawn.

        Parameters
        ----------
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        """
        return


@frozen
class Request:
    """Type of the answers that are requested: the response that the loss needs.

    Parameters
    ----------
    response : {"label", "probability", "score", "value", "scored", "loss"}
        The type of predictions.
    scorer : callable, optional
        The scorer of the response "scored".
    loss : Loss, optional
        The loss of the response "loss", which is needed for plans with drawn training sets.
    also : tuple of Request, optional
        Further requests to the same models.

    See Also
    --------
    truerisk.extend.Asking : Makes the requests of a method.

    Examples
    --------
    >>> from truerisk.extend import Request
    >>> Request("label", also=(Request("probability"),)).responses
    ['label', 'probability']
    """

    response: Response
    scorer: Any = None
    loss: Loss | None = None
    also: tuple[Request, ...] = ()

    @classmethod
    def from_plan(cls, loss: Loss, plan: Plan, scores: Iterable[Loss] = ()) -> Request:
        """Return the request for a plan, so that this loss and these scores can be computed.

        Parameters
        ----------
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits and the questions that they answer.
        scores : iterable of Loss, optional
            Further losses.

        Returns
        -------
        Request
            The request.
        """
        requested = []
        for one in (loss, *scores):
            if plan.has_drawn_fits:
                requested.append(cls("loss", loss=one))
            else:
                requested.append(cls(one.response, getattr(one, "scorer", None)))
        return replace(requested[0], also=tuple(requested[1:]))

    @property
    def all_requests(self) -> tuple[Request, ...]:
        """The request itself and its further requests, one by one."""
        return replace(self, also=()), *self.also

    @property
    def responses(self) -> list[Response]:
        """The requested responses, in the order of `all_requests`."""
        return [one.response for one in self.all_requests]

    @property
    def key(self) -> tuple[Response, int, int]:
        """Key that is equal for requests with equal answers, whatever their further requests."""
        return self.response, id(self.loss), id(self.scorer)


class FitCache(Protocol):
    """Stored answers of the fits of one plan and one set of candidates, by number of the fit."""

    def stored(self, fits: Container[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield (fit, content) for each of these fits that is stored; `keep` stored the content."""
        ...

    def keep(self, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        """Store the answers of a fit that took `seconds`: plain values and arrays."""
        ...


@frozen
class Fits:
    """Number of fits that a store made unnecessary, and number of fits that were added to it."""

    reused: int
    added: int


class FitStore(Protocol):
    """Store of the answers of single fits, from which an interrupted run can be resumed."""

    @property
    def n_found(self) -> int:
        """The number of fits found so far, which need not be made."""
        ...

    @property
    def n_added(self) -> int:
        """The number of fits added so far."""
        ...

    def cache_for(
        self,
        engine: str,
        family: Family,
        candidates: Sequence[int],
        data: Data,
        plan: Plan,
        request: Request,
        seed: int,
    ) -> FitCache:
        """Return the place where answers of fits of these candidates are stored.

        The engine answers these candidates together.
        """
        ...


@frozen
class RunOptions:
    """Options of an engine: the executor, and the seed for models without one.

    An engine that makes fits may store their answers with the `fit_store`, and load them from it.
    If `needed` is given, candidate c is fitted in fit f only if `needed[c, f]`, and no other
    answers are returned. `only` names, if given, the single candidate that is fitted in each fit.
    `steps` caches fitted steps of pipelines with equal first steps, if there are several.
    """

    executor: Any = None
    seed: int = 0
    only: np.ndarray | None = field(default=None, repr=False)
    fit_store: FitStore | None = field(default=None, repr=False)
    needed: np.ndarray | None = field(default=None, repr=False)
    steps: Any = field(default=None, repr=False)


class Engine(Extensible, ABC):
    """Turns a plan into answers for all candidates of a family at once.

    `serves` holds the types of additional questions that it answers, beyond predictions for rows,
    by their names in `plan.plan.EXTRAS`: changed labels ("flips"), drawn training sets ("laws"),
    the number of training rows behind an answer ("counted"), degrees of freedom ("freedom"), the
    coefficients of linear rules ("rules"), members of an ensemble fitted without a row
    ("out_of_bag"), a row removed to first order ("taken_out"), and points near rows ("moves"). It
    gets no plan with other types. `cuts_columns` is True if it handles families that take X as a
    matrix of rows against rows (`Family.pairwise`), `answers_extras` if one run answers all
    further requests of a request, `leaves_out` if it skips the fits of candidates that are not
    needed in them (`RunOptions.needed`), and `compiled` if it needs the compiled module.
    """

    name: ClassVar[str]
    word = Renamed("name")
    answers_besides = Renamed("answers_extras")
    serves: ClassVar[frozenset[str]] = frozenset()
    cuts_columns: ClassVar[bool] = False
    answers_extras: ClassVar[bool] = False
    leaves_out: ClassVar[bool] = False
    compiled: ClassVar[bool] = False

    @abstractmethod
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        """Return why this engine cannot answer exactly, or None if it can.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.
        request : Request
            The type of answers that the loss needs.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """

    def lacks(self, plan: Plan) -> str | None:
        """Return what the plan needs and this engine does not serve, or None if it serves all.

        Parameters
        ----------
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        for name, sentence in plan.needs.items():
            if name not in self.serves:
                return sentence
        return None

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Return its seconds and those of scikit-learn's own fits, or None if it is never slower.

        They depend only on shapes, by a rule that was calibrated once on one core, so that a table
        has the same engine on every machine; `auto` skips an engine that would be slower.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        tuple of float or None
            The seconds of the engine and of scikit-learn's own fits.
        """
        return None

    @abstractmethod
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        """Return the answers, which equal exactly those of the generic engine.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.
        request : Request
            The type of answers that the loss needs.
        run : RunOptions
            The executor, the seed, and the fits that are needed.

        Returns
        -------
        Answers
            The predictions of all candidates.
        """
