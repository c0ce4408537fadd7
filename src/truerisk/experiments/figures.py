"""Report of an experiment: its tables, statements, notes and figures, as text and as JSON.

A curve of means has a band, and a bar of means has a whisker, of two standard errors on each side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from truerisk.experiments.statements import (
    JOINT_CONFIDENCE_LEVEL,
    MIN_REPLICATES,
    Quantity,
    Statement,
    wrap_text,
)
from truerisk.extend import UNWRITTEN, Block, Written

# The band around a line of means extends this many standard errors to each side of the line.
BAND_STD_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Series:
    """Line or points in a panel, with a matplotlib `style` ('-', ':', '--', 'o') and `width`.

    `error` holds the standard errors of y if y are means; `size` is the size of points.
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
        """Return a line through the values of quantities, with their standard errors."""
        values, errors = np.array([(quantity.value, quantity.std_error) for quantity in y]).T
        return cls(label, x, values, style, error=errors)


def mean_line(
    label: str, x: np.ndarray, values: np.ndarray, style: str = "-", width: float = 1.2
) -> Series:
    """Return a line through the means of values, with the standard errors of the means.

    The means are over the replicates, which are the first axis of `values`.
    """
    n = len(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
    return Series(label, x, values.mean(axis=0), style, width, error)


def mean_lines(
    x: np.ndarray, values: Mapping[str, np.ndarray], styles: Iterable[str]
) -> tuple[Series, ...]:
    """Return a line of means for each name, in the given styles."""
    pairs = zip(values.items(), styles, strict=True)
    return tuple(
        mean_line(name, x, quantity_values, style) for (name, quantity_values), style in pairs
    )


@dataclass(frozen=True, eq=False)
class Panel:
    """Plot with one pair of axes: lines, bars, box plots, point counts or a shaded table.

    Besides lines, the kinds are the number of points in each cell of a grid ("counts"), a box per
    series ("boxes"), a bar per x, with several series side by side ("bars"), and a row per series
    with a cell per name ("shades"). `names` are at x = 1, 2, ...; `limits` is the range of y.
    `steps` describe in words what the lines show at each x; a slider on the page selects them.
    If `log` is True, the y axis is logarithmic. `marked` has a text per series of "shades",
    with a character per cell: "+" for bold, "−" for italics, or a space. `marks_text` explains it.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "counts", "boxes", "bars", "shades"] = "lines"
    names: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    steps: tuple[str, ...] = ()
    log: bool = False
    marked: tuple[str, ...] = ()
    marks_text: str = ""

    @classmethod
    def box_plot(cls, title: str, label: str, values_by_name: Mapping[str, np.ndarray]) -> Panel:
        """Return a panel with a box plot of all replicates for each name."""
        series = (Series(name, np.empty(0), values) for name, values in values_by_name.items())
        return cls(title, "", label, tuple(series), "boxes")


@dataclass(frozen=True, eq=False)
class PanelGroup:
    """Several panels that form one figure; `name` is also the name of the figure's files."""

    name: str
    panels: tuple[Panel, ...]


# Our value agrees with the reference if they differ by at most two standard errors. A difference
# of two to three standard errors is doubtful.
AGREEMENT_LIMIT, DOUBT_LIMIT = 2.0, 3.0
FOOTNOTE_ON_VERDICTS = (
    f"decided at a joint level of {100 * JOINT_CONFIDENCE_LEVEL:g} % per sentence, from "
    f"{MIN_REPLICATES} replicates "
    "on; ±: one standard error"
)

# A reference value is an exact number, or a pair of a value (or None) and its standard error.
ReferenceValues = Mapping[str, float | tuple[float | None, float]]
# What a table shows in a row: an array of the values of all replicates (shown as their mean),
# an estimate with its standard error, or a number without randomness.
TableValues = np.ndarray | Quantity | float


def _to_quantity(values: TableValues) -> Quantity:
    """Convert values to a quantity for a table: the mean with its standard error."""
    if isinstance(values, Quantity):
        return values
    if isinstance(values, np.ndarray):
        return Quantity.mean("", values)
    return Quantity.from_exact_value("", values)


@dataclass(frozen=True)
class TableRow:
    """Row of a table: our value with its Monte-Carlo standard error, and a reference value.

    `reference_error` is the standard error of the reference, including its rounding (0: exact).
    `replicates` is the number of replicates behind our standard error, if there is one. With too
    few replicates the verdict is "undecided".
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
        """Difference from the reference, divided by the standard error of the difference."""
        if self.reference is None:
            return None
        difference = self.ours - self.reference
        std_error = float(np.hypot(self.std_error, self.reference_error))
        if std_error == 0:
            return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
        return difference / std_error

    @property
    def verdict(self) -> str:
        """Verdict in words: our value agrees with the reference, or differs, or is undecided."""
        if self.difference is None:
            return "not printed"
        if self.replicates is not None and self.replicates < MIN_REPLICATES:
            return "undecided"
        distance = abs(self.difference)
        if distance <= AGREEMENT_LIMIT:
            return "agrees"
        return "agrees within 3" if distance <= DOUBT_LIMIT else "differs"


@dataclass(frozen=True)
class PaperTable:
    """Table of our values next to reference values.

    The reference is the document, or a larger run of this experiment.
    """

    title: str
    reference: str
    rows: tuple[TableRow, ...]
    digits: int = field(default=4, metadata=UNWRITTEN)

    @classmethod
    def from_values(
        cls,
        title: str,
        reference: str,
        values: Mapping[str, TableValues],
        reference_values: ReferenceValues | None = None,
        digits: int = 4,
    ) -> PaperTable:
        """Return a table with a row per quantity (mean over replicates), next to its reference."""
        rows = []
        for name, quantity_values in values.items():
            quantity, reference_value = (
                _to_quantity(quantity_values),
                (reference_values or {}).get(name),
            )
            value, reference_error = (
                reference_value if isinstance(reference_value, tuple) else (reference_value, 0.0)
            )
            rows.append(
                TableRow(
                    name,
                    quantity.value,
                    quantity.std_error,
                    value,
                    reference_error,
                    quantity.n_replicates,
                )
            )
        return cls(title, reference, tuple(rows), digits)

    def __str__(self) -> str:
        header = ["", self.reference, "ours", "std. error", "difference", "verdict"]
        cells = [
            [
                row.name,
                format_number(row.reference, self.digits),
                format_number(row.ours, self.digits),
                format_number(row.std_error, self.digits),
                "–" if row.difference is None else f"{row.difference:+.1f}",
                row.verdict,
            ]
            for row in self.rows
        ]
        return f"{self.title}\n{Block(self.title, header, cells).text}"


@dataclass(frozen=True)
class GridRow:
    """Row of a table with a mean and its standard error in every column."""

    name: str
    means: tuple[float, ...]
    std_errors: tuple[float, ...]


@dataclass(frozen=True)
class MeansGrid:
    """Table of means with their standard errors: a row per name and a column per condition.

    It is used for quantities without a printed reference, such as curves that a document only shows
    as a picture.
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
        values: Mapping[str, Iterable[TableValues]],
        digits: int = 4,
    ) -> MeansGrid:
        """Return a table with a row per name and a column per condition (means over replicates)."""
        rows = []
        for name, row_values in values.items():
            quantities = [_to_quantity(column_values) for column_values in row_values]
            std_errors = tuple(quantity.std_error for quantity in quantities)
            rows.append(GridRow(name, tuple(quantity.value for quantity in quantities), std_errors))
        return cls(title, tuple(columns), tuple(rows), digits)

    def __str__(self) -> str:
        cells = [
            [
                row.name,
                *(
                    f"{format_number(mean, self.digits)} ± {format_number(error, self.digits)}"
                    for mean, error in zip(row.means, row.std_errors, strict=True)
                ),
            ]
            for row in self.rows
        ]
        return f"{self.title}\n{Block(self.title, ['', *self.columns], cells).text}"


