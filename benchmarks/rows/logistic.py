"""W2a, W2b: L1 logistic regression, 100 penalties: one path, and 5-fold cross-validation along it.

Six shapes. Peer: glmnet in R (`cv.glmnet` with the same folds and penalties, its seconds measured
inside R; skipped with the reason where R or glmnet is missing), for two classes adelie, where the
environment variable TRUERISK_ADELIE names a Python that has it, and once scikit-learn's
LogisticRegressionCV. Both sides' accuracy is the excess of their objective over the best known, the
largest along the path. Every round runs glmnet, then adelie, then truerisk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from scipy.special import logsumexp

import truerisk as tr
from benchmarks.contest import contest
from benchmarks.limits import limit
from benchmarks.results import Options, Result
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.models import LogisticPath

__all__ = ["results"]

FASTER = 1 / 3
SCRIPT = Path(__file__).with_suffix(".R")
ADELIE_SCRIPT = Path(__file__).parents[1] / "rivals" / "adelie_path.py"
ADELIE = os.environ.get("TRUERISK_ADELIE", "")
N_LAMBDAS, N_FOLDS = 100, 5


@dataclass(frozen=True)
class Shape:
    """Two or more Gaussian classes that differ in the first fourteen columns."""

    name: str
    n: int
    p: int
    n_classes: int = 2

    def draw(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        y = np.arange(self.n) % self.n_classes
        means = np.zeros((self.n_classes, self.p))
        means[:, :14] = 0.6 * rng.normal(size=(self.n_classes, 14))
        return np.asfortranarray(rng.normal(size=(self.n, self.p)) + means[y]), y


SHAPES = (
    Shape("n100p20", 100, 20),
    Shape("n100p270", 100, 270),
    Shape("n200p20", 200, 20),
    Shape("n200p270", 200, 270),
    Shape("MEG-like 727x408, 5 classes", 727, 408, 5),
    Shape("ovarian-like 216x15000", 216, 15_000),
)


def results(options: Options) -> Iterator[Result]:
    for shape in SHAPES[:2] if options.quick else SHAPES:
        yield from _beside_glmnet(shape, max(1, options.repeats // 3))
    if not ADELIE:
        yield Result("adelie was not measured: TRUERISK_ADELIE names no Python that has it")
    X, y = SHAPES[0].draw()
    yield contest(
        "5-fold n100p20, peer: LogisticRegressionCV (saga, the same penalties)",
        lambda: _regression_cv(X, y),
        lambda: tr.risk_curve(*_asked(X, y), X, y, cv="5-fold"),
        1,
        tolerance=None,
    )


def _asked(X: np.ndarray, y: np.ndarray) -> tuple[LogisticPath, dict[str, list[int]]]:
    lambdas = LogisticPath(n_lambdas=N_LAMBDAS).fit(X, y).lambdas_
    return LogisticPath(lambdas=lambdas), {"at": list(range(N_LAMBDAS))}


def _beside_glmnet(shape: Shape, rounds: int) -> Iterator[Result]:
    if shutil.which("Rscript") is None:
        yield Result(f"path {shape.name}, peer: glmnet", error="Rscript is not installed.")
        return
    X, y = shape.draw()
    model, grid = _asked(X, y)
    data = Data.check(X, y, task="classification")
    plan = tr.methods.KFold(N_FOLDS).plan(data, Streams(0))
    fold = np.empty(shape.n)
    for question in range(plan.n_questions):
        fold[plan.test_rows(question)[0]] = question
    theirs: list[tuple[float, float]] = []
    adelies: list[tuple[float, float]] = []
    ours: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        given = {"X": X.T, "y": y, "fold": fold, "lambda": model.lambdas}
        for name, array in given.items():
            np.ascontiguousarray(array, dtype=np.float64).tofile(Path(folder) / name)
        for _ in range(rounds):
            seconds = _glmnet(folder, shape)
            if isinstance(seconds, str):
                yield Result(f"path {shape.name}, peer: glmnet", error=seconds)
                return
            theirs.append(seconds)
            if ADELIE and shape.n_classes == 2:
                found = _adelie(folder, shape)
                if isinstance(found, str):
                    yield Result(f"path {shape.name}, peer: adelie", error=found)
                    return
                adelies.append(found)
            ours.append(_seconds(model, grid, X, y))
        solutions = {"glmnet": np.fromfile(Path(folder) / "solution")}
        if adelies:
            solutions["adelie"] = np.fromfile(Path(folder) / "solution-adelie")
    yield from _ratios(shape, "glmnet", theirs, ours)
    if adelies:
        yield from _ratios(shape, "adelie", adelies, ours)
    for peer, solution in solutions.items():
        theirs_above, own_above = _excess(model, shape, X, y, solution)
        what = f"objective above the best known, {shape.name}, peer: {peer}"
        yield limit(what, own_above, at_most=theirs_above, peer=theirs_above)


def _ratios(
    shape: Shape, peer: str, theirs: list[tuple[float, float]], ours: list[tuple[float, float]]
) -> Iterator[Result]:
    for place, what in enumerate(("path", "5-fold, whole call,")):
        peer_all, own_all = [t[place] for t in theirs], [t[place] for t in ours]
        yield Result(
            f"{what} {shape.name}, peer: {'cv by ' if place else ''}{peer}",
            f"ratio <= {FASTER:.2g}",
            median(peer_all),
            median(own_all),
            "s",
            median(own_all) <= FASTER * median(peer_all),
            None,
            peer_all,
            own_all,
        )


def _adelie(folder: str, shape: Shape) -> tuple[float, float] | str:
    """Seconds of a path and of its cross-validation, or why there are none."""
    command = [ADELIE, str(ADELIE_SCRIPT), folder, str(shape.n), str(shape.p), "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"adelie: {done.stderr.strip().splitlines()[-1]}"
    path, cross, n_lambdas = done.stdout.split()[-3:]
    if int(n_lambdas) != N_LAMBDAS:
        return f"adelie stopped after {n_lambdas} penalties."
    return float(path), float(cross)


def _glmnet(folder: str, shape: Shape) -> tuple[float, float] | str:
    """Seconds of a path and of its cross-validation, or why there are none."""
    size = map(str, (shape.n, shape.p, shape.n_classes, 3))
    command = ["Rscript", "--vanilla", str(SCRIPT), folder, *size]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"glmnet: {done.stderr.strip().splitlines()[-1]}"
    path, cross, n_lambdas = done.stdout.split()[-3:]
    if int(n_lambdas) != N_LAMBDAS:
        return f"glmnet stopped after {n_lambdas} penalties."
    return float(path), float(cross)


def _seconds(
    model: LogisticPath, grid: dict[str, list[int]], X: np.ndarray, y: np.ndarray
) -> tuple[float, float]:
    """Medians of three, as on the other side."""
    path, cross = [], []
    for _ in range(3):
        started = time.perf_counter()
        model.fit(X, y)
        path.append(time.perf_counter() - started)
    for _ in range(3):
        started = time.perf_counter()
        tr.risk_curve(model, grid, X, y, cv=f"{N_FOLDS}-fold", engine="logistic-path")
        cross.append(time.perf_counter() - started)
    return median(path), median(cross)


def _excess(
    model: LogisticPath, shape: Shape, X: np.ndarray, y: np.ndarray, solution: np.ndarray
) -> tuple[float, float]:
    """How far glmnet's objective and ours are above the best of both and a tight fit, at most."""
    fitted = 1 if shape.n_classes == 2 else shape.n_classes
    intercepts = solution[: fitted * N_LAMBDAS].reshape(N_LAMBDAS, fitted)
    coefficients = solution[fitted * N_LAMBDAS :].reshape(fitted, N_LAMBDAS, shape.p)
    tight = LogisticPath(lambdas=model.lambdas, tol=1e-15).fit(X, y)
    values = [_objective(X, y, model.lambdas, intercepts, coefficients.transpose(1, 0, 2))]
    for mine in (model, tight):
        b = mine.coef_path_.reshape(N_LAMBDAS, fitted, -1)
        values.append(_objective(X, y, mine.lambdas_, mine.intercept_path_.reshape(-1, fitted), b))
    best = np.min(values, axis=0)
    return float((values[0] - best).max()), float((values[1] - best).max())


def _objective(
    X: np.ndarray, y: np.ndarray, lambdas: np.ndarray, intercepts: np.ndarray, b: np.ndarray
) -> np.ndarray:
    scale = X.std(axis=0)
    found = []
    for lam, b0, coefficients in zip(lambdas, intercepts, b, strict=True):
        used = np.flatnonzero(coefficients.any(axis=0))
        scores = X[:, used] @ coefficients[:, used].T + b0
        if len(b0) == 1:
            scores = np.column_stack([np.zeros(len(y)), scores])
        loss = (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]).mean()
        found.append(loss + lam * np.abs(coefficients[:, used] * scale[used]).sum())
    return np.array(found)


def _regression_cv(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    import warnings

    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

    cost = 1 / (len(y) * LogisticPath(n_lambdas=N_LAMBDAS).fit(X, y).lambdas_)
    says_ratio = LogisticRegression().l1_ratio == 0.0  # from scikit-learn 1.8 on
    named = {"l1_ratios": [1.0]} if says_ratio else {"penalty": "l1"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = LogisticRegressionCV(Cs=cost, cv=N_FOLDS, solver="saga", max_iter=1000, **named)
        search.fit(X, y)
    return np.asarray(search.C_)
