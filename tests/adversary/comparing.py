"""When sides of a case count as different, and how far apart numbers may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.adversary.cases import AUTO, GENERIC, Case
from tests.adversary.running import Outcome

__all__ = ["Failure", "differ", "failures"]

NEAR = 1e-9
ROUNDING = 1e-13
LAST_DIGIT = 1e-15  # a few roundings of a double, of which a model has several in a row
STEEP = 15  # a log loss above it rests on digits that 1 - p has lost
UNIT_LOSSES = ("'r2'",)
RATIOS = ("overfitting", "weight")  # of losses, in the tables of .632+


@dataclass(frozen=True)
class Failure:
    """What is wrong between two sides, in a word by which small cases are held to large ones."""

    kind: str
    sides: tuple[str, str]
    what: str

    @property
    def key(self) -> tuple[str, tuple[str, str]]:
        return self.kind, self.sides


def failures(case: Case, outcomes: Mapping[str, Outcome]) -> list[Failure]:
    """Every way in which the sides of a case are not the same."""
    found = [
        Failure("bare exception", (name, name), f"{name}: {one.error}\n{one.message}")
        for name, one in outcomes.items()
        if one.error and not one.worded and not one.late and name != "by hand"
    ]
    base = outcomes[AUTO]
    for name, one in outcomes.items():
        if name == AUTO:
            continue
        pair = AUTO, name
        if one.late:
            continue  # a side that is slower than the engine says nothing
        if base.late:
            found.append(Failure("late", pair, f"ran out of time, {name} took {one.seconds:.1f} s"))
        elif name == "by hand" and _narrower(case, base):
            continue  # truerisk refuses more than a loop does
        elif bool(base.error) != bool(one.error):
            found.append(Failure("raises alone", pair, f"{_error(base)} / {_error(one)}"))
        elif base.error != one.error and name not in ("by hand", "reordered"):
            found.append(Failure("another error", pair, f"{_error(base)} / {_error(one)}"))
        elif not base.error:
            found += _compared(case, pair, base, one)
    return found


def _narrower(case: Case, base: Outcome) -> bool:
    """Whether truerisk refuses what a loop need not; an AUC by hand is drawn where it exists."""
    return bool(base.error) and not base.error.startswith("FitFailed") and "auc" not in case.loss


def _error(one: Outcome) -> str:
    return f"{one.error}: {one.message}" if one.error else f"numbers by {one.engine}"


def _compared(case: Case, pair: tuple[str, str], base: Outcome, one: Outcome) -> list[Failure]:
    """Numbers that differ and kinds of warnings that only one side gives."""
    found = []
    a, b = base.numbers, one.numbers
    names = [n for n in a if n in b] if pair[1] == "by hand" else [*dict.fromkeys([*a, *b])]
    if pair[1] == "search":  # which averages over folds as GridSearchCV does
        names = [n for n in names if n.endswith(("loss_rows", "split_risks"))]
    if _is_steep(case, b):  # single losses can still be held to what rounding does to them
        names = [n for n in names if n.endswith(("losses", "loss_rows", "best"))]
    differing = [name for name in names if not _same(case, name, a.get(name), b.get(name))]
    if differing:
        shown = "\n".join(f"  {n}: {a.get(n)} / {b.get(n)}" for n in differing[:4])
        found.append(Failure("differs", pair, f"engine {base.engine}\n{shown}"))
    if pair == (AUTO, GENERIC):
        alone = sorted(set(base.warned) ^ set(one.warned))
        if alone:
            texts = {**base.warned, **one.warned}
            said = "\n".join(
                f"  {n} ({AUTO if n in base.warned else GENERIC}): {texts[n]}" for n in alone
            )
            found.append(Failure("warns alone", pair, f"engine {base.engine}\n{said}"))
    return found


def _is_steep(case: Case, numbers: Mapping[str, Any]) -> bool:
    """Return True if a row of a log loss has a probability that is mostly rounding."""
    if "log" not in getattr(case, "loss", ""):
        return False
    losses = [np.asarray(v, dtype=float) for n, v in numbers.items() if n.endswith("losses")]
    return any(bool((each > STEEP).any()) for each in losses if each.ndim)


def differ(case: Case, one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes of one side have other numbers."""
    return bool(_compared(case, (GENERIC, GENERIC), one, other))


def _same(case: Case, name: str, a: Any, b: Any) -> bool:
    if (a is None) != (b is None) and name.endswith(("std_error", "interval")):
        given = np.asarray(b if a is None else a, dtype=float)  # of losses that are rounding alone
        return bool((np.abs(given) <= tolerance(case, name, given)).all())
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return type(a) is type(b) and a == b
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return False
    if name.endswith(("best", "loss_rows")):
        return np.array_equal(a, b)
    with np.errstate(all="ignore"):
        allowed = tolerance(case, name, b)
        near = (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
    return bool(near.all())


def tolerance(case: Case, name: str, expected: np.ndarray) -> Any:
    """1e-9 of the scale of the loss, and what rounding of a prediction does to it.

    A model whose columns lie far from zero beside their spread loses as many digits of its
    predictions; a squared loss turns that rounding into twice the residual times it, which is more
    than 1e-9 of the loss where the residual is small beside a target that does not vary.
    """
    size = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    if case.task == "classification":
        near = NEAR * max(1.0, size)
        if "log" in case.loss and name.endswith("losses"):
            return near + 8 * LAST_DIGIT * np.exp(np.minimum(expected, 40))
        return near
    y = np.asarray(case.table.y, dtype=float)
    spread, largest = float(np.ptp(y, axis=0).max()), float(np.abs(y).max())
    rounding = (ROUNDING + LAST_DIGIT * _distance(case.table.X)) * largest
    if case.loss in UNIT_LOSSES or name.endswith(RATIOS):
        # in units of the spread, and that of a fold may be much smaller
        return max(1.0, size) * (NEAR + 12 * rounding / (max(spread, rounding) or 1.0))
    if case.loss in ("'absolute'", "'neg_median_absolute_error'"):
        return NEAR * max(spread, size) + rounding
    return NEAR * max(spread**2, size) + rounding * max(spread, size**0.5, rounding)


def _distance(X: np.ndarray) -> float:
    """How many times its spread the farthest of the varying columns lies from zero."""
    varying = X[:, np.ptp(X, axis=0) > 0] if len(X) else X
    return float((np.abs(varying).max(axis=0) / np.ptp(varying, axis=0)).max(initial=0.0))
