"""A report of an experiment: rows, tables and figures as data, as text, JSON, PNG and SVG.

A curve of means has a band, and a bar of means a whisker: two standard errors to either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from truerisk.core.errors import MissingExtra
from truerisk.core.present import number, seconds, text_table
from truerisk.core.records import UNWRITTEN
from truerisk.core.writing import Written
from truerisk.papers.statements import FEWEST, LEVEL, Statement, wrapped

CELLS = 100  # of a count of points, along each axis
REACH = 2.0  # standard errors that a band shows to either side


@dataclass(frozen=True, eq=False)
class Series:
    """One line, `style` as matplotlib writes it ('-', ':', '--', 'o').

    `error` are the standard errors of y, where y are means; `size` is that of points.
    """

    label: str
    x: np.ndarray
    y: np.ndarray
    style: str = "-"
    width: float = 1.2
    error: np.ndarray | None = None
    size: float | None = None


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

    Or ("counts") how many points fall into each cell of a grid, ("boxes") a box per series, or
    ("bars") a bar per x, those of several series side by side. `names` stand at x = 1, 2, ...
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: Literal["lines", "counts", "boxes", "bars"] = "lines"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Panels:
    """Panels in rows of `columns`; `name` becomes the name of the files."""

    name: str
    panels: tuple[Panel, ...]
    columns: int = 2


def draw(figures: Iterable[Panels], folder: Path) -> list[Path]:
    """Write each figure to `folder` as PNG and SVG and return the paths."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingExtra("a figure needs matplotlib: pip install 'truerisk[plot]'.") from None
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in figures:
        rows = -(-len(figure.panels) // figure.columns)
        canvas = Canvas(figsize=(5.2 * figure.columns, 3.9 * rows), layout="constrained")
        for place, panel in enumerate(figure.panels, start=1):
            _draw_panel(canvas.add_subplot(rows, figure.columns, place), panel)
        for kind in ("png", "svg"):
            path = folder / f"{figure.name}.{kind}"
            # without a date and with fixed identifiers, equal figures are equal files
            with mpl.rc_context({"svg.hashsalt": figure.name}):
                canvas.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
            written.append(path)
    return written


def _draw_panel(ax: Any, panel: Panel) -> None:
    if panel.kind == "boxes":
        ax.boxplot([series.y for series in panel.series])
        labels = [series.label for series in panel.series]
        ax.set_xticks(range(1, len(labels) + 1), labels, rotation=40, ha="right")
    elif panel.kind == "bars":
        _draw_bars(ax, panel.series)
    if panel.names:
        ax.set_xticks(range(1, len(panel.names) + 1), panel.names)
    for series in panel.series if panel.kind in ("lines", "counts") else ():
        if panel.kind == "counts":
            ax.hist2d(series.x, series.y, bins=CELLS, cmap="Greys")
            ax.axvline(series.x.mean(), color="black", linewidth=0.8)
            ax.axhline(series.y.mean(), color="black", linewidth=0.8)
        else:
            _draw_line(ax, series)
    if panel.kind in ("lines", "bars") and any(series.label for series in panel.series):
        ax.legend(fontsize="small", frameon=False)
    ax.set_title(panel.title, fontsize="medium")
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)


def _draw_line(ax: Any, series: Series) -> None:
    look = {"linewidth": series.width, "markersize": series.size, "label": series.label or None}
    (line,) = ax.plot(series.x, series.y, series.style, **look)
    if series.error is not None:
        away = REACH * series.error
        band = {"color": line.get_color(), "alpha": 0.2, "linewidth": 0}
        ax.fill_between(series.x, series.y - away, series.y + away, **band)


def _draw_bars(ax: Any, every: tuple[Series, ...]) -> None:
    """Of several series side by side, from dark to light."""
    step = 0.8 * float(np.ptp(every[0].x)) / max(len(every[0].x) - 1, 1) / len(every)
    for place, series in enumerate(every):
        shift = (place - (len(every) - 1) / 2) * step
        grey = 0.35 + 0.4 * place
        error = None if series.error is None else REACH * series.error
        look = {"color": f"{min(grey, 0.9)}", "label": series.label or None}
        ax.bar(series.x + shift, series.y, step, yerr=error, **look)


AGREES, DOUBTFUL = 2.0, 3.0  # standard errors
JUDGED = (
    f"decided at a joint level of {100 * LEVEL:g} % per sentence, from {FEWEST} replicates on; "
    "±: one standard error"
)

Known = Mapping[str, tuple[float, float] | tuple[float]]  # a reference, and its standard error


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
        values: Mapping[str, np.ndarray],
        known: Known | None = None,
        digits: int = 4,
    ) -> PaperTable:
        """The mean of each quantity over replicates, beside what is known of it."""
        rows = (mean_row(name, of, *(known or {}).get(name, ())) for name, of in values.items())
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
        return f"{self.title}\n{text_table(head, cells)}"


@dataclass(frozen=True)
class GridRow:
    """A mean with its standard error in every column."""

    name: str
    means: tuple[float, ...]
    std_errors: tuple[float, ...]

    @classmethod
    def of(cls, name: str, columns: Iterable[np.ndarray]) -> GridRow:
        """Means over the replicates of every column."""
        rows = [mean_row("", np.asarray(values, dtype=float)) for values in columns]
        return cls(name, tuple(r.ours for r in rows), tuple(r.std_error for r in rows))


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
        values: Mapping[str, Iterable[np.ndarray]],
        digits: int = 4,
    ) -> MeansGrid:
        """Means of what each name has in every column."""
        rows = tuple(GridRow.of(name, of) for name, of in values.items())
        return cls(title, tuple(columns), rows, digits)

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
        return f"{self.title}\n{text_table(['', *self.columns], cells)}"


@dataclass(frozen=True)
class Findings:
    """What an experiment makes of its replicates."""

    tables: tuple[PaperTable | MeansGrid, ...]
    claims: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Panels, ...] = ()


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
        head = (
            f"{self.title}\n{self.document}\n"
            f"{self.replicates} {self.unit}, seed {self.seed}, {seconds(self.seconds)}"
        )
        parts = [head, *map(str, self.tables)]
        compared = [i for i, table in enumerate(self.tables, 1) if isinstance(table, PaperTable)]
        if compared:
            parts[compared[-1]] += "\ndifference: in standard errors of both numbers together"
        if self.claims:
            parts.append("\n".join(["What the document says", *map(str, self.claims), JUDGED]))
        parts += [wrapped(f"note: {note}", "  ") for note in self.notes]
        return "\n\n".join(parts)


def mean_row(
    name: str,
    values: np.ndarray,
    reference: float | None = None,
    reference_error: float = 0.0,
) -> Row:
    """The mean over replicates with its standard error; not a number where there are none."""
    mean = float(values.mean()) if len(values) else float("nan")
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")
    return Row(name, mean, error, reference, reference_error, len(values))


def printed(values: np.ndarray, replicates: int, digits: int) -> float:
    """The standard error of a printed mean over that many replicates.

    The document gives none: the spread is ours, and half a unit of the last printed digit is added.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.hypot(spread / np.sqrt(replicates), 0.5 * 10.0**-digits))
