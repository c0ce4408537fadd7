"""Base classes and interfaces that connect the packages: Method, Engine, Rule, Request and others.

A method draws a plan of fits and reduces the predictions to risks, an engine computes the
predictions for a plan, and a rule chooses a candidate. A method never sees a learner, and an engine
never sees a method. Both use only `Plan` and `Answers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from truerisk.core.arguments import Extensible, RenamedAttribute
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.plan.answers import Answers, Ask, Response
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import (
    Evaluation,
    RiskArrays,
    Target,
    Tested,
    risk_ranks,
    risk_std_errors,
    risk_values,
)
from truerisk.results.interval import Basis

if TYPE_CHECKING:
    from truerisk.core.family import Family


@frozen
class Streams:
    """Independent streams of random numbers, derived from one seed and a name for each stream.

    The numbers of a stream do not depend on which other streams are used.

    Parameters
    ----------
    seed : int
        The seed.

    See Also
    --------
    truerisk.extend.Method.plan : Draw a plan from random streams.

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
        """Return new streams for a part of the computation, independent of all these streams.

        They have a seed of their own, which is drawn from a stream with a reserved name.

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

    The class attribute `name` is the name of the rule, and `ties` describes how it breaks ties.

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
    word = RenamedAttribute("name")
    ties: ClassVar[str]
    needs_std_errors: ClassVar[bool] = False

    @abstractmethod
    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        """Return the index of the candidate that the rule chooses from the candidates' risks.

        Parameters
        ----------
        values : array, shape (n_candidates,)
            The risks of the candidates.
        std_errors : array, shape (n_candidates,)
            The standard errors of the risks; NaN if they are missing, or if the rule does not need
            them.

        Returns
        -------
        int
            The index of the chosen candidate.
        """


def choose_by_rule(estimates: Sequence[Tested], rule: Rule) -> int:
    """Return the index of the candidate that the rule chooses.

    The rule compares the ranks of the candidates if they are known, otherwise their risks.

    A rule that needs standard errors compares risks, because ranks are on another scale.
    """
    if rule.needs_std_errors:
        return rule.choose(risk_values(estimates), risk_std_errors(estimates))
    ranks, no_std_errors = risk_ranks(estimates), np.full(len(estimates), np.nan)
    return rule.choose(risk_values(estimates) if ranks is None else ranks, no_std_errors)


@frozen
class Terms:
    """Settings for reducing predictions to risks: interval, confidence level, rule, losses.

    Parameters
    ----------
    confidence_level : float
        The nominal coverage of intervals.
    rule : Rule
        The rule that chooses a candidate.
    n_candidates : int, default=1
        The number of candidates.
    with_errors : bool, default=True
        False if only the risks are needed, without standard errors, to choose a candidate inside an
        outer split.
    interval : str, optional
        Name of the requested interval; None for the method's own interval.
    scores : tuple of (Loss, Terms), optional
        Further losses that are computed from the same fits, each with its own terms.

    See Also
    --------
    truerisk.extend.Method.reduce : Reduce predictions to risks according to the terms.

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


def evaluate_every_loss(
    rate: Callable[..., Evaluation], loss: Loss, terms: Terms, *answers: Answers
) -> Evaluation:
    """Call the function `rate` for the main loss and for each further loss.

    `rate` reduces predictions to risks.

    The further losses are in `terms.scores`. The predictions of several passes over the data may be
    given. The evaluations by further losses become the `scores` of the evaluation by the loss.
    """
    scores: list[Evaluation] = []
    for loss_index, (further_loss, further_terms) in enumerate(terms.scores):
        further_answers = [pass_answers.also[loss_index] for pass_answers in answers]
        scores.append(rate(further_loss, further_terms, *further_answers))
    return replace(rate(loss, terms, *answers), scores=tuple(scores))


