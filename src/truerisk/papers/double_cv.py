"""Wallman's double cross-validation of k nearest neighbours: one plan, replayed on every data set.

The rows of a data set are independent within their class and the labels are sorted, so folds drawn
once are as good as folds drawn anew: rows 0 … 49 are the design set, the others are test rows that
no fit trains on. The inner plan asks every leave-one-out fit; the outer plan asks each of the ten
outer fits about its held-out rows ("external") and about the test rows ("true").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.datasets.simple import make_simple
from truerisk.engines.neighbours.knn import NearestNeighbours
from truerisk.papers.experiment import Draws, stream

__all__ = ["double_cv"]

PER_CLASS = 25
TEST_PER_CLASS = 5000
OUTER = "10-fold"
N_DESIGN = 2 * PER_CLASS
CODES = np.repeat(np.array([0, 1]), PER_CLASS)
TEST_CODES = np.repeat(np.array([0, 1]), TEST_PER_CLASS)
LABELS = Request("label")


@dataclass(frozen=True, eq=False)
class Design:
    """What all data sets of a seed share: the plans, and the family of every k they allow."""

    inner: Plan
    outer: Plan
    family: Family
    codes: np.ndarray
    asked: np.ndarray  # the code of every row that the outer plan asks about

    @property
    def ks(self) -> list[int]:
        return [params["n_neighbors"] for params in self.family.candidates]


@lru_cache(maxsize=4)
def design_of(seed: int) -> Design:
    """Folds are drawn once, stratified, from a stream of their own."""
    from sklearn.neighbors import KNeighborsClassifier

    from truerisk.methods.nested import Nested

    design = _data(np.zeros((N_DESIGN, 1)), CODES)  # stratified folds ask for labels alone
    nested = Nested(outer=OUTER, inner="loo").plan(design, Streams(seed).child("double cv"))
    inner = nested.only(nested.questions("inner"))
    outside = nested.only(nested.questions("outer"))
    largest = int(inner.train_sizes.min())
    outer, codes = _with_test_rows(outside), np.concatenate([CODES, TEST_CODES])
    return Design(
        inner=inner,
        outer=outer,
        family=Family.of(KNeighborsClassifier(), {"n_neighbors": range(1, largest + 1)}),
        codes=codes,
        asked=codes[outer.positions[0]].astype(np.int8),
    )


def _with_test_rows(outside: Plan) -> Plan:
    """The outer plan, each fit asked about the test rows as well; no base is "all rows"."""
    builder = PlanBuilder(N_DESIGN + len(TEST_CODES))
    test = builder.block(np.arange(N_DESIGN, N_DESIGN + len(TEST_CODES)))
    for fold in range(outside.n_questions):
        train = builder.block(outside.train_rows(int(outside.fit[fold]))[0])
        held_out = builder.block(outside.test_rows(fold)[0])
        builder.ask((train, ()), (held_out, ()), part="external", fold=fold)
        builder.ask((train, ()), (test, ()), part="true", fold=fold)
    return builder.build()


def double_cv(seed: int, number: int) -> Draws:
    """Internal, external and true error of data set `number`, the mean of ten folds each.

    In every outer fold the k with the least leave-one-out error wins, ties to the lowest, votes
    that tie to class 0 as in scikit-learn; `k` is the mean of the ten winners.
    """
    design = design_of(seed)
    rng = stream("wallman double cv", seed, number)
    X = np.vstack(
        [
            make_simple((n, n), shuffle=False, random_state=rng)[0]
            for n in (PER_CLASS, TEST_PER_CLASS)
        ]
    )
    internal, chosen = _chosen(design, X[:N_DESIGN])
    errors = _outer_errors(design, X, chosen)
    part = design.outer.part
    return {
        "internal": internal.mean(),
        "external": errors[part == design.outer.parts.index("external")].mean(),
        "true": errors[part == design.outer.parts.index("true")].mean(),
        "k": np.array(design.ks)[chosen].mean(),
    }


def _chosen(design: Design, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least inner error of each outer fold, and the number of the first candidate that has it."""
    plan = design.inner
    answers = NearestNeighbours().run(design.family, _data(X, CODES), plan, LABELS, RunOptions())
    wrong = answers.values != CODES[plan.positions[0]]
    starts = np.flatnonzero(np.diff(plan.unit, prepend=-1))  # one row per question, unit after unit
    errors = np.add.reduceat(wrong, starts, axis=1, dtype=np.int64)
    sizes = np.diff(np.append(starts, plan.n_questions))
    return errors.min(axis=0) / sizes, errors.argmin(axis=0)


def _outer_errors(design: Design, X: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The error of each outer question; only the k that won somewhere are candidates."""
    winners, place = np.unique(chosen, return_inverse=True)
    candidates = design.family.candidates
    family = Family(design.family.estimator, tuple(candidates[c] for c in winners))
    plan = design.outer
    only = np.zeros(plan.n_fits, dtype=np.int64)
    only[plan.fit] = place.ravel()[plan.fold]
    data = _data(X, design.codes)
    answers = NearestNeighbours().run(family, data, plan, LABELS, RunOptions(only=only))
    wrong = answers.values[0] != design.asked
    return np.add.reduceat(wrong, plan.test_offsets[:-1], dtype=np.int64) / plan.test_sizes


def _data(X: np.ndarray, codes: np.ndarray) -> Data:
    """Two classes, 0 and 1, known to be sound: nothing to check ten thousand times."""
    return Data(X, codes, "classification", np.array([0, 1]), codes)