@dataclass(frozen=True)
class Findings:
    """Results that an experiment computes from replicates: tables, statements, notes, figures."""

    tables: tuple[PaperTable | MeansGrid, ...]
    claims: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[PanelGroup, ...] = ()

    @classmethod
    def from_parts(
        cls, name: str, notes: Iterable[str], finding_parts: Iterable[FindingPart]
    ) -> Findings:
        """Sort the findings of an experiment by type into tables, statements, notes and figures.

        Notes among the findings follow `notes`. Single panels become one figure, named `name`.
        """
        all_findings = list(finding_parts)
        panels = tuple(finding for finding in all_findings if isinstance(finding, Panel))
        return cls(
            tuple(
                finding for finding in all_findings if isinstance(finding, (PaperTable, MeansGrid))
            ),
            tuple(finding for finding in all_findings if isinstance(finding, Statement)),
            (*notes, *(finding for finding in all_findings if isinstance(finding, str))),
            (
                *(finding for finding in all_findings if isinstance(finding, PanelGroup)),
                *([PanelGroup(name, panels)] if panels else []),
            ),
        )


FindingPart = PaperTable | MeansGrid | Statement | Panel | PanelGroup | str
# An experiment yields its findings in any order. A finding that is a string is a note.
FindingParts = Iterator[FindingPart]


@dataclass(frozen=True, kw_only=True)
class Report(Findings, Written):
    """Findings of an experiment with their provenance: replicates, seed and computing time."""

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
        heading = (
            f"{self.title}\n{self.document}\n"
            f"{self.replicates} {self.unit}, seed {self.seed}, {self.seconds:.{digits}f} s"
        )
        paragraphs = [heading, *map(str, self.tables)]
        table_indices = [
            i for i, table in enumerate(self.tables, 1) if isinstance(table, PaperTable)
        ]
        if table_indices:
            paragraphs[table_indices[-1]] += (
                "\ndifference: in standard errors of both numbers together"
            )
        if self.claims:
            paragraphs.append(
                "\n".join(["What the document says", *map(str, self.claims), FOOTNOTE_ON_VERDICTS])
            )
        paragraphs += [wrap_text(f"note: {note}", "  ") for note in self.notes]
        return "\n\n".join(paragraphs)


def format_number(value: float | None, digits: int) -> str:
    """Format a number with `digits` decimals, or return a dash if it is None or not finite."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:z.{digits}f}" if abs(value) < 1000 else f"{value:.{digits}g}"


def std_error_of_printed_mean(values: np.ndarray, n_replicates: int, digits: int) -> float:
    """Return the standard error of a printed mean over this number of replicates.

    The document gives no standard error. It is computed from the standard deviation of our
    replicates, and half a unit of the last printed digit is added in quadrature.
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.hypot(deviation / np.sqrt(n_replicates), 0.5 * 10.0**-digits))
