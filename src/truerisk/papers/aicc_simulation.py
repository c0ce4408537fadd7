"""AICc against what it estimates: minus twice the log-likelihood of fresh labels."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Streams
from truerisk.core.family import Family
from truerisk.core.table.data import Data
from truerisk.methods.criteria import Likelihood
from truerisk.methods.information_criteria import AIC, AICc
from truerisk.papers.evaluating import terms_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.report import (
    Findings,
    PaperTable,
    Row,
    mean_and_error,
    mean_row,
    signed,
)
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["AICcSimulation", "aicc_simulation"]

N, P = 12, 2  # rows; coefficients, the intercept among them
N_SETS = 1000  # data sets in a replicate
X = np.column_stack([np.ones(N), np.linspace(-1, 1, N)])
HAT = X @ np.linalg.solve(X.T @ X, X.T)
PRICE = 2 * (P + 1)
# n log sigma2: RSS/sigma2 is chi-squared with n - p = 10 degrees of freedom, whose mean log is
# digamma(5) + log 2; the mean of its inverse is 1/(n - p - 2)
MEAN_LOG = 1.5061176684318004 + np.log(2) - np.log(N)
CONSTANT = N * (np.log(2 * np.pi) + MEAN_LOG)
EXACT = {
    "target": CONSTANT + N * (N + P) / (N - P - 2),
    "AICc": CONSTANT + N * (N + P) / (N - P - 2),
    "AIC": CONSTANT + N + PRICE,
    "as printed": CONSTANT + N + (N + P) / (N - P - 2),
}


class AICcSimulation(Experiment):
    """A line through 12 Gaussian rows; every replicate is a thousand data sets."""

    word: ClassVar[str] = "aicc-simulation"
    title: ClassVar[str] = "INSA lecture: AICc by its right and by its printed price"
    document: ClassVar[str] = (
        f"Gaussian linear model, n = {N}, p = {P}; the target is -2 log L of fresh labels at the "
        "same x's"
    )
    replicates: ClassVar[int] = 400
    quick: ClassVar[int] = 20
    unit: ClassVar[str] = f"times {N_SETS} data sets"

    def replicate(self, seed: int, number: int) -> Draws:
        noise = stream("aicc", seed, number).standard_normal((N_SETS, N))
        residuals = noise - noise @ HAT
        likelihood, aic, aicc = _criteria(residuals)
        variance = (residuals**2).mean(axis=1)
        away = ((noise @ HAT) ** 2).sum(axis=1)  # of the fit from the truth
        target = N * np.log(2 * np.pi * variance) + (N + away) / variance
        return {
            "target": target.mean(),
            "AICc": aicc.mean(),
            "AIC": aic.mean(),
            "as printed": (likelihood + (N + P) / (N - P - 2)).mean(),
        }

    def findings(self, draws: Draws) -> Findings:
        means = tuple(mean_row(name, draws[name], exact) for name, exact in EXACT.items())
        return Findings(
            tables=(
                PaperTable("mean over data sets", "exact", means, digits=3),
                PaperTable("mean difference from the target", "exact", _gaps(draws), digits=3),
            ),
            claims=_claims(draws),
            notes=NOTES,
        )


def _criteria(residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Likelihood, AIC and AICc of the library; each data set is a candidate that misses y = 0."""
    data = Data.check(X, np.zeros(N), task="regression")
    plan = AIC().plan(data, Streams(0))
    n_sets = len(residuals)
    answers = Answers(
        plan=plan,
        response="value",
        values=-residuals,
        answered=np.ones((n_sets, 1), dtype=bool),
        engine="none",
        fit_seconds=np.zeros((n_sets, 1)),
        answer_seconds=np.zeros((n_sets, 1)),
        freedom=np.full((n_sets, 1), float(P)),
    )
    loss = Likelihood(data.task)
    setting = replace(terms_of(Family(None)), n_candidates=n_sets)
    found = [
        np.array([one.value for one in method.reduce(answers, data, loss, setting)])
        for method in (AIC(), AICc())
    ]
    return loss.of_set(data, np.arange(N), answers.values, None), found[0], found[1]


def _gaps(draws: Draws) -> tuple[Row, ...]:
    return tuple(
        mean_row(f"{name} − target", draws[name] - draws["target"], EXACT[name] - EXACT["target"])
        for name in ("AICc", "AIC", "as printed")
    )


def _claims(draws: Draws) -> tuple[Statement, ...]:
    target = draws["target"]

    def away(name: str, other: str) -> Quantity:
        both = np.column_stack([draws[one] - target for one in (name, other)])
        return Quantity.of(
            f"|bias| of {name} − of {other}", _farther, both, Claim.below(), digits=3
        )

    told = {name: mean_and_error(draws[name] - target) for name in ("AICc", "AIC", "as printed")}
    biases = {name: signed(*found, 3) for name, found in told.items()}
    return (
        Statement(
            "AICc is recommended for small samples (by the right price n(n + p)/(n − p − 2))",
            (away("AICc", "AIC"),),
            f"AICc − target = {biases['AICc']}, AIC − target = {biases['AIC']}",
        ),
        Statement(
            "the printed price (n + p)/(n − p − 2) refines AIC",
            (away("as printed", "AIC"),),
            f"as printed − target = {biases['as printed']}: it lost the factor n",
        ),
    )


def _farther(two: np.ndarray) -> float:
    first, second = np.abs(two.mean(axis=0))
    return float(first - second)


NOTES = (
    (
        "exact: the residual sum of squares is chi-squared with n − p degrees of freedom and "
        "independent of the fit, so all four means have a closed form."
    ),
    "k = p + 1 = 3 counts the variance; n log 2π is included, as in R.",
)

aicc_simulation = AICcSimulation()
