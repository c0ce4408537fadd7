"""Records of the scores in every subgroup: values, simultaneous intervals, shrunken values.

`ColumnLevels` assigns a level of a column to each row; missing values form a level of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from truerisk.core import formats, tables
from truerisk.core.arguments import RenamedAttribute, mention, repr_on_one_line, to_row_array
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import lookup
from truerisk.core.tables import frame_from_rows
from truerisk.data.columns import category_order
from truerisk.data.rows import (
    column_at,
    column_names,
    is_missing,
    n_columns,
)
from truerisk.results.door import load_from_package
from truerisk.results.interval import Interval, ResultOnScale
from truerisk.results.records import Count, FiniteFloat, NonNegative, PerfectScore, Record, Share
from truerisk.validation.measures import MEASURES, Measured

# A level needs this many rows or groups, and of each class if a score needs two classes.
MIN_LEVEL_ROWS = 10


@frozen
class Subgroup:
    """One level of a column: its number of rows, and of events if y has two classes."""

    column: str
    level: str
    n_rows: Count
    n_events: Count | None = None

    shown: ClassVar[RenamedAttribute] = RenamedAttribute("display_name")

    @property
    def display_name(self) -> str:
        """Name of the level in tables, such as "sex = f"."""
        return f"{self.column} = {self.level}" if self.column else self.level


@frozen
class SubgroupRisk(ResultOnScale):
    """Loss in one subgroup; `value` is None if the subgroup has too few rows (see `reason`).

    The `interval` holds simultaneously with the intervals of all other subgroups. `shrunken` is the
    value shrunken to the mean of its column's levels, on a scale on which their noise does not
    depend on their size. `own_share` is the weight of the subgroup's own value.
    """

    subgroup: Subgroup
    value: FiniteFloat | None = None
    std_error: NonNegative | None = None
    interval: Interval | None = None
    shrunken: FiniteFloat | None = None
    own_share: Share | None = field(default=None, metadata={"key": "kept"})
    reason: str | None = None
    perfect: PerfectScore | None = None


@frozen
class SubgroupRisks:
    """Values of one loss in all subgroups, and in all rows together.

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
        """Name of the loss, with the class that it refers to."""
        return formats.score_of_class(self.scoring, self.positive)


@frozen
class LevelCalibration:
    """Calibration of the rows of one level: `measures` such as O/E and slope, by name.

    Each interval holds on its own, not simultaneously with the others. `reason` says why a measure
    is missing.
    """

    subgroup: Subgroup
    measures: Mapping[str, Measured]
    reason: str | None = None


@frozen
class Subgroups(Record):
    """Values of every loss in every level of the requested columns.

    For each loss, the intervals of all levels of all columns hold simultaneously with probability
    `confidence_level`; the interval of all rows is separate. ``subgroups["auc"]`` are the results
    of one loss. `calibration` holds the calibration of each level.
    """

    schema: ClassVar[str] = "truerisk.subgroups/2"

    risks: tuple[SubgroupRisks, ...]
    confidence_level: Share
    notes: tuple[str, ...] = ()
    calibration: tuple[LevelCalibration, ...] = ()

    def __getitem__(self, loss: str) -> SubgroupRisks:
        return lookup(loss, {risks.scoring: risks for risks in self.risks})

    def __iter__(self) -> Iterator[str]:
        return (risks.scoring for risks in self.risks)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the requested columns."""
        levels = self.risks[0].levels if self.risks else ()
        return tuple(dict.fromkeys(level.subgroup.column for level in levels))

    @property
    def too_small(self) -> tuple[str, ...]:
        """Names of the levels that lack a value of some loss."""
        names = (
            level.subgroup.display_name
            for risks in self.risks
            for level in risks.levels
            if level.value is None
        )
        return tuple(dict.fromkeys(names))

    def to_frame(self) -> Any:
        """Return a table with one row per loss and level; the row of all rows comes first."""
        risks_by_loss = [
            (risks.named_scoring, risk)
            for risks in self.risks
            for risk in (risks.whole, *risks.levels)
        ]
        return frame_from_rows(
            [
                {
                    "scoring": loss,
                    "column": risks.subgroup.column,
                    "level": risks.subgroup.level,
                    "rows": risks.subgroup.n_rows,
                    "events": risks.subgroup.n_events,
                    "value": risks.value,
                    "std_error": risks.std_error,
                    "low": risks.interval and risks.interval.low,
                    "high": risks.interval and risks.interval.high,
                    "shrunken": risks.shrunken,
                    "reason": risks.reason,
                }
                for loss, risks in risks_by_loss
            ]
        )

    # The loss is the first parameter, so that `plot("auc")` names what is drawn.
    def plot(self, loss: str | None = None, ax: Any = None) -> Any:  # type: ignore[override]
        """Draw a forest plot of one loss, by default of the first (needs matplotlib)."""
        risks = self.risks[0] if loss is None else self[loss]
        return load_from_package("subgroups")(risks, ax=ax)

    def __str__(self) -> str:
        printed_tables = [f"{block.caption}\n{block.text}" for block in self.blocks()]
        notes = [f"note: {note}" for note in self.all_notes]
        return "\n\n".join([*printed_tables, *(["\n".join(notes)] if notes else [])])

    @override
    def blocks(self) -> list[tables.Block]:
        return [
            *(
                tables.Block(_table_title(risks), TABLE_HEADER, make_table_rows(risks))
                for risks in self.risks
            ),
            *self.calibration_blocks,
        ]

    @property
    def calibration_blocks(self) -> list[tables.Block]:
        """Table of the calibration of each level, in a list that is empty without calibration."""
        names = [
            name
            for name in CALIBRATION_MEASURES
            if any(name in each.measures for each in self.calibration)
        ]
        if not names:
            return []
        titles = (cell for name in names for cell in (MEASURES[name].title, "interval"))
        rows = [
            [
                each.subgroup.display_name,
                str(each.subgroup.n_rows),
                "–" if each.subgroup.n_events is None else str(each.subgroup.n_events),
                *(cell for name in names for cell in _measure_cells(each.measures.get(name))),
                each.reason or "",
            ]
            for each in self.calibration
        ]
        return [
            tables.Block("calibration", ["subgroup", "rows", "events", *titles, "why not"], rows)
        ]

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes on all losses, followed by notes on single losses."""
        return tuple(
            dict.fromkeys((*self.notes, *(note for risks in self.risks for note in risks.notes)))
        )


