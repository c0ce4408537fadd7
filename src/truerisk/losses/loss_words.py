"""Conversion of `scoring=` to losses: names, losses, functions and scorers.

Where scikit-learn has a score of that name, the word means it. A score of whole test sets is the
mean over folds; with " pooled" behind its word it is of all answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import ModuleType
from typing import Any

import numpy as np

from truerisk.core.arguments import check_has_name, mention, refuse_class, shown
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.formats import clean, of_class
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_from
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.losses.loss import NO_PREDICTIONS, Loss, RowLoss
from truerisk.losses.row_losses import Log, registry

USUAL = {"classification": "zero-one", "regression": "squared", "survival": "concordance"}


def as_loss(loss: Any, data: Data, positive: Any = None) -> Loss:
    """Return the loss that a user asked for, checked against the data; None is the usual one.

    A score of one class speaks of `positive`, unless it names its class itself.
    """
    if loss is None:
        loss = USUAL.get(data.task, "squared")
    name = ""
    if isinstance(loss, Scoring) and isinstance(loss.score, str) and loss.score.endswith(POOLED):
        return _pooled(loss, data, positive)
    if isinstance(loss, Scoring):
        name, loss = loss.name, loss.loss_for(data, positive)
    if data.task == "other" and not isinstance(loss, Loss):
        raise Refusal(NO_PREDICTIONS.format(shown(loss)))
    if isinstance(loss, Loss):
        check_has_name("loss", loss)
        resolved = copy(loss)  # checked against these data; the original may serve others
    elif isinstance(loss, str):
        resolved = _by_name(loss, data, positive)
    else:
        resolved = _by_function(loss, data, positive)
    if name:
        resolved.name = name
    if positive is not None:
        resolved = resolved.of_class(positive)
    resolved.check(data)
    if isinstance(loss, RowLoss) and not is_from(loss, "truerisk"):
        _user_losses().try_rows(loss, data)
    return resolved


POOLED = " pooled"


def _pooled(scoring: Scoring, data: Data, positive: Any) -> Loss:
    """Return the loss of a word such as "f1 pooled", of all answers of a repetition as one set."""
    name = scoring.score.removesuffix(POOLED)
    if name.endswith(POOLED):
        raise UnknownName(f"{mention('scoring', scoring.score)}: write 'pooled' once.")
    loss = as_loss(Scoring(name), data, positive)
    if loss.response == "scored":
        raise Refusal(
            f"{mention('scoring', scoring.score)}: the scorer {name} rates one fitted model at a "
            "time, so that answers of several folds cannot be pooled; use "
            f"{mention('scoring', name)}."
        )
    loss.usual_average, loss.is_pooled = "pooled", True
    loss.name = scoring.name or scoring.score
    return loss


def may_be_name(name: Any) -> bool:
    """Return True if a text names a loss or a score, whatever the data."""
    from sklearn.metrics import get_scorer_names

    name = str(name).removesuffix(POOLED)
    if f"{name}-".startswith(CLIPPED):
        return _clipped_log(name) is not None
    return name in registry or name in get_scorer_names()


def _by_name(name: str, data: Data, positive: Any) -> Loss:
    """Return the loss of a name: of this package, with a number in it, or of scikit-learn."""
    if name == "cost":
        raise Refusal("loss 'cost' needs its matrix: scoring=tr.losses.Cost([[0, 1], [5, 0]]).")
    if name in AT_HORIZON:
        raise Refusal(f"loss '{name}' needs its time: such as '{name}-5'.")
    if name in registry:
        loss: Loss = registry.load(name)()
        return loss
    if f"{name}-".startswith(CLIPPED):
        return _clipped_log(name)
    return at_horizon(name) or scorer_losses().loss_of_name(name, data, positive)


def _by_function(loss: Any, data: Data, positive: Any) -> Loss:
    """Return the loss of a function of a user, or of a scorer; refuse what is neither."""
    refuse_class("scoring", loss)
    if not callable(loss):
        text = clean(" ".join(repr(loss).split()), 80)
        matrix = isinstance(loss, list | np.ndarray)
        hint = " A matrix of costs is given as scoring=tr.losses.Cost(matrix)." if matrix else ""
        raise UnknownName(
            f"{mention('scoring', loss, text)} is neither a word ({', '.join(registry)}), a "
            f"function of (y_true, y_pred), nor a scikit-learn scorer.{hint}"
        )
    functions = _user_losses()
    if functions.is_loss_function(loss):
        return functions.loss_of_function(loss, data)
    return scorer_losses().loss_of_scorer(loss, data, positive)


AT_HORIZON = ("brier-at", "auc-at")
"""Words of losses at one time of an outcome in time."""


def at_horizon(name: str) -> Loss | None:
    """Return the loss of a word that names its horizon, ``brier-at-5``; None for another word.

    >>> at_horizon("brier-at-2.5").horizons, at_horizon("brier-at")
    ((2.5,), None)
    """
    kind, _, number = name.rpartition("-")
    if kind not in AT_HORIZON:
        return None
    made = registry.load(kind)
    try:
        loss: Loss = made(float(number))
    except ValueError:
        return None
    return loss


CLIPPED = "log-clip-"


def _clipped_log(name: str) -> Loss:
    """Return the log loss of a word that names its clip, such as ``log-clip-0.001``."""
    try:
        return Log(clip=float(name.removeprefix(CLIPPED)))
    except ValueError as error:
        raise UnknownName(
            f"loss {shown(name)}: write how near to 0 and 1 a probability may come, above 0 and "
            "below .5, such as log-clip-0.001."
        ) from error


@frozen
class Scoring:
    """A member of `scoring=`: it becomes a loss once there is a y to try it on.

    Parameters
    ----------
    score : str, Loss or callable
        A name of scikit-learn, a word of ours, a loss, or a function of the user.
    name : str, default ""
        The name that the user gave it; results call it by that name.
    """

    score: Any
    name: str = ""

    def loss_for(self, data: Data, positive: Any) -> Any:
        """Return the loss that the score stands for, or a word that is left to `as_loss`.

        It is the distance to the score of a rule without error, or minus the score if that is not
        known. A name is scikit-learn's where there is such a score, else a word of ours.
        """
        refuse_class("scoring", self.score)
        if callable(self.score) and not _user_losses().is_loss_function(self.score):
            return scorer_losses().own_score_of(self.score, data, positive)
        if not isinstance(self.score, str) or _is_ours(self.score):
            return self.score
        scorers = scorer_losses()
        if data.task == "other":  # A density estimator has neither labels nor numbers to predict.
            return scorers.own_score_named(self.score) or self.score
        return scorers.same_as_scorer(self.score, data.n_classes, positive) or self.score


OF_BOTH = ("f1", "precision", "recall", "r2")
"""Names of this package that scikit-learn uses as well."""


def _is_ours(name: str) -> bool:
    """Return True for a name of this package that scikit-learn does not know."""
    if name.rpartition("-")[0] in AT_HORIZON or f"{name}-".startswith(CLIPPED):
        return True
    return name in registry and name not in OF_BOTH


def scorer_losses() -> ModuleType:
    """Import what makes losses of scikit-learn's scorers and of their names."""
    check_present("truerisk.losses.scorer_losses")
    from truerisk.losses import scorer_losses as branch

    return branch


