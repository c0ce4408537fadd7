"""Minima of penalised logistic likelihoods: paths of LogisticPath, and ridge fits in batches.

Scores of training rows without their own influence are computed to first order, for every penalty.

`answer_samples` fits ridge logistic regression of two classes to many samples at once, by
simultaneous Newton steps: the Hessians of all fits are one product of the weights with the pairwise
products of the columns. All fits start from the minimum of their mean objective. Once no step moves
a linear predictor by more than 1e-4, one more step with the same Hessians leaves an error below
1e-10: it moves by the remaining error, which must be below 1e-6, and its own error is 1e-4 of that.
Fits that do not meet this are solved one by one by the path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_, itemgetter
from typing import Any

import numpy as np
from scipy.special import expit

from truerisk.core.frozen import frozen
from truerisk.engines.logistic.path_answers import (
    OPEN,
    QuestionRows,
    answers_of,
    least_margin,
    ranks_are_close,
)
from truerisk.engines.settings import Group
from truerisk.engines.templates.fits_of_one_table import Samples, products_of
from truerisk.engines.templates.task import Task
from truerisk.kernels.logistic import column_major as column_major
from truerisk.kernels.logistic import logistic_path
from truerisk.models.logistic_places import check_setting, paths_of, place_of
from truerisk.models.stated.degrees_of_freedom import tolerance_at_minimum
from truerisk.models.stated.without_a_row import logistic_without, row_variances
from truerisk.plan.answers import code_type
from truerisk.plan.extras.linear_rules import LinearRules

EXACT = 1e-20  # squared move of the linear predictor, which gives ten digits
MANY_PASSES = 300_000
USUAL, USUAL_STEPS = 1e-4, 100
PENALTIES = {"l1": 1.0, "l2": 0.0}
RANKS = 1e-12  # Scores of two rows this close may be in the order that rounding gave them.


def path_refusal(settings: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why LogisticPath itself should be fitted, which then raises its error, or None.

    Successive settings are usually places on the same path, which is therefore checked once.
    """
    path = itemgetter(*(name for name in settings[0] if name != "at"))
    checked: tuple[Any, ...] = ()
    n = 0
    try:
        for setting in settings:
            given, at = path(setting), setting["at"]
            if not checked or not all(map(is_, given, checked)):
                check_setting(setting)
                lambdas, checked = setting["lambdas"], given
                n = int(setting["n_lambdas"]) if lambdas is None else len(lambdas)
            if at is not None and not (type(at) is int and 0 <= at < n):
                place_of(at, np.ones(n))
    except (TypeError, ValueError) as error:
        return f"LogisticPath cannot be set so: {str(error).splitlines()[0].rstrip('.')}."
    return None


