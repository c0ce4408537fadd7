"""A report of an experiment: rows, tables and figures as data, as text and as JSON.

A curve of means has a band, and a bar of means a whisker: two standard errors to either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from truerisk.experiments.statements import FEWEST, LEVEL, Quantity, Statement, wrapped
from truerisk.extend import UNWRITTEN, Block, Written

REACH = 2.0  # standard errors that a band shows to either side


@dataclass(frozen=True, eq=False)
class Series:
    """One line, `style` as matplotlib writes it ('-', ':', '--', 'o'), of a `width` like its own.

    `error` are the standard errors of y, where y are means; `size` is that of points.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2
    error: np.ndarray | None = None
    size: float | None = None

    @classmethod
    def of(cls, label: str, x: np.ndarray, y: Iterable[Quantity], style: str = "-") -> Series:
        """Estimates with their standard errors."""
        values, errors = np.array([(one.value, one.std_error) for one in y]).T
        return cls(label, x, values, style, error=errors)


def mean_line(
    label: str, x: np.ndarray, values: np.ndarray, style: str = "-", width: float = 1.2
) -> Series:
    """The mean over replicates (first axis) with its standard error."""
    n = len(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    return Series(label, x, values.mean(axis=0), style, width, error)


def mean_lines(
    x: np.ndarray, values: Mapping[str, np.ndarray], styles: Iterable[str]
) -> tuple[Series, ...]:
    """A line for each name, in the styles that follow."""
    pairs = zip(values.items(), styles, strict=True)
    return tuple(mean_line(name, x, of, style) for (name, of), style in pairs)


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over one pair of axes.

    Or ("counts") how many points fall into each cell of a grid, ("boxes") a box per series,
    ("bars") a bar per x, those of several series side by side, or ("shades") a row per series with
    a cell per name. `names` stand at x = 1, 2, ... Between `limits` is what is shown of y. `steps`
    say in words what the lines show at each x; a slider on the page goes through them.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "counts", "boxes", "bars", "shades"] = "lines"
    names: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    steps: tuple[str, ...] = ()

    @classmethod
    def boxes(cls, title: str, label: str, of: Mapping[str, np.ndarray]) -> Panel:
        """A box of all replicates for each name."""
        series = (Series(name, np.empty(0), values) for name, values in of.items())
        return cls(title, "", label, tuple(series), "boxes")


@dataclass(frozen=True, eq=False)
class Panels:
    """Panels under one name, which becomes that of the files."""

    name: str
    panels: tuple[Panel, ...]


AGREES, DOUBTFUL = 2.0, 3.0  # standard errors
JUDGED = (
    f"decided at a joint level of {100 * LEVEL:g} % per sentence, from {FEWEST} replicates on; "
    "±: one standard error"
)

# a reference that is exact, or one with its standard error; None where there is none
Known = Mapping[str, float | tuple[float | None, float]]
Values = np.ndarray | Quantity | float  # of all replicates, an estimate, or without chance


def _estimate(values: Values) -> Quantity:
    """What stands for values in a table: their mean with its standard error."""
    if isinstance(values, Quantity):
        return values
    if isinstance(values, np.ndarray):
        return Quantity.mean("", values)
    return Quantity.exact("", values)


@dataclass(frozen=True)
class Row:
    """One number: ours with its Monte-Carlo standard error, and the one to compare it with.

    `reference_error` is the standard error of the reference, its rounding included (0: exact).
    `replicates` are those behind our standard error, where it has such: too few decide nothing.
    """

    name: str
    ours: float
    std_error: float
    reference: float | None = None
    reference_error: float = 0.0
    replicates: int | None = None

    derived: ClassVar[tuple[str, ...]] = ("difference", "verdict")

    @property
    def difference(self) -> float | None:
        """(ours − reference) in standard errors of the difference."""
        if self.reference is None:
            return None
        gap = self.ours - self.reference
        error = float(np.hypot(self.std_error, self.reference_error))
        if error == 0:
            return 0.0 if gap == 0 else float(np.copysign(np.inf, gap))
        return gap / error

    @property
    def verdict(self) -> str:
        """In words."""
        if self.difference is None:
            return "not printed"
        if self.replicates is not None and self.replicates < FEWEST:
            return "undecided"
        away = abs(self.difference)
        if away <= AGREES:
            return "agrees"
        return "agrees within 3" if away <= DOUBTFUL else "differs"


