"""Convert predictions for held-out rows to a table, one line per tested row and fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.plan.answers import Answers
from truerisk.results.evaluation import RowPredictions


def columns_of(row_predictions: RowPredictions) -> dict[str, list[Any]]:
    """Return the columns of a table of predictions, sorted by row number.

    The columns are the row, the fold, the truth and the predictions.
    """
    plan = row_predictions.answers[0].plan
    rows, _ = plan.positions
    test_set_numbers: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    row_order = np.lexsort((plan.fold[test_set_numbers], plan.repeat[test_set_numbers], rows))
    columns: dict[str, np.ndarray] = {"row": np.asarray(rows), "fold": plan.fold[test_set_numbers]}
    if len(np.unique(plan.repeat)) > 1:
        columns["repeat"] = plan.repeat[test_set_numbers]
    truth = row_predictions.truth[rows]
    columns |= dict(
        _value_columns(
            "truth", truth if row_predictions.classes is None else row_predictions.classes[truth]
        )
    )
    for response_predictions in row_predictions.answers:
        columns |= _prediction_columns(row_predictions, response_predictions)
    row_order = row_order[row_predictions.is_unseen[row_order]]
    return {name: values[row_order].tolist() for name, values in columns.items()}


def _prediction_columns(
    row_predictions: RowPredictions, predictions: Answers
) -> dict[str, np.ndarray]:
    predicted_values = predictions.values[row_predictions.candidate]
    has_prediction = np.repeat(
        predictions.answered[row_predictions.candidate], predictions.plan.test_sizes
    )
    if predictions.response == "label":
        assert row_predictions.classes is not None
        labels: np.ndarray = row_predictions.classes.astype(object)[predicted_values]
        labels[~has_prediction | (predicted_values < 0)] = None
        return {"label": labels}
    if predictions.response == "probability" and row_predictions.classes is None:
        # The last column belongs to the earliest time interval, so the sum starts there.
        cumulative_probabilities = np.cumsum(predicted_values[:, :0:-1], axis=1)
        named_columns = zip(row_predictions.horizons, cumulative_probabilities.T, strict=True)
        return {f"probability_by_{horizon:.12g}": column for horizon, column in named_columns}
    if predictions.response == "probability":
        assert row_predictions.classes is not None
        named_columns = zip(row_predictions.classes.tolist(), predicted_values.T, strict=True)
        return {f"probability_{label}": column for label, column in named_columns}
    return dict(_value_columns(predictions.response, predicted_values))


def _value_columns(name: str, values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the values as a named column; several targets give one numbered column each."""
    if values.ndim == 1:
        yield name, values
        return
    for target_index, column in enumerate(values.T):
        yield f"{name}_{target_index}", column
