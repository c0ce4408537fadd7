"""Wallman's posteriors (§3.5, §3.7): the four measures of a test, and whether the bound holds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.report import Findings, PaperTable, Row, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["WallmanPosterior", "wallman_posterior"]

LEVEL = 0.95
SIZES = (60, 150)  # rows that test a1 and a2 of Figure 5
PER_REPLICATE = 20
# errors, n: upper bound, P(error > ½), E[error²], to ten digits
EXACT = {
    (0, 60): (0.0479239521, 4.3368086899e-19, 0.0005120328),
    (6, 60): (0.1849297991, 2.6903070049e-11, 0.0143369176),
    (15, 150): (0.1488372261, 7.0853777103e-26, 0.0116959064),
    (30, 60): (0.6037259527, 0.5, 0.2539682540),
}
HALF_A_UNIT = 0.5e-10


class WallmanPosterior(Experiment):
    """A true error from the flat prior, a test of a rule that has it, its posterior.

    With the prior that nature uses, a bound at 95 % holds in 95 % of the tests, exactly.
    """

    word: ClassVar[str] = "wallman-posterior"
    title: ClassVar[str] = "Wallman (2005), §3.5: the posterior of a true error after a test"
    document: ClassVar[str] = "Beta(errors + 1, n − errors + 1), n the number of test rows"
    replicates: ClassVar[int] = 1000
    quick: ClassVar[int] = 50
    unit: ClassVar[str] = f"times {PER_REPLICATE} tests"

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("wallman posterior", seed, number)
        found: dict[str, np.ndarray] = {}
        for n in SIZES:
            truth = rng.random(PER_REPLICATE)
            posteriors = [ErrorPosterior(int(e), n) for e in rng.binomial(n, truth)]
            below = [t <= p.upper(LEVEL) for t, p in zip(truth, posteriors, strict=True)]
            inside = [t in p.interval(LEVEL) for t, p in zip(truth, posteriors, strict=True)]
            found[f"below the bound, {n} rows"] = np.array(np.mean(below))
            found[f"inside the interval, {n} rows"] = np.array(np.mean(inside))
        return found

    def findings(self, draws: Draws) -> Findings:
        coverage = tuple(mean_row(name, values, LEVEL) for name, values in draws.items())
        return Findings(
            tables=(
                _measures(),
                PaperTable("how often a 95 % statement is true", "theory", coverage),
            ),
            claims=_claims(),
            notes=NOTES,
            figures=(_figure(),),
        )


def _measures() -> PaperTable:
    """The measures beside their exact values; far tails by their logarithm."""
    rows = []
    for (errors, n), (upper, above, square) in EXACT.items():
        found = ErrorPosterior(errors, n).measures(LEVEL)
        name = f"{errors} errors in {n}"
        tail = HALF_A_UNIT / np.log(10)  # relative
        rows += [
            Row(f"{name}: (ub)", found.ub, 0.0, upper, HALF_A_UNIT),
            Row(f"{name}: log10 (50 %)", _log10(found.above_half), 0.0, _log10(above), tail),
            Row(f"{name}: (q2)", found.q2, 0.0, square, HALF_A_UNIT),
        ]
    return PaperTable("measures of a tested rule", "exact", tuple(rows), digits=6)


def _log10(value: float) -> float:
    return float(np.log10(value))


def _claims() -> tuple[Statement, ...]:
    few, many = ErrorPosterior(6, 60).measures(), ErrorPosterior(15, 150).measures()
    return (
        Statement(
            "n is the size of the training set",
            (
                Quantity.exact(
                    "how often a 95 % bound of 60 test rows is true with 150 training rows as n",
                    _held_with(150, 60),
                    Claim.near(LEVEL, 0.005),
                ),
            ),
            f"with the test rows as n it is {_held_with(60, 60):.4f}: errors are counted in them",
        ),
        Statement(
            "(q2) weighs errors by an exponentially increasing cost",
            (
                Quantity.exact(
                    "third difference of 62·63 E[e²] along the errors in 60 rows",
                    _third_difference(60),
                    Claim.above(1e-6),
                ),
            ),
            "the cost is e², whose third difference is 0; that of a growing exponential is above",
        ),
        Statement(
            "(50 %) rewards many test rows more than few errors",
            (
                Quantity.exact(
                    "log10 of (50 %) for 15 errors in 150 rows over that for 6 in 60",
                    _log10(many.above_half / few.above_half),
                    Claim.below(0.0),
                    digits=1,
                ),
            ),
            f"both err in 10 %: {few.above_half:.2e} and {many.above_half:.2e}",
        ),
    )


def _held_with(n: int, n_tested: int) -> float:
    """The share of truths below a 95 % bound from the errors in `n_tested` rows, said of n rows.

    Truths are drawn from the flat prior, so every number of errors is as likely as any other.
    """
    held = [
        ErrorPosterior(errors, n_tested).cdf(ErrorPosterior(errors, n).upper(LEVEL))
        for errors in range(n_tested + 1)
    ]
    return float(np.mean(held))


def _third_difference(n: int) -> float:
    cost = [(n + 2) * (n + 3) * ErrorPosterior(errors, n).second_moment() for errors in range(4)]
    return float(np.diff(cost, 3)[0])


def _figure() -> Panels:
    e = np.linspace(0.0, 0.75, 751)
    lines = tuple(
        Series(f"{errors} of {n}", e, ErrorPosterior(errors, n).pdf(e)) for errors, n in EXACT
    )
    return Panels("wallman-posterior", (Panel("", "true error", "density", lines),), columns=1)


NOTES = (
    "the document prints no posterior; the exact values are sums of binomials to ten digits.",
    "(50 %) is computed in its own tail: 1 − P(error ≤ ½) would be 0 below 1e-16.",
)

wallman_posterior = WallmanPosterior()
