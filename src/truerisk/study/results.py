"""Results of a study: one row per replicate, and bias, RMSE, coverage and cost per cell.

For an estimate v of a risk or score t, the bias is the mean of v − t, and the RMSE is the square
root of the mean of (v − t)². The method's target determines t. For "Err_XY", t is the true risk of
the rule fitted in that replicate. For "Err", t is the mean of these risks over the replicates.
Other targets have no t. Coverage is reported for the method's target, and also for both "Err" and
"Err_XY".
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
from truerisk.core.formats import format_number, format_seconds
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import suggestion_for
from truerisk.core.tables import Block, frame_from_rows, text_table
from truerisk.results.door import load_from_package
from truerisk.results.records import UNWRITTEN, Count, NonNegative, Record, Share
from truerisk.results.writing import write_file
from truerisk.study.competitors import StudyReplicates, cell_key, compare_study
from truerisk.study.store import Cell, Store
from truerisk.study.versions import refuse_store_of_fits

RESULT_FIELDS = (
    "value", "std_error", "low", "high", "interval", "truth", "truth_error", "chosen", "n_fits",
    "engine", "target", "notes", "value_is_score",
    "truth_is_score",
)  # fmt: skip
TABLE_SIZES_KEY = "rows of tables"


def iterate_result_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Yield every result of a study, cell by cell, as one flat dict that may contain arrays."""
    refuse_store_of_fits(store)
    for cell in store.cells():
        cell_names = _cell_names(cell)
        for replicate, task_seconds, reported_seconds, result_content in store.results(cell):
            if "problem" in cell_names and not result_content.keys() >= set(RESULT_FIELDS):
                raise BadStore(f"{store.path}: a result was changed: restore it from a copy.")
            result_fields = (
                {name: result_content[name] for name in RESULT_FIELDS}
                if "problem" in cell_names
                else result_content
            )
            seconds_taken = task_seconds if reported_seconds is None else reported_seconds
            yield {**cell_names, "replicate": replicate, **result_fields, "seconds": seconds_taken}


def _cell_names(cell: Cell) -> dict[str, Any]:
    """Return the names of a cell's problem, size, learner and method, as in tables of results."""
    cell_content = cell.content
    if "problem" not in cell_content:
        return {"experiment": cell_content.get("experiment"), "seed": cell_content.get("seed")}
    return {
        "problem": cell_content["problem"]["name"],
        "size": cell_content["size"],
        "learner": cell_content["learner"]["name"],
        "method": get_method_name(cell_content),
    }


def get_method_name(cell_content: Mapping[str, Any]) -> str:
    """Return the name of a cell's method in tables: the user's name for it, or its short name."""
    method = cell_content["method"]
    return str(method if isinstance(method, str) else method["name"])


class CellSummary(TypedDict):
    """Means over the replicates of a cell, with bias, RMSE and coverage of the true risk."""

    problem: str
    size: Count
    learner: str
    method: str
    target: str
    replicates: Count
    value: float | None
    truth: float | None
    bias: float | None
    bias_error: NonNegative | None
    rmse: NonNegative | None
    intervals: Count
    coverage: Share | None
    coverage_error: NonNegative | None
    coverage_Err: Share | None
    coverage_Err_XY: Share | None
    width: NonNegative | None
    n_fits: NonNegative | None
    seconds: NonNegative | None


