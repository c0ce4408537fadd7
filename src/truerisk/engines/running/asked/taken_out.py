"""First-order approximation of leave-one-out predictions, computed from one fitted model."""

from __future__ import annotations

from typing import Any

from truerisk.core.overrides import override
from truerisk.engines.running.answering import RowsToPredict
from truerisk.engines.running.asked.asker import ExtraOutputs
from truerisk.engines.running.members import make_fixed_score_model
from truerisk.models.stated.without_a_row import predict_leave_one_out


class ApproximateLeftOut(ExtraOutputs):
    """Hook that predicts each training row approximately as a model fitted without it would.

    The approximation is of first order.
    """

    @override
    def predictor_for(self, model: Any, fit_input: Any, test_rows: RowsToPredict) -> Any:
        return make_fixed_score_model(
            model,
            predict_leave_one_out(model, fit_input.make_features(), fit_input.y, fit_input.weights),
        )
