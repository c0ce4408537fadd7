"""The number of training rows of each class on which predictions of a fitted model rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import Enquiry, answer_of
from truerisk.engines.running.asked.asker import Asker
from truerisk.models.stated.question import rows_behind
from truerisk.plan.extras.counted import questions_counted


class CountsRows(Asker):
    """Count training rows for the questions for which a plan requests it."""

    @override
    def say(self, model: Any, data: Data, given: Any, tests: Sequence[Enquiry]) -> dict[str, Any]:
        counted = [test for test in tests if test.question in questions_counted(self.plan)]
        return {"counts": tuple(counts_of(model, data, test, len(given.y)) for test in counted)}


def counts_of(model: Any, data: Data, test: Enquiry, n_rows: int) -> np.ndarray:
    """Return the training rows of each class behind a prediction: n_x times the probabilities."""
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{Family(model).name} estimates no probability of a class, which this method needs: "
            "use a model with predict_proba, CalibratedClassifierCV around this one, or "
            "Swapping(n0=math.inf), which takes every probability as 1/2."
        )
    sizes = rows_behind(model, test.X, n_rows)
    shares: np.ndarray = answer_of(model, data, test, Request("probability"))
    return sizes[:, None] * shares
