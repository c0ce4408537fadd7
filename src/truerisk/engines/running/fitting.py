"""Fit a candidate on one training set, and return its predictions as class codes or numbers."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.errors import (
    BadData,
    FitFailed,
    TrueRiskError,
    is_failure,
)
from truerisk.core.family import Family
from truerisk.core.formats import format_params
from truerisk.core.frozen import frozen
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.data.data import Data, has_row_entries
from truerisk.data.rows import copy_if_mutable, n_columns, take_columns, take_rows
from truerisk.engines.running.answering import (
    RowsToPredict,
    collect_test_sets,
    predict_rows,
)
from truerisk.engines.running.doors import (
    copies_module,
    refuse_too_large,
    several_scores_module,
    shared_steps_of_family,
)
from truerisk.engines.running.fit_warnings import FitWarning, collect_warnings, failure_reason
from truerisk.plan.plan import Plan
from truerisk.results.finding import disable_checks

if TYPE_CHECKING:
    from truerisk.engines.running.asked.asker import ExtraOutputs
    from truerisk.engines.running.shared_steps import FittedSteps, FittedStepTrees, SharedSteps

EXTRA_OUTPUT_HOOKS = Registry(
    "asker",
    parse_registry_table(
        "truerisk.engines.running.asked",
        """
    counted  counted:RowCounts  training rows behind an answer
    laws  drawn:FitsOfAllDraws  expected losses over drawn train sets
    moves  moves:PointsAroundRows  points around rows
    freedom  model_facts:ModelFactOutputs  degrees of freedom
    rules  model_facts:ModelFactOutputs  linear rules
    out_of_bag  out_of_bag:OutOfBagPredictions  members of an ensemble without a row
    taken_out  taken_out:ApproximateLeftOut  a model without a row, to first order
    """,
    ),
)


def find_output_hook(plan: Plan) -> ExtraOutputs | None:
    """Return the hook that computes the extra outputs which a plan requests, or None."""
    hook_name = next(
        (hook_name for hook_name in plan.needs if hook_name in EXTRA_OUTPUT_HOOKS), None
    )
    return None if hook_name is None else EXTRA_OUTPUT_HOOKS.load(hook_name)(plan)


FitContext = Callable[[Any], AbstractContextManager[Any]]
"""Function that returns the context in which an unfitted model is fitted."""

Job = tuple[int, list[Any]]
"""The number of a fit, and its candidates or the groups of candidates that an engine fits."""


@frozen(eq=False)
class FitResult:
    """Predictions of one candidate from one fit, an array per test set, or why the fit failed.

    `further_answers` holds the predictions for further requests, one list for each. `extra` holds
    the extra outputs of an `ExtraOutputs`.
    """

    fit: int
    candidate: int
    answers: list[Any]
    fit_seconds: float
    answer_seconds: float
    failure: str | None = None
    error_name: str = ""
    trace: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[FitWarning, ...] = ()
    further_answers: tuple[list[Any], ...] = ()


def failure_error(fit_result: FitResult) -> TrueRiskError:
    """Return the exception to raise for a failed fit, BadData if the data are at fault."""
    assert fit_result.failure is not None
    if fit_result.error_name == BadData.__name__:
        error = BadData(fit_result.failure)
        error.add_note(fit_result.trace)
        return error
    return FitFailed.with_kind(fit_result.error_name, fit_result.failure, fit_result.trace)


def fit_batch(
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    seed: int,
    stops_at_failure: bool,
    jobs: list[Job],
    *,
    fit_function: Callable[..., list[FitResult]] | None = None,
    step_trees: FittedStepTrees | None = None,
) -> list[FitResult]:
    """Fit the candidates of every job in a batch; return a `FitResult` per job and candidate.

    If `stops_at_failure` is True, the batch ends with the first fit that fails. If the jobs hold
    groups of candidates, `fit_function` fits a group and returns the results of its candidates.
    `step_trees` holds the pipeline steps that earlier families fitted. The training rows are
    selected anew for each fit.
    """
    fit_function = fit_and_predict if fit_function is None else fit_function
    test_sets_by_fit, fit_offsets = plan.questions_of
    fit_results, output_hook = [], find_output_hook(plan)
    for fit, candidates in jobs:
        fitted_steps = (
            step_trees.get_step_tree(plan, fit)
            if step_trees is not None and "moves" not in plan.needs
            else None
        )
        shared_pipeline_steps = shared_steps_of_family(family, data, len(candidates), fitted_steps)
        shared_input = replace(
            _fit_input(data, plan, fit), steps=shared_pipeline_steps, output_hook=output_hook
        )
        test_sets = test_sets_by_fit[fit_offsets[fit] : fit_offsets[fit + 1]]
        for candidate in candidates:
            candidate_input, training_columns = shared_input.copy(), None
            # Only single candidates, never groups of them, take kernel or distance matrices as X.
            if isinstance(candidate, int) and family.pairwise[candidate]:
                training_columns = _training_columns(family, data, plan, fit)
                candidate_input = candidate_input.with_columns(training_columns)
            make_test_sets = partial(collect_test_sets, data, plan, test_sets, training_columns)
            with disable_checks(), collect_warnings() as collected_warnings:
                fit_result, *further_results = fit_function(
                    family, data, request, candidate_input, make_test_sets, (seed, fit, candidate)
                )
            if collected_warnings:
                fit_result = replace(fit_result, warnings=tuple(collected_warnings))
            if fit_result.failure is not None:
                failure_sentence = _failure_sentence(
                    data, plan, fit, family, fit_result.candidate, fit_result.failure
                )
                fit_result = replace(fit_result, failure=failure_sentence)
            fit_results += [fit_result, *further_results]
            if stops_at_failure and fit_result.failure is not None:
                return fit_results
    return fit_results


@frozen(eq=False)
class FitInput:
    """Training data of one fit, its number, and the hook that computes extra outputs.

    `make_features` creates X at each call, because a model may overwrite its rows (copy=False), and
    because only the rows that the model uses should be held in memory. If any row occurs
    repeatedly, `original_rows` gives the number of the distinct row of which each training row is a
    copy. `steps` are the pipeline steps that the candidates of this fit share, or None.
    `fit_context` is called with the model; the model is fitted within the returned context.
    """

    make_features: Callable[[], Any]
    y: np.ndarray
    params: dict[str, Any]
    fit: int = 0
    output_hook: ExtraOutputs | None = None
    original_rows: np.ndarray | None = None
    steps: SharedSteps | None = None
    fit_context: FitContext = nullcontext

    def copy(self) -> FitInput:
        """Return this input with copies of y and fit parameters, which a model may overwrite."""
        params = {name: copy_if_mutable(value) for name, value in self.params.items()}
        return replace(self, y=self.y.copy(), params=params)

    @property
    def weights(self) -> np.ndarray | None:
        """Sample weights, or None if none are given."""
        weight_arrays = [
            value for name, value in self.params.items() if name.endswith("sample_weight")
        ]
        return np.asarray(weight_arrays[0], dtype=np.float64) if weight_arrays else None

    def with_columns(self, columns: np.ndarray) -> FitInput:
        """Restrict X, a kernel or distance matrix, to the columns that belong to training rows."""
        return replace(self, make_features=lambda: take_columns(self.make_features(), columns))


def _training_columns(family: Family, data: Data, plan: Plan, fit: int) -> np.ndarray:
    """Return the columns of a kernel or distance matrix that belong to the training rows.

    A column is repeated as often as its row. Raise BadData unless X has one column for each row.
    """
    if n_columns(data.X) != data.n_rows:
        raise BadData(
            f"{family.name} takes X as a matrix of rows against rows (a Gram matrix, or distances),"
            f" and X has shape {np.shape(data.X)}: give one column for each row."
        )
    rows, row_counts = plan.train_rows(fit)
    return rows if row_counts is None else np.repeat(rows, row_counts)


def _fit_input(data: Data, plan: Plan, fit: int) -> FitInput:
    rows, row_counts = plan.train_rows(fit)
    targets = data.y
    if "flips" in plan.needs and plan.extra is not None:
        targets = plan.extra.labels(fit, targets, data.class_labels)
    original_rows = None
    if row_counts is not None:
        original_rows = np.repeat(np.arange(len(rows)), row_counts)
        rows = rows[original_rows]
    params = {
        name: take_rows(value, rows) if has_row_entries(value, data.n_rows) else value
        for name, value in data.fit_params.items()
    }
    return FitInput(
        partial(data.rows, rows), targets[rows], params, fit, original_rows=original_rows
    )


def fit_and_predict(
    family: Family,
    data: Data,
    request: Request,
    fit_input: FitInput,
    make_test_sets: Callable[[], list[RowsToPredict]],
    seed_fit_candidate: tuple[int, int, int],
) -> list[FitResult]:
    """Fit a candidate and predict its test sets; return its `FitResult` in a list."""

    def predict_with_model(model: Any, fitted_steps: FittedSteps | None) -> dict[str, Any]:
        test_sets = make_test_sets()
        predictions_by_test_set = []
        for test_position, test_rows in enumerate(test_sets):
            predictor = _predictor_for(model, fit_input, test_rows)
            learner_and_rows = predictor, test_rows
            if fitted_steps is not None and predictor is model:
                learner_and_rows = (
                    model.steps[-1][1],
                    replace(
                        test_rows, X=fitted_steps.transform_test_set(test_position, test_rows.X)
                    ),
                )
            predictions_by_test_set.append(
                _predict_all_requests(request, (predictor, test_rows), learner_and_rows, data)
            )
        predictions, *further_predictions = map(list, zip(*predictions_by_test_set, strict=True))
        extra_outputs = (
            {}
            if fit_input.output_hook is None
            else fit_input.output_hook.extra_outputs(model, data, fit_input, test_sets)
        )
        return {
            "answers": predictions,
            "further_answers": tuple(further_predictions),
            "extra": extra_outputs,
        }

    return [fit_or_record_failure(family, data, fit_input, seed_fit_candidate, predict_with_model)]


def _predict_all_requests(
    request: Request,
    model_and_rows: tuple[Any, RowsToPredict],
    learner_and_rows: tuple[Any, RowsToPredict],
    data: Data,
) -> list[Any]:
    """Return the predictions of a test set for each request, such as labels and probabilities.

    Each prediction method of the model is called only once.
    """
    requests = request.all_requests
    if len(requests) == 1:
        return [_predict_request(request, model_and_rows, learner_and_rows, data)]
    scores_module = several_scores_module()
    with scores_module.predict_once(
        *((model, test_rows.X) for model, test_rows in (model_and_rows, learner_and_rows))
    ):
        predictions_by_request = {
            i: _predict_request(requests[i], model_and_rows, learner_and_rows, data)
            for i in range(len(requests))
            if scores_module.needs_only_predictions(requests[i])
        }
    return [
        predictions_by_request[i]
        if i in predictions_by_request
        else _predict_request(single_request, model_and_rows, learner_and_rows, data)
        for i, single_request in enumerate(requests)
    ]


def _predict_request(
    request: Request,
    model_and_rows: tuple[Any, RowsToPredict],
    learner_and_rows: tuple[Any, RowsToPredict],
    data: Data,
) -> Any:
    """Return what one request asks for: predictions of a test set or the value of a scorer.

    The learner predicts the transformed rows. A scorer gets the whole model and untransformed rows.
    """
    model, test_rows = model_and_rows if request.response == "scored" else learner_and_rows
    return predict_rows(model, data, test_rows, request)


def _predictor_for(model: Any, fit_input: FitInput, test_rows: RowsToPredict) -> Any:
    """Return the object that predicts a test set: the model itself or a stand-in.

    A stand-in may be needed if the test set consists of training rows.
    """
    if test_rows.original_rows is None or fit_input.output_hook is None:
        return model
    return fit_input.output_hook.predictor_for(model, fit_input, test_rows)


def fit_or_record_failure(
    family: Family,
    data: Data,
    fit_input: FitInput,
    seed_fit_candidate: tuple[int, int, int],
    predict_with_model: Callable[[Any, FittedSteps | None], dict[str, Any]],
    replaced_params: Mapping[str, Any] | None = None,
) -> FitResult:
    """Fit a candidate and return its predictions as a `FitResult`, or why the fit failed.

    `predict_with_model` computes the predictions. It is called with the model, and with the fitted
    steps before the learner if candidates share them.

    `seed_fit_candidate` holds the seed of the run, the number of the fit and the candidate: all
    candidates of a fit get the same random numbers. `replaced_params` holds parameters that replace
    the candidate's.
    """
    seed, fit, candidate = seed_fit_candidate
    start_time = time.perf_counter()
    fit_end_time, model = start_time, None
    try:
        model = family.make(candidate, (seed, fit) if family.is_random else None)
        if replaced_params:
            model.set_params(**replaced_params)
        if fit_input.output_hook is not None:
            fit_input.output_hook.prepare(model, fit_input.fit)
        group_params = {}
        if fit_input.original_rows is not None:
            group_params = copies_module().keep_copies_together(model, fit_input.original_rows)
        with fit_input.fit_context(model):
            fitted_steps = _fit(
                model,
                candidate,
                fit_input,
                data.targets(fit_input.y),
                group_params | fit_input.params,
            )
        fit_end_time = time.perf_counter()
        outputs = predict_with_model(model, fitted_steps)
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        elapsed_seconds = time.perf_counter() - start_time
        reason, error_name = failure_reason(model, data, fit_input.y, error)
        return FitResult(
            fit, candidate, [], elapsed_seconds, 0.0, reason, error_name, traceback.format_exc()
        )
    elapsed_seconds = time.perf_counter() - fit_end_time
    return FitResult(
        fit,
        candidate,
        fit_seconds=fit_end_time - start_time,
        answer_seconds=elapsed_seconds,
        **outputs,
    )


def _fit(
    model: Any,
    candidate: int,
    fit_input: FitInput,
    targets: tuple[np.ndarray, ...],
    params: Mapping[str, Any],
) -> FittedSteps | None:
    """Fit a model, or only its learner if candidates share the fitted steps before it.

    Return the fitted steps before the learner, or None if the model was fitted as a whole.
    """
    y = targets[0] if targets else None
    fitted_steps = (
        None
        if fit_input.steps is None
        else fit_input.steps.put_fitted_steps(model, candidate, fit_input.make_features, y)
    )
    if (
        fitted_steps is None
    ):  # If a shared step failed, the pipeline is fitted as a whole and raises its own error.
        model.fit(fit_input.make_features(), *targets, **params)
        return None
    learner_name, learner = model.steps[-1]
    learner.fit(
        fitted_steps.train_table,
        y,
        **{name.removeprefix(f"{learner_name}__"): value for name, value in params.items()},
    )
    return fitted_steps


def fit_on_all_rows(
    family: Family,
    candidate: int,
    data: Data,
    seed: Any,
    fit_context: FitContext = nullcontext,
) -> Any:
    """Return a candidate fitted on all rows, or raise the error of a failed fit.

    The model is fitted within the context `fit_context(model)`.
    """
    model = None
    refuse_too_large(replace(family, candidates=(family.candidates[candidate],)), data)
    try:
        model = family.make(candidate, seed)
        with disable_checks(), fit_context(model):
            model.fit(data.X, *data.targets(data.y), **data.fit_params)
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        reason, error_name = failure_reason(model, data, data.y, error)
        failure_sentence = _failure_text(family, candidate, "refit", data.n_rows, data, reason)
        fit_result = FitResult(
            0, candidate, [], 0.0, 0.0, failure_sentence, error_name, traceback.format_exc()
        )
        raise failure_error(fit_result) from error
    return model


def _failure_sentence(
    data: Data, plan: Plan, fit: int, family: Family, candidate: int, reason: str
) -> str:
    test_sets_by_fit, fit_offsets = plan.questions_of
    test_set = int(test_sets_by_fit[fit_offsets[fit]])
    part_name = plan.parts[int(plan.part[test_set])]
    rows, _ = plan.train_rows(fit)
    location = f"{part_name} split (repeat {plan.repeat[test_set]}, fold {plan.fold[test_set]}"
    location += f", outer split {plan.unit[test_set]})" if plan.unit[test_set] >= 0 else ")"
    location += f", fit {fit} of {plan.n_fits}"
    return _failure_text(family, candidate, location, len(rows), data, reason)


def _failure_text(
    family: Family, candidate: int, location: str, n_rows: int, data: Data, reason: str
) -> str:
    params = format_params(family.candidates[candidate])
    return (
        f"{family.name} ({params}) failed in the {location} on {n_rows} rows "
        f"{_N_COLUMNS_TEXT}{n_columns(data.X)}): {reason}"
    )


_N_COLUMNS_TEXT = "(n_features="


def extract_model_message(sentence: str) -> str:
    """Return the model's own error message, which is a part of the sentence that reports it."""
    return sentence.partition(_N_COLUMNS_TEXT)[2].partition("): ")[2]
