"""Scores of one class: the positive one, by default the greater of two labels.

scikit-learn's own scorers take the label 1 for it: they refuse text, and of the classes 1 and 2
they rate the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.present import clean
from truerisk.core.table.data import Data

__all__ = ["WANT_A_CLASS", "PositiveScorer", "class_named"]

WANT_A_CLASS = frozenset(
    {
        "average_precision",
        "d2_brier_score",
        "f1",
        "jaccard",
        "neg_brier_score",
        "neg_negative_likelihood_ratio",
        "positive_likelihood_ratio",
        "precision",
        "recall",
        "roc_auc",
    }
)
"""The words of scikit-learn that rate one of two classes."""


def class_named(positive: Any, data: Data) -> int:
    """The code of the class of y that `positive=` names; another label is refused."""
    if data.task != "classification":
        raise Refusal(
            f"positive={shown(positive)} names a class, and y holds numbers: leave it out."
        )
    labels = [data.label(code) for code in range(data.n_classes)]
    try:
        return labels.index(positive)
    except Exception:  # noqa: BLE001  no label, or an object that does not say whether it is one
        known = clean(", ".join(map(str, labels)), 160)
        raise UnknownName(
            f"positive={shown(positive)} is no class of y, which has {known}."
        ) from None


@dataclass(frozen=True)
class PositiveScorer:
    """scikit-learn's scorer of a word, where 1 stands for the positive class and 0 for the other.

    It hands the scorer labels and a model that speak of 1 and 0, so every score of one class, of
    labels or of probabilities, is that which its metric gives with ``pos_label=positive``.
    """

    word: str
    positive: Any

    def __call__(self, estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        from sklearn.metrics import get_scorer

        ones = _ones(y, self.positive)
        return get_scorer(self.word)(_Recoded(estimator, self.positive), X, ones, **options)

    def __str__(self) -> str:
        return self.word

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments that make an equal scorer: a store builds its key from them."""
        return {"word": self.word, "positive": self.positive}


class _Recoded:
    """A fitted classifier whose labels are 1 for the positive class and 0 for the other."""

    def __init__(self, model: Any, positive: Any) -> None:
        self._model, self._positive = model, positive

    @property
    def classes_(self) -> np.ndarray:
        return np.sort(_ones(self._model.classes_, self._positive))

    def predict(self, X: Any) -> np.ndarray:
        return _ones(self._model.predict(X), self._positive)

    def __getattr__(self, name: str) -> Any:
        told = getattr(self._model, name)
        if name not in _TURNED or _ones(self._model.classes_, self._positive).tolist() != [1, 0]:
            return told

        @wraps(told)  # scikit-learn reads its name
        def turned(X: Any) -> Any:
            return _TURNED[name](told(X))

        return turned


_TURNED: dict[str, Callable[[Any], Any]] = {
    "predict_proba": np.fliplr,
    "predict_log_proba": np.fliplr,
    "decision_function": np.negative,
}
"""What a model says of two classes, as it is told where these are in the other order."""


def _ones(labels: Any, positive: Any) -> np.ndarray:
    return (np.asarray(labels) == positive).astype(np.int64)
