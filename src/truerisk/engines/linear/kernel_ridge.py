"""The kernel-ridge engine: all penalties from one decomposition, and one kernel for all fits.

A fit's kernel is a submatrix of the kernel of all rows. Leaving out every row costs one
decomposition, without subtracting leverages from 1. If rounding could change a prediction, or if
scikit-learn might find no Cholesky factor, scikit-learn is fitted itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.linear.fit import DOUBT, Manner, scales
from truerisk.engines.linear.least_squares import negative_weights, penalty_refusal
from truerisk.engines.linear.leverage import leave_out_dual
from truerisk.engines.settings import Group, groups_along
from truerisk.engines.templates.fits_of_one_table import place_singles, single_row_fits
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.spectral import EPS, Spectrum, answers_at, doubts_at, from_product, longest
from truerisk.plan.plan import Plan

BYTES = 1 << 29  # Largest size of the kernel of all rows in bytes.


@frozen
class KernelRidges(OnePass):
    """Engine for KernelRidge with a kernel that scikit-learn knows by name.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.LeastSquares : Engine for ridge regression.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> X, y = tr.datasets.FieldProblem(task="regression")(60, random_state=0)
    >>> engine = tr.engines.KernelRidges()
    >>> tr.estimate_risk(KernelRidge(), X, y, engine=engine).engine
    'kernel-ridge'
    """

    name: ClassVar[str] = "kernel-ridge"
    along: ClassVar[tuple[str, ...]] = ("alpha",)

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.kernel_ridge import KernelRidge

        return (KernelRidge,)

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

        kernel = setting["kernel"]
        if isinstance(kernel, str) and kernel == "precomputed":
            return "kernel='precomputed' makes X a matrix of rows against rows."
        if not isinstance(kernel, str) or kernel not in PAIRWISE_KERNEL_FUNCTIONS:
            return f"kernel={kernel!r} is none of those that scikit-learn knows by name."
        return penalty_refusal(setting["alpha"]) or _number_refusal(setting)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        return negative_weights(data)

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Compare a decomposition per training set with a kernel and a Cholesky factor per penalty.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        tuple of float or None
            The seconds of this engine and of scikit-learn's own fits.
        """
        groups = groups_along(family, self.along)
        n = plan.least_train_sizes.astype(np.float64)
        theirs = len(family) * (1.1e-3 + 1.2e-8 * n**2 + 1.7e-11 * n**3).sum()
        ours = 3e-8 * n**2 + 1.6e-10 * n**3
        single, _ = single_row_fits(plan)  # All of these share one decomposition.
        shared = np.where(np.cumsum(single) > 1, ~single, True) * ours
        own = (ours if group.preparation is not None else shared for group in groups)
        return sum(float(seconds.sum()) for seconds in own), float(theirs)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        if task.X is None or 8 * len(task.X) ** 2 > BYTES:
            return done
        try:
            table = KernelTable.from_task(task)
        except Exception:  # noqa: BLE001  the fits themselves say what is wrong, in their words
            return task.all_open()
        single, row = single_row_fits(task.plan)
        if single.any():
            done[single] = table.answer_left_out(np.flatnonzero(single), row[single])
        for fit in np.flatnonzero(~done):
            done[fit] = table.answer(int(fit))
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        weights = np.ones(len(shown.X)) if shown.all_weights is None else shown.all_weights
        if not weights.any():
            return None
        tested = np.concatenate(tests)
        try:
            part = KernelPart.of_rows(group.settings[0], shown.X, shown.y, weights, tested)
        except Exception:  # noqa: BLE001  of a kernel that does not allow these cells
            return None
        answers, open_ = part.answers(part.across, group.values("alpha").astype(np.float64))
        task.leave_open(shown.fit, group.candidates[open_])
        answers = answers.reshape(*answers.shape[:2], *task.data.y.shape[1:])
        return np.split(answers, np.cumsum([len(test) for test in tests])[:-1], axis=1)


