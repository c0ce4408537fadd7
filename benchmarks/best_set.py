"""Which set holds the true best: `python -m benchmarks.best_set [--sets N]`.

Data sets of the calibration's problems are drawn, settings or tuned learners are compared on each,
and every way to say which of them may be best is asked. The true best has the smallest mean risk of
its models over all data sets; where several are as good, it is as hard as it gets. About an hour.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.calibration.learners import learner
from benchmarks.calibration.problems import PROBLEMS
from benchmarks.calibration.rating import Drawn
from benchmarks.machine import one_blas_thread
from truerisk.results.best_set import may_be_best
from truerisk.results.evaluation import CandidateLosses

__all__ = ["CELLS", "WAYS", "Cell", "Found", "drawn", "main", "rated"]

LEVEL, DRAWING, TRUTH = 0.95, 77, 2000
Losses = np.ndarray


@dataclass(frozen=True)
class Cell:
    """A problem, rows, and so many settings of a learner (0: the usual); or several learners."""

    problem: str
    n: int
    learner: str = ""
    settings: int = 0

    def __str__(self) -> str:
        return f"{self.problem} {self.n}, {self.learner or 'learners'}"


CELLS = (
    Cell("simple", 50, "knn", 10),
    Cell("simple", 200, "lda"),
    Cell("difficult", 100, "tree"),
    Cell("noise", 50, "knn", 10),
    Cell("noise", 200, "knn", 15),
    Cell("noise", 100, "ridge", 8),
    Cell("noise", 100, "tree", 10),
    Cell("xor", 100, "knn", 10),
    Cell("xor", 200, "tree", 10),
    Cell("imbalanced", 100, "knn", 10),
    Cell("label-noise", 100, "knn", 2),
    Cell("patients", 120, "knn", 10),  # groups
    Cell("patients", 400, "lda", 10),
    Cell("corners", 120, "lda", 10),
    Cell("weighted", 100, "ridge", 10),
    Cell("weighted", 200, "tree", 20),
    Cell("heavy-tails", 100, "ridge", 30),
    Cell("heavy-tails", 50, "ridge", 10),
    Cell("linear", 200, "knn", 20),
    *(Cell("simple", 60), Cell("noise", 100), Cell("xor", 100), Cell("wide", 100)),
    *(Cell("patients", 240), Cell("label-noise", 200), Cell("imbalanced", 120)),
    *(Cell("linear", 100), Cell("corners", 160), Cell("heavy-tails", 60)),
    Cell("label-noise", 500, "knn", 30),  # takes as long as a third of the others
)


@dataclass(frozen=True, eq=False)
class Found:
    """Of one data set the losses of all candidates, and the risks of their models."""

    paired: CandidateLosses
    risks: np.ndarray


# ---------------------------------------------------------------- ways to make a set


def softmin(paired: CandidateLosses) -> np.ndarray:
    """Ours."""
    return may_be_best(paired, LEVEL)


def no_correction(paired: CandidateLosses) -> np.ndarray:
    """Each candidate whose two-sided paired t interval to the winner holds 0."""
    from scipy.special import stdtrit

    parts, noises, m = _against_all(paired)
    best = parts.sum(axis=1).argmin()
    behind = parts.sum(axis=1) - parts[best].sum()
    return np.asarray(behind <= stdtrit(m - 1, (1 + LEVEL) / 2) * noises[best] + 1e-12)


def bootstrap(paired: CandidateLosses) -> np.ndarray:
    """Lei's: the largest t of a candidate against all others, by a multiplier bootstrap."""
    parts, noises, m = _against_all(paired)
    centred = parts - parts.sum(axis=1, keepdims=True) * paired.contributions_by_unit()[1]
    draws = np.random.default_rng(0).standard_normal((500, m)) @ centred.T
    kept = np.ones(len(parts), dtype=bool)
    for r in range(len(parts)):
        rivals = noises[r] > 1e-12
        if rivals.any():
            behind = (parts[r].sum() - parts.sum(axis=1))[rivals] / noises[r][rivals]
            largest = ((draws[:, [r]] - draws[:, rivals]) / noises[r][rivals]).max(axis=1)
            kept[r] = behind.max() <= np.quantile(largest, LEVEL)
    return kept


def halves(paired: CandidateLosses) -> np.ndarray:
    """Kim and Ramdas: one half names the rival of each candidate, the other one tests it."""
    from scipy.special import ndtri

    parts, shares = paired.contributions_by_unit()
    first = np.random.default_rng(0).permutation(len(shares)) < len(shares) // 2
    kept = np.ones(len(parts), dtype=bool)
    for r in range(len(parts)):
        named = parts[:, first].sum(axis=1)
        named[r] = np.inf
        behind = (parts[r] - parts[int(named.argmin())])[~first]
        mean = behind.sum() / shares[~first].sum()
        noise = np.sqrt(((behind - shares[~first] * mean) ** 2).sum()) / shares[~first].sum()
        kept[r] = mean <= ndtri(LEVEL) * noise + 1e-12
    return kept


