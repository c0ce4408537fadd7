"""A problem: one family of models on checked data, with all other arguments of a call."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache, cached_property
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from truerisk.checks.rows import event_findings, structure_findings
from truerisk.contracts import FitStore, Method, Request, Rule, Streams
from truerisk.core.arguments import check_flag, check_level, mention
from truerisk.core.errors import BadArgument, Refusal, UnknownName, visible
from truerisk.core.family import Family
from truerisk.core.formats import of_class
from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.core.version import __version__
from truerisk.data.data import Data, take_named_columns
from truerisk.engines.asking import Asking
from truerisk.engines.running.executors import executor_of
from truerisk.engines.running.fitting import fitted_on_all
from truerisk.engines.settings import response_refusal
from truerisk.intervals import as_form
from truerisk.intervals.choice import choose, with_interval
from truerisk.losses.loss import Loss, class_named
from truerisk.losses.loss_words import Scoring, as_loss, by_scoring
from truerisk.methods.words import as_method
from truerisk.plan.plan import Plan
from truerisk.results.finding import Finding, are_checks_on
from truerisk.selection import as_rule

if TYPE_CHECKING:
    from truerisk.methods.parts.procedure import Procedure


@frozen(eq=False)
class Problem:
    """All inputs of a computation, checked.

    `loss` is the loss that is estimated, and `scores` are further losses evaluated on the same
    fits. `name` is the name of `loss` among them. `steps` caches fitted pipeline steps that several
    families share. `positive` is the positive class that the user named. `findings` are the results
    of the checks of the rows. If `calibrated` is true, a loss whose interval was not named gets the
    calibrated one. For "choose a setting, then fit", `select_by` is the method that compares the
    settings on all rows, and `testing` is the method that tests the choice and the fit on rows used
    in neither. Both are None if the call names its method itself, and `testing` is None if no risk
    is requested.
    """

    family: Family
    data: Data
    loss: Loss
    rule: Rule
    confidence_level: float
    engine: Any
    executor: Any
    seed: int
    requested_loss: bool = False
    interval: str | None = None
    calibrated: bool = False
    scores: Mapping[str, Score] = field(default_factory=dict)
    steps: Any = None
    positive: Any = None
    findings: tuple[Finding, ...] = ()
    name: str = ""
    select_by: Method | None = None
    testing: Method | None = None

    @property
    def losses(self) -> list[Loss]:
        """The loss and the further scores."""
        return [self.loss, *map(attrgetter("loss"), self.scores.values())]

    @property
    def by_name(self) -> dict[str, Loss]:
        """The loss and the further scores by their names."""
        further = {name: score.loss for name, score in self.scores.items()}
        return {self.name: self.loss, **further}

    @property
    def class_counts(self) -> dict[str, int]:
        """The number of rows of each class by class name; empty if y is not a class label."""
        data = self.data
        if data.task != "classification":
            return {}
        sizes = enumerate(data.class_sizes.tolist())
        return {visible(str(data.label(code))): n for code, n in sizes}

    @cached_property
    def richest(self) -> Request | None:
        """The most informative prediction of the learner; None if it only predicts labels."""
        if self.data.task == "regression" or (
            self.data.task == "survival" and not self.data.horizons
        ):
            return Request("value")
        for request in (Request("probability"), Request("score")):
            if response_refusal(self.family, self.data, request) is None:
                return request
        return None

    def asking_at(self, horizon: float) -> Problem:
        """Return the same problem with survival curves also evaluated at this time."""
        horizons = tuple(sorted({*self.data.horizons, horizon}))
        return replace(self, data=replace(self.data, horizons=horizons))

    def fitted(self, candidate: int) -> Any:
        """Return the model of one setting, fitted on all rows."""
        seed = (self.seed, 0) if self.family.is_random else None
        return fitted_on_all(self.family, candidate, self.data, seed)

    def with_executor(self, n_jobs: Any) -> Problem:
        """Return the problem with another executor; None leaves the executor unchanged."""
        return self if n_jobs is None else replace(self, executor=executor_of(n_jobs))

    def asking(self, **options: Any) -> Asking:
        """Return an `Asking`, which answers plans; `options` override its usual arguments."""
        usual = {
            "scores": self.losses[1:],
            "engine": self.engine,
            "executor": self.executor,
            "seed": self.seed,
            "steps": self.steps,
        }
        return Asking(self.family, self.data, self.loss, **{**usual, **options})

    def asking_winners(self, fit_store: FitStore | None = None) -> Asking:
        """Return an `Asking` for further answers of the tested models, which are fitted again."""
        passes = cast("Procedure", self.testing).testing_pass(len(self.family))
        return self.asking(passes=passes, fit_store=fit_store)


def pose(
    family: Family,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    is_event: bool = False,
    **terms: Any,
) -> Problem:
    """Check the arguments of a call and return its problem; `terms` are passed to `problem_on`.

    If `is_event` is true, `positive` names the event of a validation, and it is allowed that no
    score refers to a class.
    """
    given = {"groups": groups, "sample_weight": sample_weight, "time": time, "block": block}
    X, rows, _ = take_named_columns(X, given, models=[family.estimator])
    data = Data.check(X, y, task=family.task, as_given=family.takes_y_as_given, **rows)
    weight = rows["sample_weight"]
    problem = problem_on(data, family, sample_weight=weight, **terms)
    return problem if is_event else refuse_unrated_class(problem)


def problem_on(
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
) -> Problem:
    """Check the arguments of a call whose data were checked before.

    If `scoring` holds several scores, `chooser` names the one that selects the setting; by default
    this is the first. `sample_weight` is passed to the fits under the parameter name that this
    family has for it.
    """
    check_level("confidence_level", confidence_level)
    loss, further = by_scoring(scoring, chooser)
    executor = executor_of(n_jobs)  # All engines refuse an unknown executor, so it is checked here.
    params = {}
    is_given = fit_params is not None and not (isinstance(fit_params, dict) and not fit_params)
    is_given = is_given or sample_weight is not None or data.groups is not None
    if is_given or data.time is not None or data.block is not None:
        params = params_branch().params_of_fits(family, data, sample_weight, fit_params)
    if positive is not None:
        class_named(positive, data)  # This raises if y does not hold the label.
    data = data.for_fits(params, family.takes_y_as_given)
    as_asked = as_loss(loss, data, positive)
    first = _name_of(loss, as_asked, data)
    each: dict[str, Score] = {}
    for score in further:
        further_loss = as_loss(score, data, positive)
        name = score.name or _name_of(score, further_loss, data)
        if name in (*each, first):
            raise BadArgument(
                f"{mention('scoring', scoring)} names {name!r} twice: name each once."
            )
        each[name] = Score(further_loss)
    problem = Problem(
        family=family,
        data=data,
        loss=as_asked,
        rule=as_rule(rule, family.candidates),
        confidence_level=confidence_level,
        engine=engine,
        executor=executor,
        seed=as_seed(random_state),
        requested_loss=loss is not None,
        interval=None if interval is None else as_form(interval).name,
        scores=each,
        positive=positive,
        name=first,
    )
    horizons = set[float]().union(*map(attrgetter("horizons"), problem.losses))
    if not horizons:
        return problem
    return replace(problem, data=replace(data, horizons=tuple(sorted(horizons))))


def params_branch() -> ModuleType:
    """Import the module that routes weights, groups and other fit parameters to fits."""
    check_present("truerisk.estimation.fit_params")
    from truerisk.estimation import fit_params as branch

    return branch


def _name_of(scoring: Any, loss: Loss, data: Data) -> str:
    """Return the name of a score, with the class that an object or scorer refers to."""
    score = scoring.score if isinstance(scoring, Scoring) else None
    if score is None or isinstance(score, str) or scoring.name:
        return loss.name
    return of_class(loss.name, score.positive if isinstance(score, Loss) else loss.label(data))


def refuse_unrated_class(problem: Problem) -> Problem:
    """Refuse `positive` if none of the requested scores refers to a class."""
    data, positive = problem.data, problem.positive
    if positive is not None:
        code = class_named(positive, data)
        if all(loss.rated(data) != code for loss in problem.losses):
            words = ", ".join(loss.name for loss in problem.losses)
            raise Refusal(
                f"{mention('positive', positive)} names a class, and no loss or score here is of "
                f"one class, or it names its own ({words}): leave it out, or ask for "
                f"{mention('scoring', 'f1')}."
            )
    return problem


def checked_method(problem: Problem, method: Any) -> tuple[Problem, Method]:
    """Return the problem with the loss of the method, and the method that its interval requires."""
    chosen = as_method(method)
    if problem.interval is not None:
        chosen = with_interval(chosen, problem.interval)
    loss = chosen.loss_of(problem.data, problem.loss, requested=problem.requested_loss)
    chosen.check(problem.data, loss)
    return replace(problem, loss=loss), chosen


def draw_plan(problem: Problem, method: Any) -> tuple[Problem, Method, Plan]:
    """Return the checked problem, its method, and the plan of the method."""
    problem, chosen = checked_method(problem, method)
    return problem, chosen, chosen.plan(problem.data, Streams(problem.seed))


def choose_intervals(problem: Problem, method: Method, plan: Plan) -> Problem:
    """Return the problem with its intervals chosen from what the drawn plan provides.

    The user chooses the interval of the loss. Further scores get the calibrated interval, if there
    is one.
    """
    data, calibrated, scores = problem.data, problem.calibrated, {}
    for name, score in problem.scores.items():
        label = choose(score.interval, score.loss, data, method, plan, calibrated=calibrated)
        scores[name] = replace(score, interval=label)
    label = choose(problem.interval, problem.loss, data, method, plan, calibrated=calibrated)
    return replace(problem, interval=label, scores=scores, calibrated=False)


@frozen(eq=False)
class Score:
    """A further loss evaluated on the same fits, with the name of its interval or None."""

    loss: Loss
    interval: str | None = None


def check_scores(method: Method, scores: Mapping[str, Score], data: Data) -> None:
    """Refuse scores that a method cannot estimate from the kind of answers or numbers it has."""
    for name, score in scores.items():
        reason = _why_not(method.tells_scores, score, data)
        if reason is not None:
            raise Refusal(f"score '{name}' is not available from '{method.name}': {reason}")


def scores_reported_by(method: Method, scores: Mapping[str, Score], data: Data) -> dict[str, Score]:
    """Return the scores that a method can estimate; a criterion estimates no score but its own."""
    telling = method.tells_scores
    return {n: score for n, score in scores.items() if _why_not(telling, score, data) is None}


def _why_not(method: Method, score: Score, data: Data) -> str | None:
    try:
        own = method.loss_of(data, score.loss, requested=True)
        method.check(data, score.loss)
    except Refusal as refusal:
        return str(refusal)
    if own is score.loss:
        return None
    return f"it estimates '{own.name}' alone. Use a method that splits, such as '10-fold'."


# scikit-learn and SciPy draw settings with generators whose seeds are below this number
MOST_SEED = 2**32


def as_seed(random_state: Any) -> int:
    """Return the integer that seeds all random streams; None draws one, which results report."""
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


def settings_seed(seed: int, *, plain: bool = False) -> int:
    """Return the seed from which settings are drawn.

    It comes from a random stream of its own, or, if `plain`, it is the seed that RandomizedSearchCV
    would use.
    """
    if plain and seed < MOST_SEED:
        return seed
    return int(Streams(seed).get("settings").integers(MOST_SEED))


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of the packages that a result can depend on."""
    releases = {"truerisk": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn"):
        module = sys.modules.get(name)
        if module is not None:
            releases[name] = str(module.__version__)
    return releases


def with_checks(problem: Problem, checks: bool, *, forward: bool) -> Problem:
    """Check the rows of a problem, unless `checks` is off or this is a fit inside another call.

    The findings are stored in the problem, and results list them in their notes. If all splits of
    the call go `forward` in time, an order of the rows does no harm, and the finding
    `rows-in-order` is left out.
    """
    check_flag("checks", checks)
    if not checks or not are_checks_on():
        return problem
    findings = structure_findings(problem.data, problem.seed)
    if forward:
        findings = [finding for finding in findings if finding.code != "rows-in-order"]
    return replace(problem, findings=(*findings, *event_findings(problem.data, problem.losses)))
