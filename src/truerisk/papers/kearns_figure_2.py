"""Kearns' Figure 2: the empirical error rate and the swapping criterion along k."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.papers.experiment import Draws, Experiment
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.kearns import DOCUMENT, kearns_trial, means, penalised
from truerisk.papers.report import (
    Findings,
    PaperTable,
    Row,
    Statement,
    mean_and_error,
    mean_row,
    signed,
)

__all__ = ["KearnsFigure2", "kearns_figure_2"]

N, MOST, NOISE = 100, 60, 0.2
KS = np.arange(1, MOST + 1)
TARGET = 10
SHOWN = (1, 4, 10, 20, 40, 60)
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
    last = float(means(draws, "apparent")[-1])
    least = int(means(draws, "criterion").argmin()) + 1
    before, before_error = mean_and_error(
        draws["criterion"][:, 3] - draws["criterion"][:, least - 1]
    )
    after, after_error = mean_and_error(
        draws["criterion"][:, -1] - draws["criterion"][:, least - 1]
    )
    return (
        Statement(
            "the empirical error rate decreases to zero",
            "holds" if last < 0.001 else "does not hold",
            f"its mean at k = {MOST} is {last:.4f}",
        ),
        Statement(
            f"the criterion decreases until k is about {TARGET}",
            "holds" if abs(least - TARGET) <= 2 and before > 2 * before_error else "does not hold",
            f"its mean is least at k = {least}; at k = 4 it is {signed(before, before_error)} more",
        ),
        Statement.judge(
            f"the criterion then grows for k > {TARGET}",
            after,
            after_error,
            f"at k = {MOST} its mean is {signed(after, after_error)} above its least",
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
        Series("empirical", KS, means(draws, "apparent"), "k-"),
        Series("empirical + S", KS, means(draws, "criterion"), "C0-"),
    )
    return Panels(
        "kearns-figure-2",
        (
            Panel(f"{N_LINES} trials", "number of intervals k", "error rate", single),
            Panel("mean of all trials", "number of intervals k", "error rate", average),
        ),
    )


kearns_figure_2 = KearnsFigure2()
