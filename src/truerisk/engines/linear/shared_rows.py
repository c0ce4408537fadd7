"""Least squares on rows of one table: products of all rows are shared between the fits.

For tall tables, Z'Z of a fit is that of all rows minus that of the rows it lacks. For wide tables,
ZZ' of a fit is a submatrix of XX'. Results that rounding could change are left to the single fits.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg.blas import dsyr

from truerisk.core.frozen import frozen
from truerisk.engines.linear.fit import DOUBT, Coding, Manner, location_doubts, scales
from truerisk.engines.templates.task import Task
from truerisk.kernels.spectral import (
    Spectrum,
    Turned,
    answers_at,
    contrasts,
    doubts_at,
    from_product,
    without_first,
)

SAMPLE = 8  # One in this many rows is examined first.
NEAR = 0.5  # Largest share of the squared mean in the mean square.
BYTES = 1 << 28  # Largest size of a product of all rows in bytes.


@frozen(eq=False)
class SharedRows:
    """All rows of a table, with the products that its fits share."""

    task: Task
    manner: Manner
    penalties: np.ndarray

    @cached_property
    def origin(self) -> np.ndarray:
        """Point from which the columns are measured, so that their location costs no digits."""
        if not self.manner.intercept or self.kernel_as_given is not None:
            return np.zeros(self.task.X.shape[1])
        means = self.column_means
        if self._lies_near(means, SAMPLE) or self._lies_near(means, 1):
            return np.zeros(len(means))  # Rows that lie around zero need no copy.
        return means

    @cached_property
    def column_means(self) -> np.ndarray:
        """Mean of each column over all rows."""
        X = self.task.X
        return np.full(len(X), 1 / len(X)) @ X

    def _lies_near(self, mean: np.ndarray, every: int) -> bool:
        """Return True if zero is close to the means; some of the rows may suffice to see it."""
        X = self.task.X
        some = X[::every]
        return bool((mean**2 <= NEAR * np.einsum("ij,ij->j", some, some) / len(X)).all())

    @cached_property
    def kernel_as_given(self) -> np.ndarray | None:
        """XX' of a wide table whose rows lie around zero, so that the table need not be copied."""
        X = self.task.X
        if len(X) >= X.shape[1] or not self.shares_kernel:
            return None
        kernel: np.ndarray = X @ X.T
        near = not self.manner.intercept or kernel.mean() <= NEAR * kernel.diagonal().mean()
        return kernel if near else None

    @cached_property
    def moved(self) -> np.ndarray:
        """The columns minus their origin."""
        X = self.task.X
        return X - self.origin if self.origin.any() else X

    @property
    def n(self) -> int:
        """Number of rows of the table."""
        return self.task.plan.n_rows

    @cached_property
    def weights(self) -> np.ndarray:
        """Sample weight of each row; 1 if none were given."""
        return np.ones(self.n) if self.task.weights is None else self.task.weights

    @cached_property
    def gram(self) -> np.ndarray:
        """Weighted cross-product X'X of the columns, measured from `origin`."""
        rooted = self.moved
        if self.task.weights is not None:
            rooted = rooted * np.sqrt(self.weights)[:, None]
        return rooted.T @ rooted

    @cached_property
    def kernel(self) -> np.ndarray:
        """Inner products XX' of the rows, measured from `origin` unless given."""
        if self.kernel_as_given is not None:
            return self.kernel_as_given
        return self.moved @ self.moved.T

    @cached_property
    def squares(self) -> np.ndarray:
        """Squared length of every shifted row."""
        if self.shares_kernel:
            return self.kernel.diagonal()
        return np.einsum("ij,ij->i", self.moved, self.moved)

    @cached_property
    def shares_kernel(self) -> bool:
        """True if ZZ' of all rows costs less than that of the single fits, and fits into memory."""
        plan = self.task.plan
        sizes = plan.least_train_sizes.astype(np.float64)
        n_tested = np.bincount(plan.fit, weights=plan.test_sizes, minlength=plan.n_fits)
        return bool(8 * self.n**2 <= BYTES and self.n**2 <= (sizes * (sizes + n_tested)).sum())

    def weights_of(self, fit: int) -> tuple[np.ndarray, int]:
        """Return the weight of every row in a fit (0: not in it), and its number of rows."""
        rows, times = self.task.plan.train_rows(fit)
        weights = np.zeros(self.n)
        weights[rows] = self.weights[rows] if times is None else self.weights[rows] * times
        return weights, len(rows) if times is None else int(times.sum())

    def coding(self, fit: int) -> tuple[Coding | None, np.ndarray]:
        """Return the coding of the classes that a fit sees (None in regression), and its labels."""
        y = self.task.labels(fit)
        seen = y[self.task.plan.train_rows(fit)[0]] if self.task.data.classes is not None else y
        return Coding.from_data(self.task.data, self.task.request.response, seen), y

    def answer(self, fit: int) -> bool:
        """Answer a fit and return True; also return True if it has no candidate of the group."""
        group = self.task.of_fit(fit)
        if group is None:
            return True
        penalties = self.penalties
        if self.task.run.only is not None:
            penalties = penalties[self.task.group.candidates == group.candidates[0]]
        coding, y = self.coding(fit)
        weights, n_given = self.weights_of(fit)
        if coding is None or not weights.any():
            return False
        part = Part.from_table(self, weights, coding.numbers(y), n_given)
        questions = self.task.questions(fit)
        tested = [self.task.plan.test_rows(int(q))[0] for q in questions]
        numbers = part.answers(np.concatenate(tested), penalties)
        if numbers is None:
            return False
        answers, tied = coding.answers(numbers)
        self.task.leave_open(fit, group.candidates[tied.any(axis=1)]) if tied.any() else None
        start = 0
        for question, rows in zip(questions, tested, strict=True):
            self.task.place(int(question), group, answers[:, start : start + len(rows)])
            start += len(rows)
        return True