def _number_refusal(setting: Mapping[str, Any]) -> str | None:
    """Return why a parameter of the kernel is invalid, or None."""
    for name, least in (("gamma", 0.0), ("degree", 0.0), ("coef0", -np.inf)):
        value = setting[name]
        if name == "gamma" and value is None:
            continue
        if not isinstance(value, int | float | np.integer | np.floating) or not (
            least <= value < np.inf
        ):
            return f"{name}={value!r} is nothing that scikit-learn allows."
    if setting["kernel_params"] is not None:
        return "kernel_params are for kernels that are functions."
    return None


@frozen(eq=False)
class KernelTable:
    """The kernel of all rows, and the rounding error of its elements."""

    task: Task
    kernel: np.ndarray
    rounding: float
    penalties: np.ndarray

    @classmethod
    def from_task(cls, task: Task) -> KernelTable:
        """Compute the kernel of all rows for the task's group of settings."""
        setting, penalties = task.group.settings[0], task.group.values("alpha")
        kernel = kernel_of(setting, task.X, None)
        return cls(task, kernel, rounding_of(setting, task.X), penalties.astype(np.float64))

    def part(self, weights: np.ndarray, n_given: int, test_rows: np.ndarray) -> KernelPart:
        """Return the kernel, targets and weights of one fit, with the rows that it tests."""
        rows = np.flatnonzero(weights)
        y = self.task.data.y[rows].reshape(len(rows), -1)
        whole = len(rows) == len(weights)
        inside = self.kernel if whole else self.kernel[np.ix_(rows, rows)]
        across = self.kernel[np.ix_(test_rows, rows)]
        return KernelPart(inside, y, np.sqrt(weights[rows]), n_given, self.rounding, across)

    def answer(self, fit: int) -> bool:
        """Answer a fit, or leave it open. Return False if all its weights are zero."""
        task, plan = self.task, self.task.plan
        group = task.of_fit(fit)
        if group is None:
            return True
        rows, times = plan.train_rows(fit)
        weights = np.zeros(plan.n_rows)
        own_weights = np.ones(len(rows)) if task.weights is None else task.weights[rows]
        weights[rows] = own_weights if times is None else own_weights * times
        if not weights.any():
            return False
        questions = task.questions(fit)
        tested = [plan.test_rows(int(q))[0] for q in questions]
        n_given = len(rows) if times is None else int(times.sum())
        part = self.part(weights, n_given, np.concatenate(tested))
        numbers, open_ = part.answers(part.across, group.values("alpha").astype(np.float64))
        task.leave_open(fit, group.candidates[open_])
        numbers = numbers.reshape(*numbers.shape[:2], *task.data.y.shape[1:])
        ends = np.cumsum([len(a) for a in tested])[:-1]
        for question, answers in zip(questions, np.split(numbers, ends, axis=1), strict=True):
            task.place(int(question), group, answers)
        return True

    def answer_left_out(self, fits: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Answer fits on all rows but one.

        Return a mask of fits that were answered or left open.
        """
        n = self.task.plan.n_rows
        weights = np.ones(n) if self.task.weights is None else self.task.weights
        if not weights[row].all() or np.count_nonzero(weights) < 2:
            return np.zeros(len(fits), dtype=bool)
        part = self.part(weights, n, np.empty(0, np.int64))
        place = np.cumsum(weights > 0) - 1
        stable = part.factors(self.penalties)
        numbers = np.zeros((len(stable), len(fits), part.Y.shape[1]))
        open_ = np.ones((len(stable), len(fits)), dtype=bool)
        if stable.any():
            penalties, spectrum = self.penalties[stable], part.spectrum
            left_out = leave_out_dual(spectrum.vectors, spectrum, penalties, part.scale)
            at = place[row]
            numbers[stable] = part.Y[at] - left_out.missed[:, at] / part.root[at, None]
            doubts = (left_out.doubts + part.own_doubts(penalties)[:, None]) / part.root
            open_[stable] = doubts[:, at] > DOUBT
        answers = numbers.reshape(*numbers.shape[:2], *self.task.data.y.shape[1:])
        place_singles(self.task, fits, answers, open_)
        return np.ones(len(fits), dtype=bool)


MANNER = Manner(penalised=True, intercept=False)


def kernel_of(setting: Mapping[str, Any], X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
    """Return the kernel of rows X and Y (None: of X with itself), as KernelRidge computes it."""
    from sklearn.metrics.pairwise import pairwise_kernels

    parameters = {name: setting[name] for name in ("gamma", "degree", "coef0")}
    return pairwise_kernels(X, Y, metric=setting["kernel"], filter_params=True, **parameters)


def rounding_of(setting: Mapping[str, Any], *tables: np.ndarray) -> float:
    """Return the rounding error of a kernel element in units of EPS.

    Squared distances lose digits if the rows are far from zero.
    """
    gamma = 1.0 / tables[0].shape[1] if setting["gamma"] is None else float(setting["gamma"])
    lengths = [np.einsum("ij,ij->i", X, X) for X in tables]
    square = max(float(squares.max(initial=0.0)) for squares in lengths)
    if setting["kernel"] == "linear":
        return square
    if setting["kernel"] in ("poly", "polynomial"):
        degree = float(setting["degree"])
        return float(max(degree, 1.0) * (gamma * square + abs(setting["coef0"])) ** degree)
    return 1.0 + 4.0 * gamma * square


@frozen(eq=False)
class KernelPart:
    """A fit's kernel, targets and weights; `across` is the kernel of tested and training rows.

    `n_given` counts copies and rows of weight 0, which are dropped here.
    """

    inside: np.ndarray
    Y: np.ndarray
    root: np.ndarray
    n_given: int
    rounding: float
    across: np.ndarray

    @classmethod
    def of_rows(
        cls,
        setting: Mapping[str, Any],
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray,
        test_rows: np.ndarray,
    ) -> KernelPart:
        """Compute the part from the rows themselves."""
        retained = weights > 0
        X, Y = X[retained], y[retained].reshape(int(retained.sum()), -1)
        rounding = rounding_of(setting, X, test_rows)
        inside, across = kernel_of(setting, X, None), kernel_of(setting, test_rows, X)
        return cls(inside, Y, np.sqrt(weights[retained]), len(weights), rounding, across)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Decompose the weighted kernel of the training rows into eigenvalues and eigenvectors."""
        product = self.inside * np.multiply.outer(self.root, self.root)
        noise = self.rounding * float((self.root**2).max())
        return from_product(product, self.targets, noise=noise, dual=True)

    @cached_property
    def targets(self) -> np.ndarray:
        """Targets of the training rows, multiplied by the square roots of the weights."""
        return self.Y * self.root[:, None]

    @cached_property
    def scale(self) -> np.ndarray:
        """Spread of each target, against which rounding errors are judged."""
        total = float(self.root @ self.root)
        return scales(self.targets, np.zeros(self.Y.shape[1]), total)

    def factors(self, penalties: np.ndarray) -> np.ndarray:
        """Return a mask of penalties for which a Cholesky factor certainly exists."""
        values = self.spectrum.values
        smallest = min(float(values.min(initial=0.0)), 0.0)
        largest = float(np.abs(values).max(initial=0.0))
        return MANNER.works_on(smallest, largest, self.n_given, penalties)

    def own_doubts(self, penalties: np.ndarray) -> np.ndarray:
        """Return the rounding error of the kernel of the tested rows, times the solution."""
        solved = longest((self.spectrum.right / self.scale).T, self.spectrum, penalties)
        return EPS * self.rounding * float(self.root.max()) * solved

    def answers(self, across: np.ndarray, penalties: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `(penalty, row, target)`, and a mask of penalties that rounding affects."""
        stable = self.factors(penalties)
        answers = np.zeros((len(penalties), len(across), self.Y.shape[1]))
        if stable.any():
            left = (across * self.root) @ self.spectrum.vectors
            retained = penalties[stable]
            doubts = doubts_at(left, 0.0, self.spectrum, retained, self.scale)
            doubts += self.own_doubts(retained)
            answers[stable] = answers_at(left, self.spectrum, retained)
            stable[stable] = doubts <= DOUBT
        return answers, ~stable
