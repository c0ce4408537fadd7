"""The number of training rows of each class on which a prediction of a fitted model rests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import RowsToPredict, predict_rows
from truerisk.engines.running.asked.asker import ExtraOutputs
from truerisk.models.stated.question import count_supporting_rows
from truerisk.plan.extras.counted import find_counted_test_sets


class RowCounts(ExtraOutputs):
    """Hook that counts the training rows behind each prediction, as neighbours or leaves do.

    Only the test sets for which the plan requests counts are included.
    """

    @override
    def extra_outputs(
        self, model: Any, data: Data, fit_input: Any, tests: Sequence[RowsToPredict]
    ) -> dict[str, Any]:
        counted_test_sets = [
            test_rows
            for test_rows in tests
            if test_rows.test_set in find_counted_test_sets(self.plan)
        ]
        return {
            "counts": tuple(
                supporting_class_counts(model, data, test_rows, len(fit_input.y))
                for test_rows in counted_test_sets
            )
        }


def supporting_class_counts(
    model: Any, data: Data, test_rows: RowsToPredict, n_training_rows: int
) -> np.ndarray:
    """Return the number of training rows of each class behind each prediction.

    It is the number of training rows that the prediction rests on (in a leaf, or among the nearest
    neighbours) times the predicted class probabilities.
    """
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{Family(model).name} estimates no probability of a class, which this method needs: "
            "use a model with predict_proba, CalibratedClassifierCV around this one, or "
            "Swapping(n0=math.inf), which takes every probability as 1/2."
        )
    n_supporting_rows = count_supporting_rows(model, test_rows.X, n_training_rows)
    class_probabilities: np.ndarray = predict_rows(model, data, test_rows, Request("probability"))
    return n_supporting_rows[:, None] * class_probabilities
