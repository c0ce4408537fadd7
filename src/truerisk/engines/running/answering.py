"""Ask a fitted model for predictions, and convert them to class codes or numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import mention, real_array
from truerisk.core.errors import Refusal, TrueRiskWarning, warn
from truerisk.core.family import Family
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import take_columns
from truerisk.engines.running.doors import chances_of_intervals
from truerisk.plan.answers import code_type
from truerisk.plan.plan import Plan


@frozen(eq=False)
class Enquiry:
    """Rows for which a fitted model is asked to predict.

    `question` is the number of the test set in the plan. `copy_of` is given if the rows are
    training rows, each of which has to be predicted without itself: `copy_of[i]` is the test row of
    which training row i is a copy.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    question: int = -1
    copy_of: np.ndarray | None = None

    @classmethod
    def from_plan(cls, data: Data, plan: Plan, question: int) -> Enquiry:
        """Collect the test rows of one test set of the plan, changed by its extra if it has one."""
        rows, _ = plan.test_rows(question)
        extra = plan.extra
        copies = None if extra is None else extra.copies(plan, question)
        X = data.rows(rows)
        if extra is not None:
            X = extra.moved(X, question, rows)
        return cls(X, data.y[rows], data.weights(rows), question, copies)

    def against(self, columns: np.ndarray) -> Enquiry:
        """Return the test rows of a matrix of rows against rows, restricted to these columns."""
        return replace(self, X=take_columns(self.X, columns))


def enquiries(
    data: Data, plan: Plan, questions: np.ndarray, columns: np.ndarray | None
) -> list[Enquiry]:
    """Build the test sets of these questions; call this only when the model is asked."""
    tests = [Enquiry.from_plan(data, plan, int(q)) for q in questions]
    return tests if columns is None else [test.against(columns) for test in tests]


def answers_of(model: Any, data: Data, request: Request) -> Any:
    """Return a fitted model's answers for all rows of the data."""
    return answer_of(model, data, Enquiry(data.X, data.y, data.sample_weight), request)


def answer_of(model: Any, data: Data, test: Enquiry, request: Request) -> Any:
    """Return a fitted model's answers for one test set, one for each row."""
    if request.response == "scored":
        return _scored(model, data, test, request.scorer)
    answers = _answers(model, data, test, request)
    refuse_other_rows(len(answers), len(test.y))
    return answers


def _answers(model: Any, data: Data, test: Enquiry, request: Request) -> np.ndarray:
    if request.response == "label":
        return coded(model.predict(test.X), data)
    if request.response == "value":
        if data.task == "survival":
            return _risks(model, test)
        return numbers_of(model.predict(test.X), test.y.shape)
    if request.response == "probability" and data.task == "survival":
        return chances_of_intervals(model, test.X, np.array(data.horizons))
    if request.response == "probability":
        return _probabilities(model, data, test)
    return _positive_scores(model, data, test)


def _scored(model: Any, data: Data, test: Enquiry, scorer: Any) -> float:
    if test.weights is None:
        return float(scorer(model, test.X, *data.targets(test.y)))
    return float(scorer(model, test.X, *data.targets(test.y), sample_weight=test.weights))


def _probabilities(model: Any, data: Data, test: Enquiry) -> np.ndarray:
    """Return a column for each class of y; a class that the model never saw has probability 0."""
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{_name(model)} gives no probabilities, which log, brier and other losses and scores "
            f"of probabilities need: leave them out ({mention('scoring', 'zero-one')}), use a "
            "model with predict_proba, or CalibratedClassifierCV around this one."
        )
    return probabilities(*_class_message(model, data, test))


def _risks(model: Any, test: Enquiry) -> np.ndarray:
    """Return predictions that increase with risk; negate those of learners that predict times."""
    risks = numbers_of(model.predict(test.X), test.y.shape[:1])
    learner = Family(getattr(model, "best_estimator_", model)).last
    return risks if getattr(learner, "_predict_risk_score", True) else -risks


def _class_message(model: Any, data: Data, test: Enquiry) -> tuple[Any, np.ndarray, int, int]:
    """Return the `predict_proba` output, its columns' class codes, and n_rows and n_classes."""
    if not hasattr(model, "classes_"):
        raise ValueError(
            "the model has predict_proba and no classes_, so that the class of each column is not "
            "known: set classes_ in fit"
        )
    codes = codes_of_classes(model.classes_, data)
    return model.predict_proba(test.X), codes, len(test.y), data.n_classes


def _name(model: Any) -> str:
    """Return the class name of the learner, which is the last step of a pipeline."""
    return Family(model).name


def _positive_scores(model: Any, data: Data, test: Enquiry) -> np.ndarray:
    """Return decision values for the second class, or its probabilities if there are none."""
    if data.n_classes != 2:
        raise Refusal(
            f"this loss ranks rows by one score, and y has {data.n_classes} classes: use "
            f"{mention('scoring', 'log')} or 'brier'."
        )
    if hasattr(model, "decision_function"):
        scores = real_array(model.decision_function(test.X)).ravel()
        return -scores if _names_them_backwards(model, data) else scores
    if hasattr(model, "predict_proba"):
        return shares(*_class_message(model, data, test))[:, 1]
    raise Refusal(
        f"{_name(model)} gives neither decision values nor probabilities: loss 'auc' has nothing "
        f"to rank by; use {mention('scoring', 'zero-one')}."
    )


def _names_them_backwards(model: Any, data: Data) -> bool:
    """Return True if decision values are for the class that comes first in sorted order."""
    classes = getattr(model, "classes_", None)
    return classes is not None and codes_of_classes(classes, data).tolist() == [1, 0]


