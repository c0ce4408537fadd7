"""Base class of engines that fit one model per training set and predict for all candidates from it.

The model is fitted by scikit-learn, on the same rows, weights and copies as in the generic engine,
on the executor of the user. A subclass defines which learners it serves, the hyperparameter in
which candidates that share a fit may differ (`path_of`), the value of that hyperparameter whose
model contains the models of all other values (`covering_value`), and how a fitted model predicts
for each value (`read`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.contracts import Engine, Request, RunOptions
from truerisk.core.arguments import RenamedAttribute
from truerisk.core.family import Family
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.running.answering import RowsToPredict, refuse_wrong_length
from truerisk.engines.running.fitting import FitInput, FitResult, fit_or_record_failure
from truerisk.engines.running.jobs import run_jobs
from truerisk.engines.settings import (
    Group,
    family_refusal,
    group_candidates,
    response_refusal,
)
from truerisk.plan.answers import Answers
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.engines.running.shared_steps import FittedSteps


class OneFit(Engine):
    """Base class of engines that fit one model for all candidates differing in one hyperparameter.

    `learners()` lists the classes that the engine serves, and `path_of(family)` names the
    hyperparameter.
    """

    serves: ClassVar[frozenset[str]] = frozenset({"flips"})
    answers_extras: ClassVar[bool] = True
    leaves_out: ClassVar[bool] = True

    @abstractmethod
    def learners(self) -> Sequence[type]:
        """Return the learner classes that the engine serves; only this call imports them."""

    @abstractmethod
    def path_of(self, family: Family) -> str:
        """Return the hyperparameter whose values can all be read from one fitted model.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.

        Returns
        -------
        str
            Name of the parameter.
        """

    whole = RenamedAttribute("covering_value")

    @abstractmethod
    def covering_value(self, values: Sequence[Any]) -> Any:
        """Return the hyperparameter value to fit, from which predictions for all values are read.

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
        self, model: Any, group: Group, enquiry: RowsToPredict, data: Data, request: Request
    ) -> np.ndarray:
        """Return the predictions of all candidates of a group, read from one fitted learner.

        Their shape is `(candidate of the group, row, ...)`. In a pipeline the learner is the last
        step. Class labels are returned as the codes of `data`.

        Parameters
        ----------
        model : estimator
            The fitted model.
        group : Group
            Candidates whose predictions one pass computes together.
        enquiry : Enquiry
            The rows to predict, with their number and their weights.
        data : Data
            The checked rows of the call.
        request : Request
            The type of predictions that the loss needs.

        Returns
        -------
        array, shape (n_candidates, n_rows, ...)
            The predictions.
        """

    def value_refusal(self, value: Any) -> str | None:
        """Return why one value of the hyperparameter `path_of` is not supported, or None if it is.

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
        """Return why one hyperparameter setting of the learner is not supported, or None if it is.

        Parameters
        ----------
        setting : dict
            All parameters of the learner for one candidate.
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

    @override
    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        reason = family_refusal(family, self.learners(), needs_separate_steps=False)
        reason = reason or response_refusal(family, data, request)
        if reason is not None:
            return reason
        parameter_name = self.path_of(family)
        for setting in family.settings:
            reason = self.value_refusal(setting[parameter_name])
            reason = reason or self.setting_refusal(setting, plan, request)
            if reason is not None:
                return reason
        return None

    @override
    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        groups = group_candidates(family, [self.path_of(family)])
        jobs = [
            (fit, groups_needed)
            for fit in range(plan.n_fits)
            if (groups_needed := _requested_groups(groups, run, fit))
        ]
        return run_jobs(self.name, jobs, family, data, plan, request, run, fit_function=self.pieces)

    def pieces(
        self,
        family: Family,
        data: Data,
        request: Request,
        given: FitInput,
        requested_rows: Callable[[], list[RowsToPredict]],
        place: tuple[int, int, Group],
    ) -> list[FitResult]:
        """Fit one model for a group, and return the predictions of each of its candidates.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        request : Request
            The type of predictions that the loss needs.
        given : FitInput
            The training rows of the fit.
        requested_rows : callable
            Returns the rows to predict.
        place : tuple of (int, int, Group)
            The seed, the number of the fit, and the group.

        Returns
        -------
        list of FitResult
            The predictions of each candidate.
        """
        seed, fit, group = place
        parameter_name = self.path_of(family)
        parameter_override = {
            family.prefix + parameter_name: self.covering_value(
                [setting[parameter_name] for setting in group.settings]
            )
        }

        def predict(model: Any, fitted_steps: FittedSteps | None) -> dict[str, Any]:
            learner = model[-1] if family.is_piped else model
            transformed_test_sets = test_sets = requested_rows()
            if fitted_steps is not None:
                transformed_test_sets = [
                    replace(test_set, X=fitted_steps.transform_test_set(i, test_set.X))
                    for i, test_set in enumerate(test_sets)
                ]
            elif family.is_piped:
                transformed_test_sets = [
                    _transform_test_rows(model, rows_to_predict) for rows_to_predict in test_sets
                ]
            predictions, *further_predictions = (
                [
                    self.read(learner, group, rows_to_predict, data, single_request)
                    for rows_to_predict in transformed_test_sets
                ]
                for single_request in request.all_requests
            )
            for request_predictions in (predictions, *further_predictions):
                for test_predictions, rows_to_predict in zip(
                    request_predictions, test_sets, strict=True
                ):
                    refuse_wrong_length(test_predictions.shape[1], len(rows_to_predict.y))
            return {"answers": predictions, "further_answers": tuple(further_predictions)}

        first_candidate = int(group.candidates[0])
        fit_result = fit_or_record_failure(
            family, data, given, (seed, fit, first_candidate), predict, parameter_override
        )
        if fit_result.failure is not None:
            return [fit_result]
        # The seconds of the fit are divided equally among the candidates.
        n_candidates = len(group.candidates)
        return [
            replace(
                fit_result,
                candidate=int(candidate),
                answers=[test_predictions[place] for test_predictions in fit_result.answers],
                further_answers=tuple(
                    [test_predictions[place] for test_predictions in predictions_of_request]
                    for predictions_of_request in fit_result.further_answers
                ),
                fit_seconds=fit_result.fit_seconds / n_candidates,
                answer_seconds=fit_result.answer_seconds / n_candidates,
            )
            for place, candidate in enumerate(group.candidates)
        ]


def _requested_groups(groups: list[Group], run_options: RunOptions, fit: int) -> list[Group]:
    """Return the groups without those candidates for which this fit need not predict."""
    if run_options.candidate_by_fit is not None:
        requested_candidates = np.array([run_options.candidate_by_fit[fit]])
    elif run_options.is_needed is not None:
        requested_candidates = np.flatnonzero(run_options.is_needed[:, fit])
    else:
        return groups
    groups_with_positions = [
        (group, np.flatnonzero(np.isin(group.candidates, requested_candidates))) for group in groups
    ]
    return [
        group.part(candidate_positions)
        for group, candidate_positions in groups_with_positions
        if len(candidate_positions)
    ]


def _transform_test_rows(model: Any, rows_to_predict: RowsToPredict) -> RowsToPredict:
    """Transform the test rows by the steps of a fitted pipeline before its learner."""
    if len(model) < 2:
        return rows_to_predict
    return replace(rows_to_predict, X=model[:-1].transform(rows_to_predict.X))
