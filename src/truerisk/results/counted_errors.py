"""Errors of single rows that can be counted as independent trials."""

from __future__ import annotations

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.results.results import RiskEstimate


def zero_one_losses(estimate: RiskEstimate) -> np.ndarray:
    """Return each row's zero-one loss; raise Refusal if the losses are not independent trials."""
    losses, loss_value, refusal_reason = estimate.losses, estimate.loss_value, None
    if losses is None:
        refusal_reason = (
            f"'{estimate.method}' with loss '{estimate.scoring}' has no losses of single rows."
        )
    elif estimate.target == "training":
        refusal_reason = "the rows were trained on: their errors say nothing about new rows."
    elif not np.isin(losses, (0, 1)).all():
        refusal_reason = (
            f"the losses of its rows are not all 0 or 1: use {mention('scoring', 'zero-one')} and "
            "a method that tests every row once, such as 'holdout' or '10-fold'."
        )
    elif estimate.n_groups is not None:
        refusal_reason = "rows of one group depend: their errors are not independent trials."
    elif estimate.placed:
        refusal_reason = (
            "neighbouring rows depend on each other: their errors are not independent trials."
        )
    elif estimate.ordered:
        refusal_reason = (
            "its rows were tested in the order of time: their errors are no independent trials."
        )
    elif loss_value is None or not np.isclose(losses.mean(), loss_value, atol=1e-9):
        refusal_reason = (
            "the risk is not the share of wrong rows (weights, or a mean over unequal folds)."
        )
    if losses is None or refusal_reason is not None:
        raise Refusal(f"this estimate has no posterior of an error: {refusal_reason}")
    return losses
