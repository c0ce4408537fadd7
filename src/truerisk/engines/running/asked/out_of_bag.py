"""Out-of-bag predictions of training rows, by the ensemble members that did not draw them."""

from __future__ import annotations

from typing import Any

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.engines.running.answering import RowsToPredict
from truerisk.engines.running.asked.asker import ExtraOutputs
from truerisk.engines.running.members import out_of_bag_predictions, out_of_bag_refusal


class OutOfBagPredictions(ExtraOutputs):
    """Hook that makes a forest or bagging predict training rows out of bag.

    Each row is predicted by the members whose bootstrap sample does not contain it.
    """

    @override
    def refusal(self, family: Family, request: Request) -> str | None:
        return out_of_bag_refusal(family)

    @override
    def predictor_for(self, model: Any, fit_input: Any, test_rows: RowsToPredict) -> Any:
        return out_of_bag_predictions(model, test_rows)
