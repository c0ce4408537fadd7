"""How often a race chooses what all folds choose, and which part of the fits it makes.

python -m benchmarks.racing [searches]

Every search is drawn: a problem, its size, a learner with its grid. Fast engines answer all fits of
the pairs of ten folds; the race is shown what it asks for, and its requests are counted.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    make_classification,
    make_friedman1,
    make_moons,
    make_regression,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import truerisk as tr
from truerisk.contracts import Streams, Terms
from truerisk.core.family import Family
from truerisk.estimation.problem import EstimationProblem, problem_from_arguments
from truerisk.methods.parts.procedure import chosen_candidate
from truerisk.methods.racing import RacedPairs, Racing
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan

Table = tuple[np.ndarray, np.ndarray]
SIZES, SEEDS = (100, 300, 1000), range(50, 54)

DEPTHS = {"max_depth": [1, 2, 3, 4, 6, 8], "min_samples_leaf": [1, 3, 5, 10]}

CLASSES: dict[str, Callable[[int, int], Table]] = {
    "simple": lambda n, seed: tr.datasets.make_simple(n, random_state=seed),
    "difficult": lambda n, seed: tr.datasets.make_difficult(n, random_state=seed),
    "three": lambda n, seed: make_classification(
        n, 10, n_informative=4, n_classes=3, flip_y=0.1, class_sep=0.8, random_state=seed
    ),
    "moons": lambda n, seed: make_moons(n, noise=0.35, random_state=seed),
    "cancer": lambda n, seed: _rows(_scaled(load_breast_cancer), n, seed),
    "digits": lambda n, seed: _rows(_scaled(load_digits), n, seed),
}
NUMBERS: dict[str, Callable[[int, int], Table]] = {
    "friedman": lambda n, seed: make_friedman1(n, noise=1.0, random_state=seed),
    "linear": lambda n, seed: make_regression(
        n, 20, n_informative=6, noise=30.0, random_state=seed
    ),
    "diabetes": lambda n, seed: _rows(load_diabetes(return_X_y=True), n, seed),
}
CLASSIFIERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "knn": (
        KNeighborsClassifier(),
        {
            "n_neighbors": [1, 3, 5, 7, 9, 11, 15, 19, 23, 27],
            "weights": ["uniform", "distance"],
        },
    ),
    "logistic": (LogisticRegression(max_iter=300), {"C": np.logspace(-4, 3, 15).tolist()}),
    "svc": (SVC(), {"C": np.logspace(-2, 2, 5).tolist(), "gamma": np.logspace(-3, 1, 5).tolist()}),
    "tree": (DecisionTreeClassifier(random_state=0), DEPTHS),
}
REGRESSORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "knn": (
        KNeighborsRegressor(),
        {
            "n_neighbors": [1, 2, 3, 4, 5, 7, 9, 12, 16, 20, 25, 30],
            "weights": ["uniform", "distance"],
        },
    ),
    "ridge": (Ridge(), {"alpha": np.logspace(-3, 4, 20).tolist()}),
    "kernel": (
        KernelRidge(kernel="rbf"),
        {"alpha": np.logspace(-3, 1, 5).tolist(), "gamma": np.logspace(-3, 0, 5).tolist()},
    ),
    "tree": (DecisionTreeRegressor(random_state=0), DEPTHS),
}


def _scaled(load: Callable[..., Table]) -> Table:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def _rows(table: Table, n: int, seed: int) -> Table:
    rows = np.random.default_rng(seed).permutation(len(table[1]))[:n]
    return table[0][rows], table[1][rows]


def drawn(searches: int) -> Iterator[tuple[int, str, EstimationProblem]]:
    """So many searches in an order of chance: their size, their learner, and the problem."""
    cases = [
        (draw, n, name, learner, seed)
        for seed, n in product(SEEDS, SIZES)
        for tables, learners in ((CLASSES, CLASSIFIERS), (NUMBERS, REGRESSORS))
        for draw, (name, learner) in product(tables.values(), learners.items())
    ]
    for number in np.random.default_rng(0).permutation(len(cases))[:searches]:
        draw, n, name, (model, grid), seed = cases[number]
        X, y = draw(n, 1000 + seed)
        yield (
            n,
            name,
            problem_from_arguments(Family.from_grid(model, grid), X, y, random_state=seed),
        )


def raced(problem: EstimationProblem) -> tuple[float, float, float, float]:
    """Whether the winner is that of all folds, whether its risk is; parts of the fits made."""
    race = RacedPairs(Racing("10-fold"))
    data, loss, n = problem.data, problem.loss, len(problem.family)
    plan = race.plan(data, Streams(problem.seed))
    asking = problem.create_asking()
    known = [asking(plan.select(plan.questions(part))) for part in ("outer", "inner")]

    def ask(
        plan: Plan,
        only: np.ndarray | None = None,
        *,
        besides: bool = True,
        asked: np.ndarray | None = None,
        number: int | None = None,
    ) -> Answers:
        assert asked is not None
        assert number is not None
        return known[number].part(asked)

    terms = Terms(0.95, problem.rule, n)
    found = race.evaluate(ask, data, loss, plan, terms)
    full = race.race.method.reduce(known[0], data, loss, terms)
    best, winner = chosen_candidate(full, terms), chosen_candidate(found.tested, terms)
    search = race.race.run(ask, data, loss, known[0].plan, terms).n_fits
    same_risk = abs(full[winner].value - full[best].value) < 1e-9
    return float(winner == best), float(same_risk), search / (10 * n), found.n_fits / (55 * n)


def main() -> None:
    warnings.simplefilter("ignore")
    searches = int(sys.argv[1]) if len(sys.argv) > 1 else 216
    found = [(n, name, *raced(problem)) for n, name, problem in drawn(searches)]
    numbers = np.array([line[2:] for line in found])
    print("searches                same winner  same risk  fits of the search  with its risk")
    for word, place in (("", 0), ("rows", 0), ("learner", 1)):
        of_each = {line[place] for line in found} if word else {""}
        for one in sorted(of_each, key=str):
            mine = np.array([not word or line[place] == one for line in found])
            mean = "  ".join(f"{value:10.3f}" for value in numbers[mine].mean(axis=0))
            print(f"{mine.sum():5d} {word:>8} {one!s:>8}  {mean}", flush=True)


if __name__ == "__main__":
    main()
