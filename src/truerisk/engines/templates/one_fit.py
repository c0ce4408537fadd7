"""The template of engines that fit one model per training set and read all candidates from it.

The model is fitted by scikit-learn, on the same rows, weights and copies as in the generic engine,
on the executor of the user. A subclass defines which learners it serves, the parameter along which
they share a fit (`path_of`), the value of that parameter whose model contains all others
(`covering_value`), and how a fitted model predicts for each value (`read`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.arguments import Renamed
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import Enquiry, refuse_other_rows
from truerisk.engines.running.fitting import FitInput, Piece, attempt
from truerisk.engines.running.jobs import run_jobs
from truerisk.engines.settings import (
    Group,
    family_refusal,
    groups_along,
    response_refusal,
)
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.shared_steps import Begun


class OneFit(Engine):
    """Engine for `learners()`; candidates that differ in `path_of(family)` only share a fit."""

    serves: ClassVar[frozenset[str]] = frozenset({"flips"})
    answers_extras: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True

    @abstractmethod
    def learners(self) -> Sequence[type]:
        """Return the classes that the engine serves, imported at the call."""

    @abstractmethod
    def path_of(self, family: Family) -> str:
        """Return the parameter whose values are all read from one fit.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.

        Returns
        -------
        str
            Name of the parameter.
        """

    whole = Renamed("covering_value")

    @abstractmethod
    def covering_value(self, values: Sequence[Any]) -> Any:
        """Return the value of that parameter whose fitted model serves all of these values.

        Parameters
        ----------
        values : sequence
            The values of the candidates.

        Returns
        -------
        object
            The value, such as the largest number of trees.
        """

    @abstractmethod
    def read(
        self, model: Any, group: Group, enquiry: Enquiry, data: Data, request: Request
    ) -> np.ndarray:
        """Return the predictions `(candidate of the group, row, ...)` of the fitted last step.

        Class labels are returned as the codes of `data`.

        Parameters
        ----------
        model : estimator
            The fitted model.
        group : Group
            Candidates that one pass answers together.
        enquiry : Enquiry
            The rows to predict, with their number and their weights.
        data : Data
            The checked rows of the call.
        request : Request
            The type of answers that the loss needs.

        Returns
        -------
        array, shape (n_candidates, n_rows, ...)
            The predictions.
        """

    def value_refusal(self, value: Any) -> str | None:
        """Return why one value of the path is not served, or None.

        Parameters
        ----------
        value : object
            The value.

        Returns
        -------
        str or None
            The reason for the refusal as a sentence, or None if there is none.
        """
        return None

    def setting_refusal(self, setting: dict[str, Any], plan: Plan, request: Request) -> str | None:
        """Return why one setting of the learner is not served, or None.

        Parameters
        ----------
        setting : dict
            All parameters of the learner for one candidate.
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

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = family_refusal(family, self.learners(), apart=False)
        reason = reason or response_refusal(family, data, request)
        if reason is not None:
            return reason
        path = self.path_of(family)
        for setting in family.settings:
            reason = self.value_refusal(setting[path])
            reason = reason or self.setting_refusal(setting, plan, request)
            if reason is not None:
                return reason
        return None

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        groups = groups_along(family, [self.path_of(family)])
        jobs = [
            (fit, groups_needed)
            for fit in range(plan.n_fits)
            if (groups_needed := _requested_groups(groups, run, fit))
        ]
        return run_jobs(self.name, jobs, family, data, plan, request, run, one=self.pieces)

    def pieces(
        self,
        family: Family,
        data: Data,
        request: Request,
        given: FitInput,
        requested_rows: Callable[[], list[Enquiry]],
        place: tuple[int, int, Group],
    ) -> list[Piece]:
        """Fit one model for a group, and return the result of each of its candidates.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        request : Request
            The type of answers that the loss needs.
        given : FitInput
            The training rows of the fit.
        requested_rows : callable
            Returns the rows to predict.
        place : tuple of (int, int, Group)
            The seed, the number of the fit, and the group.

        Returns
        -------
        list of Piece
            The predictions of each candidate.
        """
        seed, fit, group = place
        path = self.path_of(family)
        instead = {family.prefix + path: self.covering_value([s[path] for s in group.settings])}

        def say(model: Any, begun: Begun | None) -> dict[str, Any]:
            last = model[-1] if family.is_piped else model
            prepared_tests = tests = requested_rows()
            if begun is not None:
                prepared_tests = [
                    replace(t, X=begun.test_table(i, t.X)) for i, t in enumerate(tests)
                ]
            elif family.is_piped:
                prepared_tests = [_prepared(model, test) for test in tests]
            answers, *also = (
                [self.read(last, group, test, data, one) for test in prepared_tests]
                for one in request.all_requests
            )
            for answered in (answers, *also):
                for answer, test in zip(answered, tests, strict=True):
                    refuse_other_rows(answer.shape[1], len(test.y))
            return {"answers": answers, "also": tuple(also)}

        first = int(group.candidates[0])
        whole = attempt(family, data, given, (seed, fit, first), say, instead)
        if whole.failure is not None:
            return [whole]
        share = len(group.candidates)  # each candidate is charged an equal share of the seconds
        return [
            replace(
                whole,
                candidate=int(candidate),
                answers=[answer[place] for answer in whole.answers],
                also=tuple(
                    [answer[place] for answer in answers_of_request]
                    for answers_of_request in whole.also
                ),
                fit_seconds=whole.fit_seconds / share,
                answer_seconds=whole.answer_seconds / share,
            )
            for place, candidate in enumerate(group.candidates)
        ]


def _requested_groups(groups: list[Group], run: RunOptions, fit: int) -> list[Group]:
    """Return all groups, or only their candidates that this fit has to answer for."""
    if run.only is not None:
        wanted = np.array([run.only[fit]])
    elif run.needed is not None:
        wanted = np.flatnonzero(run.needed[:, fit])
    else:
        return groups
    parts = [(group, np.flatnonzero(np.isin(group.candidates, wanted))) for group in groups]
    return [group.part(places) for group, places in parts if len(places)]


def _prepared(model: Any, test: Enquiry) -> Enquiry:
    """Transform the test rows by the steps before the last step of a pipeline."""
    if len(model) < 2:
        return test
    return replace(test, X=model[:-1].transform(test.X))
