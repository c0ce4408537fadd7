"""Call a fitted model's prediction methods; convert predictions to class codes or numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.arguments import mention, real_array
from truerisk.core.errors import Refusal, TrueRiskWarning, warn
from truerisk.core.family import Family
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.data.rows import take_columns
from truerisk.engines.running.doors import interval_probabilities
from truerisk.plan.answers import class_code_dtype
from truerisk.plan.plan import Plan


@frozen(eq=False)
class RowsToPredict:
    """Rows for which a fitted model has to predict, with their targets and sample weights.

    `test_set` is the number of the test set in the plan. `original_rows` is given if the rows are
    training rows, each of which has to be predicted without itself: `original_rows[i]` is the test
    row of which training row i is a copy.
    """

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    test_set: int = -1
    original_rows: np.ndarray | None = None

    @classmethod
    def from_plan(cls, data: Data, plan: Plan, test_set: int) -> RowsToPredict:
        """Collect the rows of a test set, or points near them if the plan's `Extra` moves rows."""
        rows, _ = plan.test_rows(test_set)
        plan_extra = plan.extra
        original_rows = (
            None if plan_extra is None else plan_extra.positions_in_test_set(plan, test_set)
        )
        X = data.rows(rows)
        if plan_extra is not None:
            X = plan_extra.moved_points(X, test_set, rows)
        return cls(X, data.y[rows], data.weights(rows), test_set, original_rows)

    def with_columns(self, columns: np.ndarray) -> RowsToPredict:
        """Restrict X, a kernel or distance matrix, to the columns that belong to training rows."""
        return replace(self, X=take_columns(self.X, columns))


def collect_test_sets(
    data: Data, plan: Plan, test_sets: np.ndarray, columns: np.ndarray | None
) -> list[RowsToPredict]:
    """Collect the rows of the plan's test sets with these numbers, just before a model predicts."""
    row_sets = [RowsToPredict.from_plan(data, plan, int(test_set)) for test_set in test_sets]
    return (
        row_sets if columns is None else [test_rows.with_columns(columns) for test_rows in row_sets]
    )


def predict_all_rows(model: Any, data: Data, request: Request) -> Any:
    """Return a fitted model's predictions, of the requested kind, for all rows of the data."""
    return predict_rows(model, data, RowsToPredict(data.X, data.y, data.sample_weight), request)


def predict_rows(model: Any, data: Data, test_rows: RowsToPredict, request: Request) -> Any:
    """Return a fitted model's predictions for a test set, or the value of the requested scorer."""
    if request.response == "scored":
        return _scorer_value(model, data, test_rows, request.scorer)
    predictions = _predict_by_response(model, data, test_rows, request)
    refuse_wrong_length(len(predictions), len(test_rows.y))
    return predictions


def _predict_by_response(
    model: Any, data: Data, test_rows: RowsToPredict, request: Request
) -> np.ndarray:
    if request.response == "label":
        return encode_predicted_labels(model.predict(test_rows.X), data)
    if request.response == "value":
        if data.task == "survival":
            return _risks(model, test_rows)
        return reshape_like_y(model.predict(test_rows.X), test_rows.y.shape)
    if request.response == "probability" and data.task == "survival":
        return interval_probabilities(model, test_rows.X, np.array(data.horizons))
    if request.response == "probability":
        return _probabilities(model, data, test_rows)
    return _positive_scores(model, data, test_rows)


def _scorer_value(model: Any, data: Data, test_rows: RowsToPredict, scorer: Any) -> float:
    if test_rows.weights is None:
        return float(scorer(model, test_rows.X, *data.targets(test_rows.y)))
    return float(
        scorer(model, test_rows.X, *data.targets(test_rows.y), sample_weight=test_rows.weights)
    )


def _probabilities(model: Any, data: Data, test_rows: RowsToPredict) -> np.ndarray:
    """Return class probabilities with a column for each class of y.

    A class that the model never saw has probability 0.
    """
    if not hasattr(model, "predict_proba"):
        raise Refusal(
            f"{_learner_name(model)} gives no probabilities, which log, brier and other losses and "
            f"scores of probabilities need: leave them out ({mention('scoring', 'zero-one')}), use "
            "a model with predict_proba, or CalibratedClassifierCV around this one."
        )
    return check_probabilities(*_proba_arguments(model, data, test_rows))


def _risks(model: Any, test_rows: RowsToPredict) -> np.ndarray:
    """Return a survival model's risk scores; if it predicts survival times, return them negated."""
    risks = reshape_like_y(model.predict(test_rows.X), test_rows.y.shape[:1])
    learner = Family(getattr(model, "best_estimator_", model)).last
    return risks if getattr(learner, "_predict_risk_score", True) else -risks


