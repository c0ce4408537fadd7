"""Check y and the groups, encode classes as integers, and record the type in which y was given."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import as_array, repr_on_one_line, to_row_array
from truerisk.core.errors import BadData, warn
from truerisk.data.rows import is_missing

TargetForm = tuple[np.dtype[Any], bool]
"""Type of y as the user passed it, and True if y was a matrix with one column."""

MAX_INTEGER_CLASSES = 10
"""An integer target with at most this number of distinct values is treated as class labels."""

ADVICE_ONE_VALUE_PER_ROW = "give one value per row"


def to_python_scalar(value: Any) -> Any:
    """Convert a NumPy scalar to a plain Python value; return any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def find_target_form(y: Any, target: np.ndarray) -> TargetForm | None:
    """Return the form in which the user gave y, or None if y was not converted.

    The form is the type of the user's y, and True if y was given as one column. The type is that of
    the user's y only if converting back restores y exactly. pandas types with missing values become
    double precision, as in scikit-learn.
    """
    given_array = np.asarray(y)
    # A NumPy array with named fields holds pairs of an event indicator and a time.
    if given_array.dtype.names:
        return given_array.dtype, False
    is_column = given_array.ndim == target.ndim + 1
    can_keep_type = given_array.dtype.kind in "biuf" and not hasattr(
        getattr(y, "dtype", None), "na_value"
    )
    candidate_dtype = given_array.dtype if can_keep_type else target.dtype
    if not is_column and candidate_dtype == target.dtype:
        return None
    is_restored = np.array_equal(given_array.reshape(target.shape), target.astype(candidate_dtype))
    return (candidate_dtype if is_restored else target.dtype), is_column


def check_not_swapped(X: Any, y: Any) -> None:
    """Raise BadData if X and y are obviously swapped: X is one column and y has several.

    Texts in X may be documents, one per row, with several numbers as their target. They are
    taken for a target only if at most half of them are distinct.
    """
    shape = getattr(y, "shape", None) if not isinstance(y, list | tuple) else np.shape(y[:1])
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] < 2:
        return
    try:
        values = np.asarray(X) if not hasattr(X, "tocsr") else np.empty((0, 0))
    except Exception:  # noqa: BLE001  X is refused elsewhere
        return
    n, p = len(y) if isinstance(y, list | tuple) else shape[0], shape[1]
    if values.ndim != 1 or len(values) != n:
        return
    is_text = values.dtype.kind in "OUS" and any(isinstance(value, str) for value in values)
    if is_text and 2 * len(set(values.tolist())) > n:
        return
    raise BadData(
        f"X and y look swapped: X is one value for each of {n} rows, and y has {p} columns. Give "
        "the table first and the target second."
    )


def checked_target(y: Any, n: int, allows_column: bool = False) -> np.ndarray:
    """Check that y has one or several values for each of n rows, and that none is missing.

    A y with one column causes a warning and is flattened; `allows_column` suppresses the warning.
    """
    if y is None:
        raise BadData("requires y to be passed, but the target y is None: a risk compares with y.")
    # NumPy would silently convert a list of text and other values to text.
    mixes_text = isinstance(y, list | tuple) and len({isinstance(value, str) for value in y}) == 2
    target = (
        np.array(y, dtype=object) if mixes_text else to_row_array("y", y, ADVICE_ONE_VALUE_PER_ROW)
    )
    if target.dtype.names:
        raise BadData(
            "y holds pairs of an event and a time, which models of survival take: give one, with "
            "predict_survival_function, or classes or numbers as y."
        )
    if target.ndim == 2 and target.shape[1] == 1:
        if not allows_column:
            _warn_about_column()
        target = target.ravel()
    if target.ndim not in (1, 2):
        raise BadData(f"y has {target.ndim} dimensions; {ADVICE_ONE_VALUE_PER_ROW}.")
    if target.shape[1:] == (0,):
        raise BadData(f"y has no columns: {ADVICE_ONE_VALUE_PER_ROW}.")
    if len(target) != n:
        raise BadData(f"X has {n} rows and y has {len(target)}: they must be equally long.")
    if target.dtype.kind in "mM":
        raise BadData(
            "Unknown label type: y holds dates or spans of time, which are neither classes nor "
            "numbers: turn them into numbers, such as days, or into classes."
        )
    if target.dtype.kind == "c":
        raise BadData("Complex data not supported: y holds complex numbers; use their real parts.")
    if target.dtype.kind == "f":
        bad_rows = np.flatnonzero(~np.isfinite(target).reshape(n, -1).all(axis=1))
    elif target.dtype.hasobject:
        rows_of_values = target.reshape(n, -1)
        bad_rows = np.flatnonzero(
            [
                any(_is_missing_or_infinite(value) for value in row)
                for row in rows_of_values.tolist()
            ]
        )
    else:
        return target
    if len(bad_rows):
        raise BadData(
            f"y is missing or not finite (NaN, inf) in {len(bad_rows)} of {n} rows, "
            f"first in row {bad_rows[0]}: leave these rows out."
        )
    return target


