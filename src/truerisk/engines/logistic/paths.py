"""The path engine: penalised logistic regression at every penalty, one path per training set.

It serves LogisticPath over `at` and scikit-learn's LogisticRegression over `C`. The kernel reads
the rows of a fit directly from one column-major X.

For LogisticPath the engine performs exactly the iterations of its own fit, so that answers agree to
the bit. For LogisticRegression it returns the point at which the solver stops (`stops.py`, decision
21), or, with `minimiser`, the minimum of the objective to about ten digits, whichever solver is
set. The penalty is λ = 1 / (C Σ w), with the same C in training sets of every size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import check_flag
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.core.progress import tell
from truerisk.core.registry import check_present, is_present
from truerisk.data.data import Data
from truerisk.engines.logistic.path_answers import QuestionRows
from truerisk.engines.logistic.stops import Stopped, follows_the_solver, steps_refusal, stopped
from truerisk.engines.prepared import as_dense, is_bearable
from truerisk.engines.settings import Group, family_refusal
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.blocks import ALL
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.logistic.minima import Rule

MINIMA = "truerisk.engines.logistic.minima"


def _minima() -> ModuleType:
    """Import the module for LogisticPath, and for LogisticRegression with `minimiser`."""
    check_present(MINIMA)
    from truerisk.engines.logistic import minima

    return minima


@frozen
class LogisticPaths(OnePass):
    """Engine for LogisticPath over `at` and LogisticRegression over `C`, also in a pipeline.

    With `minimiser` the answer for a LogisticRegression is the minimum of its objective, for any
    solver and penalty, and not the point at which the solver stops.

    Parameters
    ----------
    minimiser : bool, default=False
        If True, the answer for a LogisticRegression is the minimum of its objective, not the point
        at which its solver stops.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.models.LogisticPath : A learner that it serves.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = tr.datasets.make_simple(50, random_state=0)
    >>> engine = tr.engines.LogisticPaths(minimiser=True)
    >>> tr.estimate_risk(LogisticRegression(), X, y, engine=engine).engine
    'logistic-path'
    """

    name: ClassVar[str] = "logistic-path"
    along: ClassVar[tuple[str, ...]] = ("at", "C")
    compiled: ClassVar[bool] = True
    serves: ClassVar[frozenset[str]] = frozenset({"flips", "freedom", "rules", "taken_out"})
    minimiser: bool = False

    def __post_init__(self) -> None:
        check_flag("minimiser", self.minimiser)

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.linear_model import LogisticRegression

        check_present("truerisk.models.logistic_path")
        from truerisk.models.logistic_path import LogisticPath

        return LogisticPath, LogisticRegression

    @override
    def learner_refusal(self, family: Family) -> str | None:
        if is_exactly(family.last, "sklearn.linear_model:LogisticRegression"):
            # LogisticPath need not be imported for it.
            return family_refusal(family, [type(family.last)])
        return super().learner_refusal(family)

    def _follows(self, settings: Sequence[Mapping[str, Any]]) -> bool:
        """Return True if the engine follows LogisticRegression's solver to where it stops."""
        return "C" in settings[0] and not self.minimiser

    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        """Return why a setting of LogisticRegression is not served, or None.

        With `minimiser` the minimum of the objective is returned, wherever the solver would stop.
        Otherwise the point at which L-BFGS-B stops is returned, which requires scikit-learn's
        defaults except for C, `tol` and `max_iter`.

        Parameters
        ----------
        setting : dict
            All parameters of the learner for one candidate.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        cost: Any = setting["C"]
        number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
        if not number or not 0 < cost < np.inf:
            return f"C={cost!r} is no finite penalty."
        return _minima().minimum_refusal(setting) if self.minimiser else steps_refusal(setting)

    @override
    def settings_refusal(self, settings: Sequence[dict[str, Any]]) -> str | None:
        if not self._follows(settings) and not is_present(MINIMA):
            return f"{MINIMA} is missing from this installation."
        if "C" in settings[0]:
            return super().settings_refusal(settings)
        reason: str | None = _minima().path_refusal(settings)
        return reason

    @override
    def table_refusal(self, family: Family, data: Data) -> str | None:
        own = "at" in family.settings[0]  # LogisticPath computes in double precision
        sparse, dtype = hasattr(data.X, "tocsr"), getattr(data.X, "dtype", None)
        single = dtype is not None and dtype.kind == "f" and dtype.itemsize < 8
        if not sparse and not (own and single):
            return super().table_refusal(family, data)
        if sparse and family.is_piped:
            return "X is sparse, and steps before the learner may make it anything."
        if data.X.dtype.kind not in "biuf" or len(data.X.shape) != 2:
            return "X is no table of numbers."
        if single and not own:
            return "X is in single precision, and scikit-learn would compute in it."
        return "X has cells that are not finite." if data.non_finite else None

    @override
    def table(self, group: Group, data: Data) -> Any:
        follows = self._follows(group.settings)
        if group.rowwise is not None:
            X = super().table(group, data)
        else:
            X = as_dense(data.X) if follows else data.X
        # The solver's steps read rows as well as columns, so that X is not copied.
        if X is None or follows:
            return None if X is None else np.asarray(X, dtype=np.float64)
        return _minima().column_major(X)

    @override
    def read(self, group: Group, table: Any) -> np.ndarray:
        regression = "C" in group.settings[0]  # LogisticPath treats sparse tables differently
        return super().read(group, as_dense(table) if regression else table)

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        follows = self._follows(family.settings)
        if follows and not is_bearable(data.X):
            return "X is sparse, and too large, or too empty, to be made a dense table."
        if follows and not follows_the_solver(data.n_classes > 2):
            return "the installed SciPy or scikit-learn takes other steps than those it follows."
        if plan.needs.keys() & {"rules", "freedom", "taken_out"}:
            reason = _request_refusal(family, data, plan, self.minimiser)
            if reason is not None:
                return reason
        weights = next(iter(data.fit_params.values()), None)  # sample weights
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            if not np.isfinite(weights).all() or (weights < 0).any():
                return "weights are negative or not finite."
        if data.codes is None or data.codes.ndim != 1:
            return "y is not one class per row."
        return _classes_refusal(data, plan, weights)

    @override
    def answer_together(self, task: Task) -> np.ndarray:
        done = np.zeros(task.plan.n_fits, dtype=bool)
        if task.X is None:
            return done
        setting = task.group.settings[0]
        minima = self.minimiser and "C" in setting and not hasattr(task.X, "indptr")
        if minima and _minima().l1_ratio_of(setting) == 0:
            done |= _minima().answer_samples(task, task.X)
        for fit in np.flatnonzero(~done).tolist():
            group = task.worth_trying(fit)
            if group is not None:
                self._answer_rows(task, group, fit)
            done[fit] = True
            tell(fit + 1, task.plan.n_fits)
        return done

    @override
    def rounds(self, group: Group) -> bool:
        return "C" in group.settings[0]  # LogisticPath performs the same iterations

    @override
    def closing_notes(self, task: Task) -> list[str]:
        n_open = sum(map(len, task.collected.open.values()))
        n_open += bool(task.collected.alike)  # One fit that is cut off is made for its warning.
        if not n_open or not self._follows(task.group.settings):
            return []
        per_fit = len(task.group.candidates) if task.run.only is None else 1
        n = task.plan.n_fits * per_fit
        why = "rounding, or its limit of steps, decides where its solver stops."
        return [f"{n_open} of {n} fits were made by LogisticRegression itself: {why}"]

    def _answer_rows(self, task: Task, group: Group, fit: int) -> None:
        """Answer a fit on rows of the table that all fits share."""
        rows, times = task.plan.train_rows(fit)
        rows = rows if times is None else np.repeat(rows, times)
        weights = np.ones(len(rows)) if task.weights is None else task.weights[rows]
        codes = task.labels(fit)[rows]
        if hasattr(task.X, "indptr"):
            rule = self._rule(task, group, fit, task.data.rows(rows), codes, weights, None)
        else:
            rule = self._rule(task, group, fit, task.X, codes, weights, rows)
        if rule is None:
            task.leave_open(fit, group.candidates)
            return
        own = None
        if "taken_out" in task.plan.needs:
            own = _minima().OwnRows(task.X, rows, np.searchsorted(rule.present, codes), weights)
        tested = []
        for question in task.questions(fit):
            is_own = own is not None and task.plan.without_row[question]
            test_rows = task.plan.test_rows(question)[0]
            tested.append(QuestionRows(task.X, test_rows, own if is_own else None))
        answers = rule.answers(task, fit, tested)
        for question, answer in zip(task.questions(fit), answers, strict=True):
            task.place(int(question), group, answer)

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        every = np.arange(len(shown.rows))
        rows = every if shown.times is None else np.repeat(every, shown.times)
        weights = np.ones(len(rows)) if shown.weights is None else shown.weights[rows]
        X = shown.X if self._follows(group.settings) else _minima().column_major(shown.X)
        rule = self._rule(task, group, shown.fit, X, shown.y[rows], weights, rows)
        return (
            None
            if rule is None
            else rule.answers(task, shown.fit, [QuestionRows(X, None) for X in tests])
        )

    def _rule(
        self,
        task: Task,
        group: Group,
        fit: int,
        X: Any,
        codes: np.ndarray,
        weights: np.ndarray,
        rows: np.ndarray | None,
    ) -> Rule | Stopped | None:
        """Return the learner's model for these rows of X (None: all rows), for every candidate."""
        if rows is not None and self._follows(group.settings):
            return stopped(group, X, codes, weights, rows)
        whole = rows is not None and np.array_equal(rows, np.arange(X.shape[0]))
        of = task, group, fit, X, codes, weights
        rule: Rule = _minima().fitted_path(*of, None if whole else rows)
        return rule


