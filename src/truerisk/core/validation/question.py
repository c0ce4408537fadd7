"""A question of a guideline, and what answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from truerisk.core.validation.study_facts import StudyFacts

__all__ = ["Question", "nobody_knows"]


def nobody_knows(facts: StudyFacts) -> str | None:
    """Only people can answer."""
    return None


@dataclass(frozen=True)
class Question:
    """The number of an item, what it asks in our words, and the sentence that facts make of it."""

    number: str
    asks: str
    answer: Callable[[StudyFacts], str | None] = nobody_knows
