"""Finished models whose predictions were computed elsewhere, and are the columns of X."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from truerisk.core.arguments import as_array, to_row_array
from truerisk.core.errors import BadData, Refusal
from truerisk.core.family import TaskName
from truerisk.core.formats import join_words
from truerisk.data.rows import column_names


class GivenPredictions(BaseEstimator):
    """Finished model whose predictions are the first column of X."""

    def __sklearn_is_fitted__(self) -> bool:
        """Return True, because nothing is fitted."""
        return True

    def fit(self, X: Any, y: Any) -> GivenPredictions:
        """Return the model unchanged."""
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the first column of X."""
        return np.asarray(X, dtype=np.float64)[:, 0]


class GivenNumbers(RegressorMixin, GivenPredictions):
    """Finished model that predicts numbers."""


class GivenLabels(ClassifierMixin, GivenPredictions):
    """Finished model that predicts classes; X holds their positions in the sorted `classes`."""

    def __init__(self, classes: Any) -> None:
        self.classes = classes

    @property
    def classes_(self) -> np.ndarray:
        """Sorted classes of y."""
        return np.asarray(self.classes)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row."""
        return np.asarray(self.classes_[super().predict(X).astype(int)])


class GivenProbabilities(GivenLabels):
    """Finished model that predicts probabilities, in the columns of X.

    There is a column for each of the sorted `classes`, or one for the second of two classes.
    """

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the columns of X; a single column is completed to two."""
        shares = np.asarray(X, dtype=np.float64)
        return shares if shares.shape[1] > 1 else np.column_stack([1 - shares, shares])

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class GivenRisks(GivenPredictions):
    """Finished model of a survival outcome, with one number for each row in X.

    The numbers are probabilities of the event by the time `horizon`, or linear predictors if it is
    None.
    """

    def __init__(self, horizon: float | None = None) -> None:
        self.horizon = horizon

    def predict_survival_function(self, X: Any) -> list[Callable[[Any], np.ndarray]]:
        """Return a function for each row, which returns the survival probability at the horizon."""
        return [partial(self._survival_at, risk) for risk in self.predict(X).tolist()]

    def _survival_at(self, risk: float, times: Any) -> np.ndarray:
        if self.horizon is None or (np.asarray(times) != self.horizon).any():
            known_text = (
                "linear predictors, from which no probability can be computed"
                if self.horizon is None
                else f"risks by the time {self.horizon:.12g}, and say nothing about other times"
            )
            raise Refusal(f"the predictions are {known_text}: leave out the scores that need them.")
        return np.full(np.shape(times), 1 - risk)


def make_finished_model(
    y: Any,
    predictions: Any,
    *,
    task: TaskName,
    positive: Any = None,
    horizon: float | None = None,
    label: str = "predictions",
    first_row: int = 0,
) -> tuple[GivenPredictions, np.ndarray]:
    """Return a finished model that gives these predictions, and the X from which it computes them.

    The caller has to check `y`. Messages name the predictions by `label`, and count rows from
    `first_row`.
    """
    values = to_row_array(label, predictions, "give one prediction for each row")
    if values.ndim not in (1, 2):
        raise BadData(f"{label} have {values.ndim} dimensions: give one number for each row.")
    if len(values) != len(y):
        raise BadData(
            f"{label} and y have different numbers of rows, {len(values)} and {len(y)}: give one "
            "prediction for each row."
        )
    if task != "classification":
        are_risks = task == "survival" and horizon is not None
        numbers = _checked_numbers(values, label, first_row, are_shares=are_risks)
        if numbers.shape[1] != 1:
            raise BadData(f"{label} have {numbers.shape[1]} columns: give one number for each row.")
        return GivenNumbers() if task == "regression" else GivenRisks(horizon), numbers
    classes = np.unique(to_row_array("y", y, "one class for each row"))
    if values.ndim == 1 and values.dtype.kind not in "biuf":
        return GivenLabels(classes), _label_positions(values, classes, label, first_row)
    shares = _checked_numbers(values, label, first_row, are_shares=True)
    if shares.shape[1] == 1:
        if len(classes) > 2:
            raise BadData(
                f"{label} are of one of two classes, and y has {len(classes)}: give a column of "
                "probabilities for each class."
            )
        # A probability of the first class is converted to that of the second.
        shares = 1 - shares if positive is not None and positive == classes[0] else shares
    elif shares.shape[1] != len(classes):
        raise BadData(
            f"{label} have {shares.shape[1]} columns, and y has {len(classes)} classes: give a "
            "column of probabilities for each class, in sorted order."
        )
    elif (names := column_names(predictions)) is not None:
        labels = [str(each) for each in classes.tolist()]
        if sorted(names) != sorted(labels):
            raise BadData(
                f"{label} have the columns {join_words(names)}, and y has the classes "
                f"{join_words(labels)}: name each column by its class."
            )
        shares = shares[:, [names.index(each) for each in labels]]
    return GivenProbabilities(classes), shares


def _checked_numbers(
    values: np.ndarray, label: str, first_row: int, *, are_shares: bool
) -> np.ndarray:
    """Return the predictions as a table of numbers; raise BadData for invalid ones."""
    try:
        numbers = as_array(values, np.float64)
    except ValueError as error:
        kind = "probabilities" if are_shares else "numbers"
        raise BadData(f"{label} are no {kind}: {error}.") from None
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    is_valid = np.isfinite(numbers) & (not are_shares or (numbers >= 0) & (numbers <= 1))
    invalid_cells = np.argwhere(~is_valid)
    if len(invalid_cells):
        row, column = invalid_cells[0]
        requirement = "between 0 and 1, as probabilities must be" if are_shares else "finite"
        raise BadData(
            f"{label}: {len(invalid_cells)} of {numbers.size} values "
            f"{'is' if len(invalid_cells) == 1 else 'are'} not {requirement}: "
            f"{numbers[row, column]:.15g} in row {row + first_row} is the first. Correct it, or "
            "leave its row out."
        )
    return numbers


def _label_positions(
    labels: np.ndarray, classes: np.ndarray, label: str, first_row: int
) -> np.ndarray:
    """Return the position of each predicted label among the classes of y."""
    known, given = classes.tolist(), labels.tolist()
    for row, each in enumerate(given):
        if each not in known:
            raise BadData(f"{label}: {each!r} in row {row + first_row} is no class of y.")
    return np.array([[known.index(each)] for each in given])
