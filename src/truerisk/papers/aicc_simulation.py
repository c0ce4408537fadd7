"""AICc against what it estimates: minus twice the log-likelihood of fresh labels."""

from __future__ import annotations

import numpy as np

from truerisk.core.answers import Answers
from truerisk.core.contracts import Streams, Terms
from truerisk.core.evaluation import values_of
from truerisk.core.table.data import Data
from truerisk.methods.criteria import Likelihood
from truerisk.methods.information_criteria import AIC, AICc
from truerisk.papers.experiment import Draws, experiment, stream
from truerisk.papers.figures import PaperTable, Parts
from truerisk.papers.statements import Claim, Quantity, Statement
from truerisk.selection.rules import Minimum

N, P = 12, 2  # rows; coefficients, the intercept among them
N_SETS = 1000  # data sets in a replicate
X = np.column_stack([np.ones(N), np.linspace(-1, 1, N)])
HAT = X @ np.linalg.solve(X.T @ X, X.T)
PRICE = 2 * (P + 1)
MANY = 10**6  # rows: what counts as asymptotic
# n log sigma2: RSS/sigma2 is chi-squared with n - p = 10 degrees of freedom, whose mean log is
# digamma(5) + log 2; the mean of its inverse is 1/(n - p - 2)
MEAN_LOG = 1.5061176684318004 + np.log(2) - np.log(N)
CONSTANT = N * (np.log(2 * np.pi) + MEAN_LOG)
PRINTED = (N + P) / (N - P - 2)  # the price that the document prints; the right one is N times it
EXACT = {
    "target": CONSTANT + N * (N + P) / (N - P - 2),
    "AICc": CONSTANT + N * (N + P) / (N - P - 2),
    "AIC": CONSTANT + N + PRICE,
    "as printed": CONSTANT + N + PRINTED,
}


def _replicate(seed: int, number: int) -> Draws:
    """A line through 12 Gaussian rows; every replicate is a thousand data sets."""
    noise = stream("aicc", seed, number).standard_normal((N_SETS, N))
    residuals = noise - noise @ HAT
    variance = (residuals**2).mean(axis=1)
    away = ((noise @ HAT) ** 2).sum(axis=1)  # of the fit from the truth
    target = N * np.log(2 * np.pi * variance) + (N + away) / variance
    # the library's criteria: each data set is a candidate that misses y = 0
    data, loss = Data.check(X, np.zeros(N), task="regression"), Likelihood("regression")
    answers = Answers(
        plan=AIC().plan(data, Streams(0)),
        response="value",
        values=-residuals,
        answered=np.ones((N_SETS, 1), dtype=bool),
        engine="none",
        fit_seconds=np.zeros((N_SETS, 1)),
        answer_seconds=np.zeros((N_SETS, 1)),
        freedom=np.full((N_SETS, 1), float(P)),
    )
    terms = Terms(0.95, Minimum(), N_SETS, with_errors=False)
    aicc, aic = (values_of(of.reduce(answers, data, loss, terms)) for of in (AICc(), AIC()))
    likelihood = loss.of_set(data, np.arange(N), answers.values, None)
    every = {"target": target, "AICc": aicc, "AIC": aic, "as printed": likelihood + PRINTED}
    return {name: of.mean() for name, of in every.items()}


@experiment(_replicate, replicates=400, quick=20, unit=f"times {N_SETS} data sets")
def aicc_simulation(draws: Draws) -> Parts:
    """INSA lecture: AICc by its right and by its printed price.

    Gaussian linear model, n = {N}, p = {P}; the target is -2 log L of fresh labels at the same x's

    exact: the residual sum of squares is chi-squared with n − p degrees of freedom and independent
    of the fit, so all four means have a closed form.

    k = p + 1 = 3 counts the variance; n log 2π is included, as in R.
    """
    means = {name: draws[name] for name in EXACT}
    yield PaperTable.of("mean over data sets", "exact", means, EXACT, digits=3)
    gaps = {name: draws[name] - draws["target"] for name in ("AICc", "AIC", "as printed")}
    away = {f"{name} − target": of for name, of in gaps.items()}
    known = {f"{name} − target": EXACT[name] - EXACT["target"] for name in gaps}
    yield PaperTable.of("mean difference from the target", "exact", away, known, digits=3)

    def farther(name: str) -> Quantity:
        both = np.column_stack([gaps[name], gaps["AIC"]])
        return Quantity.nearer(f"|bias| of {name} − of AIC", both, digits=3)

    biases = (Quantity.mean("", of) for of in gaps.values())
    aicc, aic, wrong = (f"{one.value:+.3f} ± {one.std_error:.3f}" for one in biases)
    yield Statement.of(
        "AICc is recommended for small samples (by the right price n(n + p)/(n − p − 2))",
        farther("AICc"),
        remark=f"AICc − target = {aicc}, AIC − target = {aic}",
    )
    yield Statement.of(
        "the printed price (n + p)/(n − p − 2) refines AIC",
        farther("as printed"),
        remark=f"as printed − target = {wrong}: it lost the factor n",
    )
    gap, same = MANY * (MANY + P) / (MANY - P - 2) - MANY - PRICE, Claim.near(0.0, 0.001)
    name = f"AICc − AIC for n = {MANY} and as many coefficients"
    yield Statement.of(
        "AICc is asymptotically equivalent to AIC (by the right price)",
        Quantity.exact(name, gap, same, digits=6),
        remark="the printed price tends to 1 whatever p is, that of AIC is 2p",
    )
