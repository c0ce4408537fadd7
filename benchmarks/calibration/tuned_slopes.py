"""Rate intervals of tuned slopes: `python -m benchmarks.calibration.tuned_slopes [--sets N]`.

A logistic regression is tuned over C = 0.001 to 10, and a discriminant over its shrinkage, by AUC,
zero-one loss, log loss or Brier. The intervals of slope, intercept, calibration in the large and
net benefit are held to the numbers of the model of all rows on 20,000 fresh rows. A validation may
state no interval, where the slope of held-out predictions does not describe that model; counted are
the intervals that were stated. The last two lines tell how many intervals "hold 1" of models whose
true slope is below .5 or above 2. All of this is printed twice: as `tr.validate` does it, and for
intervals that rest on the pooled predictions of the folds' models, whatever settings these chose.
A quarter of a second to a second for each data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from benchmarks.calibration.validated import FRESH, WORDS, rate_cells
from benchmarks.calibration.validated import Cell as Table
from benchmarks.machine import one_blas_thread
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.outcomes import Outcomes

__all__ = ["main"]

PENALTIES = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
SHRINKAGES = {"shrinkage": [0.0, 0.1, 0.3, 0.6, 0.9]}
LOSSES = ("auc", "zero-one", "log", "brier")
OUTER = "pairs"
THRESHOLDS = np.array([0.2, 0.35, 0.5])
NAMES = (*WORDS, *(f"benefit at {t:g}" for t in THRESHOLDS))


def logistic() -> LogisticRegression:
    """Make a logistic regression that converges even if its penalty is small."""
    return LogisticRegression(max_iter=1000)


def discriminant() -> LinearDiscriminantAnalysis:
    """Make a linear discriminant whose covariance can be shrunken."""
    return LinearDiscriminantAnalysis(solver="lsqr")


@dataclass(frozen=True)
class Cell:
    """A learner, tuned by `loss` over `grid` on rows of a table and tested by `outer` splits."""

    table: Table
    grid: Mapping[str, Sequence[float]]
    loss: str
    outer: str = OUTER

    def __str__(self) -> str:
        return f"{self.table}, tuned by {self.loss}, {self.outer}"

    def draw(self, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """Draw a data set and tune the learner on it."""
        X, y = self.table.draw(self.table.n, rng)
        search = tr.HonestSearchCV(
            self.table.learner(), dict(self.grid), scoring=self.loss, outer=self.outer
        )
        return X, y, search.fit(X, y)

    def truth(self, search: Any, rng: np.random.Generator) -> tuple[float, ...]:
        """Compute slope, intercepts and net benefit of the tuned model on many fresh rows."""
        X, y = self.table.draw(FRESH, rng)
        outcomes = Outcomes.from_predictions(y, search.predict_proba(X)[:, 1])
        line = CalibrationLine.from_outcomes(outcomes).measures()
        return (*(line[word] for word in WORDS), *net_benefits(outcomes, THRESHOLDS)[0])


def cells_of(learner: Callable[[], Any], n: int, p: int, shift: float) -> list[Cell]:
    """List the cells of one table, one for each loss."""
    grid = PENALTIES if learner is logistic else SHRINKAGES
    return [Cell(Table(learner, n, p, shift), grid, loss) for loss in LOSSES]


CELLS = (
    *cells_of(logistic, 150, 15, -0.5),
    *cells_of(logistic, 150, 3, -0.5),
    *cells_of(logistic, 400, 15, -2.0),
    *cells_of(discriminant, 150, 15, -0.5),
    Cell(Table(logistic, 150, 15, -0.5), PENALTIES, "auc", "5-fold"),
    Cell(Table(logistic, 150, 15, -0.5), PENALTIES, "log", "5-fold"),
)


def rate(cell: Cell, n_sets: int, seed: int) -> None:
    """Draw the data sets of a cell and print how many intervals are stated, and hold."""
    rng = np.random.default_rng([seed, *str(cell).encode()])  # no two cells share a data set
    truths, ends, pooled_ends = [], [], []
    for _ in range(n_sets):
        X, y, search = cell.draw(rng)
        ends.append(intervals_of(search, X, y))
        with patch("truerisk.validation.rating.with_final_setting", return_value=None):
            pooled_ends.append(intervals_of(search, X, y))
        truths.append(cell.truth(search, rng))
    print(f"{cell}: {n_sets} sets")
    print("\n".join(lines_of(np.array(truths), np.array(ends))))
    print(" pooled predictions, whatever the settings:")
    print("\n".join(lines_of(np.array(truths), np.array(pooled_ends))), flush=True)


def intervals_of(search: Any, X: Any, y: Any) -> list[tuple[float, float]]:
    """Return the ends of the interval of each name, NaN where none is stated."""
    found = tr.validate(search, X, y, replicates=0, thresholds=THRESHOLDS)
    intervals = [found.calibration[word].interval for word in WORDS]
    line = [(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals]
    benefit = found.net_benefit
    return line + list(zip(benefit.low, benefit.high, strict=True))


def lines_of(truth: np.ndarray, ends: np.ndarray) -> list[str]:
    """Count the intervals of each number, how many hold it, and how many of far slopes hold 1."""
    low, high = ends[..., 0], ends[..., 1]
    stated, held = np.isfinite(low), (low <= truth) & (truth <= high)
    said = []
    for place, word in enumerate(NAMES):
        n, m = int(stated[:, place].sum()), int(held[:, place].sum())
        above, below = (int(side[:, place].sum()) for side in (low > truth, high < truth))
        said.append(
            f"  {word:15} stated {n}, held {m} ({m / max(n, 1):.3f}), too high {above}, "
            f"too low {below}; median width {np.nanmedian((high - low)[:, place]):.2f}"
        )
    far = (truth[:, 0] < 0.5) | (truth[:, 0] > 2)
    one = far & (low[:, 0] <= 1) & (high[:, 0] >= 1)
    said.append(f"  true slope below .5 or above 2: {far.sum()}, of which {one.sum()} hold 1")
    said.append(f"  and {int((far & ~stated[:, 0]).sum())} have no interval")
    return said


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    rate_cells(CELLS, rate, arguments, __doc__, n_sets=200)


if __name__ == "__main__":
    one_blas_thread()
    main()
