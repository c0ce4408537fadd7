"""Table 1 of Daudin and Mary-Huard: choosing k on the colon data by swapping and leave-one-out."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from truerisk.core.contracts import Request, RunOptions
from truerisk.core.family import Family
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.datasets.documents import colon
from truerisk.engines.neighbours.knn import NearestNeighbours
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.report import (
    Findings,
    PaperTable,
    Row,
    mean_row,
    printed,
)
from truerisk.papers.statements import Quantity, Statement

__all__ = ["ColonTable1", "colon_table_1", "selection_curves"]

N_TRAIN, N_TEST = 42, 20
GENES = (2000, 1000, 500, 100)
RULES = ("oracle", "LOO", "S exact", "S as printed")
ORACLE, LOO, EXACT, PRINTED = range(4)
N0 = 10
KS = np.arange(1, N_TRAIN, 2)
RESAMPLINGS = 500  # of the document and of the same recipe below

# mean number of neighbours and mean test error in percent; None where the print is lost
PAPER = {
    2000: ((6.0, 19.0), (6.7, 28.8), (9.11, 28.6)),
    1000: ((7.6, 13.8), (11.2, 21.1), (12.8, 21.4)),
    500: ((None, None), (None, None), (None, 18.1)),
    100: ((4.8, 12.0), (20.7, 16.0), (12.0, 15.6)),
}
SAME_RECIPE = {
    2000: ((6.0, 18.9), (6.9, 27.8), (6.6, 27.3), (9.2, 29.4)),
    1000: ((7.2, 14.2), (11.0, 21.0), (10.5, 20.8), (11.7, 21.1)),
    100: ((4.7, 12.2), (21.0, 16.2), (10.7, 14.9), (11.4, 14.9)),
}


class ColonTable1(Experiment):
    """500 times 42 tissues to learn and choose, 20 to test; odd k, Euclidean distance."""

    word: ClassVar[str] = "colon-table-1"
    title: ClassVar[str] = "Daudin and Mary-Huard, Table 1: choosing k on the colon data"
    document: ClassVar[str] = (
        "mean number of neighbours (N) and mean test error in percent (R) by number of genes"
    )
    replicates: ClassVar[int] = RESAMPLINGS
    quick: ClassVar[int] = 50
    unit: ClassVar[str] = "resamplings"

    def check(self) -> None:
        _standardised()

    def replicate(self, seed: int, number: int) -> Draws:
        X, y = _standardised()
        order = stream(self.word, seed, number).permutation(N_TRAIN + N_TEST)
        X, y = X[order], y[order]
        genes = _ranked_genes(X[:N_TRAIN], y[:N_TRAIN])
        chosen = [_choices(X[:, genes[:size]], y) for size in GENES]
        neighbours, errors = zip(*chosen, strict=True)
        return {"neighbours": np.array(neighbours), "error": np.array(errors)}

    def findings(self, draws: Draws) -> Findings:
        return Findings(
            tables=(_paper_table(draws), _recipe_table(draws)),
            claims=tuple(
                _outperforms(draws, size, form)
                for form in (EXACT, PRINTED)
                for size in (2000, 500, 100)
            ),
            notes=NOTES,
        )


@lru_cache(maxsize=1)
def _standardised() -> tuple[np.ndarray, np.ndarray]:
    """Logarithms; each array, then each gene, to mean 0 and variance 1."""
    data = colon.bundle()
    X = np.log10(data.X)
    for axis in (1, 0):
        X = (X - X.mean(axis=axis, keepdims=True)) / X.std(axis=axis, keepdims=True)
    return X, data.y


def _ranked_genes(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Genes by the ratio of the sums of squares between and within the classes, best first."""
    between, within = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for label in (0, 1):
        rows = X[y == label]
        between += len(rows) * (rows.mean(axis=0) - X.mean(axis=0)) ** 2
        within += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    return np.argsort(-between / within, kind="stable")


@lru_cache(maxsize=1)
def _plan() -> Plan:
    """Rows 0 … 41 learn; asked are they ("apparent", "loo") and the others ("test")."""
    builder = PlanBuilder(N_TRAIN + N_TEST)
    train = builder.block(np.arange(N_TRAIN))
    test = builder.block(np.arange(N_TRAIN, N_TRAIN + N_TEST))
    builder.ask((train, ()), (train, ()), part="apparent")
    for fold in range(N_TRAIN):
        row = builder.block(np.array([fold]))
        builder.ask((train, (row,)), (row, ()), part="loo", fold=fold)
    builder.ask((train, ()), (test, ()), part="test")
    return builder.build()


