"""Take out of X the columns whose names are given as groups, times, places or weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, Refusal
from truerisk.core.identity import is_a
from truerisk.data.rows import TableView, column_names, n_rows

POSITION_PARAMETERS = (
    "categorical_features",
    "cat_features",
    "categorical_feature",
    "interaction_cst",
)
"""Names of estimators' parameters that may refer to columns of X by their positions."""


def take_named_columns(
    X: Any, rows: dict[str, Any], *, models: Iterable[Any] = (), keep: Any = ()
) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """Remove the columns of X that other arguments name, and return these columns' values instead.

    The arguments are groups, times, places and weights.

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
    names_by_argument = {
        argument: names
        for argument, value in rows.items()
        if (names := _names_in_argument(argument, value, X))
    }
    if not names_by_argument:
        return X, rows, ()
    table = TableView(X, n_rows(X))
    arguments_with_values = dict(rows)
    for argument, names in names_by_argument.items():
        columns = [table.column(name, argument) for name in names]
        is_single_name = isinstance(rows[argument], str)
        arguments_with_values[argument] = (
            columns[0]
            if is_single_name
            else np.column_stack([np.asarray(column) for column in columns])
        )
    retained_names = {str(name) for name in keep}
    removed_names = tuple(
        dict.fromkeys(
            n for names in names_by_argument.values() for n in names if n not in retained_names
        )
    )
    for model in models if removed_names else ():
        _refuse_positions(model, list(table.names or ()), removed_names)
    return without_columns(X, removed_names), arguments_with_values, removed_names


def _names_in_argument(argument: str, value: Any, X: Any) -> tuple[str, ...]:
    """Return the names of columns of X that an argument holds; none if it holds values.

    The argument is groups, time, block or sample_weight.
    """
    if isinstance(value, str):
        return (value,)
    if argument == "block" and isinstance(value, list | tuple) and column_names(X) is not None:
        return tuple(value) if TableView(X, n_rows(X)).are_column_names(value) else ()
    return ()


def without_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a frame without the named columns; names that the frame lacks are ignored."""
    columns = column_names(X)
    if columns is None or not set(names) & set(columns):
        return X
    kept_positions = [
        column_position for column_position, name in enumerate(columns) if name not in names
    ]
    if not kept_positions:
        raise BadData(
            f"{', '.join(map(repr, names))}: X has no other column, so that no feature is left."
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, kept_positions]
    # Frames of polars and pyarrow select columns by name.
    return X.select([columns[column_position] for column_position in kept_positions])


def _refuse_positions(model: Any, columns: list[str], names: tuple[str, ...]) -> None:
    """Raise Refusal if removing columns shifts a position by which the model names a column."""
    first_removed_position = min(columns.index(name) for name in names)
    for column_position in _positions_in_model(model):
        if column_position < 0 or column_position >= first_removed_position:
            raise Refusal(
                f"{names[0]!r} is taken out of X, as it says something of the rows, and the model "
                f"knows columns by position ({column_position}), which would be another column: "
                "let it name its columns, or take the column out yourself, such as by X.pop()."
            )


def _positions_in_model(model: Any) -> Iterator[int]:
    """Yield every column position that a parameter of the model refers to."""
    try:
        params = {"": model, **model.get_params(deep=True)}
    except Exception:  # noqa: BLE001  third-party code, or no estimator, which is refused elsewhere
        return
    for name, value in params.items():
        if is_a(value, "sklearn.compose:ColumnTransformer"):
            for _, _, columns in value.transformers:
                yield from _integers_in_value(columns)
        elif name.rpartition("__")[2] in POSITION_PARAMETERS:
            yield from _integers_in_value(value)


def _integers_in_value(value: Any) -> Iterator[int]:
    if isinstance(value, bool):
        return
    if isinstance(value, Integral):
        yield int(value)
    elif isinstance(value, slice):
        yield from _integers_in_value([value.start, value.stop])
    elif isinstance(value, np.ndarray):
        yield from _integers_in_value(value.tolist())
    elif isinstance(value, list | tuple):
        if value and all(isinstance(element, bool) for element in value):
            # A boolean mask refers to every position, so any removed column changes its meaning.
            yield len(value)
        for element in value:
            yield from _integers_in_value(element)