KINDS = {"U": "texts", "S": "bytes", **dict.fromkeys("biuf", "numbers")}
"""The kind of value in arrays of each type code; object arrays may hold anything."""


def refuse_other_rows(n_answers: int, n_rows: int) -> None:
    """Raise unless there is one answer per row; a single answer would be broadcast to all rows."""
    if n_answers != n_rows:
        raise ValueError(f"the model gave {n_answers} answers for {n_rows} rows")


def coded(labels: Any, data: Data) -> np.ndarray:
    """Return the codes of predicted labels; warn of labels that are not in y, which get −1.

    Raise if a label is of another kind than those of y (a string where y holds numbers, a fraction,
    None).
    """
    labels = np.asarray(labels).ravel()
    # NumPy's variable-width strings cannot be searched among labels of other types.
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    codes = _codes(labels, data)
    strange = labels[codes < 0].tolist()
    if strange:
        of_y = _shown(data)
        first = clean(repr(strange[0]), 40)
        if not all(_are_of_one_kind(label, data.label(0)) for label in strange):
            raise ValueError(
                f"the model predicted {first}, which is no label as y has them ({of_y}): let it "
                "predict the labels that it is fitted on"
            )
        warn(
            f"the model predicted labels that y does not hold ({of_y}), the first {first}, for "
            f"{len(strange)} of {len(labels)} rows: each counts as wrong.",
            TrueRiskWarning,
        )
    return codes


def _codes(labels: np.ndarray, data: Data) -> np.ndarray:
    kinds = {KINDS.get(one.dtype.kind, "") for one in (labels, data.class_labels)} - {""}
    if len(kinds) > 1:  # older releases of NumPy do not compare them, and warn
        return np.full(len(labels), -1, dtype=code_type(data.n_classes))
    try:
        at = np.minimum(np.searchsorted(data.class_labels, labels), data.n_classes - 1)
    except TypeError:  # These labels cannot be ordered among those of y.
        return np.full(len(labels), -1, dtype=code_type(data.n_classes))
    is_label = data.class_labels[at] == labels
    return np.where(is_label, at, -1).astype(code_type(data.n_classes))


def _are_of_one_kind(label: Any, known: Any) -> bool:
    """Return True if both are strings, or both whole numbers (booleans count as such)."""
    if isinstance(known, int | float):
        return isinstance(label, int | float) and math.isfinite(label) and label == int(label)
    return isinstance(label, type(known))


def _shown(data: Data) -> str:
    labels = [repr(data.label(code)) for code in range(min(data.n_classes, 3))]
    return clean(", ".join(labels) + (", ..." if data.n_classes > 3 else ""), 60)


def codes_of_classes(classes: Any, data: Data) -> np.ndarray:
    """Return the codes of the classes that a model knows, −1 for a class that y does not hold."""
    labels = np.asarray(classes).ravel()
    codes = _codes(labels, data)
    if len(labels) and (codes < 0).all():
        raise ValueError(
            f"the model says that its classes are {clean(repr(labels.tolist()), 60)}, and y holds "
            f"{_shown(data)}: let classes_ hold the labels that it is fitted on"
        )
    return codes


def probabilities(predicted: Any, codes: np.ndarray, n_rows: int, n_classes: int) -> np.ndarray:
    """Return the probabilities of all classes, given those of the classes that a model knows."""
    by_class = shares(predicted, codes, n_rows, n_classes)
    table, slack = real_array(predicted), _slack(np.asarray(predicted).dtype)
    with np.errstate(invalid="ignore"):  # infinities are reported later
        sums = table.sum(axis=1)
    if (np.abs(sums - 1) <= slack).all() and (table >= -slack).all():
        return by_class  # Shares that are not negative and sum to 1 cannot exceed 1.
    finite = np.isfinite(table).all(axis=1)
    outside = table[finite & ((table < -slack) | (table > 1 + slack)).any(axis=1)]
    if len(outside):
        wrong = outside[0][(outside[0] < 0) | (outside[0] > 1)][0]
        raise ValueError(
            f"predict_proba gave {float(wrong):.4g}, and probabilities lie between 0 and 1: use "
            "scoring='zero-one', or 'auc' if they rank"
        )
    off = finite & (np.abs(sums - 1) > slack)
    if off.any():
        warn(
            f"the probabilities of {int(off.sum())} of {n_rows} rows do not sum to 1 (the first to "
            f"{sums[off][0]:.4g}): they are rated as they are.",
            TrueRiskWarning,
        )
    return by_class


def shares(predicted: Any, codes: np.ndarray, n_rows: int, n_classes: int) -> np.ndarray:
    """Return the output of `predict_proba` with a column for each class; unseen classes get 0."""
    table = real_array(predicted)
    refuse_other_rows(len(np.atleast_1d(table)), n_rows)
    if table.shape != (n_rows, len(codes)):
        raise ValueError(
            f"predict_proba gave shape {table.shape} for {n_rows} rows and {len(codes)} classes "
            f"(classes_): it gives a row for each row, a column for each class"
        )
    full = np.zeros((n_rows, n_classes))
    full[:, codes[codes >= 0]] = table[:, codes >= 0]
    return full


def _slack(kind: np.dtype[Any]) -> float:
    """Return how far normalised probabilities of this precision may deviate from a sum of 1."""
    return float(np.sqrt(np.finfo(kind if kind.kind == "f" else np.float64).eps))


def numbers_of(answers: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return the answers in the shape of y; only axes of length one may be added or removed."""
    values = real_array(answers)
    refuse_other_rows(len(values) if values.ndim and len(shape) > 1 else values.size, shape[0])
    if [n for n in values.shape if n > 1] != [n for n in shape if n > 1]:
        raise ValueError(f"the model gave answers of shape {values.shape} for a y of shape {shape}")
    return values.reshape(shape)
