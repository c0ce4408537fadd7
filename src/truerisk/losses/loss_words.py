"""Conversion of the argument `scoring=` to losses: names, losses, functions and scorers.

If scikit-learn has a score of a name, the name means that score. A score of whole test sets is the
mean over folds; with " pooled" appended to its name it is computed from the predictions of all
folds together.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import ModuleType
from typing import Any

import numpy as np

from truerisk.core.arguments import check_has_name, mention, refuse_class, repr_on_one_line
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.formats import escape_and_truncate, score_of_class
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_from
from truerisk.core.registry import check_present
from truerisk.data.data import Data
from truerisk.losses.loss import NO_PREDICTIONS_MESSAGE, Loss, RowLoss
from truerisk.losses.row_losses import Log, registry

DEFAULT_LOSSES = {"classification": "zero-one", "regression": "squared", "survival": "concordance"}


def as_loss(loss: Any, data: Data, positive: Any = None) -> Loss:
    """Return the loss that a user requests, checked against the data; None is the default loss.

    A score of one class rates `positive`, unless it names its class itself.
    """
    if loss is None:
        loss = DEFAULT_LOSSES.get(data.task, "squared")
    name = ""
    if (
        isinstance(loss, Scoring)
        and isinstance(loss.score, str)
        and loss.score.endswith(POOLED_SUFFIX)
    ):
        return _pooled_loss(loss, data, positive)
    if isinstance(loss, Scoring):
        name, loss = loss.name, loss.loss_for(data, positive)
    if data.task == "other" and not isinstance(loss, Loss):
        raise Refusal(NO_PREDICTIONS_MESSAGE.format(repr_on_one_line(loss)))
    if isinstance(loss, Loss):
        check_has_name("loss", loss)
        # `check` may change a loss. A copy is checked, because the user may use the original again.
        checked_loss = copy(loss)
    elif isinstance(loss, str):
        checked_loss = _loss_by_name(loss, data, positive)
    else:
        checked_loss = _loss_by_function(loss, data, positive)
    if name:
        checked_loss.name = name
    if positive is not None:
        checked_loss = checked_loss.of_class(positive)
    checked_loss.check(data)
    if isinstance(loss, RowLoss) and not is_from(loss, "truerisk"):
        _import_user_losses().check_row_losses(loss, data)
    return checked_loss


POOLED_SUFFIX = " pooled"


def _pooled_loss(scoring: Scoring, data: Data, positive: Any) -> Loss:
    """Return the loss for a name such as "f1 pooled".

    It rates the predictions of all folds together as one test set.
    """
    name = scoring.score.removesuffix(POOLED_SUFFIX)
    if name.endswith(POOLED_SUFFIX):
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


def may_be_loss_name(name: Any) -> bool:
    """Return True if a text is the name of a loss or a score, whatever the data."""
    from sklearn.metrics import get_scorer_names

    name = str(name).removesuffix(POOLED_SUFFIX)
    if f"{name}-".startswith(CLIPPED_LOG_PREFIX):
        return _clipped_log(name) is not None
    return name in registry or name in get_scorer_names()


def _loss_by_name(name: str, data: Data, positive: Any) -> Loss:
    """Return the loss for a score name of this package or of scikit-learn.

    A name of this package may contain a number.
    """
    if name == "cost":
        raise Refusal("loss 'cost' needs its matrix: scoring=tr.losses.Cost([[0, 1], [5, 0]]).")
    if name in HORIZON_LOSS_NAMES:
        raise Refusal(f"loss '{name}' needs its time: such as '{name}-5'.")
    if name in registry:
        loss: Loss = registry.load(name)()
        return loss
    if f"{name}-".startswith(CLIPPED_LOG_PREFIX):
        return _clipped_log(name)
    return loss_at_horizon(name) or import_scorer_losses().loss_from_scorer_name(
        name, data, positive
    )


def _loss_by_function(loss: Any, data: Data, positive: Any) -> Loss:
    """Return the loss of a user's function or of a scorer; raise if the argument is neither."""
    refuse_class("scoring", loss)
    if not callable(loss):
        text = escape_and_truncate(" ".join(repr(loss).split()), 80)
        is_matrix = isinstance(loss, list | np.ndarray)
        hint = " A matrix of costs is given as scoring=tr.losses.Cost(matrix)." if is_matrix else ""
        raise UnknownName(
            f"{mention('scoring', loss, text)} is neither a word ({', '.join(registry)}), a "
            f"function of (y_true, y_pred), nor a scikit-learn scorer.{hint}"
        )
    user_loss_module = _import_user_losses()
    if user_loss_module.is_loss_function(loss):
        return user_loss_module.loss_from_function(loss, data)
    return import_scorer_losses().loss_from_scorer(loss, data, positive)


HORIZON_LOSS_NAMES = ("brier-at", "auc-at")
"""Names of losses of survival outcomes at one horizon, without the horizon."""

TIMED_LOSS_NAMES = (*HORIZON_LOSS_NAMES, "uno")
"""Names of losses of survival outcomes that a time may follow, as in ``uno-5``."""


def loss_at_horizon(name: str) -> Loss | None:
    """Return the loss of a name that contains a time, ``brier-at-5``; None for other names.

    >>> loss_at_horizon("brier-at-2.5").horizons, loss_at_horizon("brier-at")
    ((2.5,), None)
    """
    loss_name, _, horizon_text = name.rpartition("-")
    if loss_name not in TIMED_LOSS_NAMES:
        return None
    loss_class = registry.load(loss_name)
    try:
        loss: Loss = loss_class(float(horizon_text))
    except ValueError:
        return None
    return loss


