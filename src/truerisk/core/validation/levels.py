"""Columns that part the rows: for each row the level that it has, a missing one as its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from truerisk.core.arguments import even_array, shown
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.present import clean
from truerisk.core.table.columns import is_missing
from truerisk.core.table.rows import column_arrays, column_names, n_columns, take_columns

__all__ = ["MISSING", "MOST_LEVELS", "Levels", "levels_of"]

MISSING = "missing"
UNNAMED = "missing (no value)"  # beside a level that is called "missing"
MOST_LEVELS = 30
LARGE = 1e16  # whole numbers below are written out


@dataclass(frozen=True, eq=False)
class Levels:
    """The `names` of a column's levels, and for each row the number of its own.

    Rows without a value are a level of their own, the last; `n_missing` counts them.
    """

    column: str
    names: tuple[str, ...]
    codes: np.ndarray
    n_missing: int = 0

    @classmethod
    def of(cls, column: str, values: Any, n_rows: int) -> Levels:
        """Those of a column of values, in their order, or a sentence on what is wrong with it."""
        name = clean(column, 40)
        cells = even_array(f"subgroup column {name!r}", values, "give every row a level")
        if cells.shape != (n_rows,):
            raise BadData(
                f"subgroup column {name!r} has shape {cells.shape}: give one level for each of "
                f"{n_rows} rows."
            )
        held = cells.tolist()
        gaps = np.array([is_missing(cell) for cell in held], dtype=bool)
        texts = ["" if gap else _text(cell) for cell, gap in zip(held, gaps, strict=True)]
        present = [
            (cell, text) for cell, text, gap in zip(held, texts, gaps, strict=True) if not gap
        ]
        names = _ordered(present)
        names += [MISSING if MISSING not in names else UNNAMED] if gaps.any() else []
        if len(names) < 2:
            raise BadData(
                f"subgroup column {name!r} has one level only, {clean(names[0], 40)!r}: there is "
                "nothing to compare."
            )
        if len(names) > MOST_LEVELS:
            raise BadData(
                f"subgroup column {name!r} has {len(names)} levels, and {MOST_LEVELS} can be "
                "compared: cut numbers into ranges (pandas.cut), or join rare levels."
            )
        place = {text: code for code, text in enumerate(names)}
        codes = np.array(
            [len(names) - 1 if gap else place[text] for text, gap in zip(texts, gaps, strict=True)]
        )
        return cls(name, tuple(clean(text, 40) for text in names), codes, int(gaps.sum()))


def levels_of(subgroups: Any, X: Any, n_rows: int) -> tuple[Levels, ...]:
    """The columns that a user names of X, or gives as an array, a mapping or a frame.

    >>> levels_of({"sex": ["f", "m", None]}, None, 3)[0].names
    ('f', 'm', 'missing')
    """
    return tuple(Levels.of(name, values, n_rows) for name, values in _columns(subgroups, X))


def _columns(subgroups: Any, X: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(subgroups, Mapping) and not subgroups:
        raise BadArgument("subgroups={} names no column: name one, or leave the argument out.")
    if isinstance(subgroups, Mapping):
        yield from ((str(name), values) for name, values in subgroups.items())
    elif isinstance(subgroups, str | Integral):
        yield from _named([subgroups], X)
    elif isinstance(subgroups, list | tuple):
        yield from _named(subgroups, X)
    elif (names := column_names(subgroups)) is not None:
        yield from zip(names, column_arrays(subgroups), strict=True)
    elif getattr(subgroups, "ndim", None) == 1:
        yield str(getattr(subgroups, "name", None) or "subgroup"), subgroups
    elif getattr(subgroups, "ndim", None) == 2 and not hasattr(subgroups, "tocsr"):
        yield from ((f"column {j}", column) for j, column in enumerate(np.asarray(subgroups).T))
    else:
        raise BadArgument(
            f"subgroups={shown(subgroups)}: name columns of X, or give an array with one level "
            "for each row, a frame, or a dict of such arrays."
        )


def _named(asked: Sequence[Any], X: Any) -> Iterator[tuple[str, Any]]:
    """Columns of X by name, or by number where they have none."""
    if not asked:
        raise BadArgument("subgroups=[] names no column: name one, or leave the argument out.")
    names, count = column_names(X), n_columns(X)
    if (repeated := next((one for one in asked if list(asked).count(one) > 1), None)) is not None:
        raise BadArgument(
            f"subgroups names column {shown(repeated)} more than once. A list names columns of X: "
            "for one level a row give an array, or a dict {name: array}."
        )
    for one in asked:
        if isinstance(one, str) and names is not None:
            if one not in names:
                raise UnknownName(
                    f"subgroups: X has no column {clean(one, 40)!r}; it has "
                    f"{clean(', '.join(names), 160)}."
                )
            yield one, column_arrays(X)[names.index(one)]
        elif isinstance(one, Integral) and count is not None:
            if not 0 <= int(one) < count:
                raise UnknownName(f"subgroups: X has no column {one}; it has {count}, from 0 on.")
            yield names[int(one)] if names else f"column {one}", _number(X, int(one))
        else:
            raise BadArgument(
                f"subgroups names {shown(one)}, and X has columns without names: give their "
                "numbers, or arrays with one level for each row, as a dict {name: array}."
            )


def _number(X: Any, column: int) -> np.ndarray:
    if column_names(X) is not None:
        return column_arrays(X)[column]
    cells = take_columns(X, np.array([column]))
    cells = cells.toarray() if hasattr(cells, "toarray") else np.asarray(cells)
    return np.asarray(cells[:, 0])


def _text(cell: Any) -> str:
    """Its text; of a number the short one, unless another number has the same."""
    if not isinstance(cell, float):
        return str(cell)
    if cell.is_integer() and abs(cell) < LARGE:
        return str(int(cell))
    short = f"{cell:g}"
    return short if float(short) == cell else repr(cell)


def _ordered(present: list[tuple[Any, str]]) -> list[str]:
    """The distinct texts in the order of their values, or of the texts where these have none."""
    first = {text: cell for cell, text in present}
    try:
        return sorted(first, key=lambda text: first[text])
    except TypeError:
        return sorted(first)
