"""Stand-ins for models whose answers are known: they say them when they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from truerisk.models.logistic_places import codes_of_scores

__all__ = [
    "FixedAnswers",
    "SaidDecisions",
    "SaidLogOdds",
    "SaidOfClasses",
    "SaidScores",
    "SaidShares",
    "standing_for",
]


class FixedAnswers:
    """Answers with labels or values."""

    classes_: np.ndarray | None = None

    def __init__(self, answers: np.ndarray) -> None:
        self.answers = answers

    def predict(self, X: Any) -> np.ndarray:
        """The answers."""
        return self.answers


class SaidOfClasses(FixedAnswers):
    """Answers about classes, which it knows."""

    classes_: np.ndarray

    def __init__(self, answers: np.ndarray, classes: np.ndarray) -> None:
        super().__init__(answers)
        self.classes_ = classes


class SaidShares(SaidOfClasses):
    """Answers with probabilities of the classes; its label is that of the largest."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """The answers."""
        return self.answers

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest probability, of equal ones the first."""
        return self.classes_.take(self.answers.argmax(axis=1), axis=0)


class SaidScores(SaidOfClasses):
    """Answers with decision values."""

    def decision_function(self, X: Any) -> np.ndarray:
        """The answers."""
        return self.answers


class SaidDecisions(SaidScores):
    """Answers with decision values, positive for the second of two classes."""

    def predict(self, X: Any) -> np.ndarray:
        """The second class where they are for it."""
        return self.classes_[codes_of_scores(self.answers[:, None])]


class SaidLogOdds(SaidDecisions):
    """Answers with the log-odds of the second of two classes."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of both classes, from the log-odds of the second."""
        return np.column_stack([expit(-self.answers), expit(self.answers)])


def standing_for(model: Any, scores: np.ndarray) -> FixedAnswers:
    """Says these scores as the model would: numbers, decision values or log-odds."""
    if not hasattr(model, "classes_"):
        return FixedAnswers(scores)
    kind = SaidLogOdds if hasattr(model, "predict_proba") else SaidDecisions
    return kind(scores, np.asarray(model.classes_))