def _against_all(paired: CandidateLosses) -> tuple[np.ndarray, np.ndarray, int]:
    """What each unit adds, the standard errors of all differences, and how many units there are."""
    parts, shares = paired.contributions_by_unit()
    m = len(shares)
    centred = parts - parts.sum(axis=1, keepdims=True) * shares
    products = m / (m - 1) * centred @ centred.T
    own = products.diagonal()
    return parts, np.sqrt(np.maximum(own[:, None] + own - 2 * products, 0)), m


WAYS: dict[str, Callable[[CandidateLosses], np.ndarray]] = {
    "`best_set`": softmin,
    "multiplier bootstrap of the largest t": bootstrap,
    "halves": halves,
    "no correction": no_correction,
}


# ---------------------------------------------------------------- data sets


def drawn(cell: Cell, seed: int) -> Found:
    """The losses on one data set, and what the candidates' models are worth."""
    problem = PROBLEMS[cell.problem]
    rng = np.random.default_rng([DRAWING, seed, cell.n, *cell.problem.encode()])
    given = problem.draw(cell.n, rng)
    compare = _settings if cell.learner else _learners
    return compare(cell, given, lambda: problem.draw(TRUTH, rng), seed)


def _settings(cell: Cell, given: Drawn, fresh: Callable[[], Drawn], seed: int) -> Found:
    import truerisk as tr

    task = PROBLEMS[cell.problem].task
    model, grid = _grid(cell, task)
    asked = {"groups": given.groups, "sample_weight": given.weights, "random_state": seed}
    asked["checks"] = False
    curve = tr.risk_curve(model, grid, given.X, given.y, **asked)
    assert curve.comparable is not None
    more = fresh()
    risks = [_risk(model, setting, given, more, task) for setting in curve.candidates]
    return Found(curve.comparable.losses(), np.array(risks))


def _learners(cell: Cell, given: Drawn, fresh: Callable[[], Drawn], seed: int) -> Found:
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB

    import truerisk as tr

    task = PROBLEMS[cell.problem].task
    words = ("knn", "lda", "tree") if task == "classification" else ("knn", "ridge", "tree")
    asked: dict[str, Any] = {word: learner(word, task, cell.n) for word in words}
    asked |= (
        {"bayes": (GaussianNB(), None), "as given": (RidgeClassifier(), None)}
        if task == "classification"
        else {"as given": (Ridge(), None)}
    )
    models = {name: one if one[1] else one[0] for name, one in asked.items()}
    found = tr.assess(
        models,
        given.X,
        given.y,
        cv=["5-fold"],
        checks=False,
        groups=given.groups,
        random_state=seed,
    )
    more = fresh()
    risks = [
        _risk(asked[name][0], found.curves[name].best_params, given, more, task) for name in models
    ]
    names = list(models)
    paired, _ = found._paired_losses(names, None)
    return Found(paired, np.array(risks))


def _grid(cell: Cell, task: str) -> tuple[Any, Any]:
    model, grid = learner(cell.learner, task, cell.n)
    m, name = cell.settings, next(iter(grid))
    if not m:
        return model, grid
    settings = {
        "knn": sorted({round(float(k)) for k in np.linspace(1, cell.n * 0.6, m)}),
        "ridge": (10.0 ** np.linspace(-2, 5, m)).tolist(),
        "tree": np.linspace(0, 0.1, m).tolist(),
        "lda": np.linspace(0, 0.95, m).tolist(),
    }
    return model, {name: settings[cell.learner]}


def _risk(model: Any, setting: Any, given: Drawn, fresh: Drawn, task: str) -> float:
    from sklearn.base import clone

    weights = {} if given.weights is None else {"sample_weight": given.weights}
    said = clone(model).set_params(**setting).fit(given.X, given.y, **weights).predict(fresh.X)
    losses = said != fresh.y if task == "classification" else (said - fresh.y) ** 2
    return float(np.average(losses, weights=fresh.weights))


# ---------------------------------------------------------------- coverage


def rated(found: Sequence[Found]) -> dict[str, tuple[float, float]]:
    """Of every way how often its set holds the true best, and its mean share of the candidates."""
    best = int(np.mean([one.risks for one in found], axis=0).argmin())
    told = {}
    for name, way in WAYS.items():
        kept = np.array([way(one.paired) for one in found])
        told[name] = float(kept[:, best].mean()), float(kept.mean())
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.best_set", description=__doc__)
    parser.add_argument("--sets", type=int, default=300, help="data sets a problem (300)")
    parser.add_argument("--from-set", type=int, default=0, help="the first of them (0); the rule "
                        "was chosen on those below 300")  # fmt: skip
    parser.add_argument("--only", default="", help="problems whose name holds this")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    lines = []
    for cell in CELLS:
        if given.only in str(cell):
            seeds = range(given.from_set, given.from_set + given.sets)
            lines.append(rated([drawn(cell, seed) for seed in seeds]))
            said = (f"{100 * c:5.1f} ({s:.2f})" for c, s in lines[-1].values())
            print(f"{cell!s:<26}", *said, flush=True)
    for name in WAYS if lines else ():
        covers, sizes = zip(*(line[name] for line in lines), strict=True)
        worst, mean = 100 * min(covers), 100 * np.mean(covers)
        print(f"| {name} | {worst:.1f} % | {mean:.1f} % | {np.mean(sizes):.2f} |")
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
