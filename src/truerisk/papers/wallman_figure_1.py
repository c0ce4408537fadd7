"""Wallman's Figure 1: the four problems as points, and the least error that each allows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.statements import Quantity, Statement
from truerisk.papers.wallman_figure_5 import SITUATIONS

__all__ = ["WallmanFigure1", "wallman_figure_1"]

PER_CLASS = 1000
PROBLEMS = tuple({one.problem.name: one.problem for one in SITUATIONS}.values())


class WallmanFigure1(Experiment):
    """1000 points of each class of each problem; the first replicate is drawn."""

    word: ClassVar[str] = "wallman-figure-1"
    title: ClassVar[str] = "Wallman (2005), Figure 1: the four two-class distributions"
    document: ClassVar[str] = "1000 points of each class; two Gaussians each, partly overlapping"
    replicates: ClassVar[int] = 200
    quick: ClassVar[int] = 20

    def replicate(self, seed: int, number: int) -> Draws:
        found: dict[str, np.ndarray] = {}
        for problem in PROBLEMS:
            rng = stream(f"wallman figure 1 {problem.name}", seed, number)
            X, y = problem((PER_CLASS, PER_CLASS), shuffle=False, random_state=rng)
            found[f"{problem.name}: error"] = np.array((problem.bayes_rule(X) != y).mean())
            found[f"{problem.name}: points"] = X if number == 0 else np.zeros_like(X)
        return found

    def findings(self, draws: Draws) -> Findings:
        rows = tuple(
            mean_row(problem.name, draws[f"{problem.name}: error"], problem.bayes_risk)
            for problem in PROBLEMS
        )
        panels = tuple(_panel(problem.name, draws) for problem in PROBLEMS)
        return Findings(
            tables=(PaperTable("error of the best rule", "by formula", rows),),
            claims=_claims(draws),
            notes=NOTES,
            figures=(Panels("wallman-figure-1", panels),),
        )


def _claims(draws: Draws) -> tuple[Statement, ...]:
    errors = {problem: draws[f"{problem.name}: error"] for problem in PROBLEMS}
    return (
        Statement(
            "all of them are two partially overlapping Gaussian distributions: even the best rule "
            "errs",
            tuple(Quantity.mean(problem.name, told) for problem, told in errors.items()),
        ),
    )


def _panel(name: str, draws: Draws) -> Panel:
    X = draws[f"{name}: points"][0]
    x, y = X.T
    classes = tuple(
        Series(f"class {c}", x[rows], y[rows], style, size=2.0)
        for c, (rows, style) in enumerate(
            ((slice(PER_CLASS), "C0."), (slice(PER_CLASS, None), "C3."))
        )
    )
    return Panel(name, "x1", "x2", classes)


NOTES = (
    (
        "'simple' has means 2 apart, which gives the numbers of Table 1; the generator's default "
        "is 1. 'difficult' is the 2006 form of PRTools, and Highleyman's is turned by 45 degrees."
    ),
    "the parameters of the document's 'colon' are unpublished; ours are those of two of its genes.",
)

wallman_figure_1 = WallmanFigure1()
