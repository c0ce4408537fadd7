"""`assess`: several tuned learners on the same splits, and what to conclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.api.assessment import Assessed, Assessment
from truerisk.api.choice import risk_of_choice
from truerisk.api.compute import Problem, compute, curve_of, pose
from truerisk.api.learners import families_of
from truerisk.api.outer import outer_folds, stability
from truerisk.core.errors import BadData
from truerisk.core.progress import stage
from truerisk.methods.nested import Nested

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
    if not methods or isinstance(methods, str):
        raise BadData("methods is a list of methods; the first one tunes, e.g. ['10-fold'].")
    problems = {
        name: pose(
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
        for name, family in families_of(learners, X, y).items()
    }
    _refuse_mixed(problems)
    return _assess_each(problems, methods, outer)


def _assess_each(problems: Mapping[str, Problem], methods: Sequence[Any], outer: Any) -> Assessment:
    done: dict[str, Assessed] = {}
    compare = len(problems) > 1
    try:
        for name, problem in problems.items():
            with stage(name):
                done[name] = _assess_one(problem, methods, Nested(outer, methods[0], compare))
    except KeyboardInterrupt:
        partial = _concluded(done, problems, outer, methods[0]) if done else None
        missing = [name for name in problems if name not in done]
        raise Interrupted(partial, missing) from None
    return _concluded(done, problems, outer, methods[0])


def _assess_one(problem: Problem, methods: Sequence[Any], nested: Nested) -> Assessed:
    selected = compute(problem, methods[0])
    curve = curve_of(selected)
    criteria = {c.common.method: c for c in (curve_of(compute(problem, m)) for m in methods[1:])}
    honest = compute(problem, nested)
    risk = curve_of(honest).procedure
    assert risk is not None
    return Assessed(
        curve=curve,
        criteria=criteria,
        risk=risk,
        outer=outer_folds(honest),
        stability=stability(honest, curve.best),
        n_fits=selected.evaluation.n_fits + honest.evaluation.n_fits,
        seconds=selected.seconds + honest.seconds,
        answers=honest.evaluation.answers,
    )


def _concluded(
    done: Mapping[str, Assessed], problems: Mapping[str, Problem], outer: Any, select_by: Any
) -> Assessment:
    names = list(done)
    values = [np.inf if done[n].risk.value is None else done[n].risk.value for n in names]
    best = names[int(np.argmin(values))]  # type: ignore[arg-type]
    problem = problems[best]
    choice = risk_of_choice(done, problem, outer) if len(done) > 1 else None
    return Assessment(
        best=best,
        learners=dict(done),
        choice=choice,
        baseline=_baseline(problem),
        n_rows=problem.data.n_rows,
        seed=problem.seed,
        problem=problem,
    )


def _baseline(problem: Problem) -> float | None:
    """The zero-one risk of always answering the commonest class; None for other losses."""
    codes, weights = problem.data.codes, problem.data.sample_weight
    if not problem.loss.binary or codes is None:
        return None
    shares = np.bincount(codes, weights)
    return float(1 - shares.max() / shares.sum())


def _refuse_mixed(problems: Mapping[str, Problem]) -> None:
    tasks = {name: p.family.task for name, p in problems.items()}
    if len(set(tasks.values())) > 1:
        listed = ", ".join(f"{name}: {task}" for name, task in tasks.items())
        raise BadData(f"classifiers and regressors cannot be compared on one target ({listed}).")
