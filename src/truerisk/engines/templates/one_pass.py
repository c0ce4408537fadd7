"""Base class of engines that predict for all candidates of a group in one pass per training set.

A subclass defines which learners it serves, the hyperparameters in which the candidates of a group
differ (`along`), and the pass itself: `fit_pass` gets the training set of a fit and returns the
predictions of all candidates of the group. Before that, the method `answer_together` may compute
the predictions of many fits at once, such as leave-one-out fits from one decomposition. The
remaining fits go through `fit_pass`, one training set at a time. If a closed form cannot decide a
prediction (because of a tie, or a singular scatter matrix), `fit_pass` returns None or calls
`Task.leave_open`; the learner itself is then fitted to obtain it.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.arguments import RenamedAttribute
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.core.progress import report_progress
from truerisk.data.data import Data
from truerisk.engines.prepared import call_or_none, has_safe_squares, to_dense_float64
from truerisk.engines.running.doors import shared_steps
from truerisk.engines.running.fit_warnings import WarningCounts, collect_warnings
from truerisk.engines.settings import (
    NOT_IN_GROUP,
    Group,
    family_refusal,
    group_candidates,
    response_refusal,
)
from truerisk.engines.templates.task import PassResults, Shown, Task
from truerisk.kernels import unavailability_reason
from truerisk.plan.answers import Answers, allocate_predictions
from truerisk.plan.plan import Plan


class OnePass(Engine):
    """Base class of engines that predict for many candidates in one pass.

    The candidates differ only in the hyperparameters named in `along`. `learners` returns the
    classes that the engine serves, and `fit_pass` computes the predictions of a group for one fit.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.testing.check_engine : Check an engine of your own.

    Examples
    --------
    >>> import truerisk as tr
    >>> isinstance(tr.engines.LeastSquares(), tr.extend.OnePass), tr.engines.LeastSquares.along
    (True, ('alpha',))
    """

    along: ClassVar[tuple[str, ...]]
    serves: ClassVar[frozenset[str]] = frozenset({"flips"})
    weighted: ClassVar[bool] = True  # True if the engine supports sample weights.

    @abstractmethod
    def learners(self) -> Sequence[type]:
        """Return the learner classes that the engine serves; only this call imports them."""

    @abstractmethod
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        """Return the requested predictions of one fit for each test set.

        Their shape is `(candidate of the group, row, ...)`. Return None if the pass cannot decide
        on the predictions; scikit-learn then fits every candidate of the group.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.
        group : Group
            Candidates whose predictions one pass computes together.
        shown : Shown
            The training rows of the fit, after the steps before the learner.
        tests : list of arrays
            The rows of each test set, after the steps before the learner.

        Returns
        -------
        list of arrays, or None
            The predictions for each test set.
        """

    def shares_work(self, group: Group) -> bool:
        """Return True if several fits of the group may share computations.

        The forecast of the duration then times several fits instead of one.

        Parameters
        ----------
        group : Group
            Candidates whose predictions one pass computes together.

        Returns
        -------
        bool
            True if they may share work.
        """
        # If no step before the learner is fitted, all fits use the same X and can share work.
        return group.preparation is None

    def rounds(self, group: Group) -> bool:
        """Return True if rounding may make the engine's scores differ from the learner's.

        Parameters
        ----------
        group : Group
            Candidates whose predictions one pass computes together.

        Returns
        -------
        bool
            True if they may differ.
        """
        return True

    def learner_refusal(self, family: Family) -> str | None:
        """Return why the engine does not support the learner, or None if it does.

        The learner may be alone or the last step of a pipeline.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        return family_refusal(family, self.learners())

    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        """Return why one hyperparameter setting of the learner is not supported, or None if it is.

        Parameters
        ----------
        setting : dict
            All parameters of the learner for one candidate.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        return None

    def settings_refusal(self, settings: Sequence[dict[str, Any]]) -> str | None:
        """Return why any of the hyperparameter settings is not supported, or None if all are.

        Parameters
        ----------
        settings : sequence of dicts
            All parameters of the learner for each candidate.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        for setting in settings:
            if (reason := self.setting_refusal(setting)) is not None:
                return reason
        return None

    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        """Return a reason to refuse the call that only this engine has, or None if there is none.

        It is checked after all other reasons.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the test sets that they predict.
        request : Request
            The type of predictions that the loss needs.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        return None

    def table_refusal(self, family: Family, data: Data) -> str | None:
        """Return why the engine does not support X, or None if it does.

        Engines for sparse X override this method and `table`.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        if hasattr(data.X, "tocsr"):
            return "X is sparse."
        if len(np.shape(data.X)) != 2:
            return "X is no table."
        if not np.shape(data.X)[1]:
            return "X has no columns."
        dtype = np.asarray(data.X).dtype
        if dtype.kind == "f" and dtype.itemsize < 8 and (reason := self.single_refusal(family)):
            return reason
        if dtype.kind not in "biuf" and not family.is_piped:
            return "X holds more than numbers."
        if family.is_piped and any(
            step is not None and not isinstance(step, str)
            for _, step in family.estimator.steps[:-1]
        ):
            # A step may impute missing values, so the check is left to the output of the steps.
            return None
        return "X has cells that are not finite." if data.non_finite else None

    def single_refusal(self, family: Family) -> str | None:
        """Return why the engine does not support X in single precision, or None if it does.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        return "X is in single precision, and scikit-learn would compute in it."

    def fits(self, numbers: Any) -> bool:
        """Return True if the squares of the given numbers neither overflow nor vanish.

        The numbers are those of X or of the targets.

        Parameters
        ----------
        numbers : object
            The numbers.

        Returns
        -------
        bool
            False if squares of them overflow or vanish.
        """
        return has_safe_squares(numbers)

    def read(self, group: Group, table: Any) -> np.ndarray:
        """Convert the output of the steps before the learner to float64.

        If the conversion raises an exception, the learner itself is fitted instead.

        Parameters
        ----------
        group : Group
            Candidates whose predictions one pass computes together.
        table : object
            The output of the steps before the learner.

        Returns
        -------
        array of float
            The table.
        """
        return to_dense_float64(table)

    def table(self, group: Group, data: Data) -> Any:
        """Return X transformed by the steps that treat each row by itself.

        Parameters
        ----------
        group : Group
            Candidates whose predictions one pass computes together.
        data : Data
            The checked rows of the call.

        Returns
        -------
        array of float, shape (n_rows, n_features)
            The transformed X.
        """
        # Without such steps X stays as it is, and `refuse` has checked it.
        if group.rowwise is None:
            return np.ascontiguousarray(data.X, dtype=np.float64)
        # The rows are copied because a step may overwrite its input (copy=False).
        all_rows = data.rows(np.arange(data.n_rows))
        return self.read(group, group.rowwise.fit_transform(all_rows))

    together = RenamedAttribute("answer_together")

    def answer_together(self, task: Task) -> np.ndarray:
        """Predict for those fits that can be computed together; return a mask of them.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.

        Returns
        -------
        array of bool, shape (n_fits,)
            True for the fits whose predictions are stored.
        """
        return np.zeros(task.plan.n_fits, dtype=bool)

    def closing_notes(self, task: Task) -> list[str]:
        """Return notes for the user about the predictions of a group.

        They are collected before the learner is fitted for the unresolved candidates.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.

        Returns
        -------
        list of str
            The notes.
        """
        return []

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = (
            self.learner_refusal(family)
            or self.settings_refusal(family.settings)
            or response_refusal(family, data, request)
            or (_weights_refusal(family, data, self.weighted) if data.fit_params else None)
            or self.table_refusal(family, data)
        )
        if reason is not None:
            return reason
        # least_train_sizes, a lower bound of train_sizes, is used first because it is cheap.
        has_training_rows = (plan.least_train_sizes > 0).all() or plan.train_sizes.all()
        if not has_training_rows or not plan.test_sizes.all():
            return "a fit sees no rows, or is asked about none."
        if self.compiled and (missing_module := unavailability_reason()) is not None:
            return f"{missing_module}."
        return self.more_refusals(family, data, plan, request)

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        start_time = time.perf_counter()
        n_value_rows = len(family) if run.candidate_by_fit is None else 1
        values = allocate_predictions(data, plan, request.response, n_value_rows)
        n_fits = len(values) * plan.n_fits
        report_progress(0, n_fits)
        groups = group_candidates(family, self.along)
        # Groups of candidates may share the fitted steps before the learner.
        if family.is_piped and len(groups) > 1 and run.step_cache is None:
            run = replace(run, step_cache=shared_steps().FittedStepTrees())
        extra_results = None
        if plan.extra is not None:
            extra_results = plan.extra.make_collector(plan, len(values), data.n_classes)
        # `refuse` accepts no fit parameter other than sample weights.
        weight_arrays = list(data.fit_params.values())
        weights = np.asarray(weight_arrays[0], dtype=np.float64) if weight_arrays else None
        results = PassResults(values, extra_results)
        task_of_all_groups = Task(
            family, groups[0], data, plan, request, run, None, weights, results
        )
        n_fits_done = 0
        for group in groups:
            task = task_of_group(task_of_all_groups, group, read=partial(self.read, group))
            n_fits_done += self._predict_group(task, n_fits_done, n_fits)
        if request.response == "score" and any(map(self.rounds, groups)):
            task_of_all_groups.ask_for_ranks()
        report_progress(n_fits, n_fits)
        if results.fit_warnings:
            WarningCounts(results.fit_warnings).issue_all(n_fits)
        # The duration of the run is divided equally among its fits.
        seconds_shape = len(values), plan.n_fits
        fit_seconds = (time.perf_counter() - start_time) / n_fits
        for note_template, largest_value in results.largest_values.items():
            results.notes.append(note_template.format(largest_value))
        return Answers(
            plan=plan,
            response=request.response,
            values=values,
            answered=np.ones((len(values), plan.n_questions), dtype=bool),
            engine=self.name,
            fit_seconds=np.broadcast_to(fit_seconds, seconds_shape),
            answer_seconds=np.broadcast_to(0.0, seconds_shape),
            n_fits=n_fits,
            extra=None if extra_results is None else extra_results.to_answers(),
            notes=tuple(dict.fromkeys(results.notes)),
        )

    def _predict_group(self, task: Task, n_fits_done_before: int, n_total_fits: int) -> int:
        """Predict for the candidates of one group; return how many learner fits this replaces."""
        group, data, n_fits, candidate_positions = (
            task.group,
            task.data,
            task.plan.n_fits,
            task.places,
        )
        n_replaced_fits = n_fits * len(group.candidates)
        if candidate_positions is not None:
            n_replaced_fits = int((candidate_positions != NOT_IN_GROUP).sum())
        can_serve = data.classes is not None or self.fits(data.y)
        if can_serve and group.preparation is None:  # All fits of this group use one table.
            X = None
            # If the grid drops the step that imputes missing values, X is not finite.
            if group.rowwise is not None or not data.non_finite:
                X = call_or_none(partial(self.table, group, data))
            can_serve = X is not None and self.fits(X)
            task = replace(task, X=X)
        done_mask = self.answer_together(task) if can_serve else task.all_open()
        n_fits_done_together = int(done_mask.sum())
        report_progress(
            n_fits_done_before + n_replaced_fits * n_fits_done_together // n_fits, n_total_fits
        )
        for n_fits_tried, fit in enumerate(
            np.flatnonzero(~done_mask), start=n_fits_done_together + 1
        ):
            self.answer_fit(task, int(fit))
            report_progress(
                n_fits_done_before + n_replaced_fits * n_fits_tried // n_fits, n_total_fits
            )
        task.collected.notes.extend(self.closing_notes(task))
        if task.collected.unresolved_candidates or task.collected.shared_warnings:
            task.ask_the_learner()
        return n_replaced_fits

    def answer_fit(self, task: Task, fit: int) -> None:
        """Predict for the candidates of one fit by one pass, or leave them to the learner itself.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.
        fit : int
            The number of the fit.
        """
        group = task.worth_trying(fit)
        if group is None:
            return
        with collect_warnings() as step_warnings:
            train_and_tests = call_or_none(lambda: task.shown(fit))
        predictions = (
            None if train_and_tests is None else self.fit_pass(task, group, *train_and_tests)
        )
        if predictions is None:
            task.leave_open(fit, group.candidates)
            return
        # Unresolved candidates get their steps' warnings when the learner itself is fitted.
        # The warnings of this pass are therefore counted for the other candidates only.
        unresolved_candidates = task.collected.unresolved_candidates.get(fit, set())
        task.collected.fit_warnings.extend(
            step_warnings
            * sum(int(candidate) not in unresolved_candidates for candidate in group.candidates)
        )
        for test_set, test_predictions in zip(task.questions(fit), predictions, strict=True):
            task.place(int(test_set), group, test_predictions)


def task_of_group(task: Task, group: Group, **changes: Any) -> Task:
    """Return the task for this group.

    If each fit predicts for one candidate, its `places` are the candidates' positions in the group.
    """
    candidate_of_fit = task.run.candidate_by_fit
    candidate_positions = None if candidate_of_fit is None else group.places_of(candidate_of_fit)
    return replace(task, group=group, places=candidate_positions, **changes)


def _weights_refusal(family: Family, data: Data, serves_weights: bool) -> str | None:
    """Return why the fit parameters of the call are not supported, or None if they are."""
    weight_name = f"{family.prefix}sample_weight"
    unsupported_params = [
        name for name in data.fit_params if name != weight_name or not serves_weights
    ]
    if unsupported_params:
        return f"fit parameters ({', '.join(unsupported_params)}) are given."
    if weight_name in data.fit_params and np.shape(data.fit_params[weight_name]) != (data.n_rows,):
        return f"{weight_name} is not one weight per row."
    return None