def _request_refusal(family: Family, data: Data, plan: Plan, minimiser: bool) -> str | None:
    """Return why the plan's questions about the fitted model cannot be answered, or None.

    They can be answered for LogisticPath on the data's own rows.
    """
    if family.is_piped:
        return "linear rules and what else is asked of a fit itself is not read after other steps."
    settings = family.settings
    if "at" not in settings[0] and not minimiser:
        return "what is asked of a fitted LogisticRegression itself is read where its solver stops."
    if "taken_out" in plan.needs:
        if "C" in settings[0] and any(_minima().l1_ratio_of(setting) for setting in settings):
            return "which columns an L1 penalty selects, nearly, is up to the solver."
        if data.n_classes > 2:
            return "a row is taken out of a fit on two classes only."
        return (
            None if plan.blocks.counts is None else "copies of a row are not taken out one by one."
        )
    if "at" not in settings[0]:
        return "linear rules and degrees of freedom are stated for LogisticPath only."
    if "freedom" in plan.needs and any(s["l1_ratio"] != 1 for s in settings):
        return "degrees of freedom are stated for l1_ratio=1 only."
    return None


def _classes_refusal(data: Data, plan: Plan, weights: np.ndarray | None) -> str | None:
    """Return why there is nothing to fit: some training set has only one class; or None."""
    sizes = data.class_sizes
    plain = "flips" not in plan.needs and weights is None and plan.blocks.counts is None
    if plain and (sizes > plan.n_rows - plan.train_sizes.min()).sum() >= 2:
        return None
    for fit in np.flatnonzero(~_sees_two(plan, data.class_codes, weights)).tolist():
        rows, _ = plan.train_rows(fit)
        codes = data.class_codes
        if plan.extra is not None:
            codes = plan.extra.labels(fit, codes)
        if weights is not None:
            rows = rows[weights[rows] > 0]
        if len(np.unique(codes[rows])) < 2:
            return "a fit sees one class only."
    return None


def _sees_two(plan: Plan, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return a mask of fits on one block (bootstrap samples) that clearly have two classes."""
    blocks, fits = plan.blocks, np.zeros(plan.n_fits, dtype=bool)
    if weights is not None or "flips" in plan.needs or not blocks.sizes.all():
        return fits
    of_rows, starts = codes[blocks.rows], blocks.offsets[:-1]
    several = np.maximum.reduceat(of_rows, starts) > np.minimum.reduceat(of_rows, starts)
    base = plan.train.base
    whole = (base != ALL) & (np.diff(plan.train.offsets) == 0)
    fits[whole] = several[base[whole]]
    return fits
