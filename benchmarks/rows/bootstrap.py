"""W4: the .632 and .632+ bootstrap, 200 samples of 300 rows and 20 columns, four learners.

Peers: mlxtend's `bootstrap_point632_score` (its .632 is another estimate, which takes the risk of
each sample's model on all rows for the apparent risk, so numbers are not compared) and R's ipred
with the very samples, whose .632+ must agree to ten digits for linear discriminants, which are the
same. (ipred lets all rows at the k-th distance vote, so that copies of a row count otherwise; it
fits R's glm, without a penalty, and rpart in the place of scikit-learn's tree.) A peer that is not
installed is named. Logistic regression is asked for its minimum, `LogisticPaths(minimiser=True)`.
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
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.results import Options, Result

__all__ = ["results"]

SCRIPT = Path(__file__).with_suffix(".R")
FAST, FASTER, TREE = 1 / 15, 1 / 25, 1 / 2
SAME_LEARNER = ("lda",)


def results(options: Options) -> Iterator[Result]:
    n, p, replicates = (100, 5, 50) if options.quick else (300, 20, 200)
    X, y = _problem(n, p)
    samples = np.random.default_rng(1).integers(n, size=(replicates, n))
    for word, (model, engine) in _learners().items():
        ratio = TREE if word == "tree" else FAST
        yield _beside_mlxtend(word, model, engine, X, y, replicates, options.repeats, ratio)
    for word, (model, engine) in _learners().items():
        if word == "lda":
            model = tr.models.LinearDiscriminant(priors=None)
        ratio = TREE if word == "tree" else FASTER
        rounds = min(options.repeats, 5)
        yield _beside_ipred(word, model, engine, X, y, samples, rounds, ratio)


def _problem(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, p))
    X[:, :5] += 0.7 * y[:, None]
    return X, y


def _learners() -> dict[str, tuple[Any, Any]]:
    return {
        "logistic": (LogisticRegression(), tr.engines.LogisticPaths(minimiser=True)),
        "lda": (LinearDiscriminantAnalysis(), "auto"),
        "knn": (KNeighborsClassifier(5), "auto"),
        "tree": (DecisionTreeClassifier(random_state=0), "auto"),
    }


def _beside_mlxtend(
    word: str,
    model: Any,
    engine: Any,
    X: np.ndarray,
    y: np.ndarray,
    replicates: int,
    repeats: int,
    ratio: float,
) -> Result:
    what = f"{word}: .632, {replicates} samples of {len(y)} rows, peer: mlxtend"
    try:
        from mlxtend.evaluate import bootstrap_point632_score
    except ImportError:
        return Result(what, f"ratio <= {ratio:.3g}", error="mlxtend is not installed.")

    def theirs() -> float:
        scores = bootstrap_point632_score(
            model, X, y, n_splits=replicates, method=".632", random_seed=1
        )
        return 1 - float(scores.mean())

    def ours() -> float | None:
        method = tr.methods.Bootstrap(".632", replicates)
        return tr.estimate_risk(model, X, y, cv=method, engine=engine).value

    return contest(what, theirs, ours, repeats, ratio=ratio, tolerance=None)


def _beside_ipred(
    word: str,
    model: Any,
    engine: Any,
    X: np.ndarray,
    y: np.ndarray,
    samples: np.ndarray,
    rounds: int,
    ratio: float,
) -> Result:
    replicates, n = samples.shape
    what = f"{word}: .632+, {replicates} samples of {n} rows, peer: R ipred"
    target = f"ratio <= {ratio:.3g}"
    if shutil.which("Rscript") is None:
        return Result(what, target, error="Rscript is not installed.")
    method = tr.methods.Bootstrap(".632+", samples=samples, convention="ipred")

    def ours() -> Any:
        return tr.estimate_risk(model, X, y, cv=method, engine=engine).value

    theirs, own = [], []
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers"
        content = np.concatenate([samples.ravel(), y, X.T.ravel()]).astype(np.float64)
        numbers.write_bytes(content.tobytes())
        command = ["Rscript", "--vanilla", str(SCRIPT), word, str(numbers), str(n)]
        command += [str(replicates), "1"]
        for _ in range(rounds):
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, value = map(float, done.stdout.split())
            theirs.append(seconds)
            if word in SAME_LEARNER and abs(ours() - value) > 1e-10:
                return Result(what, target, error=f"the sides disagree: {value} and {ours()}.")
            own.append(median(_seconds(ours) for _ in range(3)))
    met = median(own) <= ratio * median(theirs)
    return Result(what, target, median(theirs), median(own), "s", met, None, theirs, own)


def _seconds(side: Callable[[], Any]) -> float:
    started = time.perf_counter()
    side()
    return time.perf_counter() - started
