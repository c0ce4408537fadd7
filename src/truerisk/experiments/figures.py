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

REACH = 2.0  # number of standard errors on each side of a band


@dataclass(frozen=True, eq=False)
class Series:
    """One line with a matplotlib `style` ('-', ':', '--', 'o') and `width`.

    `error` are the standard errors of y if y are means; `size` is that of points.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2
    error: np.ndarray | None = None
    size: float | None = None

    @classmethod
    def from_quantities(
        cls, label: str, x: np.ndarray, y: Iterable[Quantity], style: str = "-"
    ) -> Series:
        """Return a line of estimates with their standard errors."""
        values, errors = np.array([(one.value, one.std_error) for one in y]).T
        return cls(label, x, values, style, error=errors)


def mean_line(
    label: str, x: np.ndarray, values: np.ndarray, style: str = "-", width: float = 1.2
) -> Series:
    """Return the mean over replicates (first axis) with its standard error."""
    n = len(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    return Series(label, x, values.mean(axis=0), style, width, error)


def mean_lines(
    x: np.ndarray, values: Mapping[str, np.ndarray], styles: Iterable[str]
) -> tuple[Series, ...]:
    """Return a line for each name, in these styles."""
    pairs = zip(values.items(), styles, strict=True)
    return tuple(mean_line(name, x, of, style) for (name, of), style in pairs)


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over one pair of axes, or another kind of plot.

    The kinds are the number of points in each cell of a grid ("counts"), a box per series
    ("boxes"), a bar per x, with several series side by side ("bars"), and a row per series with a
    cell per name ("shades"). `names` are at x = 1, 2, ... `limits` is the visible range of y.
    `steps` describe in words what the lines show at each x; a slider on the page selects them.
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
        """Return a panel with a box of all replicates for each name."""
        series = (Series(name, np.empty(0), values) for name, values in of.items())
        return cls(title, "", label, tuple(series), "boxes")


@dataclass(frozen=True, eq=False)
class Panels:
    """Panels under one name, which is also that of the files."""

    name: str
    panels: tuple[Panel, ...]


AGREES, DOUBTFUL = 2.0, 3.0  # standard errors
JUDGED = (
    f"decided at a joint level of {100 * LEVEL:g} % per sentence, from {FEWEST} replicates on; "
    "±: one standard error"
)

# Values are an exact reference, or one with its standard error; None if there is none.
Known = Mapping[str, float | tuple[float | None, float]]
# all replicates, an estimate, or a number without randomness
Values = np.ndarray | Quantity | float


def _estimate(values: Values) -> Quantity:
    """Return the table entry for values: their mean with its standard error."""
    if isinstance(values, Quantity):
        return values
    if isinstance(values, np.ndarray):
        return Quantity.mean("", values)
    return Quantity.exact("", values)


@dataclass(frozen=True)
class Row:
    """One number: ours with its Monte-Carlo standard error, and its reference.

    `reference_error` is the standard error of the reference, including its rounding (0: exact).
    `replicates` is the number behind our standard error, if it has one: too few decide nothing.
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
        """The difference from the reference, in standard errors of it."""
        if self.reference is None:
            return None
        gap = self.ours - self.reference
        error = float(np.hypot(self.std_error, self.reference_error))
        if error == 0:
            return 0.0 if gap == 0 else float(np.copysign(np.inf, gap))
        return gap / error

    @property
    def verdict(self) -> str:
        """The judgement in words."""
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
    """Our numbers beside a reference: the document, or a larger run of the same experiment."""

    title: str
    reference: str
    rows: tuple[Row, ...]
    digits: int = field(default=4, metadata=UNWRITTEN)

    @classmethod
    def from_values(
        cls,
        title: str,
        reference: str,
        values: Mapping[str, Values],
        known: Known | None = None,
        digits: int = 4,
    ) -> PaperTable:
        """Return rows of quantities (means over replicates) with what is known of them."""
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

    It is for what no reference prints, such as curves that a document only shows as a picture.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    digits: int = field(default=4, metadata=UNWRITTEN)

    @classmethod
    def from_values(
        cls,
        title: str,
        columns: Iterable[str],
        values: Mapping[str, Iterable[Values]],
        digits: int = 4,
    ) -> MeansGrid:
        """Return a row per name with a column per situation (means over replicates)."""
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
    """The results that an experiment derives from its replicates."""

    tables: tuple[PaperTable | MeansGrid, ...]
    claims: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Panels, ...] = ()

    @classmethod
    def from_parts(cls, name: str, notes: Iterable[str], parts: Iterable[Part]) -> Findings:
        """Sort parts by kind: notes follow the given ones, single panels are under the word."""
        every = list(parts)
        panels = tuple(part for part in every if isinstance(part, Panel))
        return cls(
            tuple(part for part in every if isinstance(part, (PaperTable, MeansGrid))),
            tuple(part for part in every if isinstance(part, Statement)),
            (*notes, *(part for part in every if isinstance(part, str))),
            (
                *(part for part in every if isinstance(part, Panels)),
                *([Panels(name, panels)] if panels else []),
            ),
        )


Part = PaperTable | MeansGrid | Statement | Panel | Panels | str
Parts = Iterator[Part]  # Findings of an experiment, in any order. A string is a note.


@dataclass(frozen=True, kw_only=True)
class Report(Findings, Written):
    """Findings with their provenance."""

    name: str
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
    """Return the standard error of a printed mean over this number of replicates.

    The document gives none, so that the spread is ours, plus half a unit of the last printed digit.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.hypot(spread / np.sqrt(replicates), 0.5 * 10.0**-digits))
