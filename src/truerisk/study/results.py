"""Results of a study: one row per replicate, and bias, RMSE, coverage and cost per cell.

For an estimate v of a risk or score t, the bias is the mean of v − t and the RMSE the square root
of the mean of (v − t)². The method's target determines t: for "Err_XY" it is the true risk of the
rule of that replicate, for "Err" its mean over the replicates. Other targets have no t. Coverage is
reported for the target, and also for both of these.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import numpy as np

from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.errors import BadStore, MissingExtra, UnknownName
from truerisk.core.formats import number, seconds
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import closest
from truerisk.core.tables import Block, frame_of_rows, text_table
from truerisk.results.door import load_from_above
from truerisk.results.records import UNWRITTEN, Count, Record, Share, Size
from truerisk.results.writing import write_file
from truerisk.study.competitors import Replicates, compare_study, place_of
from truerisk.study.store import Cell, Store
from truerisk.study.versions import refuse_fits

FOUND = (
    "value", "std_error", "low", "high", "interval", "truth", "truth_error", "chosen", "n_fits",
    "engine", "target", "notes", "value_is_score",
    "truth_is_score",
)  # fmt: skip
ROWS_OF_TABLES = "rows of tables"


def rows_of(store: Store) -> Iterator[dict[str, Any]]:
    """Yield every result of a study, cell by cell, as one flat row that may contain arrays."""
    refuse_fits(store)
    for cell in store.cells():
        head = _head(cell)
        for replicate, spent, cost, content in store.results(cell):
            if "problem" in head and not content.keys() >= set(FOUND):
                raise BadStore(f"{store.path}: a result was changed: restore it from a copy.")
            own = {name: content[name] for name in FOUND} if "problem" in head else content
            took = spent if cost is None else cost
            yield {**head, "replicate": replicate, **own, "seconds": took}


def _head(cell: Cell) -> dict[str, Any]:
    """Return the identity of a cell in words."""
    content = cell.content
    if "problem" not in content:
        return {"experiment": content.get("experiment"), "seed": content.get("seed")}
    return {
        "problem": content["problem"]["name"],
        "size": content["size"],
        "learner": content["learner"]["name"],
        "method": name_of_method(content),
    }


def name_of_method(content: Mapping[str, Any]) -> str:
    """Return the name of a cell's method in results: its word, or the name that was given."""
    method = content["method"]
    return str(method if isinstance(method, str) else method["name"])


class CellSummary(TypedDict):
    """Means over the replicates of a cell, and their distance from the truth."""

    problem: str
    size: Count
    learner: str
    method: str
    target: str
    replicates: Count
    value: float | None
    truth: float | None
    bias: float | None
    bias_error: Size | None
    rmse: Size | None
    intervals: Count
    coverage: Share | None
    coverage_error: Size | None
    coverage_Err: Share | None
    coverage_Err_XY: Share | None
    width: Size | None
    n_fits: Size | None
    seconds: Size | None


