"""Measure how far a confident number is off where rows are not independent, or events are few.

`python -m benchmarks.unseen [--drawings N] [--only WORD]` draws five situations. In each drawing
`HonestSearchCV` chooses among a few settings by its defaults. Printed are the median risk that is
told, the true risk on rows of new patients, of the future, of new groups or of the same source, the
number of 95 % intervals that hold it (and of drawings without an interval), and the number of
drawings in which a finding was said. The income table is read from the folder that TRUERISK_DATA
names. 200 drawings take one to two minutes of one core.

`python -m benchmarks.unseen --events [--drawings N]` prints how many 95 % intervals of scores hold
the mean score of the fitted models on fresh rows, with 6 to 60 events among 300 rows (linear
discriminant analysis, five folds). 400 drawings take about three minutes of one core.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from benchmarks.machine import one_blas_thread
from benchmarks.structure import clusters, numbered

__all__ = ["SCORES", "SITUATIONS", "Situation", "measure", "measure_coverage"]

FRESH = 5000
TREE = {"max_depth": [2, 4, 8]}
NEIGHBOURS = {"n_neighbors": [1, 3, 5]}
Rows = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Situation:
    """A way to draw rows and fresh rows, and the model that is tuned on them."""

    words: str
    model: Any
    grid: dict[str, list[Any]]
    draw: Callable[[np.random.Generator], tuple[Rows, Rows]]
    loss: str | None = None


def _visits(rng: np.random.Generator) -> tuple[Rows, Rows]:
    X, y, _ = clusters(rng)
    fresh_X, fresh_y, _ = clusters(rng, FRESH // 4)
    return (X, y), (fresh_X, fresh_y)


def _walk(rng: np.random.Generator, n: int = 200, ahead: int = 20) -> tuple[Rows, Rows]:
    y = np.cumsum(rng.standard_normal(n + ahead)) + rng.standard_normal(n + ahead)
    X = np.arange(n + ahead, dtype=float)[:, None]
    return (X[:n], y[:n]), (X[n:], y[n:])


def _numbered(rng: np.random.Generator) -> tuple[Rows, Rows]:
    X, y, _ = numbered(rng)
    fresh_X, fresh_y, _ = numbered(rng, FRESH // 5)
    fresh_X[:, 0] += 30  # the next numbers
    return (X, y), (fresh_X, fresh_y)


def _income(rng: np.random.Generator, n: int = 150) -> tuple[Rows, Rows]:
    import truerisk as tr

    income = tr.datasets.load("a1a")
    X = income.X.toarray() if hasattr(income.X, "toarray") else np.asarray(income.X)
    order = rng.permutation(len(income.y))
    mine, fresh = order[:n], order[n : n + FRESH]
    return (X[mine], income.y[mine]), (X[fresh], income.y[fresh])


def _rare(rng: np.random.Generator, n: int = 300, events: int = 6) -> tuple[Rows, Rows]:
    def rows(n: int, n_events: int) -> Rows:
        y = np.zeros(n, dtype=int)
        y[:n_events] = 1
        return rng.standard_normal((n, 5)) + 0.8 * y[:, None] * [1, 1, 0, 0, 0], y

    return rows(n, events), rows(FRESH, FRESH * events // n)


SITUATIONS = {
    "copies": Situation(
        "near copies: 40 patients x 4 visits, noise .2, y a coin for each patient; kNN",
        KNeighborsClassifier(), NEIGHBOURS, _visits,
    ),
    "order": Situation(
        "rows in order: y a random walk with noise, the row number a column; kNN",
        KNeighborsRegressor(), NEIGHBOURS, _walk,
    ),
    "groups": Situation(
        "number of a group as a column: 30 x 5 rows, 10 % label noise; tree",
        DecisionTreeClassifier(random_state=0), TREE, _numbered,
    ),
    "log-loss": Situation(
        "log loss of a tree: income, 150 rows",
        DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 2]}, _income, "log",
    ),
    "rare": Situation(
        "AUC of logistic regression: 6 events in 300 rows",
        LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, _rare, "auc",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """The risk that one drawing tells, the true one, the interval and the codes of findings."""

    told: float | None
    true: float
    interval: Any
    codes: frozenset[str]


def measure(situation: Situation, n: int, seed: int = 0) -> list[Drawn]:
    """Tune in n drawings."""
    return [_one(situation, np.random.default_rng([seed, b])) for b in range(n)]


def _one(situation: Situation, rng: np.random.Generator) -> Drawn:
    import truerisk as tr

    (X, y), (fresh_X, fresh_y) = situation.draw(rng)
    search = tr.HonestSearchCV(situation.model, situation.grid, scoring=situation.loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    risk = search.risk_
    return Drawn(
        told=risk.value,
        true=_true_risk(situation.loss, search, fresh_X, fresh_y),
        interval=risk.interval,
        codes=frozenset(finding.code for finding in search.findings_),
    )


def _true_risk(loss: str | None, search: Any, X: Any, y: np.ndarray) -> float:
    if loss == "log":
        return float(log_loss(y, search.predict_proba(X), labels=search.classes_))
    if loss == "auc":
        return float(roc_auc_score(y, search.predict_proba(X)[:, 1]))
    predicted = search.predict(X)
    if y.dtype.kind == "f":
        return float(((predicted - y) ** 2).mean())
    return float((predicted != y).mean())


def lines(situation: Situation, drawn: Sequence[Drawn]) -> Iterator[str]:
    """Yield the name of a situation and what its drawings gave."""
    told = [one.told for one in drawn if one.told is not None]
    true = float(np.mean([one.true for one in drawn]))
    given = [one for one in drawn if one.interval is not None]
    held = sum(true in one.interval for one in given)
    codes = Counter(code for one in drawn for code in one.codes)
    said = sum(bool(one.codes) for one in drawn)
    middle = np.quantile(told, [0.05, 0.5, 0.95]) if told else [np.nan] * 3
    yield situation.words
    yield (
        f"    told {middle[1]:.3f} ({middle[0]:.3f} to {middle[2]:.3f}), true {true:.3f}, the "
        f"interval holds it in {held} of {len(given)}, no interval in {len(drawn) - len(given)}, "
        f"said in {said} of {len(drawn)} {dict(codes)}"
    )


EVENTS = (6, 8, 10, 12, 15, 20, 30, 60)
Metric = Callable[[np.ndarray, np.ndarray, np.ndarray], float]
SCORES: dict[str, Metric] = {
    "auc": lambda y, chance, label: roc_auc_score(y, chance),
    "average-precision": lambda y, chance, label: average_precision_score(y, chance),
    "f1 pooled": lambda y, chance, label: f1_score(y, label),
    "precision pooled": lambda y, chance, label: precision_score(y, label, zero_division=0),
    "recall pooled": lambda y, chance, label: recall_score(y, label),
    "mcc pooled": lambda y, chance, label: matthews_corrcoef(y, label),
    "g-mean pooled": lambda y, chance, label: recall_score(y, label, average=None).prod() ** 0.5,
    "balanced-accuracy pooled": lambda y, chance, label: balanced_accuracy_score(y, label),
}


def measure_coverage(events: int, n: int) -> dict[str, tuple[int, int]]:
    """Return for each score how many intervals hold the mean true score, and how many there are."""
    import truerisk as tr

    model, (first, *others) = LinearDiscriminantAnalysis(), SCORES
    intervals: dict[str, list[Any]] = {score: [] for score in SCORES}
    true: dict[str, list[float]] = {score: [] for score in SCORES}
    for b in range(n):
        (X, y), (fresh_X, fresh_y) = _rare(np.random.default_rng([events, b]), events=events)
        told = tr.estimate_risk(model, X, y, cv="5-fold", scoring=[first, *others], checks=False)
        model.fit(X, y)
        chance, label = model.predict_proba(fresh_X)[:, 1], model.predict(fresh_X)
        for score, metric in SCORES.items():
            estimate = told if score == first else told.scores[score]
            intervals[score].append(estimate.interval)
            true[score].append(metric(fresh_y, chance, label))
    given = {score: [each for each in intervals[score] if each is not None] for score in SCORES}
    held = {score: sum(np.mean(true[score]) in each for each in given[score]) for score in SCORES}
    return {score: (held[score], len(given[score])) for score in SCORES}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print every situation."""
    parser = argparse.ArgumentParser("python -m benchmarks.unseen", description=__doc__)
    parser.add_argument("--drawings", type=int, default=200)
    parser.add_argument("--only", choices=tuple(SITUATIONS))
    parser.add_argument("--events", action="store_true")
    asked = parser.parse_args(arguments)
    one_blas_thread()
    if asked.events:
        for events in EVENTS:
            counts = measure_coverage(events, asked.drawings)
            words = [f"{score} {held} of {given}" for score, (held, given) in counts.items()]
            print(f"{events} events: {', '.join(words)}", flush=True)
        return 0
    for word in SITUATIONS if asked.only is None else (asked.only,):
        situation = SITUATIONS[word]
        for line in lines(situation, measure(situation, asked.drawings)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
