"""Predictions of candidates for rows with known outcomes, as a loss or a score needs them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.formats import escape_and_truncate, join_first_words
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.data.data import Data, TaskName
from truerisk.intervals.bootstrapped_sets import mean_auc_risks
from truerisk.losses.loss import AUC_IMPORT_PATH, Loss
from truerisk.losses.loss_words import as_loss

MOST_NAMED = 5  # A message names at most this many candidates or classes.
# Whole-number outcomes with more distinct values than this are regression targets, not classes.
MOST_CLASSES = 20
# Probabilities of a row may sum to 1 only up to this, because files hold few digits.
SUM_TOLERANCE = 1e-3


@frozen(eq=False)
class RatedSets:
    """Predictions of all candidates for test sets, for scores that rate whole sets of rows.

    `values[c, j]` is the prediction of candidate c for row `rows[j]`; `test_sets` are slices of
    these positions.
    """

    data: Data
    loss: Loss
    rows: np.ndarray
    values: np.ndarray
    test_sets: tuple[slice, ...]

    def risks(self, candidates: Any = slice(None), weights: np.ndarray | None = None) -> np.ndarray:
        """Return each candidate's mean risk over the test sets, with a weight for each position.

        Test sets on which the score does not exist with these weights are left out.
        """
        values = self.values[candidates]
        sums, n_sets = np.zeros(len(values)), 0
        for test_set in self.test_sets:
            used = slice(None) if weights is None else weights[test_set] > 0
            try:
                sums += self.loss.of_set(
                    self.data,
                    self.rows[test_set][used],
                    values[:, test_set][:, used],
                    None if weights is None else weights[test_set][used],
                )
            except Refusal:
                if weights is None:
                    raise
                continue
            n_sets += 1
        return sums / n_sets if n_sets else np.full(len(sums), np.nan)

    def mean_risks(self, candidates: Any, weights: np.ndarray) -> np.ndarray:
        """Return the candidates' mean risks for each row of `weights`, a row for each sample."""
        is_auc = is_exactly(self.loss, AUC_IMPORT_PATH) and self.loss.response == "score"
        if is_auc and self.values.ndim == 2:
            # The AUC of one class is that of the other class with the scores reversed.
            is_positive = self.data.codes_of(self.rows) == 1
            return mean_auc_risks(self.values[candidates], is_positive, self.test_sets, weights)
        return np.array([self.risks(candidates, row_weights) for row_weights in weights])

    def losses_by_influence(self) -> np.ndarray:
        """Return each candidate's risk plus the influence of each row on it.

        The mean over the rows is the risk. A row has the share of its test set in the mean over
        test sets, which differs between test sets of unequal size.
        """
        risks, n_rows = self.risks(), self.data.n_rows
        contributions = np.zeros((len(self.values), n_rows))
        for test_set in self.test_sets if self.loss.tells_influences else ():
            rows, values = self.rows[test_set], self.values[:, test_set]
            influences = self.loss.influences(self.data, rows, values, None, risks)
            share = 1 / (len(self.test_sets) * len(rows))
            contributions += [np.bincount(rows, share * one, n_rows) for one in influences]
        contributions -= contributions.mean(axis=1, keepdims=True)
        return np.asarray(risks[:, None] + n_rows * contributions)

    def one_row_effects(self) -> np.ndarray:
        """Return the largest change of each candidate's risk by another label of one row."""
        if self.loss.response != "label":
            return np.zeros(len(self.values))
        return np.max(
            [
                self.loss.of_one_row(self.data, self.rows[s], self.values[:, s], None)
                / len(self.test_sets)
                for s in self.test_sets
            ],
            axis=0,
        )


def refuse_missing(name: str, values: np.ndarray) -> None:
    """Raise BadData if a value is None, NaN, masked or an empty text."""
    missing = np.ma.getmaskarray(values).ravel().copy()
    cells = np.ma.getdata(values).ravel()
    if cells.dtype.kind in "fc":
        missing |= np.isnan(cells)
    elif cells.dtype.kind in "OUS":
        missing |= [cell is None or cell != cell or str(cell) in ("", "<NA>") for cell in cells]
    if missing.any():
        raise BadData(
            f"{name} has {int(missing.sum())} missing values, the first on line "
            f"{int(np.flatnonzero(missing)[0]) + 1}: fill them, or leave these rows out."
        )


def loss_without_outcomes(scoring: Any) -> Loss:
    """Return the loss that `scoring` names, for a table whose outcomes and task are unknown."""
    first_error: Exception | None = None
    scorer: Loss | None = None
    for task, outcomes in (("classification", [0, 1]), ("regression", [0.25, 1.5])):
        try:
            loss = as_loss(scoring, _data(np.array(outcomes), task))  # type: ignore[arg-type]
        except (Refusal, UnknownName, BadArgument) as error:
            first_error = first_error or error
            continue
        if loss.response != "scored":
            return loss
        scorer = loss  # A scorer may be a loss of rows for the other task.
    if scorer is not None:
        return scorer
    assert first_error is not None
    raise first_error


def _data(outcomes: np.ndarray, task: TaskName) -> Data:
    return Data.check(np.zeros((len(outcomes), 1)), outcomes, task=task)


