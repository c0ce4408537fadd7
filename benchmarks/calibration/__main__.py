"""`python -m benchmarks.calibration [--short | --hard | --pairs | --scores | --means] ...`."""

from __future__ import annotations

import argparse
import os
import sys
from _thread import interrupt_main
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

from benchmarks.machine import one_blas_thread

FOLDER = "TRUERISK_DATA"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.papers is not None:
        os.environ[FOLDER] = str(given.papers)
    from benchmarks.calibration.battery import FULL, HARD, MEANS, PAIRS, SCORES, SHORT
    from benchmarks.calibration.by_loss import by_loss
    from benchmarks.calibration.by_loss import text as text_of_losses
    from benchmarks.calibration.store import LINES, collect, lines
    from benchmarks.calibration.summary import coverage, table
    from benchmarks.calibration.surplus import surpluses, text
    from benchmarks.calibration.tables import here
    from truerisk.cli.output import show_progress
    from truerisk.exceptions import NotWritten, TrueRiskError
    from truerisk.results.writing import writable_path

    forms = {"short": SHORT, "hard": HARD, "pairs": PAIRS, "scores": SCORES, "means": MEANS}
    cells = next((cells for word, cells in forms.items() if getattr(given, word)), FULL)
    cells, missing = here(cells)
    if missing:
        print(f"left out for want of --papers: {', '.join(missing)}", file=sys.stderr)
    seeds = given.seeds or (20 if given.short else 300)
    failed = 0
    try:
        for path in filter(None, (given.store, given.picture)):
            writable_path(path)
    except NotWritten as error:
        parser.error(str(error))
    if given.store.suffix != LINES:
        with show_progress(), _stopped_after(given.minutes):
            try:
                failed = collect(given.store, cells, seeds, given.executor, given.first_seed)
            except TrueRiskError as error:
                parser.error(str(error))
    elif not given.store.exists():
        parser.error(f"{given.store}: there are no such results; new ones go to a file .db.")
    found = list(lines(given.store))
    print(table(found, cells))
    print(text(surpluses(found, cells)))
    print(text_of_losses(by_loss(found, cells)))
    if given.picture:
        from benchmarks.calibration.picture import draw

        draw(found, cells, given.picture)
    if failed:
        print(f"{failed} data sets have no result.", file=sys.stderr)
    covers = coverage(found, cells, "default")
    short = given.at_least is not None and not covers >= given.at_least
    if short:
        print(f"default covers {covers:.3f}, wanted {given.at_least:g}.", file=sys.stderr)
    return 1 if failed or short else 0


@contextmanager
def _stopped_after(minutes: float | None) -> Iterator[None]:
    """As if Ctrl-C were pressed: what was found is stored, and the table is made of it."""
    if minutes is None:
        yield
        return
    timer = Timer(60 * minutes, interrupt_main)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if timer.is_alive():  # somebody did press it
            raise
    finally:
        timer.cancel()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration", description=__doc__)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true", help="three problems, 20 data sets each")
    form.add_argument("--pairs", action="store_true", help="the intervals of pairs alone")
    form.add_argument("--scores", action="store_true", help="all scores, and losses by name")
    form.add_argument("--means", action="store_true", help="scores averaged over folds, and pooled")
    form.add_argument("--hard", action="store_true", help="five cells of trees, not of the battery")
    parser.add_argument(
        "--store",
        type=Path,
        default=Path("calibration.db"),
        metavar="PATH",
        help="where results are kept, and gone on with; of a file .jsonl the table is printed",
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="data sets a cell (300, short 20)")
    parser.add_argument(
        "--first-seed",
        type=int,
        default=0,
        metavar="N",
        help="the first data set's seed (0): for drawings that took no part in a choice",
    )
    parser.add_argument(
        "--executor",
        metavar="WHERE",
        type=lambda word: int(word) if word.isdecimal() else word,
        help="a number of workers, or dask://…",
    )
    parser.add_argument("--minutes", type=float, metavar="M", help="stop after, and print")
    parser.add_argument(
        "--at-least",
        type=float,
        metavar="SHARE",
        help="fail where the default interval holds Err in a smaller share of the data sets",
    )
    parser.add_argument(
        "--papers", type=Path, metavar="DIR", help="the documents' tables, as in TRUERISK_DATA"
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write coverages as a picture")
    return parser


if __name__ == "__main__":
    one_blas_thread()
    sys.exit(main())
