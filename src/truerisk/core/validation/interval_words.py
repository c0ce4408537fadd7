"""Which measures a study has, and which of them have intervals, in words."""

from __future__ import annotations

from collections.abc import Sequence

from truerisk.core.validation.study_facts import Rated, StudyFacts

__all__ = ["levels_said", "listed", "measured_by", "shrunken_said", "sure_said"]


def listed(names: Sequence[str]) -> str:
    """With an "and" before the last.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _level(facts: StudyFacts) -> str:
    """The confidence level."""
    return f"{100 * facts.confidence_level:g}%"


def measured_by(facts: StudyFacts) -> str:
    """The measures, those of one part together."""
    parts: dict[str, list[str]] = {}
    for one in facts.measures:
        parts.setdefault(one.part or one.name, []).append(one.name)
    return ", ".join(
        name if names == [name] else f"{name} ({', '.join(names)})" for name, names in parts.items()
    )


def sure_said(facts: StudyFacts) -> str:
    """Which of the measures have an interval."""
    sure = _sure(facts.measures)
    if not sure:
        return "without intervals"
    if len(sure) == len(facts.measures):
        return f"with {_level(facts)} intervals"
    return f"with {_level(facts)} intervals of {listed(sure)} alone"


def levels_said(facts: StudyFacts, intervals: str) -> str:
    """The `intervals` that subgroups have, and of which losses."""
    sure = _sure(facts.by_level)
    if not sure:
        return "without intervals"
    of = "" if len(sure) == len(facts.by_level) else f" (of {listed(sure)})"
    return f"with {intervals}{of}"


def shrunken_said(facts: StudyFacts) -> str:
    """Which columns have estimates drawn to the mean of their levels; nothing where none has."""
    if not facts.shrunken:
        return ""
    of = "" if facts.shrunken == facts.subgroups else f" by {listed(facts.shrunken)}"
    return f" and empirical Bayes estimates{of}"


def _sure(measures: Sequence[Rated]) -> list[str]:
    return [one.name for one in measures if one.interval is not None]
