"""Convert predictions for held-out rows to a table, one line per tested row and fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.plan.answers import Answers
from truerisk.results.evaluation import AnsweredRows


def columns_of(answered: AnsweredRows) -> dict[str, list[Any]]:
    """Return the columns row, fold, truth and predictions of the table, sorted by row number."""
    plan = answered.answers[0].plan
    rows, _ = plan.positions
    question_numbers: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    row_order = np.lexsort((plan.fold[question_numbers], plan.repeat[question_numbers], rows))
    columns: dict[str, np.ndarray] = {"row": np.asarray(rows), "fold": plan.fold[question_numbers]}
    if len(np.unique(plan.repeat)) > 1:
        columns["repeat"] = plan.repeat[question_numbers]
    truth = answered.truth[rows]
    columns |= dict(
        _value_columns("truth", truth if answered.classes is None else answered.classes[truth])
    )
    for response_answers in answered.answers:
        columns |= _prediction_columns(answered, response_answers)
    row_order = row_order[answered.is_unseen[row_order]]
    return {name: values[row_order].tolist() for name, values in columns.items()}


def _prediction_columns(answered_rows: AnsweredRows, answers: Answers) -> dict[str, np.ndarray]:
    values = answers.values[answered_rows.candidate]
    has_answer = np.repeat(answers.answered[answered_rows.candidate], answers.plan.test_sizes)
    if answers.response == "label":
        assert answered_rows.classes is not None
        labels: np.ndarray = answered_rows.classes.astype(object)[values]
        labels[~has_answer | (values < 0)] = None
        return {"label": labels}
    if answers.response == "probability" and answered_rows.classes is None:
        # Cumulate from the last column backwards: it belongs to the earliest time interval.
        cumulative_probabilities = np.cumsum(values[:, :0:-1], axis=1)
        named_columns = zip(answered_rows.horizons, cumulative_probabilities.T, strict=True)
        return {f"probability_by_{horizon:.12g}": column for horizon, column in named_columns}
    if answers.response == "probability":
        assert answered_rows.classes is not None
        named_columns = zip(answered_rows.classes.tolist(), values.T, strict=True)
        return {f"probability_{label}": column for label, column in named_columns}
    return dict(_value_columns(answers.response, values))


def _value_columns(name: str, values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the column with its name, or a numbered column for each of several targets."""
    if values.ndim == 1:
        yield name, values
        return
    for target_index, column in enumerate(values.T):
        yield f"{name}_{target_index}", column
