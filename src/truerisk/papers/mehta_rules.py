"""Mehta's two extreme classifiers, and rare classes: what a training error can and cannot say."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.report import Findings, MeansGrid, PaperTable, mean_and_error, mean_row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["MehtaRules", "mehta_rules"]

N, N_TEST = 100, 1000
POSITIVE = 0.3  # the share of ones: the memoriser's test error, not one minus it
RARE, N_RARE = 0.01, 20_000  # of the imbalanced classes; rows to learn, and as many to test
APART = 2.0  # the means of the two classes
BETAS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
NEAR = 0.01


class MehtaRules(Experiment):
    """The constant, the memoriser, and a rule with a threshold where one row in 100 is positive."""

    word: ClassVar[str] = "mehta-rules"
    title: ClassVar[str] = "Mehta (2010): the constant, the memoriser, and rare classes"
    document: ClassVar[str] = (
        f"{N} rows to learn, {N_TEST} to test, {POSITIVE:.0%} positive; then {RARE:.0%} positive "
        f"of {N_RARE} rows, two Gaussians {APART:g} apart"
    )
    replicates: ClassVar[int] = 1000
    quick: ClassVar[int] = 50

    def replicate(self, seed: int, number: int) -> Draws:
        rng = stream("mehta rules", seed, number)
        x, y = rng.uniform(size=N + N_TEST), rng.uniform(size=N + N_TEST) < POSITIVE
        remembered = np.isin(x, x[:N][y[:N]])
        found = {
            "constant": _errors(np.ones(len(y), dtype=bool), y),
            "memoriser": _errors(remembered, y),
        }
        return {**found, **_imbalanced(rng)}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_extremes(draws), _rates(draws)),
            claims=(*_on_extremes(draws), *_on_rare_classes(draws)),
            notes=(
                "the document prints no numbers; the shares, sizes and Gaussians are ours.",
                (
                    "probabilities are those of the true densities: nothing is fitted, the "
                    "threshold β alone varies."
                ),
            ),
            figures=(_figure(draws),),
        )


def _errors(told: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Training error, test error, and the shares of positives among both."""
    wrong = told != y
    return np.array([part.mean() for part in (wrong[:N], wrong[N:], y[:N], y[N:])])


def _imbalanced(rng: np.random.Generator) -> Draws:
    """f(x) = 1 where g(x) ≥ β (equation 3), with g the true probability of the rare class."""
    y = rng.uniform(size=N_RARE) < RARE
    x = rng.standard_normal(N_RARE) + APART * y
    odds = RARE / (1 - RARE) * np.exp(APART * x - APART**2 / 2)
    g = odds / (1 + odds)
    told = g[None, :] >= np.array(BETAS)[:, None]
    hits, alarms = (told & y).sum(axis=1), (told & ~y).sum(axis=1)
    return {
        "risk of 0": np.array(y.mean()),
        "risk": (told != y).mean(axis=1),
        "true positive rate": hits / y.sum(),
        "true negative rate": 1 - alarms / (~y).sum(),
        "precision": hits / np.maximum(hits + alarms, 1),
    }


def _extremes(draws: Draws) -> PaperTable:
    rows = [
        mean_row(f"{rule}: {name}", draws[rule][:, place], exact)
        for rule, known in (("constant", 1 - POSITIVE), ("memoriser", 0.0))
        for place, (name, exact) in enumerate(
            (("training error", known), ("test error", 1 - POSITIVE if known else POSITIVE))
        )
    ]
    return PaperTable(f"{POSITIVE:.0%} of the rows are positive", "exact", tuple(rows))


def _rates(draws: Draws) -> MeansGrid:
    """What every threshold does to rare positives."""
    names = ("risk", "true positive rate", "true negative rate", "precision")
    rows = [
        (name, tuple(mean_and_error(draws[name][:, j]) for j in range(len(BETAS))))
        for name in names
    ]
    columns = tuple(f"β = {beta:g}" for beta in BETAS)
    return MeansGrid(f"{RARE:.0%} of the rows are positive", columns, tuple(rows))