@dataclass(frozen=True)
class PaperTable:
    """Rows against one reference: the document, or a larger run of the same recipe."""

    title: str
    reference: str
    rows: tuple[Row, ...]
    digits: int = field(default=4, metadata=UNWRITTEN)

    @classmethod
    def of(
        cls,
        title: str,
        reference: str,
        values: Mapping[str, Values],
        known: Known | None = None,
        digits: int = 4,
    ) -> PaperTable:
        """Each quantity, of values their mean over replicates, beside what is known of it."""
        rows = []
        for name, of in values.items():
            ours, beside = _estimate(of), (known or {}).get(name)
            value, error = beside if isinstance(beside, tuple) else (beside, 0.0)
            rows.append(Row(name, ours.value, ours.std_error, value, error, ours.replicates))
        return cls(title, reference, tuple(rows), digits)

    def __str__(self) -> str:
        head = ["", self.reference, "ours", "std. error", "difference", "verdict"]
        cells = [
            [
                row.name,
                number(row.reference, self.digits),
                number(row.ours, self.digits),
                number(row.std_error, self.digits),
                "–" if row.difference is None else f"{row.difference:+.1f}",
                row.verdict,
            ]
            for row in self.rows
        ]
        return f"{self.title}\n{Block(self.title, head, cells).text}"


@dataclass(frozen=True)
class GridRow:
    """A mean with its standard error in every column."""

    name: str
    means: tuple[float, ...]
    std_errors: tuple[float, ...]


@dataclass(frozen=True)
class MeansGrid:
    """Means with their standard errors, a line per name and a column per situation.

    For what no reference prints: curves, of which a document shows the picture only.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    digits: int = field(default=4, metadata=UNWRITTEN)

    @classmethod
    def of(
        cls,
        title: str,
        columns: Iterable[str],
        values: Mapping[str, Iterable[Values]],
        digits: int = 4,
    ) -> MeansGrid:
        """What each name has in every column; of values their mean over replicates."""
        rows = []
        for name, columns_of in values.items():
            every = [_estimate(of) for of in columns_of]
            errors = tuple(one.std_error for one in every)
            rows.append(GridRow(name, tuple(one.value for one in every), errors))
        return cls(title, tuple(columns), tuple(rows), digits)

    def __str__(self) -> str:
        cells = [
            [
                row.name,
                *(
                    f"{number(mean, self.digits)} ± {number(error, self.digits)}"
                    for mean, error in zip(row.means, row.std_errors, strict=True)
                ),
            ]
            for row in self.rows
        ]
        return f"{self.title}\n{Block(self.title, ['', *self.columns], cells).text}"


@dataclass(frozen=True)
class Findings:
    """What an experiment makes of its replicates."""

    tables: tuple[PaperTable | MeansGrid, ...]
    claims: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Panels, ...] = ()

    @classmethod
    def of(cls, word: str, notes: Iterable[str], parts: Iterable[Part]) -> Findings:
        """Parts by their kinds: notes stand behind those given, single panels under the word."""
        every = list(parts)
        panels = tuple(part for part in every if isinstance(part, Panel))
        return cls(
            tuple(part for part in every if isinstance(part, (PaperTable, MeansGrid))),
            tuple(part for part in every if isinstance(part, Statement)),
            (*notes, *(part for part in every if isinstance(part, str))),
            (
                *(part for part in every if isinstance(part, Panels)),
                *([Panels(word, panels)] if panels else []),
            ),
        )


Part = PaperTable | MeansGrid | Statement | Panel | Panels | str
Parts = Iterator[Part]  # what an experiment finds, in any order: a string is a note


@dataclass(frozen=True, kw_only=True)
class Report(Findings, Written):
    """Findings with their papers."""

    word: str
    title: str
    document: str
    replicates: int
    unit: str
    seed: int
    seconds: float

    schema: ClassVar[str] = "truerisk.reproduction/2"

    def __str__(self) -> str:
        digits = 2 if self.seconds < 10 else 0
        head = (
            f"{self.title}\n{self.document}\n"
            f"{self.replicates} {self.unit}, seed {self.seed}, {self.seconds:.{digits}f} s"
        )
        parts = [head, *map(str, self.tables)]
        compared = [i for i, table in enumerate(self.tables, 1) if isinstance(table, PaperTable)]
        if compared:
            parts[compared[-1]] += "\ndifference: in standard errors of both numbers together"
        if self.claims:
            parts.append("\n".join(["What the document says", *map(str, self.claims), JUDGED]))
        parts += [wrapped(f"note: {note}", "  ") for note in self.notes]
        return "\n\n".join(parts)


def number(value: float | None, digits: int) -> str:
    """Round a number, or return a dash for one that is not there or not finite."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:z.{digits}f}" if abs(value) < 1000 else f"{value:.{digits}g}"


def printed(values: np.ndarray, replicates: int, digits: int) -> float:
    """The standard error of a printed mean over that many replicates.

    The document gives none: the spread is ours, and half a unit of the last printed digit is added.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.hypot(spread / np.sqrt(replicates), 0.5 * 10.0**-digits))