def _proba_arguments(
    model: Any, data: Data, test_rows: RowsToPredict
) -> tuple[Any, np.ndarray, int, int]:
    """Return the arguments of `check_probabilities` for a model and its test rows.

    They are the `predict_proba` output, the class codes of its columns, and the numbers of rows and
    classes.
    """
    if not hasattr(model, "classes_"):
        raise ValueError(
            "the model has predict_proba and no classes_, so that the class of each column is not "
            "known: set classes_ in fit"
        )
    class_codes = encode_classes(model.classes_, data)
    return model.predict_proba(test_rows.X), class_codes, len(test_rows.y), data.n_classes


def _learner_name(model: Any) -> str:
    """Return the class name of the learner, which is the last step of a pipeline."""
    return Family(model).name


def _positive_scores(model: Any, data: Data, test_rows: RowsToPredict) -> np.ndarray:
    """Return decision values for the second class, or its probabilities as a substitute."""
    if data.n_classes != 2:
        raise Refusal(
            f"this loss ranks rows by one score, and y has {data.n_classes} classes: use "
            f"{mention('scoring', 'log')} or 'brier'."
        )
    if hasattr(model, "decision_function"):
        scores = real_array(model.decision_function(test_rows.X)).ravel()
        return -scores if _has_reversed_classes(model, data) else scores
    if hasattr(model, "predict_proba"):
        return expand_to_all_classes(*_proba_arguments(model, data, test_rows))[:, 1]
    raise Refusal(
        f"{_learner_name(model)} gives neither decision values nor probabilities: loss 'auc' has "
        f"nothing to rank by; use {mention('scoring', 'zero-one')}."
    )


def _has_reversed_classes(model: Any, data: Data) -> bool:
    """Return True if high decision values mean the first class of y, not the second."""
    classes = getattr(model, "classes_", None)
    return classes is not None and encode_classes(classes, data).tolist() == [1, 0]


LABEL_KINDS = {"U": "texts", "S": "bytes", **dict.fromkeys("biuf", "numbers")}
"""Map NumPy's dtype kinds to the kind of label; object arrays may hold labels of any kind."""


def refuse_wrong_length(n_predictions: int, n_rows: int) -> None:
    """Raise ValueError unless there is one prediction per row.

    Without this check NumPy would broadcast a single prediction to all rows.
    """
    if n_predictions != n_rows:
        raise ValueError(f"the model gave {n_predictions} answers for {n_rows} rows")


def encode_predicted_labels(labels: Any, data: Data) -> np.ndarray:
    """Return the class codes of predicted labels.

    A label that is not in y gets code −1 and a warning. Raise ValueError if a label is of another
    kind than those of y (a string where y holds numbers, a fraction, None).
    """
    labels = np.asarray(labels).ravel()
    # np.searchsorted cannot compare NumPy's variable-width strings with labels of other types.
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    class_codes = _find_codes(labels, data)
    unknown_labels = labels[class_codes < 0].tolist()
    if unknown_labels:
        quoted_labels = _quote_labels(data)
        first_unknown_label = escape_and_truncate(repr(unknown_labels[0]), 40)
        if not all(_are_same_kind(label, data.label(0)) for label in unknown_labels):
            raise ValueError(
                f"the model predicted {first_unknown_label}, which is no label as y has them "
                f"({quoted_labels}): let it predict the labels that it is fitted on"
            )
        warn(
            f"the model predicted labels that y does not hold ({quoted_labels}), the first "
            f"{first_unknown_label}, for {len(unknown_labels)} of {len(labels)} rows: each counts "
            "as "
            "wrong.",
            TrueRiskWarning,
        )
    return class_codes


def _find_codes(labels: np.ndarray, data: Data) -> np.ndarray:
    label_kinds = {
        LABEL_KINDS.get(array.dtype.kind, "") for array in (labels, data.class_labels)
    } - {""}
    # Strings are never compared with numbers, because older releases of NumPy warn of it.
    if len(label_kinds) > 1:
        return np.full(len(labels), -1, dtype=class_code_dtype(data.n_classes))
    try:
        class_positions = np.minimum(np.searchsorted(data.class_labels, labels), data.n_classes - 1)
    except TypeError:  # The predicted labels cannot be ordered among the labels of y.
        return np.full(len(labels), -1, dtype=class_code_dtype(data.n_classes))
    is_known_label = data.class_labels[class_positions] == labels
    return np.where(is_known_label, class_positions, -1).astype(class_code_dtype(data.n_classes))


