"""Experiment on Wallman's §2.3, the no-free-lunch theorem, by enumeration of all targets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from truerisk.experiments.experiment import Draws, experiment, replicate_rng
from truerisk.experiments.figures import FindingParts, MeansGrid
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.models import Memoriser

# The points of the input space, and how many of them are training points.
N_POINTS, N_TRAINING = 6, 3
TARGETS = np.array(list(product((0, 1), repeat=N_POINTS)))
N_TARGETS = len(TARGETS)
ROUNDING_ERROR = 1e-12


def _learners(seed: int) -> Iterator[tuple[str, Any]]:
    """Yield learners by name; each of them can be fitted to rows of a single class."""
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    yield "1-NN", KNeighborsClassifier(1)
    yield "3-NN", KNeighborsClassifier(3)
    yield "tree", DecisionTreeClassifier(random_state=0)
    yield "naive Bayes", GaussianNB()
    yield "memoriser", Memoriser()
    yield "random guessing", DummyClassifier(strategy="uniform", random_state=seed)


NAMES = tuple(name for name, _ in _learners(0))


def _replicate(seed: int, replicate_number: int) -> Draws:
    """Return the error of each learner on the other points, for every target on six points.

    The points lie in the plane at random, and three of them are training points.
    """
    rng = replicate_rng("no free lunch", seed, replicate_number)
    X = rng.standard_normal((N_POINTS, 2))
    train, test = np.split(rng.permutation(N_POINTS), [N_TRAINING])
    predictions = {
        (name, labels): model.fit(X[train], np.array(labels)).predict(X[test])
        for name, model in _learners(int(rng.integers(2**31)))
        for labels in product((0, 1), repeat=N_TRAINING)
    }
    errors = [
        [np.mean(predictions[name, tuple(target[train])] != target[test]) for target in TARGETS]
        for name in NAMES
    ]
    return {"errors": np.array(errors)}


@experiment(_replicate, replicates=100, quick=10, unit="sets of points")
def wallman_no_free_lunch(draws: Draws) -> FindingParts:
    """Wallman (2005), §2.3: no free lunch.

    all {N_TARGETS} targets on {N_POINTS} points of the plane, {N_TRAINING} of them training
    points; the error on the other points

    the theorem is proved, and the numbers are exact: the enumeration shows what it says, and that
    it says nothing about a single target.
    """
    errors = draws["errors"]
    columns = "mean error over all targets", "smallest error of a target", "largest"
    rows = {
        name: (errors[:, i].mean(axis=1), errors[:, i].min(axis=1), errors[:, i].max(axis=1))
        for i, name in enumerate(NAMES)
    }
    yield MeansGrid.from_values("error outside the training points", columns, rows)
    yield Statement.from_quantities(
        "the average performances of any two classifiers over all possible problems are the same",
        *(
            Quantity.from_exact_value(
                f"largest distance of the mean error of {name} from ½",
                np.abs(errors[:, i].mean(axis=1) - 0.5).max(),
                Claim("below", ROUNDING_ERROR),
            )
            for i, name in enumerate(NAMES)
        ),
    )
    pairs = list(combinations(range(len(NAMES)), 2))
    balances = [np.sign(errors[:, i] - errors[:, j]).sum(axis=1) for i, j in pairs]
    yield Statement.from_quantities(
        "any classifier is outperformed in exactly as many cases as it performs best, even by "
        "random guessing",
        Quantity.from_exact_value(
            f"targets won − lost, at most, over {len(pairs)} pairs of learners",
            np.abs(balances).max(),
            Claim("near", 0.0, 0.0),
        ),
    )
