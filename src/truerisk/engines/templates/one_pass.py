"""The template of engines that answer all candidates of a group in one pass per training set.

A subclass defines which learners it serves, the parameters along which one pass answers, and the
pass itself: `fit_pass` gets the training set of a fit and returns the predictions for all
candidates of the group. The method `answer_together` may answer many fits at once first, such as
leave-one-out from one decomposition. The remaining fits go through `fit_pass`, one training set at
a time. If a closed form cannot decide an answer (because of a tie, or a singular scatter matrix),
`fit_pass` returns None or calls `Task.leave_open`; the learner itself is then fitted to obtain it.
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
from truerisk.core.arguments import Renamed
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.core.progress import tell
from truerisk.data.data import Data
from truerisk.engines.prepared import dense, squares_fit, unless_it_fails
from truerisk.engines.running.doors import shared_steps
from truerisk.engines.running.fit_warnings import Tally, collect_warnings
from truerisk.engines.settings import (
    ELSEWHERE,
    Group,
    family_refusal,
    groups_along,
    response_refusal,
)
from truerisk.engines.templates.task import Collected, Shown, Task
from truerisk.kernels import why_not
from truerisk.plan.answers import Answers, empty_values
from truerisk.plan.plan import Plan


class OnePass(Engine):
    """Base class of engines whose one pass answers all candidates that differ in `along` only.

    `learners` returns the classes that it serves, and `fit_pass` computes the predictions of a
    group for one fit.

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
    weighted: ClassVar[bool] = True  # True if the engine serves sample weights

    @abstractmethod
    def learners(self) -> Sequence[type]:
        """Return the classes that the engine serves, imported at the call."""

    @abstractmethod
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        """Return the requested predictions `(candidate of the group, row, ...)` of each test set.

        Return None if the pass cannot decide; every candidate of the group is then fitted by
        itself.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.
        group : Group
            Candidates that one pass answers together.
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
        """Return True if several fits may share work; a time forecast then measures several.

        Parameters
        ----------
        group : Group
            Candidates that one pass answers together.

        Returns
        -------
        bool
            True if they may share work.
        """
        return group.preparation is None  # they share X

    def rounds(self, group: Group) -> bool:
        """Return True if scores may differ from the learner's in the last digits.

        Parameters
        ----------
        group : Group
            Candidates that one pass answers together.

        Returns
        -------
        bool
            True if they may differ.
        """
        return True

    def learner_refusal(self, family: Family) -> str | None:
        """Return why the engine does not serve the learner, alone or in a pipeline, or None.

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
        """Return why one setting of the learner is not served, or None.

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
        """Return why any of the settings is not served, or None.

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
        """Return a further reason to refuse, which is checked last, or None.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.
        request : Request
            The type of answers that the loss needs.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        return None

    def table_refusal(self, family: Family, data: Data) -> str | None:
        """Return why X is not served, or None; engines for sparse X override this and `table`.

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
            return None  # A step may impute missing values; its output is checked later.
        return "X has cells that are not finite." if data.non_finite else None

    def single_refusal(self, family: Family) -> str | None:
        """Return why X in single precision is not served, or None.

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
        """Return True if the engine can compute with numbers of this size, in X or in targets.

        Parameters
        ----------
        numbers : object
            The numbers.

        Returns
        -------
        bool
            False if squares of them overflow or vanish.
        """
        return squares_fit(numbers)

    def read(self, group: Group, table: Any) -> np.ndarray:
        """Convert the output of a step to float64; if that raises, the learner itself is fitted.

        Parameters
        ----------
        group : Group
            Candidates that one pass answers together.
        table : object
            The output of the steps before the learner.

        Returns
        -------
        array of float
            The table.
        """
        return dense(table)

    def table(self, group: Group, data: Data) -> Any:
        """Return X transformed by the steps that treat each row by itself.

        Parameters
        ----------
        group : Group
            Candidates that one pass answers together.
        data : Data
            The checked rows of the call.

        Returns
        -------
        array of float, shape (n_rows, n_features)
            The transformed X.
        """
        if group.rowwise is None:  # The learner gets the rows unchanged; `refuse` has checked them.
            return np.ascontiguousarray(data.X, dtype=np.float64)
        # The rows are copied because a step may overwrite its input (copy=False).
        every = data.rows(np.arange(data.n_rows))
        return self.read(group, group.rowwise.fit_transform(every))

    together = Renamed("answer_together")

    def answer_together(self, task: Task) -> np.ndarray:
        """Answer the fits that can be answered at once, and return a mask of them.

        Parameters
        ----------
        task : Task
            The group, the plan and the answers collected so far.

        Returns
        -------
        array of bool, shape (n_fits,)
            True for the fits that are answered.
        """
        return np.zeros(task.plan.n_fits, dtype=bool)

    def closing_notes(self, task: Task) -> list[str]:
        """Return notes on a group for the reader, before the learner answers the open fits.

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
        # The lower bound of the sizes is cheap to compute.
        trained = (plan.least_train_sizes > 0).all() or plan.train_sizes.all()
        if not trained or not plan.test_sizes.all():
            return "a fit sees no rows, or is asked about none."
        if self.compiled and (lacking := why_not()) is not None:
            return f"{lacking}."
        return self.more_refusals(family, data, plan, request)

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        started = time.perf_counter()
        n_lines = len(family) if run.only is None else 1
        values = empty_values(data, plan, request.response, n_lines)
        n_fits = len(values) * plan.n_fits
        tell(0, n_fits)
        groups = groups_along(family, self.along)
        # the groups may share fitted steps
        if family.is_piped and len(groups) > 1 and run.steps is None:
            run = replace(run, steps=shared_steps().Tries())
        extra = None
        if plan.extra is not None:
            extra = plan.extra.gather(plan, len(values), data.n_classes)
        params = list(data.fit_params.values())  # `refuse` lets only sample weights pass.
        weights = np.asarray(params[0], dtype=np.float64) if params else None
        collected = Collected(values, extra)
        every = Task(family, groups[0], data, plan, request, run, None, weights, collected)
        n_done = 0
        for group in groups:
            task = with_group(every, group, read=partial(self.read, group))
            n_done += self._answer_group(task, n_done, n_fits)
        if request.response == "score" and any(map(self.rounds, groups)):
            every.ask_for_ranks()
        tell(n_fits, n_fits)
        if collected.warned:
            Tally(collected.warned).say(n_fits)
        shape = len(values), plan.n_fits  # The time of one pass is divided equally among its fits.
        share = (time.perf_counter() - started) / n_fits
        for what, most in collected.largest.items():
            collected.notes.append(what.format(most))
        return Answers(
            plan=plan,
            response=request.response,
            values=values,
            answered=np.ones((len(values), plan.n_questions), dtype=bool),
            engine=self.name,
            fit_seconds=np.broadcast_to(share, shape),
            answer_seconds=np.broadcast_to(0.0, shape),
            n_fits=n_fits,
            extra=None if extra is None else extra.finished(),
            notes=tuple(dict.fromkeys(collected.notes)),
        )

    def _answer_group(self, task: Task, before: int, total: int) -> int:
        """Answer the candidates of one group, and return the number of fits that this replaces."""
        group, data, n_fits, places = task.group, task.data, task.plan.n_fits, task.places
        size = n_fits * len(group.candidates)
        if places is not None:
            size = int((places != ELSEWHERE).sum())
        served = data.classes is not None or self.fits(data.y)
        if served and group.preparation is None:  # one table for all fits
            X = None
            # Steps that handle missing values may be dropped by the grid.
            if group.rowwise is not None or not data.non_finite:
                X = unless_it_fails(partial(self.table, group, data))
            served = X is not None and self.fits(X)
            task = replace(task, X=X)
        done = self.answer_together(task) if served else task.all_open()
        first = int(done.sum())
        tell(before + size * first // n_fits, total)
        for count, fit in enumerate(np.flatnonzero(~done), start=first + 1):
            self.answer_fit(task, int(fit))
            tell(before + size * count // n_fits, total)
        task.collected.notes.extend(self.closing_notes(task))
        if task.collected.open or task.collected.alike:
            task.ask_the_learner()
        return size

    def answer_fit(self, task: Task, fit: int) -> None:
        """Answer one fit by a pass of its own, or leave it open.

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
        with collect_warnings() as warned:
            shown = unless_it_fails(lambda: task.shown(fit))
        answers = None if shown is None else self.fit_pass(task, group, *shown)
        if answers is None:
            task.leave_open(fit, group.candidates)
            return
        # The learner is fitted for these candidates together with its steps, which then warn
        # themselves.
        requested = task.collected.open.get(fit, set())
        task.collected.warned.extend(
            warned * sum(int(c) not in requested for c in group.candidates)
        )
        for question, answer in zip(task.questions(fit), answers, strict=True):
            task.place(int(question), group, answer)


def with_group(task: Task, group: Group, **others: Any) -> Task:
    """Return the task for this group, with the places in it of the candidates of the fits."""
    only = task.run.only
    places = None if only is None else group.places_of(only)
    return replace(task, group=group, places=places, **others)


def _weights_refusal(family: Family, data: Data, weighted: bool) -> str | None:
    """Return why fit parameters are not served, or None."""
    own = f"{family.prefix}sample_weight"
    others = [name for name in data.fit_params if name != own or not weighted]
    if others:
        return f"fit parameters ({', '.join(others)}) are given."
    if own in data.fit_params and np.shape(data.fit_params[own]) != (data.n_rows,):
        return f"{own} is not one weight per row."
    return None
