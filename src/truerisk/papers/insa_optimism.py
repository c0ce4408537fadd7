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
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.lecture import polynomials
from truerisk.papers.report import Findings, PaperTable, Statement, mean_and_error, mean_row, signed

__all__ = ["InsaOptimism", "insa_optimism"]

N, N_TEST = 30, 2000
MOST = 12
NOISE = 0.5
DEGREES = np.arange(1, MOST + 1)
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
    training, test = draws["training"], draws["test"].mean(axis=0)
    least = int(test.argmin())
    falls = bool((np.diff(training, axis=1) < 1e-9).all())
    before, before_error = mean_and_error(draws["test"][:, 0] - draws["test"][:, least])
    after, after_error = mean_and_error(draws["test"][:, -1] - draws["test"][:, least])
    gap, gap_error = mean_and_error((draws["test"] - training).min(axis=1))
    everywhere = (draws["test"] - training).mean(axis=0)
    return (
        Statement(
            "the training error decreases as the complexity grows",
            "holds" if falls else "does not hold",
            "in every training set, with every degree",
        ),
        Statement.judge(
            "the test error first decreases",
            before,
            before_error,
            f"it is least at degree {least + 1}; at degree 1 it is {signed(before, before_error)} "
            "more",
        ),
        Statement.judge(
            "and then increases: overfitting",
            after,
            after_error,
            f"at degree {MOST} it is {signed(after, after_error)} above its least",
        ),
        Statement(
            "the training error underestimates the generalisation error",
            "holds" if (everywhere > 0).all() else "does not hold",
            f"on average at every degree, by {everywhere.min():.4f} or more; in a single training "
            f"set the least gap is {signed(gap, gap_error)} on average",
        ),
    )


def _figure(draws: Draws) -> Panels:
    single = [
        Series("", DEGREES, draws[name][t], f"{colour}-", 0.3)
        for t in range(min(LINES, len(draws["test"])))
        for name, colour in (("training", "C0"), ("test", "C3"))
    ]
    mean = [
        Series(f"{name} error, mean", DEGREES, draws[name].mean(axis=0), f"{colour}-", 2.4)
        for name, colour in (("training", "C0"), ("test", "C3"))
    ]
    panel = Panel("", "degree of the polynomial", "squared error", (*single, *mean))
    return Panels("insa-optimism", (panel,), columns=1)


insa_optimism = InsaOptimism()
