"""What is told of pairs of learners: how often each test is wrong, and how often it sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.special import bdtr, stdtr, stdtrit

from benchmarks.calibration.differences import Duel
from truerisk.comparison.paired import DifferenceSpread
from truerisk.comparison.paired_tests import HalfDifferences

__all__ = ["TESTS", "Line", "table"]

Line = dict[str, Any]
Rejects = Callable[[Line, float], bool | None]  # whether a difference is rejected; None: not said
LEVEL, ROPE = 0.05, 0.01


def _paired_cv(k: int, *, factor: float | None = None) -> Rejects:
    def rejects(line: Line, about: float) -> bool:
        told = line[str(k)]
        unseen = 2 * told["one_row"] ** 2
        spread = DifferenceSpread(told["plain"], unseen, told["units"], k, told["u"])
        error, df = spread.error, spread.df
        if factor is not None:
            error, df = (factor * told["plain"]) ** 0.5, told["units"] - 1
        return bool(abs(told["mean"] - about) > stdtrit(df, 1 - LEVEL / 2) * error > 0)

    return rejects


def _nadeau_bengio(k: int) -> Rejects:
    def rejects(line: Line, about: float) -> bool:
        told = line[str(k)]
        if told["nb error"] is None:
            return False
        half = stdtrit(told["df"], 1 - LEVEL / 2) * told["nb error"]
        return bool(abs(told["nb mean"] - about) > half)

    return rejects


def _bayes(k: int) -> Rejects:
    """Whether one is practically better with a probability of 95 %."""

    def rejects(line: Line, about: float) -> bool:
        told = line[str(k)]
        if told["nb error"] is None:
            return False
        away = abs(told["nb mean"] - about)
        return bool(stdtr(told["df"], (away - ROPE) / told["nb error"]) > 1 - LEVEL)

    return rejects


def _mcnemar(line: Line, about: float) -> bool | None:
    alone = line["10"].get("alone")
    if alone is None or about != 0:
        return None
    return bool(2 * bdtr(min(alone), sum(alone), 0.5) < LEVEL)


def _sharp(line: Line, about: float) -> bool | None:
    if "halves" not in line:
        return None
    return bool(
        abs(HalfDifferences.from_array(np.array(line["halves"])).z_statistic(about))
        > 1.959963984540054
    )


TESTS: dict[str, Rejects] = {
    "paired-cv": _paired_cv(10),
    "paired-cv, 5": _paired_cv(5),
    "nadeau-bengio": _nadeau_bengio(10),
    "nadeau-bengio, 5": _nadeau_bengio(5),
    "bayes": _bayes(10),
    "sharp": _sharp,
    "mcnemar": _mcnemar,
    "independent rows": _paired_cv(10, factor=1.0),
}


def table(lines: Iterable[Line], cells: Sequence[Duel]) -> str:
    """A line for each cell: the share of data sets in which the truth, and 0, are rejected."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        found[line["cell"]].append(line)
    text = []
    for equal in (True, False):
        for about in ("truth",) if equal else ("truth", "0"):
            what = "equal risks" if equal else "unequal risks"
            said = "error of the first kind" if about == "truth" else "power"
            text += ["", f"{what}: {said}, %", _head()]
            for cell in cells:
                if cell.equal == equal and found[str(cell)]:
                    text.append(_row(cell, found[str(cell)], about))
    return "\n".join(text)


def _head() -> str:
    columns = "  ".join(TESTS)
    return f"  {'cell':<44} {'sets':>4} {'a − b':>7}  {columns}"


def _row(cell: Duel, lines: Sequence[Line], about: str) -> str:
    truth = float(np.mean([line["truth"] for line in lines]))
    at = truth if about == "truth" else 0.0
    cells = []
    for word, rejects in TESTS.items():
        known = [one for line in lines if (one := rejects(line, at)) is not None]
        if word == "sharp" and about == "truth" and not cell.equal:
            known = []  # it is about half of the rows, whose truth is another
        share = f"{100 * np.mean(known):.1f}" if known else "–"
        cells.append(f"{share:>{len(word)}}")
    return f"  {cell!s:<44} {len(lines):>4} {truth:>+7.3f}  {'  '.join(cells)}"
