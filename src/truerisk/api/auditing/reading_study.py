"""OptunaSearchCV: the trials of its study; told by its attributes, optuna is not imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.auditing.claim import Claim
from truerisk.core.errors import Refusal

__all__ = ["read_study"]


def read_study(search: Any) -> Claim:
    """The finished trials, each with the scores of its splits among its `user_attrs`."""
    trials = [t for t in search.study_.trials if getattr(t.state, "name", "") == "COMPLETE"]
    if not trials:
        raise Refusal("the study of this search has no finished trial: nothing is claimed.")
    unfinished = len(search.study_.trials) - len(trials)
    numbers = [t.number for t in trials]
    return Claim(
        search=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best=numbers.index(search.best_index_),
        candidates=tuple(dict(t.params) for t in trials),
        estimator=search.estimator,
        scoring=search.scoring,
        cv=_splitter(search),
        scores=_scores(trials),
        notes=(f"{unfinished} trials were pruned or failed",) if unfinished else (),
    )


def _scores(trials: list[Any]) -> np.ndarray | None:
    n_splits = sum(1 for name in trials[0].user_attrs if _is_split(name))
    names = [f"split{k}_test_score" for k in range(n_splits)]
    if not names or any(name not in t.user_attrs for t in trials for name in names):
        return None
    return np.array([[t.user_attrs[name] for name in names] for t in trials], dtype=np.float64)


def _is_split(name: str) -> bool:
    return name.startswith("split") and name.endswith("_test_score")


def _splitter(search: Any) -> Any:
    rows = np.asarray(search.sample_indices_)
    whole = np.array_equal(rows, np.arange(len(rows)))
    if whole and getattr(search, "subsample", 1.0) in (1, 1.0):
        return 5 if search.cv is None else search.cv
    return OnRows(5 if search.cv is None else search.cv, rows, search.estimator)


@dataclass(frozen=True, eq=False)
class OnRows:
    """The splits of some of the rows, in the numbers of all rows."""

    cv: Any
    rows: np.ndarray
    estimator: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Each pair of row numbers."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv

        from truerisk.core.table.rows import take_rows

        y = np.asarray(y)[self.rows]
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        within = None if groups is None else np.asarray(groups)[self.rows]
        for train, test in splitter.split(take_rows(X, self.rows), y, within):
            yield self.rows[train], self.rows[test]
