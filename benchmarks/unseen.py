"""Five situations that mislead: what is told, what is true, and whether it is said.

`python -m benchmarks.unseen [--drawings N] [--only WORD]`: in each drawing `HonestSearchCV` chooses
among a few settings by its defaults. Printed are the median risk that is told, the true risk on
rows of new patients, of the future, of new groups or of the same source, the share of drawings
whose 95 % interval holds it (with the share that have an interval), and the share of drawings in
which a finding was said. The income table is read from the folder that TRUERISK_DATA names. Twenty
minutes of one core.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from benchmarks.machine import one_blas_thread
from benchmarks.structure import clusters, numbered

__all__ = ["SITUATIONS", "Situation", "measure"]

FRESH = 5000
TREE = {"max_depth": [2, 4, 8]}
NEIGHBOURS = {"n_neighbors": [1, 3, 5]}
Rows = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Situation:
    """How rows are drawn, which model is tuned, and which fresh rows tell the truth."""

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

    return rows(n, events), rows(FRESH, FRESH // 50)


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
        "1 - AUC of logistic regression: 6 events in 300 rows",
        LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, _rare, "auc",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """What one drawing gave."""

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
    search = tr.HonestSearchCV(situation.model, situation.grid, loss=situation.loss)
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
    from sklearn.metrics import log_loss, roc_auc_score

    if loss == "log":
        return float(log_loss(y, search.predict_proba(X), labels=search.classes_))
    if loss == "auc":
        return 1 - float(roc_auc_score(y, search.predict_proba(X)[:, 1]))
    predicted = search.predict(X)
    if y.dtype.kind == "f":
        return float(((predicted - y) ** 2).mean())
    return float((predicted != y).mean())


def lines(situation: Situation, drawn: Sequence[Drawn]) -> Iterator[str]:
    """Yield the line of a situation."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print every situation."""
    parser = argparse.ArgumentParser("python -m benchmarks.unseen", description=__doc__)
    parser.add_argument("--drawings", type=int, default=200)
    parser.add_argument("--only", choices=tuple(SITUATIONS))
    asked = parser.parse_args(arguments)
    one_blas_thread()
    for word in SITUATIONS if asked.only is None else (asked.only,):
        situation = SITUATIONS[word]
        for line in lines(situation, measure(situation, asked.drawings)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