@frozen(eq=False)
class StudyResults(Record):
    """The results of a study; `cells` has one entry per problem, size, learner and method.

    `designs` lists the requested cells, whether or not they have results, with the number of
    `wanted` replicates and the correlation of two of them due to shared rows (`correlation`, 0 for
    a generator).
    """

    schema: ClassVar[str] = "truerisk.study-results/2"

    name: str
    cells: tuple[CellSummary, ...]
    rows: tuple[Mapping[str, Any], ...] = field(default=(), metadata=UNWRITTEN)
    designs: tuple[Mapping[str, Any], ...] = field(default=(), metadata=UNWRITTEN)

    def to_frame(self) -> Any:
        """Return one row per replicate (pandas, or polars if only that is installed)."""
        return frame_of_rows(self.rows)

    def summary(self) -> Any:
        """Return one row per cell: bias, RMSE, coverage and cost, with standard errors."""
        return frame_of_rows(self.cells)

    # The quantity is the first argument, because a plot of a study needs to name it.
    def plot(self, what: str = "bias", ax: Any = None) -> Any:  # type: ignore[override]
        """Draw bias, rmse, coverage or seconds against the size (needs matplotlib)."""
        return load_from_above("study")(self, what=what, ax=ax)

    def compare(
        self,
        of: str | None = None,
        by: str | None = None,
        *,
        size: int | None = None,
        learner: str | None = None,
        method: str | None = None,
        **terms: Any,
    ) -> ManyComparison:
        """Learners or methods compared over the problems of the study.

        Parameters
        ----------
        of : str, optional
            "learner" or "method"; not needed where the study has several of one of them alone.
        by : str, optional
            "truth" (the risk, or score, on fresh rows of what was chosen), "value" (the estimate),
            "rmse" (of the estimate around the truth) or "seconds"; by default "truth" of learners
            and "rmse" of methods.
        size, learner, method : optional
            Which, where the study has several: the data sets of a comparison are its problems.
        **terms
            `rope`, `missing`, `pairwise`, `control`, `confidence_level` and `random_state` of
            `truerisk.compare_many`.
        """
        where = {"size": size, "learner": learner, "method": method}
        replicates = Replicates(self.name, self.rows, self.designs)
        return compare_study(replicates, of, by, where, terms)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        (block,) = self.blocks()
        return "\n".join([text_table(block.head, block.rows), *self._lacking()])

    @override
    def blocks(self) -> list[Block]:
        head = ["problem", "n", "learner", "method", "replicates", "bias", "se", "RMSE",
                "coverage", "cost"]  # fmt: skip
        rows = [_shown(cell) for cell in self.cells]
        return [Block(" ".join([f"{self.name}.", *self._lacking()]), head, rows)]

    def _lacking(self) -> Iterator[str]:
        """Yield sentences on cells that lack replicates, and on replicates without interval."""
        replicates = {place_of(cell): cell["replicates"] for cell in self.cells}
        for design in self.designs:
            if "problem" not in design:
                continue  # This is a predefined experiment.
            done = replicates.get(place_of(design), 0)
            if done < design["wanted"]:
                yield f"{_named(design)}: {done} of {design['wanted']} replicates were found."
        for cell in self.cells:
            if 0 < cell["intervals"] < cell["replicates"]:
                count = f"{cell['intervals']} of {cell['replicates']}"
                yield f"{_named(cell)}: {count} replicates have an interval; coverage is theirs."


def _named(cell: Mapping[str, Any]) -> str:
    return ", ".join(map(str, place_of(cell)))


def collect(store: Store) -> StudyResults:
    """Return all results that a store has of its study."""
    rows = tuple(rows_of(store))
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(place_of(row), []).append(row)
    cells = tuple(_summed(group) for group in groups.values())
    return StudyResults(store.noted("name") or "study", cells, rows, tuple(_designs(store)))


