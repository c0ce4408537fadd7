"""`python -m tests.adversary`: attack the engines for some minutes, or repeat one case."""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event, Lock

from tests.adversary.attacking import attacked
from tests.adversary.cases import KINDS, draw_case
from tests.adversary.learners import LEARNERS
from tests.adversary.running import Worker


def main(given: list[str] | None = None) -> int:
    """0 where nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0, help="the first case; the others follow")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument(
        "--only", metavar="LEARNER", choices=[*sorted(LEARNERS), *KINDS], help="alone"
    )
    parser.add_argument("--case", type=int, help="repeat this case")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one side of a case")
    parser.add_argument("--as-drawn", action="store_true", help="print failing cases as drawn")
    asked = parser.parse_args(given)
    if asked.case is not None:
        worker = Worker(asked.limit)
        found = attacked(draw_case(asked.case, asked.only), worker, shrink=not asked.as_drawn)
        worker.close()
        print(found or f"case {asked.case}: all sides agree")
        return bool(found)
    return _campaign(asked)


def _campaign(asked: argparse.Namespace) -> int:
    until = time.monotonic() + 60 * asked.minutes
    numbers, lock, stop = count(asked.seed), Lock(), Event()
    done = [0, 0]

    def attack() -> None:
        worker = Worker(asked.limit)
        while time.monotonic() < until and not stop.is_set():
            with lock:
                number = next(numbers)
            found = attacked(draw_case(number, asked.only), worker, shrink=not asked.as_drawn)
            with lock:
                done[0] += 1
                done[1] += bool(found)
                if found:
                    print(found, "# " + "-" * 78, sep="\n", flush=True)
        worker.close()

    with ThreadPoolExecutor(asked.jobs) as threads:
        try:
            for one in [threads.submit(attack) for _ in range(asked.jobs)]:
                one.result()
        finally:
            stop.set()
    print(f"{done[0]} cases from {asked.seed} on, {done[1]} fail")
    return bool(done[1])


if __name__ == "__main__":
    sys.exit(main())
