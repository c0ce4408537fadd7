"""`plan_sample`: how many rows to test, and how tuning and testing share what there is."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from operator import attrgetter
from typing import Any

import numpy as np

from truerisk.api.sample_plan import MEASURES, SamplePlan, Split
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.interval import Interval
from truerisk.core.statistics.error_posterior import ErrorPosterior
from truerisk.core.statistics.sample_size import expected_measures, rows_assured, rows_for_width

__all__ = ["SamplePlan", "plan_sample"]

MOST_SPLITS = 400


def plan_sample(
    error: float | Mapping[int, float],
    *,
    width: float | None = None,
    n: int | None = None,
    confidence_level: float = 0.95,
    assurance: float = 0.9,
    prior: tuple[float, float] = (1, 1),
) -> SamplePlan:
    """Plan a test: rows for an interval of a width, and how `n` rows are shared.

    The interval is that of a hold-out, the Beta posterior of the error (`tr.ErrorPosterior`), so
    the numbers are exact: no normal law is assumed.

    Parameters
    ----------
    error : float, or dict of training rows to errors
        The error to expect. A dict says how it falls with the rows that tune and train the rule;
        between its sizes the error is taken to be linear in 1/rows, beyond them it is unknown.
    width : float, optional
        Of the interval that is wanted: how many test rows does it need?
    n : int, optional
        Rows there are in all: how are they shared? Needs a dict; with a single error the rows that
        are not tested are left over for tuning.
    confidence_level : float
        Of the interval and of the bound (ub).
    assurance : float
        Probability, .5 or more, with which the interval shall be no wider.
    prior : (float, float)
        Of the posterior.

    Returns
    -------
    SamplePlan

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.plan_sample(0.15, width=0.05).n_test
    784
    >>> plan = tr.plan_sample({30: 0.25, 60: 0.21, 150: 0.19}, n=180)
    >>> plan.best.n_tuning, plan.best.n_test
    (76, 104)
    """
    _check(error, width, n, confidence_level, assurance)
    ErrorPosterior(0, 0, prior)  # refuses what is no prior
    found: dict[str, Any] = {
        "error": dict(error) if isinstance(error, Mapping) else float(error),
        "confidence_level": confidence_level,
        "prior": prior,
    }
    expected = _smallest(error)
    if width is not None:
        rows = rows_for_width(expected, width, confidence_level, prior)
        found |= {
            "width": width,
            "n_test": rows,
            "n_assured": rows_assured(expected, width, confidence_level, prior, assurance),
            "assurance": assurance,
            "interval": _interval(expected, rows, confidence_level, prior),
        }
    if n is not None:
        found |= _shared(error, n, confidence_level, prior, found.get("n_test"))
    return SamplePlan(**found)


def _interval(error: float, n: int, level: float, prior: tuple[float, float]) -> Interval:
    return ErrorPosterior(error * n, n, prior).interval(level)


def _shared(
    error: float | Mapping[int, float],
    n: int,
    level: float,
    prior: tuple[float, float],
    n_test: int | None,
) -> dict[str, Any]:
    """Ways to share n rows: all that the learning curve allows, or what the width leaves over."""
    nested = (
        f"nested cross-validation needs no such sharing: it tests all {n} rows by rules that were "
        "tuned on the others; it estimates the risk of the procedure, not of one rule"
    )
    if isinstance(error, Mapping):
        splits = [_split(m, n, _between(error, m), level, prior) for m in _sizes(error, n)]
        best = {name: min(splits, key=attrgetter(name)) for name in MEASURES}
        shared = {"n": n, "splits": tuple(splits), "best_by": best, "best": best["ub"]}
        return {**shared, "notes": (nested,)}
    if n_test is None:
        raise Refusal(
            "with a single error nothing says what tuning gains: give the errors at several sizes, "
            "such as error={30: .25, 120: .2}, or the width that the interval shall have."
        )
    if n_test >= n:
        note = f"the width takes {n_test} test rows and there are {n}: none is left to tune on"
        return {"n": n, "notes": (note, nested)}
    split = _split(n - n_test, n, float(error), level, prior)
    return {"n": n, "splits": (split,), "best": split, "notes": (nested,)}


def _split(m: int, n: int, error: float, level: float, prior: tuple[float, float]) -> Split:
    told = expected_measures(error, n - m, level, prior)
    return Split(m, n - m, error, told["width"], told["ub"], told["above_half"], told["q2"])


def _sizes(error: Mapping[int, float], n: int) -> list[int]:
    """Every size that the learning curve covers and that leaves a test row; at most 400 of them."""
    low, high = min(error), min(max(error), n - 1)
    if low > high:
        raise Refusal(
            f"the errors are known from {low} training rows on, and {n} rows leave {n - 1} of them "
            "at most: give the error at a smaller size."
        )
    return sorted({round(m) for m in np.linspace(low, high, min(high - low + 1, MOST_SPLITS))})


def _between(error: Mapping[int, float], m: int) -> float:
    """Linear in 1/rows between the given sizes."""
    sizes = np.array(sorted(error, reverse=True), dtype=float)
    return float(np.interp(1 / m, 1 / sizes, [error[int(size)] for size in sizes]))


def _smallest(error: float | Mapping[int, float]) -> float:
    """The error at the largest size: that of the rule that will be tested."""
    return float(error[max(error)] if isinstance(error, Mapping) else error)


def _check(error: Any, width: Any, n: Any, level: float, assurance: float) -> None:
    values = list(error.values()) if isinstance(error, Mapping) else [error]
    if not values or not all(isinstance(e, Real) and 0 <= float(e) <= 1 for e in values):
        raise BadArgument(f"error={error}: an error is a share between 0 and 1, or a dict of such.")
    if isinstance(error, Mapping) and not all(
        isinstance(m, int | np.integer) and m >= 1 for m in error
    ):
        raise BadArgument(f"error={error}: its keys are numbers of training rows.")
    if width is None and n is None:
        raise UnknownName("say what to plan: width= of the interval, or n= rows to share, or both.")
    if width is not None and not (isinstance(width, Real) and 0 < float(width) < 1):
        raise BadArgument(f"width={width}: an interval of an error has a width between 0 and 1.")
    if n is not None and (not isinstance(n, int | np.integer) or n < 2):
        raise BadArgument(f"n={n}: rows to share are 2 or more.")
    if not (isinstance(level, Real) and 0 < level < 1):
        raise UnknownName(f"confidence_level={level!r}: use a level between 0 and 1.")
    if not 0.5 <= assurance < 1:
        raise UnknownName(f"assurance={assurance}: use a probability from .5 up to 1.")
