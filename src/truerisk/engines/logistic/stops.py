"""LogisticRegression at the point where L-BFGS-B stops, which is not the minimum.

The solver's steps are computed from 0, as in scikit-learn, and a second time with noise of the size
of rounding error in every sum. The difference between the two end points shows how much rounding
errors have grown on this table; scikit-learn's own fit is a third rounding of the same steps. The
learner itself is fitted if the difference is too large for the requested answers, if the two runs
stop after different numbers of steps, or if a test of the solver is passed very narrowly. If
`max_iter` cuts the solver off, the steps up to there are followed alike; the learner is fitted once
for the warning that all such fits share.

Starting from 0, no step leaves the span of the rows, and rotated coordinates change neither lengths
nor inner products of the steps. If there are many more columns than rows, the steps are therefore
computed in as many columns as there are rows. Only the largest component of the gradient, which is
the stopping criterion, is evaluated in the original columns. One more coordinate represents all
directions orthogonal to the rows, in which only rounding moves anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
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
from truerisk.kernels import native

DOUBTFUL, CONVERGED, CUT = range(3)  # how the solver ended, in the numbers of the kernel
WAYS = 2  # the numbers as they are, and with noise of the size of rounding in every sum
MOST = 200  # steps; rounding errors may have grown to any size after more steps
APART = 1e-11  # ends this close count as equal if exact digits are needed
# labels are reliable beyond this multiple of the distance between the ends, and beyond 1e-9
LABELS, CLOSE = 1e3, 1e-9
WILD = 1e-5  # ends this far apart say nothing about a third rounding
SHARE = 0.01  # the largest part of the upper bound `rough` that has been observed
SAME = 1e-9  # tolerance for scores, compared with the installed solver
WIDE = 2  # rotation is worthwhile if there are this many times as many columns as rows


@frozen(eq=False)
class Stopped:
    """Score functions of every candidate from both runs: (candidate, run, f, p) and (…, f)."""

    candidates: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    settled: np.ndarray
    cut: np.ndarray
    rough: np.ndarray
    present: np.ndarray
    table: Turned | None = None

    def answers(self, task: Task, fit: int, tests: Sequence[QuestionRows]) -> list[np.ndarray]:
        """Return the answers to every question, and leave those open that rounding may decide."""
        # p counts the rotated columns if the table is rotated
        n, starts, functions, p = self.coefficients.shape
        flat = self.coefficients.reshape(-1, p)
        answers = []
        open_ = ~(self.settled | self.cut)
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
        task.warn_alike(fit, self.candidates[self.cut & ~open_])
        return answers

    def _open(self, task: Task, question: int, scores: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Return the candidates whose answers another rounding of the same steps may change."""
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
    """Return where the solver stops on these rows of X; None if a class has rows but no weight."""
    present = np.flatnonzero(np.bincount(codes))
    if (np.bincount(codes, weights)[present] <= 0).any():
        return None
    setting = group.settings[0]
    limit = int(setting["max_iter"])
    table, X, rows, how = _turned(X, rows)
    stops = logistic_lbfgs(
        X,
        rows,
        np.searchsorted(present, codes),
        weights,
        n_classes=len(present),
        penalties=1.0 / (group.values("C").astype(np.float64) * weights.sum()),
        tolerance=float(setting["tol"]),
        most=min(limit, MOST),
        **how,
    )
    ends = stops.coefficients, stops.intercepts
    cut = stops.cut & (limit <= MOST)  # The learner warns only at its own limit of iterations.
    return Stopped(group.candidates, *ends, stops.settled, cut, stops.rough, present, table)


