"""What a model of all rows gains on those of the folds: what a note says of it, and what is true.

    python -m benchmarks.calibration.all_rows [--sets 150] [--folds 5] [--papers DIR]

Of each cell: how far the risk falls from (1 − 1/K) n rows to n, tuned on both; the bias of the
value; how often the note comes, what it states, and how often the true fall is between its ends.
Then what laws that take a fall off the value would do: the mean of |bias|/risk, that of the error
beside the value's own, and the largest, where the risk falls by 4 % or more, and elsewhere.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.learners import learner
from benchmarks.calibration.problems import PROBLEMS
from benchmarks.calibration.tables import TABLES, here
from benchmarks.machine import one_blas_thread

__all__ = ["CELLS", "main"]

CELLS = tuple(
    Cell(problem, n, who, "squared" if problem in ("linear", "diabetes") else "zero-one")
    for who, places in {
        "knn": "digits 100, digits 300, odd-digits 100, difficult 50, xor 100, simple 200, "
        "satellite 150, yeast 150, diabetes 60",
        "lda": "digits 100, wide 60, imbalanced 200",
        "ridge": "linear 60, noise 100, a1a 150",
        "svm": "wide 60",
        "tree": "digits 150, xor 200, label-noise 100, kearns 100, corners 100",
    }.items()
    for problem, n in ((place.split()[0], int(place.split()[1])) for place in places.split(", "))
)
STEEP = 0.04
SAID = re.compile(r"With all of them .* about (\S+) \w+ \((\S+) to (\S+)\):")


def _of_set(cell: Cell, seed: int, k: int) -> tuple[float, ...]:
    """Value, truths of n rows and of a fold less, what `_laws` take, the note's fall and its ends.

    d is the mean loss of fits without two folds, less that of fits without one.
    """
    import truerisk as tr

    problem = {**PROBLEMS, **TABLES}[cell.problem]
    rng = np.random.default_rng([7, seed, cell.n, *cell.problem.encode()])
    drawn = problem.draw(cell.n, rng)
    y = drawn.y if problem.task == "classification" else np.zeros(cell.n)
    fewer, _ = next(StratifiedKFold(k, shuffle=True, random_state=seed).split(y, y))
    searched = learner(cell.learner, problem.task, cell.n)
    search = tr.HonestSearchCV(*searched, cv=k, random_state=seed).fit(drawn.X, drawn.y)
    less = tr.HonestSearchCV(*searched, cv=k, random_state=seed, outer=None)
    less.fit(drawn.X[fewer], drawn.y[fewer])
    truths = [drawn.risk(one.best_estimator_, cell.loss) for one in (search, less)]
    losses, shaken = search.risk_.influences.losses, search.risk_.influences.left_two_out
    moved = shaken.mean_loss_by_row(0, np.arange(cell.n)) - losses
    signs = np.bincount(shaken.second_folds, shaken.losses[0] - losses[shaken.rows]) > 0
    (_, both), (_, v) = np.cov(losses, moved) / cell.n
    note = SAID.search(" ".join(search.risk_.notes))
    said = (np.nan,) * 3 if note is None else map(float, note.groups())
    return search.risk_.value, *truths, moved.mean(), v, both, signs.all(), *said


def _laws(value: np.ndarray, seen: np.ndarray, k: int) -> dict[str, np.ndarray]:
    """What each takes off the value; v is the variance of d, `both` its covariance with the value.
    One sign: whichever further fold is left out, the loss rises.

    "Combined" is value + t d with the t of the least squared error, if d's mean were what is named.
    """
    d, v, both, signs = seen
    a, up = (k - 2) / k, d.clip(0)
    some = np.where(d == 0, 1, d)
    ratio = np.where(value + d > 0, value / np.where(value + d > 0, value + d, 1), 1)
    power = np.log(1 - 1 / k) / np.log(1 - 1 / (k - 1))
    return {
        "nothing": 0 * d,
        "a d": a * d,
        "a d/2": a * d / 2,
        "a^1.5 d, as ncv": a**1.5 * d,
        "power law": value * (1 - ratio**power),
        "a d (1 - v/d^2)+": a * up * (1 - v / some**2).clip(0),
        "a d if d > 2 sd": a * d * (d > 2 * v**0.5),
        "a d of one sign": a * d * signs,
        "combined, d+": d * (a * up**2 + both) / (up**2 + v + 1e-12),
        "combined, d+/root 2": d * (a * up**2 / 2 + both) / (up**2 / 2 + v + 1e-12),
    }


def lines(cells: Sequence[Cell], n_sets: int, k: int) -> Iterator[str]:
    """One for each cell, then one for each law."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for cell in cells:
        drawn = np.array([_of_set(cell, seed, k) for seed in range(n_sets)]).T
        value, truth, less, d, *_, stated, least, most = drawn
        risk, fall, a = truth.mean(), (less - truth).mean(), (k - 2) / k
        ok = stated > 0
        held = ((least <= fall) & (fall <= most))[ok]
        known = (less - truth).std() / n_sets**0.5
        yield (
            f"{cell}: risk {risk:.3f} falls by {fall:.4f} ± {known:.4f}, bias "
            f"{(value - truth).mean():+.4f}, a d {a * d.mean():.4f}; stated in {ok.mean():.0%}, "
            f"{stated[ok].sum() / max(1, ok.sum()):.4f}, held in {held.sum()} of {ok.sum()}"
        )
        plain = ((value - risk) ** 2).mean()
        for law, off in _laws(value, drawn[3:-3], k).items():
            error = (((value - off - risk) ** 2).mean() / plain) ** 0.5
            found.setdefault(law, []).append((fall / risk, abs(fall - off.mean()) / risk, error))
    for law, cases in found.items():
        fall, bias, error = np.array(cases).T
        parts = (("steep", fall >= STEEP), ("flat", fall < STEEP))
        yield f"{law}: " + "; ".join(
            f"{name} ({mine.sum()} cells) |bias| {bias[mine].mean():.3f}, error "
            f"{error[mine].mean():.3f}, at most {error[mine].max():.3f}"
            for name, mine in parts
            if mine.any()
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration.all_rows")
    parser.add_argument("--sets", type=int, default=150, help="data sets of each cell (150)")
    parser.add_argument("--folds", type=int, default=5, help="how many folds (5)")
    parser.add_argument("--papers", type=Path, help="folder of the tables of the documents")
    given = parser.parse_args(arguments)
    if given.papers is not None:
        os.environ["TRUERISK_DATA"] = str(given.papers)
    warnings.simplefilter("ignore")
    for line in lines(here(CELLS)[0], given.sets, given.folds):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
