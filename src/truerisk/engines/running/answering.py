"""What a fitted model is asked, and its answers as codes or numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.errors import BadData, Refusal
from truerisk.core.family import Family
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.core.table.rows import take_columns
from truerisk.engines.running.checked_answers import (
    coded,
    codes_of_classes,
    numbers_of,
    probabilities,
    refuse_other_rows,
    shares,
)
from truerisk.models.stated.rows_behind import rows_behind

__all__ = [
    "Enquiry",
    "answer_of",
    "answers_of",
    "counts_of",
    "enquiries",
]


@dataclass(frozen=True, eq=False)
class Enquiry:
    """What a model is asked about.

    `copy_of[i]` is given where it is asked about its own training rows out of bag: the asked row
    that training row i is a copy of. `taken_out` asks about its own training rows, each without it.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    counted: bool = False
    copy_of: np.ndarray | None = None
    taken_out: bool = False

    @classmethod
    def of(cls, data: Data, plan: Plan, question: int) -> Enquiry:
        rows, _ = plan.test_rows(question)
        counted = plan.counted is not None and question in plan.counted
        bagged = plan.out_of_bag is not None and question in plan.out_of_bag
        copy_of = _copies(plan, question, rows) if bagged else None
        without = plan.taken_out is not None and question in plan.taken_out
        if without and _copies(plan, question, rows).shape != rows.shape:
            raise Refusal(
                "a bootstrap sample holds copies of a row, which are not taken out one by one: use "
                "outer splits without copies, such as '10-fold'."
            )
        X = data.rows(rows)
        moved = None if plan.moves is None else plan.moves.of(question, rows)
        if moved is not None:
            X = X + moved
        return cls(X, data.y[rows], data.weights(rows), counted, copy_of, without)

    def against(self, columns: np.ndarray) -> Enquiry:
        """Rows of a matrix of rows against rows, with these columns of it only."""
        return replace(self, X=take_columns(self.X, columns))


def enquiries(
    data: Data, plan: Plan, questions: np.ndarray, columns: np.ndarray | None
) -> list[Enquiry]:
    """What a fitted model is asked about, cut when it is asked."""
    tests = [Enquiry.of(data, plan, int(q)) for q in questions]
    return tests if columns is None else [test.against(columns) for test in tests]


def _copies(plan: Plan, question: int, rows: np.ndarray) -> np.ndarray:
    """For each training row, copies one after another, the place of its row among those asked."""
    seen, counts = plan.train_rows(int(plan.fit[question]))
    if not np.array_equal(seen, rows):
        raise BadData(f"question {question} asks a fit about rows that are not its own.")
    each = np.arange(len(rows))
    return each if counts is None else np.repeat(each, counts)


def answers_of(model: Any, data: Data, request: Request) -> Any:
    """A fitted model's answers about all rows of the data."""
    return answer_of(model, data, Enquiry(data.X, data.y, data.sample_weight), request)


def answer_of(model: Any, data: Data, test: Enquiry, request: Request) -> Any:
    """A fitted model's answers to one question, one for each of its rows."""
    if request.response == "scored":
        return _scored(model, data, test, request.scorer)
    answers = _answers(model, data, test, request)
    refuse_other_rows(len(answers), len(test.y))
    return answers


def _answers(model: Any, data: Data, test: Enquiry, request: Request) -> np.ndarray:
    if request.response == "label":
        return coded(model.predict(test.X), data)
    if request.response == "value":
        return numbers_of(model.predict(test.X), test.y.shape)
    if request.response == "probability":
        return _probabilities(model, data, test)
    return _positive_scores(model, data, test)


def _scored(model: Any, data: Data, test: Enquiry, scorer: Any) -> float:
    if test.weights is None:
        return float(scorer(model, test.X, *data.targets(test.y)))
    return float(scorer(model, test.X, *data.targets(test.y), sample_weight=test.weights))


def _probabilities(model: Any, data: Data, test: Enquiry) -> np.ndarray:
    """Columns in the order of all classes; a class the model never saw has probability 0."""
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{_name(model)} gives no probabilities, which log, brier and other losses and "
            "scores of probabilities need: leave them out (loss='zero-one'), use a model with "
            "predict_proba, or CalibratedClassifierCV around this one."
        )
    return probabilities(*_said_of_classes(model, data, test))


def _said_of_classes(model: Any, data: Data, test: Enquiry) -> tuple[Any, np.ndarray, int, int]:
    """What `predict_proba` says, of which classes, for how many rows, and how many classes are."""
    if not hasattr(model, "classes_"):
        raise ValueError(
            "the model has predict_proba and no classes_, so that nobody knows of which class each "
            "column is: set classes_ in fit"
        )
    codes = codes_of_classes(model.classes_, data)
    return model.predict_proba(test.X), codes, len(test.y), data.n_classes


def _name(model: Any) -> str:
    """The class of the learner, which is at the end of a pipeline."""
    return Family(model).name


def counts_of(model: Any, data: Data, test: Enquiry, n_rows: int) -> np.ndarray:
    """How many training rows of each class an answer rests on: n_x times the probabilities."""
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{_name(model)} estimates no probability of a class, which this method needs: "
            "use a model with predict_proba, CalibratedClassifierCV around this one, or "
            "Swapping(n0=math.inf), which takes every probability as 1/2."
        )
    sizes = rows_behind(model, test.X, n_rows)
    return sizes[:, None] * _probabilities(model, data, test)


def _positive_scores(model: Any, data: Data, test: Enquiry) -> np.ndarray:
    """Decision values of the second class, or its probabilities where there are none."""
    if data.n_classes != 2:
        raise Refusal(
            f"this loss ranks rows by one score, and y has {data.n_classes} classes: use "
            "loss='log' or 'brier'."
        )
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(test.X), dtype=np.float64).ravel()
        return -scores if _names_them_backwards(model, data) else scores
    if hasattr(model, "predict_proba"):
        return shares(*_said_of_classes(model, data, test))[:, 1]
    raise Refusal(
        f"{_name(model)} gives neither decision values nor probabilities: "
        "loss 'auc' has nothing to rank by; use loss='zero-one'."
    )


def _names_them_backwards(model: Any, data: Data) -> bool:
    """Whether decision values speak for the class that is the first one in sorted order."""
    classes = getattr(model, "classes_", None)
    return classes is not None and codes_of_classes(classes, data).tolist() == [1, 0]
