"""002, Figure 4: seconds of choosing by the Bayesian error and by 5-fold cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import ZeroOne
from truerisk.core.table.data import Data
from truerisk.datasets.four_class import make_four_class
from truerisk.methods.bayesian_error import BayesianError, ruled_plan
from truerisk.methods.kfold import KFold
from truerisk.papers.bee_choosing import logistic, machines
from truerisk.papers.bee_report import mean_grid
from truerisk.papers.evaluating import answered, evaluated
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, mean_line
from truerisk.papers.report import Findings, MeansGrid
from truerisk.papers.statements import Claim, Quantity, Statement

__all__ = ["BeeFigure4", "bee_figure_4"]

SIZES = (73, 182, 364, 727)  # 10, 25, 50 and 100 % of the document's training rows
FEATURES = 408
PROBLEM = make_four_class.with_noise_features(FEATURES - (make_four_class.n_features - 6))
FIVE = "SVM CV-5, engine svm"
LINES = {"LR CV-5": "b-", "LR BEEp": "r-", "SVM CV-5": "b--", "SVM BEEp": "r--", FIVE: "g--"}
SAID = (3, 3.5)  # times as long, by the document


class BeeFigure4(Experiment):
    """Four classes and 408 features, as many as the MEG data had."""

    word: ClassVar[str] = "bee-figure-4"
    title: ClassVar[str] = "Huttunen and Tohka (2015), Figure 4: seconds of one choice"
    document: ClassVar[str] = (
        "L1 logistic regression (LR, 36 penalties), linear machines (SVM, 13 costs), 408 features"
    )
    replicates: ClassVar[int] = 10
    quick: ClassVar[int] = 2
    unit: ClassVar[str] = "training sets of each size"

    def replicate(self, seed: int, number: int) -> Draws:
        every = [_seconds(seed, number, n_rows) for n_rows in SIZES]
        return {name: np.array([one[name] for one in every]) for name in LINES}

    def findings(self, draws: Draws) -> Findings:
        names = {name: name for name in LINES}
        seconds = mean_grid(draws, names, SIZES, "seconds of one choice")
        return Findings(
            tables=(seconds, _ratios(draws)),
            claims=tuple(_claim(draws, word) for word in ("LR", "SVM")),
            notes=NOTES,
            figures=(_figure(draws),),
        )


def _seconds(seed: int, number: int, n_rows: int) -> dict[str, float]:
    """Of every choice on one training set; the choices are made and thrown away."""
    _warmed_up()
    rng = stream(f"bee-figure-4 {n_rows}", seed, number)
    X, y = PROBLEM(n_rows, random_state=rng)
    data = Data.check(X, y, task="classification")
    lr, svm = logistic(), machines()
    return {
        "LR CV-5": _of(lambda: _folds_and_all_rows(lr, data, number, "auto")),
        "LR BEEp": _of(lambda: _bayesian(lr, data)),
        "SVM CV-5": _of(lambda: _folds_and_all_rows(svm, data, number, "generic")),
        "SVM BEEp": _of(lambda: _bayesian(svm, data)),
        FIVE: _of(lambda: evaluated(KFold(5), svm, data, ZeroOne(), number, "svm")),
    }


@lru_cache(maxsize=1)
def _warmed_up() -> None:
    """Everything once, so that nothing is loaded while it is timed."""
    X, y = PROBLEM(40, random_state=0)
    data = Data.check(X, y, task="classification")
    for family in (logistic(), machines()):
        _folds_and_all_rows(family, data, 0, "auto")
        _bayesian(family, data)


def _of(task: Callable[[], object]) -> float:
    """Of the processor: what else runs on the machine is not counted."""
    started = time.process_time()
    task()
    return time.process_time() - started


def _folds_and_all_rows(family: Family, data: Data, seed: int, by: str) -> None:
    """Five fits of every penalty on folds, and one on all rows, as the document counts them."""
    evaluated(KFold(5), family, data, ZeroOne(), seed, by)
    answered(family, data, ZeroOne(), ruled_plan(data.n_rows))


def _bayesian(family: Family, data: Data) -> None:
    """One fit of every penalty on all rows, and the estimate of each pair of classes."""
    evaluated(BayesianError(standardize=False), family, data, ZeroOne(), 0)


def _times(draws: Draws, slow: str, fast: str) -> np.ndarray:
    return draws[slow] / draws[fast]


def _ratios(draws: Draws) -> MeansGrid:
    pairs = (("LR CV-5", "LR BEEp"), ("SVM CV-5", "SVM BEEp"), (FIVE, "SVM BEEp"))
    ratios = {f"{slow} / {fast}": _times(draws, slow, fast) for slow, fast in pairs}
    title = "how many times as long"
    return mean_grid(ratios, {name: name for name in ratios}, SIZES, title)


def _claim(draws: Draws, word: str) -> Statement:
    """Over all sizes."""
    low, high = SAID
    times = _times(draws, f"{word} CV-5", f"{word} BEEp").mean(axis=1)
    middle, half = (low + high) / 2, (high - low) / 2
    return Statement(
        f"{word}: CV-5 takes {low:g} to {high:g} times as long as the Bayesian choice",
        (
            Quantity.mean(
                "how many times, over all sizes", times, Claim.near(middle, half), digits=2
            ),
        ),
    )


def _figure(draws: Draws) -> Panels:
    lines = tuple(
        mean_line(name, np.array(SIZES), draws[name], style) for name, style in LINES.items()
    )
    logs = tuple(
        mean_line("", np.array(SIZES), np.log10(draws[name]), style)
        for name, style in LINES.items()
    )
    return Panels(
        "bee-figure-4",
        (
            Panel("one choice of the penalty", "training rows", "seconds", lines),
            Panel("the same, logarithms", "training rows", "log10(seconds)", logs),
        ),
    )


NOTES = (
    (
        "seconds of one processor of this machine: they do not depend on the seed alone, and do "
        "not compare with the document's; their ratios do."
    ),
    (
        "the MEG data could not be had: four classes (the document: five) with as many features, "
        "and as many rows."
    ),
    (
        "cross-validation fits five parts and all rows, as the document counts it. For machines "
        "both sides are fits of SVC; engine svm answers the five folds (without all rows) from one "
        "matrix of inner products."
    ),
)

bee_figure_4 = BeeFigure4()
