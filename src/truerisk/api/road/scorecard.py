"""Further scores of one computation: which were asked for, and who can tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from truerisk.core.arguments import shown
from truerisk.core.contracts import Method
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.loss_words import as_loss
from truerisk.core.losses import Loss
from truerisk.core.present import of_class
from truerisk.core.table.data import Data

__all__ = ["Score", "check_scores", "scores_of", "told_by"]


@dataclass(frozen=True, eq=False)
class Score:
    """A further loss to be told of the same fits, with the word of its interval or None."""

    loss: Loss
    interval: str | None = None


def scores_of(scores: Any, data: Data, positive: Any = None) -> dict[str, Score]:
    """What was asked for as `scores=`, by name: one word, several, or a dict of names."""
    named = []
    for name, given in _named(() if scores is None else scores):
        loss = as_loss(given, data, positive)
        label = given.positive if isinstance(given, Loss) else loss.label(data)
        named.append((name or of_class(loss.word, label), _called(name, loss)))
    found = {name: Score(loss) for name, loss in named}
    if len(found) < len(named):
        names = [name for name, _ in named]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadArgument(f"scores={shown(scores)} name {twice!r} twice: name each score once.")
    return found


def _called(name: str, loss: Loss) -> Loss:
    """The loss under the name that it was given, by which results speak of it."""
    if name in ("", loss.word):
        return loss
    called = copy(loss)
    called.word = name
    return called


def _named(scores: Any) -> list[tuple[str, Any]]:
    """Pairs of names, empty where none was given, and what was asked for."""
    if isinstance(scores, str | Loss) or callable(scores):
        scores = [scores]
    if isinstance(scores, Mapping):
        named = [(str(name), given) for name, given in scores.items()]
    elif isinstance(scores, Sequence | set):
        named = [(_name(given), given) for given in scores]
    else:
        named = [("", None)]
    if any(given is None for _, given in named):
        raise BadArgument(
            f"scores={shown(scores)}: give a list of scores, such as ['auc', 'log'], or a dict "
            "that names them."
        )
    return named


def _name(given: Any) -> str:
    """A word by itself; of anything else it is known once it is a loss of these data."""
    return given if isinstance(given, str) else ""


def check_scores(method: Method, scores: Mapping[str, Score], data: Data) -> None:
    """Refuse scores that a method cannot tell: its answers or its numbers are of another kind."""
    for name, score in scores.items():
        reason = _why_not(method.tells_scores, score, data)
        if reason is not None:
            raise Refusal(f"score '{name}' is not to be had from '{method.word}': {reason}")


def told_by(method: Method, scores: Mapping[str, Score], data: Data) -> dict[str, Score]:
    """Those that a method can tell: one that tunes by a criterion has nothing to say of others."""
    telling = method.tells_scores
    return {n: score for n, score in scores.items() if _why_not(telling, score, data) is None}


def _why_not(method: Method, score: Score, data: Data) -> str | None:
    try:
        own = method.loss_of(data, score.loss, asked=True)
        method.check(data, score.loss)
    except Refusal as refusal:
        return str(refusal)
    if own is score.loss:
        return None
    return f"it tells '{own.word}' and nothing else. Use a method that splits, such as '10-fold'."