def _turned(
    X: np.ndarray, rows: np.ndarray
) -> tuple[Turned | None, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return the rows of X, rotated if there are many more columns, and options for the solver."""
    seen = np.zeros(len(X), dtype=bool)
    seen[rows] = True
    if WIDE * np.count_nonzero(seen) > X.shape[1]:
        return None, X, rows, {}
    shown, places = X[seen], np.cumsum(seen)[rows] - 1
    table = turned(shown)
    size = float(np.linalg.norm(np.abs(shown).max(axis=0)))
    how = {"directions": table.directions, "size_of_columns": size}
    return table, np.column_stack([table.shown, np.zeros(len(shown))]), places, how


def steps_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why the learner's fit does not take the steps that the engine follows, or None."""
    for name, value in _defaults().items():
        if setting[name] is not value and setting[name] != value:
            return (
                f"{name}={setting[name]!r}: it follows the solver lbfgs at scikit-learn's defaults "
                "(but for C, tol and max_iter). For the minimum of the objective instead ask by "
                "engine=tr.engines.LogisticPaths(minimiser=True)."
            )
    tol, steps = setting["tol"], setting["max_iter"]
    if (
        isinstance(tol, bool)
        or not isinstance(tol, int | float | np.number)
        or not 0 < tol < np.inf
    ):
        return f"tol={tol!r} is no bound of a gradient."
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        return f"max_iter={steps!r} is no number of steps."
    return None


@cache
def _defaults() -> dict[str, Any]:
    """Return the defaults of the parameters that must have them for the solver to be followed.

    `random_state` may have any value, since lbfgs does not use it.
    """
    from sklearn.linear_model import LogisticRegression

    free = {"C", "tol", "max_iter", "random_state"}
    params = LogisticRegression().get_params()
    return {name: value for name, value in params.items() if name not in free}


@cache
def follows_the_solver(several_classes: bool) -> bool:
    """Return True if the installed solver takes the same steps as this one.

    This is checked once per process on small problems, dense and sparse, and on one of three
    classes only where the data have more than two, since each takes some milliseconds. Another
    release may stop elsewhere or scale its objective in another way.
    """
    problems = [(2, False), (2, True), *([(3, False)] if several_classes else [])]
    return all(_agrees(*one) for one in problems)


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


@frozen(eq=False)
class Stops:
    """The ends of the solver at each penalty, in two runs that differ in rounding only.

    `coefficients` (penalty, run, f, p) and `intercepts` (penalty, run, f): f is 1 for two classes
    (the second against the first), else the number of classes. `settled` is True if both runs
    converged after the same number of `iterations` (penalty), and no test was passed very narrowly;
    `cut` is True if, instead, both runs went as far as the maximum number of iterations.
    The difference between the two ends shows how much rounding errors have grown. `rough` is the
    possible error of a linear predictor if a step was interpolated from nearly equal values.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    iterations: np.ndarray
    settled: np.ndarray
    cut: np.ndarray
    rough: np.ndarray


def logistic_lbfgs(
    X: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    *,
    n_classes: int,
    penalties: np.ndarray,
    tolerance: float,
    most: int,
    directions: np.ndarray | None = None,
    size_of_columns: float = 0.0,
) -> Stops:
    r"""Follow the solver from 0 to the point where it stops, for every penalty λ.

    .. math:: \sum_i \tilde w_i\,\ell_i + \lambda|\beta|^2/2

    Here the weights :math:`\tilde w` sum to one, and the intercept is not penalised. In the second
    run every sum has noise of the size of its rounding error. Both runs and all penalties are
    computed together, so that the rows are read once per evaluation of all of them.

    Parameters
    ----------
    X : array, shape (n, p)
        Table in float64, in row or column order, of which the solver uses `rows`.
    rows : array of int
        Training rows; a row may occur several times.
    codes, weights : arrays, shape (len(rows),)
        Class codes 0 ... n_classes − 1 of these rows, and their weights. The total weight of each
        class is positive.
    n_classes : int
        Number of classes.
    penalties : array
        The penalties λ.
    tolerance : float
        The solver stops when the largest component of the gradient is at most this.
    most : int
        Maximum number of iterations.
    directions : array, shape (columns, p − 1), optional
        Given if X holds rotated rows: the columns of X except the last, which is 0, as orthonormal
        directions in the original columns. The solver evaluates the gradient in the original
        columns.
    size_of_columns : float
        The length of the vector of the largest cells of the original columns, which determines the
        rounding error there.

    Returns
    -------
    Stops
        The end points of both runs at each penalty.

    Raises
    ------
    ValueError
        If a shape or a bound is wrong.
    Refusal
        If the compiled module is missing.
    """
    X = np.asarray(X, dtype=np.float64)
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    penalties = np.ascontiguousarray(penalties, dtype=np.float64)
    _check(X, rows, codes, weights, n_classes)
    turn = np.zeros((0, 0)) if directions is None else np.ascontiguousarray(directions)
    if turn.ndim != 2 or (len(turn) and turn.shape[1] != X.shape[1] - 1):
        raise ValueError(f"directions of shape {turn.shape} do not turn {X.shape[1]} columns.")
    functions, p, n = 1 if n_classes == 2 else n_classes, X.shape[1], len(penalties)
    ends = np.zeros((n, WAYS, functions * (p + 1)))
    iterations = np.zeros(n, dtype=np.int64)
    how, rough = np.full(n, DOUBTFUL, dtype=np.uint8), np.zeros(n)
    native().logistic_lbfgs(
        X,
        rows,
        weights,
        codes,
        int(n_classes),
        penalties,
        float(tolerance),
        int(most),
        turn,
        float(size_of_columns),
        ends,
        iterations,
        how,
        rough,
    )
    ends = ends.reshape(n, WAYS, functions, p + 1)
    return Stops(ends[..., :p], ends[..., p], iterations, how == CONVERGED, how == CUT, rough)


def _check(
    X: np.ndarray, rows: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> None:
    """Refuse everything that would make the kernel read out of bounds or divide by zero."""
    if rows.ndim != 1 or not len(rows) or not 0 <= rows.min() <= rows.max() < X.shape[0]:
        raise ValueError(f"rows are at least one and below {X.shape[0]}.")
    if codes.shape != rows.shape or weights.shape != rows.shape:
        raise ValueError(f"{len(rows)} rows have {codes.shape} codes and {weights.shape} weights.")
    if not (weights.min() >= 0 and weights.max() < np.inf):  # this also refuses NaN
        raise ValueError("weights must be finite and not negative.")
    if n_classes < 2 or not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(f"codes must give each row a class below {n_classes}.")
    if (np.bincount(codes, weights=weights, minlength=n_classes) <= 0).any():
        raise ValueError("a class has no weight: there is nothing to fit to.")
