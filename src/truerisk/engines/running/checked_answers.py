"""What a model's answers must be: one for each row, of the labels of y, probabilities, numbers.

A model of other people may answer anything. What cannot be an answer is said in a sentence, never
counted as a wrong one; what can be one, and is strange, is counted and said.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truerisk.core.answers import code_type
from truerisk.core.errors import TrueRiskWarning
from truerisk.core.present import clean
from truerisk.core.table.data import Data
from truerisk.core.warned import warn

__all__ = [
    "coded",
    "codes_of_classes",
    "numbers_of",
    "probabilities",
    "refuse_other_rows",
    "shares",
]

KINDS = {"U": "texts", "S": "bytes", **dict.fromkeys("biuf", "numbers")}
"""What arrays of these types hold; others (objects) may hold anything."""


def refuse_other_rows(n_answers: int, n_rows: int) -> None:
    """One answer would silently serve for all rows."""
    if n_answers != n_rows:
        raise ValueError(f"the model gave {n_answers} answers for {n_rows} rows")


def coded(labels: Any, data: Data) -> np.ndarray:
    """Codes of predicted labels; −1 for a label that y does not hold, of which is warned.

    A label of another kind than those of y (a text where y holds numbers, a fraction, None) is no
    answer.
    """
    labels = np.asarray(labels).ravel()
    if labels.dtype.kind == "T":  # texts of any length, which NumPy looks up among no others
        labels = labels.astype(object)
    codes = _codes(labels, data)
    strange = labels[codes < 0].tolist()
    if strange:
        known = _shown(data)
        first = clean(repr(strange[0]), 40)
        if not all(_are_of_one_kind(label, data.label(0)) for label in strange):
            raise ValueError(
                f"the model predicted {first}, which is no label as y has them ({known}): let it "
                "predict the labels that it is fitted on"
            )
        warn(
            f"the model predicted labels that y does not hold ({known}), the first {first}, for "
            f"{len(strange)} of {len(labels)} rows: each counts as wrong.",
            TrueRiskWarning,
        )
    return codes


def _codes(labels: np.ndarray, data: Data) -> np.ndarray:
    kinds = {KINDS.get(one.dtype.kind, "") for one in (labels, data.class_labels)} - {""}
    if len(kinds) > 1:  # older releases of NumPy do not compare them, and warn of it
        return np.full(len(labels), -1, dtype=code_type(data.n_classes))
    try:
        at = np.minimum(np.searchsorted(data.class_labels, labels), data.n_classes - 1)
    except TypeError:  # labels that have no order among those of y
        return np.full(len(labels), -1, dtype=code_type(data.n_classes))
    known = data.class_labels[at] == labels
    return np.where(known, at, -1).astype(code_type(data.n_classes))


def _are_of_one_kind(label: Any, known: Any) -> bool:
    """Whether both are texts, or both whole numbers, of which a truth value is one."""
    if isinstance(known, int | float):
        return isinstance(label, int | float) and math.isfinite(label) and label == int(label)
    return isinstance(label, type(known))


def _shown(data: Data) -> str:
    labels = [repr(data.label(code)) for code in range(min(data.n_classes, 3))]
    return clean(", ".join(labels) + (", ..." if data.n_classes > 3 else ""), 60)


def codes_of_classes(classes: Any, data: Data) -> np.ndarray:
    """Codes of the classes that a model knows, −1 for one that y does not hold."""
    labels = np.asarray(classes).ravel()
    codes = _codes(labels, data)
    if len(labels) and (codes < 0).all():
        raise ValueError(
            f"the model says that its classes are {clean(repr(labels.tolist()), 60)}, and y holds "
            f"{_shown(data)}: let classes_ hold the labels that it is fitted on"
        )
    return codes


def probabilities(said: Any, codes: np.ndarray, n_rows: int, n_classes: int) -> np.ndarray:
    """Probabilities of all classes, from those of the classes that a model knows."""
    found = shares(said, codes, n_rows, n_classes)
    given, slack = np.asarray(said, dtype=np.float64), _slack(np.asarray(said).dtype)
    with np.errstate(invalid="ignore"):  # infinities, which are told of later
        sums = given.sum(axis=1)
    if (np.abs(sums - 1) <= slack).all() and (given >= -slack).all():
        return found  # of shares that are not negative and sum to 1 none is greater
    finite = np.isfinite(given).all(axis=1)
    outside = given[finite & ((given < -slack) | (given > 1 + slack)).any(axis=1)]
    if len(outside):
        wrong = outside[0][(outside[0] < 0) | (outside[0] > 1)][0]
        raise ValueError(
            f"predict_proba gave {float(wrong):.4g}, and probabilities lie between 0 and 1: use "
            "loss='zero-one', or 'auc' if they rank"
        )
    off = finite & (np.abs(sums - 1) > slack)
    if off.any():
        warn(
            f"the probabilities of {int(off.sum())} of {n_rows} rows do not sum to 1 (the first to "
            f"{sums[off][0]:.4g}): they are rated as they are.",
            TrueRiskWarning,
        )
    return found


def shares(said: Any, codes: np.ndarray, n_rows: int, n_classes: int) -> np.ndarray:
    """What `predict_proba` gave, with a column for each of all classes; 0 for one never seen."""
    given = np.asarray(said, dtype=np.float64)
    refuse_other_rows(len(np.atleast_1d(given)), n_rows)
    if given.shape != (n_rows, len(codes)):
        raise ValueError(
            f"predict_proba gave shape {given.shape} for {n_rows} rows and {len(codes)} classes "
            f"(classes_): it gives a row for each row, a column for each class"
        )
    full = np.zeros((n_rows, n_classes))
    full[:, codes[codes >= 0]] = given[:, codes >= 0]
    return full


def _slack(kind: np.dtype[Any]) -> float:
    """How far numbers of this precision may be from 1 when they are normalised."""
    return float(np.sqrt(np.finfo(kind if kind.kind == "f" else np.float64).eps))


def numbers_of(answers: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers in the shape of y: axes of one entry may be more or fewer, others not another."""
    values = np.asarray(answers, dtype=np.float64)
    refuse_other_rows(len(values) if values.ndim and len(shape) > 1 else values.size, shape[0])
    if [n for n in values.shape if n > 1] != [n for n in shape if n > 1]:
        raise ValueError(f"the model gave answers of shape {values.shape} for a y of shape {shape}")
    return values.reshape(shape)
