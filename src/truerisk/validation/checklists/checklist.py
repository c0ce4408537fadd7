"""Checklists on reporting and on risk of bias, filled in as far as the data allow.

TRIPOD+AI is about reporting. PROBAST+AI is about how well a model was developed, and about bias in
its evaluation. What a program cannot know remains an open question. The items and their answers are
data: tripod_ai.toml and probast_ai.toml in this folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from truerisk.core.frozen import frozen
from truerisk.core.registry import check_present
from truerisk.core.tables import frame_of
from truerisk.results.records import Record
from truerisk.validation.checklists.study_facts import StudyFacts
from truerisk.validation.checklists.study_words import Sentences, read_toml

FILES = ("tripod_ai", "probast_ai")
NOT_APPLICABLE = "does not apply: "
"""Prefix of the answer to a question that does not apply to this study."""


@frozen
class Item:
    """One item: its question, and the answer from data and computation (None if unknown)."""

    guideline: str
    number: str
    asks: str
    answer: str | None


COLUMNS = ("guideline", "number", "asks", "answer")
ASKS = re.compile(r"(^|[.:;] )[Ss]tate (how|on|that|what|where|whether|which|why)\b[^:;]*\.$")
"""End of an answer that asks authors to state something; a column may be called "state", too."""


@frozen
class Checklist(Record):
    """All items of the guidelines; `open_questions` are those that the authors have to answer.

    `methods_text` describes the methods in a paragraph for a paper.
    """

    items: tuple[Item, ...]
    methods_text: str

    @classmethod
    def from_facts(cls, facts: StudyFacts) -> Checklist:
        """Fill in the items from the known facts of a study."""
        sentences = Sentences(facts, *FILES)
        return cls(tuple(_items(sentences)), sentences.paragraph())

    @property
    def open_questions(self) -> tuple[Item, ...]:
        """The items without an answer, and those whose answer asks you to state something."""
        return tuple(item for item in self.items if _is_open(item))

    def to_frame(self) -> Any:
        """Return a table with one row per item."""
        return frame_of({name: [getattr(item, name) for item in self.items] for name in COLUMNS})

    def save(self, path: Any) -> None:
        """Write the items to fill in: `.docx` (with the paragraph), `.xlsx` or `.csv`."""
        check_present("truerisk.validation.checklists.checklist_file")
        from truerisk.validation.checklists.checklist_file import write_table

        rows = [[getattr(item, name) or "" for name in COLUMNS] for item in self.items]
        write_table(path, COLUMNS, rows, self.methods_text)

    def __str__(self) -> str:
        """Return the answers. Items that are open, or share an answer, are listed by number."""
        lines, words = [], read_toml("probast_ai")["words"]
        for name in dict.fromkeys(item.guideline for item in self.items):
            mine = [item for item in self.items if item.guideline == name]
            lines.append(f"{name}: {_counts(mine, words['same'])}.")
            alike: dict[str, list[str]] = {words["same"]: [], words["not_developed"]: []}
            for item in mine:
                if item.answer in alike:
                    alike[item.answer].append(item.number)
                elif item.answer is not None:
                    lines.append(f"  {item.number:>4}  {item.asks}\n        {item.answer}")
            unsaid = ", ".join(item.number for item in mine if _is_open(item))
            lines += [f"  {', '.join(each)}: {answer}" for answer, each in alike.items() if each]
            lines += [f"  open, for you to answer: {unsaid}"] if unsaid else []
        return "\n".join([*lines, "", self.methods_text])


def _items(sentences: Sentences) -> Iterator[Item]:
    """Yield the items of the files, each answered by the first of its sentences that fits."""
    key = "finished" if sentences.facts["finished"] else "answer"
    for file in map(read_toml, FILES):
        for guideline in file["guidelines"]:
            for section in guideline["sections"]:
                for item in file[section]:
                    own = {"answer": [], "finished": item.get("answer", []), **item}
                    choices = guideline.get(section, own).get(key, own[key])
                    answer = sentences.fill(choices)
                    yield Item(guideline["name"], item["number"], item["asks"], answer)


def _is_open(item: Item) -> bool:
    """Return True if the authors have to answer the item, or to add to its answer."""
    return item.answer is None or ASKS.search(item.answer) is not None


def _counts(items: list[Item], same: str) -> str:
    """Return how many items the data answer, and how many do not apply."""
    answers = [str(item.answer) for item in items if item.answer != same and not _is_open(item)]
    n_idle = sum(answer.lower().startswith(NOT_APPLICABLE) for answer in answers)
    counted = f"{len(answers) - n_idle} of {len(items)} items are answered by the data"
    if not n_idle:
        return counted
    return f"{counted}, {n_idle} {'does' if n_idle == 1 else 'do'} not apply"
