"""The table as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from benchmarks.results import Options, Result

__all__ = ["as_json", "head", "line", "table"]

COLUMNS = ("row", "what it does", "peer", "ours", "ratio", "target", "met")
SCHEMA = "truerisk.benchmarks/2"
Named = tuple[str, Result]


def head(machine: Mapping[str, str], options: Options) -> str:
    known = "; ".join(f"{name} {value}" for name, value in machine.items())
    quick = ", quick: smaller problems" if options.quick else ""
    return f"{known}\nmedians of {options.repeats} alternated rounds or more{quick}"


def table(results: Sequence[Named]) -> str:
    """Columns aligned; the errors stand below, in full."""
    cells = [COLUMNS, *(_cells(row, result) for row, result in results)]
    widths = [max(len(line[c]) for line in cells) for c in range(len(COLUMNS))]
    lines = ["  ".join(_pad(line, widths)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    errors = [f"{row}, {r.what}: {r.error}" for row, r in results if r.error is not None]
    return "\n".join([*lines, *([""] if errors else []), *errors])


def line(row: str, result: Result) -> str:
    """One result, said while others are still measured."""
    return "  " + ", ".join(cell for cell in _cells(row, result)[1:] if cell)


def as_json(results: Iterable[Named], machine: Mapping[str, str], options: Options) -> str:
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "date": date.today().isoformat(),
        "machine": dict(machine),
        "options": asdict(options),
        "results": [{"row": row, **asdict(r), "ratio": r.ratio} for row, r in results],
    }
    return json.dumps(content, indent=1, allow_nan=False)


def _cells(row: str, result: Result) -> tuple[str, ...]:
    met = {True: "yes", False: "NO", None: ""}[result.met]
    if result.error is not None:
        return (row, result.what, "", "", "", result.target, "ERROR")
    peer, ours = (_quantity(value, result.unit) for value in (result.peer, result.ours))
    return (row, result.what, peer, ours, _ratio(result.ratio), result.target, met)


def _quantity(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.3g} {unit}".rstrip()


def _ratio(ratio: float | None) -> str:
    """Ours over the peer's, and the same as a factor where it is large."""
    if ratio is None:
        return ""
    return f"{ratio:.3g}" if ratio > 0.1 else f"{ratio:.2g} (1/{1 / ratio:.0f})"


def _pad(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Words to the left, numbers to the right."""
    return [
        cell.rjust(width) if name in ("peer", "ours") else cell.ljust(width)
        for name, cell, width in zip(COLUMNS, line, widths, strict=True)
    ]
