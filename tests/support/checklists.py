"""The answers of a checklist by the numbers of its items."""

from __future__ import annotations

from truerisk.validation.checklists.checklist import Checklist

BEFORE = {"PROBAST+AI, evaluation": "evaluation "}


def answers_of(checklist: Checklist) -> dict[str, str | None]:
    """Those of PROBAST+AI about the evaluation have that word before their numbers."""
    return {BEFORE.get(i.guideline, "") + i.number: i.answer for i in checklist.items}