class Method(Extensible, ABC):
    """Base class of methods that estimate risk, such as cross-validation.

    A method draws a plan of fits and test sets, and reduces the predictions for it to risks.
    `target` is the risk that it estimates. "Err" is the mean risk of the procedure over training
    sets. "Err_XY" is the risk of the rule fitted on these data. "CER" is the conditional risk of
    that rule, for new labels at the x's of the training rows. "training" is the apparent risk.

    See Also
    --------
    truerisk.extend.Averaged : Base class of methods whose risk is a mean of losses; its example
        defines a method.
    truerisk.extend.PlanBuilder : Build a plan.
    truerisk.testing.check_method : Check a method of your own.

    Examples
    --------
    >>> import truerisk as tr
    >>> method = tr.methods.KFold(5)
    >>> method.name, method.target, method.bias
    ('5-fold', 'Err', 'slightly pessimistic: each model sees 4/5 of the rows')
    """

    word = RenamedAttribute("name")
    # True if the method holds out rows, so that copied rows and groups can leak into training sets.
    splits: ClassVar[bool] = True
    # True if the method takes account of time, so that later rows in training sets are intended.
    respects_time: ClassVar[bool] = False
    # True if training sets leave out rows near the tested rows.
    respects_space: ClassVar[bool] = False
    # True if every candidate gets a risk. Otherwise a note in the result says why not.
    rates_all: ClassVar[bool] = True
    # True if a model without any error has an estimated risk of 0.
    perfect_is_0: ClassVar[bool] = True
    # kinds of evidence for intervals that the method's predictions provide
    gives: ClassVar[frozenset[Basis]] = frozenset()
    # True if the splits come from the user, and may test rows that they also train on.
    has_given_splits: ClassVar[bool] = False
    # True if some candidates are not fitted in every split.
    spares_fits: ClassVar[bool] = False
    # True if the method tunes in each training set and tests the chosen candidate (Procedure).
    tunes_inside: ClassVar[bool] = False
    # True if the same held-out predictions compare the candidates and test the chosen one.
    shares_folds: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the method in results."""

    @property
    @abstractmethod
    def target(self) -> Target:
        """Risk that the method estimates: "Err", "Err_XY", "CER" or "training"."""

    @property
    @abstractmethod
    def bias(self) -> str:
        """Direction of the bias of the risk estimates, and its reason, as a text."""

    @property
    def goes_forward(self) -> bool:
        """True if every row is tested only by models that were trained on earlier rows."""
        return self.respects_time

    @property
    def n_parts(self) -> int:
        """Number of parts into which the rows are split, such as K folds.

        The smallest training set has at least one part.
        """
        return 2

    @property
    def outer_method(self) -> Method:
        """Method whose splits test the candidates.

        It is this method itself, or the outer method if this method tunes in training sets.
        """
        return self

    @property
    def resamples(self) -> bool:
        """True if a learner can be tuned anew in each training set of the method."""
        return self.splits

    def instead(self, reason: str) -> Method | None:
        """Return the method to use instead if no engine can compute this method's plan, or None.

        Parameters
        ----------
        reason : str
            The reason why no engine can compute the plan.

        Returns
        -------
        Method or None
            The method to use instead.
        """
        return None

    def giving(self, need: Basis, interval: str) -> Method | None:
        """Return a similar method that provides the evidence that an interval needs, or None.

        Parameters
        ----------
        need : Basis
            The evidence that the interval needs and this method does not provide.
        interval : str
            Name of the interval.

        Returns
        -------
        Method or None
            The method with that evidence.
        """
        return None

    def procedure(self, outer: Method, *, compare: bool) -> Method | None:
        """Return the special method that tests a choice made by this method, or None.

        None means that the choice can be tested by any outer splits.

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
        """Method that estimates further scores: this method, or a method that it consists of."""
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
        """Draw the plan of fits and test sets; the same data and seed give the same plan.

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
        """Reduce the predictions for this method's plan to one risk estimate per candidate.

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
        """Reduce the predictions of each outer split separately to risk estimates.

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
        outer_split_numbers = answers.plan.unit
        return [
            self.reduce(
                answers.select(np.flatnonzero(outer_split_numbers == split_number)),
                data,
                loss,
                terms,
            )
            for split_number in range(int(outer_split_numbers.max()) + 1)
        ]

    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        """Compute the predictions for the whole plan and reduce them to risks.

        Methods that tune override this, because they need two passes.

        Parameters
        ----------
        ask : callable
            Function that returns the predictions for a plan, computed by an engine.
        data : Data
            The checked rows of the call.
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits, and the rows that each fitted model predicts.
        terms : Terms
            Confidence level, rule and further scores.

        Returns
        -------
        Evaluation
            The risks of the candidates, and of the procedure if the method tunes.
        """
        answers = ask(plan)

        def rate(loss: Loss, terms: Terms, answers: Answers) -> Evaluation:
            estimates = self.reduce(answers, data, loss, terms)
            estimates = estimates if isinstance(estimates, RiskArrays) else tuple(estimates)
            return Evaluation(plan, estimates, answers.n_fits, answers=answers)

        return evaluate_every_loss(rate, loss, terms, answers)

    def check(self, data: Data, loss: Loss) -> None:
        """Raise if this method cannot handle the data or the loss; called before it draws a plan.

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
    """Type of predictions that an engine has to return, as the loss needs them.

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
    truerisk.extend.Asking : Pass a method's requests to an engine.

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
        """Return the request for the predictions from which a loss and scores can be computed.

        Parameters
        ----------
        loss : Loss
            The loss to estimate.
        plan : Plan
            The fits, and the rows that each fitted model predicts.
        scores : iterable of Loss, optional
            Further losses.

        Returns
        -------
        Request
            The request.
        """
        loss_requests = []
        for needed_loss in (loss, *scores):
            if plan.has_drawn_fits:
                loss_requests.append(cls("loss", loss=needed_loss))
            else:
                loss_requests.append(
                    cls(needed_loss.response, getattr(needed_loss, "scorer", None))
                )
        return replace(loss_requests[0], also=tuple(loss_requests[1:]))

    @property
    def all_requests(self) -> tuple[Request, ...]:
        """Request without its further requests, followed by each of its further requests."""
        return replace(self, also=()), *self.also

    @property
    def responses(self) -> list[Response]:
        """Types of predictions requested, in the order of `all_requests`."""
        return [request.response for request in self.all_requests]

    @property
    def key(self) -> tuple[Response, int, int]:
        """Key that is equal for any two requests of the same predictions.

        Their further requests may differ.
        """
        return self.response, id(self.loss), id(self.scorer)


class FitCache(Protocol):
    """Interface of a cache of predictions, for the fits of one plan and one set of candidates.

    The predictions are stored by the number of the fit in the plan.
    """

    def load_fits(self, fits: Container[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the number and the content of each of the given fits that is stored.

        The content is as in `save_fit`.
        """
        ...

    def save_fit(self, fit: int, content: Mapping[str, Any], seconds: float) -> None:
        """Store the predictions of a fit, as plain values and arrays, with its running time."""
        ...


