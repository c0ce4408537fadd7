"""The interval of a risk in space, on Gaussian fields: how often it holds the risk, and how wide.

    python -m benchmarks.calibration.space --seeds 150 --store space.jsonl

The `process` risk is the mean of the cross-validated risks over all fields of a cell, which is what
the folds of such fields estimate without bias. The risk in the `region` is that of the models of
the folds at as many fresh places of the very field, each tested by the fold of the row next to it.
`--loss auc` (or another score of whole test sets) asks the same of the classifiers' scores; Wald's
interval and the region's risk are those of losses of rows, and are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from benchmarks.machine import one_blas_thread
from truerisk.data.places import default_cell_side, grid_cells
from truerisk.datasets.dependent import FieldProblem
from truerisk.exceptions import FitFailed, Refusal

__all__ = ["CELLS", "LEARNERS", "Cell", "main", "run", "table"]

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """Fields of one range, seen at `n` places, uniform or clustered."""

    range: float
    n: int
    n_clusters: int | None = None

    def __str__(self) -> str:
        return f"range {self.range:g}, n={self.n}, {'clusters' if self.n_clusters else 'uniform'}"


CELLS = tuple(
    Cell(range_, n, n_clusters)
    for range_ in (0.03, 0.08, 0.15, 0.3, 0.6)
    for n, n_clusters in ((80, None), (200, 10))
)


@dataclass(frozen=True)
class Learner:
    """A model of some columns of X, tuned over a grid in pairs of blocks, or as it is."""

    model: Callable[[], Any]
    columns: slice
    grid: Mapping[str, Sequence[Any]] | None = None


FEATURES, ALL = slice(2, 4), slice(0, 4)
NEIGHBOURS = {"n_neighbors": [1, 3, 7, 15]}
LEARNERS = {
    ("classification", "linear"): Learner(LogisticRegression, FEATURES),
    ("classification", "tuned knn"): Learner(KNeighborsClassifier, ALL, NEIGHBOURS),
    ("classification", "tree"): Learner(
        lambda: DecisionTreeClassifier(max_depth=4, random_state=0), ALL
    ),
    ("regression", "linear"): Learner(Ridge, FEATURES),
    ("regression", "tuned knn"): Learner(KNeighborsRegressor, ALL, NEIGHBOURS),
    ("regression", "tree"): Learner(
        lambda: DecisionTreeRegressor(max_depth=4, random_state=0), ALL
    ),
}


def run(cell: Cell, seed: int, loss: str | None = None) -> list[dict[str, Any]]:
    """What each learner says of one field, of its numbers and of their signs; a loss asks of signs.

    Where the field has one sign in all other blocks, no classifier can be fitted, and none speaks.
    """
    problem = FieldProblem(cell.range, task="regression", n_clusters=cell.n_clusters)
    X, y = problem(2 * cell.n, random_state=np.random.default_rng([seed, *str(cell).encode()]))
    known, told = {"cell": str(cell), "seed": seed}, []
    for (task, name), learner in LEARNERS.items():
        if loss is not None and task == "regression":
            continue
        target = y if task == "regression" else (y > 0).astype(int)
        try:
            found = _of_learner(learner, X, target, cell.n, loss)
        except (FitFailed, Refusal):
            continue  # a score of ranks is refused where a fold of blocks has one sign
        if found["value"] is None or found["label_value"] is None:
            continue
        told.append({**known, "learner": f"{task} {name}"} | found)
    return told


def _of_learner(
    learner: Learner, X: np.ndarray, y: np.ndarray, n: int, loss: str | None = None
) -> dict[str, Any]:
    """The risk, the intervals by places, by labels and Wald's, and the risk in the region."""
    mine = slice(0, n)
    places = X[mine, :2]
    labels = grid_cells(places, default_cell_side(places))
    found = _risk(learner, X[mine], y[mine], places, loss)
    by_label = _risk(learner, X[mine], y[mine], labels, loss)
    told = {
        "value": found.value,
        "label_value": by_label.value,
        "spatial": _ends(found),
        "labels": _ends(by_label),
    }
    if loss is not None:
        return {**told, "region": None, "wald": None}
    half = 1.96 * np.std(found.losses) / n**0.5
    wald = [found.value - half, found.value + half]
    return {**told, "region": _in_region(learner, found, X, y, n), "wald": wald}


def _risk(
    learner: Learner, X: np.ndarray, y: np.ndarray, block: np.ndarray, loss: str | None
) -> Any:
    """The risk over folds of blocks, of the tuned learner where it has a grid."""
    model, columns = learner.model(), X[:, learner.columns]
    method = "blocks-5"
    if learner.grid is None:
        return tr.estimate_risk(model, columns, y, block=block, cv=method, scoring=loss)
    search = tr.HonestSearchCV(model, learner.grid, cv=method, scoring=loss, refit=False)
    return search.fit(columns, y, block=block).risk_


def _ends(found: Any) -> list[float] | None:
    return None if found.interval is None else [found.interval.low, found.interval.high]


