"""`python -m benchmarks.history` writes the page of stored results; `make benchmarks-page` runs it.

Each file of `benchmarks/stored` holds the results of one date, as `python -m benchmarks --json`
writes them. The rows "coverage" have no peer: they are shares of data sets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["STORED", "page", "read"]

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "stored"
PAGE = ROOT / "docs" / "benchmark-history.md"
NOTABLE = 1.25
"""A ratio that changed by this factor is bold; smaller changes are mostly noise of the machine."""
HEAD = """# Benchmarks by date

The tables compare truerisk with other programs (peers) on several dates. Each column shows the
stored results of one date. The column "change" divides the last result of a case by the one before
it: 0.80 means that truerisk, measured against the peer, takes 80 % of the time that it took before.
A change by more than a quarter is bold; smaller changes are mostly noise of the machine. Ratios
also depend on the processor, so a change between dates of two [machines](#machines) says little.

`make bench ARGS="--json benchmarks/stored/DATE.json"` stores new results, and
`make benchmarks-page` writes this page. The page on [benchmarks](benchmarks.md) says what the rows
measure. The results of the first three dates were taken from that page and from
[the measured intervals](intervals-measured.md).
"""
RATIOS = """
## Time

The numbers are the running time of truerisk divided by the running time of the peer, measured in
the same run. Below 1, truerisk is faster.
"""
COVERAGE = """
## Coverage

The numbers are the shares of simulated data sets, in percent, whose 95 % interval holds the true
risk.
"""


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the stored results, the oldest first."""
    contents = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    return sorted(contents, key=lambda content: str(content["date"]))


def page(contents: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of stored results, with a table of ratios and a table of coverage."""
    ratios: dict[tuple[str, str], dict[int, float]] = {}
    coverage: dict[str, dict[int, float]] = {}
    for column, content in enumerate(contents):
        for result in content["results"]:
            if result["row"] == "coverage":
                coverage.setdefault(result["what"], {})[column] = 100 * result["ours"]
            elif result["ratio"] is not None:
                case = result["row"], result["what"]
                ratios.setdefault(case, {})[column] = result["ratio"]
    dates = [f"{content['date']}<br>{content['machine']['truerisk']}" for content in contents]
    ratio_rows = [
        [f"`{row}`", what, *_cells(values, len(dates), ".3g"), change_text(values)]
        for (row, what), values in ratios.items()
    ]
    coverage_rows = [
        [interval, *_cells(values, len(dates), ".1f")] for interval, values in coverage.items()
    ]
    machines = "\n".join(
        f"- {content['date']}: {content['machine']['processor']}; "
        f"Python {content['machine']['python']}, scikit-learn {content['machine']['scikit-learn']}"
        for content in contents
    )
    time_table = _table(["row", "case"], [*dates, "change"], ratio_rows)
    coverage_table = _table(["interval"], dates, coverage_rows)
    parts = [HEAD, RATIOS, time_table, COVERAGE, coverage_table, "\n## Machines\n", machines]
    return "\n".join(parts) + "\n"


def change_text(values: Mapping[int, float]) -> str:
    """Return the last value over the one before it, or nothing if there is only one.

    >>> change_text({0: 0.5, 2: 0.25}), change_text({0: 0.5, 1: 0.51}), change_text({1: 0.5})
    ('**0.50**', '1.02', '')
    """
    if len(values) < 2:
        return ""
    before, last = (values[column] for column in sorted(values)[-2:])
    text = f"{last / before:.2f}"
    return f"**{text}**" if max(last / before, before / last) > NOTABLE else text


def _cells(values: Mapping[int, float], n_columns: int, form: str) -> list[str]:
    """Format the value of each column; a column without a value is empty."""
    return [format(values[j], form) if j in values else "" for j in range(n_columns)]


def _table(words: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first columns hold words, and whose others hold numbers."""
    line = f"|{'---|' * len(words)}{'---:|' * len(numbers)}"
    cells = [f"| {' | '.join(row)} |" for row in ([*words, *numbers], *rows)]
    return "\n".join([cells[0], line, *cells[1:]])


if __name__ == "__main__":
    PAGE.write_text(page(read(STORED)), "utf-8")
    print(PAGE.relative_to(ROOT))
