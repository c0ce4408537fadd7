"""A reporting and a risk-of-bias checklist, filled in as far as the data tell.

An item is told in our words and carries the number that it has in its guideline: TRIPOD+AI (Collins
et al., 2024) for what a report says, PROBAST (Wolff et al., 2019) for what may bias it. What a
program cannot know stays an open question.

Collins GS, Moons KGM, Dhiman P et al. (2024). TRIPOD+AI statement: updated guidance for reporting
clinical prediction models that use regression or machine learning methods. BMJ 385:e078378.
Wolff RF, Moons KGM, Riley RD et al. (2019). PROBAST: a tool to assess the risk of bias and
applicability of prediction model studies. Annals of Internal Medicine 170:51–58.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truerisk.core.records import Record
from truerisk.core.results import frame_of
from truerisk.core.validation.methods_words import methods_words
from truerisk.core.validation.probast import PROBAST
from truerisk.core.validation.study_facts import StudyFacts
from truerisk.core.validation.tripod_ai import TRIPOD_AI

__all__ = ["Checklist", "Item"]

GUIDELINES = {"TRIPOD+AI": TRIPOD_AI, "PROBAST": PROBAST}


@dataclass(frozen=True)
class Item:
    """One item: what it asks, and what the data and the computation answer, None if nothing."""

    guideline: str
    number: str
    asks: str
    answer: str | None


@dataclass(frozen=True)
class Checklist(Record):
    """All items of both guidelines; `open_questions` are those that only people can answer.

    `methods_text` is what was done, as a paragraph for a paper.
    """

    items: tuple[Item, ...]
    methods_text: str

    @classmethod
    def of(cls, facts: StudyFacts) -> Checklist:
        """Filled in by what is known of a study."""
        items = tuple(
            Item(name, question.number, question.asks, question.answer(facts))
            for name, questions in GUIDELINES.items()
            for question in questions
        )
        return cls(items, methods_words(facts))

    @property
    def open_questions(self) -> tuple[Item, ...]:
        """What no data and no computation tell."""
        return tuple(item for item in self.items if item.answer is None)

    def frame(self) -> Any:
        """A line for each item."""
        names = ("guideline", "number", "asks", "answer")
        return frame_of({name: [getattr(item, name) for item in self.items] for name in names})

    def __str__(self) -> str:
        """The answers; of the open questions the numbers, `frame` has them all."""
        lines = []
        for name in GUIDELINES:
            mine = [item for item in self.items if item.guideline == name]
            told = [item for item in mine if item.answer is not None]
            unsaid = ", ".join(item.number for item in mine if item.answer is None)
            lines.append(f"{name}: {len(told)} of {len(mine)} items are told by the data.")
            lines += [f"  {item.number:>4}  {item.asks}\n        {item.answer}" for item in told]
            lines.append(f"  open, and yours to answer: {unsaid}")
        return "\n".join([*lines, "", self.methods_text])