CALIBRATION_MEASURES = ("oe", "in-the-large", "slope", "cox-slope")


def _measure_cells(measured: Measured | None) -> list[str]:
    if measured is None:
        return ["–", "–"]
    return [formats.format_number(measured.honest), str(measured.interval or "–")]


TABLE_HEADER = ["subgroup", "rows", "events", "value", "interval", "shrunken", "why not"]


def _table_title(risks: SubgroupRisks) -> str:
    name = formats.escape_and_truncate(risks.named_scoring, 60)
    return name if risks.whole.perfect is None else f"{name} (larger is better)"


def make_table_rows(risks: SubgroupRisks) -> list[list[str]]:
    """Return table rows for all rows and for each level, in the columns of `TABLE_HEADER`."""
    rows = []
    for risk in (risks.whole, *risks.levels):
        n_events = risk.subgroup.n_events
        rows.append(
            [
                risk.subgroup.display_name,
                str(risk.subgroup.n_rows),
                "–" if n_events is None else str(n_events),
                formats.format_number(risk.value),
                str(risk.interval or "–"),
                formats.format_number(risk.shrunken),
                risk.reason or "",
            ]
        )
    return rows


MISSING_LEVEL_NAME = "missing"
MISSING_IF_NAME_TAKEN = (
    "missing (no value)"  # name of the missing values if a level is called "missing"
)
MAX_LEVELS = 30
EXPONENT_LIMIT = 1e16  # Whole numbers below this are written without an exponent.


