"""What a method says on average over many draws of a problem, against what it should say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from truerisk.core.contracts import Method
from truerisk.core.family import Family
from truerisk.core.losses import Squared, ZeroOne
from truerisk.core.table.data import Data
from truerisk.testing.cases import Case, evaluate
from truerisk.testing.checks import require
from truerisk.testing.problems import KnownProblem

__all__ = ["Replicates", "check_bias", "check_mean", "replicate"]

Direction = Literal["optimistic", "pessimistic", "none"]


@dataclass(frozen=True, eq=False)
class Replicates:
    """The estimate on every draw, and the true risk of the model fitted on all its rows."""

    estimates: np.ndarray
    true_risks: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.estimates.mean())

    @property
    def std_error(self) -> float:
        return _std_error(self.estimates)

    @property
    def bias(self) -> float:
        """Mean of estimate − true risk: negative where the method flatters."""
        return float((self.estimates - self.true_risks).mean())

    @property
    def bias_std_error(self) -> float:
        return _std_error(self.estimates - self.true_risks)


def replicate(
    method: Method, problem: KnownProblem, model: Any, *, n: int, replicates: int, seed: int = 0
) -> Replicates:
    """Draw `n` rows that often, estimate the risk of the model and compute its true risk."""
    from sklearn.base import clone

    loss = ZeroOne() if problem.task == "classification" else Squared()
    estimates, truths = [], []
    for draw in range(replicates):
        X, y = problem.draw(n, seed * replicates + draw)
        case = Case(Family.of(model), Data.check(X, y, task=problem.task), loss)
        evaluation = evaluate(method, case, seed=seed * replicates + draw)
        estimates.append((evaluation.procedure or evaluation.tested[0]).value)
        truths.append(problem.true_risk(clone(model).fit(X, y)).value)
    return Replicates(np.array(estimates), np.array(truths))


def check_mean(found: Replicates, target: float, *, within: float = 3.5) -> None:
    """The mean estimate is the target, up to `within` of its standard errors."""
    gap = abs(found.mean - target)
    require(
        gap <= within * found.std_error + 1e-12,
        f"the mean estimate, {found.mean:.4f} ± {found.std_error:.4f}, should be {target:.4f}.",
    )


def check_bias(found: Replicates, direction: Direction, *, beyond: float = 3.5) -> None:
    """The bias has the sign it is said to have, by more than `beyond` standard errors.

    "none" means that it is within as many.
    """
    z = found.bias / max(found.bias_std_error, 1e-300)
    right = {"optimistic": z < -beyond, "pessimistic": z > beyond, "none": abs(z) <= beyond}
    require(
        right[direction],
        f"the bias is {found.bias:.4f} ± {found.bias_std_error:.4f}, which is not {direction}.",
    )


def _std_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
