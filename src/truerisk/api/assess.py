"""`assess`: several tuned learners on the same splits, and what to conclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.api.assessment import Assessed, Assessment
from truerisk.api.choice import risk_of_choice
from truerisk.api.compute import Computed, Problem, compute, curve_of, pose, procedure_of
from truerisk.api.constant import constant_risk
from truerisk.api.learners import families_of
from truerisk.api.naming import named
from truerisk.api.outer import outer_folds, stability
from truerisk.api.schedule import Schedule
from truerisk.core.errors import BadData
from truerisk.core.progress import Count, counting, stage
from truerisk.core.results import RiskCurve

__all__ = ["Assessment", "Interrupted", "assess"]


class Interrupted(KeyboardInterrupt):
    """An assessment was stopped; `partial` holds what was done, None if nothing was."""

    def __init__(self, partial: Assessment | None, missing: Sequence[str]) -> None:
        super().__init__(f"interrupted; not assessed: {', '.join(missing)}")
        self.partial = partial
        self.missing = tuple(missing)


def assess(
    learners: Any,
    X: Any,
    y: Any,
    *,
    methods: Sequence[Any] = ("10-fold",),
    outer: Any = "10-fold",
    rule: Any = "min",
    loss: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    executor: Any = None,
    random_state: Any = 0,
) -> Assessment:
    """Compare tuned learners by their honest risks, all on the same splits.

    Parameters
    ----------
    learners : dict, list of words, or None
        ``{"knn": (model, grid), "lda": model}``; words of ``tr.models.names()``; None takes four
        usual ones with grids for the size of the data.
    X, y : table and target
    methods : sequence of methods
        The first one tunes; the risk curves by the others are kept beside it in ``criteria``.
    outer : method
        The splits that test each tuned learner (nested validation).
    rule, loss, groups, sample_weight, confidence_level, engine, executor, random_state
        As for `risk_curve`.

    Returns
    -------
    Assessment
        ``best``, ``risks``, ``curves``, ``table()``, ``conclusion``, ``to_json(path)``.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> knn = KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}
    >>> a = tr.assess({"knn": knn, "bayes": GaussianNB()}, X, y, methods=["5-fold"])
    >>> a.best
    'bayes'
    """
    if isinstance(methods, str) or not isinstance(methods, Sequence) or not methods:
        raise BadData("methods is a list of methods; the first one tunes, e.g. ['10-fold'].")
    problems = {}
    for name, family in families_of(learners, X, y).items():
        with named(name):
            problems[name] = pose(
                family,
                X,
                y,
                loss=loss,
                rule=rule,
                groups=groups,
                sample_weight=sample_weight,
                confidence_level=confidence_level,
                engine=engine,
                executor=executor,
                random_state=random_state,
            )
    _refuse_mixed(problems)
    first = next(iter(problems.values()))
    schedule = Schedule.draw(first, methods, outer, several=len(problems) > 1)
    return _assess_each(problems, schedule)


def _assess_each(problems: Mapping[str, Problem], schedule: Schedule) -> Assessment:
    """Tune all learners, then test each: what one of them refuses is known before the long part."""
    done: dict[str, Assessed] = {}
    tuned: dict[str, list[Computed]] = {}
    fits = {name: schedule.fits(len(problem.family)) for name, problem in problems.items()}
    try:
        with counting(sum(fits.values())) as count:
            for name, problem in problems.items():
                with named(name), stage(name), stage("tuning"):
                    tuned[name] = _tune(problem, schedule, count)
            for name, problem in problems.items():
                with named(name), stage(name), stage("testing"):
                    done[name] = _test(problem, schedule, tuned[name])
                _reach(count, [*tuned.values()], done)
    except KeyboardInterrupt:
        missing = [name for name in problems if name not in done]
        partial = _concluded(done, problems, schedule, missing) if done else None
        raise Interrupted(partial, missing) from None
    return _concluded(done, problems, schedule, ())
