"""LogisticRegression as it is fitted: where L-BFGS-B stops, which is not at the minimum.

The solver's steps are gone through from 0, as scikit-learn has them taken, and beside them once
more with noise of the size of rounding in every sum. By how much the two end apart is what rounding
grows to on this table; scikit-learn's own fit is a third rounding of the same steps. Where that is
too much for what is asked, where the two stop after different numbers of steps, where a test of the
solver is met by a hair, or where it is cut off and will warn, the learner itself is fitted.

From 0 no step leaves the span of the rows, and turned coordinates change none of the steps' lengths
and products: where there are many more columns than rows, they are gone through in as many columns
as there are rows. The largest component of the gradient alone, by which the solver stops, is looked
for among the columns as they were; and one coordinate more stands for all that lies across the
rows, where rounding alone moves anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from truerisk.engines.logistic.lbfgs import logistic_lbfgs
from truerisk.engines.logistic.path_answers import (
    QuestionRows,
    answers_of,
    least_margin,
    ranks_are_close,
)
from truerisk.engines.prepared import unless_it_fails
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Task
from truerisk.engines.templates.turned import Turned, turned

MOST = 200  # steps; after more of them rounding has grown to anything
APART = 1e-11  # ends that far apart are one where digits are asked for
LABELS, CLOSE = 1e3, 1e-9  # labels are sure beyond so many times that distance, and beyond 1e-9
WILD = 1e-5  # ends that far apart say nothing of a third
SHARE = 0.01  # of `rough`, an upper bound, that was ever seen
SAME = 1e-9  # of scores: those of the installed solver
WIDE = 2  # times as many columns as rows: turning them pays


@dataclass(frozen=True, eq=False)
class Stopped:
    """Score functions of every candidate from both starts: (candidate, start, f, p), (…, f)."""

    candidates: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    settled: np.ndarray
    rough: np.ndarray
    present: np.ndarray
    table: Turned | None = None

    def answers(self, task: Task, fit: int, tests: Sequence[QuestionRows]) -> list[np.ndarray]:
        """The answers to every question; those that stay open are left so."""
        n, starts, functions, p = self.coefficients.shape  # of turned columns, where they are
        flat = self.coefficients.reshape(-1, p)
        answers = []
        open_ = ~self.settled
        for test, question in zip(tests, task.questions(fit), strict=True):
            X = test.X if test.rows is None else test.X[test.rows]
            rows = X if self.table is None else np.column_stack(self.table.turn(X))
            products = (flat @ rows.T).reshape(n, starts, functions, -1)
            scores = products.transpose(0, 3, 1, 2) + self.intercepts[:, None]
            ends = scores[:, :, 0], scores[:, :, 1]
            apart = np.abs(ends[0] - ends[1]).max(axis=(1, 2)) + SHARE * self.rough
            open_ = open_ | self._open(task, int(question), ends[0], apart)
            answers.append(answers_of(ends[0], self.present, task))
        task.leave_open(fit, self.candidates[open_])
        return answers

    def _open(self, task: Task, question: int, scores: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Which candidates' answers another rounding of the same steps may change."""
        clear = LABELS * apart + CLOSE
        if task.request.response == "label":
            close = np.asarray((least_margin(scores) < clear[:, None]).any(axis=1))
            return close | ~(apart <= WILD)
        open_ = ~np.asarray(apart <= APART)
        if task.request.response == "score" and task.data.codes is not None:
            codes = task.data.codes[task.plan.test_rows(question)[0]]
            open_ |= ranks_are_close(scores[..., 0], codes, np.minimum(clear, CLOSE))
        return open_


def stopped(
    group: Group, X: np.ndarray, codes: np.ndarray, weights: np.ndarray, rows: np.ndarray
) -> Stopped | None:
    """Where the solver stops on these rows of X; None where a class has rows but no weight."""
    present = np.flatnonzero(np.bincount(codes))
    if (np.bincount(codes, weights)[present] <= 0).any():
        return None
    setting = group.settings[0]
    table, X, rows, how = _turned(X, rows)
    stops = logistic_lbfgs(
        X,
        rows,
        np.searchsorted(present, codes),
        weights,
        n_classes=len(present),
        penalties=1.0 / (group.values("C").astype(np.float64) * weights.sum()),
        tolerance=float(setting["tol"]),
        most=min(int(setting["max_iter"]), MOST),
        **how,
    )
    ends = stops.coefficients, stops.intercepts
    return Stopped(group.candidates, *ends, stops.settled, stops.rough, present, table)


def _turned(
    X: np.ndarray, rows: np.ndarray
) -> tuple[Turned | None, np.ndarray, np.ndarray, dict[str, Any]]:
    """Rows of X, turned where there are many more columns, and what the solver is told."""
    seen = np.zeros(len(X), dtype=bool)
    seen[rows] = True
    if WIDE * np.count_nonzero(seen) > X.shape[1]:
        return None, X, rows, {}
    shown, places = X[seen], np.cumsum(seen)[rows] - 1
    table = turned(shown)
    size = float(np.linalg.norm(np.abs(shown).max(axis=0)))
    how = {"directions": table.directions, "size_of_columns": size}
    return table, np.column_stack([table.shown, np.zeros(len(shown))]), places, how


@cache
def follows_the_solver() -> bool:
    """Asked once per process, on three small problems; some milliseconds.

    Another release may stop elsewhere or scale its objective in another way.
    """
    return all(_agrees(*one) for one in ((2, False), (3, False), (2, True)))


def _agrees(n_classes: int, sparse: bool) -> bool:
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    codes = np.arange(40) % n_classes
    X = rng.normal(size=(40, 4)) + codes[:, None] * np.array([1.0, 0.5, 0.0, -0.2])
    weights = rng.uniform(0.5, 2.0, 40)
    theirs = csr_array(X) if sparse else X
    model = unless_it_fails(lambda: LogisticRegression(C=0.7).fit(theirs, codes, weights))
    if model is None:
        return False
    stops = logistic_lbfgs(
        X,
        np.arange(40),
        codes,
        weights,
        n_classes=n_classes,
        penalties=np.array([1 / (0.7 * weights.sum())]),
        tolerance=1e-4,
        most=100,
    )
    scores = np.squeeze(X @ stops.coefficients[0, 0].T + stops.intercepts[0, 0])
    steps = bool(stops.settled[0]) and int(stops.iterations[0]) == int(np.max(model.n_iter_))
    return steps and bool(np.abs(scores - model.decision_function(theirs)).max() < SAME)
