"""The lecture's polynomial regression: R² grows with the degree, Cp stops at three."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.contracts import Streams
from truerisk.core.losses import Squared
from truerisk.methods.criteria import GCV, Cp
from truerisk.methods.information_criteria import AIC, BIC, AICc
from truerisk.methods.kfold import LeaveOneOut
from truerisk.papers.evaluating import answered, evaluated, terms_of, values_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.lecture import NOISE, POINTS, curve, data_of, polynomials
from truerisk.papers.report import (
    Findings,
    PaperTable,
    Row,
    mean_row,
    printed,
)
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["InsaPolynomial", "insa_polynomial"]

SATURATED = POINTS - 1  # the degree that passes through all points
LARGEST = 6  # the largest model of the criteria: it leaves 4 degrees of freedom for the variance
DEGREES = np.arange(1, LARGEST + 1)
R2 = {1: (0.03, 2), 2: (0.73, 2), 5: (0.874, 3), 10: (1.0, 2)}  # of the lecture, and its digits
CHOSEN = 3
ROUNDING = 1e-9
CRITERIA = {"Cp": Cp(), "GCV": GCV(), "AIC": AIC(), "AICc": AICc(), "BIC": BIC()}
EVERY = (*CRITERIA, "leave-one-out", "R²")


class InsaPolynomial(Experiment):
    """Eleven points of a cubic with noise, degrees 1 to 10."""

    word: ClassVar[str] = "insa-polynomial"
    title: ClassVar[str] = "INSA lecture: R² and Cp of polynomial regression"
    document: ClassVar[str] = (
        f"{POINTS} points, polynomials of degree 1 to {SATURATED}; Cp among degrees 1 to {LARGEST}"
    )
    replicates: ClassVar[int] = 500
    quick: ClassVar[int] = 20

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("insa polynomial", seed, number)
        x = np.linspace(-1, 1, POINTS)
        truth = curve(x)
        y = truth + np.sqrt(NOISE) * rng.standard_normal(POINTS)
        data, loss = data_of(x, y), Squared()
        fits = answered(polynomials(SATURATED), data, loss, GCV().plan(data, Streams(0)))
        variance = ((y - y.mean()) ** 2).mean()
        r2 = 1 - ((y - fits.values) ** 2).mean(axis=1) / variance
        family = polynomials(LARGEST)
        few = answered(family, data, loss, GCV().plan(data, Streams(0)))
        curves = {
            name: np.array([t.value for t in method.reduce(few, data, loss, terms_of(family))])
            for name, method in CRITERIA.items()
        }
        curves["leave-one-out"] = values_of(evaluated(LeaveOneOut(), family, data, loss, 0))
        curves["R²"] = -r2[:LARGEST]
        risk = ((truth - few.values) ** 2).mean(axis=1) + NOISE
        chosen = np.array([values.argmin() for values in curves.values()])
        return {
            "y": y,
            "R2": r2,
            "Cp": curves["Cp"],
            "risk": risk,
            "chosen": chosen + 1,
            "risk of the chosen": risk[chosen],
        }

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_r2(draws), _shares(draws), _risks(draws)),
            claims=_claims(draws),
            notes=NOTES,
            figures=(_fitted(draws), _figure(draws)),
        )


def _r2(draws: Draws) -> PaperTable:
    """The lecture shows one data set: its numbers have the spread of one."""
    rows = [
        mean_row(f"degree {d}", draws["R2"][:, d - 1], value, printed(draws["R2"][:, d - 1], 1, n))
        for d, (value, n) in R2.items()
    ]
    return PaperTable("R²", "lecture, one data set", tuple(rows), digits=3)


def _shares(draws: Draws) -> PaperTable:
    rows: list[Row] = []
    for place, name in enumerate(EVERY):
        rows.append(mean_row(name, (draws["chosen"][:, place] == CHOSEN).astype(float)))
    title = f"share of data sets in which degree {CHOSEN} is chosen"
    return PaperTable(title, "document", tuple(rows), digits=3)


def _risks(draws: Draws) -> PaperTable:
    chosen = draws["risk of the chosen"]
    rows = [mean_row(name, chosen[:, place]) for place, name in enumerate(EVERY)]
    rows.append(mean_row("oracle", draws["risk"].min(axis=1)))
    return PaperTable("squared risk of the chosen fit, fresh labels", "document", tuple(rows))


def _claims(draws: Draws) -> tuple[Statement, ...]:
    r2, cp, chosen = draws["R2"], draws["Cp"], draws["chosen"][:, 0]
    counts = np.bincount(chosen, minlength=LARGEST + 1)
    shares = ", ".join(f"{share:.0f}" for share in 100 * counts[1:] / len(chosen))
    others = [degree for degree in DEGREES if degree != CHOSEN]
    here = (chosen == CHOSEN).astype(float)
    here_cp, risk = cp[:, CHOSEN - 1], draws["risk of the chosen"]
    return (
        Statement(
            "minimising the training error selects the most complex model",
            (
                Quantity.exact(
                    "least rise of R² from one degree to the next, over all data sets",
                    np.diff(r2, axis=1).min(),
                    Claim.above(-ROUNDING),
                ),
            ),
            f"its mean at degree {SATURATED} is {r2[:, SATURATED - 1].mean():.4f}",
        ),
        Statement(
            f"Cp selects a polynomial of degree {CHOSEN}: most often, and on average",
            (
                *(
                    Quantity.mean(f"share of degree {CHOSEN} − of {d}", here - (chosen == d))
                    for d in others
                ),
                *(
                    Quantity.mean(f"Cp of degree {d} − of {CHOSEN}", cp[:, d - 1] - here_cp)
                    for d in others
                ),
            ),
            f"it selects degrees 1 to {LARGEST} in {shares} % of the data sets",
        ),
        Statement(
            "this leads to overfitting",
            (
                Quantity.mean(
                    "risk chosen by R² − risk chosen by Cp", risk[:, EVERY.index("R²")] - risk[:, 0]
                ),
            ),
        ),
    )


def _fitted(draws: Draws) -> Panels:
    """The first data set with the polynomials that the lecture shows."""
    x, y, fine = np.linspace(-1, 1, POINTS), draws["y"][0], np.linspace(-1, 1, 201)
    panels = []
    for degree in R2:
        line = np.polynomial.Polynomial.fit(x, y, degree)(fine)
        lines = (
            Series("", x, y, "ko"),
            Series("fitted", fine, line, "C0-"),
            Series("truth", fine, curve(fine), "k:"),
        )
        title = f"degree {degree}: R² = {draws['R2'][0, degree - 1]:.3f}"
        panels.append(Panel(title, "x", "y", lines))
    return Panels("insa-polynomial-fitted", tuple(panels))


def _figure(draws: Draws) -> Panels:
    degrees = np.arange(1, SATURATED + 1)
    risk = (
        mean_line("Cp", DEGREES, draws["Cp"], "C0o-"),
        mean_line("risk, fresh labels", DEGREES, draws["risk"], "k-"),
        Series("Cp, first data set", DEGREES, draws["Cp"][0], "C0:"),
    )
    return Panels(
        "insa-polynomial",
        (
            Panel(
                "determination coefficient",
                "degree",
                "R²",
                (mean_line("mean R²", degrees, draws["R2"], "ko-"),),
            ),
            Panel("Mallows' Cp", "degree", "squared risk", risk),
        ),
    )


NOTES = (
    (
        "the lecture's points are not published. Ours are a cubic with noise whose parts were "
        "chosen so that R² comes near the lecture's, which therefore agrees; Cp then takes "
        "degree 3 where the noise lets the cubic part be worth its degree of freedom."
    ),
    (
        f"the variance of Cp is that of degree {LARGEST}, which leaves 4 degrees of freedom; "
        f"degree {SATURATED} leaves none."
    ),
)

insa_polynomial = InsaPolynomial()