@frozen(eq=False)
class StudyResults(Record):
    """The results of a study; `cells` has one entry per problem, size, learner and method.

    `designs` lists the requested cells, whether or not they have results. Each has the number of
    requested replicates (`wanted`), and the correlation of two replicates due to shared rows
    (`correlation`), which is 0 if a generator draws new rows for every replicate.
    """

    schema: ClassVar[str] = "truerisk.study-results/2"

    name: str
    cells: tuple[CellSummary, ...]
    rows: tuple[Mapping[str, Any], ...] = field(default=(), metadata=UNWRITTEN)
    designs: tuple[Mapping[str, Any], ...] = field(default=(), metadata=UNWRITTEN)

    def to_frame(self) -> Any:
        """Return a data frame with a row per replicate (pandas, or polars if that is missing)."""
        return frame_from_rows(self.rows)

    def summary(self) -> Any:
        """Return a data frame with a row per cell: bias, RMSE, coverage, cost, standard errors."""
        return frame_from_rows(self.cells)

    # In other result classes the first argument is `ax`. Here the quantity has to be named.
    def plot(self, what: str = "bias", ax: Any = None) -> Any:  # type: ignore[override]
        """Draw bias, rmse, coverage or seconds against the number of rows (needs matplotlib)."""
        return load_from_package("study")(self, what=what, ax=ax)

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
        """Compare the learners or the methods over the problems of the study.

        Parameters
        ----------
        of : str, optional
            "learner" or "method". It is needed only if the study has several learners and several
            methods.
        by : str, optional
            The quantity to compare: "truth" (the risk, or score, of the chosen candidate on fresh
            rows), "value" (the estimate), "rmse" (of the estimate around the truth) or "seconds".
            The default is "truth" for learners and "rmse" for methods.
        size, learner, method : optional
            The value at which to compare, if the study has several. The data sets of a comparison
            are problems, not sizes.
        **terms
            `rope`, `missing`, `pairwise`, `control`, `confidence_level` and `random_state` of
            `truerisk.compare_many`.
        """
        requested_factors = {"size": size, "learner": learner, "method": method}
        study_replicates = StudyReplicates(self.name, self.rows, self.designs)
        return compare_study(study_replicates, of, by, requested_factors, terms)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        (block,) = self.blocks()
        return "\n".join([text_table(block.head, block.rows), *self._notes_on_missing()])

    @override
    def blocks(self) -> list[Block]:
        column_headings = ["problem", "n", "learner", "method", "replicates", "bias", "se", "RMSE",
                "coverage", "cost"]  # fmt: skip
        rows = [_format_cell(cell) for cell in self.cells]
        return [
            Block(" ".join([f"{self.name}.", *self._notes_on_missing()]), column_headings, rows)
        ]

    def _notes_on_missing(self) -> Iterator[str]:
        """Yield a sentence for each cell that lacks replicates or intervals of replicates."""
        n_replicates_by_cell = {cell_key(cell): cell["replicates"] for cell in self.cells}
        for requested_cell in self.designs:
            if "problem" not in requested_cell:
                continue  # Stores of published experiments have no problems.
            n_done = n_replicates_by_cell.get(cell_key(requested_cell), 0)
            if n_done < requested_cell["wanted"]:
                yield (
                    f"{_cell_as_text(requested_cell)}: {n_done} of {requested_cell['wanted']} "
                    "replicates were "
                    "found."
                )
        for cell in self.cells:
            if 0 < cell["intervals"] < cell["replicates"]:
                interval_count_text = f"{cell['intervals']} of {cell['replicates']}"
                yield (
                    f"{_cell_as_text(cell)}: {interval_count_text} replicates have an interval; "
                    "coverage is theirs."
                )


def _cell_as_text(cell: Mapping[str, Any]) -> str:
    return ", ".join(map(str, cell_key(cell)))


def collect_results(store: Store) -> StudyResults:
    """Return all results of the study that a store contains."""
    rows = tuple(iterate_result_rows(store))
    rows_by_cell: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        rows_by_cell.setdefault(cell_key(row), []).append(row)
    cells = tuple(_summarise_cell(cell_rows) for cell_rows in rows_by_cell.values())
    return StudyResults(
        store.read_note("name") or "study", cells, rows, tuple(_requested_cells(store))
    )