def _warn_about_column() -> None:
    from sklearn.exceptions import DataConversionWarning

    warn(
        "A column-vector y was passed when a 1d array was expected; its one column is used.",
        DataConversionWarning,
    )


def check_target_length(y: Any, n: int) -> np.ndarray:
    """Check the length of a target of any kind, which the scorer alone reads.

    If y is None, return an array without columns.
    """
    target = np.empty((n, 0)) if y is None else to_row_array("y", y, ADVICE_ONE_VALUE_PER_ROW)
    if target.shape[:1] != (n,):
        raise BadData(f"X has {n} rows and y has {len(target)}: they must be equally long.")
    return target


def _is_missing_or_infinite(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, float) and not np.isfinite(value))


def encode_classes(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct classes in ascending order, and the class code of each row."""
    if target.ndim == 2:
        raise BadData(
            "y has several columns: multi-label targets are not covered; assess one at a time."
        )
    if target.dtype.kind == "f" and not np.array_equal(target, np.floor(target)):
        raise BadData(
            "Unknown label type: y holds fractions, which a classifier cannot learn; "
            "use a regressor or turn y into classes."
        )
    if target.dtype.hasobject or target.dtype.kind == "S":
        _refuse_objects(target)
    integers = target.astype(np.int64) if np.can_cast(target.dtype, np.int64) else None
    if integers is not None and int(integers.max()) - int(integers.min()) < len(integers):
        # If integers lie in a small range, counting them is quicker than sorting.
        codes = integers - integers.min()
        is_present = np.bincount(codes) > 0
        classes = (np.flatnonzero(is_present) + integers.min()).astype(target.dtype)
        codes = codes if is_present.all() else (np.cumsum(is_present) - 1)[codes]
    else:
        classes, codes = np.unique(target, return_inverse=True)
    if len(classes) == 1:
        raise BadData(
            f"y has only one class, {to_python_scalar(classes[0])!r}: every classifier is right; "
            "there is no risk to estimate. Check the target column."
        )
    return classes, codes.astype(np.int64, copy=False)


def _refuse_objects(target: np.ndarray) -> None:
    """Refuse objects other than text, because scikit-learn does not accept them as classes."""
    value_types = {type(value) for value in target.tolist()}
    names = sorted(
        {
            "str" if issubclass(value_type, str) else value_type.__name__
            for value_type in value_types
        }
    )
    if len(names) > 1:
        raise BadData(
            f"Unknown label type: y mixes {' and '.join(names)}; use one type for all labels."
        )
    if names != ["str"]:
        raise BadData(
            f"Unknown label type: y holds objects of type {names[0]}, which scikit-learn takes for "
            "no classes: turn them into text, such as y.astype(str), or into integers of 64 bits."
        )


def to_float_target(target: np.ndarray) -> np.ndarray:
    """Convert targets to double precision; raise BadData with the first value that is no number."""
    try:
        return as_array(target, np.float64)
    except ValueError:
        first_bad_row = next(
            i for i, value in enumerate(target.ravel().tolist()) if not _is_number(value)
        )
        raise BadData(
            f"y[{first_bad_row}] is "
            f"{repr_on_one_line(to_python_scalar(target.ravel()[first_bad_row]))}, "
            "not a number: a regressor needs numbers; use a classifier for labels."
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def checked_groups(groups: Any, n: int) -> np.ndarray:
    """Check the groups and return an integer group code for each row."""
    labels = to_row_array("groups", groups, "give every row one label")
    if labels.shape != (n,):
        raise BadData(
            f"groups has shape {labels.shape}; give one group label for each of {n} rows."
        )
    try:
        distinct_groups, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise BadData(
            "groups mixes types or misses labels: give one label of one type for each row."
        ) from None
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise BadData(
            f"groups is NaN, first in row {np.flatnonzero(np.isnan(labels))[0]}: rows without a "
            "group belong nowhere; name their group or leave them out."
        )
    if len(distinct_groups) < 2:
        raise BadData("groups has one group only: no split can keep it on one side.")
    return codes.astype(np.int64)