def outcome_data(outcomes: np.ndarray, scoring: Any, has_probabilities: bool) -> Data:
    """Return the outcomes as checked data of a task, which is inferred from them and `scoring`.

    Texts and whole numbers of few values are classes, unless the loss is for a regression only.
    """
    refuse_missing("y", outcomes)
    is_numeric = outcomes.dtype.kind in "biuf"
    numbers = outcomes.astype(np.float64) if is_numeric else np.zeros(0)
    if not np.isfinite(numbers).all():
        raise BadData("y has an infinite value.")
    is_whole = is_numeric and bool((numbers == np.round(numbers)).all())
    has_classes = not is_numeric or (is_whole and len(np.unique(outcomes)) <= MOST_CLASSES)
    if has_classes and isinstance(scoring, str | Loss) and not has_probabilities:
        # The name may depend on the classes of y; if not, a later check raises.
        with contextlib.suppress(Refusal, UnknownName, BadArgument):
            has_classes = loss_without_outcomes(scoring).tasks != ("regression",)
    if not has_classes:
        if has_probabilities:
            raise BadData("y holds numbers that are no classes, and there are probabilities.")
        return _data(numbers, "regression")
    labels = numbers.astype(np.int64) if is_numeric else outcomes.astype(str)
    return _data(labels, "classification")


def class_names(data: Data) -> list[str]:
    """Return the classes of the outcomes as texts, in the order of their codes."""
    return [str(data.label(code)) for code in range(data.n_classes)]


def class_named(positive: Any, data: Data) -> Any:
    """Return the class that a text names, such as 1 for "1"; other values are returned as given."""
    if not isinstance(positive, str) or data.task != "classification":
        return positive
    labels = [data.label(code) for code in range(data.n_classes)]
    return next((label for label in labels if str(label) == positive), positive)


def encoded_predictions(
    data: Data, loss: Loss, predictions: np.ndarray | None, probabilities: np.ndarray | None
) -> np.ndarray:
    """Return predictions of single rows as the loss needs them: codes, probabilities or numbers.

    `predictions` are labels, scores of the positive class or numbers; `probabilities` have a column
    for each class.
    """
    if probabilities is not None:
        probabilities = _checked_probabilities(probabilities)
    if data.task == "regression" or (loss.response == "score" and probabilities is None):
        numbers = finite_numbers(_needed(predictions, loss), "the column of predictions")
        is_of_first_class = loss.response == "score" and loss.rated(data) == 0
        return -numbers if is_of_first_class else numbers
    if loss.response == "score":
        assert probabilities is not None
        return probabilities[:, 1]
    if loss.response == "probability":
        return _two_columns(data, loss, predictions) if probabilities is None else probabilities
    if predictions is None:
        assert probabilities is not None
        return probabilities.argmax(axis=1)
    return _codes_of_labels(data, loss, predictions)


def _needed(predictions: np.ndarray | None, loss: Loss) -> np.ndarray:
    if predictions is None:
        raise BadData(f"'{loss.name}' needs predictions of y, and there are none.")
    return predictions


def _codes_of_labels(data: Data, loss: Loss, predictions: np.ndarray) -> np.ndarray:
    names = class_names(data)
    codes = {name: code for code, name in enumerate(names)}
    texts = [label_text(value) for value in predictions.tolist()]
    strange = next((text for text in texts if text not in codes), None)
    if strange is not None:
        raise BadData(
            f"a prediction is {escape_and_truncate(strange, 40)!r}, which is no class of y "
            f"({named(names)}), and '{loss.name}' compares labels."
        )
    return np.array([codes[text] for text in texts], dtype=np.int64)


def _two_columns(data: Data, loss: Loss, predictions: np.ndarray | None) -> np.ndarray:
    """Return the probabilities of both classes, given those of the second class."""
    if data.n_classes != 2 or predictions is None or predictions.dtype.kind not in "iuf":
        raise BadData(
            f"'{loss.name}' needs the probability of each class of y ({named(class_names(data))})."
        )
    second = finite_numbers(predictions, "the column of predictions")
    return _checked_probabilities(np.column_stack([1 - second, second]))


def _checked_probabilities(probabilities: np.ndarray) -> np.ndarray:
    sums = probabilities.sum(axis=1)
    if probabilities.min() < -1e-9 or np.abs(sums - 1).max() > SUM_TOLERANCE:
        raise BadData(
            "probabilities lie between 0 and 1 and sum to 1 over the classes; here the smallest "
            f"is {probabilities.min():.4g}, and sums reach from {sums.min():.4g} to "
            f"{sums.max():.4g}."
        )
    return np.asarray(np.clip(probabilities, 0, 1) / sums[:, None])


def finite_numbers(values: Any, owner: str) -> np.ndarray:
    """Return values as floats; raise BadData with the first line that is no finite number."""
    try:
        numbers = np.asarray(values).astype(np.float64)
    except (TypeError, ValueError):
        raise BadData(f"{owner} holds text where numbers are needed.") from None
    if not np.isfinite(numbers).all():
        line = int(np.argwhere(~np.isfinite(numbers))[0][0]) + 1
        raise BadData(f"{owner} has no finite number on line {line}.")
    return numbers


def named(names: Sequence[str]) -> str:
    """Join the first names of a list to a text that also says how many names are omitted."""
    shown = [escape_and_truncate(name, 60) for name in names]
    return join_first_words(shown, MOST_NAMED)


def label_text(value: Any) -> str:
    """Convert a label or a row number to text; 3.0 and 3 give the same text."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def refuse_scorer(loss: Loss, scoring: Any) -> None:
    """Raise Refusal for a scorer, which rates fitted models only."""
    if loss.response == "scored":
        raise Refusal(
            f"{mention('scoring', scoring)} is a scorer of fitted models, and here are "
            "predictions only: use a name such as 'roc_auc' or 'f1', or a loss of rows."
        )
