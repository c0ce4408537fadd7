"""Fit one candidate once, and return its answers as class codes or numbers."""

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
from truerisk.core.registry import Registry, lines_of
from truerisk.data.data import Data, has_row_entries
from truerisk.data.rows import copied, n_columns, take_columns, take_rows
from truerisk.engines.running.answering import (
    Enquiry,
    answer_of,
    enquiries,
)
from truerisk.engines.running.doors import (
    copies,
    refuse_too_large,
    several_scores,
    steps_shared_by,
)
from truerisk.engines.running.fit_warnings import Warned, collect_warnings, reason_of
from truerisk.plan.plan import Plan
from truerisk.results.finding import without_checks

if TYPE_CHECKING:
    from truerisk.engines.running.asked.asker import Asker
    from truerisk.engines.running.shared_steps import Begun, SharedSteps, Tries

ASKERS = Registry(
    "asker",
    lines_of(
        "truerisk.engines.running.asked",
        """
    counted  counted:CountsRows  training rows behind an answer
    laws  drawn:ListsDraws  expected losses over drawn train sets
    moves  moves:AsksAroundRows  points around rows
    freedom  model_facts:StatesFacts  degrees of freedom
    rules  model_facts:StatesFacts  linear rules
    out_of_bag  out_of_bag:AsksMembers  members of an ensemble without a row
    taken_out  taken_out:TakesRowsOut  a model without a row, to first order
    """,
    ),
)


def asker_of(plan: Plan) -> Asker | None:
    """Return the asker for what a plan asks of fitted models beyond predictions, or None."""
    name = next((name for name in plan.needs if name in ASKERS), None)
    return None if name is None else ASKERS.load(name)(plan)


Job = tuple[int, list[Any]]
"""A fit and its candidates, or what an engine uses in place of the candidates."""


@frozen(eq=False)
class Piece:
    """The answers of one candidate in one fit, one array per test set, or why there are none.

    `also` holds the answers to further requests, one list for each. `extra` holds the answers of an
    `Asker`.
    """

    fit: int
    candidate: int
    answers: list[Any]
    fit_seconds: float
    answer_seconds: float
    failure: str | None = None
    kind: str = ""
    trace: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    warned: tuple[Warned, ...] = ()
    also: tuple[list[Any], ...] = ()


def error_of(piece: Piece) -> TrueRiskError:
    """Return the error of a failed fit; it is BadData if cells of X are not finite."""
    assert piece.failure is not None
    if piece.kind == BadData.__name__:
        error = BadData(piece.failure)
        error.add_note(piece.trace)
        return error
    return FitFailed.like(piece.kind, piece.failure, piece.trace)


def fit_pieces(
    family: Family,
    data: Data,
    plan: Plan,
    request: Request,
    seed: int,
    stop: bool,
    jobs: list[Job],
    *,
    one: Callable[..., list[Piece]] | None = None,
    tries: Tries | None = None,
) -> list[Piece]:
    """Run the fits of a batch, each for its candidates; the rows are cut anew for each fit.

    With `stop` the first failure is the last piece. `one` makes the pieces if the jobs hold
    something in place of candidates (such as groups of them). `tries` hold the steps that were
    fitted before.
    """
    one = _fit_and_ask if one is None else one
    order, starts = plan.questions_of
    pieces, asker = [], asker_of(plan)
    for fit, candidates in jobs:
        trie = (
            tries.trie_for(plan, fit) if tries is not None and "moves" not in plan.needs else None
        )
        shared = steps_shared_by(family, data, len(candidates), trie)
        training = replace(_training(data, plan, fit), steps=shared, asker=asker)
        questions = order[starts[fit] : starts[fit + 1]]
        for candidate in candidates:
            own, columns = training.copy(), None
            # An engine that fits groups of candidates refuses pairwise families.
            if isinstance(candidate, int) and family.pairwise[candidate]:
                columns = _columns(family, data, plan, fit)
                own = own.against(columns)
            make_enquiries = partial(enquiries, data, plan, questions, columns)
            with without_checks(), collect_warnings() as warned:
                piece, *more = one(
                    family, data, request, own, make_enquiries, (seed, fit, candidate)
                )
            if warned:
                piece = replace(piece, warned=tuple(warned))
            if piece.failure is not None:
                sentence = _failed(data, plan, fit, family, piece.candidate, piece.failure)
                piece = replace(piece, failure=sentence)
            pieces += [piece, *more]
            if stop and piece.failure is not None:
                return pieces
    return pieces


