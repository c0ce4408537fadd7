"""Columns of X whose names are given as groups, times, places or weights of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, Refusal
from truerisk.core.identity import is_a
from truerisk.data.rows import TableView, column_names, n_rows

BY_POSITION = ("categorical_features", "cat_features", "categorical_feature", "interaction_cst")
"""Parameters of models that may hold positions of columns."""


def take_named_columns(
    X: Any, rows: dict[str, Any], *, models: Iterable[Any] = (), keep: Any = ()
) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """Look up the columns of X that `rows` names, and remove them from X.

    Parameters
    ----------
    X : table
        A frame, if a column is named.
    rows : dict
        The arguments ``groups``, ``time``, ``block`` and ``sample_weight``. A text is the name of a
        column; ``block`` may also be a list of names.
    models : estimators, optional
        A model is refused if it refers to columns by positions that would change.
    keep : names, optional
        Columns that remain in X although they are named, because a fitted model has seen them.

    Returns
    -------
    X : table
        The table without the named columns. It is the same object if none is named.
    rows : dict
        The given mapping, with names replaced by the values of the columns.
    names : tuple of str
        The columns that were removed.
    """
    named = {what: names for what, value in rows.items() if (names := _names_in(what, value, X))}
    if not named:
        return X, rows, ()
    table = TableView(X, n_rows(X))
    found = dict(rows)
    for what, names in named.items():
        columns = [table.column(name, what) for name in names]
        alone = isinstance(rows[what], str)
        found[what] = columns[0] if alone else np.column_stack([np.asarray(c) for c in columns])
    retained = {str(name) for name in keep}
    out = tuple(dict.fromkeys(n for names in named.values() for n in names if n not in retained))
    for model in models if out else ():
        _refuse_positions(model, list(table.names or ()), out)
    return without_columns(X, out), found, out


def _names_in(what: str, value: Any, X: Any) -> tuple[str, ...]:
    """Return the names of columns that an argument holds."""
    if isinstance(value, str):
        return (value,)
    if what == "block" and isinstance(value, list | tuple) and column_names(X) is not None:
        return tuple(value) if TableView(X, n_rows(X)).are_names(value) else ()
    return ()


def without_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a frame without these columns; names that it does not have are ignored."""
    columns = column_names(X)
    if columns is None or not set(names) & set(columns):
        return X
    left = [place for place, name in enumerate(columns) if name not in names]
    if not left:
        raise BadData(
            f"{', '.join(map(repr, names))}: X has no other column, so that no feature is left."
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, left]
    return X.select([columns[place] for place in left])  # polars and pyarrow


def _refuse_positions(model: Any, columns: list[str], out: tuple[str, ...]) -> None:
    """Refuse a model that refers to columns by position if a removed column shifts them."""
    first = min(columns.index(name) for name in out)
    for position in _positions_in(model):
        if position < 0 or position >= first:
            raise Refusal(
                f"{out[0]!r} is taken out of X, as it says something of the rows, and the model "
                f"knows columns by position ({position}), which would be another column: let it "
                "name its columns, or take the column out yourself, such as by X.pop()."
            )


def _positions_in(model: Any) -> Iterator[int]:
    """Yield the positions of columns that parameters of a model hold."""
    try:
        params = {"": model, **model.get_params(deep=True)}
    except Exception:  # noqa: BLE001  third-party code, or no estimator, which is refused elsewhere
        return
    for name, value in params.items():
        if is_a(value, "sklearn.compose:ColumnTransformer"):
            for _, _, columns in value.transformers:
                yield from _integers(columns)
        elif name.rpartition("__")[2] in BY_POSITION:
            yield from _integers(value)


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, bool):
        return
    if isinstance(value, Integral):
        yield int(value)
    elif isinstance(value, slice):
        yield from _integers([value.start, value.stop])
    elif isinstance(value, np.ndarray):
        yield from _integers(value.tolist())
    elif isinstance(value, list | tuple):
        if value and all(isinstance(each, bool) for each in value):
            yield len(value)  # A mask refers to every position.
        for each in value:
            yield from _integers(each)
