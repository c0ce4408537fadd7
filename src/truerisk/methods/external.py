"""Test a fitted model on rows that were not used to fit it; no model is fitted here."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms, evaluate_every_loss
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.methods.parts.procedure import Procedure, add_winners, make_winners
from truerisk.methods.words import method_from_name
from truerisk.plan.answers import Answers, Ask
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Evaluation, Target


@frozen
class External(Procedure):
    """Method for the risk of a finished model on external rows: every row is a test row.

    It is a hold-out that contains the whole table. Its only fit has no training rows, and a frozen
    estimator (`sklearn.frozen`) learns nothing in it. The method serves such families only, and
    therefore has no name in the registry.
    """

    compare: bool = False
    shares_folds: ClassVar[bool] = True
    splits: ClassVar[bool] = False  # No row is held out, because all rows are test rows.

    name = "external"
    target: ClassVar[Target] = "Err_XY"
    bias = "none, if the model was made without these rows"

    @property
    @override
    def outer_method(self) -> Method:
        return method_from_name("holdout", {})

    @property
    @override
    def inner_method(self) -> Method:
        return method_from_name("holdout", {})

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        empty_block = builder.block(np.empty(0, dtype=np.int32))
        builder.ask(train=(empty_block, ()), test=(ALL, ()), part="outer")
        return builder.build()

    @override
    def evaluate(self, ask: Ask, data: Data, loss: Loss, plan: Plan, terms: Terms) -> Evaluation:
        predictions = ask(plan)
        for predictions_of_request in (predictions, *predictions.also):
            _refuse_non_finite(predictions_of_request)

        def rate(loss: Loss, terms: Terms, predictions: Answers) -> Evaluation:
            risk = self.risk(predictions, None, data, loss, terms)
            evaluation = Evaluation(plan, (risk,), 0, answers=predictions)
            return add_winners(evaluation, risk, make_winners(np.zeros(1, dtype=np.int64), ()))

        return evaluate_every_loss(rate, loss, terms, predictions)


def _refuse_non_finite(predictions: Answers) -> None:
    row_values = predictions.values[0].reshape(predictions.values.shape[1], -1)
    bad_rows = np.flatnonzero(~np.isfinite(row_values).all(axis=1))
    if len(bad_rows) and predictions.response != "scored":
        raise Refusal(
            f"the finished model answers NaN or infinity about {len(bad_rows)} rows, the first is "
            f"row {bad_rows[0]}: leave them out, or give what it lacks."
        )
