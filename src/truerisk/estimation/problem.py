"""`EstimationProblem`: a family of models, checked data, and all other arguments of a call."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import field, replace
from functools import cache, cached_property
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from truerisk.checks.rows import event_findings, structure_findings
from truerisk.contracts import FitStore, Method, Request, Rule, Streams
from truerisk.core.arguments import check_flag, check_level, mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName, escape_invisible
from truerisk.core.family import Family
from truerisk.core.formats import score_of_class
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.core.version import __version__
from truerisk.data.data import Data, take_named_columns
from truerisk.engines.asking import Asking
from truerisk.engines.running.executors import resolve_executor
from truerisk.engines.running.fitting import FitContext, fit_on_all_rows
from truerisk.engines.settings import response_refusal
from truerisk.intervals import as_form
from truerisk.intervals.choice import adapt_method_to_interval, choose_interval
from truerisk.losses.loss import Loss, class_code
from truerisk.losses.loss_words import Scoring, as_loss, split_scoring
from truerisk.methods.words import as_method
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding, are_checks_on
from truerisk.selection import as_rule

if TYPE_CHECKING:
    from truerisk.methods.parts.procedure import Procedure


@frozen(eq=False)
class EstimationProblem:
    """All checked inputs of an estimation: models, data, loss, rule, seed, engine and methods.

    `loss` is the loss that is estimated, and `scores` are further losses evaluated on the same
    fits. `name` is the name of `loss` in results with several scores. `step_cache` caches fitted
    pipeline steps that several families share. `positive` is the positive class that the user
    named. `findings` are the results of the checks of the rows. If `uses_calibrated_interval` is
    true, a loss whose interval was not named gets the calibrated interval. For "choose a setting,
    then fit", `tuning_method` is the method that compares the settings on all rows.
    `testing_method` is the method that tests the choice and the fit on rows used in neither. Both
    are None if the call names its method itself, and `testing_method` is None if no risk is
    requested.
    """

    family: Family
    data: Data
    loss: Loss
    rule: Rule
    confidence_level: float
    engine: Any
    executor: Any
    seed: int
    is_loss_requested: bool = False
    interval: str | None = None
    uses_calibrated_interval: bool = False
    scores: Mapping[str, FurtherScore] = field(default_factory=dict)
    step_cache: Any = None
    positive: Any = None
    findings: tuple[Finding, ...] = ()
    name: str = ""
    tuning_method: Method | None = None
    testing_method: Method | None = None

    @property
    def losses(self) -> list[Loss]:
        """List of the main loss, whose risk is estimated, and the losses of the further scores."""
        return [self.loss, *map(attrgetter("loss"), self.scores.values())]

    @property
    def losses_by_name(self) -> dict[str, Loss]:
        """Dictionary of the main loss and the losses of the further scores, by name."""
        further_losses = {name: score.loss for name, score in self.scores.items()}
        return {self.name: self.loss, **further_losses}

    @property
    def class_counts(self) -> dict[str, int]:
        """Number of rows of each class, by the name of the class; empty unless y holds classes."""
        data = self.data
        if data.task != "classification":
            return {}
        class_sizes = enumerate(data.class_sizes.tolist())
        return {
            escape_invisible(str(data.label(class_number))): n for class_number, n in class_sizes
        }

    @cached_property
    def most_informative_request(self) -> Request | None:
        """Request for the learner's richest predictions; None if it predicts only labels."""
        if self.data.task == "regression" or (
            self.data.task == "survival" and not self.data.horizons
        ):
            return Request("value")
        for request in (Request("probability"), Request("score")):
            if response_refusal(self.family, self.data, request) is None:
                return request
        return None

    def with_horizon(self, horizon: float) -> EstimationProblem:
        """Return this problem with survival curves also evaluated at the time `horizon`."""
        horizons = tuple(sorted({*self.data.horizons, horizon}))
        return replace(self, data=replace(self.data, horizons=horizons))

    def fit_candidate(self, candidate: int, fit_context: FitContext = nullcontext) -> Any:
        """Return the model of one candidate, fitted on all rows within `fit_context(model)`."""
        seed = (self.seed, 0) if self.family.is_random else None
        return fit_on_all_rows(self.family, candidate, self.data, seed, fit_context)

    def with_executor(self, n_jobs: Any) -> EstimationProblem:
        """Return this problem with another executor; None keeps an executor that it has."""
        if n_jobs is None and self.executor is not None:
            return self
        return replace(self, executor=resolve_executor(n_jobs))

    def create_asking(self, **options: Any) -> Asking:
        """Return the `Asking` object that computes predictions for plans of this problem.

        `options` override its default arguments.
        """
        defaults = {
            "scores": self.losses[1:],
            "engine": self.engine,
            "executor": self.executor,
            "seed": self.seed,
            "steps": self.step_cache,
        }
        return Asking(self.family, self.data, self.loss, **{**defaults, **options})

    def create_refit_asking(self, fit_store: FitStore | None = None) -> Asking:
        """Return an `Asking` object that fits the tested models again, with the same seeds.

        It is used to request further predictions of these models.
        """
        testing_passes = cast("Procedure", self.testing_method).testing_pass(len(self.family))
        return self.create_asking(passes=testing_passes, fit_store=fit_store)


