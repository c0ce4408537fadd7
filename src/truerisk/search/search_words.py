"""What a search is told, in our words and in GridSearchCV's, checked: `cv`, `scoring`, `refit`."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from hashlib import sha256
from numbers import Integral
from typing import Any

import numpy as np

from truerisk.contracts import Method
from truerisk.core.arguments import check_flag, is_number, shown
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.family import Family, of_survival, refuse_no_estimator
from truerisk.core.present import clean
from truerisk.engines.generic import Generic
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import are_several, by_scoring, named, scorer_losses
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import as_method, fold_means, is_of_scikit_learn
from truerisk.models.stated.question import usual_score
from truerisk.search.claim import Claim, known_word
from truerisk.search.repeat import study_given
from truerisk.search.stored_search import check_store


@dataclass(frozen=True)
class Words:
    """Scoring and executor of a search, with the usual scoring where it names none.

    Parameters
    ----------
    scoring : any
        As in `estimate_risk`; the usual one of the estimator where the search names none.
    chooser : str or None
        Name of the score that chooses among several; the first one if None.
    n_jobs : any
        Where fits run.
    """

    scoring: Any
    chooser: str | None
    n_jobs: Any

    @property
    def chosen(self) -> Any:
        """The score that chooses."""
        return by_scoring(self.scoring, self.chooser)[0]


def words_of(search: Any) -> Words:
    """Return what a search is told."""
    scoring = _usual_scoring(search) if search.scoring is None else search.scoring
    return Words(scoring, search.refit if isinstance(search.refit, str) else None, search.n_jobs)


def _usual_scoring(search: Any) -> Any:
    """Return the scoring of a search that names none; None is the usual loss of its data.

    The estimator's own score is all there is to choose by where it makes no predictions, and what
    GridSearchCV takes where its words are spoken and a class has a score of another kind.
    """
    model = search.estimator
    if not hasattr(model, "score"):
        return None
    if not makes_predictions(model):
        return own_score(model)
    is_own = is_of_scikit_learn(search.cv) and usual_score(model) is None
    return own_score(model) if is_own else None


def compared_by(search: Any, usual: str) -> Method:
    """Return the method by which settings are compared.

    Losses of rows are means over folds, as GridSearchCV has it, unless a Method says otherwise.
    Scores of whole test sets are means over folds anyway, unless their word ends in " pooled".
    """
    method = as_method(usual if search.cv is None else search.cv)
    if isinstance(method, Procedure) and not method.shares_folds:
        raise Refusal(
            f"cv='{method.word}' tests what was tuned inside, and rates no setting on all "
            f"rows: use cv='{method.inner_method.word}' with "
            f"outer='{method.outer_method.word}'."
        )
    return method if isinstance(search.cv, Method) else fold_means(method)


def check_race(select_by: Method, error_score: Any, *, return_train_score: bool) -> None:
    """Refuse what would need the fits that a race spares."""
    if not select_by.spares_fits:
        return
    if return_train_score:
        raise BadArgument(
            f"return_train_score=True asks every fit of every setting about its own rows, and "
            f"'{select_by.word}' does not make them all: leave one of them out."
        )
    if is_number(error_score) and not np.isnan(float(error_score)):
        raise BadArgument(
            f"error_score={shown(error_score)} is the score of fits that failed, and would be that "
            f"of fits that '{select_by.word}' never made: use error_score=numpy.nan."
        )


def engine_for(engine: Any, error_score: Any, outer: Any) -> Any:
    """The engine that goes on after a failing fit, where a score stands for it."""
    if isinstance(error_score, str) and error_score == "raise":
        return engine
    if not is_number(error_score):
        raise BadArgument(
            f"error_score={shown(error_score)}: use 'raise', or the score of a failing fit, such "
            "as numpy.nan."
        )
    if outer is not None and not np.isnan(float(error_score)):
        raise BadArgument(
            f"error_score={shown(error_score)} would count failing fits as if they had answered, "
            "and a risk has no such number: use error_score=numpy.nan, which leaves such settings "
            "out, or outer=None."
        )
    if isinstance(engine, Generic):
        return replace(engine, error="warn")
    if isinstance(engine, str) and engine in ("auto", Generic.word):
        return Generic(error="warn")
    raise BadArgument(
        f"error_score={shown(error_score)} needs the engine 'generic', and engine={shown(engine)} "
        "was asked for: leave out one of them."
    )


def check_words(search: Any) -> None:
    """Refuse words that no fit is needed to refuse."""
    refuse_no_estimator(search.estimator)
    _check_refit(search.refit, search.scoring, search.outer)
    check_flag("return_train_score", search.return_train_score)
    verbose, limit = search.verbose, search.time_limit
    if not isinstance(verbose, Integral) or verbose < 0:
        raise BadArgument(
            f"verbose={shown(verbose)}: use 0, or 1 for the number of fits, 2 for a line for each, "
            "3 for its score as well."
        )
    if limit is not None and not (is_number(limit) and 0 < limit < np.inf):
        raise BadArgument(
            f"time_limit={shown(limit)}: give seconds, more than 0, or None for no limit."
        )
    check_store(search.store, search.random_state)


def _check_refit(refit: Any, scoring: Any, outer: Any) -> None:
    """Refuse what says neither whether to refit nor how to choose."""
    if callable(refit):
        if outer is not None:
            raise BadArgument(
                f"refit={shown(refit)} chooses from cv_results_, which the outer splits of the "
                "honest risk do not have: use a rule=, by which they choose as well, or outer=None."
            )
    elif are_several(scoring):
        check_chooser(refit, named(scoring))
    elif callable(scoring) and isinstance(refit, str):
        return  # a function may give several scores; `on_y` looks at what it gives
    elif not isinstance(refit, bool) and not (isinstance(refit, str) and refit == scoring):
        raise BadArgument(
            f"refit={shown(refit)}: use True, False, or a function that gives the number of a "
            "setting for cv_results_."
        )


def check_chooser(refit: Any, names: Mapping[str, Any]) -> None:
    """Refuse a `refit` that is none of several scores; True and False let the first one choose."""
    if not isinstance(refit, bool) and not (isinstance(refit, str) and refit in names):
        raise BadArgument(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
            f"callable to refit what it chooses: refit={shown(refit)} is none of the scores "
            f"{shown(list(names))}. Name the one that chooses, or leave refit out, so that the "
            f"first one, {next(iter(names))!r}, does."
        )


def words_of_given(search: Any, claim: Claim | None, fitted: Any) -> Words:
    """What was asked of the model that is tuned; by the search's own score where nothing was."""
    asker = copy(search)
    asker.estimator = (
        getattr(fitted, "best_estimator_", fitted) if claim is None else claim.estimator
    )
    if claim is not None and search.scoring is None:
        word = known_word(claim) if not isinstance(claim.scoring, Loss) else None
        if isinstance(claim.scoring, Loss):
            asker.scoring = claim.scoring
        elif word is None and claim.scoring is None:
            asker.scoring = own_score(claim.estimator)
        elif word != "accuracy":  # which the usual loss of classifiers is
            asker.scoring = word or claim.scoring
    return words_of(asker)