@frozen(eq=False)
class ColumnLevels:
    """The `names` of a column's levels, and the index of each row's level in them (`codes`).

    Rows with a missing value form the last level; `n_missing` is the number of such rows.
    """

    column: str
    names: tuple[str, ...]
    codes: np.ndarray
    n_missing: int = 0

    @classmethod
    def from_values(cls, column: str, values: Any, n_rows: int) -> ColumnLevels:
        """Find the levels of a column, in the order of their values.

        An ordered categorical column keeps the order of its categories.
        """
        column_name = escape_and_truncate(column, 40)
        ordered_categories = category_order(values)
        cells = to_row_array(f"subgroup column {column_name!r}", values, "give every row a level")
        if cells.shape != (n_rows,):
            raise BadData(
                f"subgroup column {column_name!r} has shape {cells.shape}: give one level for each "
                f"of {n_rows} rows."
            )
        cell_values = cells.tolist()
        missing_mask = np.array([is_missing(cell) for cell in cell_values], dtype=bool)
        level_texts = [
            "" if is_missing_cell else _level_text(cell)
            for cell, is_missing_cell in zip(cell_values, missing_mask, strict=True)
        ]
        nonmissing_cells = [
            (cell, text)
            for cell, text, is_missing_cell in zip(
                cell_values, level_texts, missing_mask, strict=True
            )
            if not is_missing_cell
        ]
        level_names = _order_level_names(nonmissing_cells, ordered_categories)
        level_names += (
            [MISSING_LEVEL_NAME if MISSING_LEVEL_NAME not in level_names else MISSING_IF_NAME_TAKEN]
            if missing_mask.any()
            else []
        )
        if len(level_names) < 2:
            raise BadData(
                f"subgroup column {column_name!r} has one level only, "
                f"{escape_and_truncate(level_names[0], 40)!r}: there is "
                "nothing to compare."
            )
        if len(level_names) > MAX_LEVELS:
            raise BadData(
                f"subgroup column {column_name!r} has {len(level_names)} levels, and {MAX_LEVELS} "
                "can be compared: cut numbers into ranges (pandas.cut), or join rare levels."
            )
        code_by_text = {text: level_code for level_code, text in enumerate(level_names)}
        codes = np.array(
            [
                len(level_names) - 1 if is_missing_cell else code_by_text[text]
                for text, is_missing_cell in zip(level_texts, missing_mask, strict=True)
            ]
        )
        return cls(
            column_name,
            tuple(escape_and_truncate(text, 40) for text in level_names),
            codes,
            int(missing_mask.sum()),
        )

    @property
    def note(self) -> str | None:
        """Note on the number of missing values and the level that they form, or None."""
        if not self.n_missing:
            return None
        rows_text = "row has" if self.n_missing == 1 else "rows have"
        return (
            f"{self.n_missing} {rows_text} no '{self.column}': they are the level "
            f"'{self.names[-1]}'."
        )


def subgroup_levels(subgroups: Any, X: Any, n_rows: int) -> tuple[ColumnLevels, ...]:
    """Return the levels of columns that a user names in X, or gives as array, mapping or frame.

    >>> subgroup_levels({"sex": ["f", "m", None]}, None, 3)[0].names
    ('f', 'm', 'missing')
    """
    return tuple(
        ColumnLevels.from_values(name, values, n_rows) for name, values in _columns(subgroups, X)
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
        yield from _named_columns([subgroups], X)
    elif isinstance(subgroups, list | tuple):
        yield from _named_columns(subgroups, X)
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


def _named_columns(keys: Sequence[Any], X: Any) -> Iterator[tuple[str, Any]]:
    """Yield columns of X by name, or by number if the columns have no names."""
    if not keys:
        raise BadArgument("subgroups=[] names no column: name one, or leave the argument out.")
    if X is None:
        raise BadArgument(
            "subgroups names columns of X, and validate_predictions has no X: pass the values as "
            "an array or a column, subgroups=rows['sex'], or as {name: values}."
        )
    names, n_features = column_names(X), n_columns(X)
    if (repeated_key := next((key for key in keys if list(keys).count(key) > 1), None)) is not None:
        raise BadArgument(
            f"subgroups names column {repr_on_one_line(repeated_key)} more than once. A list names "
            "columns of X: for one level a row give an array, or a dict {name: array}."
        )
    for key in keys:
        if isinstance(key, str) and names is not None:
            if key not in names:
                raise UnknownName(
                    f"subgroups: X has no column {escape_and_truncate(key, 40)!r}; it has "
                    f"{escape_and_truncate(', '.join(names), 160)}."
                )
            yield key, column_at(X, names.index(key))
        elif isinstance(key, Integral) and n_features is not None:
            if not 0 <= int(key) < n_features:
                raise UnknownName(
                    f"subgroups: X has no column {key}; it has {n_features}, from 0 on."
                )
            yield names[int(key)] if names else f"column {key}", column_at(X, int(key))
        else:
            raise BadArgument(
                f"subgroups names {repr_on_one_line(key)}, and X has columns without names: give "
                "their numbers, or arrays with one level for each row, as a dict {name: array}."
            )


def _level_text(cell: Any) -> str:
    """Return a level as text; numbers are abbreviated unless another number has the same text."""
    if not isinstance(cell, float):
        return str(cell)
    if cell.is_integer() and abs(cell) < EXPONENT_LIMIT:
        return str(int(cell))
    short_text = f"{cell:g}"
    return short_text if float(short_text) == cell else repr(cell)


def _order_level_names(
    cells_and_texts: list[tuple[Any, str]], ordered_categories: list[Any] | None
) -> list[str]:
    """Return the distinct texts in the order of categories, or else sorted by value or as text."""
    cell_by_text = {text: cell for cell, text in cells_and_texts}
    if ordered_categories is not None:
        return [text for text in map(_level_text, ordered_categories) if text in cell_by_text]
    try:
        return sorted(cell_by_text, key=lambda text: cell_by_text[text])
    except TypeError:
        return sorted(cell_by_text)
