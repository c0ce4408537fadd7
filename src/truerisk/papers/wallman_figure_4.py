"""Wallman's Figure 4: how internal, external and true error go together over data sets."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.papers.double_cv import double_cv
from truerisk.papers.experiment import Draws, Experiment
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.report import Findings, PaperTable, Row
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["WallmanFigure4", "wallman_figure_4"]

SPREAD = {"internal": 0.047, "external": 0.063, "true": 0.021}  # over 20,000 data sets
VAST = 80  # per cent
# 001: "the vast majority" of the true and of the external errors
MAJORITY = {"true": (0.16, 0.22), "external": (0.05, 0.30)}


class WallmanFigure4(Experiment):
    """The data sets of Table 1, as points: one for each pair of errors."""

    word: ClassVar[str] = "wallman-figure-4"
    title: ClassVar[str] = (
        "Wallman (2005), Figure 4: the errors of double cross-validation in pairs"
    )
    document: ClassVar[str] = "the data sets of Table 1; 100 x 100 cells, black lines at the means"
    replicates: ClassVar[int] = 1000
    quick: ClassVar[int] = 20

    def replicate(self, seed: int, number: int) -> Draws:
        return double_cv(seed, number)

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(
                PaperTable(
                    "standard deviation over data sets",
                    "20,000 sets",
                    tuple(_spread_row(name, draws[name]) for name in SPREAD),
                ),
                PaperTable("correlation", "document", _correlations(draws), digits=2),
            ),
            claims=tuple(_majority(name, draws[name]) for name in MAJORITY),
            notes=("the document prints no numbers for this figure but the two ranges.",),
            figures=(_figure(draws),),
        )


def _spread_row(name: str, values: np.ndarray) -> Row:
    """A standard deviation; its own standard error from the fourth moment."""
    spread = float(values.std(ddof=1))
    fourth = float(((values - values.mean()) ** 4).mean())
    variance = max(fourth - spread**4, 0.0) / len(values)
    error = float(np.sqrt(variance)) / (2 * spread) if spread > 0 else 0.0
    return Row(name, spread, error, SPREAD[name], 0.0005, len(values))


def _correlations(draws: Draws) -> tuple[Row, ...]:
    rows = []
    for one, other in (("external", "true"), ("internal", "external"), ("internal", "true")):
        r = float(np.corrcoef(draws[one], draws[other])[0, 1])
        rows.append(Row(f"{one} and {other}", r, (1 - r**2) / float(np.sqrt(len(draws[one])))))
    return tuple(rows)


def _majority(name: str, values: np.ndarray) -> Statement:
    low, high = MAJORITY[name]
    inside = (values >= low) & (values <= high)
    return Statement(
        f"the vast majority of the {name} errors lie between {low:.2f} and {high:.2f}: "
        f"more than {VAST} in a hundred",
        (Quantity.share("per cent of them", inside, Claim.above(VAST)),),
    )


def _figure(draws: Draws) -> Panels:
    pairs = (("a", "external", "true"), ("b", "internal", "external"), ("c", "internal", "true"))
    panels = tuple(
        Panel(
            f"({letter})",
            f"{one} error",
            f"{other} error",
            (Series("", draws[one], draws[other]),),
            kind="counts",
        )
        for letter, one, other in pairs
    )
    return Panels("wallman-figure-4", panels, columns=3)


wallman_figure_4 = WallmanFigure4()
