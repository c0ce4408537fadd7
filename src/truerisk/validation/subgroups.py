"""Each score in every subgroup: values, simultaneous intervals, shrunken values, reasons.

`Levels` are the levels of a column: one per row, where missing values form a level of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import even_array, mention, shown
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import lookup
from truerisk.core.tables import frame_of_rows
from truerisk.data.columns import category_order
from truerisk.data.rows import (
    column_at,
    column_names,
    is_missing,
    n_columns,
)
from truerisk.results.door import load_from_above
from truerisk.results.interval import Interval, OnScale
from truerisk.results.records import Count, Finite, Perfect, Record, Share, Size

# Minimum number of rows or groups of a level, and of rows of each class if a score needs both.
FEWEST = 10


@frozen
class Subgroup:
    """The rows of one level: their number, and the number of events if y has two classes."""

    column: str
    level: str
    n_rows: Count
    n_events: Count | None = None

    @property
    def shown(self) -> str:
        """The name of the level in tables."""
        return f"{self.column} = {self.level}" if self.column else self.level


@frozen
class SubgroupRisk(OnScale):
    """One loss in one subgroup; `value` is None if it has too few rows, and `reason` says so.

    The `interval` holds simultaneously with those of all other subgroups. `shrunken` is the value
    shrunken to the mean of its column's levels, on a scale on which their noise does not depend on
    their size. `own_share` is the weight of its own value.
    """

    subgroup: Subgroup
    value: Finite | None = None
    std_error: Size | None = None
    interval: Interval | None = None
    shrunken: Finite | None = None
    own_share: Share | None = field(default=None, metadata={"key": "kept"})
    reason: str | None = None
    perfect: Perfect | None = None


@frozen
class SubgroupRisks:
    """One loss in all subgroups, and in all rows together.

    `quantile` is the number of standard errors at which all intervals hold simultaneously.
    `spreads` are, for each column with three or more levels, the standard deviation between its
    levels that noise does not explain.
    """

    scoring: str
    whole: SubgroupRisk
    levels: tuple[SubgroupRisk, ...]
    quantile: float | None = None
    spreads: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    positive: Any = None

    @property
    def named_scoring(self) -> str:
        """The loss, with the class that it refers to."""
        return formats.of_class(self.scoring, self.positive)


@frozen
class Subgroups(Record):
    """Every loss in every level of the requested columns.

    For each loss, the intervals of all levels of all columns hold simultaneously with probability
    `confidence_level`; that of all rows is separate. ``subgroups["auc"]`` are the results of one
    loss.
    """

    schema: ClassVar[str] = "truerisk.subgroups/2"

    risks: tuple[SubgroupRisks, ...]
    confidence_level: Share
    notes: tuple[str, ...] = ()

    def __getitem__(self, loss: str) -> SubgroupRisks:
        return lookup(loss, {each.scoring: each for each in self.risks})

    def __iter__(self) -> Iterator[str]:
        return (each.scoring for each in self.risks)

    @property
    def columns(self) -> tuple[str, ...]:
        """The requested columns."""
        levels = self.risks[0].levels if self.risks else ()
        return tuple(dict.fromkeys(level.subgroup.column for level in levels))

    @property
    def too_small(self) -> tuple[str, ...]:
        """Levels without a value of some loss."""
        lacking = (r.subgroup.shown for each in self.risks for r in each.levels if r.value is None)
        return tuple(dict.fromkeys(lacking))

    def to_frame(self) -> Any:
        """Return a table with one row per loss and level, that of all rows first."""
        lines = [(r.named_scoring, risk) for r in self.risks for risk in (r.whole, *r.levels)]
        return frame_of_rows(
            [
                {
                    "scoring": loss,
                    "column": r.subgroup.column,
                    "level": r.subgroup.level,
                    "rows": r.subgroup.n_rows,
                    "events": r.subgroup.n_events,
                    "value": r.value,
                    "std_error": r.std_error,
                    "low": r.interval and r.interval.low,
                    "high": r.interval and r.interval.high,
                    "shrunken": r.shrunken,
                    "reason": r.reason,
                }
                for loss, r in lines
            ]
        )

    # The loss comes first: `plot("auc")` names what is drawn.
    def plot(self, loss: str | None = None, ax: Any = None) -> Any:  # type: ignore[override]
        """Draw a forest plot of one loss, by default of the first (needs matplotlib)."""
        risks = self.risks[0] if loss is None else self[loss]
        return load_from_above("subgroups")(risks, ax=ax)

    def __str__(self) -> str:
        printed = [f"{b.caption}\n{tables.text_table(b.head, b.rows)}" for b in self.blocks()]
        notes = [f"note: {note}" for note in self.all_notes]
        return "\n\n".join([*printed, *(["\n".join(notes)] if notes else [])])

    @override
    def blocks(self) -> list[tables.Block]:
        return [tables.Block(_title(each), HEAD, rows_of(each)) for each in self.risks]

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes on all losses, followed by those on single losses."""
        return tuple(dict.fromkeys((*self.notes, *(n for each in self.risks for n in each.notes))))


HEAD = ["subgroup", "rows", "events", "value", "interval", "shrunken", "why not"]


def _title(risks: SubgroupRisks) -> str:
    name = formats.clean(risks.named_scoring, 60)
    return name if risks.whole.perfect is None else f"{name} (larger is better)"


