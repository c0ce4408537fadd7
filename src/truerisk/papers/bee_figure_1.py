"""002, Figure 1: curves of 5-fold cross-validation on one data set, and the Bayesian error's."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.losses import ZeroOne
from truerisk.core.table.data import Data
from truerisk.methods.kfold import KFold
from truerisk.papers.bee_choosing import (
    LAMBDAS,
    SHORT,
    Trained,
    bayesian,
    logistic,
    unconverged,
)
from truerisk.papers.bee_report import convergence_note
from truerisk.papers.bee_synthetic import draw, errors_of
from truerisk.papers.evaluating import evaluated, terms_of, values_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.report import (
    Findings,
    MeansGrid,
    PaperTable,
    Row,
    mean_and_error,
    mean_row,
)
from truerisk.papers.statements import Claim, Quantity, Statement
from truerisk.selection.minimum import Minimum

__all__ = ["BeeFigure1", "bee_figure_1"]

ROWS = 500
SHOWN = 10  # curves in the figure
LOGS = np.log10(LAMBDAS)
DRAWN = -1.0  # curves from here down: above, all rise to .5
ISOLATED = 5  # per cent of the curves: what counts as isolated cases
STEP = 0.15  # in log10(λ): one penalty and a half
FAR = 0.6  # in log10(λ): a penalty four times as large or as small


class BeeFigure1(Experiment):
    """One data set, fixed by the seed; each replicate draws other folds."""

    word: ClassVar[str] = "bee-figure-1"
    title: ClassVar[str] = "Huttunen and Tohka (2015), Figure 1: where the least error is found"
    document: ClassVar[str] = (
        f"{ROWS} rows of two classes, 20 features; L1 logistic regression, 36 penalties; 5-fold "
        "cross-validation with other folds each time"
    )
    replicates: ClassVar[int] = 500
    quick: ClassVar[int] = 20
    unit: ClassVar[str] = "draws of the folds"

    def replicate(self, seed: int, number: int) -> Draws:
        fixed = _fixed(seed)
        with unconverged() as told:
            found = evaluated(
                KFold(5), fixed.family, fixed.data, ZeroOne(), seed=_seed(seed, number)
            )
        return {**_curves(seed), "CV-5": values_of(found), SHORT: np.array(bool(told))}

    def findings(self, draws: Draws) -> Findings:
        curves = draws["CV-5"]
        chosen = np.array([_least(curve) for curve in curves])
        return Findings(
            tables=(_errors(draws, chosen), _places(draws, chosen)),
            claims=(_varies(curves, chosen), _far(chosen), _converges(draws, curves)),
            notes=(*NOTES, convergence_note(draws, SHORT)),
            figures=(_figure(draws, chosen),),
        )


@lru_cache(maxsize=1)
def _fixed(seed: int) -> Trained:
    """The data set, and the path on all of its rows with the true error of every rule."""
    X, y = draw(stream("bee-figure-1", seed, 0), ROWS)
    return Trained.of(logistic(), X, y, errors_of)


@lru_cache(maxsize=1)
def _curves(seed: int) -> dict[str, np.ndarray]:
    """The curves that do not depend on folds."""
    fixed = _fixed(seed)
    data: Data = fixed.data
    found = {"true": fixed.errors}
    for name, method in bayesian(standardize=False).items():
        told = method.reduce(fixed.answers, data, ZeroOne(), terms_of(fixed.family))
        found[name] = np.array([one.value for one in told])
    return found


def _seed(seed: int, number: int) -> int:
    return int(stream("bee-figure-1 folds", seed, number).integers(2**63))


def _least(curve: np.ndarray) -> int:
    """The place of the minimum, the largest penalty among equals."""
    return Minimum().choose(curve, np.full(len(curve), np.nan))


def _errors(draws: Draws, chosen: np.ndarray) -> PaperTable:
    """The true error of what is chosen."""
    true = draws["true"][0]
    rows = [
        mean_row("CV-5, mean over folds", true[chosen]),
        Row("CV-5, worst of all folds", float(true[chosen].max()), 0.0),
        Row("mean of all CV-5 curves", float(true[_least(draws["CV-5"].mean(axis=0))]), 0.0),
    ]
    rows += [Row(name, float(true[_least(draws[name][0])]), 0.0) for name in ("BEEp", "BEEi")]
    rows.append(Row("oracle", float(true.min()), 0.0))
    return PaperTable("true error of the chosen rule", "document", tuple(rows))


def _places(draws: Draws, chosen: np.ndarray) -> MeansGrid:
    """log10 of the chosen penalty."""
    single = {
        "mean of all CV-5 curves": draws["CV-5"].mean(axis=0),
        **{name: draws[name][0] for name in ("BEEp", "BEEi")},
        "oracle": draws["true"][0],
    }
    rows = [("CV-5, mean over folds", (mean_and_error(LOGS[chosen]),))]
    rows += [(name, ((float(LOGS[_least(curve)]), 0.0),)) for name, curve in single.items()]
    return MeansGrid("where the minimum lies", ("log10(λ)",), tuple(rows), digits=2)


def _varies(curves: np.ndarray, chosen: np.ndarray) -> Statement:
    at = curves[:, _least(curves.mean(axis=0))]
    different, commonest = len(np.unique(chosen)), np.bincount(chosen).max() / len(chosen)
    return Statement(
        "curves of CV-5 vary, and so does the place of their minimum",
        (
            Quantity.of("standard deviation of the curves where their mean is least", _spread, at),
            Quantity.of("standard deviation of log10(λ)", _spread, LOGS[chosen], digits=2),
        ),
        f"{different} different minima, the commonest in {100 * commonest:.0f} %",
    )


def _spread(values: np.ndarray) -> float:
    return float(values.std(ddof=1))


def _far(chosen: np.ndarray) -> Statement:
    gaps = np.abs(LOGS[chosen] - np.median(LOGS[chosen]))
    far = gaps > FAR
    return Statement(
        "in isolated cases the minimum lies far from the majority: in some, but no more than "
        f"{ISOLATED} % farther than {FAR} in log10(λ) from the median",
        (Quantity.share("per cent of curves", far, Claim.near(ISOLATED / 2, ISOLATED / 2)),),
        f"{int(far.sum())} of {len(chosen)}; the farthest {gaps.max():.1f}",
    )


def _converges(draws: Draws, curves: np.ndarray) -> Statement:
    single = LOGS[_least(draws["BEEp"][0])]

    def gap(some: np.ndarray) -> float:
        return float(LOGS[_least(some.mean(axis=0))] - single)

    return Statement(
        "a mean of many CV-5 curves has its minimum where the Bayesian error has it: "
        "at most one penalty away",
        (
            Quantity.of(
                "log10(λ) of the mean − of BEEp", gap, curves, Claim.near(0.0, STEP), digits=2
            ),
        ),
        f"BEEp has it at log10(λ) = {single:.1f}",
    )


def _figure(draws: Draws, chosen: np.ndarray) -> Panels:
    seen = LOGS <= DRAWN + 1e-9
    shown = tuple(
        Series("", LOGS[seen], curve[seen], "-", 0.8)
        for curve in draws["CV-5"][: min(SHOWN, len(chosen))]
    )
    others = tuple(
        Series(name, LOGS[seen], draws[name][0][seen], style)
        for name, style in (("BEEp", "r--"), ("BEEi", "r-"), ("true", "g-"))
    )
    place = _least(draws["BEEp"][0])
    dot = Series("minimum of BEEp", LOGS[[place]], draws["BEEp"][0][[place]], "bo")
    counts = Series("", LOGS, np.bincount(chosen, minlength=len(LOGS)).astype(float))
    axis = "log10(λ)"
    return Panels(
        "bee-figure-1",
        (
            Panel(f"{len(shown)} curves of CV-5, one data set", axis, "error", shown),
            Panel("Bayesian error and true error", axis, "error", (*others, dot)),
            Panel(f"minima of {len(chosen)} curves", axis, "curves", (counts,), kind="bars"),
        ),
        columns=3,
    )


NOTES = (
    "the document shows one data set of its own generator; this is one of bee-table-2's.",
    (
        "one data set tells nothing about who chooses better: bee-table-2 does. Numbers without a "
        "standard error (.0000) belong to this data set and vary with the seed alone."
    ),
    (
        "equal errors go to the largest penalty. The document says neither how it breaks such ties "
        "nor whether its folds are stratified; here they are."
    ),
)

bee_figure_1 = BeeFigure1()
