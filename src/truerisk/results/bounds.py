"""Bounds that a user sets on honest numbers; the unfavourable end of an interval must keep them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

from truerisk.core import formats
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, BoundMissed, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.registry import closest
from truerisk.results.interval import Reported, Scale

ALIKE = {"auc": "roc_auc", "roc_auc": "auc"}
"""The two names of one score, in this package and in scikit-learn."""


@frozen
class HonestNumber:
    """An honest number, with the name that messages use for it.

    `most` is the largest possible value of a score, infinity if it is unknown, and None for an
    error.
    """

    title: str
    own: Reported
    most: float | None = None

    @property
    def as_error(self) -> HonestNumber:
        """The number as an error, for which lower is better: 1 − accuracy for an accuracy."""
        if self.most is None or self.own.better == "lower":
            return self
        scale = Scale(self.most)
        score = Reported(scale.value(self.own.value), scale.interval(self.own.interval), "lower")
        return HonestNumber(f"error ({self.most:g} − {self.title})", score)


def numbers_of(risk: Any) -> dict[str, HonestNumber]:
    """Return the number of an estimate and those of its further scores, by name."""
    return {
        each.scoring: HonestNumber(
            each.scale.name_for(each.named_scoring),
            Reported(each.value, each.interval, each.scale.better),
            each.perfect,
        )
        for each in (risk, *getattr(risk, "scores", {}).values())
    }


def judge(number: HonestNumber, bound: float, requested: str) -> tuple[bool, str]:
    """Return True if the unfavourable end of the interval misses the bound, and a sentence on it.

    The lower end counts if larger is better, else the upper end. A number without an interval
    misses every bound. `requested` quotes the bound as the user gave it.
    """
    own, name = number.own, number.title
    if own.interval is None:
        sentence = f"{name} has no interval, so nothing shows that it keeps {requested}."
        return True, f"bound missed: {sentence}"
    larger = own.better == "larger"
    end, side = (own.interval.low, "lower") if larger else (own.interval.high, "upper")
    is_missed = end < bound if larger else end > bound
    value, end_text = formats.risk(own.value), formats.risk(end)
    sentence = f"{name} {value}, the {side} end of its interval {end_text}; {requested}."
    return is_missed, f"bound {'missed' if is_missed else 'kept'}: {sentence}"


def require(numbers: Mapping[str, HonestNumber], bounds: Mapping[str, float]) -> None:
    """Raise `BoundMissed` unless the interval of each named number keeps its bound."""
    if not bounds:
        name = _as_argument(next(iter(numbers)), "0.2")
        raise BadArgument(f"require() was given no bound: write it as in require({name}).")
    judged = [
        judge(*_checked(numbers, name, bound), f"require({name}={bound:.15g})")
        for name, bound in bounds.items()
    ]
    missed = [sentence for is_missed, sentence in judged if is_missed]
    if missed:
        raise BoundMissed("\n".join(missed))


def _as_argument(name: str, bound: str = "") -> str:
    """Return a bound of this name as it is written in a call, or the name alone.

    >>> _as_argument("zero-one", "0.2"), _as_argument("1 - auc", "0.2")
    ('zero_one=0.2', "**{'1 - auc': 0.2}")
    """
    label = re.sub(r"\W", "_", name)
    if label.isidentifier():
        return f"{label}={bound}" if bound else label
    return f"**{{{name!r}: {bound}}}" if bound else repr(name)


def _checked(
    numbers: Mapping[str, HonestNumber], name: str, bound: float
) -> tuple[HonestNumber, float]:
    """Return the number that a keyword names and its bound; refuse an unreachable bound."""
    by_keyword = {re.sub(r"\W", "_", label): number for label, number in numbers.items()}
    label = re.sub(r"\W", "_", name)
    label = label if label in by_keyword else ALIKE.get(label, label)
    if label not in by_keyword:
        raise UnknownName(
            f"require({name}=…): this number was not measured{closest(label, by_keyword) or '.'} "
            f"Measured are: {', '.join(map(_as_argument, numbers))}. A call measures more scores "
            "where it is asked for them, as in scoring=['auc', 'log']."
        )
    if isinstance(bound, bool) or not isinstance(bound, Real) or not isfinite(bound):
        raise BadArgument(f"require({name}={shown(bound)}): a bound is a finite number.")
    most = by_keyword[label].most
    if most is not None and bound > most:
        raise BadArgument(
            f"require({name}={bound:.15g}): this score is {most:g} at most, so that nothing keeps "
            "the bound; write a smaller one."
        )
    return by_keyword[label], float(bound)
