"""`python -m tests.adversary`: attack the engines for some minutes, or repeat one case."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from threading import Event, Lock

from tests.adversary.cases import Case, draw_case
from tests.adversary.comparing import Failure, failures
from tests.adversary.learners import LEARNERS
from tests.adversary.running import Worker
from tests.adversary.shrinking import shrunk

CLOSING = """
if __name__ == "__main__":
    import warnings

    for call in {calls}:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = eval(call)
                shown = result if isinstance(result, dict) else seen(result)
            except Exception as error:
                shown = repr(error)
        print(call, shown, {{w.category.__name__ for w in caught}}, sep="\\n  ")
"""


def main(given: list[str] | None = None) -> int:
    """0 where nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0, help="the first case; the others follow")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--only", choices=sorted(LEARNERS), help="draw this learner alone")
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


def attacked(case: Case, worker: Worker, *, shrink: bool = True) -> str:
    """Nothing, or what fails in the case and the smallest script that shows it."""
    found = failures(case, worker.outcomes(case))
    if not found:
        return ""
    first = found[0]
    if shrink:
        case = small(case, first, worker)
        found = [one for one in failures(case, worker.outcomes(case)) if one.key == first.key]
    return report(case, found or [first])


def small(case: Case, failure: Failure, worker: Worker) -> Case:
    """The smallest case found that fails in the same way between the same sides."""
    sides = set(failure.sides) | {"auto", "generic"}
    first = replace(case, more=tuple(m for m in case.more if m in sides))

    def fails(other: Case) -> bool:
        return any(one.key == failure.key for one in failures(other, worker.outcomes(other)))

    return shrunk(first, fails) if failure.kind != "late" else first


def report(case: Case, found: list[Failure]) -> str:
    """What failed, and a script to paste."""
    calls = [call for name, call in case.sides.items() if name in {s for f in found for s in f.sides}]
    head = "\n".join(f"# {line}" for f in found for line in _lines(f))
    script = with_closing(case, calls)
    return f"# case {case.number}\n{head}\n\n{script}"


def with_closing(case: Case, calls: list[str]) -> str:
    """The script of a case, which says what each of these calls gives."""
    import inspect

    from tests.adversary import pasted

    seeing = "\n\n".join(inspect.getsource(f) for f in (pasted.seen_estimate, pasted.seen))
    return f"{case.script}\n\n{seeing}\n{CLOSING.format(calls=calls)}"


def _lines(failure: Failure) -> list[str]:
    return [f"{failure.kind}, {' and '.join(failure.sides)}:", *failure.what.splitlines()]


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
