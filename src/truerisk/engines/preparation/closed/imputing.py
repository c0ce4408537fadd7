"""Closed forms of SimpleImputer, on numbers and, by counting, on codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    Coded,
    Fitted,
    Form,
    Levels,
    Numbers,
    Refused,
    Table,
    fitted,
    flag,
    is_nan,
    known_parameters,
    one_of,
)


def simple_imputer(step: Any) -> Form:
    """Return the closed form of SimpleImputer for NaN, with any of its four strategies."""
    parameters = known_parameters(
        step,
        {
            "missing_values": is_nan,
            "strategy": one_of("mean", "median", "most_frequent", "constant"),
            "fill_value": lambda value: value is None or type(value) in (int, float, str),
            "copy": flag,
            "add_indicator": flag,
            "keep_empty_features": flag,
        },
    )

    def fit(table: Table, y: np.ndarray) -> Fitted:
        if table.kind == "t":
            return _fit_text(table.coded(), parameters)
        if table.kind not in "if":
            raise Refused("SimpleImputer on such cells")
        return _fit_numbers(table, parameters)

    return fit


def _fit_text(table: Coded, given: dict[str, Any]) -> Fitted:
    """Impute codes by the most frequent category, or by a constant that becomes a category."""
    if given["add_indicator"] or given["strategy"] in ("mean", "median"):
        raise Refused("SimpleImputer on text")
    if any(not levels.text for levels in table.levels):
        raise Refused("text beside numbers in one array")
    counts = table.counts()
    codes = np.array([_commonest(*one) for one in zip(counts, table.levels, strict=True)])
    if given["strategy"] == "most_frequent":
        return fitted(table, lambda other: _filled(other.coded(), codes))
    fill = "missing_value" if given["fill_value"] is None else given["fill_value"]
    if not isinstance(fill, str):
        raise Refused("a constant that is no text")
    return fitted(table, lambda other: _with_level(other.coded(), fill))


def _commonest(counts: np.ndarray, levels: Levels) -> int:
    """Return the first of the most frequent categories except NaN; refuse if there is none."""
    there = counts[: len(levels) - levels.nan]
    if not there.any():
        raise Refused("a column without any cell")
    code = int(there.argmax())
    if levels.none and code != len(there) - 1 and there[-1] == there[code]:
        raise Refused("None is as frequent as a text")
    return code


def _filled(table: Coded, codes: np.ndarray) -> Coded:
    nan = np.array([levels.code_of_nan for levels in table.levels])
    filled = np.where(table.codes == nan, codes, table.codes)
    return Coded(filled, table.levels, table.kind)


def _with_level(table: Coded, fill: str) -> Coded:
    """Make missing cells a category of their own, inserted in sorted order."""
    codes, levels = table.codes.copy(), []
    for j, one in enumerate(table.levels):
        texts = one.cells[: one.n_values]
        place = sum(text < fill for text in texts)
        known = fill in texts
        nan = codes[:, j] == one.code_of_nan
        if not known:
            codes[codes[:, j] >= place, j] += 1
        codes[nan, j] = place
        cells = (*texts[:place], *([] if known else [fill]), *one.cells[place:])
        levels.append(Levels(cells, one.none, one.nan, text=True))
    return Coded(codes, tuple(levels), table.kind)


def _fit_numbers(table: Table, given: dict[str, Any]) -> Fitted:
    strategy, codes = given["strategy"], None
    X = table.numbers()
    missing = np.isnan(X)
    if strategy == "most_frequent":
        coded = table.coded()
        counts = zip(coded.counts(), coded.levels, strict=True)
        codes = np.array([_commonest(*column) for column in counts])
        commonest = zip(codes, coded.levels, strict=True)
        fill = np.array([levels.values[code] for code, levels in commonest])
    elif strategy == "constant":
        fill = np.full(X.shape[1], _constant(given["fill_value"], table.kind))
    else:
        fill = (_mean if strategy == "mean" else _median)(X, missing)
    empty = missing.all(axis=0)
    if empty.any():
        if not given["keep_empty_features"] or strategy not in ("mean", "median"):
            raise Refused("a column without any cell")
        fill[empty] = 0.0
    if not np.isfinite(fill).all():
        raise Refused("sums that are too large")
    marked = np.flatnonzero(missing.any(axis=0)) if given["add_indicator"] else None
    return fitted(table, lambda other: _numbers_filled(other, fill, codes, marked))


def _constant(fill: Any, kind: str) -> float:
    if fill is None:
        return 0.0
    if isinstance(fill, str) or (isinstance(fill, float) and kind == "i"):
        raise Refused("a constant of another kind")
    if isinstance(fill, int) and abs(fill) > 2**53:
        raise Refused("a constant that is no double")
    return float(fill)


def _mean(X: np.ndarray, missing: np.ndarray) -> np.ndarray:
    there = (len(X) - missing.sum(axis=0)).astype(np.float64)
    if missing.any():
        X = X.copy("K")
        X[missing] = 0.0
    return X.sum(axis=0) / np.maximum(there, 1.0)


def _median(X: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the medians. NaN is sorted last, so that the others can be counted from the start."""
    in_order = np.sort(X, axis=0)
    there = len(X) - missing.sum(axis=0)
    columns = np.arange(X.shape[1])
    low = in_order[np.maximum(there - 1, 0) // 2, columns]
    return np.asarray((low + in_order[np.minimum(there // 2, len(X) - 1), columns]) / 2.0)


def _numbers_filled(
    table: Table, fill: np.ndarray, codes: np.ndarray | None, marked: np.ndarray | None
) -> Table:
    X = table.numbers()
    missing = np.isnan(X)
    values = np.where(missing, fill, X) if missing.any() else X
    if marked is not None:
        return Numbers(np.hstack([values, missing[:, marked]]))
    if codes is None:
        return Numbers(values, table.kind)
    return Numbers(values, table.kind, _filled(table.coded(), codes))
