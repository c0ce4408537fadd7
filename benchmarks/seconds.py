"""Fits and seconds of methods by learner, in one process with one thread: docs/cost.md prints them.

    python -m benchmarks.seconds

Each cell is one call after a hold-out that only warms up (`--repeats 3`: the fastest of three), on
scikit-learn's wine and breast cancer; the seconds are those that the result itself names.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from benchmarks.machine import facts, one_blas_thread

__all__ = ["LEARNERS", "METHODS", "SEARCHES", "main", "measured", "table"]

Cell = tuple[int, float]

LEARNERS: Mapping[str, tuple[Callable[[], Any], dict[str, list[Any]]]] = {
    "15 neighbours": (lambda: KNeighborsClassifier(15), {"n_neighbors": [1, 5, 15, 45]}),
    "discriminant": (
        lambda: LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": [0.01, 0.1, 0.5, 0.9]},
    ),
    "naive Bayes": (GaussianNB, {"var_smoothing": [1e-9, 1e-6, 1e-3, 1e-1]}),
    "logistic": (
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]},
    ),
    "tree": (
        lambda: DecisionTreeClassifier(random_state=0),
        {"min_samples_leaf": [1, 2, 5, 10]},
    ),
    "forest of 50": (
        lambda: RandomForestClassifier(50, random_state=0),
        {"min_samples_leaf": [1, 2, 5, 10]},
    ),
}
METHODS = ("holdout", "10-fold", "10x10-fold", "oob", ".632+")
SEARCHES = ("pairs", "10-fold")  # of four settings, chosen by 10-fold
DATA = {"wine": load_wine, "breast cancer": load_breast_cancer}


def measured(data: str, learner: str, method: str, *, search: bool, repeats: int = 1) -> Cell:
    """Fits, and the least seconds of some calls after a hold-out that warms up."""
    X, y = DATA[data](return_X_y=True)
    make, grid = LEARNERS[learner]

    def asked() -> Any:
        if search:
            return tr.HonestSearchCV(make(), grid, outer=method, cv="10-fold").fit(X, y)
        return tr.estimate_risk(make(), X, y, cv=method)

    tr.estimate_risk(make(), X, y, cv="holdout")
    found = [asked() for _ in range(repeats)]
    told = [one.risk_ if search else one for one in found]
    return told[0].n_fits, min(one.seconds for one in told)


def table(data: str, repeats: int = 1) -> Iterator[str]:
    """A line for each method, a column for each learner: fits and seconds."""
    yield f"| {data} | {' | '.join(LEARNERS)} |"
    yield "|---" * (len(LEARNERS) + 1) + "|"
    asked = [(f"`{word}`", word, False) for word in METHODS]
    asked += [(f'search of 4, `outer="{word}"`', word, True) for word in SEARCHES]
    for name, word, search in asked:
        cells = [measured(data, one, word, search=search, repeats=repeats) for one in LEARNERS]
        yield f"| {name} | {' | '.join(f'{n}, {s:.2g} s' for n, s in cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the facts of the machine and the tables."""
    parser = argparse.ArgumentParser("python -m benchmarks.seconds")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print("\n".join(f"{name}: {value}" for name, value in facts().items()))
    for data in given.data:
        print()
        for line in table(data, given.repeats):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