def _on_extremes(draws: Draws) -> tuple[Statement, ...]:
    constant, memoriser = draws["constant"], draws["memoriser"]

    def same(name: str, values: np.ndarray) -> tuple[Quantity, ...]:
        return (Quantity.exact(name, np.abs(values).max(), Claim.below(1e-12)),)

    away = constant[:, 1] - constant[:, 0]
    return (
        Statement(
            "of the constant 1 training and test error are the fractions of negative examples, and "
            f"alike: within {NEAR} on average",
            (
                *same("largest training error − fraction", constant[:, 0] + constant[:, 2] - 1),
                *same("largest test error − fraction", constant[:, 1] + constant[:, 3] - 1),
                Quantity.mean("test − training error", away, Claim.near(0.0, NEAR)),
            ),
        ),
        Statement(
            "of the memoriser the training error is 0",
            same("largest training error", memoriser[:, 0]),
        ),
        Statement(
            "its test error is the fraction of negative examples",
            same("largest difference", memoriser[:, 1] - (1 - memoriser[:, 3])),
            "it is that of the positive ones: on fresh points it says 0",
        ),
        Statement(
            "the empirical risk of a function chosen by the sample is optimistic",
            (Quantity.mean("test − training error", memoriser[:, 1] - memoriser[:, 0]),),
        ),
    )


def _on_rare_classes(draws: Draws) -> tuple[Statement, ...]:
    tpr, tnr = draws["true positive rate"], draws["true negative rate"]
    low = BETAS.index(RARE)
    return (
        Statement(
            f"with {RARE:.0%} positive rows the constant 0 has a true risk of only {RARE}",
            (Quantity.mean("its error", draws["risk of 0"], Claim.near(RARE, 0.0005)),),
        ),
        Statement(
            "at β = .5 a rule misses most of the rare class",
            (Quantity.mean("true positive rate at β = .5", tpr[:, 0], Claim.below(0.5)),),
        ),
        Statement(
            "a lower β gains correctness on positives and gives up correctness on negatives",
            tuple(
                Quantity.mean(f"{name}, β = {BETAS[j + 1]:g} beside {BETAS[j]:g}", values[:, j])
                for name, values in (
                    ("gain of true positives", np.diff(tpr)),
                    ("loss of true negatives", -np.diff(tnr)),
                )
                for j in range(len(BETAS) - 1)
            ),
        ),
        Statement(
            "seeking the minimum true risk is problematic: the β that finds most positives has the "
            "larger risk",
            (
                Quantity.mean(
                    f"risk at β = {RARE:g} − at .5", draws["risk"][:, low] - draws["risk"][:, 0]
                ),
                Quantity.mean(f"true positive rate at β = {RARE:g}", tpr[:, low], Claim.above(0.5)),
            ),
        ),
    )


def _figure(draws: Draws) -> Panels:
    tpr, tnr = draws["true positive rate"], draws["true negative rate"]
    betas = np.array(BETAS)
    curve = (
        Series("thresholds", tpr.mean(axis=0), tnr.mean(axis=0), "ko-"),
        Series("no discrimination", np.array([0.0, 1.0]), np.array([1.0, 0.0]), "k:"),
    )
    names = ("risk", "true positive rate", "true negative rate", "precision")
    rates = tuple(
        mean_line(name, np.log10(betas), draws[name], style)
        for name, style in zip(names, ("k-", "C0-", "C1--", "C2:"), strict=True)
    )
    panels = (
        Panel("as the document draws it", "true positive rate", "true negative rate", curve),
        Panel(f"{RARE:.0%} positive", "log10 of the threshold β", "rate", rates),
    )
    return Panels("mehta-rules", panels)


mehta_rules = MehtaRules()