def _user_losses() -> ModuleType:
    """Import what makes losses of functions, and tries losses that are not ours."""
    check_present("truerisk.losses.user_losses")
    from truerisk.losses import user_losses as branch

    return branch


def by_scoring(scoring: Any, chooser: Any = None) -> tuple[Any, list[Scoring]]:
    """Return the score that chooses, and the further ones.

    Parameters
    ----------
    scoring : str, Loss, callable, list or dict, or None
        What a user asks for; None is the usual loss of the data.
    chooser : str, optional
        Name of the score that chooses among several; by default it is the first one.

    Returns
    -------
    Scoring or None
        The score that chooses.
    list of Scoring
        The further scores, in their order.
    """
    if scoring is None or isinstance(scoring, Scoring):
        return scoring, []
    if not are_several(scoring):
        return Scoring(scoring), []
    each, is_dict = named(scoring), isinstance(scoring, Mapping)
    first = chooser if isinstance(chooser, str) and chooser in each else next(iter(each))
    chosen = Scoring(each.pop(first), first if is_dict else "")
    return chosen, [
        Scoring(score, name if is_dict or isinstance(score, str) else "")
        for name, score in each.items()
    ]


def are_several(scoring: Any) -> bool:
    """Return True for several scores: a list, a tuple, a set or a dict of them."""
    return isinstance(scoring, list | tuple | set | Mapping)


def named(scoring: Any) -> dict[str, Any]:
    """Return the scores by their names, those of losses and functions being their own.

    An empty list, None in it, other names than text and a name twice are refused.

    >>> named(["accuracy", "roc_auc"])
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    members = sorted(scoring, key=str) if isinstance(scoring, set) else list(scoring)
    is_dict = isinstance(scoring, Mapping)
    each = [scoring[member] for member in members] if is_dict else members
    names = members if is_dict else [_name(score) for score in members]
    is_named = names and all(isinstance(n, str) and n for n in names)
    if not is_named or not all(map(_is_score, each)):
        is_matrix = any(isinstance(each_one, list | tuple) for each_one in each)
        hint = " A matrix of costs is given as scoring=tr.losses.Cost(matrix)." if is_matrix else ""
        raise BadArgument(
            f"{mention('scoring', scoring)}: give a list of scores, such as ['roc_auc', 'f1'], or "
            f"a dict of scores by name, and at least one.{hint}"
        )
    if len(set(names)) < len(names):
        raise BadArgument(f"{mention('scoring', scoring)} names a score twice: name each once.")
    return dict(zip(names, each, strict=True))


def _is_score(score: Any) -> bool:
    return isinstance(score, str | Loss) or (callable(score) and not isinstance(score, type))


def _name(score: Any) -> str | None:
    """Return the name of a member of a list; None for what is no score."""
    if not _is_score(score):
        return None
    if isinstance(score, str):
        return score
    if isinstance(score, Loss):
        return of_class(score.name, score.positive)
    name: str = scorer_losses().scorer_name(score)
    return name
