"""W6: leave-one-out of linear and quadratic discriminants, 2,000 rows of two classes.

Peers: R's MASS by `CV = TRUE` (skipped with the reason where R is not installed), and scikit-learn
by refitting, of which a few fits are measured and multiplied. R leaves the priors as they are, so
both sides are given them, and R's divisor; they must err in the same rows.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import truerisk as tr
from benchmarks.growth import exponent
from benchmarks.limits import limit
from benchmarks.results import Options, Result

__all__ = ["results"]

LINEAR, QUADRATIC, REFITS = 1 / 15, 1 / 5, 1 / 1000
MEASURED = 20  # fits of scikit-learn; the other rows are taken to cost as much
SCRIPT = Path(__file__).with_suffix(".R")


def results(options: Options) -> Iterator[Result]:
    n, p, few = (500, 100, 20) if options.quick else (2_000, 500, 50)
    rounds = min(options.repeats, 5)
    linear, quadratic = tr.models.LinearDiscriminant, tr.models.QuadraticDiscriminant
    yield _beside_r("lda", linear, n, p, rounds, LINEAR, runs=2)
    yield _beside_r("qda", quadratic, n, few, rounds, QUADRATIC, runs=50)  # of milliseconds
    yield _beside_refits(n, p, rounds)
    sizes = [500, 1_000, 2_000] if options.quick else [2_000, 5_000, 10_000, 20_000]
    for word, kind in (("linear", linear), ("quadratic", quadratic)):
        seconds = [_seconds(kind(), *_problem(size, few)) for size in sizes]
        what = f"{word}: growth of seconds, n = {sizes[0]:,} to {sizes[-1]:,}, {few} columns"
        yield limit(what, exponent(sizes, seconds))


def _problem(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, p))
    X[:, :30] += 0.25 * y[:, None]
    return X, y


def _losses(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 for each row that the model without it gets wrong: the whole call of a user."""
    losses = tr.estimate_risk(model, X, y, cv="loo").losses
    assert losses is not None
    return losses


def _beside_r(
    word: str, kind: Callable[..., Any], n: int, p: int, rounds: int, ratio: float, runs: int
) -> Result:
    """The mean of so many runs in a row on either side, in turns."""
    what, target = f"{word} of {n:,} x {p}, peer: R MASS", f"ratio <= {ratio:.3g}"
    if shutil.which("Rscript") is None:
        return Result(what, target, error="Rscript is not installed.")
    X, y = _problem(n, p)
    model = kind(priors=np.bincount(y) / n)
    theirs, own = [], []
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers"
        numbers.write_bytes(np.concatenate([y.astype(float), X.T.ravel()]).tobytes())
        command = ["Rscript", "--vanilla", str(SCRIPT), word, str(numbers), str(n), str(runs)]
        for _ in range(rounds):
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, *wrong = done.stdout.split()
            theirs.append(float(seconds))
            found = np.flatnonzero(_losses(model, X, y))
            if found.tolist() != [int(row) for row in wrong]:
                return Result(what, target, error="the sides err in different rows.")
            own.append(sum(_seconds(model, X, y) for _ in range(runs)) / runs)
    met = median(own) <= ratio * median(theirs)
    return Result(what, target, median(theirs), median(own), "s", met, None, theirs, own)


def _beside_refits(n: int, p: int, rounds: int) -> Result:
    """scikit-learn fits without each of a few rows; the seconds are multiplied to n fits."""
    what = f"lda of {n:,} x {p}, peer: {MEASURED} scikit-learn fits, x {n // MEASURED}"
    target = f"ratio <= {REFITS:g}"
    X, y = _problem(n, p)
    theirs, own = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        wrong = []
        for row in range(MEASURED):
            keep = np.arange(n) != row
            model = LinearDiscriminantAnalysis().fit(X[keep], y[keep])
            wrong.append(float(model.predict(X[row : row + 1])[0] != y[row]))
        theirs.append((time.perf_counter() - started) * n / MEASURED)
        if _losses(LinearDiscriminantAnalysis(), X, y)[:MEASURED].tolist() != wrong:
            return Result(what, target, error="the sides err in different rows.")
        own.append(_seconds(LinearDiscriminantAnalysis(), X, y))
    met = median(own) <= REFITS * median(theirs)
    return Result(what, target, median(theirs), median(own), "s", met, None, theirs, own)


def _seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    started = time.perf_counter()
    _losses(model, X, y)
    return time.perf_counter() - started
