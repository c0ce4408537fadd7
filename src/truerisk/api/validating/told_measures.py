"""Which measures a validation tells, and which of them have intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truerisk.api.validating.honest import HonestRun
from truerisk.core.interval import Interval
from truerisk.core.validation.discrimination import Discrimination
from truerisk.core.validation.net_benefit import NetBenefit
from truerisk.core.validation.smooth_calibration import SmoothCalibration
from truerisk.core.validation.study_facts import CURVE, SLOPE, Rated
from truerisk.core.validation.subgroups import Subgroups

__all__ = ["losses_by_level", "shrunken_columns", "told_measures"]

RANKS = {"auc": "AUC", "average-precision": "average precision"}
ERRORS = {"brier": "Brier score", "squared": "squared error"}
LINE = {"slope": SLOPE, "intercept": "intercept"}
POINTWISE = "pointwise"


def told_measures(run: HonestRun, parts: Mapping[str, Any]) -> tuple[Rated, ...]:
    """The loss, and of the parts that there are what has a value."""
    loss = run.problem.loss.word
    found = [Rated(loss, interval=_word(run.risk.interval))]
    found += [one for part in parts.values() for one in _of_part(part) if one.name != loss]
    known = {ERRORS.get(loss), RANKS.get(loss)}  # the loss once more, by another name
    return tuple(one for one in found if one.name not in known)


def _of_part(part: Any) -> Iterator[Rated]:
    if isinstance(part, Discrimination):
        yield from _measured(part, RANKS, "discrimination")
    elif isinstance(part, SmoothCalibration):
        yield from _measured(part, LINE, "calibration")
        if part.curve is not None:
            band = None if part.curve.low is None else POINTWISE
            yield Rated(CURVE, "calibration", band)
        yield from _measured(part, ERRORS, "")
    elif isinstance(part, NetBenefit):
        yield Rated("net benefit", interval=None if part.low is None else POINTWISE)


def _measured(
    part: Discrimination | SmoothCalibration, names: Mapping[str, str], title: str
) -> Iterator[Rated]:
    for word, name in names.items():
        one = part.measures.get(word)
        if one is not None and one.honest is not None:
            yield Rated(name, title, _word(one.interval))


def losses_by_level(subgroups: Subgroups | None) -> tuple[Rated, ...]:
    """The losses that are told of subgroups, each with the interval of its levels."""
    risks = () if subgroups is None else subgroups.risks
    words = ({_word(level.interval) for level in one.levels} - {None} for one in risks)
    return tuple(
        Rated(one.loss, interval=min(sure, default=None, key=str))
        for one, sure in zip(risks, words, strict=True)
    )


def shrunken_columns(subgroups: Subgroups | None) -> tuple[str, ...]:
    """The columns of which some level is drawn to the mean of all."""
    risks = () if subgroups is None else subgroups.risks
    levels = (level for one in risks for level in one.levels if level.shrunken is not None)
    return tuple(dict.fromkeys(level.subgroup.column for level in levels))


def _word(interval: Interval | None) -> str | None:
    return None if interval is None else interval.method
