"""The answers of a checklist by the numbers of its items, and facts that differ in some fields."""

from dataclasses import fields, replace
from typing import Any

from truerisk.validation.checklists.checklist import Checklist
from truerisk.validation.checklists.study_facts import (
    ReportedMeasure,
    StudyFacts,
    StudyModel,
    StudyResults,
    StudyRows,
    StudySoftware,
    StudyTesting,
)

FACTS = StudyFacts(
    rows=StudyRows(
        n_rows=200, n_columns=8, class_counts={"no": 150, "yes": 50}, n_gaps=0, n_rows_with_gaps=0
    ),
    model=StudyModel(
        steps=("StandardScaler", "LogisticRegression"),
        setting="C=1",
        response="probability",
        n_settings=3,
    ),
    testing=StudyTesting(chosen_by="10-fold", tested_by="pairs (10-fold)"),
    results=StudyResults(
        measures=(ReportedMeasure("zero-one loss", "", "beta-cv", 0.2, (0.15, 0.26)),)
    ),
    software=StudySoftware(versions={"truerisk": "1"}),
)
"""A study of 200 rows in two classes, of a tuned logistic regression."""

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


def answers(facts: StudyFacts) -> dict[str, str | None]:
    """Return the answers of the checklist of a study by the numbers of its items."""
    return answers_of(Checklist.from_facts(facts))
