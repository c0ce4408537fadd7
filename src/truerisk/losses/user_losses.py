"""Losses that users write: functions of (y_true, y_pred), and classes derived from RowLoss."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, real_array
from truerisk.core.errors import BadArgument, Refusal, UnknownName, reraise_as_fit_failed
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss, RowLoss

SCORER_ARGUMENT_PREFIXES = (
    "est",
    "model",
    "clf",
    "classif",
    "reg",
    "search",
    "pipe",
    "self",
    "fitted",
)
"""Prefixes by which the name of a scorer's first parameter is recognised."""


def is_loss_function(function: Callable[..., Any]) -> bool:
    """Return True for a loss of (y_true, y_pred), and False for a scorer of (estimator, X, y).

    A scorer of models that need no y takes (estimator, X). A function that takes two or three
    arguments is recognised by the names of the first two; if these names say nothing, BadArgument
    is raised, since a loss and a scorer would be called in different ways.
    """
    positional_kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # Only functions written in C have no signature. Such a function is a loss, because scorers
        # are written in Python.
        return True
    positional_parameters = [
        parameter for parameter in parameters if parameter.kind in positional_kinds
    ]
    n_required = sum(
        parameter.default is inspect.Parameter.empty for parameter in positional_parameters
    )
    has_var_positional = any(
        parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters
    )
    if n_required > 3 or (len(positional_parameters) < 2 and not has_var_positional):
        raise UnknownName(
            f"{mention('scoring', function)} takes {n_required} arguments; a loss takes (y_true, "
            "y_pred), and a scorer (estimator, X, y)."
        )
    first_parameter, second_parameter = [
        *(parameter.name.lower() for parameter in positional_parameters),
        "",
        "",
    ][:2]
    if (
        first_parameter.startswith(SCORER_ARGUMENT_PREFIXES)
        or second_parameter == "x"
        or second_parameter.startswith("feature")
    ):
        return False
    if n_required > 2 or (len(positional_parameters) < 3 and not has_var_positional):
        return n_required < 3
    if first_parameter.startswith("y") or "tru" in first_parameter or "pred" in second_parameter:
        return True
    raise BadArgument(
        f"{mention('scoring', function)} may be called with two arguments or three: a loss names "
        "them (y_true, y_pred) and a scorer (estimator, X, y). Name them so, or use "
        "sklearn.metrics.make_scorer."
    )


class RowFunctionLoss(RowLoss):
    """Loss from a user's `function(y_true, y_pred)` that returns one loss per row."""

    tasks = ("classification", "regression")
    lower = None

    def __init__(self, function: Callable[..., Any], data: Data) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.response = "label" if data.task == "classification" else "value"

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = [
            _call_user_function(self, data, rows, candidate_predictions)
            for candidate_predictions in answers
        ]
        for row_losses in losses:
            if np.shape(row_losses) != (len(rows),):
                raise Refusal(
                    f"loss {self.name} gave shape {np.shape(row_losses)} for {len(rows)} rows; "
                    "it must give one loss per row, as it did for all of y."
                )
        return np.array(losses)


class SetFunctionLoss(Loss):
    """Loss from a user's `function(y_true, y_pred)` that returns one number per test set."""

    per_row = False
    tasks = ("classification", "regression")

    def __init__(self, function: Callable[..., Any], data: Data) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.response = "label" if data.task == "classification" else "value"

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        if weights is not None:
            raise Refusal(
                f"loss {self.name} rates a whole test set, so truerisk cannot weight its rows; "
                "return one loss per row instead."
            )
        candidate_losses = [
            _call_user_function(self, data, rows, candidate_predictions)
            for candidate_predictions in answers
        ]
        if any(np.shape(candidate_loss) != () for candidate_loss in candidate_losses):
            raise Refusal(
                f"loss {self.name} gave shape {np.shape(candidate_losses[0])} for {len(rows)} "
                "rows; it must give one number for them all, as it did for all of y."
            )
        return np.array(candidate_losses)


def loss_from_function(function: Callable[..., Any], data: Data) -> Loss:
    """Return the loss that a user's function computes.

    The kind of the loss is inferred from what the function returns if the predictions equal y. The
    value is one number per row, or one for all rows.
    """
    if data.task == "survival":
        raise Refusal(
            "a loss of (y_true, y_pred) is not defined for outcomes in time; use concordance, "
            "integrated-brier or a scorer of (estimator, X, y)."
        )
    name = getattr(function, "__name__", type(function).__name__)
    with reraise_as_fit_failed(f"loss {name} failed on y against itself ({data.n_rows} rows)"):
        perfect_loss = function(data.y, data.y)
    loss_shape = np.shape(perfect_loss)
    if np.iscomplexobj(perfect_loss):
        raise Refusal(f"loss {name} gave complex numbers, which have no order: give real ones.")
    if loss_shape == (data.n_rows,):
        return RowFunctionLoss(function, data)
    if loss_shape == () and perfect_loss == 1:
        raise Refusal(
            f"loss {name} is 1 for right answers, as a score is, and would be minimised: give it "
            "as sklearn.metrics.make_scorer(...), which says that larger is better, or by its name."
        )
    if loss_shape == ():
        return SetFunctionLoss(function, data)
    raise Refusal(
        f"loss {function!r} gave shape {loss_shape} for {data.n_rows} rows; "
        "return one loss per row, or one number for the whole set."
    )


def check_row_losses(loss: RowLoss, data: Data) -> None:
    """Raise an error if a user's loss does not return one loss per row.

    The loss is called with y as the predictions.
    """
    if loss.response not in ("label", "value"):
        return
    rows = np.arange(data.n_rows)
    y_true = data.y if loss.response == "value" else data.class_codes
    with reraise_as_fit_failed(f"loss {loss.name} failed on y against itself ({data.n_rows} rows)"):
        losses = loss.of_rows(data, rows, y_true[None])
    if np.iscomplexobj(losses):
        raise Refusal(
            f"loss {loss.name} gave complex numbers, which have no order: give real ones."
        )
    if np.shape(losses) != (1, data.n_rows):
        raise Refusal(
            f"loss {loss.name} gave shape {np.shape(losses)} for one model's answers about "
            f"{data.n_rows} rows: of_rows must give a line for each model, with one loss per row."
        )


def _call_user_function(
    loss: Any, data: Data, rows: np.ndarray, predictions: np.ndarray
) -> np.ndarray:
    if data.classes is not None:
        if (predictions < 0).any():
            raise Refusal("a model predicted a label that y does not hold: the loss cannot see it.")
        predictions = data.classes[predictions]
    with reraise_as_fit_failed(
        f"loss {loss.name} failed on {len(rows)} rows, the first of them row {rows[0]}"
    ):
        return real_array(loss.function(data.y[rows], predictions))
