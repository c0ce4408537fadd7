"""Compute several scores of one fitted model, but ask it for each kind of prediction once.

The log loss, the Brier score and the AUC use the same probabilities. For a model that is slow to
predict, such as a network or a model that learns while predicting, computing them again takes as
long as a fit. While several scores of the same rows are computed, the model's prediction methods
are therefore replaced by functions that return the stored predictions. A scorer that is the user's
own function is not called in that time: it may inspect the model, and gets it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

from truerisk.contracts import Request
from truerisk.core.identity import is_a
from truerisk.data.rows import copied

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _once(usual: Any, name: str, rows: Any, answers: dict[str, Any], ask: Callable[[], Any]) -> Any:
    """Return a replacement for a method that returns a copy of its stored answer for these rows."""

    @wraps(usual)
    def answer(X: Any, *arguments: Any, **options: Any) -> Any:
        if X is not rows or arguments or options:
            return usual(X, *arguments, **options)
        if name not in answers:
            answers[name] = ask()
        return copied(answers[name])

    return answer


@contextmanager
def ask_once(whole: tuple[Any, Any], learner: tuple[Any, Any]) -> Iterator[None]:
    """Store the predictions of a model, and of its learner for transformed rows, within the block.

    If model and learner are the same object, pass it twice. A pipeline returns the predictions that
    its learner stored.
    """
    answers: dict[str, Any] = {}
    places = [learner] if whole[0] is learner[0] else [learner, whole]
    placed = []
    try:
        for name in METHODS:
            first = getattr(learner[0], name, None)
            if not callable(first):
                continue
            for model, X in places:
                usual = getattr(model, name, None)
                if callable(usual) and name not in getattr(model, "__dict__", {name: None}):
                    vars(model)[name] = _once(usual, name, X, answers, partial(first, learner[1]))
                    placed.append((model, name))
        yield
    finally:
        for model, name in placed:
            vars(model).pop(name, None)


POSITIVE_SCORER = "truerisk.losses.scorer_losses:PositiveScorer"


def asks_plainly(request: Request) -> bool:
    """Return True if only predictions are needed, as for losses here and scikit-learn's scorers."""
    scorer = request.scorer
    if request.response != "scored" or is_a(scorer, POSITIVE_SCORER):
        return True
    from sklearn.metrics import get_scorer

    # the class of scorers that make_scorer returns
    return type(scorer) is type(get_scorer("accuracy"))
