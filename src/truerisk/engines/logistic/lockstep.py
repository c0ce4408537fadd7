"""Ridge logistic regression of two classes on many samples at once: Newton steps in lockstep.

The Hessians of all fits are one product of weights with the products of the columns. All start from
the minimum of their mean objective. Once no step moves a linear predictor by more than 1e-4, one
more with the Hessians as they are leaves less than 1e-10 of an error: it moves by what was left,
which must be below 1e-6, and errs by 1e-4 of that. Other fits are left for the path, one by one.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from truerisk.core.answers import code_type
from truerisk.engines.templates.fits_of_one_table import Samples, products_of
from truerisk.engines.templates.task import Task

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
            asked = np.flatnonzero(mine & solved)
            if len(asked):
                _place(batch.only(asked), place, beta[asked] @ rows.T)
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
            kept = largest < FAR
            if not kept.all():
                active, scores, hessians = active[kept], scores[kept], hessians[kept]
            near = bool(len(active)) and float(largest[kept].max()) < enough
        return beta, fine
