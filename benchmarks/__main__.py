"""`python -m benchmarks [row ...] [--json FILE] [--repeats N] [--quick] [--list]`.

Ends with 1 where the sides of a row disagree or a row cannot run; a missed target is only shown,
since these are measurements.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import facts, one_blas_thread
from benchmarks.report import as_json, head, line, table
from benchmarks.results import Options
from benchmarks.rows import measure, registry


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.list:
        print(registry)
        return 0
    unknown = [word for word in given.rows if word not in registry]
    if unknown:
        known = ", ".join(registry)
        print(f"there is no row {', '.join(unknown)}; the rows are {known}.", file=sys.stderr)
        return 2
    options = Options(repeats=given.repeats or (3 if given.quick else 9), quick=given.quick)
    machine = facts()
    print(head(machine, options), end="\n\n", flush=True)
    results = []
    for word in given.rows or registry:
        print(f"measuring {word}", file=sys.stderr)
        for result in measure(word, options):
            print(line(word, result), file=sys.stderr, flush=True)
            results.append((word, result))
    print(table(results))
    if given.json:
        given.json.write_text(as_json(results, machine, options) + "\n", "utf-8")
    return int(any(result.error is not None for _, result in results))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="row", help="which rows (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    parser.add_argument("--repeats", type=_count, metavar="N", help="rounds (default 9, quick 3)")
    parser.add_argument("--quick", action="store_true", help="smaller problems, fewer rounds")
    parser.add_argument("--list", action="store_true", help="print the rows and end")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    one_blas_thread()  # nothing above has imported numpy yet
    sys.exit(main())