OWN = {  # what speaks of the settings of a grid, with the value that says nothing
    "rule": "min",
    "cv": None,
    "time_limit": None,
    "store": None,
    "error_score": "raise",
    "return_train_score": False,
    "verbose": 0,
}


def refuse_words_of_grids(search: Any, kind: str) -> None:
    """Words on the settings of a grid, which a search that was given tries in its own way."""
    heard = search.estimator.get_params(deep=False)
    for name, unsaid in OWN.items():
        value = getattr(search, name, unsaid)
        if isinstance(value, type(unsaid)) and value == unsaid:
            continue
        remedy = f"set it in {kind}, or give a model and a grid"
        raise BadArgument(
            f"{name}={shown(value)} is about the settings of a grid, and {kind} tries its own: "
            f"{remedy if name in heard else 'give a model and a grid'}."
        )
    if callable(search.refit):
        raise BadArgument(
            f"refit={shown(search.refit)} chooses a setting, and {kind} chooses its own: use "
            "refit=True."
        )


def refuse_state(search: Any) -> None:
    """What a clone goes on with: a study, an iterator; and splits that hold for all rows only."""
    kind = type(search).__name__
    if study_given(search):
        raise Refusal(
            f"{kind} was given a study, which goes on learning over fits and clones: inside the "
            "outer splits it would know the rows that test. Give study=None."
        )
    for name, value in search.get_params(deep=True).items():
        if isinstance(value, Iterator):
            raise Refusal(
                f"{name} of {kind} is {clean(shown(value), 60)}, which the first fit uses up: give "
                "a list or a splitter."
            )
        if name.rpartition("__")[2] == "cv" and isinstance(value, list | tuple):
            raise Refusal(
                f"{name} of {kind} lists splits by the numbers of all rows, and in an outer "
                "training set these numbers mean other rows: give a splitter, such as KFold(5)."
            )


def marks_of(search: Any) -> dict[str, str]:
    """What the parameters of a search hold, as far as it can be written."""
    marks = {}
    for name, value in search.get_params(deep=True).items():
        try:
            marks[name] = sha256(pickle.dumps(value)).hexdigest()
        except Exception:  # noqa: BLE001  a function of a notebook, a lock: nothing can be seen
            continue
    return marks


def refuse_changed(search: Any, before: Mapping[str, str]) -> None:
    """Parameters that a fit of a clone has changed: they are shared by all clones."""
    now = marks_of(search)
    changed = [name for name, mark in before.items() if now.get(name) != mark]
    if changed:
        raise Refusal(
            f"{clean(', '.join(changed), 120)} of {type(search).__name__} changed while a clone of "
            "it was fitted: what is learned in one fit survives into the next, and inside the "
            "outer splits it would know the rows that test. Give an object that clone() copies."
        )


def own_score(estimator: Any) -> Loss:
    """The estimator's own `score`."""
    from sklearn.metrics import check_scoring

    loss: Loss = scorer_losses().OwnScore(check_scoring(estimator), "own score")
    return loss


def makes_predictions(estimator: Any) -> bool:
    """Whether its predictions can be compared with y."""
    from sklearn.base import is_classifier, is_regressor

    last = Family(estimator).last
    return bool(is_classifier(estimator) or is_regressor(estimator) or of_survival(last))
