"""W1a: Wallman's double cross-validation of one data set, 10 outer folds, inner LOO of every k.

50 design points and 10,000 test points. Peers: scikit-learn's GridSearchCV with LeaveOneOut on the
same folds (the same three errors, run once; a run of ours is the mean of 100 in a row), and R's
`class` (its votes tie at random, so only seconds are compared; skipped with the reason where R is
not installed).
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.contest import contest
from benchmarks.limits import limit
from benchmarks.results import Options, Result
from truerisk.datasets import make_simple
from truerisk.experiments.double_cv import CLASS_SIZES, KS, double_cv, plan_double_cv
from truerisk.experiments.experiment import Sample, replicate_rng

__all__ = ["results"]

GRID, R_CLASS, TABLE = 1 / 3000, 1 / 7, 15.0
SCRIPT = Path(__file__).with_suffix(".R")


def results(options: Options) -> Iterator[Result]:
    double_cv(0, 0)  # folds are drawn once for all data sets
    yield contest(
        "one data set, peer: GridSearchCV(LeaveOneOut)",
        _grid_search,
        _ours,
        1,
        ratio=GRID,
        ours_times=100,
    )
    sets = 3 if options.quick else 20
    yield _beside_r(sets, 3)
    if not options.quick:
        started = time.perf_counter()
        for number in range(1000):
            double_cv(0, number)
        spent = time.perf_counter() - started
        yield limit("Table 1: 1000 data sets", spent, unit="s", at_most=TABLE)


def _ours() -> np.ndarray:
    found = double_cv(0, 0)
    return np.array([found["internal"], found["external"], found["true"]])


def _grid_search() -> np.ndarray:
    sample = Sample.draw(make_simple, CLASS_SIZES, replicate_rng("wallman double cv", 0, 0))
    X, y, plan, errors = sample.data.X, sample.data.y, plan_double_cv(0).part_named("outer"), []
    for fit in range(plan.n_fits):
        train, _ = plan.train_rows(fit)
        # held out, and fresh
        tests = [plan.test_rows(int(q))[0] for q in np.flatnonzero(plan.fit == fit)]
        grid = {"n_neighbors": list(KS)}
        search = GridSearchCV(KNeighborsClassifier(), grid, cv=LeaveOneOut())
        search.fit(X[train], y[train])
        wrong = [(search.predict(X[rows]) != y[rows]).mean() for rows in tests]
        errors.append([1 - search.best_score_, *wrong])
    return np.mean(errors, axis=0)


def _beside_r(sets: int, rounds: int) -> Result:
    what, target = f"{sets} data sets, peer: R class", f"ratio <= {R_CLASS:.3g}"
    if shutil.which("Rscript") is None:
        return Result(what, target, error="Rscript is not installed.")
    theirs, own = [], []
    for _ in range(rounds):
        command = ["Rscript", "--vanilla", str(SCRIPT), str(sets)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        theirs.append(float(done.stdout.strip().splitlines()[-1]))
        started = time.perf_counter()
        for number in range(sets):
            double_cv(0, number)
        own.append(time.perf_counter() - started)
    met = median(own) <= R_CLASS * median(theirs)
    return Result(what, target, median(theirs), median(own), "s", met, None, theirs, own)
