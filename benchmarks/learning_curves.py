"""Whether the band of a learning curve covers the risk, where it was measured and beyond.

    python -m benchmarks.learning_curves [replicates [processes]]

Each cell is a generator and a learner. Its true learning curve is the mean, over training sets
drawn anew, of the error on many rows of a test set. A replicate draws n rows, makes the curve with
the usual sizes and reads it at 1.25 times the smallest, at half of the largest, at the largest,
and at two and four times that. Bias is the mean of value − truth; coverage is the share of 95 %
intervals that hold the truth; `plain` is the bias of the largest measured risk taken for the risk
with four times as many rows, which is what one has without a law.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import truerisk as tr
from truerisk.exceptions import Refusal

TEST_ROWS = 4000
DRAWINGS = 20_000  # training rows, all drawings of a size together
MOST_DRAWINGS = 150
Rows = tuple[Any, Any]


def gaussian(n: int, seed: int) -> Rows:
    """Two classes of ten columns, of which three say something."""
    rng = np.random.default_rng([seed, n])
    y = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, 10)) + y[:, None] * np.r_[1.0, 0.8, 0.5, np.zeros(7)], y


def linear(n: int, seed: int) -> Rows:
    """Ten columns and a linear target with noise of variance 1."""
    rng = np.random.default_rng([seed, n])
    X = rng.normal(size=(n, 10))
    return X, X @ np.linspace(1, 0, 10) + rng.normal(size=n)


def _drawn(make: Callable[..., Any]) -> Callable[[int, int], Rows]:
    return lambda n, seed: make(n, random_state=seed)


def _nearest(k: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(k)


def _search() -> Any:
    return tr.HonestSearchCV(_nearest(1), {"n_neighbors": [1, 3, 5, 7]}, cv="5-fold")


def learners() -> dict[str, Any]:
    """What is fitted, by the name that a cell gives it."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    return {
        "1-nn": _nearest(1),
        "3-nn": _nearest(3),
        "tuned knn": _search(),
        "lda": LinearDiscriminantAnalysis(),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(random_state=0),
        "least squares": LinearRegression(),
    }


GENERATORS: dict[str, Callable[[int, int], Rows]] = {
    "simple": _drawn(tr.datasets.make_simple),
    "difficult": _drawn(tr.datasets.make_difficult),
    "highleyman": _drawn(tr.datasets.make_highleyman),
    "four-class": _drawn(tr.datasets.make_four_class),
    "gaussian": gaussian,
    "linear": linear,
}
CELLS = (
    ("simple", "3-nn", 100),
    ("difficult", "1-nn", 100),
    ("difficult", "3-nn", 100),
    ("difficult", "tuned knn", 100),
    ("gaussian", "lda", 100),
    ("gaussian", "bayes", 100),
    ("gaussian", "tree", 100),
    ("gaussian", "tuned knn", 100),
    ("four-class", "3-nn", 100),
    ("highleyman", "tree", 100),
    ("linear", "least squares", 100),
    ("gaussian", "lda", 300),
)


@dataclass
class Cell:
    """What was found with one generator and one learner: a line for each replicate."""

    generator: str
    learner: str
    n_rows: int
    truth: np.ndarray
    values: list[np.ndarray] = field(default_factory=list)
    covered: list[np.ndarray] = field(default_factory=list)
    widths: list[np.ndarray] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    refused: int = 0

    @property
    def bias(self) -> np.ndarray:
        return np.mean(self.values, axis=0) - self.truth

    @property
    def coverage(self) -> np.ndarray:
        return np.mean(self.covered, axis=0)

    @property
    def plain(self) -> float:
        """The bias of the largest measured risk, as one with four times as many rows."""
        return float(np.mean(self.last) - self.truth[-1])


def truth(generator: str, learner: Any, sizes: np.ndarray) -> np.ndarray:
    """The mean risk over training sets of each size."""
    from sklearn.base import clone, is_regressor

    model = clone(learner)
    if isinstance(model, tr.HonestSearchCV):
        model.set_params(outer=None)
    draw = GENERATORS[generator]
    X, y = draw(TEST_ROWS, 10**6)
    found = []
    for n in sizes.astype(int).tolist():
        losses = []
        for seed in range(max(25, min(MOST_DRAWINGS, DRAWINGS // n))):
            answers = clone(model).fit(*draw(n, 2 * 10**6 + seed)).predict(X)
            loss = (answers - y) ** 2 if is_regressor(model) else answers != y
            losses.append(loss.mean())
        found.append(np.mean(losses))
    return np.array(found)


def measure(generator: str, name: str, n_rows: int, replicates: int, first: int = 0) -> Cell:
    """So many data sets of a cell, each with its learning curve."""
    warnings.simplefilter("ignore")
    learner, cell = learners()[name], None
    for seed in range(first, first + replicates):
        seeded: dict[str, Any] = {"random_state": seed}
        if isinstance(learner, tr.HonestSearchCV):
            learner.set_params(**seeded)
            seeded = {}
        curve = tr.learning_curve(learner, *GENERATORS[generator](n_rows, seed), **seeded)
        if cell is None:
            low, high = np.ceil(1.25 * curve.sizes[0]), np.floor(curve.sizes[-1])
            at = np.array([low, high // 2, high, 2 * high, 4 * high])
            cell = Cell(generator, name, n_rows, truth(generator, learner, at))
        cell.last.append(float(curve.values[-1]))
        try:
            read = [curve.at(float(n)) for n in at]
        except Refusal:
            cell.refused += 1
            continue
        cell.values.append(np.array([one.value for one in read]))
        cell.widths.append(np.array([one.interval.width for one in read]))
        inside = [t in one.interval for t, one in zip(cell.truth, read, strict=True)]
        cell.covered.append(np.array(inside))
    assert cell is not None
    return cell


def lines(cells: list[Cell]) -> list[str]:
    """The table of docs/learning-curves.md."""
    head = "| generator, rows | learner | true risk | bias | coverage | width | `plain` | refused |"
    told = [head, "|---|---|---|---|---|---|---:|---:|"]
    for cell in cells:
        parts = (cell.truth, cell.bias, cell.coverage, np.mean(cell.widths, axis=0))
        written = [" ".join(f"{x:.3f}".replace("0.", ".") for x in part) for part in parts]
        where = f"{cell.generator}, {cell.n_rows}"
        told.append(
            f"| {where} | {cell.learner} | {' | '.join(written)} | {cell.plain:.3f} | "
            f"{cell.refused} |"
        )
    answered = [cell for cell in cells if not cell.refused] or cells
    mean = np.mean([cell.coverage for cell in answered], axis=0)
    worst = np.min([cell.coverage for cell in answered], axis=0)
    return [*told, f"mean coverage {mean.round(3).tolist()}, least {worst.round(3).tolist()}"]


def main() -> None:
    """Every cell, printed as it comes."""
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = []
    with ProcessPoolExecutor(processes) as pool:
        for cell in pool.map(measure, *zip(*CELLS, strict=True), [replicates] * len(CELLS)):
            found.append(cell)
            print(lines([cell])[2], flush=True)
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
