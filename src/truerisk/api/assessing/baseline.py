"""The risk of the best constant answer: what a learner must beat to have learned anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.api.road.problem import Problem
from truerisk.core.answers import Response
from truerisk.core.errors import Refusal
from truerisk.core.losses import AUC, RowLoss
from truerisk.core.table.data import Data
from truerisk.core.ties import tied

__all__ = ["Constant", "constant_risk"]

RULES = {
    "label": "always answering the commonest class",
    "cost": "always answering the cheapest class",
    "value": "always answering the mean",
    "median": "always answering the median",
    "probability": "always answering the shares of the classes",
    "score": "ranking at random",
}


@dataclass(frozen=True, eq=False)
class Constant:
    """The smallest risk of an answer that ignores the features, and the rule in words.

    The answer is the best one for these very rows, so the risk is, if anything, too small.
    `losses[i]` is the loss of row i; None where the loss has no per-row losses.
    """

    risk: float
    rule: str
    losses: np.ndarray | None


def constant_risk(problem: Problem) -> Constant | None:
    """The best constant on all rows; None where the loss (a scorer) has no use for one."""
    data, loss = problem.data, problem.loss
    if type(loss) is AUC:
        return Constant(0.5, RULES["score"], None)
    if not isinstance(loss, RowLoss):
        return None
    answers, rules = _constants(data, loss.response)
    if not loss.binary and loss.response == "label":
        rules = [RULES["cost"]] * len(rules)
    try:
        losses = loss.of_rows(data, np.arange(data.n_rows), answers)
    except Refusal:
        return None
    risks = np.average(losses, axis=1, weights=data.sample_weight)
    if not np.isfinite(risks).any():
        return None
    best = int(tied(risks, np.nanmin(risks)).argmax())  # of equals the first, but for rounding
    return Constant(float(risks[best]), rules[best], losses[best])


def _constants(data: Data, response: Response) -> tuple[np.ndarray, list[str]]:
    """`(n_constants, n_rows[, ...])` answers of the constants that may be best, and their rules."""
    n = data.n_rows
    if response == "label":
        classes = np.arange(data.n_classes)
        return np.repeat(classes[:, None], n, axis=1), [RULES["label"]] * len(classes)
    if response == "probability":
        shares = np.bincount(data.codes, data.sample_weight)  # type: ignore[arg-type]
        return np.tile(shares / shares.sum(), (1, n, 1)), [RULES["probability"]]
    mean = np.average(data.y, axis=0, weights=data.sample_weight)
    both = np.stack([mean, np.median(data.y, axis=0)])
    rules = [RULES["value"], RULES["median"]]
    return np.repeat(both[:, None], n, axis=1), rules
