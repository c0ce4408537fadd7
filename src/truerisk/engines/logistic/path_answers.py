"""Scores of the rows that are asked about, what they answer, and what rounding would decide.

The scores of a train set's own rows are taken out of the fit to first order, for every penalty.

`answer_samples` is ridge logistic regression of two classes on many samples at once, by Newton
steps in lockstep: the Hessians of all fits are one product of weights with the products of the
columns. All start from the minimum of their mean objective. Once no step moves a linear predictor
by more than 1e-4, one more with the Hessians as they are leaves less than 1e-10 of an error: it
moves by what was left, which must be below 1e-6, and errs by 1e-4 of that. Other fits are left for
the path, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from truerisk.engines.templates.fits_of_one_table import Samples, products_of
from truerisk.engines.templates.task import Task
from truerisk.models.logistic_places import codes_of_scores
from truerisk.models.stated.without_a_row import logistic_without, row_variances
from truerisk.plan.answers import code_type


@dataclass(frozen=True, eq=False)
class QuestionRows:
    """Rows that a question asks about, read by columns; `own` where each is taken out."""

    X: Any
    rows: np.ndarray | None
    own: OwnRows | None = None

    def times(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Products of some columns with coefficients (…, column): (row, …)."""
        if hasattr(self.X, "tocsr"):
            part = self.X[:, columns]
            part = part if self.rows is None else part.tocsr()[self.rows]
        elif self.rows is None:
            part = self.X[:, columns]
        else:
            part = self.X[np.ix_(self.rows, columns)]
        return np.asarray(part @ coefficients.T)


def answers_of(scores: np.ndarray, present: np.ndarray, task: Task) -> np.ndarray:
    """Answers (candidate, row, ...) from scores (candidate, row, f), as the learner forms them.

    Of two probabilities LogisticRegression takes one from 1, which loses a small one's digits.
    """
    response, n_classes = task.request.response, task.data.n_classes
    if response == "label":
        labels: np.ndarray = present[codes_of_scores(scores)]
        return labels.astype(code_type(n_classes))
    if response == "score":
        return scores[..., 0]
    shares = np.zeros((*scores.shape[:2], n_classes))
    if scores.shape[2] == 1:
        shares[..., present[1]] = expit(scores[..., 0])
        less = (
            expit(-scores[..., 0])
            if "at" in task.group.settings[0]
            else 1 - shares[..., present[1]]
        )
        shares[..., present[0]] = less
    else:
        shares[..., present] = softmax(scores, axis=2)
    return shares


def least_margin(scores: np.ndarray) -> np.ndarray:
    """How far the largest score is from the next, (candidate, row)."""
    if scores.shape[2] == 1:
        margin: np.ndarray = np.abs(scores[..., 0])
    else:
        top = np.partition(scores, -2, axis=2)
        margin = top[..., -1] - top[..., -2]
    return margin