@frozen(eq=False)
class FitInput:
    """Training data of one fit, its number, and the asker of what the plan asks beyond predictions.

    `cut` creates X at each call, because a model may overwrite its rows (copy=False), and because
    no rows of a large table should be held in memory besides those that the model uses. `copy_of`
    gives the number of the distinct row of which each row is a copy, if any row occurs repeatedly.
    `steps` are the steps that the candidates of this fit share, or None.
    """

    cut: Callable[[], Any]
    y: np.ndarray
    params: dict[str, Any]
    fit: int = 0
    asker: Asker | None = None
    copy_of: np.ndarray | None = None
    steps: SharedSteps | None = None

    def copy(self) -> FitInput:
        """Return the input with copies of labels and parameters, which a model may overwrite."""
        params = {name: copied(value) for name, value in self.params.items()}
        return replace(self, y=self.y.copy(), params=params)

    @property
    def weights(self) -> np.ndarray | None:
        """Sample weights, or None if none are given."""
        weights = [v for name, v in self.params.items() if name.endswith("sample_weight")]
        return np.asarray(weights[0], dtype=np.float64) if weights else None

    def against(self, columns: np.ndarray) -> FitInput:
        """Return the rows of a matrix of rows against rows, restricted to these columns."""
        return replace(self, cut=lambda: take_columns(self.cut(), columns))


def _columns(family: Family, data: Data, plan: Plan, fit: int) -> np.ndarray:
    """Return the columns of the training rows, repeated as often as the rows."""
    if n_columns(data.X) != data.n_rows:
        raise BadData(
            f"{family.name} takes X as a matrix of rows against rows (a Gram matrix, or distances),"
            f" and X has shape {np.shape(data.X)}: give one column for each row."
        )
    rows, counts = plan.train_rows(fit)
    return rows if counts is None else np.repeat(rows, counts)


def _training(data: Data, plan: Plan, fit: int) -> FitInput:
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


def _fit_and_ask(
    family: Family,
    data: Data,
    request: Request,
    given: FitInput,
    requested_rows: Callable[[], list[Enquiry]],
    place: tuple[int, int, int],
) -> list[Piece]:
    def say(model: Any, begun: Begun | None) -> dict[str, Any]:
        tests = requested_rows()
        answered = []
        for number, test in enumerate(tests):
            out = _out_of(model, given, test)
            last_step = out, test
            if begun is not None and out is model:
                last_step = model.steps[-1][1], replace(test, X=begun.test_table(number, test.X))
            answered.append(_answers(request, (out, test), last_step, data))
        answers, *also = map(list, zip(*answered, strict=True))
        extra = {} if given.asker is None else given.asker.say(model, data, given, tests)
        return {"answers": answers, "also": tuple(also), "extra": extra}

    return [attempt(family, data, given, place, say)]


def _answers(
    request: Request, whole: tuple[Any, Enquiry], last_step: tuple[Any, Enquiry], data: Data
) -> list[Any]:
    """Return the answers to all requests about a test set; each kind is predicted only once."""
    each = request.all_requests
    if len(each) == 1:
        return [_answer(request, whole, last_step, data)]
    several = several_scores()
    with several.ask_once(*((model, test.X) for model, test in (whole, last_step))):
        answers = {
            one: _answer(each[one], whole, last_step, data)
            for one in range(len(each))
            if several.asks_plainly(each[one])
        }
    return [
        answers[number] if number in answers else _answer(one, whole, last_step, data)
        for number, one in enumerate(each)
    ]


