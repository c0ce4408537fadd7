"""Do the intervals of a validation hold? `python -m benchmarks.calibration.validated [--sets N]`.

Slope, intercept, calibration in the large and net benefit of a logistic regression of penalty 1 are
held to their means over training sets: those of 60 models on 20,000 fresh rows each. Two columns
carry something, the others nothing. A quarter of an hour.
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
from truerisk.core.validation.net_benefit import net_benefits
from truerisk.core.validation.outcomes import Outcomes
from truerisk.core.validation.recalibration import Recalibration

__all__ = ["main"]

THRESHOLDS = np.array([0.2, 0.5])
WORDS = ("slope", "intercept", "in-the-large")
NAMES = (*WORDS, "net benefit at .2", "net benefit at .5")
MODELS, FRESH = 60, 20_000


@dataclass(frozen=True)
class Cell:
    """A learner on n rows of p columns; `shift` says how rare events are."""

    learner: Callable[[], Any]
    n: int
    p: int
    shift: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows and events."""
        X = rng.standard_normal((n, self.p))
        log_odds = self.shift + 1.2 * X[:, 0] + 0.6 * X[:, 1]
        return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)

    def truth(self, rng: np.random.Generator) -> np.ndarray:
        """What models of so many rows have on fresh ones, on average."""
        found = []
        for _ in range(MODELS):
            model = self.learner().fit(*self.draw(self.n, rng))
            X, y = self.draw(FRESH, rng)
            outcomes = Outcomes.of(y, model.predict_proba(X)[:, 1])
            line = Recalibration.of(outcomes).measures()
            benefit = net_benefits(outcomes, THRESHOLDS)[0]
            found.append([*(line[word] for word in WORDS), *benefit])
        return np.mean(found, axis=0)


CELLS = (
    Cell(LogisticRegression, 150, 3, -0.5),
    Cell(LogisticRegression, 150, 15, -0.5),
    Cell(LogisticRegression, 400, 15, -2.0),
    Cell(LinearDiscriminantAnalysis, 150, 15, -0.5),
)


def rate(cell: Cell, n_sets: int) -> None:
    """Draw the data sets of a cell and print how many intervals hold."""
    rng = np.random.default_rng(1)
    truth, held, values = cell.truth(rng), [], []
    for _ in range(n_sets):
        X, y = cell.draw(cell.n, rng)
        found = tr.validate(cell.learner(), X, y, replicates=0, thresholds=THRESHOLDS)
        line, benefit = found.calibration, found.net_benefit
        if line["slope"].interval is None:
            continue
        ends = [(line[word].interval.low, line[word].interval.high) for word in WORDS]
        ends += zip(benefit.low, benefit.high, strict=True)
        held.append([low <= t <= high for (low, high), t in zip(ends, truth, strict=True)])
        values.append([*(line[word].honest for word in WORDS), *benefit.honest])
    print(f"{cell.learner.__name__} {cell.n} x {cell.p}, shift {cell.shift:g}: {len(held)} sets")
    shares, means = np.mean(held, axis=0), np.mean(values, axis=0)
    for name, share, mean, t in zip(NAMES, shares, means, truth, strict=True):
        print(f"  {name:17} truth {t:7.3f}, mean {mean:7.3f}, covered {share:.3f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Rate every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200, help="data sets a cell")
    parser.add_argument("--cell", type=int, help="one of them, from 0 on")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for cell in CELLS if asked.cell is None else CELLS[asked.cell : asked.cell + 1]:
        rate(cell, asked.sets)


if __name__ == "__main__":
    one_blas_thread()
    main()
