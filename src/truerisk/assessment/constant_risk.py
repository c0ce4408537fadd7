"""The risk of the best constant prediction, which a learner has to beat."""

from __future__ import annotations

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.data.data import Data
from truerisk.estimation.problem import EstimationProblem
from truerisk.losses.loss import AUC_IMPORT_PATH, RowLoss
from truerisk.plan.answers import Response
from truerisk.results.interval import are_tied

RULE_TEXTS = {
    "label": "always predicting the most frequent class",
    "cost": "always predicting the cheapest class",
    "value": "always predicting the mean",
    "median": "always predicting the median",
    "probability": "always predicting the class frequencies",
    "curve": "always predicting the Kaplan–Meier curve",
    "score": "ranking at random",
    "set": "always predicting the same class",
}


@frozen(eq=False)
class BestConstant:
    """Constant prediction with the smallest risk: its risk, and a description of the prediction.

    The prediction is the best one for these very rows, so that the risk is, if anything, too small.
    `losses[i]` is the loss of row i; it is None if the loss has no per-row losses.
    """

    risk: float
    rule: str
    losses: np.ndarray | None


def find_best_constant(problem: EstimationProblem) -> BestConstant | None:
    """Find the constant prediction with the smallest risk.

    The result is None if the loss cannot be computed for constant predictions.
    """
    data, loss = problem.data, problem.loss
    if is_exactly(loss, AUC_IMPORT_PATH):
        return BestConstant(0.5, RULE_TEXTS["score"], None)
    if loss.response not in ("label", "probability", "value"):
        return None
    constant_predictions, rule_texts = _constant_predictions(data, loss.response)
    if not isinstance(loss, RowLoss):
        if loss.response != "label":
            return None
        risks = loss.of_set(data, np.arange(data.n_rows), constant_predictions, data.sample_weight)
        return BestConstant(float(risks.min()), RULE_TEXTS["set"], None)
    if not loss.binary and loss.response == "label":
        rule_texts = [RULE_TEXTS["cost"]] * len(rule_texts)
    try:
        losses = loss.of_rows(data, np.arange(data.n_rows), constant_predictions)
    except Refusal:
        return None
    risks = np.average(losses, axis=1, weights=data.sample_weight)
    if not np.isfinite(risks).any():
        return None
    # Risks that differ only by rounding are equal, and the first of them is the best.
    best_index = int(are_tied(risks, np.nanmin(risks)).argmax())
    return BestConstant(float(risks[best_index]), rule_texts[best_index], losses[best_index])


def _constant_predictions(data: Data, response: Response) -> tuple[np.ndarray, list[str]]:
    """Return the constant predictions among which the best is sought, and their descriptions."""
    n_rows = data.n_rows
    if response == "label":
        classes = np.arange(data.n_classes)
        return np.repeat(classes[:, None], n_rows, axis=1), [RULE_TEXTS["label"]] * len(classes)
    if response == "probability" and data.task == "survival":
        data_at_horizons = [data.at_horizon(horizon) for horizon in data.horizons]
        event_shares = [
            np.average(horizon_data.class_codes, weights=horizon_data.sample_weight)
            for horizon_data in data_at_horizons
        ]
        # These are the probabilities of an event in each time interval, the latest interval first.
        interval_probabilities = np.diff([0.0, *event_shares, 1.0])[::-1]
        return np.tile(interval_probabilities, (1, n_rows, 1)), [RULE_TEXTS["curve"]]
    if response == "probability":
        class_shares = np.bincount(data.codes, data.sample_weight)  # type: ignore[arg-type]
        return np.tile(class_shares / class_shares.sum(), (1, n_rows, 1)), [
            RULE_TEXTS["probability"]
        ]
    mean = np.average(data.y, axis=0, weights=data.sample_weight)
    mean_and_median = np.stack([mean, np.median(data.y, axis=0)])
    rule_texts = [RULE_TEXTS["value"], RULE_TEXTS["median"]]
    return np.repeat(mean_and_median[:, None], n_rows, axis=1), rule_texts
