"""The lecture's decomposition of an excess risk into estimation and approximation error."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import Squared
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.papers.evaluating import answered
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.lecture import polynomials
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["InsaDecomposition", "insa_decomposition"]

SIZES = (20, 30, 60, 120, 240)
N = 30  # the rows of the figure along the complexity
MOST = 8
NODES = 64  # of the quadrature: exact for the squares of all polynomials here
NOISE = 0.5
BAYES = NOISE**2
DEGREES = np.arange(1, MOST + 1)
SHOWN = (1, 2, 3, 4, 5, 8)
LEAST = 4  # the degree with the least mean excess risk of 30 rows
EXACT = 1e-9


class InsaDecomposition(Experiment):
    r"""R(f̂) − R(f*) = [R(f̂) − inf_F R] + [inf_F R − R(f*)], for polynomials of degree 1 to 8.

    The truth is sin(4x + 1) on [−1, 1] with x uniform and noise of variance ¼, which is the Bayes
    risk R(f*). The best polynomial of a class is the projection of the truth; risks are integrals,
    computed by Gauss-Legendre quadrature without test rows.
    """

    word: ClassVar[str] = "insa-decomposition"
    title: ClassVar[str] = "INSA lecture: Bayes risk, approximation error, estimation error"
    document: ClassVar[str] = "the lecture prints the formula; here rows of sin(4x + 1) with noise"
    replicates: ClassVar[int] = 500
    quick: ClassVar[int] = 50
    unit: ClassVar[str] = "training sets"

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("insa decomposition", seed, number)
        nodes, weights = _quadrature()
        estimation, excess = np.empty((2, len(SIZES), MOST))
        for place, n in enumerate(SIZES):
            x = 2 * (np.arange(n) + rng.uniform(size=n)) / n - 1  # one row in each of n cells
            y = truth(x) + NOISE * rng.standard_normal(n)
            table = np.append(x, nodes)[:, None]
            data = Data(table, np.append(y, np.zeros(NODES)), "regression")
            family, plan = _asked(n)
            fitted = answered(family, data, Squared(), plan).of(0)
            estimation[place] = (fitted - best_of_class()) ** 2 @ weights
            excess[place] = (fitted - truth(nodes)) ** 2 @ weights
        return {"estimation": estimation, "excess": excess}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_table(draws),),
            claims=_claims(draws),
            notes=(
                (
                    "the document prints no numbers. Rows stand one in each of n cells, so that no "
                    "wide gap lets a polynomial run away."
                ),
            ),
            figures=(_figure(draws),),
        )


def truth(x: np.ndarray) -> np.ndarray:
    """The optimal rule f*."""
    return np.asarray(np.sin(4 * x + 1))


@lru_cache(maxsize=1)
def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the mean over x uniform on [−1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights / 2


@lru_cache(maxsize=1)
def best_of_class() -> np.ndarray:
    """The best polynomial of every degree at the nodes: the projection of the truth."""
    nodes, weights = _quadrature()
    basis = np.polynomial.legendre.legvander(nodes, MOST) * np.sqrt(2 * np.arange(MOST + 1) + 1)
    coefficients = (weights * truth(nodes)) @ basis
    return np.cumsum(basis * coefficients, axis=1).T[1:]


def approximation_errors() -> np.ndarray:
    """inf_F R − R(f*) of every degree."""
    nodes, weights = _quadrature()
    return np.asarray((best_of_class() - truth(nodes)) ** 2 @ weights)


@lru_cache(maxsize=len(SIZES))
def _asked(n: int) -> tuple[Family, Plan]:
    """Every degree fitted on the first rows, asked about the nodes."""
    builder = PlanBuilder(n + NODES)
    train, nodes = builder.block(np.arange(n)), builder.block(np.arange(n, n + NODES))
    builder.ask((train, ()), (nodes, ()))
    return polynomials(MOST), builder.build()


def _table(draws: Draws) -> PaperTable:
    place, approximation = SIZES.index(N), approximation_errors()
    rows = []
    for degree in SHOWN:
        estimation = draws["estimation"][:, place, degree - 1]
        rows += [
            mean_row(f"degree {degree}: estimation error", estimation),
            mean_row(
                f"degree {degree}: estimation + approximation",
                estimation + approximation[degree - 1],
            ),
        ]
    return PaperTable(f"excess risk of {N} rows, Bayes risk {BAYES:.2f}", "document", tuple(rows))


def _claims(draws: Draws) -> tuple[Statement, ...]:
    estimation, excess = draws["estimation"], draws["excess"]
    approximation, place = approximation_errors(), SIZES.index(N)
    parts = estimation + approximation
    total = parts[:, place]
    return (
        Statement(
            "the excess risk is estimation error plus approximation error",
            (
                Quantity.exact(
                    "largest difference, over all training sets",
                    float(np.abs(parts - excess).max()),
                    Claim.below(EXACT),
                ),
            ),
        ),
        Statement(
            "the approximation error falls as the model grows",
            (
                Quantity.exact(
                    "largest rise from one degree to the next",
                    float(np.diff(approximation).max()),
                    Claim.below(EXACT),
                ),
            ),
        ),
        Statement(
            "the estimation error grows with the dimension of the model",
            tuple(
                Quantity.mean(f"degree {high} − degree {low}", after - before)
                for low, high, before, after in zip(
                    DEGREES, DEGREES[1:], estimation[:, place].T, estimation[:, place].T[1:],
                    strict=False,
                )
            ),
        ),
        Statement(
            "the best model lies between: neither the smallest nor the largest",
            (
                Quantity.mean(f"degree 1 − degree {LEAST}", total[:, 0] - total[:, LEAST - 1]),
                Quantity.mean(
                    f"degree {MOST} − degree {LEAST}", total[:, -1] - total[:, LEAST - 1]
                ),
            ),
            f"the mean is least at degree {int(total.mean(axis=0).argmin()) + 1}",
        ),
        Statement(
            "with more rows the estimation error falls, and the approximation error stays",
            tuple(
                Quantity.mean(
                    f"degree {d}: {SIZES[0]} rows − {SIZES[-1]} rows",
                    estimation[:, 0, d - 1] - estimation[:, -1, d - 1],
                )
                for d in SHOWN
            ),
        ),
    )  # fmt: skip


def _figure(draws: Draws) -> Panels:
    place, approximation = SIZES.index(N), approximation_errors()
    estimation = draws["estimation"]
    along = (
        Series("approximation error", DEGREES, approximation, "C0o-"),
        mean_line("estimation error", DEGREES, estimation[:, place], "C3o-"),
        mean_line("their sum", DEGREES, estimation[:, place] + approximation, "k-", 2.4),
    )
    sizes = np.array(SIZES)
    rows = []
    for number, degree in enumerate((1, 3, 5)):
        total = estimation[:, :, degree - 1] + approximation[degree - 1]
        rows.append(mean_line(f"degree {degree}", sizes, total, f"C{number}o-"))
        floor = np.full(len(sizes), approximation[degree - 1])
        rows.append(Series("", sizes, floor, f"C{number}:"))
    return Panels(
        "insa-decomposition",
        (
            Panel(f"{N} rows", "degree of the polynomial", "excess risk", along),
            Panel("dotted: approximation error", "training rows", "excess risk", tuple(rows)),
        ),
    )


insa_decomposition = InsaDecomposition()
