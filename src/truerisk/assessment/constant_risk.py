"""The risk of the best constant prediction, which a learner has to beat."""

from __future__ import annotations

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.data.data import Data
from truerisk.estimation.problem import Problem
from truerisk.losses.loss import AUC, RowLoss
from truerisk.plan.answers import Response
from truerisk.results.interval import tied

RULES = {
    "label": "always answering the commonest class",
    "cost": "always answering the cheapest class",
    "value": "always answering the mean",
    "median": "always answering the median",
    "probability": "always answering the shares of the classes",
    "curve": "always answering the curve of Kaplan and Meier",
    "score": "ranking at random",
    "set": "always answering the same class",
}


@frozen(eq=False)
class Constant:
    """The smallest risk of a prediction that ignores the features, and its rule in words.

    The prediction is the best one for these very rows, so that the risk is, if anything, too small.
    `losses[i]` is the loss of row i; it is None if the loss has no per-row losses.
    """

    risk: float
    rule: str
    losses: np.ndarray | None


def constant_risk(problem: Problem) -> Constant | None:
    """Return the best constant on all rows; None if the loss (a scorer) cannot use one."""
    data, loss = problem.data, problem.loss
    if is_exactly(loss, AUC):
        return Constant(0.5, RULES["score"], None)
    if loss.response not in ("label", "probability", "value"):
        return None
    answers, rules = _constants(data, loss.response)
    if not isinstance(loss, RowLoss):
        if loss.response != "label":
            return None
        risks = loss.of_set(data, np.arange(data.n_rows), answers, data.sample_weight)
        return Constant(float(risks.min()), RULES["set"], None)
    if not loss.binary and loss.response == "label":
        rules = [RULES["cost"]] * len(rules)
    try:
        losses = loss.of_rows(data, np.arange(data.n_rows), answers)
    except Refusal:
        return None
    risks = np.average(losses, axis=1, weights=data.sample_weight)
    if not np.isfinite(risks).any():
        return None
    # Rounding must not decide between equal risks.
    best = int(tied(risks, np.nanmin(risks)).argmax())
    return Constant(float(risks[best]), rules[best], losses[best])


def _constants(data: Data, response: Response) -> tuple[np.ndarray, list[str]]:
    """Return `(n_constants, n_rows[, ...])` predictions that may be best, and their rules."""
    n = data.n_rows
    if response == "label":
        classes = np.arange(data.n_classes)
        return np.repeat(classes[:, None], n, axis=1), [RULES["label"]] * len(classes)
    if response == "probability" and data.task == "survival":
        two = [data.at_horizon(horizon) for horizon in data.horizons]
        came = [np.average(each.class_codes, weights=each.sample_weight) for each in two]
        # These are probabilities of time intervals, the latest first.
        chances = np.diff([0.0, *came, 1.0])[::-1]
        return np.tile(chances, (1, n, 1)), [RULES["curve"]]
    if response == "probability":
        shares = np.bincount(data.codes, data.sample_weight)  # type: ignore[arg-type]
        return np.tile(shares / shares.sum(), (1, n, 1)), [RULES["probability"]]
    mean = np.average(data.y, axis=0, weights=data.sample_weight)
    both = np.stack([mean, np.median(data.y, axis=0)])
    rules = [RULES["value"], RULES["median"]]
    return np.repeat(both[:, None], n, axis=1), rules
