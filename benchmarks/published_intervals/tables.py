"""The tables of the page, from the stores: coverage of both targets, width and fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Rated", "printed", "rated"]

UNIT = "CV Wald (10)"  # widths are told beside its
Row = Mapping[str, Any]
Rated = dict[str, float]


def rated(rows: Sequence[Row], mean: float) -> Rated:
    """Coverage of the model's own risk and of the mean risk, median width, fits; of one cell.

    An interval that does not exist, or whose ends stand the wrong way round, holds nothing.
    """
    truth, low, high = (
        np.array([np.nan if row[name] is None else row[name] for row in rows], float)
        for name in ("truth", "low", "high")
    )
    return {
        "own": float(((low <= truth) & (truth <= high)).mean()),
        "mean": float(((low <= mean) & (mean <= high)).mean()),
        "width": float(np.nanmedian(high - low)) if np.isfinite(low).any() else np.nan,
        "fits": float(np.mean([row["n_fits"] for row in rows])),
        "sets": len(rows),
        "factor": _factor(rows, mean),
    }


def _factor(rows: Sequence[Row], mean: float) -> float:
    """By what the square of the method's own standard error falls short of the value's error."""
    known = [row for row in rows if row["value"] is not None and row["std_error"] is not None]
    missed = np.array([row["value"] - mean for row in known])
    errors = np.array([row["std_error"] for row in known])
    return float((missed**2).mean() / (errors**2).mean()) if known else np.nan


def cells_of(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, list[Row]]]:
    """Rows by problem and learner, then by method, in the order of the stores."""
    cells: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        methods = cells.setdefault((row["learner"], row["problem"]), {})
        methods.setdefault(row["method"], []).append(row)
    return cells


def printed(stores: Path) -> str:
    """For each learner a table of the methods, and one of the cells."""
    import truerisk as tr

    paths = sorted(stores.glob("*.db"))
    rows = [row for path in paths for row in tr.Study(None, path, allow_import=True).results().rows]
    told: dict[str, dict[str, dict[str, Rated]]] = {}
    for (learner, problem), methods in cells_of(rows).items():
        truths = {row["replicate"]: row["truth"] for found in methods.values() for row in found}
        mean = float(np.mean(list(truths.values())))
        told.setdefault(learner, {})[problem] = {
            name: rated(found, mean) for name, found in methods.items()
        }
    tables = [text for one in told.items() for text in (_of_learner(*one), _factors(*one))]
    return "\n\n".join(text for text in tables if text)


def _of_learner(learner: str, cells: Mapping[str, Mapping[str, Rated]]) -> str:
    names = list(dict.fromkeys(name for methods in cells.values() for name in methods))
    head = ["interval", "own risk", "mean risk", "width", "fits", "sets", *cells]
    lines = [f"{learner}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in names:
        found = {problem: methods[name] for problem, methods in cells.items() if name in methods}
        own, mean = (
            np.array([100 * one[what] for one in found.values()]) for what in ("own", "mean")
        )
        widths = [
            one["width"] / cells[problem][UNIT]["width"]
            for problem, one in found.items()
            if UNIT in cells[problem]
        ]
        every = [
            f"{100 * found[problem]['own']:.0f}; {100 * found[problem]['mean']:.0f}"
            if problem in found
            else ""
            for problem in cells
        ]
        fits = np.mean([one["fits"] for one in found.values()])
        sets = "–".join(dict.fromkeys(f"{one['sets']}" for one in found.values()))
        width = f"{np.median(widths):.2f}" if widths else ""
        line = [name, _span(own), _span(mean), width, f"{fits:.0f}", sets, *every]
        lines.append(f"| {' | '.join(line)} |")
    return "\n".join(lines)


def _factors(learner: str, cells: Mapping[str, Mapping[str, Rated]]) -> str:
    """What the variance of independent rows needs to be multiplied by, problem by problem."""
    names = [name for name in next(iter(cells.values())) if name.startswith("ours, default")]
    if not names:
        return ""
    lines = [f"{learner}, needed factor", "", f"| problem | {' | '.join(names)} |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for problem, methods in cells.items():
        told = (f"{methods[name]['factor']:.1f}" if name in methods else "" for name in names)
        lines.append(f"| {problem} | {' | '.join(told)} |")
    return "\n".join(lines)


def _span(shares: np.ndarray) -> str:
    return f"{shares.mean():.1f} %, {shares.min():.0f} %"
