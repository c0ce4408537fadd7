"""R1 to R5: honest risks of pipelines on tables, beside the plain grid search a user would type.

The peer is GridSearchCV on the same unshuffled stratified folds, refit included, without an honest
risk; both return the mean scores of all settings. A step that nobody knows (a KNNImputer) is fitted
once per train set, which the plain search does with `memory=` only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from benchmarks.contest import Side, alternate, contest
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.results import Options, Result

__all__ = ["credit", "results"]

LEARNERS: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "logistic": (LogisticRegression(max_iter=1000), {"C": [0.01, 0.1, 1, 10, 100]}),
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9, 15]}),
    "svc": (SVC(), {"C": [0.1, 1, 10, 100, 1000]}),
    "lda": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.01, 0.1, 0.3, 0.6]}),
    "ridge": (RidgeClassifier(), {"alpha": [0.1, 1, 10, 100]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0, 0.003, 0.01, 0.03]}),
}
STEPS: dict[str, tuple[list[Any], float]] = {  # with the most that ours may take
    "R1, scaler": ([StandardScaler()], 1.0),
    "R2, imputer + scaler": ([SimpleImputer(), StandardScaler()], 1.0),
    "R3, scaler + PCA(10)": ([StandardScaler(), PCA(10)], 1.5),
    "R4, SelectKBest(10) + scaler": ([SelectKBest(k=10), StandardScaler()], 1.0),
}
UNKNOWN = 3.3
SIZES = {"n": [500, 1_000, 2_000, 5_000], "p": [6, 12, 24, 60]}


def results(options: Options) -> Iterator[Result]:
    X, y = load_breast_cancer(return_X_y=True)
    for name, (steps, most) in STEPS.items():
        for word, (model, grid) in LEARNERS.items():
            yield _searched(f"{name} + {word}", [*steps, model], grid, X, y, options, most)
    table, labels = credit(1_000, 20)
    for word in ("logistic", "knn", "tree"):
        model, grid = LEARNERS[word]
        what = f"R5, credit table of 1,000 x 20 + {word}"
        yield _searched(what, [_columns(table), model], grid, table, labels, options, 1.0)
    model, grid = LEARNERS["logistic"]
    imputed = [_columns(table, KNNImputer()), model]
    yield _searched(
        "credit table, KNNImputer + logistic", imputed, grid, table, labels, options, UNKNOWN
    )
    yield from _growth(options)


def _growth(options: Options) -> Iterator[Result]:
    """Exponents of the seconds over a decade, of a plain search and of ours."""
    model, grid = LEARNERS["logistic"]
    for what, sizes in SIZES.items():
        if options.quick:
            sizes = sizes[:2]
        seconds = []
        for size in sizes:
            shape = (size, 20) if what == "n" else (1_000, size)
            table, labels = credit(*shape)
            plain, ours = _sides([_columns(table), model], grid, table, labels)
            seconds.append(alternate(plain, ours, 1)[0])
        theirs, own = (exponent(sizes, costs) for costs in zip(*seconds, strict=True))
        named = (
            f"credit table + logistic, growth of seconds, {what} = {sizes[0]:,} to {sizes[-1]:,}"
        )
        yield limit(named, own, peer=theirs)


def _searched(
    what: str,
    steps: list[Any],
    grid: dict[str, list[Any]],
    X: Any,
    y: np.ndarray,
    options: Options,
    most: float | None,
) -> Result:
    return contest(
        f"{what}, {len(next(iter(grid.values())))} settings, 5 folds",
        *_sides(steps, grid, X, y),
        options.repeats,
        ratio=most,
    )


def _sides(
    steps: list[Any], grid: dict[str, list[Any]], X: Any, y: np.ndarray
) -> tuple[Side, Side]:
    model, folds = make_pipeline(*steps), StratifiedKFold(5)
    own = {f"{model.steps[-1][0]}__{name}": values for name, values in grid.items()}
    return (
        lambda: GridSearchCV(model, own, cv=folds).fit(X, y).cv_results_["mean_test_score"],
        lambda: tr.HonestSearchCV(model, own, cv=folds).fit(X, y).cv_results_["mean_test_score"],
    )


def _columns(table: pd.DataFrame, imputer: Any = None) -> Any:
    """What people type before a learner: impute and scale numbers, impute and encode texts."""
    numbers = [name for name in table if name.startswith("number")]
    texts = [name for name in table if name.startswith("text")]
    impute = SimpleImputer(strategy="median") if imputer is None else imputer
    fill = SimpleImputer(strategy="most_frequent")
    return make_column_transformer(
        (make_pipeline(impute, StandardScaler()), numbers),
        (make_pipeline(fill, OneHotEncoder(handle_unknown="ignore")), texts),
    )


def credit(n: int, p: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table like a bank's: a third of the columns are numbers with holes, the rest texts."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=n)
    columns: dict[str, Any] = {}
    for j in range(p):
        seen = rng.normal(size=n) + 0.4 * hidden * (j % 3 == 0)
        if j % 3 == 0:
            cells = np.round(20 * np.exp(seen), 1)
            cells[rng.random(n) < 0.03] = np.nan
            columns[f"number {j}"] = cells
        else:
            levels = int(rng.integers(2, 11))
            code = np.clip(np.round(seen + levels / 2), 0, levels - 1).astype(int)
            columns[f"text {j}"] = np.array([f"level {k}" for k in range(levels)], dtype=object)[
                code
            ]
    y = np.where(rng.random(n) < 1 / (1 + np.exp(0.9 - 1.2 * hidden)), "bad", "good")
    return pd.DataFrame(columns), y
