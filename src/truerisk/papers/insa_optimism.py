"""The lecture's figure of training and test error as the complexity grows."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import Squared
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.set_risks import split_risks
from truerisk.papers.evaluating import answered
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.lecture import polynomials
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["InsaOptimism", "insa_optimism"]

N, N_TEST = 30, 2000
MOST = 12
NOISE = 0.5
DEGREES = np.arange(1, MOST + 1)
BEST = 4  # the degree with the least mean test error
ROUNDING = 1e-9
SHOWN = (1, 3, 5, 8, 12)
LINES = 30  # training sets drawn one by one


class InsaOptimism(Experiment):
    """30 rows to learn, polynomials of degree 1 to 12, 2000 rows to test."""

    word: ClassVar[str] = "insa-optimism"
    title: ClassVar[str] = "INSA lecture: training and test error as the complexity grows"
    document: ClassVar[str] = (
        f"the figure is of Hastie, Tibshirani and Friedman; here {N} rows of sin(4x + 1) with noise"
    )
    replicates: ClassVar[int] = 500
    quick: ClassVar[int] = 50
    unit: ClassVar[str] = "training sets"

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("insa optimism", seed, number)
        cells = (np.arange(N) + rng.uniform(size=N)) / N  # one row in each: no wide gaps
        x = np.append(2 * cells - 1, rng.uniform(-1, 1, N_TEST))
        truth = np.sin(4 * x + 1)
        data = Data(x[:, None], truth + NOISE * rng.standard_normal(len(x)), "regression")
        family, plan = _asked()
        answers = answered(family, data, Squared(), plan)
        training, test = split_risks(answers, data, Squared()).T
        fitted = answers.of(0)
        fresh = ((fitted - truth[:N]) ** 2).mean(axis=1) + NOISE**2
        return {"training": training, "test": test, "fresh labels": fresh}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_means(draws), _optimism(draws)),
            claims=_claims(draws),
            notes=("the document draws these curves and prints no numbers.",),
            figures=(_figure(draws),),
        )


@lru_cache(maxsize=1)
def _asked() -> tuple[Family, Plan]:
    """Every fit on the first rows, asked about them and about the test rows."""
    builder = PlanBuilder(N + N_TEST)
    train, test = builder.block(np.arange(N)), builder.block(np.arange(N, N + N_TEST))
    builder.ask((train, ()), (train, ()), part="apparent")
    builder.ask((train, ()), (test, ()))
    return polynomials(MOST), builder.build()


def _means(draws: Draws) -> PaperTable:
    rows = [
        mean_row(f"degree {degree}: {name}", draws[name][:, degree - 1])
        for degree in SHOWN
        for name in ("training", "test")
    ]
    return PaperTable(f"mean squared error, noise {NOISE**2:.2f}", "document", tuple(rows))


def _optimism(draws: Draws) -> PaperTable:
    """At the same x's the mean optimism of least squares is 2 p sigma2 / n, whatever the truth."""
    gap = draws["fresh labels"] - draws["training"]
    rows = [
        mean_row(f"degree {degree}", gap[:, degree - 1], 2 * (degree + 1) * NOISE**2 / N)
        for degree in SHOWN
    ]
    return PaperTable("optimism at the same x's, fresh labels", "2 p σ²/n", tuple(rows))


def _claims(draws: Draws) -> tuple[Statement, ...]:
    training, test = draws["training"], draws["test"]
    gaps = test - training
    return (
        Statement(
            "the training error decreases as the complexity grows",
            (
                Quantity.exact(
                    "largest rise from one degree to the next, over all training sets",
                    np.diff(training, axis=1).max(),
                    Claim.below(ROUNDING),
                ),
            ),
        ),
        Statement(
            "the test error first decreases",
            (Quantity.mean(f"degree 1 − degree {BEST}", test[:, 0] - test[:, BEST - 1]),),
            f"its mean is least at degree {int(test.mean(axis=0).argmin()) + 1}",
        ),
        Statement(
            "and then increases: overfitting",
            (Quantity.mean(f"degree {MOST} − degree {BEST}", test[:, -1] - test[:, BEST - 1]),),
        ),
        Statement(
            "the training error underestimates the generalisation error, on average",
            tuple(
                Quantity.mean(f"test − training error, degree {degree}", gaps[:, degree - 1])
                for degree in DEGREES
            ),
        ),
    )


def _figure(draws: Draws) -> Panels:
    single = [
        Series("", DEGREES, draws[name][t], f"{colour}-", 0.3)
        for t in range(min(LINES, len(draws["test"])))
        for name, colour in (("training", "C0"), ("test", "C3"))
    ]
    mean = [
        mean_line(f"{name} error, mean", DEGREES, draws[name], f"{colour}-", 2.4)
        for name, colour in (("training", "C0"), ("test", "C3"))
    ]
    panel = Panel("", "degree of the polynomial", "squared error", (*single, *mean))
    return Panels("insa-optimism", (panel,), columns=1)


insa_optimism = InsaOptimism()
