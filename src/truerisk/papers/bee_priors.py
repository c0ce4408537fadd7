"""002, §3.1.2: the prior as a knob; what κ does to the estimate, and what to the choice."""

from __future__ import annotations

import numpy as np

from truerisk.core.losses import ZeroOne
from truerisk.methods.bayesian.priors import Prior
from truerisk.methods.bayesian_error import BayesianError
from truerisk.methods.parts.procedure import by_rule
from truerisk.papers.bee_choosing import ORACLE, Trained, draw, errors_of, logistic, unconverged
from truerisk.papers.bee_tables import OF_ANOTHER_GENERATOR, SIZES, SPLIT_UNIT
from truerisk.papers.experiment import Draws, experiment, stream, terms_of
from truerisk.papers.figures import Findings, MeansGrid, Panel, Panels, mean_line
from truerisk.papers.statements import Quantity, Statement
from truerisk.selection.rules import Minimum

P = 20
FLAT, JEFFREYS, PROPER = -(P + 2), 0, P + 2
KAPPAS = (FLAT, JEFFREYS, P, PROPER, 2 * P, 4 * P, 8 * P)
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
    for j, n_rows in enumerate(SIZES):
        X, y = draw(stream(f"bee-synthetic {n_rows}", seed, number), n_rows)
        with unconverged():
            trained = Trained.of(logistic(), X, y, errors_of)
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


@experiment(
    f"L1 logistic regression, 36 penalties, {P} features; κ from {FLAT} to {KAPPAS[-1]}",
    _replicate,
    replicates=200,
    quick=20,
    unit=SPLIT_UNIT,
)
def bee_priors(draws: Draws) -> Findings:
    """Huttunen and Tohka (2015), §3.1.2: the prior as a knob."""
    columns = [f"n = {n}" for n in SIZES]
    names = {k: f"κ = {k}" + (f", {WORDS[k]}" if k in WORDS else "") for k in KAPPAS}
    grids = [
        MeansGrid.of(title, columns, {name: of[:, :, i].T for i, name in enumerate(names.values())})
        for title, of in (
            ("least estimate", draws["estimate"]),
            ("true error of the rule that has it", draws["error"]),
        )
    ]
    best = MeansGrid.of("least true error of all rules", columns, {ORACLE: draws[ORACLE].T})
    return Findings(
        tables=(*grids, best),
        claims=_claims(draws["error"]),
        notes=(
            OF_ANOTHER_GENERATOR,
            (
                "κ = −(P + 2) and κ = 0 have no S and no ν; the others have S = I and ν = ½, as "
                f"printed with κ = P + 2 = {PROPER}; such an S needs κ above P − 1. Where a class "
                "has too few rows there is no posterior, and a dash."
            ),
        ),
        figures=(Panels("bee-priors", tuple(_panels(draws))),),
    )


def _panels(draws: Draws) -> list[Panel]:
    """A panel for each size; κ at equal steps."""
    ticks = tuple(map(str, KAPPAS))
    panels = []
    for j, n_rows in enumerate(SIZES):
        told = np.isfinite(draws["error"][0, j])
        places = np.arange(1.0, len(KAPPAS) + 1)[told]
        best = np.repeat(draws[ORACLE][:, [j]], len(places), axis=1)
        lines = (
            mean_line("least estimate", places, draws["estimate"][:, j, told], "C0o-"),
            mean_line("true error of its rule", places, draws["error"][:, j, told], "C1s-"),
            mean_line("least true error", places, best, "k:"),
        )
        panels.append(Panel(f"n = {n_rows}", "κ", "error", lines, names=ticks))
    return panels


def _claims(errors: np.ndarray) -> tuple[Statement, ...]:
    strong = errors[:, :, KAPPAS.index(PROPER)]

    def better(kappa: int) -> Statement:
        gaps = errors[:, :, KAPPAS.index(kappa)] - strong
        return Statement.of(
            f"a strong prior, κ = P + 2, is beneficial for the choice: beside κ = {kappa}",
            *(
                Quantity.mean(f"error with κ = {kappa} − with {PROPER}, n = {n}", gap, digits=5)
                for n, gap in zip(SIZES, gaps.T, strict=True)
                if n // 2 >= NEEDED[kappa]
            ),
        )

    lacking = (
        Quantity.exact(f"rows of each class it needs − there are, n = {n}", NEEDED[FLAT] - n // 2)
        for n in SIZES[:2]
    )
    return (
        better(JEFFREYS),
        better(FLAT),
        Statement.of("the flat prior easily becomes underdetermined with few samples", *lacking),
    )
