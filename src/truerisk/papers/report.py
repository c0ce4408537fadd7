"""What an experiment reports: ours beside the document's, with verdicts in words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.present import number, plain, seconds, text_table
from truerisk.papers.figures import Panels
from truerisk.papers.statements import FEWEST, LEVEL, Statement, wrapped

__all__ = [
    "Findings",
    "MeansGrid",
    "PaperTable",
    "Report",
    "Row",
    "mean_and_error",
    "mean_row",
    "printed",
    "signed",
]

SCHEMA = "truerisk.reproduction/2"
AGREES, DOUBTFUL = 2.0, 3.0  # standard errors
JUDGED = (
    f"decided at a joint level of {100 * LEVEL:g} % per sentence, from {FEWEST} replicates on; "
    "±: one standard error"
)


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

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "difference": self.difference, "verdict": self.verdict}


@dataclass(frozen=True)
class PaperTable:
    """Rows against one reference: the document, or a larger run of the same recipe."""

    title: str
    reference: str
    rows: tuple[Row, ...]
    digits: int = 4

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        rows = [row.to_dict() for row in self.rows]
        return {"title": self.title, "reference": self.reference, "rows": rows}


@dataclass(frozen=True)
class MeansGrid:
    """Means with their standard errors, a line per name and a column per situation.

    For what no reference prints: curves, of which a document shows the picture only.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    digits: int = 4

    def __str__(self) -> str:
        cells = [
            [name, *(f"{number(mean, self.digits)} ± {number(e, self.digits)}" for mean, e in told)]
            for name, told in self.rows
        ]
        return f"{self.title}\n{text_table(['', *self.columns], cells)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        rows = [
            {"name": name, "means": [m for m, _ in told], "std_errors": [e for _, e in told]}
            for name, told in self.rows
        ]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


@dataclass(frozen=True)
class Findings:
    """What an experiment makes of its replicates."""

    tables: tuple[PaperTable | MeansGrid, ...]
    claims: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Panels, ...] = ()


@dataclass(frozen=True)
class Report:
    """Findings with their papers."""

    word: str
    title: str
    document: str
    replicates: int
    unit: str
    seed: int
    seconds: float
    findings: Findings = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values under a versioned schema name; the series of the figures included."""
        content: dict[str, Any] = {"schema": SCHEMA}
        content |= {n: getattr(self, n) for n in self.__dataclass_fields__ if n != "findings"}
        found = self.findings
        content["tables"] = [table.to_dict() for table in found.tables]
        content["claims"] = [claim.to_dict() for claim in found.claims]
        content["notes"] = list(found.notes)
        content["figures"] = plain(found.figures)
        return content

    def to_json(self) -> str:
        """One JSON document."""
        return json.dumps(plain(self.to_dict()), allow_nan=False)

    def __str__(self) -> str:
        head = (
            f"{self.title}\n{self.document}\n"
            f"{self.replicates} {self.unit}, seed {self.seed}, {seconds(self.seconds)}"
        )
        found = self.findings
        parts = [head, *map(str, found.tables)]
        compared = [i for i, table in enumerate(found.tables, 1) if isinstance(table, PaperTable)]
        if compared:
            parts[compared[-1]] += "\ndifference: in standard errors of both numbers together"
        if found.claims:
            parts.append("\n".join(["What the document says", *map(str, found.claims), JUDGED]))
        parts += [wrapped(f"note: {note}", "  ") for note in found.notes]
        return "\n\n".join(parts)


def mean_row(
    name: str,
    values: np.ndarray,
    reference: float | None = None,
    reference_error: float = 0.0,
) -> Row:
    """The mean over replicates with its standard error."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")
    return Row(name, float(values.mean()), error, reference, reference_error, len(values))


def printed(values: np.ndarray, replicates: int, digits: int) -> float:
    """The standard error of a printed mean over that many replicates.

    The document gives none: the spread is ours, and half a unit of the last printed digit is added.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return float(np.hypot(spread / np.sqrt(replicates), 0.5 * 10.0**-digits))


def signed(value: float, std_error: float, digits: int = 4) -> str:
    """'+0.0021 ± 0.0004'."""
    return f"{value:+.{digits}f} ± {std_error:.{digits}f}"


def mean_and_error(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Mean and standard error."""
    row = mean_row("", np.asarray(values, dtype=float))
    return row.ours, row.std_error
