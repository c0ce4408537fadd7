"""GridSearchCV's words for what `HonestSearchCV` calls otherwise: `cv`, `scoring`, `n_jobs`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer, get_scorer_names

from truerisk.api.searching.own_score import (
    OwnScore,
    Scorer,
    has_own_score,
    makes_predictions,
    own_score,
)
from truerisk.api.searching.several_scores import are_several, named
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, UnknownName, said_by
from truerisk.core.scorer_losses import same_as_scorer
from truerisk.methods.words import USUAL_FOLDS

__all__ = ["Worded", "compared_by", "worded"]


@dataclass(frozen=True)
class Worded:
    """By which loss settings are compared, what else is told, and where fits run: our own words."""

    loss: Any
    scores: Any
    executor: Any


def worded(search: Any, y: Any) -> Worded:
    """What a search was asked in either set of words; asked in both, it is refused.

    `cv` means the splits that GridSearchCV makes of it: 5 are five folds that are not shuffled,
    stratified for classifiers. `scoring` is a score, larger is better; `n_jobs` counts as joblib
    does, -1 for all cores.
    """
    cv, scoring, n_jobs = search.cv, search.scoring, search.n_jobs
    if cv is not None:
        _refuse_both("cv", cv, "select_by", search.select_by)
    if scoring is not None:
        _refuse_both("scoring", scoring, "loss", search.loss)
    if n_jobs is not None:
        _refuse_both("n_jobs", n_jobs, "executor", search.executor)
    executor = search.executor if n_jobs is None else _workers(n_jobs)
    if scoring is None:
        return Worded(_usual_loss(search), search.scores, executor)
    if not are_several(scoring):
        return Worded(_loss(scoring, y, search), search.scores, executor)
    _refuse_both("scoring", scoring, "scores", search.scores or None)
    each = {name: _loss(one, y, search) for name, one in named(scoring).items()}
    chooser = search.refit if isinstance(search.refit, str) else next(iter(each))
    return Worded(each[chooser], each, executor)


def _refuse_both(theirs: str, one: Any, ours: str, other: Any) -> None:
    if other is not None:
        raise BadArgument(
            f"{theirs}={shown(one)} and {ours}={shown(other)} say the same thing: give one of them."
        )


def compared_by(search: Any, y: Any, usual: str = USUAL_FOLDS) -> Any:
    """How settings are compared; y has been checked, since `cv` looks at what it holds."""
    if search.cv is not None:
        return _splits(search.cv, y, search.estimator)
    return usual if search.select_by is None else search.select_by


def _splits(cv: Any, y: Any, estimator: Any) -> Any:
    from sklearn.model_selection import check_cv

    try:
        made = check_cv(cv, y, classifier=is_classifier(estimator))
        if isinstance(cv, Integral) or hasattr(cv, "split"):
            return made
        return list(
            made.split()
        )  # pairs of row numbers; what scikit-learn wraps them in is private
    except (TypeError, ValueError) as error:
        raise BadArgument(f"cv={shown(cv)} is no way to split: {said_by(error)}") from error


def _usual_loss(search: Any) -> Any:
    """The loss that was asked for; None is the usual one of classifiers and of regressors.

    The estimator's own score is all there is to choose by where it makes no predictions, and what
    GridSearchCV takes where its words are spoken and a class has a score of another kind.
    """
    model = search.estimator
    if search.loss is None and not makes_predictions(model) and hasattr(model, "score"):
        return own_score(model)
    if search.loss is None and search.cv is not None and has_own_score(model):
        return own_score(model)
    return search.loss


def _loss(scoring: Any, y: Any, search: Any) -> Any:
    estimator = search.estimator
    if callable(scoring):
        return Scorer.of(scoring, y)
    if not makes_predictions(estimator) and scoring in get_scorer_names():
        return OwnScore(get_scorer(scoring), scoring)
    if not isinstance(scoring, str):
        return scoring
    n_classes = len(np.unique(np.asarray(y))) if is_classifier(estimator) else 0
    same = same_as_scorer(scoring, n_classes, search.positive)
    return scoring if same is None else same


def _workers(n_jobs: Any) -> int | None:
    """A number of worker processes, None for this process."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise UnknownName(
            f"n_jobs={shown(n_jobs)}: give a number of worker processes, -1 for one per core."
        )
    cores, wanted = os.cpu_count() or 1, int(n_jobs)
    workers = wanted if wanted > 0 else max(1, cores + 1 + wanted)
    return None if workers == 1 else workers