def _designs(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the requested cells, and the correlation of their replicates.

    Replicates of a table are rows drawn from it and tested on the others: two of them are
    correlated by the share of the rows that test (Nadeau and Bengio 2003).
    """
    try:
        n_rows = dict(json.loads(store.noted(ROWS_OF_TABLES) or "{}"))
    except ValueError as error:
        raise BadStore(f"{store.path}: {ROWS_OF_TABLES} cannot be read ({error}).") from None
    for cell in store.cells():
        head = _head(cell)
        n = n_rows.get(head["problem"])
        fixed = "data" in cell.content["problem"]
        shared = None if n is None else (n - head["size"]) / n
        yield {**head, "wanted": cell.wanted, "correlation": shared if fixed else 0.0}


@np.errstate(over="ignore", invalid="ignore")  # The square of a loss of 1e200 is infinite.
def _summed(rows: Sequence[Mapping[str, Any]]) -> CellSummary:
    first = rows[0]
    value, truth = _column(rows, "value"), _column(rows, "truth")
    mean = np.full(len(rows), np.nan if np.isnan(truth).all() else np.nanmean(truth))
    nothing = np.full(len(rows), np.nan)
    aim = {"Err": mean, "Err_XY": truth}.get(first["target"], nothing)
    low, high = _column(rows, "low"), _column(rows, "high")
    # The difference to the truth of the same rows varies less than that to the mean truth.
    bias, bias_error = _mean(value - (truth if np.isfinite(aim).any() else aim))
    coverage, coverage_error = _mean(_covered(low, high, aim))
    square, _ = _mean((value - aim) ** 2)
    return {
        "problem": first["problem"],
        "size": first["size"],
        "learner": first["learner"],
        "method": first["method"],
        "target": first["target"],
        "replicates": len(rows),
        "value": _mean(value)[0],
        "truth": _mean(truth)[0],
        "bias": bias,
        "bias_error": bias_error,
        "rmse": None if square is None else square**0.5,
        "intervals": int(np.isfinite(low).sum()),
        "coverage": coverage,
        "coverage_error": coverage_error,
        "coverage_Err": _mean(_covered(low, high, mean))[0],
        "coverage_Err_XY": _mean(_covered(low, high, truth))[0],
        "width": _mean(high - low)[0],
        "n_fits": _mean(_column(rows, "n_fits"))[0],
        "seconds": _mean(_column(rows, "seconds"))[0],
    }


def _covered(low: np.ndarray, high: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """Return whether each interval covers its target; NaN if either is missing."""
    return np.where(np.isnan(low) | np.isnan(aim), np.nan, (low <= aim) & (aim <= high))


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)


def _mean(values: np.ndarray) -> tuple[float | None, float | None]:
    """Return the mean of the available values, and its standard error."""
    present = values[~np.isnan(values)]
    if not len(present):
        return None, None
    error = float(present.std(ddof=1) / np.sqrt(len(present))) if len(present) > 1 else None
    return float(present.mean()), error


def _shown(cell: Mapping[str, Any]) -> list[str]:
    return [
        str(cell["problem"]), str(cell["size"]), str(cell["learner"]), str(cell["method"]),
        str(cell["replicates"]), number(cell["bias"]), number(cell["bias_error"]),
        number(cell["rmse"]), number(cell["coverage"], 3), seconds(cell["seconds"]),
    ]  # fmt: skip


Rows = Iterable[Mapping[str, Any]]
RISKY = ("=", "+", "-", "@", "\t", "\r")


def export(rows: Rows, path: str | os.PathLike[str], form: str) -> int:
    """Write the rows with the columns of the first one, and return their number.

    An existing file is replaced when the new one is complete.
    """
    if form not in FORMATS:
        raise UnknownName(
            f"there is no format {form!r}{closest(form, FORMATS) or '.'} Known: "
            f"{', '.join(FORMATS)}."
        )
    return write_file(path, partial(FORMATS[form], rows))


def _parquet(rows: Rows, path: Path) -> int:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("Parquet needs polars: pip install 'truerisk[io]'.") from None
    frame = pl.DataFrame([_plain(row) for row in rows], infer_schema_length=None, strict=False)
    written = io.BytesIO()  # polars reports a full disk by an error of its own.
    frame.write_parquet(written)
    path.write_bytes(written.getbuffer())
    return int(frame.height)


def _csv(rows: Rows, path: Path) -> int:
    """Write CSV; text that a spreadsheet would run as a formula gets an apostrophe in front."""
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in rows:
            if not n_rows:
                writer.writerow([_harmless(name) for name in row])
            writer.writerow([_harmless(value) for value in _plain(row).values()])
            n_rows += 1
    return n_rows


def _jsonl(rows: Rows, path: Path) -> int:
    """Write one object per line; NaN becomes null."""
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            plain = {name: _finite(value) for name, value in row.items()}
            file.write(json.dumps(plain, allow_nan=False) + "\n")
            n_rows += 1
    return n_rows


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    """Return a table cell, with lists and dicts as JSON."""
    value = _finite(value)
    return json.dumps(value, allow_nan=False) if isinstance(value, dict | list) else value


def _finite(value: Any) -> Any:
    """Return the value in a form that JSON supports; NaN becomes null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [_finite(v) for v in value]
    if isinstance(value, dict):
        return {name: _finite(v) for name, v in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(RISKY) else value


FORMATS: dict[str, Callable[[Rows, Path], int]] = {
    "parquet": _parquet,
    "csv": _csv,
    "jsonl": _jsonl,
}
"""Functions that write rows, by the name of the format."""
