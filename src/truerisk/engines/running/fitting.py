"""Fit a candidate on one training set, and return its predictions as class codes or numbers."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
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
from truerisk.core.formats import params_text
from truerisk.core.frozen import frozen
from truerisk.core.registry import Registry, entries_of_table
from truerisk.data.data import Data, has_row_entries
from truerisk.data.rows import copy_if_mutable, n_columns, take_columns, take_rows
from truerisk.engines.running.answering import (
    RowsToPredict,
    predict_rows,
    test_sets_of,
)
from truerisk.engines.running.doors import (
    copies,
    refuse_too_large,
    several_scores,
    shared_steps_of_family,
)
from truerisk.engines.running.fit_warnings import FitWarning, collect_warnings, reason_of
from truerisk.plan.plan import Plan
from truerisk.results.finding import without_checks

if TYPE_CHECKING:
    from truerisk.engines.running.asked.asker import ExtraOutputs
    from truerisk.engines.running.shared_steps import FittedSteps, FittedStepTrees, SharedSteps

ASKERS = Registry(
    "asker",
    entries_of_table(
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


def asker_of(plan: Plan) -> ExtraOutputs | None:
    """Return the hook that computes the extra outputs which a plan requests, or None."""
    asker_name = next((asker_name for asker_name in plan.needs if asker_name in ASKERS), None)
    return None if asker_name is None else ASKERS.load(asker_name)(plan)


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


def error_of(piece: FitResult) -> TrueRiskError:
    """Return the exception of a failed fit; it is BadData if cells of X are not finite."""
    assert piece.failure is not None
    if piece.error_name == BadData.__name__:
        error = BadData(piece.failure)
        error.add_note(piece.trace)
        return error
    return FitFailed.with_kind(piece.error_name, piece.failure, piece.trace)


def fit_batch(
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    seed: int,
    stop: bool,
    jobs: list[Job],
    *,
    fit_function: Callable[..., list[FitResult]] | None = None,
    tries: FittedStepTrees | None = None,
) -> list[FitResult]:
    """Fit every candidate of every job in a batch, and return one `FitResult` for each candidate.

    If `stop` is True, the batch ends with the first fit that fails. `fit_function` is a function
    that fits and returns the pieces if the jobs hold groups of candidates. `tries` holds the
    pipeline steps that earlier families fitted. The training rows are selected anew for each fit.
    """
    fit_function = _fit_and_predict if fit_function is None else fit_function
    questions_by_fit, starts = plan.questions_of
    pieces, asker = [], asker_of(plan)
    for fit, candidates in jobs:
        fitted_steps = (
            tries.trie_for(plan, fit) if tries is not None and "moves" not in plan.needs else None
        )
        shared_by_candidates = shared_steps_of_family(family, data, len(candidates), fitted_steps)
        shared_input = replace(_fit_input(data, plan, fit), steps=shared_by_candidates, asker=asker)
        questions = questions_by_fit[starts[fit] : starts[fit + 1]]
        for candidate in candidates:
            own_input, columns = shared_input.copy(), None
            # Groups of candidates never take kernel or distance matrices, only single candidates.
            if isinstance(candidate, int) and family.pairwise[candidate]:
                columns = _training_columns(family, data, plan, fit)
                own_input = own_input.with_columns(columns)
            make_enquiries = partial(test_sets_of, data, plan, questions, columns)
            with without_checks(), collect_warnings() as warned:
                piece, *further_pieces = fit_function(
                    family, data, request, own_input, make_enquiries, (seed, fit, candidate)
                )
            if warned:
                piece = replace(piece, warnings=tuple(warned))
            if piece.failure is not None:
                sentence = _failure_sentence(
                    data, plan, fit, family, piece.candidate, piece.failure
                )
                piece = replace(piece, failure=sentence)
            pieces += [piece, *further_pieces]
            if stop and piece.failure is not None:
                return pieces
    return pieces


@frozen(eq=False)
class FitInput:
    """Training data of one fit, its number, and the hook that computes extra outputs.

    `make_features` creates X at each call, because a model may overwrite its rows (copy=False), and
    because only the rows that the model uses should be held in memory. If any row occurs
    repeatedly,
    `copy_of` gives the number of the distinct row of which each training row is a copy. `steps` are
    the pipeline steps that the candidates of this fit share, or None.
    """

    make_features: Callable[[], Any]
    y: np.ndarray
    params: dict[str, Any]
    fit: int = 0
    asker: ExtraOutputs | None = None
    copy_of: np.ndarray | None = None
    steps: SharedSteps | None = None

    def copy(self) -> FitInput:
        """Return this input with copies of y and fit parameters, which a model may overwrite."""
        params = {name: copy_if_mutable(value) for name, value in self.params.items()}
        return replace(self, y=self.y.copy(), params=params)

    @property
    def weights(self) -> np.ndarray | None:
        """Sample weights, or None if none are given."""
        weights = [v for name, v in self.params.items() if name.endswith("sample_weight")]
        return np.asarray(weights[0], dtype=np.float64) if weights else None

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
    rows, counts = plan.train_rows(fit)
    return rows if counts is None else np.repeat(rows, counts)


def _fit_input(data: Data, plan: Plan, fit: int) -> FitInput:
    rows, counts = plan.train_rows(fit)
    labels = data.y
    if "flips" in plan.needs and plan.extra is not None:
        labels = plan.extra.labels(fit, labels, data.class_labels)
    copy_of = None
    if counts is not None:
        copy_of = np.repeat(np.arange(len(rows)), counts)
        rows = rows[copy_of]
    params = {
        name: take_rows(value, rows) if has_row_entries(value, data.n_rows) else value
        for name, value in data.fit_params.items()
    }
    return FitInput(partial(data.rows, rows), labels[rows], params, fit, copy_of=copy_of)


def _fit_and_predict(
    family: Family,
    data: Data,
    request: Request,
    fit_input: FitInput,
    requested_rows: Callable[[], list[RowsToPredict]],
    seed_fit_candidate: tuple[int, int, int],
) -> list[FitResult]:
    def say(model: Any, begun: FittedSteps | None) -> dict[str, Any]:
        test_sets = requested_rows()
        predicted = []
        for number, test_rows in enumerate(test_sets):
            predictor = _predictor_for(model, fit_input, test_rows)
            last_step = predictor, test_rows
            if begun is not None and predictor is model:
                last_step = (
                    model.steps[-1][1],
                    replace(test_rows, X=begun.test_table(number, test_rows.X)),
                )
            predicted.append(
                _predict_all_requests(request, (predictor, test_rows), last_step, data)
            )
        answers, *also = map(list, zip(*predicted, strict=True))
        extra = (
            {}
            if fit_input.asker is None
            else fit_input.asker.extra_outputs(model, data, fit_input, test_sets)
        )
        return {"answers": answers, "further_answers": tuple(also), "extra": extra}

    return [fit_or_record_failure(family, data, fit_input, seed_fit_candidate, say)]


def _predict_all_requests(
    request: Request,
    model_and_rows: tuple[Any, RowsToPredict],
    last_step: tuple[Any, RowsToPredict],
    data: Data,
) -> list[Any]:
    """Return a test set's predictions for all requests; each kind is predicted only once."""
    requests = request.all_requests
    if len(requests) == 1:
        return [_predict_request(request, model_and_rows, last_step, data)]
    scores_module = several_scores()
    with scores_module.predict_once(
        *((model, test.X) for model, test in (model_and_rows, last_step))
    ):
        answers = {
            wanted: _predict_request(requests[wanted], model_and_rows, last_step, data)
            for wanted in range(len(requests))
            if scores_module.needs_only_predictions(requests[wanted])
        }
    return [
        answers[number]
        if number in answers
        else _predict_request(wanted, model_and_rows, last_step, data)
        for number, wanted in enumerate(requests)
    ]


