"""Several scores of one fitted model: it is asked for each kind of answer once.

A model that is slow to predict is asked for each kind of answer about a test set once. A log loss,
a Brier score and an AUC read the same probabilities, and a network or a model that learns as it
predicts takes as long for them as for a fit. While several things are asked about the same rows,
the model's methods stand aside for what they said. A function of the user is not asked in this
time: it may look at the model itself, and is given it as it is.
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
    """A method, named as it was, that says again what it said about these rows: a copy."""

    @wraps(usual)
    def answer(X: Any, *arguments: Any, **options: Any) -> Any:
        if X is not rows or arguments or options:
            return usual(X, *arguments, **options)
        if name not in answers:
            answers[name] = ask()
        return copied(answers[name])

    return answer


@contextmanager
def asked_once(whole: tuple[Any, Any], learner: tuple[Any, Any]) -> Iterator[None]:
    """Have a model about its rows, and its learner about the rows as that sees them, answer once.

    Where both are one and the same it is named twice. What the learner said, its pipeline says.
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
    """Whether nothing but predictions is asked: by a loss of ours, by scikit-learn's scorers."""
    scorer = request.scorer
    if request.response != "scored" or is_a(scorer, POSITIVE_SCORER):
        return True
    from sklearn.metrics import get_scorer

    return type(scorer) is type(get_scorer("accuracy"))  # what make_scorer makes
