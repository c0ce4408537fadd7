"""002, Table 4: four classes, the penalty or cost chosen by the pairwise Bayesian error and CV."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from truerisk.core.contracts import Method
from truerisk.core.family import Family
from truerisk.datasets.four_class import make_four_class
from truerisk.methods.information_criteria import EBIC
from truerisk.papers.bee_choosing import (
    ORACLE,
    SHORT,
    bayesian,
    by_size,
    chosen_errors,
    counted,
    counting,
    logistic,
    machines,
)
from truerisk.papers.bee_report import beside, convergence_note, less, mean_grid, spread_gap
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.report import Findings
from truerisk.papers.statements import Statement

__all__ = ["BeeTable4", "bee_table_4"]

CLASSES = 4
SIZES = (60, 100, 200, 400)  # 15, 25, 50, 100 of each class
TEST_ROWS = 40_000  # fresh in every training set; the document: 5 million of each class
LEARNERS: dict[str, tuple[Callable[[], Family], dict[str, Method]]] = {
    "LR": (logistic, {**counting(), **bayesian(standardize=False), "EBIC": EBIC()}),
    "SVM": (machines, {**counting(tens=False), **bayesian(standardize=False)}),
}
PAPER = {
    "LR CV-5": (".215 ± .029", ".164 ± .024", ".111 ± .012", ".083 ± .006"),
    "LR BEEi": (".210 ± .023", ".167 ± .014", ".142 ± .009", ".134 ± .006"),
    "LR BEEp": (".212 ± .029", ".156 ± .019", ".106 ± .010", ".080 ± .005"),
    "SVM CV-5": (".196 ± .022", ".159 ± .017", ".133 ± .008", ".110 ± .006"),
    "SVM BEEi": (".180 ± .015", ".151 ± .008", ".133 ± .004", ".125 ± .005"),
    "SVM BEEp": (".215 ± .022", ".171 ± .016", ".136 ± .007", ".106 ± .006"),
}


class BeeTable4(Experiment):
    """Four classes at the vertices of a tetrahedron, 15 features that tell them apart of 21."""

    word: ClassVar[str] = "bee-table-4"
    title: ClassVar[str] = "Huttunen and Tohka (2015), Table 4: four classes"
    document: ClassVar[str] = (
        "L1 logistic regression (LR) and linear machines (SVM); conditional error rates"
    )
    replicates: ClassVar[int] = 100
    quick: ClassVar[int] = 3
    unit: ClassVar[str] = "training sets of each size"

    def replicate(self, seed: int, number: int) -> Draws:
        every = [_chosen(seed, number, n_rows) for n_rows in SIZES]
        found: dict[str, np.ndarray] = {}
        for word in LEARNERS:
            found |= by_size([one[word] for one in every], word)
        return found

    def findings(self, draws: Draws) -> Findings:
        grids = [
            mean_grid(
                draws,
                {name: f"{word} {name}" for name in (*methods, ORACLE)},
                SIZES,
                f"{word}: mean error of the chosen rule",
            )
            for word, (_, methods) in LEARNERS.items()
        ]
        notes = (*NOTES, convergence_note(draws, f"LR {SHORT}"))
        return Findings((*grids, beside(draws, SIZES, PAPER)), _claims(draws), notes)


def _chosen(seed: int, number: int, n_rows: int) -> dict[str, dict[str, float]]:
    """For each learner, the error of each method's choice on one training set."""
    rng = stream(f"bee-four-class {n_rows}", seed, number)
    X, y = make_four_class(n_rows, random_state=rng)
    errors_of = counted(*make_four_class(TEST_ROWS, shuffle=False, random_state=rng))
    return {
        word: chosen_errors(family(), X, y, errors_of, methods, number)
        for word, (family, methods) in LEARNERS.items()
    }


def _claims(draws: Draws) -> tuple[Statement, ...]:
    """What the text says of the table."""
    said = [
        *(("LR", "BEEp", "CV-5", j) for j in (1, 2, 3)),
        ("SVM", "BEEp", "CV-5", 3),
        *(("SVM", "BEEi", "CV-5", j) for j in (0, 1)),
        *(("SVM", "CV-5", "BEEp", j) for j in (0, 1)),
        *(("LR", "CV-5", "BEEi", j) for j in (2, 3)),
        ("SVM", "CV-5", "BEEi", 3),
    ]
    found = [less(draws, low, high, j, SIZES[j], learner=word) for word, low, high, j in said]
    return (*found, _spreads(draws))


def _spreads(draws: Draws) -> Statement:
    return Statement(
        "the errors of choices by BEE have smaller standard deviations than those by CV-5",
        tuple(
            spread_gap(
                f"{word}, {name} − CV-5, n = {n}",
                draws[f"{word} {name}"][:, j],
                [draws[f"{word} CV-5"][:, j]],
            )
            for word in LEARNERS
            for name in ("BEEp", "BEEi")
            for j, n in enumerate(SIZES)
        ),
    )


NOTES = (
    (
        "the document describes the means and does not print the covariance. Here the Bayes error "
        f"is {make_four_class.bayes_risk:.4f}; levels are not comparable, signs are."
    ),
    (
        "the caption calls the numbers behind ± standard errors; they are standard deviations, as "
        "the text has it: differences of a tenth of them are called significant."
    ),
    f"{TEST_ROWS} fresh rows measure the true errors of all rules of a training set.",
    "the estimates take the features as they are, with variance 1 in each class.",
)

bee_table_4 = BeeTable4()
