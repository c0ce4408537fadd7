"""`python -m benchmarks.calibration [--short] [--store PATH] [--seeds N] [--out FOLDER]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import one_blas_thread


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    from benchmarks.calibration.battery import FULL, SHORT
    from benchmarks.calibration.store import Store
    from benchmarks.calibration.summary import table
    from benchmarks.calibration.trial import run

    cells = SHORT if given.short else FULL
    seeds = given.seeds or (20 if given.short else 200)
    store = Store(given.store)
    done = store.done()
    started = time.perf_counter()
    for seed in range(given.first, given.first + seeds):
        for cell in cells:
            if seed % cell.stride == 0 and (cell, seed) not in done:
                store.add(cell, seed, run(cell, seed))
        if time.perf_counter() - started > given.minutes * 60:
            break
    print(table(store.lines(), cells))
    if given.picture:
        from benchmarks.calibration.picture import draw

        draw(store.lines(), cells, given.picture)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--short", action="store_true", help="three problems, 20 data sets each")
    parser.add_argument("--store", type=Path, default=Path("calibration.jsonl"), metavar="PATH")
    parser.add_argument("--seeds", type=int, metavar="N", help="data sets a cell (200, short 20)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no further seed after")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write coverages as a picture")
    return parser


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