@frozen
class FitCounts:
    """Numbers of fits that were read from a store (`reused`) and added to it (`added`)."""

    reused: int
    added: int


class FitStore(Protocol):
    """Interface of a store of single fits' predictions, to resume an interrupted run."""

    @property
    def n_found(self) -> int:
        """Number of fits found in the store so far, which need not be computed."""
        ...

    @property
    def n_added(self) -> int:
        """Number of fits added to the store so far."""
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
        """Return the cache for the fits of these candidates.

        The engine fits these candidates together.
        """
        ...


@frozen
class RunOptions:
    """Options of a run of an engine: executor, seed, and which candidates are fitted in which fit.

    `seed` is used for models without a seed of their own. An engine may store the predictions of
    its fits in the `fit_store`, and load them from it. If `is_needed` is given, candidate c is
    fitted in fit f only if `is_needed[c, f]` is True, and other predictions are not returned. If
    `candidate_by_fit` is given, `candidate_by_fit[f]` is the single candidate that is fitted in fit
    f. `step_cache` caches fitted steps of pipelines if several pipelines share their first steps.
    """

    executor: Any = None
    seed: int = 0
    candidate_by_fit: np.ndarray | None = field(default=None, repr=False)
    fit_store: FitStore | None = field(default=None, repr=False)
    is_needed: np.ndarray | None = field(default=None, repr=False)
    step_cache: Any = field(default=None, repr=False)


class Engine(Extensible, ABC):
    """Base class of engines, which compute the predictions of all candidates for a plan.

    `serves` holds the types of additional results that the engine computes, beyond predictions for
    rows, by their names in `plan.plan.EXTRA_REQUEST_TYPES`:

    - "flips": predictions after fits on changed labels,
    - "laws": predictions after fits on drawn training sets,
    - "counted": the number of training rows behind a prediction,
    - "freedom": degrees of freedom of the fitted models,
    - "rules": the coefficients of linear rules,
    - "out_of_bag": predictions by the members of an ensemble that were fitted without a row,
    - "taken_out": predictions with a row removed from the model to first order,
    - "moves": predictions at points near rows.

    The engine gets no plan that needs other types. `cuts_columns` is True if it handles families
    that take X as a matrix of rows against rows (`Family.pairwise`). `answers_extras` is True if
    one run computes all further requests of a request. `leaves_out` is True if the engine skips
    fits of candidates that are not needed (`RunOptions.is_needed`). `compiled` is True if it needs
    the compiled module.
    """

    name: ClassVar[str]
    word = RenamedAttribute("name")
    answers_besides = RenamedAttribute("answers_extras")
    serves: ClassVar[frozenset[str]] = frozenset()
    cuts_columns: ClassVar[bool] = False
    answers_extras: ClassVar[bool] = False
    leaves_out: ClassVar[bool] = False
    compiled: ClassVar[bool] = False

    @abstractmethod
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        """Return why this engine cannot compute the exact predictions, or None if it can.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits, and the rows that each fitted model predicts.
        request : Request
            The type of predictions that the loss needs.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """

    def reason_not_served(self, plan: Plan) -> str | None:
        """Return why this engine cannot compute a further result of the plan, or None if it can.

        Parameters
        ----------
        plan : Plan
            The fits, and the rows that each fitted model predicts.

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
        """Estimate how many seconds a plan takes by this engine, and by scikit-learn's own fits.

        Return None if the engine is never slower. The estimates depend only on shapes, by a formula
        that was calibrated once on one core, so that a table gets the same engine on every machine.
        `engine="auto"` skips an engine that would be slower.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits, and the rows that each fitted model predicts.

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
        """Compute exactly the predictions that the generic engine would compute for a plan.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits, and the rows that each fitted model predicts.
        request : Request
            The type of predictions that the loss needs.
        run : RunOptions
            The executor, the seed, and the fits that are needed.

        Returns
        -------
        Answers
            The predictions of all candidates.
        """