def _in_region(learner: Learner, found: Any, X: np.ndarray, y: np.ndarray, n: int) -> float | None:
    """The mean loss of the models of the folds at the fresh places; None of tuned ones."""
    if learner.grid is not None:
        return None
    fold = np.asarray(found.answers_by_row()["fold"])
    of_fresh = fold[cKDTree(X[:n, :2]).query(X[n:, :2])[1]]
    total = 0.0
    for k in np.unique(fold):
        train, fresh = np.flatnonzero(fold != k), n + np.flatnonzero(of_fresh == k)
        if len(fresh):
            model = learner.model().fit(X[train][:, learner.columns], y[train])
            wrong = model.predict(X[fresh][:, learner.columns]) - y[fresh]
            total += float((wrong**2).sum())  # of classes 0 and 1, too: errors
    return total / (len(y) - n)


def table(lines: Sequence[Line]) -> str:
    """Coverage of the process risk by each interval, of the region's, widths, and how many none."""
    said = [f"{'cell':46} {'spatial':>8} {'labels':>7} {'wald':>6} {'region':>7} {'width':>6} none"]
    cells = list(dict.fromkeys((line["cell"], line["learner"]) for line in lines))
    for cell, learner in cells:
        mine = [line for line in lines if (line["cell"], line["learner"]) == (cell, learner)]
        truths = _of_others([line["value"] for line in mine])
        of_labels = _of_others([line["label_value"] for line in mine])
        known = {"spatial": truths, "labels": of_labels, "wald": truths}
        shares = [np.mean(_held(mine, word, truth) or [np.nan]) for word, truth in known.items()]
        in_region = [line["region"] for line in mine]
        region = np.mean(_held(mine, "spatial", in_region) or [np.nan])
        given = [line for line in mine if line["spatial"] is not None]
        beside = [line for line in given if line["wald"] is not None]
        wider = [np.ptp(line["spatial"]) / max(np.ptp(line["wald"]), 1e-12) for line in beside]
        said.append(
            f"{cell + ', ' + learner:46} {shares[0]:8.3f} {shares[1]:7.3f} {shares[2]:6.3f} "
            f"{region:7.3f} {np.median(wider or [np.nan]):6.2f} {len(mine) - len(given)}"
        )
    return "\n".join([*said, *_averages(lines)])


def _averages(lines: Sequence[Line]) -> list[str]:
    """The coverage of each interval over all learners of a cell, of a range and of all.

    Learners share a field: its standard error is that of means over fields.
    """
    hits: dict[str, dict[str, dict[Any, list[bool]]]] = {}
    for cell, learner in dict.fromkeys((line["cell"], line["learner"]) for line in lines):
        mine = [line for line in lines if (line["cell"], line["learner"]) == (cell, learner)]
        for kind, value in (("spatial", "value"), ("labels", "label_value"), ("wald", "value")):
            truths = _of_others([line[value] for line in mine])
            for line, truth in zip(mine, truths, strict=True):
                for word in (cell, cell.split(",")[0], learner, "all"):
                    of_field = hits.setdefault(word, {}).setdefault(kind, {})
                    of_field.setdefault((cell, line["seed"]), []).extend(
                        _held([line], kind, [truth])
                    )
    return [
        f"{word}: " + ", ".join(f"{kind} {_share(of)}" for kind, of in kinds.items())
        for word, kinds in sorted(hits.items())
    ]


def _share(fields: Mapping[Any, Sequence[bool]]) -> str:
    """The share of intervals that hold, with the standard error of a ratio of sums over fields."""
    held, asked = np.array([(sum(of), len(of)) for of in fields.values()]).T
    if not asked.any():
        return "–"
    share = held.sum() / asked.sum()
    error = np.sqrt(((held - share * asked) ** 2).sum()) / asked.sum()
    return f"{share:.3f} ± {error:.3f}"


def _of_others(values: Sequence[float]) -> list[float]:
    """The mean of all other fields: an interval is not held to a truth that it took part in."""
    total = sum(values)
    return [(total - value) / max(len(values) - 1, 1) for value in values]


def _held(lines: Sequence[Line], word: str, truths: Sequence[float | None]) -> list[bool]:
    """Whether each interval that there is holds its truth, where that is known."""
    return [
        bool(line[word][0] <= truth <= line[word][1])
        for line, truth in zip(lines, truths, strict=True)
        if line[word] is not None and truth is not None
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration.space")
    parser.add_argument("--seeds", type=int, default=150, help="fields a cell")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first field")
    parser.add_argument("--loss", help="a score of whole test sets, such as auc")
    parser.add_argument("--store", type=Path, default=Path("space.jsonl"))
    parser.add_argument("--minutes", type=float, help="stop after, and print")
    given = parser.parse_args(arguments)
    read = given.store.read_text("utf-8").splitlines() if given.store.exists() else []
    known = {(line["cell"], line["seed"]) for line in map(json.loads, read)}
    until = monotonic() + 60 * (given.minutes or 1e6)
    warnings.simplefilter("ignore")
    with given.store.open("a", encoding="utf-8") as file:
        for seed in range(
            given.first, given.first + given.seeds
        ):  # by turns: a run that is stopped has all cells
            for cell in CELLS:
                if (str(cell), seed) not in known and monotonic() < until:
                    file.writelines(json.dumps(line) + "\n" for line in run(cell, seed, given.loss))
            file.flush()
    print(table([json.loads(line) for line in given.store.read_text("utf-8").splitlines()]))
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
