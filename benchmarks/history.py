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
stored results of one date. The column "change" compares the last two results of a case: 0.80
means that truerisk takes 80 % of the time that it took before. A change by more than a quarter is
bold; smaller changes are mostly noise of the machine.

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
    values: dict[str, dict[tuple[str, str], dict[int, float]]] = {"ratio": {}, "ours": {}}
    for column, content in enumerate(contents):
        for result in content["results"]:
            kind = "ours" if result["row"] == "coverage" else "ratio"
            if result[kind] is not None:
                case = result["row"], result["what"]
                values[kind].setdefault(case, {})[column] = result[kind]
    heads = [f"{content['date']}<br>{content['machine']['truerisk']}" for content in contents]
    machines = "\n".join(
        f"- {content['date']}: {content['machine']['processor']}; "
        f"Python {content['machine']['python']}, scikit-learn {content['machine']['scikit-learn']}"
        for content in contents
    )
    ratios = _table(["row", "case", *heads, "change"], values["ratio"], len(heads), "{:.3g}")
    coverage = _table(["interval", *heads], values["ours"], len(heads), "{:.1%}")
    parts = [HEAD, RATIOS, ratios, COVERAGE, coverage.replace("%", ""), "\n## Machines\n", machines]
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


def _table(
    head: Sequence[str],
    cases: Mapping[tuple[str, str], Mapping[int, float]],
    n_columns: int,
    form: str,
) -> str:
    n_words = head.index("change") - n_columns if "change" in head else 1
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * n_words}{'---:|' * (len(head) - n_words)}"]
    for (row, what), values in cases.items():
        cells = [form.format(values[c]) if c in values else "" for c in range(n_columns)]
        named = [f"`{row}`", what] if row != "coverage" else [what]
        change = [change_text(values)] if row != "coverage" else []
        lines.append(f"| {' | '.join([*named, *cells, *change])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(read(STORED)), "utf-8")
    print(PAGE.relative_to(ROOT))
