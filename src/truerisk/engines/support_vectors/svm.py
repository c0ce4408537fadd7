"""The support vector engine: SVC at every C, with folds as rows of one Gram matrix per kernel.

The inner products of all rows are computed once. Each kernel and gamma turns them into one matrix,
and every training set is a list of its rows. (gamma='scale' differs between training sets, and
needs one matrix for each.)

The predictions are SVC's to the last bit (decision 22): the compiled kernel takes the very steps of
libsvm with the same arithmetic (which differs for sparse rows), and stops where libsvm stops. Once
per process it is compared with SVC. If they differ, the engine refuses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.core.progress import tell
from truerisk.data.data import Data
from truerisk.engines.prepared import OwnArithmetic, as_dense, dense, is_bearable
from truerisk.engines.settings import Group, groups_along
from truerisk.engines.support_vectors.gram import (
    ROUNDING,
    Gram,
    GramRows,
    Products,
    Sums,
    as_called,
    in_order,
)
from truerisk.engines.support_vectors.stepping import (
    stepped,
    takes_the_same_steps,
    takes_the_same_steps_on_sparse,
)
from truerisk.engines.templates.one_pass import OnePass, with_group
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.plan import Plan

MOST_ROWS = 8_000  # Largest number of rows of a Gram matrix, which takes 1.8 GB with its products.
KERNEL = ("kernel", "gamma", "degree", "coef0")


class SupportVectors(OnePass):
    """Engine for scikit-learn's SVC with any C, gamma and kernel, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.names : List the names of engines.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.svm import SVC
    >>> X, y = tr.datasets.make_simple(50, random_state=0)
    >>> tr.estimate_risk(SVC(), X, y, engine=tr.engines.SupportVectors()).engine
    'svm'
    """

    name: ClassVar[str] = "svm"
    along: ClassVar[tuple[str, ...]] = ("C", *KERNEL)
    compiled: ClassVar[bool] = True
    cuts_columns: ClassVar[bool] = True

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.svm import SVC

        return (SVC,)

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        return _kernel_refusal(setting) or _solver_refusal(setting)

    @override
    def rounds(self, group: Group) -> bool:
        return False  # Scores equal SVC's to the last bit, including ties.

    @override
    def table_refusal(self, family: Family, data: Data) -> str | None:
        if not hasattr(data.X, "tocsr") or family.is_piped or _takes_grams(family):
            return super().table_refusal(family, data)
        if data.X.dtype.kind not in "biuf" or len(data.X.shape) != 2 or not data.X.shape[1]:
            return "X is no table of numbers."
        if data.X.dtype.kind == "f" and data.X.dtype.itemsize < 8:
            return self.single_refusal(family)
        if data.non_finite:
            return "X has cells that are not finite."
        if not is_bearable(data.X):
            return "X is sparse, and too large, or too empty, to be made a dense table."
        if not takes_the_same_steps_on_sparse():
            return "X is sparse, and this scikit-learn's libsvm takes other steps than the engine."
        return None

    @override
    def fits(self, numbers: Any) -> bool:
        return super().fits(cells_of(numbers))

    @override
    def read(self, group: Group, table: Any) -> Any:
        if not hasattr(table, "toarray"):
            return super().read(group, table)
        if not takes_the_same_steps_on_sparse():
            raise OwnArithmetic("sparse")
        return Gapped.from_table(table)

    @override
    def table(self, group: Group, data: Data) -> Any:
        sparse = group.rowwise is None and hasattr(data.X, "toarray")
        return self.read(group, data.X) if sparse else super().table(group, data)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.codes is None or data.codes.ndim != 1:
            return "y is not one class per row."
        if data.n_rows > MOST_ROWS:
            return f"the Gram matrix of {data.n_rows} rows is too large (at most {MOST_ROWS})."
        if _takes_grams(family):
            reason = _given_gram_refusal(family, data)
            if reason is not None:
                return reason
        for given in data.fit_params.values():
            weights = np.asarray(given, dtype=np.float64)
            if not (np.isfinite(weights).all() and (weights > 0).all()):
                return "weights are not all finite and positive."
        if not takes_the_same_steps():
            return "this scikit-learn's libsvm takes other steps than the engine."
        return None

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Compare the matrix of all products, and one per kernel, with the columns libsvm reads.

        libsvm reads few columns if the classes are separated, as in the tables of the calibration:
        the estimate is the smallest time that SVC takes.

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
        p, n = int(np.shape(data.X)[1]), plan.least_train_sizes.astype(np.float64)
        n_tested = np.bincount(plan.fit, plan.test_sizes, plan.n_fits)
        column = (1.7e-9 + 0.7e-9 * data.n_classes) * (1 + p / 100)
        theirs = len(family) * (1.2e-3 + column * n * (n + n_tested)).sum()
        ours, every, each = 0.0, float(data.n_rows**2), float((n**2).sum())
        for group in groups_along(family, self.along):
            alone = group.preparation is None
            ours += (1.2e-8 + 4e-10 * p) * (every if alone else each)
            for part in _by_kernel(group):
                setting = part.settings[0]
                scaled = uses_gamma(setting["kernel"]) and setting["gamma"] == "scale"
                ours += 8e-9 * (every if alone and not scaled else each)
        return ours, float(theirs)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        if task.X is None:
            return done
        products = Products(cells_of(task.X), sums=_sums(task.X))
        for part in _by_kernel(task.group):
            own = with_group(task, part)
            setting = part.settings[0]
            gram: Gram | None = None
            if not uses_gamma(setting["kernel"]) or setting["gamma"] != "scale":
                gram = products.gram(setting, gamma_of(setting, task.X, None))
            for fit in range(task.plan.n_fits):
                _answer_from(own, fit, products, gram)
        done[:] = True
        tell(task.plan.n_fits, task.plan.n_fits)
        return done

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        if any(isinstance(test, Gapped) is not isinstance(shown.X, Gapped) for test in tests):
            return None  # An SVC that was fitted on one kind of table may not accept the other.
        tested_cells = stacked(tests)
        products = Products(cells_of(shown.X), tested_cells, _sums(shown.X))
        rows = GramRows(np.arange(len(shown.rows)), shown.y, shown.times, shown.weights)
        columns = np.arange(len(tested_cells))
        answered: list[tuple[np.ndarray, np.ndarray]] = []
        for part in _by_kernel(group):
            setting = part.settings[0]
            gram = products.gram(setting, gamma_of(setting, shown.X, shown.times))
            machine = stepped(gram, rows, part, task.data.classes, columns)
            if machine is None:
                return None
            answers = machine.answers(task.request, task.data.n_classes)
            answered.append((np.isin(group.candidates, part.candidates), answers))
        first = answered[0][1]
        every = np.zeros((len(group.candidates), first.shape[1]), dtype=first.dtype)
        for mine, answers in answered:
            every[mine] = answers
        return np.split(every, np.cumsum([len(test) for test in tests])[:-1], axis=1)


def _sums(X: Any) -> Sums:
    return in_order if isinstance(X, Gapped) else as_called


def _answer_from(task: Task, fit: int, products: Products, gram: Gram | None) -> None:
    """Answer all candidates of one kernel in one fit, with rows of the matrix of all rows."""
    group = task.of_fit(fit)
    if group is None:
        return
    test_rows = [task.plan.test_rows(int(q))[0] for q in task.questions(fit)]
    rows, times = task.plan.train_rows(fit)
    setting, places = group.settings[0], rows
    if gram is None:  # This fit has its own gamma, and hence a matrix of its own rows.
        gamma = gamma_of(setting, task.X[rows], times)
        gram, places = products.gram(setting, gamma, of=rows), np.arange(len(rows))
    weights = None if task.weights is None else task.weights[rows]
    shown = GramRows(places, task.labels(fit)[rows], times, weights)
    machine = stepped(gram, shown, group, task.data.classes, np.concatenate(test_rows))
    if machine is None:
        task.leave_open(fit, group.candidates)
        return
    answers = machine.answers(task.request, task.data.n_classes)
    cuts = np.cumsum([len(a) for a in test_rows])[:-1]
    for question, part in zip(task.questions(fit), np.split(answers, cuts, 1), strict=True):
        task.place(int(question), group, part)


def _takes_grams(family: Family) -> bool:
    return any(setting["kernel"] == "precomputed" for setting in family.settings)


def _given_gram_refusal(family: Family, data: Data) -> str | None:
    if family.is_piped:
        return "a Gram matrix that goes through other steps is left to SVC."
    X = np.asarray(data.X)
    if X.shape != (data.n_rows, data.n_rows):
        return "kernel='precomputed' takes a Gram matrix, and X is not square."
    if not np.abs(X - X.T).max() <= ROUNDING * np.abs(np.diagonal(X)).max():
        return "the Gram matrix is not symmetric."
    return None


def _by_kernel(group: Group) -> Iterator[Group]:
    """Yield the candidates of a group that share a Gram matrix."""
    members: dict[tuple[Any, ...], list[int]] = {}
    for place, setting in enumerate(group.settings):
        kernel = setting["kernel"]
        key = (kernel, *(setting[name] for name in KERNEL[1:])) if uses_gamma(kernel) else (kernel,)
        key = key[:2] if kernel == "rbf" else key
        members.setdefault(key, []).append(place)
    for places in members.values():
        yield Group(
            group.candidates[places],
            tuple(group.settings[place] for place in places),
            group.preparation,
            group.rowwise,
        )


def _kernel_refusal(setting: dict[str, Any]) -> str | None:
    kernel = setting["kernel"]
    if not isinstance(kernel, str) or kernel not in ("linear", "rbf", "poly", "precomputed"):
        return f"kernel={kernel!r} is not linear, rbf, poly or precomputed."
    if not uses_gamma(kernel):
        return None
    gamma = setting["gamma"]
    if gamma not in ("scale", "auto") and not _positive(gamma):
        return f"gamma={gamma!r} is neither a positive number nor 'scale' or 'auto'."
    if kernel == "poly":
        degree, coef0 = setting["degree"], setting["coef0"]
        if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
            return f"degree={degree!r} is no whole number above 0."
        if not _number(coef0):
            return f"coef0={coef0!r} is no number."
    return None


def _solver_refusal(setting: dict[str, Any]) -> str | None:
    if not _positive(setting["C"]):
        return f"C={setting['C']!r} is no positive number."
    if setting["probability"] not in (False, "deprecated"):
        return "probability=True cross-validates inside with random folds."
    if setting["max_iter"] != -1:
        return f"max_iter={setting['max_iter']!r} may stop the solver at any step."
    if not _positive(setting["tol"]):
        return f"tol={setting['tol']!r} is no positive number."
    if not isinstance(setting["shrinking"], bool | np.bool_):
        return f"shrinking={setting['shrinking']!r} is neither True nor False."
    if setting["break_ties"]:
        return "break_ties=True settles ties of votes by sums of decision values."
    return None


def uses_gamma(kernel: str) -> bool:
    """Return True if the kernel has a width, which 'scale' computes from the training rows."""
    return kernel not in ("linear", "precomputed")


def _number(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


class Gapped:
    """Rows of a sparse table, converted by SVC itself, that can be selected by index."""

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def from_table(cls, table: Any) -> Gapped:
        """Convert a table; refuse what SVC would reject or process in another order."""
        from sklearn.utils import check_array

        taken = check_array(
            table, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        sorted_ = taken.copy()
        sorted_.sort_indices()
        if not sorted_.has_canonical_format:
            raise OwnArithmetic("with a cell that is given twice")
        gapped = cls(taken)
        dense(gapped.cells)
        return gapped

    @cached_property
    def cells(self) -> np.ndarray:
        """All cells, including zeros."""
        return np.ascontiguousarray(as_dense(self.table))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n_rows, n_columns = self.table.shape
        return int(n_rows), int(n_columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: np.ndarray) -> Gapped:
        return Gapped(self.table[rows])


def cells_of(table: np.ndarray | Gapped) -> np.ndarray:
    """Return a table as a dense array."""
    return table.cells if isinstance(table, Gapped) else table


def stacked(tables: Sequence[np.ndarray | Gapped]) -> np.ndarray:
    """Return the cells of several tables, stacked vertically."""
    return np.vstack([cells_of(table) for table in tables])


def gamma_of(setting: Mapping[str, Any], X: np.ndarray | Gapped, times: np.ndarray | None) -> float:
    """Return the value of gamma on these training rows, including copies."""
    gamma = setting["gamma"]
    if not uses_gamma(setting["kernel"]) or gamma == "auto":
        return 1.0 / float(X.shape[1])
    if gamma != "scale":
        return float(gamma)
    every = X if times is None else X[np.repeat(np.arange(len(X)), times)]
    if isinstance(every, Gapped):  # SVC computes other sums and moments for sparse rows.
        squares = every.table.multiply(every.table)
        variance = float(squares.mean() - every.table.mean() ** 2)
    else:
        variance = float(every.var())
    return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0
