"""Kearns' Figure 1: empirical, conditional and true risk of k intervals, and the estimated bias."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.papers.experiment import Draws, Experiment
from truerisk.papers.figures import Panel, Panels, mean_line
from truerisk.papers.kearns import DOCUMENT, kearns_trial
from truerisk.papers.report import (
    Findings,
    PaperTable,
    Row,
    mean_row,
    printed,
)
from truerisk.papers.statements import ABOVE, Claim, Quantity, Statement

__all__ = ["KearnsFigure1", "kearns_figure_1"]

N, MOST, NOISE = 100, 60, 0.2
NOISES = (0.1, 0.2, 0.3, 0.4)
KS = np.arange(1, MOST + 1)
TARGET = 10  # intervals of the target
NEARLY = 0.1  # of the movement of the bias: what counts as nearly parallel
VANISHED = 0.02  # what cannot be seen in a drawn curve
TRIALS = 2000  # behind the numbers below, same recipe
AT = {4: (0.292, 0.374, 0.407), 10: (0.148, 0.274, 0.300), 20: (0.081, 0.293, 0.313)} | {
    60: (0.0, 0.320, 0.336)
}
BIAS = {0.1: (0.134, 0.057), 0.2: (0.173, 0.122), 0.3: (0.206, 0.190), 0.4: (0.228, 0.237)}
NOTES = (
    "the document draws these curves and prints no numbers.",
    "the reference .122 for CER − EER at noise .2 contradicts .274 − .148 of the first table.",
)
RISKS = {"apparent": "EER", "conditional": "CER", "true": "TER"}


class KearnsFigure1(Experiment):
    """100 points, noise .2; the bias at k = 10 also for the other noise levels."""

    word: ClassVar[str] = "kearns-figure-1"
    title: ClassVar[str] = "Daudin and Mary-Huard, Figure 1: risks of k intervals, and the bias"
    document: ClassVar[str] = DOCUMENT
    replicates: ClassVar[int] = 2000
    quick: ClassVar[int] = 100
    unit: ClassVar[str] = "trials"

    def replicate(self, seed: int, number: int) -> Draws:
        penalties, biases = np.empty(len(NOISES)), np.empty(len(NOISES))
        found: dict[str, np.ndarray] = {}
        for j, noise in enumerate(NOISES):
            drawn = kearns_trial(noise, N, MOST, seed, number)
            penalty, apparent = drawn.line.penalty(), drawn.line.apparent
            penalties[j] = penalty[TARGET - 1]
            biases[j] = (drawn.conditional - apparent)[TARGET - 1]
            if noise == NOISE:
                found = {
                    "apparent": apparent,
                    "conditional": drawn.conditional,
                    "true": drawn.true,
                    "penalty": penalty,
                }
        return {**found, "S at 10": penalties, "bias at 10": biases}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_risk_table(draws), _bias_table(draws)),
            claims=(_parallel(draws), *_over_and_under(draws)),
            notes=NOTES,
            figures=(_figure(draws),),
        )


def _risk_table(draws: Draws) -> PaperTable:
    rows: list[Row] = []
    for k, known in AT.items():
        for (name, short), reference in zip(RISKS.items(), known, strict=True):
            values = draws[name][:, k - 1]
            error = printed(values, TRIALS, 3)
            rows.append(mean_row(f"k = {k}: {short}", values, reference, error))
    title = f"mean risks, n = {N}, noise {NOISE}"
    return PaperTable(title, f"{TRIALS} trials of this recipe", tuple(rows))


def _bias_table(draws: Draws) -> PaperTable:
    rows: list[Row] = []
    for j, noise in enumerate(NOISES):
        for name, short, reference in zip(
            ("S at 10", "bias at 10"), ("S", "CER − EER"), BIAS[noise], strict=True
        ):
            values = draws[name][:, j]
            error = printed(values, TRIALS, 3)
            rows.append(mean_row(f"noise {noise}: {short}", values, reference, error))
    title = f"estimated and conditional bias at k = {TARGET}, n = {N}"
    return PaperTable(title, f"{TRIALS} trials of this recipe", tuple(rows))


def _parallel(draws: Draws) -> Statement:
    """How far TER − CER moves from k = 10 on, as a share of how far the bias moves there."""
    every = np.stack([draws[name][:, TARGET - 1 :] for name in RISKS], axis=1)

    def share(trials: np.ndarray) -> float:
        apparent, conditional, true = trials.mean(axis=0)
        return float(np.ptp(true - conditional) / np.ptp(conditional - apparent))

    return Statement(
        f"the curves of conditional and true risk are nearly parallel for k >= {TARGET}: "
        "TER − CER moves by less than a tenth of what CER − EER moves",
        (Quantity.of("share", share, every, Claim.below(NEARLY), digits=3),),
    )


def _over_and_under(draws: Draws) -> tuple[Statement, ...]:
    """Whether S − (CER − EER) has the sign that the document says at k = 10."""
    excess = draws["S at 10"] - draws["bias at 10"]
    name = "S − (CER − EER)"
    return (
        Statement("S overestimates the conditional bias at noise 0.2", (_one(name, excess, 1),)),
        Statement(
            "this overestimation is higher at noise 0.1",
            (Quantity.mean("its excess over that at noise 0.2", excess[:, 0] - excess[:, 1]),),
        ),
        Statement(
            f"it vanishes at noise 0.3: no more than {VANISHED} is left",
            (_one(name, excess, 2, Claim.near(0.0, VANISHED)),),
        ),
        Statement(
            "it becomes an underestimation at noise 0.4", (_one(name, excess, 3, Claim.below()),)
        ),
    )


def _one(name: str, excess: np.ndarray, place: int, claim: Claim = ABOVE) -> Quantity:
    return Quantity.mean(f"{name} at noise {NOISES[place]}", excess[:, place], claim)


def _figure(draws: Draws) -> Panels:
    risk = {name: draws[name] for name in (*RISKS, "penalty")}
    risks = (
        mean_line("EER", KS, risk["apparent"], "k-", 2.4),
        mean_line("CER", KS, risk["conditional"], "k:"),
        mean_line("TER", KS, risk["true"], "k-"),
    )
    biases = (
        mean_line("estimated, S", KS, risk["penalty"], "k:"),
        mean_line("conditional, CER − EER", KS, risk["conditional"] - risk["apparent"], "k-"),
        mean_line("true, TER − EER", KS, risk["true"] - risk["apparent"], "k-", 2.4),
    )
    return Panels(
        "kearns-figure-1",
        (
            Panel("error rates", "number of intervals k", "rate", risks),
            Panel("bias of the empirical error rate", "number of intervals k", "bias", biases),
        ),
    )


kearns_figure_1 = KearnsFigure1()
