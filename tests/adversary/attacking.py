"""One case attacked: run, compared, made small where it fails, and reported as a script."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from tests.adversary import pasted
from tests.adversary.cases import AUTO, GENERIC, Case
from tests.adversary.comparing import Failure, differ, failures
from tests.adversary.plain import Plain
from tests.adversary.running import Outcome
from tests.adversary.shrinking import shrunk

__all__ = ["attacked", "report", "small"]

AGAIN = 3  # times that a model is asked anew, where two sides of a case differ
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


class Runs(Protocol):
    """Whatever makes the sides of a case: a worker, or this process."""

    def outcomes(self, case: Case | Plain) -> dict[str, Outcome]:
        """Every side."""
        ...


def attacked(case: Case | Plain, worker: Runs, *, shrink: bool = True) -> str:
    """Nothing, or what fails in the case and the smallest script that shows it."""
    outcomes = worker.outcomes(case)
    found = failures(case, outcomes)
    if not found or _is_random(case, outcomes, worker):
        return ""
    first = found[0]
    if shrink and isinstance(case, Case):
        case = small(case, first, worker)
        found = [one for one in failures(case, worker.outcomes(case)) if one.key == first.key]
    return report(case, found or [first])


def _is_random(case: Case | Plain, outcomes: Mapping[str, Outcome], worker: Runs) -> bool:
    """Whether the model itself answers otherwise when it is asked again, with the same seed.

    PCA of a sparse table without a last component does: nothing can be held against such answers.
    """
    if not isinstance(case, Case):
        return False
    again = (worker.outcomes(case)[GENERIC] for _ in range(AGAIN))
    return any(differ(case, outcomes[GENERIC], one) for one in again)


def small(case: Case, failure: Failure, worker: Runs) -> Case:
    """The smallest case found that fails in the same way between the same sides."""
    sides = set(failure.sides) | {AUTO, GENERIC}
    first = replace(case, more=tuple(m for m in case.more if m in sides))

    def fails(other: Case) -> bool:
        return any(one.key == failure.key for one in failures(other, worker.outcomes(other)))

    return shrunk(first, fails) if failure.kind != "late" else first


def report(case: Case | Plain, found: list[Failure]) -> str:
    """What failed, and a script to paste."""
    shown = {AUTO, GENERIC}.union(*(one.sides for one in found))
    calls = [call for name, call in case.sides.items() if name in shown]
    head = "\n".join(f"# {line}" for f in found for line in _lines(f))
    script = with_closing(case, calls)
    return f"# case {case.number}\n{head}\n\n{script}"


def with_closing(case: Case | Plain, calls: list[str]) -> str:
    """The script of a case, which says what each of these calls gives."""
    seeing = "\n\n".join(inspect.getsource(f) for f in (pasted.seen_estimate, pasted.seen))
    return f"{case.script}\n\n{seeing}\n{CLOSING.format(calls=calls)}"


def _lines(failure: Failure) -> list[str]:
    return [f"{failure.kind}, {' and '.join(failure.sides)}:", *failure.what.splitlines()]
