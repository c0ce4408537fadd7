"""How many folds: the bias and the spread of cross-validation, with two learners of two kinds.

A discriminant of many features needs rows, so few folds are pessimistic; it changes little when one
row leaves. A tree of one split needs few rows, and one row that leaves can turn it over.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.family import Family
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.papers.experiment import Draws, Sample, experiment, stream
from truerisk.papers.figures import MeansGrid, Panel, Parts, Series, mean_line
from truerisk.papers.statements import Quantity, Statement

ROWS = N, N_FRESH = 40, 2000
COLUMNS = FEATURES, TELLING = 15, 2
APART = 1.2  # means of the two features; the others are noise
METHODS = {"K = 2": KFold(2), "K = 5": KFold(5), "K = 10": KFold(10), "K = n": LeaveOneOut()}
TWO, _, TEN, EVERY = range(len(METHODS))
DISCRIMINANT, TREE = LEARNERS = ("linear discriminant", "tree of one split")


@lru_cache(maxsize=1)
def _families() -> dict[str, Family]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.tree import DecisionTreeClassifier

    learners = LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0)
    return dict(zip(LEARNERS, map(Family.of, learners), strict=True))


def _replicate(seed: int, number: int) -> Draws:
    """The error by every K and the true error of the rule of all rows, by learner."""
    sample = Sample.alternating(ROWS, COLUMNS, APART, stream("insa folds", seed, number))
    draws: dict[str, np.ndarray] = {}
    for name, family in _families().items():
        draws[name] = np.concatenate([sample.risks(of, family, number) for of in METHODS.values()])
        draws[f"true, {name}"] = sample.errors(family)[0, 0]
    return draws


@experiment(_replicate, replicates=1000, quick=50)
def insa_folds(draws: Draws) -> Parts:
    """INSA lecture and Mehta (2010): the error of K folds, its bias and its spread.

    {N} rows, {TELLING} features of {FEATURES} with means {APART:g} apart; nothing is tuned

    neither document names a learner or prints a number; both of these are ours.

    folds keep the shares of the classes. Bias is the error less the true error of the rule of all
    rows, the squared error is that for the mean true error.
    """
    for name in LEARNERS:
        errors, true = draws[name], draws[f"true, {name}"]
        bias = errors - true[:, None]
        spread, away = (errors - errors.mean(axis=0)) ** 2, (errors - true.mean()) ** 2
        rows = {"error": errors, "bias": bias, "variance": spread, "squared error": away}
        title = f"{name}: mean true error {true.mean():.4f}"
        yield MeansGrid.of(title, METHODS, {word: of.T for word, of in rows.items()})
        ks = np.arange(1.0, len(METHODS) + 1)
        lines = (
            mean_line("bias", ks, bias, "C0o-"),
            Series("standard deviation", ks, np.sqrt(spread.mean(axis=0)), "C1s--"),
            Series("root of the mean squared error", ks, np.sqrt(away.mean(axis=0)), "k^:"),
        )
        heights = (-0.02, 0.2)  # alike for both learners
        yield Panel(
            name, "folds", "off the true error", lines, names=tuple(METHODS), limits=heights
        )

        yield Statement.of(
            f"{name}: with K = 2 the rules see half of the rows, which leads to a bias",
            {"K = 2 − true error": bias[:, TWO]},
        )
        yield Statement.of(
            f"{name}: 10-fold may have a pessimistic bias, for its smaller training sets",
            {"K = 10 − true error": bias[:, TEN]},
        )
        low = Quantity.nearer("|bias of K = n| − |bias of K = 2|", bias[:, [EVERY, TWO]])
        yield Statement.of(f"{name}: leave-one-out has a low bias: a smaller one than K = 2", low)
        yield Statement.of(
            f"{name}: leave-one-out has a high variance: a higher one than K = 10",
            {"variance of K = n − of K = 10": spread[:, EVERY] - spread[:, TEN]},
            digits=5,
        )
        yield Statement.of(
            f"{name}: K = 10 is recommended: its squared error is smaller than that of K = 2",
            {"squared error of K = 2 − of K = 10": away[:, TWO] - away[:, TEN]},
            digits=5,
        )
        yield Statement.of(
            f"{name}: 10-fold provides a better estimate than leave-one-out",
            {"squared error of K = n − of K = 10": away[:, EVERY] - away[:, TEN]},
            digits=5,
        )