CLIPPED_LOG_PREFIX = "log-clip-"


def _clipped_log(name: str) -> Loss:
    """Return the log loss of a name that contains its clip, such as ``log-clip-0.001``."""
    try:
        return Log(clip=float(name.removeprefix(CLIPPED_LOG_PREFIX)))
    except ValueError as error:
        raise UnknownName(
            f"loss {repr_on_one_line(name)}: write how near to 0 and 1 a probability may come, "
            "above 0 and below .5, such as log-clip-0.001."
        ) from error


@frozen
class Scoring:
    """One element of `scoring=`; it becomes a loss once there are data to check it on.

    Parameters
    ----------
    score : str, Loss or callable
        A name of scikit-learn, a name of this package, a loss, or a function of the user.
    name : str, default ""
        The name that the user gave it; results call it by that name.
    """

    score: Any
    name: str = ""

    def loss_for(self, data: Data, positive: Any) -> Any:
        """Return the loss of the score, or a name that `as_loss` converts.

        The loss is the difference from the score of a perfect rule, or minus the score if that is
        not known. A name means scikit-learn's score if there is one, and otherwise the loss of this
        package.
        """
        refuse_class("scoring", self.score)
        if callable(self.score) and not _import_user_losses().is_loss_function(self.score):
            return import_scorer_losses().loss_or_negative_score(self.score, data, positive)
        if not isinstance(self.score, str) or _is_unknown_to_sklearn(self.score):
            return self.score
        scorer_module = import_scorer_losses()
        # A density estimator predicts neither labels nor numbers, so that only its own score is
        # used.
        if data.task == "other":
            return scorer_module.negative_score_named(self.score) or self.score
        return (
            scorer_module.loss_equal_to_scorer(self.score, data.n_classes, positive) or self.score
        )


NAMES_SHARED_WITH_SKLEARN = ("f1", "precision", "recall", "r2")
"""Names of this package that scikit-learn uses as well."""


def _is_unknown_to_sklearn(name: str) -> bool:
    """Return True for a name of this package that scikit-learn does not know."""
    if name.rpartition("-")[0] in TIMED_LOSS_NAMES or f"{name}-".startswith(CLIPPED_LOG_PREFIX):
        return True
    return name in registry and name not in NAMES_SHARED_WITH_SKLEARN


def import_scorer_losses() -> ModuleType:
    """Import the module that converts scikit-learn's scorers, and their names, to losses."""
    check_present("truerisk.losses.scorer_losses")
    from truerisk.losses import scorer_losses as branch

    return branch


def _import_user_losses() -> ModuleType:
    """Import the module that converts users' functions to losses and checks users' losses."""
    check_present("truerisk.losses.user_losses")
    from truerisk.losses import user_losses as branch

    return branch


def split_scoring(scoring: Any, selecting_score_name: Any = None) -> tuple[Any, list[Scoring]]:
    """Return the score that chooses, and the further scores.

    Parameters
    ----------
    scoring : str, Loss, callable, list or dict, or None
        What a user requests; None is the default loss of the data.
    selecting_score_name : str, optional
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
    if not has_several_scores(scoring):
        return Scoring(scoring), []
    score_by_name, is_dict = scores_by_name(scoring), isinstance(scoring, Mapping)
    selecting_name = (
        selecting_score_name
        if isinstance(selecting_score_name, str) and selecting_score_name in score_by_name
        else next(iter(score_by_name))
    )
    selecting_score = Scoring(score_by_name.pop(selecting_name), selecting_name if is_dict else "")
    return selecting_score, [
        Scoring(score, name if is_dict or isinstance(score, str) else "")
        for name, score in score_by_name.items()
    ]


def has_several_scores(scoring: Any) -> bool:
    """Return True for several scores: a list, a tuple, a set or a dict of them."""
    return isinstance(scoring, list | tuple | set | Mapping)


def scores_by_name(scoring: Any) -> dict[str, Any]:
    """Return a dictionary of several scores by name.

    Losses and functions in a list have names of their own. BadArgument is raised for an empty list,
    None in it, names that are not text, and repeated names.

    >>> scores_by_name(["accuracy", "roc_auc"])
    {'accuracy': 'accuracy', 'roc_auc': 'roc_auc'}
    """
    elements = sorted(scoring, key=str) if isinstance(scoring, set) else list(scoring)
    is_dict = isinstance(scoring, Mapping)
    scores = [scoring[element] for element in elements] if is_dict else elements
    names = elements if is_dict else [_score_name(score) for score in elements]
    has_valid_names = names and all(isinstance(name, str) and name for name in names)
    if not has_valid_names or not all(map(_is_score, scores)):
        is_matrix = any(isinstance(score, list | tuple) for score in scores)
        hint = " A matrix of costs is given as scoring=tr.losses.Cost(matrix)." if is_matrix else ""
        raise BadArgument(
            f"{mention('scoring', scoring)}: give a list of scores, such as ['roc_auc', 'f1'], or "
            f"a dict of scores by name, and at least one.{hint}"
        )
    if len(set(names)) < len(names):
        raise BadArgument(f"{mention('scoring', scoring)} names a score twice: name each once.")
    return dict(zip(names, scores, strict=True))


def _is_score(score: Any) -> bool:
    return isinstance(score, str | Loss) or (callable(score) and not isinstance(score, type))


def _score_name(score: Any) -> str | None:
    """Return the name of an element in a list of scores, or None if the element is no score."""
    if not _is_score(score):
        return None
    if isinstance(score, str):
        return score
    if isinstance(score, Loss):
        return score_of_class(score.name, score.positive)
    name: str = import_scorer_losses().scorer_name(score)
    return name
