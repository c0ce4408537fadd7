"""Losses that users make: functions of (y_true, y_pred), and classes of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from truerisk.core.arguments import mention, real_array
from truerisk.core.errors import BadArgument, Refusal, UnknownName, users_code
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss, RowLoss

OF_SCORERS = ("est", "model", "clf", "classif", "reg", "search", "pipe", "self", "fitted")
"""Beginnings of the names that the first parameter of a scorer has."""


def is_loss_function(function: Callable[..., Any]) -> bool:
    """Return True for a loss of (y_true, y_pred), and False for a scorer of (estimator, X, y).

    A scorer of models that need no y takes (estimator, X). A function that takes two arguments or
    three is told by the names of the first two; where they say nothing, it is refused, since either
    would be called in the place of the other.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True  # a function in C may have no signature, and scorers are no such functions
    named = [one for one in given if one.kind in kinds]
    required = sum(one.default is inspect.Parameter.empty for one in named)
    has_more = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in given)
    if required > 3 or (len(named) < 2 and not has_more):
        raise UnknownName(
            f"{mention('scoring', function)} takes {required} arguments; a loss takes (y_true, "
            "y_pred), and a scorer (estimator, X, y)."
        )
    first, second = [*(one.name.lower() for one in named), "", ""][:2]
    if first.startswith(OF_SCORERS) or second == "x" or second.startswith("feature"):
        return False
    if required > 2 or (len(named) < 3 and not has_more):
        return required < 3
    if first.startswith("y") or "tru" in first or "pred" in second:
        return True
    raise BadArgument(
        f"{mention('scoring', function)} may be called with two arguments or three: a loss names "
        "them (y_true, y_pred) and a scorer (estimator, X, y). Name them so, or use "
        "sklearn.metrics.make_scorer."
    )


class CallableLoss(RowLoss):
    """`function(y_true, y_pred)` that returns one loss per row."""

    tasks = ("classification", "regression")
    lower = None

    def __init__(self, function: Callable[..., Any], data: Data) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.response = "label" if data.task == "classification" else "value"

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = [_call(self, data, rows, row) for row in answers]
        for each in losses:
            if np.shape(each) != (len(rows),):
                raise Refusal(
                    f"loss {self.name} gave shape {np.shape(each)} for {len(rows)} rows; "
                    "it must give one loss per row, as it did for all of y."
                )
        return np.array(losses)


class RatedLoss(Loss):
    """`function(y_true, y_pred)` that returns one number for a whole test set."""

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
        rated = [_call(self, data, rows, row) for row in answers]
        if any(np.shape(each) != () for each in rated):
            raise Refusal(
                f"loss {self.name} gave shape {np.shape(rated[0])} for {len(rows)} rows; "
                "it must give one number for them all, as it did for all of y."
            )
        return np.array(rated)


def loss_of_function(function: Callable[..., Any], data: Data) -> Loss:
    """Return the loss of a function, whose kind is inferred from its value for y against y.

    The value is one number per row, or one for all rows.
    """
    if data.task == "survival":
        raise Refusal(
            "a loss of (y_true, y_pred) is not defined for outcomes in time; use concordance, "
            "integrated-brier or a scorer of (estimator, X, y)."
        )
    name = getattr(function, "__name__", type(function).__name__)
    with users_code(f"loss {name} failed on y against itself ({data.n_rows} rows)"):
        itself = function(data.y, data.y)
    shape = np.shape(itself)
    if np.iscomplexobj(itself):
        raise Refusal(f"loss {name} gave complex numbers, which have no order: give real ones.")
    if shape == (data.n_rows,):
        return CallableLoss(function, data)
    if shape == () and itself == 1:
        raise Refusal(
            f"loss {name} is 1 for right answers, as a score is, and would be minimised: give it "
            "as sklearn.metrics.make_scorer(...), which says that larger is better, or by its name."
        )
    if shape == ():
        return RatedLoss(function, data)
    raise Refusal(
        f"loss {function!r} gave shape {shape} for {data.n_rows} rows; "
        "return one loss per row, or one number for the whole set."
    )


def try_rows(loss: RowLoss, data: Data) -> None:
    """Try a loss that a user made with y against itself, where y is such an answer."""
    if loss.response not in ("label", "value"):
        return
    rows = np.arange(data.n_rows)
    truth = data.y if loss.response == "value" else data.class_codes
    with users_code(f"loss {loss.name} failed on y against itself ({data.n_rows} rows)"):
        losses = loss.of_rows(data, rows, truth[None])
    if np.iscomplexobj(losses):
        raise Refusal(
            f"loss {loss.name} gave complex numbers, which have no order: give real ones."
        )
    if np.shape(losses) != (1, data.n_rows):
        raise Refusal(
            f"loss {loss.name} gave shape {np.shape(losses)} for one model's answers about "
            f"{data.n_rows} rows: of_rows must give a line for each model, with one loss per row."
        )


def _call(loss: Any, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    if data.classes is not None:
        if (answers < 0).any():
            raise Refusal("a model predicted a label that y does not hold: the loss cannot see it.")
        answers = data.classes[answers]
    with users_code(
        f"loss {loss.name} failed on {len(rows)} rows, the first of them row {rows[0]}"
    ):
        return real_array(loss.function(data.y[rows], answers))