def _predict_request(
    request: Request,
    model_and_rows: tuple[Any, RowsToPredict],
    last_step: tuple[Any, RowsToPredict],
    data: Data,
) -> Any:
    """Return the learner's predictions for transformed rows; a scorer gets the model and X."""
    model, test_rows = model_and_rows if request.response == "scored" else last_step
    return predict_rows(model, data, test_rows, request)


def _predictor_for(model: Any, fit_input: FitInput, test_rows: RowsToPredict) -> Any:
    """Return the object that predicts a test set: the model, or a stand-in for training rows."""
    if test_rows.copy_of is None or fit_input.asker is None:
        return model
    return fit_input.asker.predictor_for(model, fit_input, test_rows)


def fit_or_record_failure(
    family: Family,
    data: Data,
    fit_input: FitInput,
    seed_fit_candidate: tuple[int, int, int],
    say: Callable[[Any, FittedSteps | None], dict[str, Any]],
    replaced_params: Mapping[str, Any] | None = None,
) -> FitResult:
    """Fit a candidate and return its predictions as a `FitResult`, or why the fit failed.

    `say` computes the predictions. It is called with the model, and with the fitted steps before
    the learner if candidates share them.

    `seed_fit_candidate` holds the seed of the run, the number of the fit and the candidate: all
    candidates of a fit get the same random numbers. `replaced_params` holds parameters that replace
    the candidate's.
    """
    seed, fit, candidate = seed_fit_candidate
    started_at = time.perf_counter()
    fitted_at, model = started_at, None
    try:
        model = family.make(candidate, (seed, fit) if family.is_random else None)
        if replaced_params:
            model.set_params(**replaced_params)
        if fit_input.asker is not None:
            fit_input.asker.prepare(model, fit_input.fit)
        copy_params = {}
        if fit_input.copy_of is not None:
            copy_params = copies().keep_copies_together(model, fit_input.copy_of)
        fitted_steps = _fit(
            model, candidate, fit_input, data.targets(fit_input.y), copy_params | fit_input.params
        )
        fitted_at = time.perf_counter()
        outputs = say(model, fitted_steps)
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        seconds = time.perf_counter() - started_at
        reason, kind = reason_of(model, data, fit_input.y, error)
        return FitResult(fit, candidate, [], seconds, 0.0, reason, kind, traceback.format_exc())
    seconds = time.perf_counter() - fitted_at
    return FitResult(
        fit, candidate, fit_seconds=fitted_at - started_at, answer_seconds=seconds, **outputs
    )


