"""Pairs of learners whose difference is known: how often a test says otherwise, and how it sees.

    python -m benchmarks.calibration.differences --seeds 300 --store differences.jsonl

Twins are the same learner on two tables that are drawn alike given y, so their risks are equal;
where labels are noise those of any two classifiers are. Elsewhere the true difference is the mean
over all data sets of the exact difference of the two fitted rules.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from benchmarks.calibration.learners import learner
from benchmarks.calibration.problems import PROBLEMS
from benchmarks.calibration.rating import Rows, asked
from benchmarks.machine import one_blas_thread
from truerisk.comparison.paired import DifferenceSpread
from truerisk.comparison.paired_tests import NadeauBengio, PairedTestOptions
from truerisk.comparison.pairing import PairedLosses as Paired
from truerisk.core.family import Family
from truerisk.estimation.problem import EstimationProblem, problem_from_arguments
from truerisk.estimation.run import Computation, compute_risks, to_risk_curve
from truerisk.methods import KFold, Pairs
from truerisk.splitting.folds import draw_folds

__all__ = ["CELLS", "TUNING", "Duel", "SoftThreshold", "run"]

FOLDS = (5, 10)
HALVES, FOLDS_OF_HALVES, SETS_OF_HALVES = 10, 5, 60  # of what takes long
DRAWING = 19


class SoftThreshold(RegressorMixin, BaseEstimator):
    """Least squares with every coefficient moved towards 0 by `alpha`: of Bayle et al. (2025)."""

    def __init__(self, alpha: float = 0.1) -> None:
        self.alpha = alpha

    def fit(self, X: Rows, y: Rows) -> SoftThreshold:
        self.mean_, centre = X.mean(axis=0), y.mean()
        slopes = np.linalg.lstsq(X - self.mean_, y - centre, rcond=None)[0]
        self.coef_ = np.sign(slopes) * np.maximum(np.abs(slopes) - self.alpha, 0)
        self.intercept_ = centre - self.mean_ @ self.coef_
        return self

    def predict(self, X: Rows) -> Rows:
        return np.asarray(X @ self.coef_ + self.intercept_)


@dataclass(frozen=True, order=True)
class Duel:
    """Two learners on n rows of a problem; `twins` see two tables, else both see one."""

    problem: str
    n: int
    a: str
    b: str
    loss: str = ""
    halves: bool = False

    @property
    def equal(self) -> bool:
        """Whether both risks are the same by symmetry."""
        return self.a == self.b or self.problem == "noise"

    def __str__(self) -> str:
        who = f"twins of {self.a}" if self.a == self.b else f"{self.a} – {self.b}"
        return f"{self.problem}, n={self.n}, {who}" + f", {self.loss}" * bool(self.loss)


TUNING = (  # the rule was chosen on these, and is judged by the others
    Duel("difficult", 80, "knn", "knn"),
    Duel("wide", 80, "ridge", "ridge"),
    Duel("label-noise", 60, "tree", "tree"),
    Duel("kearns", 100, "tree", "tree"),
    Duel("corners", 80, "tree", "tree"),
    Duel("difficult", 80, "tree", "tree"),
    Duel("noise", 80, "lda", "tree"),
    Duel("label-noise", 100, "knn", "lda"),
    Duel("highleyman", 100, "knn", "lda"),
    Duel("xor", 80, "knn", "tree"),
    Duel("label-noise", 100, "knn", "knn", "auc"),
    Duel("difficult", 60, "lda", "lda", "brier"),
    Duel("linear", 60, "lasso .02", "lasso .1", "squared"),
    Duel("linear", 100, "soft .2", "soft .3", "squared"),
    Duel("linear", 60, "ridge", "ridge", "squared"),
)
CELLS = (
    Duel("simple", 60, "knn", "knn", halves=True),
    Duel("simple", 200, "lda", "lda"),
    Duel("corners", 100, "knn", "knn"),
    Duel("xor", 100, "tree", "tree"),
    Duel("sparse", 60, "ridge", "ridge"),
    Duel("imbalanced", 120, "knn", "knn"),
    Duel("noise", 60, "knn", "ridge", halves=True),
    Duel("noise", 200, "knn", "tree"),
    Duel("patients", 120, "knn", "knn"),
    Duel("simple", 100, "knn", "lda", halves=True),
    Duel("difficult", 100, "knn", "lda", halves=True),
    Duel("xor", 60, "knn", "lda"),
    Duel("wide", 100, "knn", "ridge"),
    Duel("kearns", 100, "knn", "tree"),
    Duel("patients", 240, "knn", "lda"),
    Duel("simple", 100, "knn", "knn", "auc"),
    Duel("noise", 100, "knn", "ridge", "auc"),
    Duel("wide", 100, "knn", "ridge", "auc"),
    Duel("simple", 100, "knn", "lda", "brier"),
    Duel("simple", 80, "lda", "lda", "log"),
    Duel("label-noise", 100, "knn", "knn", "f1"),
    Duel("heavy-tails", 100, "ridge", "ridge", "squared"),
    Duel("linear", 60, "lasso", "ridge", "squared"),
    Duel("linear", 100, "lasso .05", "lasso .1", "squared"),
    Duel("linear", 200, "lasso .02", "lasso .05", "squared"),
    Duel("linear", 60, "soft .1", "soft .2", "squared"),
    Duel("linear", 200, "soft .1", "soft .15", "squared"),
    Duel("heavy-tails", 100, "knn", "ridge", "squared"),
    Duel("linear", 60, "lasso", "lasso", "squared"),
)


def _learner(word: str, task: str, n: int) -> tuple[Any, Any]:
    """A learner of the battery, or the Lasso or soft thresholding, tuned or of one penalty."""
    from sklearn.linear_model import Lasso

    name, _, alpha = word.partition(" ")
    if name == "soft":
        return SoftThreshold(float(alpha)), None
    if name == "lasso":
        grid = {"alpha": [0.03, 0.1, 0.3]}
        return (Lasso(float(alpha)), None) if alpha else (Lasso(), grid)
    return learner(name, task, n)


def _tables(duel: Duel, rng: np.random.Generator) -> tuple[list[Rows], Rows, Rows | None, Any]:
    """The table of a and that of b, y, groups, and what rates a rule."""
    problem = PROBLEMS[duel.problem]
    if duel.a != duel.b:
        drawn = problem.draw(duel.n, rng)
        return [drawn.X, drawn.X], drawn.y, drawn.groups, drawn.risk
    if problem.task == "regression":
        tables = [problem.draw_x(rng, duel.n) for _ in range(2)]
        assert problem.noise is not None
        y = sum((problem.given_x(X) for X in tables), problem.noise(rng, duel.n))
        return tables, y, None, None
    drawn = problem.draw(duel.n, rng)
    if drawn.groups is None:
        return [drawn.X, _like(problem.draw, drawn.y, rng)], drawn.y, None, None
    second = np.empty_like(drawn.X)
    for label in np.unique(drawn.y):
        mine, place = [], np.flatnonzero(drawn.y == label)
        while sum(map(len, mine)) < len(place):
            other = problem.draw(duel.n, rng)
            mine.append(other.X[other.y == label])  # whole groups, which are of one class
        second[place] = np.concatenate(mine)[: len(place)]
    return [drawn.X, second], drawn.y, drawn.groups, None


def _like(draw: Callable[..., Any], y: Rows, rng: np.random.Generator) -> Rows:
    """Further rows of the same classes in the same order, independent given these."""
    more = draw(20 * len(y), rng)
    found = np.empty((len(y), more.X.shape[1]))
    for label in np.unique(y):
        place = np.flatnonzero(y == label)
        found[place] = more.X[np.flatnonzero(more.y == label)[: len(place)]]
    return found


def run(duel: Duel, seed: int) -> dict[str, Any]:
    """What is to be stored of one data set: the truth, and what every test is made of."""
    rng = np.random.default_rng([DRAWING, seed, duel.n, *str(duel).encode()])
    tables, y, groups, risk = _tables(duel, rng)
    task = PROBLEMS[duel.problem].task
    posed = []
    for X, word in zip(tables, (duel.a, duel.b), strict=True):
        model, grid = _learner(word, task, duel.n)
        loss = asked(duel.loss, y)
        family = Family.from_grid(model) if grid is None else Family.from_grid(model, grid)
        posed.append(
            problem_from_arguments(family, X, y, groups=groups, random_state=seed, scoring=loss)
        )
    found: dict[str, Any] = {"truth": 0.0}
    for k in FOLDS:
        computed = [compute_risks(one, Pairs(KFold(k))) for one in posed]
        found[str(k)] = _facts(computed)
        if risk is not None and not duel.equal and k == FOLDS[-1]:
            rules = [_fitted(one, X, y) for one, X in zip(computed, tables, strict=True)]
            of = [float(risk(rule, duel.loss)) for rule in rules]
            found["truth"] = of[0] - of[1]
    if duel.halves and seed < SETS_OF_HALVES:
        found["halves"] = _halves(posed, tables, y, rng)
    return found


def _fitted(computed: Computation, X: Rows, y: Rows) -> Any:
    """The setting that the folds choose, fitted to all rows."""
    return computed.problem.family.make(to_risk_curve(computed).best, None).fit(X, y)


def _facts(computed: list[Computation]) -> dict[str, Any]:
    """The numbers that all tests of one set of folds are made of."""
    a, b = (one.procedure for one in computed)
    assert a is not None
    assert b is not None
    assert a.influences is not None
    assert b.influences is not None
    spread = DifferenceSpread.from_influences(
        a.influences, b.influences, float(a.value) - float(b.value)
    )
    facts = {
        "mean": float(a.value) - float(b.value),
        "plain": spread.independent_variance,
        "u": spread.instability,
        "units": spread.n_units,
        "one_row": max(a.influences.one_row, b.influences.one_row),
    }
    assert a.split_risks is not None
    assert b.split_risks is not None
    splits = a.split_risks - b.split_risks
    n, k = computed[0].problem.data.n_rows, len(splits)
    sizes = np.full(k, n // k)
    paired = Paired(split_differences=splits, n_train=n - sizes, n_test=sizes)
    usual = NadeauBengio().compare(paired, PairedTestOptions())
    facts |= {"nb mean": usual.value, "nb error": usual.std_error, "df": k - 1}
    rows = computed[0].problem.data.groups is None and computed[0].problem.loss.binary
    if rows and a.losses is not None and b.losses is not None:
        facts["alone"] = [int((a.losses > b.losses).sum()), int((b.losses > a.losses).sum())]
    return facts


def _halves(
    posed: list[EstimationProblem], tables: list[Rows], y: Rows, rng: np.random.Generator
) -> list[list[float]]:
    """Differences of the tuned learners in both of several pairs of disjoint halves."""
    data = posed[0].data
    found = []
    for _ in range(HALVES):
        labels = draw_folds(data, 2, rng, stratify=True)
        sides = []
        for side in range(2):
            rows = np.flatnonzero(labels == side)
            values = []
            for one, X in zip(posed, tables, strict=True):
                half = problem_from_arguments(
                    one.family, X[rows], y[rows], random_state=one.seed, scoring=one.loss
                )
                told = compute_risks(half, Pairs(KFold(FOLDS_OF_HALVES))).procedure
                assert told is not None
                values.append(float(told.value))
            sides.append(values[0] - values[1])
        found.append(sides)
    return found


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration.differences")
    parser.add_argument("--seeds", type=int, default=300, help="data sets a cell")
    parser.add_argument("--from-seed", type=int, default=0, help="data sets before it are left out")
    parser.add_argument("--store", type=Path, default=Path("differences.jsonl"))
    parser.add_argument("--tuning", action="store_true", help="the cells the rule was chosen on")
    parser.add_argument("--cells", default="", help="cells whose name holds this, such as xor")
    parser.add_argument("--minutes", type=float, help="stop after, and print")
    given = parser.parse_args()
    cells = [duel for duel in (TUNING if given.tuning else CELLS) if given.cells in str(duel)]
    if not cells:
        parser.error(f"--cells {given.cells!r}: no cell has such a name.")
    known = set()
    if given.store.exists():
        for line in given.store.read_text("utf-8").splitlines():
            known.add((json.loads(line)["cell"], json.loads(line)["seed"]))
    until = monotonic() + 60 * (given.minutes or 1e6)
    warnings.simplefilter("ignore")
    with given.store.open("a", encoding="utf-8") as file:
        for seed in range(given.from_seed, given.seeds):  # by turns: a run that is stopped has all
            for duel in cells:
                if (str(duel), seed) not in known and monotonic() < until:
                    line = {"cell": str(duel), "seed": seed, **run(duel, seed)}
                    file.write(json.dumps(line) + "\n")
            file.flush()
    from benchmarks.calibration.duels import table

    lines = [json.loads(line) for line in given.store.read_text("utf-8").splitlines()]
    print(table(lines, cells))
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
