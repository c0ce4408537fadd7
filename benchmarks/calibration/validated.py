"""Do the intervals of a validation hold? `python -m benchmarks.calibration.validated [--sets N]`.

Slope, intercept, calibration in the large, net benefit and the band of the curve, at three places
between its ends, of a logistic regression of penalty 1 and of a discriminant. Each
is held to the number of the model of all rows on 20,000 fresh rows, which is what its interval is
for, and to the mean of these numbers over data sets, which it is not for. Two columns carry
something, the others nothing. Five to ten minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from benchmarks.machine import one_blas_thread
from truerisk.validation.calibration import CalibrationFit, CalibrationLine
from truerisk.validation.discrimination import net_benefits
from truerisk.validation.outcomes import Outcomes

__all__ = ["main", "rate_cells"]

THRESHOLDS = np.array([0.2, 0.5])
WORDS = ("slope", "intercept", "in-the-large")
QUANTILES = (0.1, 0.5, 0.9)  # of the range of the curve
NAMES = (
    *(*WORDS, "net benefit at .2", "net benefit at .5"),
    *(f"curve at {share:.0%}" for share in QUANTILES),
)
FRESH = 20_000


@dataclass(frozen=True)
class Cell:
    """A learner on n rows of p columns; `shift` says how rare events are."""

    learner: Callable[[], Any]
    n: int
    p: int
    shift: float

    def __str__(self) -> str:
        return f"{self.learner.__name__} {self.n} x {self.p}, shift {self.shift:g}"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows and events."""
        X = rng.standard_normal((n, self.p))
        log_odds = self.shift + 1.2 * X[:, 0] + 0.6 * X[:, 1]
        return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)

    def of_fresh_rows(
        self, model: Any, at: np.ndarray, rng: np.random.Generator
    ) -> tuple[float, ...]:
        """The numbers of a model on many rows."""
        X, y = self.draw(FRESH, rng)
        outcomes = Outcomes.from_predictions(y, model.predict_proba(X)[:, 1])
        line = CalibrationLine.from_outcomes(outcomes).measures()
        curve = CalibrationFit.from_outcomes(outcomes).event_share_at(at)
        benefit = net_benefits(outcomes, THRESHOLDS)[0]
        return (*(line[word] for word in WORDS), *benefit, *curve)


CELLS = (
    Cell(LogisticRegression, 150, 3, -0.5),
    Cell(LogisticRegression, 150, 15, -0.5),
    Cell(LogisticRegression, 400, 15, -2.0),
    Cell(LinearDiscriminantAnalysis, 150, 15, -0.5),
)


def rate(cell: Cell, n_sets: int, seed: int) -> None:
    """Draw the data sets of a cell and print how many intervals hold."""
    rng = np.random.default_rng([seed, *str(cell).encode()])  # no two cells share a data set
    own, lows, highs, values = [], [], [], []
    for _ in range(n_sets):
        X, y = cell.draw(cell.n, rng)
        found = tr.validate(cell.learner(), X, y, replicates=0, thresholds=THRESHOLDS)
        line, benefit, curve = found.calibration, found.net_benefit, found.calibration.curve
        if line["slope"].interval is None or curve is None or curve.low is None:
            continue
        places = np.searchsorted(curve.predicted, np.quantile(curve.predicted, QUANTILES))
        fresh = cell.of_fresh_rows(cell.learner().fit(X, y), curve.predicted[places], rng)
        own.append(fresh)
        lows.append([*(line[w].interval.low for w in WORDS), *benefit.low, *curve.low[places]])
        highs.append([*(line[w].interval.high for w in WORDS), *benefit.high, *curve.high[places]])
        told = (line[word].honest for word in WORDS)
        values.append([*told, *benefit.honest, *curve.observed[places]])
    print(f"{cell}: {len(own)} sets")
    truth, low, high = np.array(own), np.array(lows), np.array(highs)
    mean = truth.mean(axis=0)
    for name, t, value, of_own, of_mean in zip(
        NAMES,
        mean,
        np.mean(values, axis=0),
        ((low <= truth) & (truth <= high)).mean(axis=0),
        ((low <= mean) & (mean <= high)).mean(axis=0),
        strict=True,
    ):
        said = f"  {name:17} truth {t:7.3f}, mean {value:7.3f}, covered {of_own:.3f}"
        print(f"{said}; its mean {of_mean:.3f}", flush=True)


def rate_cells(
    cells: Sequence[Any],
    rate: Callable[[Any, int, int], None],
    arguments: Sequence[str] | None,
    doc: str | None,
    *,
    n_sets: int,
) -> None:
    """The command line of a file whose `rate` draws and rates the data sets of one cell."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--sets", type=int, default=n_sets, help="data sets a cell")
    parser.add_argument("--cell", type=int, help="one of them, from 0 on")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for cell in cells if asked.cell is None else cells[asked.cell : asked.cell + 1]:
        rate(cell, asked.sets, asked.seed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    rate_cells(CELLS, rate, arguments, __doc__, n_sets=200)


if __name__ == "__main__":
    one_blas_thread()
    main()
