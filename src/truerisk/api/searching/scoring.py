"""A loss on new data, as a score: what `HonestSearchCV.score` answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.engines.running.answering import answers_of

__all__ = ["score_of"]


def score_of(model: Any, X: Any, y: Any, loss: Loss, classes: Any) -> float:
    """The loss of a fitted model on these rows, as a score (higher is better)."""
    y = np.asarray(y)
    codes = None if classes is None else np.searchsorted(classes, y)
    task = "regression" if classes is None else "classification"
    data = Data(X, y, task, classes, codes)  # type: ignore[arg-type]
    rows = np.arange(len(y))
    request = Request(loss.response, getattr(loss, "scorer", None))
    answers = answers_of(model, data, request)
    return float(loss.score(loss.of_set(data, rows, np.asarray(answers)[None], None)[0]))
