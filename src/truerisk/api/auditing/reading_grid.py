"""Searches with `cv_results_`: grid, randomised, halving, and our own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.auditing.claim import Claim
from truerisk.api.findings.finding import Finding
from truerisk.core.errors import Refusal

__all__ = ["read_grid"]


def read_grid(search: Any) -> Claim:
    """GridSearchCV and its kin."""
    if hasattr(search, "curve_"):
        return _ours(search)
    results = search.cv_results_
    metric = _metric(search)
    if not hasattr(search, "best_index_"):
        raise Refusal(
            "the search kept several metrics and refit=False, so it claims none of them: "
            "fit it with refit='the metric' to say by which a setting is chosen."
        )
    rows = np.arange(len(results["params"]))
    cv: Any = search.cv
    notes: tuple[str, ...] = ()
    if "n_resources" in results:
        rows, cv, notes = _last_round(search)
    scores = _scores(results, metric)[rows]
    best = int(np.flatnonzero(rows == search.best_index_)[0])
    scoring = search.scoring
    if getattr(search, "multimetric_", False):
        scoring = search.scorer_[metric]
    return Claim(
        search=type(search).__name__,
        name="best_score_" if hasattr(search, "best_score_") else "the mean score of best_index_",
        score=float(getattr(search, "best_score_", scores[best].mean())),
        best=best,
        candidates=tuple(dict(results["params"][row]) for row in rows),
        estimator=search.estimator,
        scoring=scoring,
        cv=cv,
        scores=scores,
        findings=_of_metrics(search, metric),
        notes=notes,
    )


def _ours(search: Any) -> Claim:
    curve = search.curve_
    return Claim(
        search=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best=int(search.best_index_),
        candidates=curve.candidates,
        estimator=search.estimator,
        scoring=search.loss_,
        cv=None,
        scores=_scores(search.cv_results_, "score"),
        kept=curve,
    )


def _metric(search: Any) -> str:
    if not getattr(search, "multimetric_", False):
        return "score"
    if isinstance(search.refit, str):
        return str(search.refit)
    raise Refusal(
        "the search kept several metrics and chose by a function of its own (refit): no single "
        "score is claimed. Use tr.estimate_risk(search, X, y), or refit='the metric'."
    )


def _of_metrics(search: Any, metric: str) -> tuple[Finding, ...]:
    if not getattr(search, "multimetric_", False):
        return ()
    others = sorted(set(search.scorer_) - {metric})
    return (
        Finding(
            "several-metrics",
            f"The setting was chosen by '{metric}'; {', '.join(others)} of the same setting "
            "are not audited here.",
            "Report the metric that chose, or audit a search that chooses by the other one.",
        ),
    )


def _scores(results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Scores of candidates (rows) in splits (columns)."""
    ending = f"_test_{metric}"
    splits = [name for name in results if name.startswith("split") and name.endswith(ending)]
    splits.sort(key=lambda name: int(name.removeprefix("split").removesuffix(ending)))
    if not splits:
        raise Refusal("cv_results_ holds no scores of single splits (split0_test_score, …).")
    return np.column_stack([np.asarray(results[name], dtype=np.float64) for name in splits])


def _last_round(search: Any) -> tuple[np.ndarray, Any, tuple[str, ...]]:
    """The candidates of a halving search's last round, and the splits they were compared on."""
    results = search.cv_results_
    rounds = np.asarray(results["iter"])
    last = rounds == rounds.max()
    dropped = len(rounds[rounds == 0]) - int(last.sum())
    left = int(last.sum())
    note = f"halving: of {dropped + left} settings the {left} of the last round are audited; "
    notes = (f"{note}what the earlier rounds add to the optimism, level='nested' counts",)
    cv = search.cv
    if search.resource == "n_samples":
        used = int(np.asarray(results["n_resources"])[last][0])
        cv = Subsampled(search.cv, used, search.random_state, search.estimator)
    return np.flatnonzero(last), cv, notes


@dataclass(frozen=True)
class Subsampled:
    """The splits of a halving round: each side thinned to the share of rows of that round."""

    cv: Any
    n_used: int
    random_state: Any
    estimator: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """As HalvingGridSearchCV draws them."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv
        from sklearn.utils import resample

        share = self.n_used / len(y)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        for pair in splitter.split(X, y, groups):
            train, test = (
                resample(
                    rows,
                    replace=False,
                    random_state=self.random_state,
                    n_samples=int(share * len(rows)),
                )
                for rows in pair
            )
            yield train, test
