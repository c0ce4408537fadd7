"""How often pairs of folds say that the risk falls too steeply, and whether the interval holds.

`python -m benchmarks.published_intervals.steep [--sets N]`: fixed learners on the paper's problems,
tuned trees and neighbours on others, ten folds and five.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.machine import one_blas_thread
from benchmarks.published_intervals import learners, problems

__all__ = ["main", "told"]

CELLS = (
    ("chen_10", "linear_of_numbers", 100),
    ("bates_regr_20", "linear_of_numbers", 40),
    ("bates_regr_20", "linear_of_numbers", 100),
    ("friedman1", "linear_of_numbers", 100),
    ("friedman1", "tree_of_numbers", 100),
    ("bates_classif_20", "linear", 60),
    ("bates_classif_20", "linear", 100),
    ("bates_classif_100", "linear", 100),
    ("bates_classif_20", "tree", 100),
    ("bates_classif_100", "ridge", 60),
)
TUNED = ("simple", "difficult", "kearns", "sparse-gaussian")
TEST_ROWS = 5_000


def told(estimate: Any) -> bool:
    """Whether the note is there."""
    return any("covers less often than it states" in note for note in estimate.notes)


def fixed(n_sets: int) -> Iterator[str]:
    """Of each cell the mean risk on all rows, without one and two folds, notes and coverage."""
    import truerisk as tr

    for problem, learner, n in CELLS:
        make, interval = getattr(problems, problem)(), "log-cv"
        if "classif" in problem:
            interval = "beta-cv"
        fresh = make(TEST_ROWS, random_state=99)
        for k in (10, 5):
            rows = []
            for seed in range(n_sets):
                X, y = make(n, random_state=[7, seed])
                model = getattr(learners, learner)()
                missed = model.fit(X, y).predict(fresh[0]) - fresh[1]
                truth = float(np.mean(missed**2))  # of classes 0 and 1 the share of errors
                method = tr.methods.Pairs(f"{k}-fold")
                found = tr.estimate_risk(
                    model, X, y, cv=method, interval=interval, random_state=seed
                )
                held = found.interval.low <= truth <= found.interval.high
                rows.append((truth, found.value, told(found), held))
            truth, value, notes, held = np.mean(rows, axis=0)
            yield (
                f"{problem} {learner} {n}, {k} folds: risk {truth:.3g}, estimate {value:.3g}, "
                f"told in {notes:.0%}, interval holds {held:.0%}"
            )


def tuned(n_sets: int) -> Iterator[str]:
    """How often the note comes with searches whose intervals are calibrated."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    import truerisk as tr

    searches = (
        (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 5]}),
        (KNeighborsClassifier(), {"n_neighbors": [1, 3, 7]}),
    )
    for name in TUNED:
        for n in (40, 80):
            notes = []
            for seed in range(n_sets):
                X, y = tr.datasets.registry.load(name)(n, random_state=seed)
                found = [tr.HonestSearchCV(*search, cv=5).fit(X, y) for search in searches]
                notes += [told(search.risk_) for search in found]
            yield f"{name} {n}, tuned, 5 folds: told in {np.mean(notes):.1%}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.published_intervals.steep")
    parser.add_argument("--sets", type=int, default=40, help="data sets of each cell (40)")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for part in (fixed, tuned):
        for line in part(given.sets):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
