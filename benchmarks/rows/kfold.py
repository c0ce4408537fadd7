"""The generic engine against scikit-learn's own loops, for the same fits of cheap learners.

100 rows, 10 folds, the same splitter on both sides, one process. Learners are cheap so that the
machinery around the fits shows. Both sides must find the same risk in every fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

ROWS, COLUMNS, FOLDS, SETTINGS = 100, 5, 10, 20
AT_MOST = 1.0


@dataclass(frozen=True)
class Case:
    """A learner with a grid; `risk` turns scikit-learn's scores into risks."""

    model: Any
    grid: dict[str, list[Any]]
    y: np.ndarray
    splitter: Any
    scoring: str | None
    risk: Callable[[np.ndarray], np.ndarray]

    @property
    def name(self) -> str:
        return type(self.model).__name__


def results(options: Options) -> Iterator[Result]:
    X, cases = _cases()
    for case in cases:
        yield contest(
            f"{case.name}, {FOLDS} folds, 1 setting, peer: cross_validate",
            lambda: _cross_validate(case, X),  # noqa: B023  run at once
            lambda: _estimate_risk(case, X),  # noqa: B023
            5 * options.repeats,  # a round takes milliseconds
            ratio=AT_MOST,
        )
    for case in cases:
        yield contest(
            f"{case.name}, {FOLDS} folds, {SETTINGS} settings, peer: GridSearchCV",
            lambda: _grid_search(case, X),  # noqa: B023
            lambda: _risk_curve(case, X),  # noqa: B023
            options.repeats,
            ratio=AT_MOST,
        )


def _cases() -> tuple[np.ndarray, list[Case]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    signal = X[:, 0] + rng.normal(size=ROWS)
    classes = (signal > 0).astype(int)
    stratified = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    plain = KFold(FOLDS, shuffle=True, random_state=0)
    smoothing = {"var_smoothing": list(np.logspace(-9, 0, SETTINGS))}
    leaves = {"min_samples_leaf": list(range(1, SETTINGS + 1))}
    penalties = {"alpha": list(np.logspace(-3, 3, SETTINGS))}
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    return X, [
        Case(GaussianNB(), smoothing, classes, stratified, None, lambda score: 1 - score),
        Case(stump, leaves, classes, stratified, None, lambda score: 1 - score),
        Case(Ridge(), penalties, signal, plain, "neg_mean_squared_error", np.negative),
    ]


def _cross_validate(case: Case, X: np.ndarray) -> np.ndarray:
    found = cross_validate(case.model, X, case.y, cv=case.splitter, scoring=case.scoring)
    return case.risk(found["test_score"])


def _estimate_risk(case: Case, X: np.ndarray) -> Any:
    found = tr.estimate_risk(case.model, X, case.y, cv=case.splitter, engine="generic")
    return found.split_risks


def _grid_search(case: Case, X: np.ndarray) -> np.ndarray:
    search = GridSearchCV(
        case.model, case.grid, cv=case.splitter, scoring=case.scoring, refit=False, n_jobs=None
    )
    found = search.fit(X, case.y).cv_results_
    scores = [found[f"split{fold}_test_score"] for fold in range(FOLDS)]
    return case.risk(np.column_stack(scores))


def _risk_curve(case: Case, X: np.ndarray) -> list[Any]:
    curve = tr.risk_curve(case.model, case.grid, X, case.y, cv=case.splitter, engine="generic")
    return [estimate.split_risks for estimate in curve]
