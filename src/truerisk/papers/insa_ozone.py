"""The lecture's practical work: learners on the ozone data, tuned inside, tested outside."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import AUC, Loss, Squared, ZeroOne
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.table.data import Data, Task
from truerisk.datasets.documents import ozone_level
from truerisk.methods.kfold import KFold
from truerisk.methods.nested import Nested
from truerisk.methods.splitter import GivenSplits
from truerisk.papers.evaluating import answered, evaluated
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.ozone_learners import LEARNERS, ozone_family
from truerisk.papers.report import Findings, PaperTable, mean_row

__all__ = ["InsaOzone", "insa_ozone"]

THRESHOLD = 150  # of the observed concentration
TEST_SHARE = 0.2
FOLDS = 5


class InsaOzone(Experiment):
    """In each replicate a random fifth of the rows is tested; 5-fold tunes on the others."""

    word: ClassVar[str] = "insa-ozone"
    title: ClassVar[str] = "INSA lecture: tuned learners on the ozone data"
    document: ClassVar[str] = (
        f"inner {FOLDS}-fold, outer Monte-Carlo; the concentration, and whether it exceeds "
        f"{THRESHOLD}"
    )
    replicates: ClassVar[int] = 10
    quick: ClassVar[int] = 2
    unit: ClassVar[str] = "splits"

    def check(self) -> None:
        _forecasts()

    def replicate(self, seed: int, number: int) -> Draws:
        X, level = _forecasts()
        rng = stream("insa ozone", seed, number)
        order = rng.permutation(len(level))
        n_test = round(TEST_SHARE * len(level))
        split = np.sort(order[n_test:]), np.sort(order[:n_test])
        numbers = Data.check(X, level, task="regression")
        classes = Data.check(X, (level > THRESHOLD).astype(int), task="classification")
        own = int(rng.integers(2**63))
        squared, wrong, areas, scores = [], [], [], []
        for word in LEARNERS:
            squared.append(_tested(word, "regression", numbers, Squared(), split, own)[0])
            risk, winner = _tested(word, "classification", classes, ZeroOne(), split, own)
            of_test, area = _ranked(winner, classes, split)
            wrong.append(risk)
            areas.append(area)
            scores.append(of_test)
        return {
            "squared": np.array(squared),
            "zero-one": np.array(wrong),
            "1 − AUC": np.array(areas),
            "scores": np.array(scores),
            "truth": classes.codes_of(split[1]),
        }

    def findings(self, draws: Draws) -> Findings:
        tables = tuple(
            PaperTable(
                f"mean test risk ({name})",
                "document",
                tuple(mean_row(word, draws[name][:, j]) for j, word in enumerate(LEARNERS)),
                digits=1 if name == "squared" else 4,
            )
            for name in ("squared", "zero-one", "1 − AUC")
        )
        return Findings(tables=tables, notes=NOTES, figures=(_figure(draws),))


@lru_cache(maxsize=1)
def _forecasts() -> tuple[np.ndarray, np.ndarray]:
    """The root of the humidity, logarithms of both nitrogen oxides, the rest as it is."""
    data = ozone_level.bundle()
    X, names = data.X.copy(), list(data.feature_names)
    X[:, names.index("RMH2O")] **= 0.5
    for name in ("NO", "NO2"):
        X[:, names.index(name)] = np.log(X[:, names.index(name)])
    return X, data.y


def _tested(
    word: str,
    task: Task,
    data: Data,
    loss: Loss,
    split: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> tuple[float, Family]:
    """The test risk of the tuned learner, and the setting that 5-fold chose."""
    family = ozone_family(word, task)
    method = Nested(GivenSplits((split,)), KFold(FOLDS))
    found = evaluated(method, family, data, loss, seed)
    assert found.procedure is not None
    winner = family.candidates[found.units[0].candidate]
    return found.procedure.value, Family(family.estimator, (winner,))


def _ranked(
    winner: Family, data: Data, split: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, float]:
    """Scores of the test rows, and one minus the area under their ROC curve."""
    builder = PlanBuilder(data.n_rows)
    test = builder.block(split[1])
    builder.ask((builder.block(split[0]), ()), (test, ()))
    values = answered(winner, data, AUC(), builder.build()).values
    return values[0], float(AUC().of_set(data, split[1], values, None)[0])


def _figure(draws: Draws) -> Panels:
    boxes = tuple(
        Panel(
            title,
            "",
            label,
            tuple(Series(word, np.empty(0), draws[name][:, j]) for j, word in enumerate(LEARNERS)),
            kind="boxes",
        )
        for name, title, label in (
            ("squared", "concentration", "test risk (squared)"),
            ("zero-one", f"concentration > {THRESHOLD}", "test risk (zero-one)"),
        )
    )
    truth = draws["truth"][0] == 1
    curves = tuple(
        Series(word, *_roc(draws["scores"][0, j], truth)) for j, word in enumerate(LEARNERS)
    )
    chance = Series("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "k:", 0.8)
    roc = Panel(
        "ROC on the first test sample",
        "false positive rate",
        "true positive rate",
        (*curves, chance),
    )
    return Panels("insa-ozone", (*boxes, roc), columns=3)


def _roc(scores: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates of "positive where the score exceeds s", for every s."""
    levels = np.unique(scores)[::-1]
    said = scores[None, :] >= levels[:, None]
    rates = [(said[:, rows].mean(axis=1)) for rows in (~truth, truth)]
    false, true = (np.concatenate([[0.0], rate]) for rate in rates)
    return false, true


NOTES = (
    "the lecture shows box plots and ROC curves and prints no numbers.",
    (
        "the splits overlap, so the standard errors say how far the mean over all splits of these "
        "1041 rows is known, not the risk on other days."
    ),
    "rows of one day at five stations are taken as independent, as in the lecture.",
)

insa_ozone = InsaOzone()