def _answer(
    request: Request, whole: tuple[Any, Enquiry], last_step: tuple[Any, Enquiry], data: Data
) -> Any:
    """Return the learner's answer to the transformed rows; a scorer gets the model and the rows."""
    model, test = whole if request.response == "scored" else last_step
    return answer_of(model, data, test, request)


def _out_of(model: Any, given: FitInput, test: Enquiry) -> Any:
    """Return the model, or its stand-in for predictions of the rows that it was fitted on."""
    if test.copy_of is None or given.asker is None:
        return model
    return given.asker.stand_in(model, given, test)


def attempt(
    family: Family,
    data: Data,
    given: FitInput,
    place: tuple[int, int, int],
    say: Callable[[Any, Begun | None], dict[str, Any]],
    instead: Mapping[str, Any] | None = None,
) -> Piece:
    """Fit a candidate and let `say` fill in its piece, or record why it failed.

    `say` is called with the model and with the steps before its learner, if candidates share them.

    `place` holds the seed of the run, the fit and the candidate: all candidates of a fit get the
    same random numbers. `instead` are parameters that replace those of the candidate.
    """
    seed, fit, candidate = place
    started = time.perf_counter()
    fitted, model = started, None
    try:
        model = family.make(candidate, (seed, fit) if family.is_random else None)
        if instead:
            model.set_params(**instead)
        if given.asker is not None:
            given.asker.prepare(model, given.fit)
        more = {}
        if given.copy_of is not None:
            more = copies().keep_copies_together(model, given.copy_of)
        begun = _fit(model, candidate, given, data.targets(given.y), more | given.params)
        fitted = time.perf_counter()
        answers = say(model, begun)
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        spent = time.perf_counter() - started
        why, kind = reason_of(model, data, given.y, error)
        return Piece(fit, candidate, [], spent, 0.0, why, kind, traceback.format_exc())
    spent = time.perf_counter() - fitted
    return Piece(fit, candidate, fit_seconds=fitted - started, answer_seconds=spent, **answers)


def _fit(
    model: Any,
    candidate: int,
    given: FitInput,
    targets: tuple[np.ndarray, ...],
    params: Mapping[str, Any],
) -> Begun | None:
    """Fit a model; if its steps are shared, start from the table of another candidate."""
    y = targets[0] if targets else None
    begun = None if given.steps is None else given.steps.begun(model, candidate, given.cut, y)
    if begun is None:  # If a step failed, the pipeline itself is fitted and raises its own error.
        model.fit(given.cut(), *targets, **params)
        return None
    name, learner = model.steps[-1]
    learner.fit(begun.table, y, **{n.removeprefix(f"{name}__"): v for n, v in params.items()})
    return begun


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
        why, kind = reason_of(model, data, data.y, error)
        sentence = _sentence(family, candidate, "refit", data.n_rows, data, why)
        piece = Piece(0, candidate, [], 0.0, 0.0, sentence, kind, traceback.format_exc())
        raise error_of(piece) from error
    return model


def _failed(data: Data, plan: Plan, fit: int, family: Family, candidate: int, why: str) -> str:
    order, starts = plan.questions_of
    question = int(order[starts[fit]])
    part = plan.parts[int(plan.part[question])]
    rows, _ = plan.train_rows(fit)
    place = f"{part} split (repeat {plan.repeat[question]}, fold {plan.fold[question]}"
    place += f", outer split {plan.unit[question]})" if plan.unit[question] >= 0 else ")"
    place += f", fit {fit} of {plan.n_fits}"
    return _sentence(family, candidate, place, len(rows), data, why)


def _sentence(family: Family, candidate: int, place: str, n_rows: int, data: Data, why: str) -> str:
    params = params_text(family.candidates[candidate])
    return (
        f"{family.name} ({params}) failed in the {place} on {n_rows} rows "
        f"{_COLUMNS}{n_columns(data.X)}): {why}"
    )


_COLUMNS = "(n_features="


def why_of(sentence: str) -> str:
    """Return the model's message in the error of a failed fit, without the place of the failure."""
    return sentence.partition(_COLUMNS)[2].partition("): ")[2]