def problem_from_arguments(
    family: Family,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    is_event: bool = False,
    **options: Any,
) -> EstimationProblem:
    """Check all arguments of a call, data included, and return an `EstimationProblem`.

    `options` are passed to `problem_from_data`. If `is_event` is true, `positive` names the event
    of a validation, and it is allowed that no score refers to a class.
    """
    row_arguments = {"groups": groups, "sample_weight": sample_weight, "time": time, "block": block}
    X, row_arrays, _ = take_named_columns(X, row_arguments, models=[family.estimator])
    data = Data.check(X, y, task=family.task, as_given=family.takes_y_as_given, **row_arrays)
    weights = row_arrays["sample_weight"]
    problem = problem_from_data(data, family, sample_weight=weights, **options)
    return problem if is_event else refuse_unused_positive(problem)


def problem_from_data(
    data: Data,
    family: Family,
    *,
    scoring: Any = None,
    chooser: Any = None,
    n_jobs: Any = None,
    positive: Any = None,
    rule: Any = "min",
    sample_weight: Any = None,
    fit_params: Any = None,
    interval: Any = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    random_state: Any = 0,
) -> EstimationProblem:
    """Check all arguments of a call but its data, and return an `EstimationProblem`.

    The data were checked before. If `scoring` holds several scores, `chooser` names the one that
    selects the setting; by default this is the first. `sample_weight` is passed to the fits under
    the parameter name that this family has for it.
    """
    check_level("confidence_level", confidence_level)
    loss, further_scores = split_scoring(scoring, chooser)
    executor = resolve_executor(
        n_jobs
    )  # This call raises if n_jobs is unknown, whatever the engine.
    params = {}
    has_fit_params = fit_params is not None and not (
        isinstance(fit_params, dict) and not fit_params
    )
    has_fit_params = has_fit_params or sample_weight is not None or data.groups is not None
    if has_fit_params or data.time is not None or data.block is not None:
        params = fit_params_module().prepare_fit_params(family, data, sample_weight, fit_params)
    if positive is not None:
        class_code(positive, data)  # This call raises if y does not hold the label.
    data = data.for_fits(params, family.takes_y_as_given)
    checked_loss = as_loss(loss, data, positive)
    loss_name = _score_name(loss, checked_loss, data)
    scores_by_name: dict[str, FurtherScore] = {}
    for score in further_scores:
        further_loss = as_loss(score, data, positive)
        score_name = score.name or _score_name(score, further_loss, data)
        if score_name in (*scores_by_name, loss_name):
            raise BadArgument(
                f"{mention('scoring', scoring)} names {score_name!r} twice: name each once."
            )
        scores_by_name[score_name] = FurtherScore(further_loss)
    problem = EstimationProblem(
        family=family,
        data=data,
        loss=checked_loss,
        rule=as_rule(rule, family.candidates),
        confidence_level=confidence_level,
        engine=engine,
        executor=executor,
        seed=as_seed(random_state),
        is_loss_requested=loss is not None,
        interval=None if interval is None else as_form(interval).name,
        scores=scores_by_name,
        positive=positive,
        name=loss_name,
    )
    horizons = set[float]().union(*map(attrgetter("horizons"), problem.losses))
    if not horizons:
        return problem
    return replace(problem, data=replace(data, horizons=tuple(sorted(horizons))))


def fit_params_module() -> ModuleType:
    """Import the module that passes weights, groups and other fit parameters to fits."""
    check_present("truerisk.estimation.fit_params")
    from truerisk.estimation import fit_params as branch

    return branch


def bind_environment(model: Any, environment: Any, y: Any, scoring: Any) -> tuple[Any, Any, Any]:
    """Return the scikit-learn estimator, X and y of a learner of skrub's DataOps."""
    check_present("truerisk.estimation.data_ops")
    from truerisk.estimation.data_ops import bind_environment as bind

    return bind(model, environment, y, scoring)


def _score_name(scoring: Any, loss: Loss, data: Data) -> str:
    """Return the name of a score; for a loss object or scorer it includes the positive class."""
    score = scoring.score if isinstance(scoring, Scoring) else None
    if score is None or isinstance(score, str) or scoring.name:
        return loss.name
    return score_of_class(
        loss.name, score.positive if isinstance(score, Loss) else loss.label(data)
    )


def refuse_unused_positive(problem: EstimationProblem) -> EstimationProblem:
    """Return the problem; raise Refusal if no score refers to the class given as `positive`."""
    data, positive = problem.data, problem.positive
    if positive is not None:
        class_number = class_code(positive, data)
        if all(loss.rated(data) != class_number for loss in problem.losses):
            loss_names = ", ".join(loss.name for loss in problem.losses)
            raise Refusal(
                f"{mention('positive', positive)} names a class, and no loss or score here is of "
                f"one class, or it names its own ({loss_names}): leave it out, or ask for "
                f"{mention('scoring', 'f1')}."
            )
    return problem


