"""Searches that adapt: what they try next depends on what they saw."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import KFold, cross_val_score

__all__ = ["Climbing", "Private", "Remembering", "Silent"]


class Climbing(ClassifierMixin, BaseEstimator):
    """Goes to the better neighbour of a number of neighbours until none is better."""

    def __init__(self, estimator: Any, start: int = 5, scoring: Any = None, cv: Any = 3) -> None:
        self.estimator = estimator
        self.start = start
        self.scoring = scoring
        self.cv = cv

    def fit(self, X: Any, y: Any, groups: Any = None) -> Climbing:
        def score(k: int) -> float:
            model = clone(self.estimator).set_params(n_neighbors=k)
            return float(cross_val_score(model, X, y, cv=self.cv, groups=groups).mean())

        best, found = self.start, score(self.start)
        while True:
            next_score, k = max((score(k), k) for k in {max(1, best - 2), best + 2})
            if next_score <= found:
                break
            best, found = k, next_score
        self.best_params_, self.best_score_ = {"n_neighbors": best}, found
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        self.classes_ = self.best_estimator_.classes_
        self.n_rows_ = len(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.best_estimator_.predict(X)


class Private(ClassifierMixin, BaseEstimator):
    """As `Climbing`, and does not say in which score, nor takes groups."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> Private:
        inside = Climbing(self.model).fit(X, y)
        self.best_params_, self.best_score_ = inside.best_params_, 10 * inside.best_score_
        self.inside_, self.classes_ = inside, inside.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.inside_.predict(X)


class Silent(BaseEstimator):
    """A search that does not say what it predicts, as OptunaSearchCV."""

    def __init__(self, estimator: Any, cv: Any = 3) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Silent:
        self.best_params_ = {"n_neighbors": 3}
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.best_estimator_.predict(X)


class Remembering(KFold):
    """A splitter of which clones are the same object: it goes on with what it saw."""

    def __init__(self, n_splits: int = 3) -> None:
        super().__init__(n_splits)
        self.seen: list[int] = []

    def __deepcopy__(self, memo: Any) -> Remembering:
        return self

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        self.seen.append(int(np.shape(X)[0]))
        return super().split(X, y, groups)
