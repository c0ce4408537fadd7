"""The data of one problem: rows, labels, groups and weights, checked once at the door."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import BadData
from truerisk.core.table.columns import is_missing, non_finite
from truerisk.core.table.marks import row_marks
from truerisk.core.table.rows import RowSums, digest, n_rows, row_keys, sums_of, take_rows

__all__ = ["Data", "Task", "non_finite"]

Task = Literal["classification", "regression", "other"]


@dataclass(frozen=True, eq=False)
class Data:
    """X and y as given, y also as small integer codes, and what travels with the rows.

    `codes[i]` is the position of `y[i]` in the sorted `classes`; both are None for regression.
    Where the task is neither, only a scorer looks at y, so it may be anything; a y without columns
    is none at all.
    `fit_params` go to every fit, those with one entry per row cut to the rows of that fit.
    `row_ids` are the row numbers in the data these rows were cut from (None: uncut).
    """

    X: Any
    y: np.ndarray
    task: Task
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None
    groups: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    row_ids: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def fingerprint(self) -> str:
        return digest(self.X, self.y, self.groups, self.sample_weight, sums=self._row_sums)

    @cached_property
    def row_keys(self) -> np.ndarray | None:
        """One integer per row of X, equal exactly for rows of equal content."""
        return row_keys(self.X, self._row_sums)

    @cached_property
    def row_marks(self) -> np.ndarray:
        """One number per row by what it holds, whatever the order of rows, columns and classes."""
        return row_marks(self.X, self.codes, self.y if self.codes is None else None)

    @cached_property
    def _row_sums(self) -> RowSums | None:
        return sums_of(self.X)

    @cached_property
    def non_finite(self) -> str | None:
        """A sentence on the first NaN or infinite cell of X, or None."""
        seen = self._row_sums  # which the fingerprint takes in any case
        return None if seen is not None and seen.finite else non_finite(self.X)

    @classmethod
    def check(
        cls,
        X: Any,
        y: Any,
        *,
        task: Task,
        groups: Any = None,
        sample_weight: Any = None,
        fit_params: Mapping[str, Any] | None = None,
    ) -> Data:
        """Data from what a user gave, or a sentence on what is wrong with it."""
        X = _table(X)
        n = n_rows(X)
        target = _target(y, n) if task != "other" else _anything(y, n)
        classes = codes = None
        if task == "classification":
            classes, codes = _classes(target)
        elif task == "regression":
            target = _numbers(target)
        return cls(
            X=X,
            y=target,
            task=task,
            classes=classes,
            codes=codes,
            groups=_groups(groups, n),
            sample_weight=_weights(sample_weight, n),
            fit_params=dict(fit_params or {}),
        )

    def targets(self, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Some entries of y as a model is given them: not at all where there is no target."""
        return () if self.task == "other" and y.shape[1:] == (0,) else (y,)

    @property
    def class_labels(self) -> np.ndarray:
        """`classes` where there are some: only classification has them."""
        assert self.classes is not None
        return self.classes

    @property
    def class_codes(self) -> np.ndarray:
        """`codes` where there are some: only classification has them."""
        assert self.codes is not None
        return self.codes

    def label(self, code: int) -> Any:
        """The class with this code, as plain Python shows it."""
        return _shown(self.class_labels[code])

    def codes_of(self, rows: np.ndarray) -> np.ndarray:
        """Class codes of these rows; only classification has them."""
        return self.class_codes[rows]

    def rows(self, rows: np.ndarray) -> Any:
        return take_rows(self.X, rows)

    def weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.sample_weight is None else self.sample_weight[rows]

    def fitted_with(self, fit_params: Mapping[str, Any]) -> Data:
        """The same rows for fits that take these parameters; what is counted of rows is shared."""
        if not fit_params and not self.fit_params:
            return self
        other = replace(self, fit_params=dict(fit_params))
        for counted in ("_row_sums", "fingerprint", "row_keys"):
            vars(other)[counted] = getattr(self, counted)
        return other

    def subset(self, rows: np.ndarray) -> Data:
        """These rows as a problem of their own; the classes keep their codes."""
        cut = {
            name: take_rows(value, rows) if has_row_entries(value, self.n_rows) else value
            for name, value in self.fit_params.items()
        }
        return Data(
            X=self.rows(rows),
            y=self.y[rows],
            task=self.task,
            classes=self.classes,
            codes=None if self.codes is None else self.codes[rows],
            groups=None if self.groups is None else self.groups[rows],
            sample_weight=self.weights(rows),
            fit_params=cut,
            row_ids=rows if self.row_ids is None else self.row_ids[rows],
        )


def has_row_entries(value: Any, n: int) -> bool:
    """Whether a fit parameter holds one entry per row (and is cut with the rows)."""
    if value is None or isinstance(value, str | bytes | Mapping):
        return False
    return (hasattr(value, "shape") or isinstance(value, list | tuple)) and _length(value) == n


def _length(value: Any) -> int | None:
    try:
        return n_rows(value)
    except (BadData, TypeError):
        return None


def _table(X: Any) -> Any:
    """X in a form whose rows can be taken."""
    if isinstance(X, str | bytes):
        raise BadData(
            f"X={shown(X)} is a text, not a table: read the file first, such as by "
            "tr.datasets.read_table(path, target)."
        )
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    elif not hasattr(X, "shape"):
        X = np.asarray(X) if hasattr(X, "__array__") else _listed(X)
    if n_rows(X) == 0:
        raise BadData("X has no rows: there is nothing to learn from.")
    if len(X.shape) == 1 and getattr(getattr(X, "dtype", None), "kind", "O") in "biufc":
        raise BadData(
            "X has one dimension (expected 2D array): Reshape your data, X.reshape(-1, 1) "
            "for a single feature."
        )
    return X


