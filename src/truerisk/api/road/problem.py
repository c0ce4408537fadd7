"""A problem: one family on checked data, with all that was asked for beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from truerisk.api.road.inner_rows import refuse_known_rows, warn_of_cut_groups, with_rows_inside
from truerisk.api.road.provenance import as_seed
from truerisk.api.road.scorecard import Score, scores_of
from truerisk.api.road.weights import fit_params_with_weight, refuse_behind_resampling
from truerisk.core.arguments import check_level, shown
from truerisk.core.contracts import Method, Rule
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.family import Family
from truerisk.core.loss_words import as_loss
from truerisk.core.losses import Loss
from truerisk.core.plan.plan import Plan
from truerisk.core.positive import class_named
from truerisk.core.table.data import Data
from truerisk.engines.asking import Asking
from truerisk.engines.workers.executors import workers_of
from truerisk.methods.interval_forms import as_form
from truerisk.methods.interval_wanted import with_interval
from truerisk.methods.parts.interval_choice import choose
from truerisk.methods.words import as_method
from truerisk.selection import as_rule

__all__ = ["Problem", "loss_by", "method_of", "pose", "problem_on", "refuse_unspoken", "with_words"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything a computation needs, checked; `scores` are further losses of the same fits.

    `steps` holds the fitted steps that several families share. `positive` is the class that was
    named for scores of one class. Where no interval is asked for, `calibrated` says which losses
    have the calibrated one: none, those of whole test sets, or all.
    """

    family: Family
    data: Data
    loss: Loss
    rule: Rule
    confidence_level: float
    engine: Any
    executor: Any
    seed: int
    loss_asked: bool = False
    interval: str | None = None
    calibrated: Literal["none", "of sets", "all"] = "none"
    scores: Mapping[str, Score] = field(default_factory=dict)
    steps: Any = None
    positive: Any = None

    @property
    def losses(self) -> list[Loss]:
        """The loss and the further ones."""
        return [self.loss, *(score.loss for score in self.scores.values())]

    def by(self, executor: Any) -> Problem:
        """The same, its fits made by another executor; None keeps its own."""
        workers_of(executor)  # an unknown one is refused by every engine alike
        return self if executor is None else replace(self, executor=executor)

    def asking(self, **options: Any) -> Asking:
        """The way from a plan to answers for this problem; `options` change it for one pass."""
        given = {
            "scores": self.losses[1:],
            "engine": self.engine,
            "executor": self.executor,
            "seed": self.seed,
            "steps": self.steps,
        }
        return Asking(self.family, self.data, self.loss, **{**given, **options})


def pose(
    family: Family,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    **asked: Any,
) -> Problem:
    """Check what a user gave: rows, and what `problem_on` is asked for."""
    data = Data.check(
        X,
        y,
        task=family.task,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        block=block,
        as_given=family.takes_y_as_given,
    )
    return refuse_unspoken(problem_on(data, family, sample_weight=sample_weight, **asked))


def problem_on(
    data: Data,
    family: Family,
    *,
    loss: Any = None,
    scores: Any = (),
    positive: Any = None,
    rule: Any = "min",
    sample_weight: Any = None,
    fit_params: Any = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    executor: Any = None,
    random_state: Any = 0,
) -> Problem:
    """Check what a user asks for on data that were checked before.

    `sample_weight` goes to the fits as it was given, under the name that this family has for it.
    """
    check_level("confidence_level", confidence_level)
    workers_of(executor)  # an unknown executor is refused by every engine alike
    if not isinstance(fit_params, Mapping | None) or not all(
        isinstance(name, str) for name in fit_params or {}
    ):
        raise BadArgument(f"fit_params={shown(fit_params)}: use a dict of what `fit` is given.")
    params = fit_params_with_weight(family.estimator, sample_weight, dict(fit_params or {}))
    refuse_behind_resampling(family, params, data.n_rows)
    refuse_known_rows(params, data)
    warn_of_cut_groups(family, data)
    if positive is not None:
        class_named(positive, data)  # which refuses a label that y does not hold
    fitted = data.fitted_with(with_rows_inside(family, data, params))
    return Problem(
        family=family,
        data=fitted.for_fits(family.takes_y_as_given),
        loss=as_loss(loss, data, positive),
        rule=as_rule(rule),
        confidence_level=confidence_level,
        engine=engine,
        executor=executor,
        seed=as_seed(random_state),
        loss_asked=loss is not None,
        interval=None if interval is None else as_form(interval).word,
        scores=scores_of(scores, data, positive),
        positive=positive,
    )


def refuse_unspoken(problem: Problem) -> Problem:
    """Refuse a class that nothing that was asked for speaks of."""
    data, positive = problem.data, problem.positive
    if positive is not None:
        code = class_named(positive, data)
        if all(loss.rated(data) != code for loss in problem.losses):
            words = ", ".join(loss.word for loss in problem.losses)
            raise Refusal(
                f"positive={shown(positive)} names a class, and what is asked for speaks of none "
                f"or names its own ({words}): leave it out, or ask for scores=['f1', 'recall']."
            )
    return problem


def method_of(problem: Problem, method: Any) -> Method:
    """The method that was asked for, or the one that draws what the interval asked for needs."""
    chosen = as_method(method)
    return chosen if problem.interval is None else with_interval(chosen, problem.interval)


def with_words(problem: Problem, method: Method, plan: Plan) -> Problem:
    """The problem with the words of its intervals, as the drawn plan has them.

    A user asks for that of the loss; the further scores have the calibrated one, if any.
    """

    def word(asked: str | None, loss: Loss) -> str | None:
        of_sets = problem.calibrated == "of sets" and not loss.per_row
        calibrated = problem.calibrated == "all" or of_sets
        return choose(asked, loss, problem.data, method, plan, calibrated=calibrated)

    scores = {
        name: replace(score, interval=word(score.interval, score.loss))
        for name, score in problem.scores.items()
    }
    interval = word(problem.interval, problem.loss)
    return replace(problem, interval=interval, scores=scores, calibrated="none")


def loss_by(method: Method, problem: Problem) -> Loss:
    """The loss that a method reports in on this problem."""
    return method.loss_of(problem.data, problem.loss, asked=problem.loss_asked)
