"""Run parts of the two studies, and print the tables of the page.

    python -m benchmarks.published_intervals --stores DIR --learners linear tree --sets 60
    python -m benchmarks.published_intervals --stores DIR --tables

Each run leaves a store in DIR, and goes on with it where it was stopped; the tables are made of all
stores that lie there.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import one_blas_thread
from benchmarks.published_intervals.tables import printed

__all__ = ["main", "part"]

FOLDER = Path(__file__).parent


KINDS = ("problems", "learners", "methods")
STUDIES = ("classes", "numbers")


def _spec(study: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{study}.toml").read_text("utf-8"))


def known(kind: str) -> list[str]:
    """The names of a kind in either study."""
    return sorted({entry["name"] for study in STUDIES for entry in _spec(study)[kind]})


def part(study: str, given: argparse.Namespace) -> dict[str, Any] | None:
    """The specification less what was not asked for; None where nothing is left."""
    spec = _spec(study)
    for kind in KINDS:
        wanted = getattr(given, kind)
        spec[kind] = [entry for entry in spec[kind] if not wanted or entry["name"] in wanted]
    spec["replicates"] = given.sets or spec["replicates"]
    spec["sizes"] = given.rows or spec["sizes"]
    return spec if all(spec[kind] for kind in KINDS) else None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.published_intervals")
    parser.add_argument("--stores", type=Path, required=True, help="the folder of the stores")
    parser.add_argument("--name", default="part", help="of the store of this run (part)")
    parser.add_argument("--sets", type=int, help="data sets of each cell (60)")
    parser.add_argument("--rows", type=int, nargs="+", help="of a data set (100)")
    for kind in KINDS:
        parser.add_argument(
            f"--{kind}", nargs="+", default=[], choices=known(kind), metavar="NAME",
            help=f"these alone: {', '.join(known(kind))}".replace("%", "%%"),
        )  # fmt: skip
    parser.add_argument("--tables", action="store_true", help="print what the stores hold")
    given = parser.parse_args(arguments)
    given.stores.mkdir(parents=True, exist_ok=True)
    if not given.tables:
        run(given)
    tables = printed(given.stores)
    if not tables.strip():
        parser.error(f"no store in {given.stores} has a result: run a part first, without --tables")
    print(tables)
    return 0


def run(given: argparse.Namespace) -> None:
    """Run what was asked for of either study."""
    import truerisk as tr

    warnings.simplefilter("ignore")
    for study in STUDIES:
        spec = part(study, given)
        if spec is not None:
            store = given.stores / f"{given.name}-{study}.db"
            tr.Study(spec, store, allow_import=True).run()


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
