"""Bias, RMSE, coverage and width of everything that was stored, with their Monte-Carlo errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.calibration.battery import Cell, told
from benchmarks.calibration.store import cell_of

__all__ = ["Row", "by_interval", "coverage", "rows", "table"]

LEVEL = 0.95
BASES = ("ncv", "one drawing")  # whose width is 1; the second where there is no first


@dataclass(frozen=True)
class Row:
    """One estimate of one cell; coverage and width are None where it has no interval.

    `bias` and `rmse` are against Err, the mean of the true risks; `covers` counts the intervals
    that hold Err, `covers_rule` those that hold the risk of the rule itself. A missing interval
    (all losses alike) covers nothing. `stretches` are how many times wider, about its middle, every
    interval had to be to reach Err.
    """

    cell: Cell
    word: str
    n_sets: int
    err: float
    bias: float
    rmse: float
    covers: float | None
    covers_rule: float | None
    width: float | None
    stretches: np.ndarray

    def error_of_share(self, share: float) -> float:
        """Monte-Carlo standard error of a coverage, not below that of one miss."""
        kept = min(max(share, 1 / (self.n_sets + 2)), 1 - 1 / (self.n_sets + 2))
        return float(np.sqrt(kept * (1 - kept) / self.n_sets))


def rows(lines: Iterable[dict[str, Any]], cells: Sequence[Cell]) -> list[Row]:
    """One row per cell and estimate, in the order of the battery."""
    found: dict[Cell, dict[int, dict[str, Any]]] = defaultdict(dict)
    for line in lines:
        found[cell_of(line)][int(line["seed"])] = line  # a seed that came twice counts once
    return [
        _row(cell, word, list(found[cell].values()))
        for cell in told(cells)
        if len(found[cell]) > 1
        for word in next(iter(found[cell].values()))["estimates"]
    ]


def _row(cell: Cell, word: str, lines: list[dict[str, Any]]) -> Row:
    truth = np.array([line["truth"] for line in lines])
    err = float(truth.mean())
    said = [line["estimates"][word] for line in lines]
    values = np.array([one[0] for one in said])
    ends = np.array([[np.nan, np.nan] if one[1] is None else one[1:] for one in said])
    has = bool(np.isfinite(ends).any())
    with np.errstate(invalid="ignore"):
        holds = (ends[:, 0] <= err) & (err <= ends[:, 1])
        reach = np.abs(2 * err - ends.sum(axis=1)) / (ends[:, 1] - ends[:, 0])
        holds_rule = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return Row(
        cell=cell,
        word=word,
        n_sets=len(lines),
        err=err,
        bias=float(values.mean() - err),
        rmse=float(np.sqrt(((values - err) ** 2).mean())),
        covers=float(holds.mean()) if has else None,
        covers_rule=float(holds_rule.mean()) if has else None,
        width=float(np.nanmean(ends[:, 1] - ends[:, 0])) if has else None,
        stretches=np.nan_to_num(reach, nan=np.inf),
    )


@dataclass(frozen=True)
class Total:
    """One interval over the battery: coverages, width as a share of NCV's.

    `by_problem` has a coverage, its Monte-Carlo error and the problem, the worst first. `nominal`
    is the width after all intervals were stretched, about their middles and beyond the values of a
    loss, by the one number with which 95 % hold Err.
    """

    word: str
    n_sets: int
    covers: float
    error: float
    covers_rule: float
    by_problem: tuple[tuple[float, float, str], ...]
    width: float
    nominal: float


def by_interval(all_rows: Sequence[Row]) -> list[Total]:
    """Every interval over all cells, cells of one problem taken together for worst and best."""
    widths: dict[Cell, float | None] = {}
    for base in reversed(BASES):
        widths |= {row.cell: row.width for row in all_rows if row.word == base}
    totals = []
    for word in dict.fromkeys(row.word for row in all_rows if row.covers is not None):
        mine = [row for row in all_rows if row.word == word and row.covers is not None]
        n = np.array([row.n_sets for row in mine])
        covers = np.array([row.covers for row in mine])
        share = float(np.average(covers, weights=n))
        ratios = [row.width / widths[row.cell] for row in mine if row.width and widths[row.cell]]
        problems = []
        for name in dict.fromkeys(row.cell.problem for row in mine):
            of = np.array([row.cell.problem == name for row in mine])
            problems.append((float(np.average(covers[of], weights=n[of])), int(n[of].sum()), name))
        reach = np.concatenate([row.stretches for row in mine])
        stretch = float(np.quantile(reach, LEVEL, method="inverted_cdf"))
        ends = [(c, float(np.sqrt(max(c * (1 - c), 0.01) / m)), p) for c, m, p in sorted(problems)]
        totals.append(
            Total(
                word=word,
                n_sets=int(n.sum()),
                covers=share,
                error=float(np.sqrt(share * (1 - share) / n.sum())),
                covers_rule=float(np.average([row.covers_rule for row in mine], weights=n)),
                by_problem=tuple(ends),
                width=float(np.mean(ratios)),
                nominal=float(stretch * np.mean(ratios)),
            )
        )
    return totals


def coverage(lines: Iterable[dict[str, Any]], cells: Sequence[Cell], word: str) -> float:
    """The share of all data sets whose interval of this name holds Err; NaN without any."""
    totals = {one.word: one.covers for one in by_interval(rows(lines, cells))}
    return totals.get(word, float("nan"))


def table(lines: Iterable[dict[str, Any]], cells: Sequence[Cell]) -> str:
    """Two tables: every interval over the battery, and every estimate in every cell.

    "at 95 %" is the width if it were stretched, by one number, until 95 % of all data sets had Err.
    """
    found = rows(lines, cells)
    n_sets = sum({row.cell: row.n_sets for row in found}.values())
    head = f"{'interval':<20} {'Err':>13} {'Err_XY':>7} {'worst problem':>27} "
    text = [
        f"{n_sets} data sets, nominal 95 %; ± is one Monte-Carlo standard error",
        "",
        head + f"{'best problem':>27} {'width/ncv':>9} {'at 95 %':>7}",
    ]
    for one in by_interval(found):
        low, high = (
            f"{name} {100 * c:.1f} ± {100 * e:.1f}"
            for c, e, name in (one.by_problem[0], one.by_problem[-1])
        )
        text.append(
            f"{one.word:<20} {100 * one.covers:>6.1f} ± {100 * one.error:.1f} "
            f"{100 * one.covers_rule:>7.1f} {low:>27} {high:>27} {one.width:>9.2f} "
            f"{one.nominal:>7.2f}"
        )
    cell = None
    for row in found:
        if row.cell != cell:
            cell = row.cell
            text += ["", f"{cell}: {row.n_sets} data sets, Err {row.err:.4f}"]
            columns = f"{'bias':>8} {'RMSE':>7} {'Err':>12} {'Err_XY':>7} {'width':>7}"
            text.append(f"  {'estimate':<20} {columns}")
        line = f"  {row.word:<20} {row.bias:>+8.4f} {row.rmse:>7.4f}"
        if row.covers is not None and row.covers_rule is not None and row.width is not None:
            error = 100 * row.error_of_share(row.covers)
            line += f" {100 * row.covers:>5.1f} ± {error:<4.1f} {100 * row.covers_rule:>7.1f}"
            line += f" {row.width:>7.4f}"
        text.append(line)
    return "\n".join(text)