def check_method(problem: EstimationProblem, method: Any) -> tuple[EstimationProblem, Method]:
    """Return the problem and the method after each is adapted to the other.

    The problem gets the loss that the method estimates. The method is changed if the requested
    interval requires it. Raise an error if the method cannot estimate this loss on these data.
    """
    usable_method = as_method(method)
    if problem.interval is not None:
        usable_method = adapt_method_to_interval(usable_method, problem.interval)
    loss = usable_method.loss_of(problem.data, problem.loss, requested=problem.is_loss_requested)
    usable_method.check(problem.data, loss)
    return replace(problem, loss=loss), usable_method


def draw_plan(problem: EstimationProblem, method: Any) -> tuple[EstimationProblem, Method, Plan]:
    """Check a method and draw its plan; return the checked problem, the method and the plan."""
    problem, usable_method = check_method(problem, method)
    return problem, usable_method, usable_method.plan(problem.data, Streams(problem.seed))


def choose_intervals(problem: EstimationProblem, method: Method, plan: Plan) -> EstimationProblem:
    """Return the problem with an interval chosen for its loss and for each further score.

    The plan determines which intervals are possible. The user's interval is used for the loss.
    Further scores get the calibrated interval, if there is one.
    """
    data, calibrated, scores = problem.data, problem.uses_calibrated_interval, {}
    for name, score in problem.scores.items():
        interval_name = choose_interval(
            score.interval, score.loss, data, method, plan, calibrated=calibrated
        )
        scores[name] = replace(score, interval=interval_name)
    interval_name = choose_interval(
        problem.interval, problem.loss, data, method, plan, calibrated=calibrated
    )
    return replace(problem, interval=interval_name, scores=scores, uses_calibrated_interval=False)


@frozen(eq=False)
class FurtherScore:
    """A further loss to estimate from the same fits, with the name of its interval or None."""

    loss: Loss
    interval: str | None = None


def check_scores(method: Method, scores: Mapping[str, FurtherScore], data: Data) -> None:
    """Raise Refusal if a method cannot estimate one of these further scores."""
    for name, score in scores.items():
        reason = _unavailability_reason(method.tells_scores, score, data)
        if reason is not None:
            raise Refusal(f"score '{name}' is not available from '{method.name}': {reason}")


def estimable_scores(
    method: Method, scores: Mapping[str, FurtherScore], data: Data
) -> dict[str, FurtherScore]:
    """Return those further scores that a method can estimate.

    A criterion such as AIC estimates no score but its own.
    """
    reporting_method = method.tells_scores
    return {
        n: score
        for n, score in scores.items()
        if _unavailability_reason(reporting_method, score, data) is None
    }


def _unavailability_reason(method: Method, score: FurtherScore, data: Data) -> str | None:
    try:
        reported_loss = method.loss_of(data, score.loss, requested=True)
        method.check(data, score.loss)
    except Refusal as refusal:
        return str(refusal)
    if reported_loss is score.loss:
        return None
    return (
        f"it estimates '{reported_loss.name}' alone. Use a method that splits, such as '10-fold'."
    )


# The generators with which scikit-learn and SciPy draw settings accept seeds below this number.
SEED_LIMIT = 2**32


def as_seed(random_state: Any) -> int:
    """Return the integer that seeds all random streams; draw one if `random_state` is None."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise UnknownName(
                f"{mention('random_state', int(random_state))}: a seed is not negative."
            )
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise UnknownName(
        f"{mention('random_state', random_state)} is no seed; use an integer, None, or a numpy "
        "Generator."
    )


def settings_seed(seed: int, *, uses_sklearn_seed: bool = False) -> int:
    """Return the seed from which a randomized search draws hyperparameter settings.

    It comes from a random stream of its own. If `uses_sklearn_seed` is true, it is the seed that
    RandomizedSearchCV would use.
    """
    if uses_sklearn_seed and seed < SEED_LIMIT:
        return seed
    return int(Streams(seed).get("settings").integers(SEED_LIMIT))


@cache
def package_versions() -> Mapping[str, str]:
    """Return the versions of the packages that a result can depend on."""
    releases = {"truerisk": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn"):
        module = sys.modules.get(name)
        if module is not None:
            releases[name] = str(module.__version__)
    return releases


def with_checks(
    problem: EstimationProblem, checks: bool, *, goes_forward: bool
) -> EstimationProblem:
    """Check the rows, and return the problem with the findings, which results list as notes.

    The rows are not checked if `checks` is False or if this is a fit inside another call. If all
    splits of the call go `goes_forward` in time, an order of the rows does no harm, and the finding
    `rows-in-order` is left out.
    """
    check_flag("checks", checks)
    if not checks or not are_checks_on():
        return problem
    findings = structure_findings(problem.data, problem.seed)
    if goes_forward:
        findings = [finding for finding in findings if finding.code != "rows-in-order"]
    return replace(problem, findings=(*findings, *event_findings(problem.data, problem.losses)))
