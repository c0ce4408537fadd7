"""002, §3.1.2: the prior as a knob; what κ does to the estimate, and what to the choice."""

from __future__ import annotations

import numpy as np

from truerisk.methods.bayesian.priors import Prior
from truerisk.methods.bayesian_error import BayesianError
from truerisk.papers import bee_tables
from truerisk.papers.bee_choosing import ORACLE, Trained, logistic, unconverged
from truerisk.papers.bee_report import SPLIT_UNIT, by_size, mean_grid
from truerisk.papers.experiment import Draws, experiment
from truerisk.papers.figures import Panel, Parts, mean_line
from truerisk.papers.statements import Quantity, Statement

SIZES = bee_tables.SIZES
P = 20
FLAT, JEFFREYS, PROPER = -(P + 2), 0, P + 2
LARGEST = 8 * P
KAPPAS = (FLAT, JEFFREYS, P, PROPER, 2 * P, 4 * P, LARGEST)
NEEDED = {FLAT: 2 * P + 2, JEFFREYS: P + 1}  # rows of each class: without S they are all there is
WORDS: dict[int, Prior] = {FLAT: "flat", JEFFREYS: "jeffreys"}  # S = 0; the others have S = I


def _method(kappa: int) -> BayesianError:
    word, given = WORDS.get(kappa, "proper"), None if kappa in WORDS else kappa
    return BayesianError(word, standardize=False, kappa=given)


def _replicate(seed: int, number: int) -> Draws:
    """The training sets of Table 2: by size and κ the least estimate, and the error of its rule."""
    found = np.full((2, len(SIZES), len(KAPPAS)), np.nan)
    best = np.empty(len(SIZES))
    drawn, family = bee_tables.synthetic(seed, number), logistic()
    for j, n_rows in enumerate(SIZES):
        X, y, errors_of = drawn(n_rows)
        with unconverged():
            trained = Trained.of(family, X, y, errors_of(family))
        best[j] = trained.errors.min()
        for i, kappa in enumerate(KAPPAS):
            if n_rows // 2 >= NEEDED.get(kappa, 0):
                found[:, j, i] = trained.choice(_method(kappa))[:2]
    return {"estimate": found[0], "error": found[1], ORACLE: best}


@experiment(_replicate, replicates=200, quick=20, unit=SPLIT_UNIT)
def bee_priors(draws: Draws) -> Parts:
    """Huttunen and Tohka (2015), §3.1.2: the prior as a knob.

    L1 logistic regression, 36 penalties, {P} features; κ from {FLAT} to {LARGEST}

    {bee_tables.OF_ANOTHER_GENERATOR}

    κ = −(P + 2) and κ = 0 have no S and no ν; the others have S = I and ν = ½, as printed with
    κ = P + 2 = {PROPER}; such an S needs κ above P − 1. Where a class has too few rows there is no
    posterior, and a dash.
    """
    estimates, errors, best = (draws[name] for name in ("estimate", "error", ORACLE))
    names = [f"κ = {k}" + (f", {WORDS[k]}" if k in WORDS else "") for k in KAPPAS]
    for title, of in (
        ("least estimate", estimates),
        ("true error of the rule that has it", errors),
    ):
        by_kappa = dict(zip(names, np.moveaxis(of, 2, 0), strict=True))
        yield mean_grid(by_kappa, SIZES, title)
    yield mean_grid({ORACLE: best}, SIZES, "least true error of all rules")

    strong = errors[:, :, KAPPAS.index(PROPER)]
    for kappa in (JEFFREYS, FLAT):
        told = [j for j, n in enumerate(SIZES) if n // 2 >= NEEDED[kappa]]
        gaps = (errors[:, :, KAPPAS.index(kappa)] - strong)[:, told]
        yield Statement.of(
            f"a strong prior, κ = P + 2, is beneficial for the choice: beside κ = {kappa}",
            by_size(f"error with κ = {kappa} − with {PROPER}", gaps, [SIZES[j] for j in told]),
            digits=5,
        )
    lacking = (
        Quantity.exact(f"rows of each class it needs − there are, n = {n}", NEEDED[FLAT] - n // 2)
        for n in SIZES[:2]
    )
    yield Statement.of("the flat prior easily becomes underdetermined with few samples", *lacking)

    for j, n_rows in enumerate(SIZES):
        told = np.isfinite(errors[0, j])
        places = np.array(KAPPAS)[told]
        lines = (
            mean_line("least estimate", places, estimates[:, j, told], "C0o-"),
            mean_line("true error of its rule", places, errors[:, j, told], "C1s-"),
            mean_line("least true error", places, np.repeat(best[:, [j]], len(places), 1), "k:"),
        )
        yield Panel(f"n = {n_rows}", "κ", "error", lines)
