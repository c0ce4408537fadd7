"""Kearns' Figure 2: the empirical error rate and the swapping criterion along k."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import numpy as np

from truerisk.papers.experiment import Draws, Experiment
from truerisk.papers.figures import Panel, Panels, Series, mean_line
from truerisk.papers.kearns import DOCUMENT, kearns_trial, penalised
from truerisk.papers.report import (
    Findings,
    PaperTable,
    Row,
    mean_row,
)
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["KearnsFigure2", "kearns_figure_2"]

N, MOST, NOISE = 100, 60, 0.2
KS = np.arange(1, MOST + 1)
TARGET = 10
SHOWN = (1, 4, 10, 20, 40, 60)
ZERO = 0.001  # what counts as zero
N_LINES = 3  # trials drawn one by one


class KearnsFigure2(Experiment):
    """100 points, noise .2: three trials, and the mean of all."""

    word: ClassVar[str] = "kearns-figure-2"
    title: ClassVar[str] = "Daudin and Mary-Huard, Figure 2: the swapping criterion along k"
    document: ClassVar[str] = DOCUMENT
    replicates: ClassVar[int] = 2000
    quick: ClassVar[int] = 100
    unit: ClassVar[str] = "trials"

    def replicate(self, seed: int, number: int) -> Draws:
        line = kearns_trial(NOISE, N, MOST, seed, number).line
        return {"apparent": line.apparent, "criterion": penalised(line)}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_table(draws),),
            claims=_claims(draws),
            notes=("the document draws these curves and prints no numbers.",),
            figures=(_figure(draws),),
        )


def _table(draws: Draws) -> PaperTable:
    rows: list[Row] = []
    for k in SHOWN:
        rows.append(mean_row(f"k = {k}: empirical", draws["apparent"][:, k - 1]))
        rows.append(mean_row(f"k = {k}: empirical + S", draws["criterion"][:, k - 1]))
    return PaperTable(f"mean error rates, n = {N}, noise {NOISE}", "document", tuple(rows))


def _claims(draws: Draws) -> tuple[Statement, ...]:
    criterion = draws["criterion"]

    def least(trials: np.ndarray) -> float:
        return float(KS[trials.mean(axis=0).argmin()])

    def rise(low: int, high: int) -> Quantity:
        gaps = criterion[:, high - 1] - criterion[:, low - 1]
        return Quantity.mean(f"criterion at k = {high} − at k = {low}", gaps)

    def fall(low: int, high: int) -> Quantity:
        gaps = criterion[:, low - 1] - criterion[:, high - 1]
        return Quantity.mean(f"criterion at k = {low} − at k = {high}", gaps)

    last = draws["apparent"][:, -1]
    return (
        Statement(
            f"the empirical error rate decreases to zero: below {ZERO} at k = {MOST}",
            (Quantity.mean("its mean there", last, Claim.below(ZERO)),),
        ),
        Statement(
            f"the criterion decreases until k is about {TARGET}",
            (
                fall(1, 4),
                fall(4, TARGET),
                Quantity.of(
                    "k of its least mean", least, criterion, Claim.near(TARGET, 2), digits=1
                ),
            ),
        ),
        Statement(
            f"the criterion then grows for k > {TARGET}",
            tuple(rise(low, high) for low, high in pairwise((TARGET, 20, 40, MOST))),
        ),
    )


def _figure(draws: Draws) -> Panels:
    styles = ("-", "--", ":")
    single = tuple(
        series
        for t, style in zip(range(min(N_LINES, len(draws["apparent"]))), styles, strict=False)
        for series in (
            Series(f"empirical, trial {t + 1}", KS, draws["apparent"][t], f"k{style}"),
            Series(f"S, trial {t + 1}", KS, draws["criterion"][t], f"C0{style}"),
        )
    )
    average = (
        mean_line("empirical", KS, draws["apparent"], "k-"),
        mean_line("empirical + S", KS, draws["criterion"], "C0-"),
    )
    return Panels(
        "kearns-figure-2",
        (
            Panel(f"{N_LINES} trials", "number of intervals k", "error rate", single),
            Panel("mean of all trials", "number of intervals k", "error rate", average),
        ),
    )


kearns_figure_2 = KearnsFigure2()
