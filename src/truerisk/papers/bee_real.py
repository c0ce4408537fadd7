"""Document 002's real sets: training sets of several sizes, and the test errors of all choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from truerisk.core.contracts import Method
from truerisk.core.family import Family
from truerisk.core.linear_rules import LinearRules
from truerisk.datasets import documents
from truerisk.methods.information_criteria import EBIC
from truerisk.papers.bee_choosing import (
    ORACLE,
    SHORT,
    ErrorsOf,
    bayesian,
    by_size,
    chosen_errors,
    counted,
    counting,
    logistic,
    machines,
)
from truerisk.papers.bee_report import convergence_note, error_panel, less, mean_grid
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels
from truerisk.papers.report import Findings, MeansGrid
from truerisk.papers.statements import Statement

__all__ = ["LAST", "RealSet", "RealSetsFigure", "Said"]

LAST = -1  # the place of the largest training sets
LEAST = 2  # rows of each class: with one, BEEi has no posterior


@dataclass(frozen=True)
class RealSet:
    """A data set by its word, sizes of training sets, and where they are drawn from.

    Of a set with a fixed split, `pool` rows at its beginning are for training and the others are
    tested. Without one, the rows that were not drawn are tested. A `plain` set compares 5 folds and
    the Bayesian estimates alone.
    """

    word: str
    sizes: tuple[int, ...]
    pool: int | None = None
    repeats: int = 0
    scaled: bool = True
    plain: bool = False
    learners: tuple[str, ...] = field(default=("LR", "SVM"))

    def check(self) -> None:
        """Refuse where the files are missing."""
        _rows(self.word)

    def methods(self, learner: str) -> Mapping[str, Method]:
        """All of them for logistic regression, the document's for machines and of a plain set."""
        if learner == "SVM" or self.plain:
            return {**counting(tens=False), **bayesian(standardize=True)}
        return {**counting(repeats=self.repeats), **bayesian(standardize=True), "EBIC": EBIC()}

    def family(self, learner: str) -> Family:
        """Penalties of the path, or costs of machines on features scaled in each training set."""
        return machines(scaled=self.scaled) if learner == "SVM" else logistic()

    def replicate(self, seed: int, number: int) -> Draws:
        """A training set of every size, and both learners on each."""
        found: dict[str, list[dict[str, float]]] = {learner: [] for learner in self.learners}
        for size in self.sizes:
            train, test = self.split(stream(f"{self.word} {size}", seed, number), size)
            X, y = _rows(self.word)
            for learner in self.learners:
                family = self.family(learner)
                errors_of = _tested(family, X[train], X[test], y[test])
                methods = self.methods(learner)
                errors = chosen_errors(family, X[train], y[train], errors_of, methods, number)
                found[learner].append(errors)
        draws: dict[str, np.ndarray] = {}
        for learner, every in found.items():
            draws |= by_size(every, f"{self.word} {learner}")
        return draws

    def split(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to train on, drawn at random but at least two of each class, and rows to test."""
        _, y = _rows(self.word)
        pool = len(y) if self.pool is None else self.pool
        order = rng.permutation(pool)
        sure = np.concatenate(
            [order[y[order] == code][:LEAST] for code in np.unique(y)],
        )
        others = order[~np.isin(order, sure)]
        train = np.sort(np.concatenate([sure, others])[: max(size, len(sure))])
        rest = np.arange(len(y)) if self.pool is None else np.arange(self.pool, len(y))
        return train, np.setdiff1d(rest, train)

    def grid(self, draws: Draws, learner: str) -> MeansGrid:
        """Mean test errors by size."""
        title = f"{self.word}, {learner}: mean test error of the chosen rule"
        return mean_grid(draws, self._lines(learner), self.sizes, title)

    def panel(self, draws: Draws, learner: str) -> Panel:
        """The same as lines."""
        return error_panel(draws, self._lines(learner), self.sizes, f"{self.word}, {learner}")

    def _lines(self, learner: str) -> dict[str, str]:
        names = (*self.methods(learner), ORACLE)
        return {name: f"{self.word} {learner} {name}" for name in names}


Said = tuple[str, str, str, str, int]  # set, learner, who errs less than whom, place of the size


class RealSetsFigure(Experiment):
    """A figure of document 002: several sets, both learners, a curve per method."""

    document: ClassVar[str] = (
        "L1 logistic regression (LR) and linear machines (SVM) on random parts of the training rows"
    )
    unit: ClassVar[str] = "training sets of each size"
    sets: ClassVar[tuple[RealSet, ...]]
    said: ClassVar[tuple[Said, ...]]
    notes: ClassVar[tuple[str, ...]]

    def check(self) -> None:
        for one in self.sets:
            one.check()

    def replicate(self, seed: int, number: int) -> Draws:
        found: dict[str, np.ndarray] = {}
        for one in self.sets:
            found |= one.replicate(seed, number)
        return found

    def findings(self, draws: Draws) -> Findings:
        pairs = [(one, learner) for one in self.sets for learner in one.learners]
        panels = tuple(one.panel(draws, name) for one, name in pairs if len(one.sizes) > 1)
        converged = (
            f"{one.word}: {convergence_note(draws, f'{one.word} LR {SHORT}')}" for one in self.sets
        )
        return Findings(
            tables=tuple(one.grid(draws, learner) for one, learner in pairs),
            claims=tuple(self._claim(draws, said) for said in self.said),
            notes=(*self.notes, *converged),
            figures=(Panels(self.word, panels),) if panels else (),
        )

    def _claim(self, draws: Draws, said: Said) -> Statement:
        word, learner, low, high, place = said
        sizes = next(one.sizes for one in self.sets if one.word == word)
        return less(draws, low, high, place, sizes[place], learner=f"{word} {learner}")


@lru_cache(maxsize=4)
def _rows(word: str) -> tuple[np.ndarray, np.ndarray]:
    bundle = getattr(documents, word).bundle()
    return bundle.X, bundle.y


def _tested(family: Family, X_train: np.ndarray, X: np.ndarray, y: np.ndarray) -> ErrorsOf:
    """Errors on test rows, prepared as the training rows were."""

    def errors_of(rules: LinearRules) -> np.ndarray:
        steps = family.estimator[:-1] if family.is_piped else []
        rows = clone(steps).fit(X_train).transform(X) if len(steps) else X
        return counted(rows, y)(rules)

    return errors_of
