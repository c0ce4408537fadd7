"""How many folds: the bias and the spread of cross-validation, with two learners of two kinds.

A discriminant of many features needs rows, so few folds are pessimistic; it changes little when one
row leaves. A tree of one split needs few rows, and one row that leaves can turn it over.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import ZeroOne
from truerisk.methods.kfold import KFold, LeaveOneOut
from truerisk.methods.parts.set_risks import split_risks
from truerisk.papers.experiment import (
    Draws,
    answered,
    evaluated,
    experiment,
    plan_of,
    stream,
    two_classes,
    values_of,
)
from truerisk.papers.figures import Findings, MeansGrid, Panel, Panels, Series
from truerisk.papers.statements import Quantity, Statement

N, N_FRESH = 40, 2000
FEATURES, TELLING, APART = 15, 2, 1.2  # two features with means 1.2 apart, and noise
METHODS = {"K = 2": KFold(2), "K = 5": KFold(5), "K = 10": KFold(10), "K = n": LeaveOneOut()}
TWO, _, TEN, EVERY = range(len(METHODS))
DISCRIMINANT, TREE = LEARNERS = ("linear discriminant", "tree of one split")


def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and, after them, rows that only measure; every second one is positive."""
    y = np.arange(N + N_FRESH) % 2
    X = rng.standard_normal((len(y), FEATURES))
    X[:, :TELLING] += APART * y[:, None]
    return X, y


@lru_cache(maxsize=1)
def _families() -> dict[str, Family]:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.tree import DecisionTreeClassifier

    learners = LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=1, random_state=0)
    return dict(zip(LEARNERS, map(Family.of, learners), strict=True))


def _replicate(seed: int, number: int) -> Draws:
    """The error by every K and the true error of the rule of all rows, by learner."""
    X, y = draw(stream("insa folds", seed, number))
    whole, sample, loss, rows = two_classes(X, y), two_classes(X[:N], y[:N]), ZeroOne(), len(y)
    plan = plan_of(rows, (np.arange(N), np.arange(N, rows)))
    draws: dict[str, np.ndarray] = {}
    for name, family in _families().items():
        every = (values_of(evaluated(of, family, sample, loss, number)) for of in METHODS.values())
        draws[name] = np.concatenate(list(every))
        draws[f"true, {name}"] = split_risks(answered(family, whole, loss, plan), whole, loss)[0, 0]
    return draws


@experiment(
    f"{N} rows, {TELLING} features of {FEATURES} with means {APART:g} apart; nothing is tuned",
    _replicate,
    replicates=1000,
    quick=50,
)
def insa_folds(draws: Draws) -> Findings:
    """INSA lecture and Mehta (2010): the error of K folds, its bias and its spread."""
    grids, panels = [], []
    claims: list[Statement] = []
    for name in LEARNERS:
        errors, true = draws[name], draws[f"true, {name}"]
        bias = errors - true[:, None]
        spread, away = (errors - errors.mean(axis=0)) ** 2, (errors - true.mean()) ** 2
        rows = {"error": errors, "bias": bias, "variance": spread, "squared error": away}
        title = f"{name}: mean true error {true.mean():.4f}"
        grids.append(MeansGrid.of(title, METHODS, {word: of.T for word, of in rows.items()}))
        panels.append(_panel(name, bias.mean(axis=0), spread.mean(axis=0), away.mean(axis=0)))
        claims += _claims(name, bias, spread, away)
    return Findings(
        tables=tuple(grids),
        claims=tuple(claims),
        notes=(
            "neither document names a learner or prints a number; both of these are ours.",
            (
                "folds keep the shares of the classes. Bias is the error less the true error of "
                "the rule of all rows, the squared error is that for the mean true error."
            ),
        ),
        figures=(Panels("insa-folds", tuple(panels)),),
    )


def _panel(name: str, bias: np.ndarray, variance: np.ndarray, square: np.ndarray) -> Panel:
    ks = np.arange(1.0, len(METHODS) + 1)
    lines = (
        Series("bias", ks, bias, "C0o-"),
        Series("standard deviation", ks, np.sqrt(variance), "C1s--"),
        Series("root of the mean squared error", ks, np.sqrt(square), "k^:"),
    )
    return Panel(name, "folds", "error", lines, names=tuple(METHODS))


def _claims(
    name: str, bias: np.ndarray, spread: np.ndarray, away: np.ndarray
) -> tuple[Statement, ...]:
    """What both documents say of K, of one learner."""

    def more(what: str, of: np.ndarray, place: int) -> Quantity:
        word = tuple(METHODS)[place]
        return Quantity.mean(f"{what} of {word} − of K = 10", of[:, place] - of[:, TEN], digits=5)

    low = Quantity.nearer("|bias of K = n| − |bias of K = 2|", bias[:, [EVERY, TWO]])
    return (
        Statement.of(
            f"{name}: with K = 2 the rules see half of the rows, which leads to a bias",
            Quantity.mean("K = 2 − true error", bias[:, TWO]),
        ),
        Statement.of(
            f"{name}: 10-fold may have a pessimistic bias, for its smaller training sets",
            Quantity.mean("K = 10 − true error", bias[:, TEN]),
        ),
        Statement.of(f"{name}: leave-one-out has a low bias: a smaller one than K = 2", low),
        Statement.of(
            f"{name}: leave-one-out has a high variance: a higher one than K = 10",
            more("variance", spread, EVERY),
        ),
        Statement.of(
            f"{name}: K = 10 is recommended: its squared error is smaller than that of K = 2",
            more("squared error", away, TWO),
        ),
        Statement.of(
            f"{name}: 10-fold provides a better estimate than leave-one-out",
            more("squared error", away, EVERY),
        ),
    )
