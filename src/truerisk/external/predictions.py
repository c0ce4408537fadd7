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
from truerisk.data.rows import is_missing
from truerisk.data.targets import checked_groups
from truerisk.intervals.bootstrapped_sets import mean_auc_risks
from truerisk.losses.loss import AUC_IMPORT_PATH, Loss
from truerisk.losses.loss_words import as_loss

MOST_NAMED = 5  # A message names at most this many candidates or classes.
# Whole-number outcomes with more distinct values than this are regression targets, not classes.
MOST_CLASSES = 20
# The sum of a row's probabilities may differ from 1 by this much, because files hold few digits.
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
        values, set_risks = self.values[candidates], []
        for test_set in self.test_sets:
            set_weights = None if weights is None else weights[test_set]
            used = slice(None) if set_weights is None else set_weights > 0
            try:
                set_risks.append(
                    self.loss.of_set(
                        self.data,
                        self.rows[test_set][used],
                        values[:, test_set][:, used],
                        None if set_weights is None else set_weights[used],
                    )
                )
            except Refusal:
                if weights is None:
                    raise
        return np.mean(set_risks, axis=0) if set_risks else np.full(len(values), np.nan)

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
        """Return the largest change of each candidate's risk if one predicted label changes."""
        if self.loss.response != "label":
            return np.zeros(len(self.values))
        effects = [
            self.loss.of_one_row(self.data, self.rows[s], self.values[:, s], None)
            for s in self.test_sets
        ]
        return np.asarray(np.max(effects, axis=0) / len(self.test_sets))


def loss_without_outcomes(scoring: Any) -> Loss:
    """Return the loss that `scoring` names, for a table whose outcomes and task are unknown."""
    losses: list[Loss] = []
    errors: list[Exception] = []
    for task, outcomes in TASKS.items():
        try:
            losses.append(as_loss(scoring, _data(np.array(outcomes), task)))
        except (Refusal, UnknownName, BadArgument) as error:
            errors.append(error)
    if not losses:
        raise errors[0]
    # What is only a scorer for one task may be a loss of rows for the other task.
    return min(losses, key=lambda loss: loss.response == "scored")


TASKS: dict[TaskName, list[float]] = {"classification": [0, 1], "regression": [0.25, 1.5]}
"""Tasks that a table may have, each with outcomes that stand in for the unknown ones."""


def _data(outcomes: np.ndarray, task: TaskName, groups: Any = None) -> Data:
    return Data.check(np.zeros((len(outcomes), 1)), outcomes, task=task, groups=groups)


def outcome_data(
    outcomes: np.ndarray, scoring: Any, has_probabilities: bool, groups: Any = None
) -> Data:
    """Return the outcomes as checked data of a task, which is inferred from them and `scoring`.

    Texts, and whole numbers with few distinct values, are classes, unless the loss is for a
    regression only.
    """
    refuse_missing("y", outcomes)
    groups = group_codes(groups, len(outcomes))
    if outcomes.dtype.kind == "O":
        outcomes = np.array(outcomes.tolist())  # Numbers and booleans get their own type.
    if outcomes.dtype.kind not in "biuf":
        labels = np.array([label_text(value) for value in outcomes.tolist()])
        return _data(labels, "classification", groups)
    numbers = outcomes.astype(np.float64)
    has_classes = bool((numbers % 1 == 0).all()) and len(np.unique(numbers)) <= MOST_CLASSES
    if has_classes and isinstance(scoring, str | Loss) and not has_probabilities:
        # The name may depend on the classes of y; if not, a later check raises.
        with contextlib.suppress(Refusal, UnknownName, BadArgument):
            has_classes = loss_without_outcomes(scoring).tasks != ("regression",)
    if has_classes:
        return _data(numbers.astype(np.int64), "classification", groups)
    if has_probabilities:
        raise BadData("y holds numbers that are not classes, but the table has probabilities.")
    return _data(numbers, "regression", groups)


def group_codes(groups: Any, n_rows: int) -> np.ndarray | None:
    """Return the number of each row's group, or None without groups."""
    if groups is None:
        return None
    refuse_missing("groups", groups)
    return checked_groups(groups, n_rows)


