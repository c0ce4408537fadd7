"""The answers of a checklist by the numbers of its items, and facts that differ in some fields."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from truerisk.validation.checklists.checklist import Checklist
from truerisk.validation.checklists.study_facts import StudyFacts

BEFORE = {"PROBAST+AI, evaluation": "evaluation "}


def answers_of(checklist: Checklist) -> dict[str, str | None]:
    """Those of PROBAST+AI about the evaluation have that word before their numbers."""
    return {BEFORE.get(i.guideline, "") + i.number: i.answer for i in checklist.items}


def changed(facts: StudyFacts, **changes: Any) -> StudyFacts:
    """Return the facts with these fields of their records replaced, whichever record has them."""
    for part in fields(facts):
        record = getattr(facts, part.name)
        own = {f.name: changes.pop(f.name) for f in fields(record) if f.name in changes}
        facts = replace(facts, **{part.name: replace(record, **own)})
    assert not changes
    return facts