def _are_same_kind(label: Any, known_label: Any) -> bool:
    """Return True if both labels are strings, or both are whole numbers or booleans."""
    if isinstance(known_label, int | float):
        return isinstance(label, int | float) and math.isfinite(label) and label == int(label)
    return isinstance(label, type(known_label))


def _quote_labels(data: Data) -> str:
    labels = [repr(data.label(class_code)) for class_code in range(min(data.n_classes, 3))]
    return escape_and_truncate(", ".join(labels) + (", ..." if data.n_classes > 3 else ""), 60)


def encode_classes(classes: Any, data: Data) -> np.ndarray:
    """Return the class codes of the labels in a model's `classes_`.

    A label that y does not hold gets code −1. Raise ValueError if y holds none of the
    model's classes.
    """
    labels = np.asarray(classes).ravel()
    class_codes = _find_codes(labels, data)
    if len(labels) and (class_codes < 0).all():
        raise ValueError(
            f"the model says that its classes are "
            f"{escape_and_truncate(repr(labels.tolist()), 60)}, and y holds "
            f"{_quote_labels(data)}: let classes_ hold the labels that it is fitted on"
        )
    return class_codes


def check_probabilities(
    raw_probabilities: Any, class_codes: np.ndarray, n_rows: int, n_classes: int
) -> np.ndarray:
    """Check the `predict_proba` output, and return it with a column for each class of y.

    Raise ValueError for numbers outside [0, 1]. Warn of rows that do not sum to 1.
    """
    probabilities_by_class = expand_to_all_classes(
        raw_probabilities, class_codes, n_rows, n_classes
    )
    raw_table, tolerance = (
        real_array(raw_probabilities),
        _sum_tolerance(np.asarray(raw_probabilities).dtype),
    )
    with np.errstate(invalid="ignore"):  # Infinite predictions are reported later.
        row_sums = raw_table.sum(axis=1)
    if (np.abs(row_sums - 1) <= tolerance).all() and (raw_table >= -tolerance).all():
        return probabilities_by_class  # Nonnegative numbers that sum to 1 cannot exceed 1.
    is_finite = np.isfinite(raw_table).all(axis=1)
    rows_outside = raw_table[
        is_finite & ((raw_table < -tolerance) | (raw_table > 1 + tolerance)).any(axis=1)
    ]
    if len(rows_outside):
        wrong_probability = rows_outside[0][(rows_outside[0] < 0) | (rows_outside[0] > 1)][0]
        raise ValueError(
            f"predict_proba gave {float(wrong_probability):.4g}, and probabilities lie between 0 "
            "and 1: use scoring='zero-one', or 'auc' if they rank"
        )
    has_wrong_sum = is_finite & (np.abs(row_sums - 1) > tolerance)
    if has_wrong_sum.any():
        warn(
            f"the probabilities of {int(has_wrong_sum.sum())} of {n_rows} rows do not sum to 1 "
            f"(the first to {row_sums[has_wrong_sum][0]:.4g}): they are rated as they are.",
            TrueRiskWarning,
        )
    return probabilities_by_class


def expand_to_all_classes(
    raw_probabilities: Any, class_codes: np.ndarray, n_rows: int, n_classes: int
) -> np.ndarray:
    """Return the `predict_proba` output with a column for each class of y.

    Classes that the model has not seen get probability 0.
    """
    raw_table = real_array(raw_probabilities)
    refuse_wrong_length(len(np.atleast_1d(raw_table)), n_rows)
    if raw_table.shape != (n_rows, len(class_codes)):
        raise ValueError(
            f"predict_proba gave shape {raw_table.shape} for {n_rows} rows and {len(class_codes)} "
            f"classes (classes_): it gives a row for each row, a column for each class"
        )
    full_table = np.zeros((n_rows, n_classes))
    full_table[:, class_codes[class_codes >= 0]] = raw_table[:, class_codes >= 0]
    return full_table


def _sum_tolerance(dtype: np.dtype[Any]) -> float:
    """Return how far the sum of a row's probabilities, of this dtype, may differ from 1."""
    return float(np.sqrt(np.finfo(dtype if dtype.kind == "f" else np.float64).eps))


def reshape_like_y(predictions: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return predictions in the shape of y; only axes of length one may be added or removed.

    Raise ValueError if the number of predictions, or their shape, differs from that of y.
    """
    values = real_array(predictions)
    refuse_wrong_length(len(values) if values.ndim and len(shape) > 1 else values.size, shape[0])
    if [n for n in values.shape if n > 1] != [n for n in shape if n > 1]:
        raise ValueError(f"the model gave answers of shape {values.shape} for a y of shape {shape}")
    return values.reshape(shape)
