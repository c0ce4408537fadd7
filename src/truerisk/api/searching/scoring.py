"""A loss on new data, as a score: what `HonestSearchCV.score` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.engines.running.answering import answers_of

__all__ = ["LossScorer", "score_of"]


@dataclass(frozen=True)
class LossScorer:
    """A scorer of (model, X, y), as scikit-learn's: the loss as a score."""

    loss: Loss
    classes: Any

    def __call__(self, model: Any, X: Any, y: Any = None) -> float:
        return score_of(model, X, y, self.loss, self.classes)


def score_of(model: Any, X: Any, y: Any, loss: Loss, classes: Any) -> float:
    """The loss of a fitted model on these rows, as a score (higher is better)."""
    if loss.response == "scored":
        return float(loss.scorer(model, X, *([] if y is None else [y])))  # type: ignore[attr-defined]
    y = np.asarray(y)
    codes = None if classes is None else np.searchsorted(classes, y)
    task = "regression" if classes is None else "classification"
    data = Data(X, y, task, classes, codes)  # type: ignore[arg-type]
    rows = np.arange(len(y))
    request = Request(loss.response, getattr(loss, "scorer", None))
    answers = answers_of(model, data, request)
    return float(loss.score(loss.of_set(data, rows, np.asarray(answers)[None], None)[0]))