def class_names(data: Data) -> list[str]:
    """Return the classes of the outcomes as texts, in the order of their codes."""
    return [str(data.label(code)) for code in range(data.n_classes)]


def requested_loss(scoring: Any, data: Data, positive: Any) -> Loss:
    """Return the loss that `scoring` names; raise Refusal for a scorer of fitted models.

    The positive class may be named by a text, such as "1" for 1.
    """
    if isinstance(positive, str) and positive in class_names(data):
        positive = data.label(class_names(data).index(positive))
    loss = as_loss(scoring, data, positive)
    if loss.response == "scored":
        raise Refusal(
            f"{mention('scoring', scoring)} is a scorer of fitted models, and there are "
            "predictions only: use a name such as 'roc_auc' or 'f1', or a loss of rows."
        )
    return loss


def encoded_predictions(
    data: Data, loss: Loss, predictions: np.ndarray | None, probabilities: np.ndarray | None
) -> np.ndarray:
    """Return predictions of single rows as the loss needs them: codes, probabilities or numbers.

    `predictions` are labels, scores of the positive class or numbers; `probabilities` have a column
    for each class.
    """
    if data.task == "regression":
        if predictions is None:
            raise BadData(f"'{loss.name}' needs predictions of y, and there are none.")
        return finite_numbers(predictions, "the column of predictions")
    if probabilities is not None:
        probabilities = _checked_probabilities(probabilities)
    if loss.response == "label" and predictions is not None:
        return _codes_of_labels(data, loss, predictions)
    if probabilities is not None:
        if loss.response == "label":
            return probabilities.argmax(axis=1)
        return probabilities[:, 1] if loss.response == "score" else probabilities
    assert predictions is not None
    if loss.response == "score":
        scores = finite_numbers(predictions, "the column of predictions")
        return -scores if loss.rated(data) == 0 else scores
    if data.n_classes != 2 or predictions.dtype.kind not in "iuf":
        raise BadData(
            f"'{loss.name}' needs the probability of each class of y ({named(class_names(data))})."
        )
    second = finite_numbers(predictions, "the column of predictions")
    return _checked_probabilities(np.column_stack([1 - second, second]))


def _codes_of_labels(data: Data, loss: Loss, predictions: np.ndarray) -> np.ndarray:
    names = class_names(data)
    codes = {name: code for code, name in enumerate(names)}
    texts = [label_text(value) for value in predictions.tolist()]
    strange = next((text for text in texts if text not in codes), None)
    if strange is not None:
        raise BadData(
            f"a prediction is {escape_and_truncate(strange, 40)!r}, which is no class of y "
            f"({named(names)}), and '{loss.name}' compares labels: give a label or the "
            "probability of each class, or a scoring that rates probabilities, such as 'brier'."
        )
    return np.array([codes[text] for text in texts], dtype=np.int64)


def _checked_probabilities(probabilities: np.ndarray) -> np.ndarray:
    sums = probabilities.sum(axis=1)
    if probabilities.min() < -1e-9 or np.abs(sums - 1).max() > SUM_TOLERANCE:
        raise BadData(
            "probabilities must lie between 0 and 1 and sum to 1 over the classes; here the "
            f"smallest is {probabilities.min():.4g}, and the sums lie between {sums.min():.4g} and "
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


def refuse_missing(name: str, values: Any) -> None:
    """Raise BadData if a value is None, NaN, masked or an empty text."""
    cells: list[Any] = np.ma.filled(np.ma.asarray(values, dtype=object), np.nan).ravel().tolist()
    lines = [line for line, cell in enumerate(cells, 1) if is_missing(cell) or cell == ""]
    if lines:
        raise BadData(
            f"{name} has {len(lines)} missing values, the first on line {lines[0]}: fill them, or "
            "leave these rows out."
        )


def named(names: Sequence[str]) -> str:
    """Join the first names of a list to a text that also says how many names are omitted."""
    return join_first_words([escape_and_truncate(name, 60) for name in names], MOST_NAMED)


def label_text(value: Any) -> str:
    """Convert a label or a row number to text; 3.0 and 3 give the same text, bytes are decoded."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    is_whole = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    return str(int(value)) if is_whole else str(value)
