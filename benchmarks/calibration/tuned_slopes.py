"""Do slopes of tuned models hold? `python -m benchmarks.calibration.tuned_slopes [--sets N]`.

A logistic regression is tuned over C = 0.001 to 10, and a discriminant over its shrinkage, by AUC,
zero-one loss, log loss or Brier. The intervals of slope, intercept and calibration in the large are
held to the numbers of the model of all rows on 20,000 fresh rows. A validation may state no
interval, where the slope of held-out predictions does not describe that model; counted are the
intervals that were stated. The last two lines tell whether intervals "hold 1" of models whose true
slope is below .5 or above 2. A quarter of a second to a second for each data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from benchmarks.calibration.validated import FRESH, WORDS, rate_cells
from benchmarks.calibration.validated import Cell as Table
from benchmarks.machine import one_blas_thread
from truerisk.validation.calibration import Recalibration
from truerisk.validation.outcomes import Outcomes

__all__ = ["main"]

PENALTIES = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
SHRINKAGES = {"shrinkage": [0.0, 0.1, 0.3, 0.6, 0.9]}
LOSSES = ("auc", "zero-one", "log", "brier")
OUTER = "pairs"


def logistic() -> LogisticRegression:
    """Make a logistic regression that converges without a penalty to speak of."""
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
            self.table.learner(), dict(self.grid), loss=self.loss, outer=self.outer
        )
        return X, y, search.fit(X, y)

    def truth(self, search: Any, rng: np.random.Generator) -> tuple[float, ...]:
        """Compute slope and intercepts of the tuned model on many fresh rows."""
        X, y = self.table.draw(FRESH, rng)
        line = Recalibration.of(Outcomes.of(y, search.predict_proba(X)[:, 1])).measures()
        return tuple(line[word] for word in WORDS)


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
    truths, ends = [], []
    for _ in range(n_sets):
        X, y, search = cell.draw(rng)
        line = tr.validate(search, X, y, replicates=0, thresholds=0.5).calibration
        intervals = [line[word].interval for word in WORDS]
        ends.append([(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals])
        truths.append(cell.truth(search, rng))
    print(f"{cell}: {n_sets} sets")
    print("\n".join(lines_of(np.array(truths), np.array(ends))), flush=True)


def lines_of(truth: np.ndarray, ends: np.ndarray) -> list[str]:
    """Say how many intervals there are of each number, how many hold it, and what slopes hold 1."""
    low, high = ends[..., 0], ends[..., 1]
    stated, held = np.isfinite(low), (low <= truth) & (truth <= high)
    said = []
    for place, word in enumerate(WORDS):
        n, m = int(stated[:, place].sum()), int(held[:, place].sum())
        above, below = (int(side[:, place].sum()) for side in (low > truth, high < truth))
        said.append(
            f"  {word:13} stated {n}, held {m} ({m / max(n, 1):.3f}), too high {above}, "
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
