"""Bounds that users set on honest risks and scores, which the ends of intervals must keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

from truerisk.core import formats
from truerisk.core.arguments import repr_on_one_line
from truerisk.core.errors import BadArgument, BoundMissed, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.registry import suggestion_for
from truerisk.results.interval import ReportedValue, Scale

AUC_SYNONYMS = {"auc": "roc_auc", "roc_auc": "auc"}
"""The name of the AUC in this package and its name in scikit-learn, each mapped to the other."""


@frozen
class HonestNumber:
    """An honest (not optimistic) risk or score, with the name that messages use for it.

    `largest_value` is the largest possible value of a score, infinity if it is unknown, and None
    for an error.
    """

    title: str
    reported_value: ReportedValue
    largest_value: float | None = None

    @property
    def as_error(self) -> HonestNumber:
        """The number as an error, for which lower is better: 1 − accuracy for an accuracy."""
        if self.largest_value is None or self.reported_value.better_direction == "lower":
            return self
        scale = Scale(self.largest_value)
        score = ReportedValue(
            scale.value(self.reported_value.value),
            scale.interval(self.reported_value.interval),
            "lower",
        )
        return HonestNumber(f"error ({self.largest_value:g} − {self.title})", score)


def numbers_of(estimate: Any) -> dict[str, HonestNumber]:
    """Return the honest numbers of an estimate and of its further scores, by name of the score."""
    return {
        estimate_or_score.scoring: HonestNumber(
            estimate_or_score.scale.name_for(estimate_or_score.named_scoring),
            ReportedValue(
                estimate_or_score.value, estimate_or_score.interval, estimate_or_score.scale.better
            ),
            estimate_or_score.perfect,
        )
        for estimate_or_score in (estimate, *getattr(estimate, "scores", {}).values())
    }


def compare_with_bound(
    honest_number: HonestNumber, bound: float, bound_text: str
) -> tuple[bool, str]:
    """Return whether the unfavourable end of an interval misses a bound, and a sentence about it.

    The lower end counts if larger is better, else the upper end. A number without an interval
    misses every bound. `bound_text` quotes the bound as the user gave it.
    """
    reported_value, number_title = honest_number.reported_value, honest_number.title
    if reported_value.interval is None:
        sentence = f"{number_title} has no interval, so nothing shows that it keeps {bound_text}."
        return True, f"bound missed: {sentence}"
    is_larger_better = reported_value.better_direction == "larger"
    tested_end, side_name = (
        (reported_value.interval.low, "lower")
        if is_larger_better
        else (reported_value.interval.high, "upper")
    )
    is_missed = tested_end < bound if is_larger_better else tested_end > bound
    value_text, end_text = (
        formats.format_risk(reported_value.value),
        formats.format_risk(tested_end),
    )
    sentence = (
        f"{number_title} {value_text}, the {side_name} end of its interval {end_text}; "
        f"{bound_text}."
    )
    value = tested_end if reported_value.value is None else reported_value.value
    if is_missed and (value >= bound if is_larger_better else value <= bound):
        sentence += (
            " The value keeps the bound, but these rows, or their groups, are too few to show it: "
            "plan more (`truerisk plan`, tr.plan_sample)."
        )
    return is_missed, f"bound {'missed' if is_missed else 'kept'}: {sentence}"


def require(honest_numbers: Mapping[str, HonestNumber], bounds: Mapping[str, float]) -> None:
    """Raise `BoundMissed` if the interval of a named risk or score does not keep its bound."""
    if not bounds:
        name = format_as_argument(next(iter(honest_numbers)), "0.2")
        raise BadArgument(f"require() was given no bound: write it as in require({name}).")
    judgements = [
        compare_with_bound(
            *_check_bound(honest_numbers, name, bound), f"require({name}={bound:.15g})"
        )
        for name, bound in bounds.items()
    ]
    missed_sentences = [sentence for is_missed, sentence in judgements if is_missed]
    if missed_sentences:
        raise BoundMissed("\n".join(missed_sentences))


def format_as_argument(name: str, bound: str = "") -> str:
    """Format a bound as an argument of a call of require(); without a bound, return its name.

    >>> format_as_argument("zero-one", "0.2"), format_as_argument("1 - auc", "0.2")
    ('zero_one=0.2', "**{'1 - auc': 0.2}")
    """
    keyword = re.sub(r"\W", "_", name)
    if keyword.isidentifier():
        return f"{keyword}={bound}" if bound else keyword
    return f"**{{{name!r}: {bound}}}" if bound else repr(name)


def _check_bound(
    honest_numbers: Mapping[str, HonestNumber], name: str, bound: float
) -> tuple[HonestNumber, float]:
    """Return the honest number to which a keyword of require() refers, and its bound as a float.

    Raise an error if the keyword names no measured number, or if no score can reach the bound.
    """
    numbers_by_keyword = {
        re.sub(r"\W", "_", keyword): honest_number
        for keyword, honest_number in honest_numbers.items()
    }
    keyword = re.sub(r"\W", "_", name)
    keyword = keyword if keyword in numbers_by_keyword else AUC_SYNONYMS.get(keyword, keyword)
    complement = {"accuracy": "zero_one", "zero_one": "accuracy"}.get(keyword)
    if keyword not in numbers_by_keyword and complement in numbers_by_keyword:
        raise UnknownName(
            f"require({name}=…): the result measures {complement}, 1 − {keyword}: write "
            f"require({complement}=1 - NUMBER)."
        )
    if keyword not in numbers_by_keyword:
        raise UnknownName(
            f"require({name}=…): this number was not measured"
            f"{suggestion_for(keyword, numbers_by_keyword) or '.'} "
            f"Measured are: {', '.join(map(format_as_argument, honest_numbers))}. A call measures "
            "more "
            "scores where it is asked for them, as in scoring=['auc', 'log']."
        )
    if isinstance(bound, bool) or not isinstance(bound, Real) or not isfinite(bound):
        raise BadArgument(f"require({name}={repr_on_one_line(bound)}): a bound is a finite number.")
    largest_value = numbers_by_keyword[keyword].largest_value
    if largest_value is not None and bound > largest_value:
        raise BadArgument(
            f"require({name}={bound:.15g}): this score is {largest_value:g} at most, so that "
            "nothing keeps the bound; write a smaller one."
        )
    return numbers_by_keyword[keyword], float(bound)