def _fit(
    model: Any,
    candidate: int,
    fit_input: FitInput,
    targets: tuple[np.ndarray, ...],
    params: Mapping[str, Any],
) -> FittedSteps | None:
    """Fit a model; if candidates share its steps, fit only its learner on the transformed table.

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
    ):  # If a step failed, the whole pipeline is fitted and raises its own error.
        model.fit(fit_input.make_features(), *targets, **params)
        return None
    learner_name, learner = model.steps[-1]
    learner.fit(
        fitted_steps.table, y, **{n.removeprefix(f"{learner_name}__"): v for n, v in params.items()}
    )
    return fitted_steps


def fitted_on_all(family: Family, candidate: int, data: Data, seed: Any) -> Any:
    """Return a candidate fitted on all rows, or raise the error of a failed fit."""
    model = None
    refuse_too_large(replace(family, candidates=(family.candidates[candidate],)), data)
    try:
        model = family.make(candidate, seed)
        with without_checks():
            model.fit(data.X, *data.targets(data.y), **data.fit_params)
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        reason, kind = reason_of(model, data, data.y, error)
        sentence = _failure_text(family, candidate, "refit", data.n_rows, data, reason)
        piece = FitResult(0, candidate, [], 0.0, 0.0, sentence, kind, traceback.format_exc())
        raise error_of(piece) from error
    return model


def _failure_sentence(
    data: Data, plan: Plan, fit: int, family: Family, candidate: int, reason: str
) -> str:
    questions_by_fit, starts = plan.questions_of
    question = int(questions_by_fit[starts[fit]])
    part_name = plan.parts[int(plan.part[question])]
    rows, _ = plan.train_rows(fit)
    location = f"{part_name} split (repeat {plan.repeat[question]}, fold {plan.fold[question]}"
    location += f", outer split {plan.unit[question]})" if plan.unit[question] >= 0 else ")"
    location += f", fit {fit} of {plan.n_fits}"
    return _failure_text(family, candidate, location, len(rows), data, reason)


def _failure_text(
    family: Family, candidate: int, location: str, n_rows: int, data: Data, reason: str
) -> str:
    params = params_text(family.candidates[candidate])
    return (
        f"{family.name} ({params}) failed in the {location} on {n_rows} rows "
        f"{_N_COLUMNS_TEXT}{n_columns(data.X)}): {reason}"
    )


_N_COLUMNS_TEXT = "(n_features="


def model_message_of(sentence: str) -> str:
    """Return the model's own message, cut from the library's sentence about a failed fit."""
    return sentence.partition(_N_COLUMNS_TEXT)[2].partition("): ")[2]