@frozen(eq=False)
class Part:
    """A fit on some rows of the table; `weights` has one entry per row, which is 0 outside."""

    table: SharedRows
    weights: np.ndarray
    rows: np.ndarray
    mean_y: np.ndarray
    Y: np.ndarray  # targets of all rows minus their mean
    n_given: int

    @classmethod
    def from_table(
        cls, table: SharedRows, weights: np.ndarray, Y: np.ndarray, n_given: int
    ) -> Part:
        """Centre the targets at their weighted mean if the model has an intercept."""
        mean_y = np.zeros(Y.shape[1])
        if table.manner.intercept:
            mean_y = weights @ Y / weights.sum()
        return cls(table, weights, np.flatnonzero(weights), mean_y, Y - mean_y, n_given)

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of the shifted columns, which is zero without an intercept."""
        if not self.table.manner.intercept:
            return np.zeros(self.table.moved.shape[1])
        table = self.table
        if self.weights is table.weights and table.task.weights is None:
            return table.column_means - table.origin
        return self.weights @ table.moved / self.total

    @property
    def wide(self) -> bool:
        """True if the fit has fewer rows than columns."""
        return self.n_given < self.table.moved.shape[1]

    @cached_property
    def root(self) -> np.ndarray:
        """Square roots of the weights of the training rows."""
        return np.sqrt(self.weights[self.rows])

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def targets(self) -> np.ndarray:
        """Centred targets, multiplied by the square roots of the weights."""
        return self.Y[self.rows] * self.root[:, None]

    @cached_property
    def scale(self) -> np.ndarray:
        """Spread of each target, against which rounding errors are judged."""
        return scales(self.targets, self.mean_y, self.total)

    @cached_property
    def far(self) -> float:
        """Upper bound on the distance of the mean of its unshifted rows from zero."""
        origin = float(np.linalg.norm(self.table.origin))
        if not self.table.manner.intercept:
            return origin
        if self.wide and self.table.shares_kernel:
            products = self.weights[self.rows] @ self.table.kernel[self.rows]
            square = float(products[self.rows] @ self.weights[self.rows])
            return origin + max(square, 0.0) ** 0.5 / self.total
        return origin + float(np.linalg.norm(self.mean))

    @cached_property
    def spectrum(self) -> Spectrum:
        """Decompose the kernel XX' if the table is wide, otherwise the cross-product X'X."""
        return self._dual() if self.wide else self._primal()

    @cached_property
    def reflecting(self) -> np.ndarray | None:
        """Reflection that removes the intercept from the rows; None without an intercept."""
        return contrasts(self.root) if self.table.manner.intercept else None

    def _shifted(self, trace: float) -> float:
        return self.far * (self.total * trace) ** 0.5

    def _primal(self) -> Spectrum:
        table = self.table
        other = np.flatnonzero(self.weights != table.weights)
        lost = table.weights[other] - self.weights[other]
        if len(other) < len(self.rows) and (lost > 0).all():
            gram = table.gram
            carried = float(gram.diagonal().max())
            if len(other):
                outside = table.moved[other] * np.sqrt(lost)[:, None]
                gram = gram - outside.T @ outside
        else:
            inside = table.moved[self.rows] * self.root[:, None]
            gram = inside.T @ inside
            # the largest diagonal element before the mean is subtracted
            carried = float(gram.diagonal().max())
        gram = (gram.copy() if gram is table.gram else gram).T
        if table.manner.intercept:  # Only the lower triangle is updated.
            gram = dsyr(-self.total, self.mean, lower=1, a=gram, overwrite_a=1)
        weighted = self.weights[:, None] * self.Y
        right = table.moved.T @ weighted - np.multiply.outer(self.mean, weighted.sum(axis=0))
        noise = carried + self._shifted(float(max(np.trace(gram), 0.0)))
        of_right = (carried * self.total) ** 0.5
        return from_product(gram, right, noise=noise, noise_right=of_right)

    def _dual(self) -> Spectrum:
        kernel, T = self._cross(self.rows) * self.root[:, None], self.targets
        if self.reflecting is not None:
            kernel = without_first(self.reflecting, kernel)
            T = without_first(self.reflecting, T)
        squares = self.table.squares
        weighted = squares[self.rows] * self.weights[self.rows]
        noise = float(weighted.max()) + self._shifted(float(max(np.trace(kernel), 0.0)))
        of_cross = float(squares.max() * weighted.sum()) ** 0.5
        return from_product(kernel, T, noise=noise, noise_right=of_cross, dual=True)

    def _cross(self, test_rows: np.ndarray) -> np.ndarray:
        """Return products of centred tested rows with the rows of the fit (or their contrasts)."""
        table, rows = self.table, self.rows
        if table.shares_kernel:
            cross: np.ndarray = table.kernel[np.ix_(test_rows, rows)]
        else:
            cross = table.moved[test_rows] @ table.moved[rows].T
        cross *= self.root
        if self.reflecting is None:
            return cross
        if table.shares_kernel:
            of_mean = self.weights @ table.kernel[:, rows] / self.total
        else:
            of_mean = table.moved[rows] @ self.mean
        cross -= of_mean * self.root
        return without_first(self.reflecting, cross.T).T

    def left(self, test_rows: np.ndarray) -> np.ndarray:
        """Return the coordinates of rows in the basis of the spectrum."""
        if self.wide:
            return self._cross(test_rows) @ self.spectrum.vectors
        whole = np.array_equal(test_rows, np.arange(self.table.n))
        X = self.table.moved if whole else self.table.moved[test_rows]
        turned: np.ndarray = X @ self.spectrum.vectors
        if self.table.manner.intercept:
            turned -= self.mean @ self.spectrum.vectors
        return turned

    def turned(self, factors: np.ndarray | None) -> Turned:
        """Return the coordinates of the fit's own rows, each times its factor.

        Not for wide tables.
        """
        X = self.table.moved
        X = X if len(self.rows) == len(X) else X[self.rows]
        vectors = self.spectrum.vectors
        return Turned(X, vectors, self.mean @ vectors, factors)

    def is_accurate(self, penalties: np.ndarray, least: float = 1.0) -> bool:
        """Return True if the decomposition is precise enough for all penalties.

        The eigenvalues d may shrink to `least` d when rows are left out.
        """
        values, manner = self.spectrum.values, self.table.manner
        smallest = least * float(values.min(initial=np.inf))
        largest = float(values.max(initial=0.0))
        below = 0.0 if self.wide else smallest
        if not manner.works_on(below, largest, self.n_given, penalties).all():
            return False
        if not self.spectrum.stands(penalties, least).all():
            return False
        if manner.penalised:
            return True
        null = self.wide and (manner.intercept or self.n_given > len(self.rows))
        singular = np.sqrt(np.maximum(values[::-1], 0.0))
        if len(singular):
            singular[1:] *= least**0.5
        return smallest > 1e-8 * largest and manner.rank_is_clear(singular, null=null)

    def doubts(self, left: np.ndarray | Turned, penalties: np.ndarray) -> np.ndarray:
        """Return how far rounding may move predictions for rows with these coordinates."""
        doubts = doubts_at(left, 0.0, self.spectrum, penalties, self.scale, enough=DOUBT / 10)
        doubts += location_doubts(self.spectrum, self.far, penalties, self.scale)
        return doubts

    def answers(self, test_rows: np.ndarray, penalties: np.ndarray) -> np.ndarray | None:
        """Return `(penalty, row, target)`; None if rounding could change one of them."""
        if not self.is_accurate(penalties):
            return None
        left = self.left(test_rows)
        if (self.doubts(left, penalties) > DOUBT).any():
            return None
        return answers_at(left, self.spectrum, penalties) + self.mean_y
