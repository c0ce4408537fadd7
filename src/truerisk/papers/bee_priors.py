"""002, §3.1.2: the prior as a knob; what κ does to the estimate, and what to the choice."""

from __future__ import annotations

import numpy as np

from truerisk.core.losses import ZeroOne
from truerisk.methods.bayesian.priors import Prior
from truerisk.methods.bayesian_error import BayesianError
from truerisk.methods.parts.procedure import by_rule
from truerisk.papers import bee_tables
from truerisk.papers.bee_choosing import ORACLE, Trained, logistic, unconverged
from truerisk.papers.experiment import Draws, experiment, terms_of
from truerisk.papers.figures import MeansGrid, Panel, Parts, mean_line
from truerisk.papers.statements import Quantity, Statement
from truerisk.selection.rules import Minimum

SIZES = bee_tables.SIZES
P = 20
FLAT, JEFFREYS, PROPER = -(P + 2), 0, P + 2
LARGEST = 8 * P
KAPPAS = (FLAT, JEFFREYS, P, PROPER, 2 * P, 4 * P, LARGEST)
NEEDED = {FLAT: 2 * P + 2, JEFFREYS: P + 1}  # rows of each class: without S they are all there is
WORDS: dict[int, Prior] = {FLAT: "flat", JEFFREYS: "jeffreys"}  # S = 0; the others have S = I


def _method(kappa: int) -> BayesianError:
    if kappa in WORDS:
        return BayesianError(WORDS[kappa], standardize=False)
    return BayesianError("proper", standardize=False, kappa=kappa)


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
            if n_rows // 2 < NEEDED.get(kappa, 0):
                continue
            tested = _method(kappa).reduce(
                trained.answers, trained.data, ZeroOne(), terms_of(trained.family)
            )
            chosen = by_rule(tested, Minimum())
            found[:, j, i] = tested[chosen].value, trained.errors[chosen]
    return {"estimate": found[0], "error": found[1], ORACLE: best}


@experiment(_replicate, replicates=200, quick=20, unit=bee_tables.SPLIT_UNIT)
def bee_priors(draws: Draws) -> Parts:
    """Huttunen and Tohka (2015), §3.1.2: the prior as a knob.

    L1 logistic regression, 36 penalties, {P} features; κ from {FLAT} to {LARGEST}

    {bee_tables.OF_ANOTHER_GENERATOR}

    κ = −(P + 2) and κ = 0 have no S and no ν; the others have S = I and ν = ½, as printed with
    κ = P + 2 = {PROPER}; such an S needs κ above P − 1. Where a class has too few rows there is no
    posterior, and a dash.
    """
    estimates, errors, best = (draws[name] for name in ("estimate", "error", ORACLE))
    columns = [f"n = {n}" for n in SIZES]
    names = [f"κ = {k}" + (f", {WORDS[k]}" if k in WORDS else "") for k in KAPPAS]
    for title, of in (
        ("least estimate", estimates),
        ("true error of the rule that has it", errors),
    ):
        yield MeansGrid.of(title, columns, dict(zip(names, of.T, strict=True)))
    yield MeansGrid.of("least true error of all rules", columns, {ORACLE: best.T})

    strong = errors[:, :, KAPPAS.index(PROPER)]
    for kappa in (JEFFREYS, FLAT):
        gaps = zip(SIZES, (errors[:, :, KAPPAS.index(kappa)] - strong).T, strict=True)
        yield Statement.of(
            f"a strong prior, κ = P + 2, is beneficial for the choice: beside κ = {kappa}",
            {
                f"error with κ = {kappa} − with {PROPER}, n = {n}": gap
                for n, gap in gaps
                if n // 2 >= NEEDED[kappa]
            },
            digits=5,
        )
    lacking = (
        Quantity.exact(f"rows of each class it needs − there are, n = {n}", NEEDED[FLAT] - n // 2)
        for n in SIZES[:2]
    )
    yield Statement.of("the flat prior easily becomes underdetermined with few samples", *lacking)

    for j, n_rows in enumerate(SIZES):  # κ at equal steps
        told = np.isfinite(errors[0, j])
        places = np.arange(1.0, len(KAPPAS) + 1)[told]
        lines = (
            mean_line("least estimate", places, estimates[:, j, told], "C0o-"),
            mean_line("true error of its rule", places, errors[:, j, told], "C1s-"),
            mean_line("least true error", places, np.repeat(best[:, [j]], len(places), 1), "k:"),
        )
        yield Panel(f"n = {n_rows}", "κ", "error", lines, names=tuple(map(str, KAPPAS)))