@lru_cache(maxsize=1)
def _family() -> Family:
    from sklearn.neighbors import KNeighborsClassifier

    return Family.of(KNeighborsClassifier(), {"n_neighbors": KS.tolist()})


def selection_curves(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Test error, leave-one-out error, L_n + S exact and as printed, one row each, for every k.

    Swapping in closed form for odd k: the k neighbours of a row hold the row itself, and its label
    decides where the other k − 1 are split evenly. As printed, the document forgets that the row
    must be on the side of the majority, and counts both short majorities.
    """
    plan = _plan()
    data = Data(X, y, "classification", np.array([0, 1]), y)
    answers = NearestNeighbours().run(_family(), data, plan, Request("probability"), RunOptions())
    rows, _ = plan.positions
    part = np.repeat(plan.part, plan.test_sizes)
    ones = answers.values[:, :, 1]
    wrong = (ones > 0.5) != y[rows]
    apparent, loo, test = (wrong[:, part == p].mean(axis=1) for p in range(3))
    among = np.rint(ones[:, part == 0] * KS[:, None]).astype(np.int64)
    half = KS[:, None] // 2
    exact = among - y[rows[part == 0]] == half
    as_printed = (among == half) | (among == half + 1)
    weight = (1 - 1 / (KS + N0) ** 2) / 2
    penalties = [weight * swaps.mean(axis=1) for swaps in (exact, as_printed)]
    return np.stack([test, loo, *(apparent + penalty for penalty in penalties)])


def _choices(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Chosen k and its test error in percent by every rule; ties of LOO go to the largest k."""
    curves = selection_curves(X, y)
    least = curves <= curves.min(axis=1, keepdims=True) + 1e-12
    places = least.argmax(axis=1)
    places[LOO] = np.flatnonzero(least[LOO])[-1]
    return KS[places], 100 * curves[ORACLE][places]


def _pair(draws: Draws, size: int, rule: int, known: tuple[float | None, ...]) -> list[Row]:
    """N and R of a rule, where there is something to compare them with."""
    rows = []
    for letter, name, value in zip("NR", ("neighbours", "error"), known, strict=True):
        if value is not None:
            values = draws[name][:, GENES.index(size), rule].astype(float)
            error = printed(values, RESAMPLINGS, 1)
            rows.append(mean_row(f"{size} genes, {RULES[rule]}: {letter}", values, value, error))
    return rows


def _paper_table(draws: Draws) -> PaperTable:
    rows: list[Row] = []
    for size, (oracle, loo, swapping) in PAPER.items():
        for rule, known in zip(range(4), (oracle, loo, swapping, swapping), strict=True):
            rows += _pair(draws, size, rule, known)
    return PaperTable(
        "against the paper (its S is compared with both forms)", "paper", tuple(rows), 2
    )


def _recipe_table(draws: Draws) -> PaperTable:
    rows: list[Row] = []
    for size, known in SAME_RECIPE.items():
        for rule, pair in enumerate(known):
            rows += _pair(draws, size, rule, pair)
    title = f"against another {RESAMPLINGS} resamplings of this recipe"
    return PaperTable(title, "same recipe", tuple(rows), 2)


def _outperforms(draws: Draws, size: int, form: int) -> Statement:
    errors = draws["error"][:, GENES.index(size)]
    gain = Quantity.mean(
        "test error by LOO − by S, points", errors[:, LOO] - errors[:, form], digits=2
    )
    return Statement(f"{RULES[form]} outperforms LOO with {size} genes", (gain,))


NOTES = (
    (
        "recipe: log10; each array, then each gene standardised on all 62 tissues; 42 tissues "
        "drawn at random; genes ranked on these 42 alone; equal criteria choose the smallest k, "
        "those of leave-one-out the largest. The document states no rule for ties."
    ),
    (
        "as printed, S counts m = (k−1)/2 and m = (k+1)/2 without the document's own condition "
        "that the row belongs to the majority; that inflates it 1.5 to 1.9 times. The paper's "
        "column fits the printed form better; the exact form equals flipping every label."
    ),
    "the paper's row of 500 genes survives in one number.",
)

colon_table_1 = ColonTable1()