def minimum_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why the setting does not ask for the minimum of the objective, or None."""
    solver = setting["solver"]
    if solver == "liblinear":
        return "solver='liblinear' penalises the intercept, another objective."
    if l1_ratio_of(setting) is None:
        return f"penalty={setting.get('penalty')!r} is none that it knows."
    if l1_ratio_of(setting) != 0 and solver != "saga":
        return f"solver='{solver}' has no L1 penalty."
    if solver not in ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"):
        return f"solver={solver!r} is none that it knows."
    plain = {"fit_intercept": True, "dual": False, "warm_start": False, "class_weight": None}
    for name, value in plain.items():
        if setting[name] is not value:
            return f"{name}={setting[name]!r} is not served."
    if setting.get("multi_class", "auto") not in ("auto", "deprecated"):
        return f"multi_class={setting['multi_class']!r} is not served."
    tol, steps = setting["tol"], setting["max_iter"]
    if not 0 < tol <= USUAL:
        return f"tol={tol!r} does not ask for the minimum: set tol to {USUAL:g} or less."
    if not steps >= USUAL_STEPS:
        return f"max_iter={steps!r} stops the solver short of the minimum."
    return None


def l1_ratio_of(setting: Mapping[str, Any]) -> float | None:
    """Return the share of the L1 penalty in a LogisticRegression, or None if it has no penalty.

    Up to scikit-learn 1.7 the penalty has a name; from 1.8 on, `l1_ratio` alone determines it.
    """
    penalty, given = setting.get("penalty", "deprecated"), setting["l1_ratio"]
    if isinstance(penalty, str) and penalty in PENALTIES:
        return PENALTIES[penalty]
    if penalty not in ("deprecated", "elasticnet"):
        return None
    ratio = 0.0 if given is None and penalty == "deprecated" else given
    if isinstance(ratio, bool) or not isinstance(ratio, int | float | np.number):
        return None
    return float(ratio) if 0 <= ratio <= 1 else None


@frozen(eq=False)
class Rule:
    """Score functions of every candidate: coefficients (candidate, f, p) and intercepts.

    `among` are the columns that some candidate may use. `present` are the classes in the training
    set. A score must be farther than `margin` from a tie. `candidates` have the numbers of the
    family.
    """

    candidates: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray
    among: np.ndarray
    present: np.ndarray
    margin: float
    penalty: Penalty

    def answers(self, task: Task, fit: int, tests: Sequence[QuestionRows]) -> list[np.ndarray]:
        """Return the answers to every question, and leave those open that rounding may decide."""
        # The answer is then determined by where the learner's own solver stops.
        if not self.converged.all():
            task.leave_open(fit, self.candidates[~self.converged])
        rules = self._state(task, fit)
        used, (n, fitted, _) = rules.used, self.coefficients.shape
        flat = np.take(self.coefficients.reshape(n * fitted, -1), used, axis=1)
        answers = []
        for test, question in zip(tests, task.questions(fit), strict=True):
            scores = test.times(used, flat).reshape(-1, n, fitted).transpose(1, 0, 2)
            scores = scores + self.intercepts[:, None]
            if test.own is not None:
                scores = test.own.without(scores, self.coefficients, self.penalty)
            task.leave_open(fit, self.candidates[self._close(task, int(question), scores)])
            answers.append(answers_of(scores, self.present, task))
        return answers

    def _close(self, task: Task, question: int, scores: np.ndarray) -> np.ndarray:
        """Return the candidates for which rounding may decide a label or the order of two rows."""
        response = task.request.response
        if response == "label":
            return least_margin(scores).min(axis=1, initial=np.inf) < self.margin
        if response != "score" or task.data.codes is None:
            return np.zeros(len(scores), dtype=bool)
        codes = task.data.codes[task.plan.test_rows(question)[0]]
        gap = np.where(
            self.coefficients.any(axis=(1, 2)), RANKS, -1.0
        )  # A constant score has no rounding error.
        return ranks_are_close(scores[..., 0], codes, gap)

    def _state(self, task: Task, fit: int) -> LinearRules:
        """Return the rules; record them and the degrees of freedom if the plan asks for them."""
        lines = self.candidates if task.run.only is None else np.zeros(1, dtype=np.intp)
        codes = tuple(int(code) for code in self.present)
        rules = LinearRules(fit, lines, self.coefficients, self.intercepts, codes, among=self.among)
        if task.collected.extra is not None and fit in task.collected.extra.ruled:
            task.collected.extra.rules.append(rules)
        if task.collected.extra is not None and fit in task.collected.extra.free:
            nonzero = np.count_nonzero(self.coefficients, axis=(1, 2))
            task.collected.extra.freedom[lines, fit] = nonzero + len(self.present) - 1
        return rules


def fitted_path(
    task: Task,
    group: Group,
    fit: int,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray | None,
) -> Rule:
    """Fit one path for all candidates of the group on these rows of X (None: all rows)."""
    present = np.flatnonzero(np.bincount(codes, weights))
    codes = np.minimum(np.searchsorted(present, codes), len(present) - 1)
    setting = group.settings[0]
    if "C" in setting:
        ratio = l1_ratio_of(setting) or 0.0
        ridges = 1.0 / group.values("C").astype(np.float64)
        lambdas = ridges / weights.sum()
        solved = logistic_path(
            X,
            codes,
            weights,
            n_classes=len(present),
            rows=rows,
            lambdas=lambdas,
            l1_ratio=ratio,
            standardize=False,
            tolerance=EXACT,
            max_passes=MANY_PASSES,
        )
        solution = solved.coefficients, solved.intercepts, solved.converged, solved.used
        penalty = Penalty((1 - ratio) * ridges, ratio > 0, standardize=False)
        return Rule(group.candidates, *solution, present, OPEN, penalty)
    ats = [setting["at"] for setting in group.settings]
    if task.collected.extra is not None and fit in task.collected.extra.free:
        setting = {**setting, "tol": tolerance_at_minimum(setting["tol"])}
    paths = paths_of(setting, ats, X, codes, weights, len(present), rows)
    if paths.warning is not None:
        from sklearn.exceptions import ConvergenceWarning

        task.collected.warned.append((ConvergenceWarning, paths.warning))
    every = np.ones(len(ats), dtype=bool)  # LogisticPath's own fit would stop at the same place.
    ratio = float(setting["l1_ratio"])
    ridges = (1 - ratio) * paths.lambdas * weights.sum()
    penalty = Penalty(ridges, ratio > 0, bool(setting["standardize"]))
    solution = paths.coefficients, paths.intercepts, every, paths.path.used
    return Rule(group.candidates, *solution, present, 0.0, penalty)


@frozen(eq=False)
class Penalty:
    """Penalty of each candidate: the weight of half the squared coefficients beside the likelihood.

    The likelihood is the total over rows. With `standardize` each square is multiplied by the
    variance of its column. With `selects` only columns with a nonzero coefficient are in the fit.
    """

    ridge: np.ndarray
    selects: bool
    standardize: bool


@frozen(eq=False)
class OwnRows:
    """The training rows of a fit, with their classes (0, 1) and weights."""

    X: Any
    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def without(self, scores: np.ndarray, coefficients: np.ndarray, penalty: Penalty) -> np.ndarray:
        """Return the scores without each row, given scores (candidate, row, 1) of all rows."""
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
# largest moves of a linear predictor in the last step but one, and in the last step
NEAR, SMALL = 1e-4, 1e-6
ROUGHLY = 0.1  # largest last move, if only a starting point is needed
FAR = 100.0  # A fit that moves this far is abandoned.


def answer_samples(task: Task, X: np.ndarray) -> np.ndarray:
    """Answer candidates with a ridge penalty; return a mask of the fits that are fully answered."""
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
                _place(batch.select(solved_here), place, beta[solved_here] @ rows.T)
        done[batch.fits[solved]] = True
    return done


def _place(batch: Samples, place: int, scores: np.ndarray) -> None:
    """Store scores `(fit, row)` as the requested answers."""
    line, rows, _ = batch.positions
    score, response = scores[line, rows], batch.task.request.response
    if response == "label":
        answers = (score > 0).astype(code_type(2))
    elif response == "score":
        answers = score
    else:
        share = expit(score)
        # in the same order of operations as the learner
        answers = np.stack([1 - share, share], axis=1)
    batch.answer(place, answers, np.abs(score) < OPEN)


class _Problem:
    """Weights `(fit, row)` of one table whose last column is the constant; y is 0 or 1."""

    def __init__(
        self, rows: np.ndarray, products: np.ndarray, y: np.ndarray, weights: np.ndarray
    ) -> None:
        self.rows, self.products, self.y, self.weights = rows, products, y, weights
        self.start = np.zeros(rows.shape[1])

    def solve(self, penalty: float, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the marked fits' coefficients at a penalty, and which reached the minimum."""
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
        """Take Newton steps for all fits until none moves; stopped fits are not changed."""
        fine = np.zeros(len(beta), dtype=bool)
        active = np.arange(len(beta))
        ridge = np.append(np.full(beta.shape[1] - 1, penalty), 0.0)
        scores = beta @ self.rows.T
        near = False
        for _ in range(STEPS):
            with np.errstate(over="ignore"):  # This is faster than expit, and 1/inf is 0.
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
