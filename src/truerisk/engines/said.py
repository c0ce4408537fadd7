"""Stand-ins for models whose answers are known: they say them when they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Said", "SaidScores", "SaidShares"]


class Said:
    """Answers with labels or values."""

    def __init__(self, answers: np.ndarray, classes: np.ndarray | None = None) -> None:
        self.answers, self.classes_ = answers, classes

    def predict(self, X: Any) -> np.ndarray:
        """The answers."""
        return self.answers


class SaidShares(Said):
    """Answers with probabilities of the classes; its label is that of the largest."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """The answers."""
        return self.answers

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest probability, of equal ones the first."""
        assert self.classes_ is not None
        labels: np.ndarray = self.classes_.take(self.answers.argmax(axis=1), axis=0)
        return labels


class SaidScores(Said):
    """Answers with decision values."""

    def decision_function(self, X: Any) -> np.ndarray:
        """The answers."""
        return self.answers
