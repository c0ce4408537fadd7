"""Check columns: for one that predicts y by itself, and for preprocessing before the folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.data.columns import kinds_of_columns
from truerisk.data.data import Data
from truerisk.data.rows import codes_of_cells, column_arrays, column_names, n_columns, n_rows
from truerisk.results.finding import Finding

LARGEST = 20_000_000  # largest number of cells that are searched


@frozen(eq=False)
class ColumnView:
    """Columns of a table: the numeric ones as one matrix, and all as codes of their values."""

    numbers: np.ndarray
    numbered: tuple[str, ...]
    coded: tuple[np.ndarray, ...]
    names: tuple[str, ...]
    named: bool


def columns_of(X: Any) -> ColumnView | None:
    """Return the columns of any table, or None if it is too large or no table."""
    width = n_columns(X)
    if not width or n_rows(X) * width > LARGEST:
        return None
    names = column_names(X)
    if hasattr(X, "toarray"):
        X = X.toarray()
    arrays = list(np.asarray(X).T) if names is None else column_arrays(X)
    shown = [clean(name, 60) for name in names or (f"column {j}" for j in range(len(arrays)))]
    numbers = {
        name: values
        for name, array in zip(shown, arrays, strict=True)
        if (values := _floats(array)) is not None
    }
    return ColumnView(
        numbers=np.column_stack(list(numbers.values())) if numbers else np.empty((n_rows(X), 0)),
        numbered=tuple(numbers),
        coded=tuple(codes_of_cells(array) for array in arrays),
        names=tuple(shown),
        named=names is not None,
    )


def _floats(array: np.ndarray) -> np.ndarray | None:
    """Return the values as floats if they are finite and vary, or None."""
    try:
        values = as_array(array, np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() and values.min() < values.max() else None


def column_findings(data: Data, columns: ColumnView | None) -> list[Finding]:
    """Return the findings about columns; if the table cannot be searched, a finding says so."""
    if columns is None:
        return [
            Finding(
                "columns-unseen",
                f"The columns were not looked through: X has more than {LARGEST:,} cells, or none.",
                "Audit a part of the rows and columns for leaks.",
            )
        ]
    return [
        *telling_columns(data, columns),
        *unrepeated_columns(data, columns),
        *_scaled(columns),
        *_rotated(columns),
        *_imputed(columns),
    ]


# ---------------------------------------------------------------- a column that predicts alone


def telling_columns(data: Data, columns: ColumnView) -> Iterator[Finding]:
    """Yield a finding for columns that determine y exactly or almost exactly."""
    telling = _telling_classes(data, columns) if data.codes is not None else _lines(data, columns)
    if telling:
        yield Finding(
            "column-predicts-alone",
            f"{_listed(telling)} by itself predicts y (almost) without error.",
            "Is it known when the prediction is made? If it is y in disguise, drop it.",
        )


def _telling_classes(data: Data, columns: ColumnView) -> list[str]:
    """Find columns that, when sorted, separate the classes, or whose values determine the class."""
    assert data.codes is not None
    from scipy.special import gammaln

    sizes = data.class_sizes
    arranged = gammaln(len(data.codes) + 1) - gammaln(sizes + 1).sum()
    if float(gammaln(len(sizes) + 1) - arranged) + np.log(len(columns.names)) > np.log(1e-3):
        return []  # With few rows, one of many columns is sorted by chance.
    order = np.argsort(columns.numbers, axis=0, kind="stable")
    runs = (np.diff(data.codes[order], axis=0) != 0).sum(axis=0) + 1
    allowed = data.n_classes + 2 * int(0.005 * data.n_rows)
    telling = [
        name
        for name, values, n_runs in zip(columns.numbered, columns.numbers.T, runs, strict=True)
        if n_runs <= allowed and _errors(np.unique(values, return_inverse=True)[1], data) == 0
    ]
    few = max(data.n_classes, data.n_rows // 10)
    for name, codes in zip(columns.names, columns.coded, strict=True):
        if 1 < codes.max() + 1 <= few and _errors(codes, data) <= 0.005 * data.n_rows:
            telling.append(name)
    return list(dict.fromkeys(telling))


def _errors(codes: np.ndarray, data: Data) -> int:
    """Count the rows that are not in the most frequent class among the rows with their value."""
    assert data.codes is not None
    table = np.zeros((int(codes.max()) + 1, data.n_classes), dtype=np.int64)
    np.add.at(table, (codes, data.codes), 1)
    return int(table.sum() - table.max(axis=1).sum())


def _lines(data: Data, columns: ColumnView) -> list[str]:
    """Find columns whose absolute correlation with a numeric y exceeds 0.999."""
    if data.y.ndim != 1 or data.n_rows < 10 or not columns.numbered or data.y.std() == 0:
        return []
    centred = columns.numbers - columns.numbers.mean(axis=0)
    target = data.y - data.y.mean()
    size = np.sqrt((centred**2).sum(axis=0) * (target @ target))
    r = np.abs(target @ centred) / size
    return [name for name, value in zip(columns.numbered, r, strict=True) if value > 0.999]


def unrepeated_columns(data: Data, columns: ColumnView) -> Iterator[Finding]:
    """Yield a finding for text that differs in every row, such as the number of a patient."""
    kinds = kinds_of_columns(data.X) or ()
    each = zip(columns.names, columns.coded, kinds, strict=False)
    names = [name for name, codes, kind in each if kind == "text" and codes.max() + 1 == len(codes)]
    if names:
        yield Finding(
            "text-never-repeats",
            f"{_listed(names)} is text with another value in every row.",
            "A level that new rows do not have predicts nothing: drop it, unless a step reads its "
            "words.",
        )


# ---------------------------------------------------------------- done before the folds


def _scaled(columns: ColumnView) -> Iterator[Finding]:
    X = columns.numbers
    wide = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 2]
    if len(wide) < 2:
        return
    X = X[:, wide]
    standard = np.abs(X.mean(axis=0)).max() < 1e-6 and any(
        np.abs(X.std(axis=0, ddof=ddof) - 1).max() < 1e-6 for ddof in (0, 1)
    )
    unit = np.abs(X.min(axis=0)).max() < 1e-12 and np.abs(X.max(axis=0) - 1).max() < 1e-12
    if standard or unit:
        how = "mean 0 and standard deviation 1" if standard else "smallest value 0 and largest 1"
        yield Finding(
            "scaled-outside",
            f"All columns have {how}: they were scaled with the rows of every test fold.",
            "Scale inside: make_pipeline(StandardScaler(), model).",
        )


def _rotated(columns: ColumnView) -> Iterator[Finding]:
    X = columns.numbers
    n, p = X.shape
    if p < 3 or n < p + 2 or np.abs(X.mean(axis=0)).max() > 1e-6 * np.abs(X).max():
        return
    variances = X.var(axis=0)
    off = np.corrcoef(X, rowvar=False) - np.eye(p)
    if np.abs(off).max() < 1e-6 and (np.diff(variances) <= 1e-9 * variances[0]).all():
        yield Finding(
            "rotated-outside",
            f"The {p} columns are uncorrelated to six digits, in order of their variance: they are "
            "principal components of all rows.",
            "Rotate inside: make_pipeline(PCA(n), model).",
        )


def _imputed(columns: ColumnView) -> Iterator[Finding]:
    filled = [n for n, v in zip(columns.numbered, columns.numbers.T, strict=True) if _is_filled(v)]
    if filled:
        yield Finding(
            "imputed-outside",
            f"In {_listed(filled)} one value repeats and is the mean or median of all others: "
            "gaps were filled with the rows of every test fold.",
            "Impute inside: make_pipeline(SimpleImputer(), model).",
        )


def _is_filled(values: np.ndarray) -> bool:
    """Return True if a continuous column has the mean or median of the others as its mode."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < len(values) / 2 or counts.max() < 3 or (counts > 2).sum() > 1:
        return False
    value = distinct[counts.argmax()]
    others = values[values != value]
    size = 1e-9 * max(1e-300, float(others.std()))
    odd = np.append(others, value)  # The median of an odd number of values is one of them.
    centres = (others.mean(), np.median(others), np.median(odd))
    return bool(min(abs(value - centre) for centre in centres) <= size)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) if not name.startswith("column ") else name for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more columns"