def rows_of(risks: SubgroupRisks) -> list[list[str]]:
    """Return table rows for all rows and for each level, in the columns of `HEAD`."""
    rows = []
    for risk in (risks.whole, *risks.levels):
        events = risk.subgroup.n_events
        rows.append(
            [
                risk.subgroup.shown,
                str(risk.subgroup.n_rows),
                "–" if events is None else str(events),
                formats.number(risk.value),
                str(risk.interval or "–"),
                formats.number(risk.shrunken),
                risk.reason or "",
            ]
        )
    return rows


MISSING = "missing"
UNNAMED = "missing (no value)"  # used if a level is called "missing"
MOST_LEVELS = 30
LARGE = 1e16  # Integers below this are written without an exponent.


@frozen(eq=False)
class Levels:
    """The `names` of a column's levels, and the index of each row's level.

    Rows with a missing value form the last level; `n_missing` is their number.
    """

    column: str
    names: tuple[str, ...]
    codes: np.ndarray
    n_missing: int = 0

    @classmethod
    def from_values(cls, column: str, values: Any, n_rows: int) -> Levels:
        """Return the levels of a column in the order of their values.

        An ordered categorical column keeps the order of its categories.
        """
        name = clean(column, 40)
        order = category_order(values)
        cells = even_array(f"subgroup column {name!r}", values, "give every row a level")
        if cells.shape != (n_rows,):
            raise BadData(
                f"subgroup column {name!r} has shape {cells.shape}: give one level for each of "
                f"{n_rows} rows."
            )
        entries = cells.tolist()
        gaps = np.array([is_missing(cell) for cell in entries], dtype=bool)
        texts = ["" if gap else _text(cell) for cell, gap in zip(entries, gaps, strict=True)]
        named = [
            (cell, text) for cell, text, gap in zip(entries, texts, gaps, strict=True) if not gap
        ]
        names = _ordered(named, order)
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

    @property
    def note(self) -> str | None:
        """A note on the number of missing values and their level."""
        if not self.n_missing:
            return None
        rows = "row has" if self.n_missing == 1 else "rows have"
        return f"{self.n_missing} {rows} no '{self.column}': they are the level '{self.names[-1]}'."


def levels_of(subgroups: Any, X: Any, n_rows: int) -> tuple[Levels, ...]:
    """Return the columns that a user names in X, or gives as an array, a mapping or a frame.

    >>> levels_of({"sex": ["f", "m", None]}, None, 3)[0].names
    ('f', 'm', 'missing')
    """
    return tuple(
        Levels.from_values(name, values, n_rows) for name, values in _columns(subgroups, X)
    )


def _columns(subgroups: Any, X: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(subgroups, Mapping) and not subgroups:
        raise BadArgument(
            f"{mention('subgroups', subgroups)} names no column: name one, or leave the argument "
            "out."
        )
    if isinstance(subgroups, Mapping):
        yield from ((str(name), values) for name, values in subgroups.items())
    elif isinstance(subgroups, str | Integral):
        yield from _named([subgroups], X)
    elif isinstance(subgroups, list | tuple):
        yield from _named(subgroups, X)
    elif (names := column_names(subgroups)) is not None:
        yield from ((name, column_at(subgroups, j)) for j, name in enumerate(names))
    elif getattr(subgroups, "ndim", None) == 1:
        yield str(getattr(subgroups, "name", None) or "subgroup"), subgroups
    elif getattr(subgroups, "ndim", None) == 2 and not hasattr(subgroups, "tocsr"):
        yield from ((f"column {j}", column) for j, column in enumerate(np.asarray(subgroups).T))
    else:
        raise BadArgument(
            f"{mention('subgroups', subgroups)}: name columns of X, or give an array with one "
            "level for each row, a frame, or a dict of such arrays."
        )


def _named(keys: Sequence[Any], X: Any) -> Iterator[tuple[str, Any]]:
    """Yield columns of X by name, or by number if they have no names."""
    if not keys:
        raise BadArgument("subgroups=[] names no column: name one, or leave the argument out.")
    names, count = column_names(X), n_columns(X)
    if (repeated := next((key for key in keys if list(keys).count(key) > 1), None)) is not None:
        raise BadArgument(
            f"subgroups names column {shown(repeated)} more than once. A list names columns of X: "
            "for one level a row give an array, or a dict {name: array}."
        )
    for key in keys:
        if isinstance(key, str) and names is not None:
            if key not in names:
                raise UnknownName(
                    f"subgroups: X has no column {clean(key, 40)!r}; it has "
                    f"{clean(', '.join(names), 160)}."
                )
            yield key, column_at(X, names.index(key))
        elif isinstance(key, Integral) and count is not None:
            if not 0 <= int(key) < count:
                raise UnknownName(f"subgroups: X has no column {key}; it has {count}, from 0 on.")
            yield names[int(key)] if names else f"column {key}", column_at(X, int(key))
        else:
            raise BadArgument(
                f"subgroups names {shown(key)}, and X has columns without names: give their "
                "numbers, or arrays with one level for each row, as a dict {name: array}."
            )


def _text(cell: Any) -> str:
    """Return a level's text; numbers are abbreviated unless another number has the same text."""
    if not isinstance(cell, float):
        return str(cell)
    if cell.is_integer() and abs(cell) < LARGE:
        return str(int(cell))
    short = f"{cell:g}"
    return short if float(short) == cell else repr(cell)


def _ordered(present: list[tuple[Any, str]], order: list[Any] | None) -> list[str]:
    """Return the distinct texts in the given order, else sorted by their values or as texts."""
    first = {text: cell for cell, text in present}
    if order is not None:
        return [text for text in map(_text, order) if text in first]
    try:
        return sorted(first, key=lambda text: first[text])
    except TypeError:
        return sorted(first)
