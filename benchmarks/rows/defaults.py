"""Default against default: `HonestSearchCV(m, g).fit` beside `GridSearchCV(m, g).fit`, as typed.

The honest risk is extra; folds are each side's own five, so scores are not compared here (`pairs`
and `pipelines` do). `tall` asks the same of tables of 20 columns and ever more rows.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from benchmarks.contest import Side, contest
from benchmarks.limits import limit
from benchmarks.processes import peak_memory
from benchmarks.results import Options, Result

__all__ = ["memory", "results", "searching", "tall"]

CS = {"C": [0.01, 0.1, 1, 10]}
RATES = {"learning_rate": [0.05, 0.1, 0.3, 0.6]}
GAMMAS = {"C": [0.1, 1, 10, 100], "gamma": [0.001, 0.01, 0.1]}
UNKNOWN, KNOWN = 3.2, 0.6
HISTOGRAMS = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, random_state=0)
FOREST = {"max_features": [2, 4, 6, 8]}
ROWS: list[tuple[str, Any, Any, dict[str, list[Any]], float, bool]] = [  # last: behind a scaler
    ("cancer", load_breast_cancer, HISTOGRAMS, RATES, UNKNOWN, False),
    (
        "cancer",
        load_breast_cancer,
        RandomForestClassifier(50, random_state=0),
        FOREST,
        UNKNOWN,
        False,
    ),
    ("diabetes", load_diabetes, RandomForestRegressor(50, random_state=0), FOREST, UNKNOWN, False),
    (
        "cancer",
        load_breast_cancer,
        GradientBoostingClassifier(n_estimators=30, random_state=0),
        RATES,
        UNKNOWN,
        False,
    ),
    (
        "cancer",
        load_breast_cancer,
        MLPClassifier((20,), max_iter=1000, random_state=0),
        {"alpha": [1e-4, 1e-2, 1]},
        UNKNOWN,
        True,
    ),
    ("digits", load_digits, LogisticRegression(max_iter=1000), CS, 1.0, True),
    ("digits", load_digits, LogisticRegression(), CS, 1.0, False),
    ("cancer", load_breast_cancer, SVC(), GAMMAS, KNOWN, True),
    ("digits", load_digits, SVC(), GAMMAS, 0.9, True),
    ("diabetes", load_diabetes, Lasso(), {"alpha": list(np.logspace(-2, 1, 10))}, KNOWN, True),
    (
        "diabetes",
        load_diabetes,
        ElasticNet(),
        {"alpha": [0.01, 0.1, 1, 10], "l1_ratio": [0.2, 0.5, 0.8]},
        KNOWN,
        False,
    ),
    (
        "cancer",
        load_breast_cancer,
        LogisticRegression(l1_ratio=1, solver="liblinear"),
        CS,
        UNKNOWN,
        True,
    ),
    ("cancer", load_breast_cancer, LinearSVC(max_iter=10_000, random_state=0), CS, UNKNOWN, True),
    (
        "cancer",
        load_breast_cancer,
        SGDClassifier(random_state=0),
        {"alpha": [1e-5, 1e-4, 1e-3, 1e-2]},
        UNKNOWN,
        True,
    ),
    ("digits", load_digits, KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}, KNOWN, False),
    (
        "cancer",
        load_breast_cancer,
        DecisionTreeClassifier(random_state=0),
        {"ccp_alpha": [0, 0.003, 0.01, 0.03]},
        KNOWN,
        False,
    ),
    ("cancer", load_breast_cancer, RidgeClassifier(), {"alpha": [0.1, 1, 10, 100]}, KNOWN, True),
    ("cancer", load_breast_cancer, LogisticRegression(), CS, KNOWN, True),
]
TALL: list[tuple[Any, dict[str, list[Any]], float, int]] = [  # with the most rows
    (LogisticRegression(), CS, 1.0, 1_000_000),
    (LinearDiscriminantAnalysis(), {"tol": [1e-4, 1e-3]}, KNOWN, 1_000_000),
    (RidgeClassifier(), {"alpha": [0.1, 1, 10, 100]}, KNOWN, 1_000_000),
    (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, KNOWN, 10_000),
    (HistGradientBoostingClassifier(max_iter=30, random_state=0), RATES, UNKNOWN, 100_000),
]

BESIDE: dict[str, tuple[Any, dict[str, list[Any]]]] = {  # what a search holds beside X
    "scaler + ridge": (
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 1.0, 10.0]},
    ),
    "scaler + logistic": (
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.01, 0.1, 1.0]},
    ),
    "scaler + naive Bayes": (
        make_pipeline(StandardScaler(), GaussianNB()),
        {"gaussiannb__var_smoothing": [1e-9, 1e-3]},
    ),
    "histogram boosting": (
        HistGradientBoostingClassifier(max_iter=5, early_stopping=False, random_state=0),
        {"max_leaf_nodes": [7, 15]},
    ),
}
HERE = "benchmarks.rows.defaults"


def results(options: Options) -> Iterator[Result]:
    for name, load, model, grid, most, scaled in ROWS:
        X, y = load(return_X_y=True)
        yield _searched(name, model, grid, X, y, most, options, scaled=scaled)


def tall(options: Options) -> Iterator[Result]:
    for n in (10_000,) if options.quick else (10_000, 100_000, 1_000_000):
        rng = np.random.default_rng(0)
        y = rng.permutation(np.arange(n) % 2)
        X = rng.normal(size=(n, 20)) + 0.5 * rng.normal(size=20) * y[:, None]
        for model, grid, most, most_rows in TALL:
            if n <= most_rows:
                repeats = Options(1 if n > 10_000 else options.repeats)
                yield _searched(f"{n:,} x 20", model, grid, X, y, most, repeats, scaled=True)


def memory(options: Options) -> Iterator[Result]:
    n = 100_000 if options.quick else 1_000_000
    for name in BESIDE:
        peer, ours = (
            peak_memory(f"{HERE}:searching", name, n, honest).value for honest in (False, True)
        )
        yield limit(f"{n:,} x 20, {name}: peak beyond X, in sizes of X", ours, peer=peer)


def searching(name: str, n: int, honest: bool) -> Side:
    """The work: a search, after a small one for imports; its value: the peak in sizes of X."""
    model, grid = BESIDE[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    search = tr.HonestSearchCV(model, grid) if honest else GridSearchCV(model, grid)
    search.fit(X[:1000], y[:1000])

    def work() -> float:
        before, _ = tracemalloc.get_traced_memory()
        search.fit(X, y)
        return (tracemalloc.get_traced_memory()[1] - before) / X.nbytes

    return work


def _searched(
    name: str,
    model: Any,
    grid: dict[str, list[Any]],
    X: np.ndarray,
    y: np.ndarray,
    most: float,
    options: Options,
    *,
    scaled: bool,
) -> Result:
    n = int(np.prod([len(values) for values in grid.values()]))
    what = f"{name}, {'scaler + ' if scaled else ''}{type(model).__name__}, {n} settings"
    if scaled:
        model = make_pipeline(StandardScaler(), model)
        grid = {f"{model.steps[-1][0]}__{word}": values for word, values in grid.items()}
    return contest(
        what,
        lambda: GridSearchCV(model, grid).fit(X, y),
        lambda: tr.HonestSearchCV(model, grid).fit(X, y),
        options.repeats,
        ratio=most,
        tolerance=None,
    )