def _listed(X: Any) -> np.ndarray:
    """An array of a list of rows; a list of texts stays one text per row."""
    n_rows(X)
    if len({len(row) if hasattr(row, "__len__") else -1 for row in X if not _is_text(row)}) > 1:
        raise BadData(
            "X is a list of rows that are not equally long: give every row the same number of "
            "cells, or use a frame."
        )
    return np.asarray(X, dtype=object if _has_text(X) else None)


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes)


def _has_text(X: Any) -> bool:
    rows = (row if isinstance(row, list | tuple) else [row] for row in X)
    return any(isinstance(cell, str) for row in rows for cell in row)


def _shown(value: Any) -> Any:
    """A numpy scalar as plain Python prints it."""
    return value.item() if isinstance(value, np.generic) else value


def _target(y: Any, n: int) -> np.ndarray:
    if y is None:
        raise BadData("requires y to be passed, but the target y is None: a risk compares with y.")
    target = np.asarray(y, dtype=object if _mixes_text(y) else None)
    if target.ndim == 2 and target.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; its one column is used.",
            DataConversionWarning,
            stacklevel=5,
        )
        target = target.ravel()
    if target.ndim not in (1, 2):
        raise BadData(f"y has {target.ndim} dimensions; give one value per row.")
    if len(target) != n:
        raise BadData(f"X has {n} rows and y has {len(target)}: they must be equally long.")
    if target.dtype.kind in "mM":
        raise BadData(
            "Unknown label type: y holds dates or spans of time, which are neither classes nor "
            "numbers: turn them into numbers, such as days, or into classes."
        )
    _refuse_missing(target)
    return target


def _anything(y: Any, n: int) -> np.ndarray:
    """A target that nobody compares with predictions; without one, a table without columns."""
    target = np.empty((n, 0)) if y is None else np.asarray(y)
    if target.shape[:1] != (n,):
        raise BadData(f"X has {n} rows and y has {len(target)}: they must be equally long.")
    return target


def _mixes_text(y: Any) -> bool:
    """Whether a list holds text and something else, which numpy would turn into text silently."""
    return isinstance(y, list | tuple) and len({isinstance(v, str) for v in y}) == 2


def _refuse_missing(target: np.ndarray) -> None:
    if target.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(target).reshape(len(target), -1).all(axis=1))
    elif target.dtype.hasobject:
        flat = target.reshape(len(target), -1)
        bad = np.flatnonzero([any(_missing(v) for v in row) for row in flat.tolist()])
    else:
        return
    if len(bad):
        raise BadData(
            f"y is missing or not finite (NaN, inf) in {len(bad)} of {len(target)} rows, "
            f"first in row {bad[0]}: leave these rows out."
        )


def _missing(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, float) and not np.isfinite(value))


def _classes(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if target.ndim == 2:
        raise BadData(
            "y has several columns: multi-label targets are not covered; assess one at a time."
        )
    if target.dtype.kind == "f" and not np.array_equal(target, np.floor(target)):
        raise BadData(
            "Unknown label type: y holds fractions, which a classifier cannot learn; "
            "use a regressor or turn y into classes."
        )
    try:
        classes, codes = _sorted_classes(target)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in target.tolist()})
        raise BadData(
            f"Unknown label type: y mixes {' and '.join(kinds)}; use one type for all labels."
        ) from None
    if len(classes) == 1:
        raise BadData(
            f"y has only one class, {_shown(classes[0])!r}: every classifier is right; "
            "there is no risk to estimate. Check the target column."
        )
    return classes, codes.astype(np.int64, copy=False)


def _sorted_classes(target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels ascending, and where each label stands among them."""
    if target.dtype.kind in "iu" and target.dtype != np.uint64 and len(target):
        wide = target.astype(np.int64, copy=False)
        least = int(wide.min())
        if int(wide.max()) - least < len(target):  # small whole numbers are counted, not sorted
            shifted = wide - least
            there = np.bincount(shifted) > 0
            classes = (np.flatnonzero(there) + least).astype(target.dtype)
            return classes, shifted if there.all() else (np.cumsum(there) - 1)[shifted]
    classes, codes = np.unique(target, return_inverse=True)
    return classes, codes


def _numbers(target: np.ndarray) -> np.ndarray:
    if target.dtype.kind == "c":
        raise BadData("Complex data not supported: y holds complex numbers; use their real parts.")
    try:
        return target.astype(np.float64)
    except (TypeError, ValueError):
        first = next(i for i, v in enumerate(target.ravel().tolist()) if not _is_number(v))
        raise BadData(
            f"y[{first}] is {_shown(target.ravel()[first])!r}, not a number: "
            "a regressor needs numbers; use a classifier for labels."
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _groups(groups: Any, n: int) -> np.ndarray | None:
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise BadData(
            f"groups has shape {labels.shape}; give one group label for each of {n} rows."
        )
    try:
        distinct, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise BadData(
            "groups mixes types or misses labels: give one label of one type for each row."
        ) from None
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise BadData(
            f"groups is NaN, first in row {np.flatnonzero(np.isnan(labels))[0]}: rows without a "
            "group belong nowhere; name their group or leave them out."
        )
    if len(distinct) < 2:
        raise BadData("groups has one group only: no split can keep it on one side.")
    return codes.astype(np.int64)


def _weights(weights: Any, n: int) -> np.ndarray | None:
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n,):
        raise BadData(
            f"sample_weight has shape {values.shape}; give one weight for each of {n} rows."
        )
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if len(bad):
        raise BadData(
            f"sample_weight[{bad[0]}] is {values[bad[0]]}: weights must be finite and not negative."
        )
    if not values.any():
        raise BadData("sample_weight is zero everywhere: no row counts.")
    return values