def _requested_cells(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the requested cells, each with the correlation between two of its replicates.

    A replicate of a table trains on rows drawn from it, and measures the risk on its other rows.
    The correlation of two replicates is the share of these test rows (Nadeau and Bengio 2003).
    """
    try:
        n_rows_by_table = dict(json.loads(store.read_note(TABLE_SIZES_KEY) or "{}"))
    except ValueError as error:
        raise BadStore(f"{store.path}: {TABLE_SIZES_KEY} cannot be read ({error}).") from None
    for cell in store.cells():
        cell_names = _cell_names(cell)
        n_table_rows = n_rows_by_table.get(cell_names["problem"])
        is_fixed_table = "data" in cell.content["problem"]
        test_share = (
            None if n_table_rows is None else (n_table_rows - cell_names["size"]) / n_table_rows
        )
        yield {
            **cell_names,
            "wanted": cell.n_wanted,
            "correlation": test_share if is_fixed_table else 0.0,
        }


@np.errstate(over="ignore", invalid="ignore")  # Squares of losses such as 1e200 overflow.
def _summarise_cell(rows: Sequence[Mapping[str, Any]]) -> CellSummary:
    first_row = rows[0]
    estimates, true_risks = _column_values(rows, "value"), _column_values(rows, "truth")
    mean_true_risks = np.full(
        len(rows), np.nan if np.isnan(true_risks).all() else np.nanmean(true_risks)
    )
    missing_targets = np.full(len(rows), np.nan)
    target_values = {"Err": mean_true_risks, "Err_XY": true_risks}.get(
        first_row["target"], missing_targets
    )
    lower_limits, upper_limits = _column_values(rows, "low"), _column_values(rows, "high")
    # The bias uses each replicate's true risk t: v − t varies less than v − mean(t).
    bias, bias_error = _mean_and_std_error(
        estimates - (true_risks if np.isfinite(target_values).any() else target_values)
    )
    coverage, coverage_error = _mean_and_std_error(
        _coverage_indicators(lower_limits, upper_limits, target_values)
    )
    mean_squared_error, _ = _mean_and_std_error((estimates - target_values) ** 2)
    return {
        "problem": first_row["problem"],
        "size": first_row["size"],
        "learner": first_row["learner"],
        "method": first_row["method"],
        "target": first_row["target"],
        "replicates": len(rows),
        "value": _mean_and_std_error(estimates)[0],
        "truth": _mean_and_std_error(true_risks)[0],
        "bias": bias,
        "bias_error": bias_error,
        "rmse": None if mean_squared_error is None else mean_squared_error**0.5,
        "intervals": int(np.isfinite(lower_limits).sum()),
        "coverage": coverage,
        "coverage_error": coverage_error,
        "coverage_Err": _mean_and_std_error(
            _coverage_indicators(lower_limits, upper_limits, mean_true_risks)
        )[0],
        "coverage_Err_XY": _mean_and_std_error(
            _coverage_indicators(lower_limits, upper_limits, true_risks)
        )[0],
        "width": _mean_and_std_error(upper_limits - lower_limits)[0],
        "n_fits": _mean_and_std_error(_column_values(rows, "n_fits"))[0],
        "seconds": _mean_and_std_error(_column_values(rows, "seconds"))[0],
    }


def _coverage_indicators(
    lower_limits: np.ndarray, upper_limits: np.ndarray, target_values: np.ndarray
) -> np.ndarray:
    """Return 1 where an interval covers its target value, 0 where not, NaN if one is missing."""
    return np.where(
        np.isnan(lower_limits) | np.isnan(target_values),
        np.nan,
        (lower_limits <= target_values) & (target_values <= upper_limits),
    )


def _column_values(rows: Sequence[Mapping[str, Any]], name: str) -> np.ndarray:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)


def _mean_and_std_error(values: np.ndarray) -> tuple[float | None, float | None]:
    """Return the mean of the values that are not NaN, and its standard error.

    Both are None without values. The standard error needs two values.
    """
    present_values = values[~np.isnan(values)]
    if not len(present_values):
        return None, None
    std_error = (
        float(present_values.std(ddof=1) / np.sqrt(len(present_values)))
        if len(present_values) > 1
        else None
    )
    return float(present_values.mean()), std_error


def _format_cell(cell: Mapping[str, Any]) -> list[str]:
    return [
        str(cell["problem"]), str(cell["size"]), str(cell["learner"]), str(cell["method"]),
        str(cell["replicates"]), format_number(cell["bias"]), format_number(cell["bias_error"]),
        format_number(cell["rmse"]), format_number(cell["coverage"], 3),
            format_seconds(cell["seconds"]),
    ]  # fmt: skip


Rows = Iterable[Mapping[str, Any]]
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def export_rows(rows: Rows, path: str | os.PathLike[str], file_format: str) -> int:
    """Write rows to a Parquet, CSV or JSON lines file, and return the number of rows.

    The columns are those of the first row. An existing file is replaced only when the new file is
    complete.
    """
    if file_format not in WRITERS_BY_FORMAT:
        raise UnknownName(
            f"there is no format "
            f"{file_format!r}{suggestion_for(file_format, WRITERS_BY_FORMAT) or '.'} "
            f"Known: {', '.join(WRITERS_BY_FORMAT)}."
        )
    return write_file(path, partial(WRITERS_BY_FORMAT[file_format], rows))


def _write_parquet(rows: Rows, path: Path) -> int:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("Parquet needs polars: pip install 'truerisk[io]'.") from None
    frame = pl.DataFrame(
        [_to_table_row(row) for row in rows], infer_schema_length=None, strict=False
    )
    # Python writes the file, as polars would raise its own error for a full disk.
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    path.write_bytes(buffer.getbuffer())
    return int(frame.height)


def _write_csv(rows: Rows, path: Path) -> int:
    """Write rows as CSV; text that a spreadsheet would run as a formula gets an apostrophe."""
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in rows:
            if not n_rows:
                writer.writerow([_escape_formula(name) for name in row])
            writer.writerow([_escape_formula(value) for value in _to_table_row(row).values()])
            n_rows += 1
    return n_rows


def _write_json_lines(rows: Rows, path: Path) -> int:
    """Write rows as JSON lines, one object per row; NaN becomes null."""
    n_rows = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            plain_row = {name: _to_json_value(value) for name, value in row.items()}
            file.write(json.dumps(plain_row, allow_nan=False) + "\n")
            n_rows += 1
    return n_rows


def _to_table_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _to_table_cell(value) for name, value in row.items()}


def _to_table_cell(value: Any) -> Any:
    """Convert a value for a table cell: lists and dicts become JSON text, NaN becomes None."""
    value = _to_json_value(value)
    return json.dumps(value, allow_nan=False) if isinstance(value, dict | list) else value


def _to_json_value(value: Any) -> Any:
    """Convert a value to a form that JSON supports: arrays become lists, NaN becomes None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [_to_json_value(element) for element in value]
    if isinstance(value, dict):
        return {name: _to_json_value(element) for name, element in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _escape_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


WRITERS_BY_FORMAT: dict[str, Callable[[Rows, Path], int]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "jsonl": _write_json_lines,
}
"""Functions that write rows to a file, by the name of the file format."""
