"""Convert predictions of held-out rows to a table with one line per test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.plan.answers import Answers
from truerisk.results.evaluation import AnsweredRows


def columns_of(answered: AnsweredRows) -> dict[str, list[Any]]:
    """Return row, fold, truth and predictions of every test, in the order of the rows."""
    plan = answered.answers[0].plan
    rows, _ = plan.positions
    question: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    order = np.lexsort((plan.fold[question], plan.repeat[question], rows))
    columns: dict[str, np.ndarray] = {"row": np.asarray(rows), "fold": plan.fold[question]}
    if len(np.unique(plan.repeat)) > 1:
        columns["repeat"] = plan.repeat[question]
    truth = answered.truth[rows]
    columns |= dict(
        _columns("truth", truth if answered.classes is None else answered.classes[truth])
    )
    for response_answers in answered.answers:
        columns |= _answers(answered, response_answers)
    order = order[answered.unseen[order]]
    return {name: values[order].tolist() for name, values in columns.items()}


def _answers(rows: AnsweredRows, answers: Answers) -> dict[str, np.ndarray]:
    values = answers.values[rows.candidate]
    answered = np.repeat(answers.answered[rows.candidate], answers.plan.test_sizes)
    if answers.response == "label":
        assert rows.classes is not None
        labels: np.ndarray = rows.classes.astype(object)[values]
        labels[~answered | (values < 0)] = None
        return {"label": labels}
    if answers.response == "probability" and rows.classes is None:
        by_then = np.cumsum(values[:, :0:-1], axis=1)  # the last interval is the first one in time
        each = zip(rows.horizons, by_then.T, strict=True)
        return {f"probability_by_{time:.12g}": shares for time, shares in each}
    if answers.response == "probability":
        assert rows.classes is not None
        each = zip(rows.classes.tolist(), values.T, strict=True)
        return {f"probability_{label}": shares for label, shares in each}
    return dict(_columns(answers.response, values))


def _columns(name: str, values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield one column, or one column per target."""
    if values.ndim == 1:
        yield name, values
        return
    for place, column in enumerate(values.T):
        yield f"{name}_{place}", column