def ranks_are_close(scores: np.ndarray, codes: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """For which candidates two rows of different classes have scores (candidate, row) that close.

    Such a pair is in the order that rounding gave it, and a loss by ranks sees that.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    near = np.diff(ranked, axis=1) <= gap[:, None]
    runs = np.cumsum(np.pad(~near, ((0, 0), (1, 0))), axis=1)  # rows linked by close scores
    close = np.zeros(len(scores), dtype=bool)
    for c in np.flatnonzero(near.any(axis=1)):
        kinds = codes[order[c]]
        low, high = np.full(runs[c, -1] + 1, kinds.max()), np.full(runs[c, -1] + 1, kinds.min())
        np.minimum.at(low, runs[c], kinds)
        np.maximum.at(high, runs[c], kinds)
        close[c] = bool((low < high).any())
    return close


@dataclass(frozen=True, eq=False)
class Penalty:
    """Of each candidate the weight of the half squares beside the total likelihood.

    With `standardize` each square is multiplied by the variance of its column; with `selects` only
    columns with a coefficient are in the fit.
    """

    ridge: np.ndarray
    selects: bool
    standardize: bool


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The rows that a fit saw, with their classes (0, 1) and weights."""

    X: Any
    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def without(self, scores: np.ndarray, coefficients: np.ndarray, penalty: Penalty) -> np.ndarray:
        """From scores (candidate, row, 1) of all rows to those without each row."""
        used = np.flatnonzero(coefficients.any(axis=(0, 1))) if penalty.selects else slice(None)
        part = self.X[:, used]
        part = part.tocsr()[self.rows].toarray() if hasattr(part, "tocsr") else part[self.rows]
        slopes = coefficients[:, 0, used]
        scale = row_variances(part, self.weights) if penalty.standardize else np.ones(part.shape[1])
        left_out = np.empty_like(scores)
        for c, ridge in enumerate(penalty.ridge):
            mine = np.flatnonzero(slopes[c]) if penalty.selects else np.arange(part.shape[1])
            left_out[c, :, 0] = logistic_without(
                part[:, mine], self.codes, self.weights, scores[c, :, 0], ridge * scale[mine]
            )
        return left_out


STEPS = 20
NEAR, SMALL = 1e-4, 1e-6  # moves of a linear predictor in the last step but one, and the last
ROUGHLY = 0.1  # the same where all that is wanted is a place to start from
FAR = 100.0  # a fit that moves so far is none to go on with
OPEN = 1e-9  # scores this close to a tie are left to the learner itself


def answer_samples(task: Task, X: np.ndarray) -> np.ndarray:
    """Answer what can be of candidates with a ridge penalty; which fits that were, for all."""
    done = np.zeros(task.plan.n_fits, dtype=bool)
    if task.data.n_classes != 2 or task.data.codes is None:
        return done
    rows = np.column_stack([X, np.ones(len(X))])
    products = None
    for batch in Samples.batches(task, ~done, rows.shape[1]):
        products = products_of(rows) if products is None else products
        problem = _Problem(rows, products, task.data.codes.astype(np.float64), batch.weights)
        solved = np.ones(len(batch.fits), dtype=bool)
        answers = []
        for place, cost in enumerate(task.group.values("C").astype(np.float64)):
            mine = batch.asks(place)
            beta, fine = problem.solve(1 / cost, mine)
            solved &= fine | ~mine
            answers.append((place, mine, beta))
        for place, mine, beta in answers:
            solved_here = np.flatnonzero(mine & solved)
            if len(solved_here):
                _place(batch.only(solved_here), place, beta[solved_here] @ rows.T)
        done[batch.fits[solved]] = True
    return done


def _place(batch: Samples, place: int, scores: np.ndarray) -> None:
    """Scores `(fit, row)` as the answers that are asked for."""
    line, rows, _ = batch.positions
    score, response = scores[line, rows], batch.task.request.response
    if response == "label":
        answers = (score > 0).astype(code_type(2))
    elif response == "score":
        answers = score
    else:
        share = expit(score)
        answers = np.stack([1 - share, share], axis=1)  # as the learner forms them
    batch.answer(place, answers, np.abs(score) < OPEN)


class _Problem:
    """Weights `(fit, row)` of one table whose last column is the constant; y is 0 or 1."""

    def __init__(
        self, rows: np.ndarray, products: np.ndarray, y: np.ndarray, weights: np.ndarray
    ) -> None:
        self.rows, self.products, self.y, self.weights = rows, products, y, weights
        self.start = np.zeros(rows.shape[1])

    def solve(self, penalty: float, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients of the marked fits at a penalty, and which of them are the minimum."""
        beta = np.zeros((len(which), self.rows.shape[1]))
        fine = np.zeros(len(which), dtype=bool)
        mean = self.weights[which].mean(axis=0, keepdims=True) if which.any() else None
        if mean is None:
            return beta, fine
        start, _ = self._newton(mean, self.start[None].copy(), penalty, ROUGHLY)
        if np.isfinite(start).all():
            self.start = start[0]
        at = np.broadcast_to(self.start, (int(which.sum()), len(self.start))).copy()
        beta[which], fine[which] = self._newton(self.weights[which], at, penalty, NEAR)
        return beta, fine

    def _newton(
        self, weights: np.ndarray, beta: np.ndarray, penalty: float, enough: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Newton steps for all fits until none moves; a fit that has stopped is left alone."""
        fine = np.zeros(len(beta), dtype=bool)
        active = np.arange(len(beta))
        ridge = np.append(np.full(beta.shape[1] - 1, penalty), 0.0)
        scores = beta @ self.rows.T
        near = False
        for _ in range(STEPS):
            with np.errstate(over="ignore"):  # quicker than expit, and 1/inf is 0
                shares = 1 / (1 + np.exp(-scores))
            gradient = (weights[active] * (self.y - shares)) @ self.rows - ridge * beta[active]
            if not near:
                curved = weights[active] * shares * (1 - shares)
                hessians = (curved @ self.products).reshape(-1, len(ridge), len(ridge))
                hessians += np.diag(ridge)
            try:
                step = np.linalg.solve(hessians, gradient[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:
                break
            beta[active] += step
            moved = step @ self.rows.T
            scores += moved
            largest = np.abs(moved).max(axis=1)
            if near:
                fine[active] = largest < SMALL
                break
            bounded = largest < FAR
            if not bounded.all():
                active, scores, hessians = active[bounded], scores[bounded], hessians[bounded]
            near = bool(len(active)) and float(largest[bounded].max()) < enough
        return beta, fine
