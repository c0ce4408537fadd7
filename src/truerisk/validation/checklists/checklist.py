"""Checklists on reporting and on risk of bias, filled in as far as the data allow.

TRIPOD+AI is about reporting. PROBAST+AI is about how well a model was developed, and about bias in
its evaluation. What a program cannot know is left for the authors to answer. The items and the
sentences that answer them are data: tripod_ai.toml and probast_ai.toml in this folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import check_present
from truerisk.core.tables import Block, frame_from_columns
from truerisk.results.records import Record
from truerisk.validation.checklists.paper_words import read_toml
from truerisk.validation.checklists.study_facts import StudyFacts
from truerisk.validation.checklists.study_words import Sentences

GUIDELINE_FILES = ("tripod_ai", "probast_ai")
NOT_APPLICABLE = "does not apply: "
"""Prefix of the answer to a question that does not apply to this study."""


@frozen
class Item:
    """Item of a checklist: its question, and its answer from the data (None if unknown)."""

    guideline: str
    number: str
    asks: str
    answer: str | None


ITEM_FIELDS = ("guideline", "number", "asks", "answer")
STATE_REQUEST_PATTERN = re.compile(
    r"(^|[.:;] )[Ss]tate (how|on|that|what|where|whether|which|why)\b[^:;]*\.$"
)
"""Pattern of a request to authors to state something; a column may be called "state", too."""


@frozen
class Checklist(Record):
    """Items of all guidelines; `open_questions` are the items that the authors have to answer.

    `methods_text` describes the methods in a paragraph for a paper.
    """

    items: tuple[Item, ...]
    methods_text: str

    @classmethod
    def from_facts(cls, study_facts: StudyFacts) -> Checklist:
        """Fill in the items from the known facts of a study."""
        sentences = Sentences(study_facts, *GUIDELINE_FILES)
        return cls(tuple(_answered_items(sentences)), sentences.paragraph())

    @property
    def open_questions(self) -> tuple[Item, ...]:
        """The items without an answer, and those whose answer asks you to state something."""
        return tuple(item for item in self.items if _needs_authors_answer(item))

    def to_frame(self) -> Any:
        """Return a table with one row per item."""
        return frame_from_columns(
            {name: [getattr(item, name) for item in self.items] for name in ITEM_FIELDS}
        )

    def save(self, path: Any) -> None:
        """Write the items to fill in: `.docx` (with the paragraph), `.xlsx` or `.csv`."""
        check_present("truerisk.validation.checklists.checklist_file")
        from truerisk.validation.checklists.checklist_file import write_checklist

        table_rows = [[getattr(item, name) or "" for name in ITEM_FIELDS] for item in self.items]
        write_checklist(path, ITEM_FIELDS, table_rows, self.methods_text)

    @property
    def summary(self) -> str:
        """Counts of answered items by guideline, and a line that says where the answers are."""
        titles = [title for title, _, _ in self._guidelines()]
        where = "The page, or print(result.checklist), has the answers and a paragraph for a paper."
        return "\n".join([*titles, where])

    def __str__(self) -> str:
        """Return the answers; items with no answer, or with a shared one, are listed by number."""
        text_lines = []
        for title, answered_items, notes in self._guidelines():
            text_lines.append(title)
            text_lines += [
                f"  {item.number:>4}  {item.asks}\n        {item.answer}" for item in answered_items
            ]
            text_lines += [f"  {note}" for note in notes]
        return "\n".join([*text_lines, "", self.methods_text])

    @override
    def blocks(self) -> list[Block]:
        blocks = []
        for title, answered_items, notes in self._guidelines():
            rows = [[item.number, item.asks, item.answer or ""] for item in answered_items]
            blocks.append(Block(title, ["item", "asks", "answer"], rows))
            blocks += [Block("", [""], [[note] for note in notes])] if notes else []
        return [*blocks, Block("Methods", [""], [[self.methods_text]])]

    def _guidelines(self) -> Iterator[tuple[str, list[Item], list[str]]]:
        """Yield for each guideline its title, the items with an own answer, and notes.

        The notes list the other items by number.
        """
        shared_answers = read_toml("probast_ai")["words"]
        for guideline in dict.fromkeys(item.guideline for item in self.items):
            guideline_items = [item for item in self.items if item.guideline == guideline]
            counts_text = _answer_counts_text(guideline_items, shared_answers["same"])
            numbers_by_answer: dict[str, list[str]] = {
                shared_answers["same"]: [],
                shared_answers["not_developed"]: [],
            }
            answered_items = []
            for item in guideline_items:
                if item.answer in numbers_by_answer:
                    numbers_by_answer[item.answer].append(item.number)
                elif item.answer is not None:
                    answered_items.append(item)
            open_items = [item for item in guideline_items if _needs_authors_answer(item)]
            in_part, unanswered = (
                ", ".join(item.number for item in open_items if (item.answer is None) == is_empty)
                for is_empty in (False, True)
            )
            notes = [
                f"{', '.join(item_numbers)}: {answer}"
                for answer, item_numbers in numbers_by_answer.items()
                if item_numbers
            ]
            notes += [f"answered in part, for you to complete: {in_part}"] if in_part else []
            notes += [f"open, for you to answer: {unanswered}"] if unanswered else []
            yield f"{guideline}: {counts_text}.", answered_items, notes


def _answered_items(sentences: Sentences) -> Iterator[Item]:
    """Yield all items, each answered by the first of its sentences that applies to the study."""
    answer_key = "finished" if sentences.facts["finished"] else "answer"
    for checklist_content in map(read_toml, GUIDELINE_FILES):
        for guideline in checklist_content["guidelines"]:
            for section in guideline["sections"]:
                for item in checklist_content[section]:
                    item_sentences = {"answer": [], "finished": item.get("answer", []), **item}
                    sentence_choices = guideline.get(section, item_sentences).get(
                        answer_key, item_sentences[answer_key]
                    )
                    answer = sentences.fill(sentence_choices)
                    yield Item(guideline["name"], item["number"], item["asks"], answer)


def _needs_authors_answer(item: Item) -> bool:
    """Return True if the authors have to answer the item, or to add to its answer."""
    return item.answer is None or STATE_REQUEST_PATTERN.search(item.answer) is not None


def _answer_counts_text(items: list[Item], shared_answer: str) -> str:
    """Return how many items the data answer, fully and in part, and how many do not apply."""
    data_answers = [
        str(item.answer)
        for item in items
        if item.answer != shared_answer and not _needs_authors_answer(item)
    ]
    n_not_applicable = sum(answer.lower().startswith(NOT_APPLICABLE) for answer in data_answers)
    n_in_part = sum(item.answer is not None and _needs_authors_answer(item) for item in items)
    answered_text = (
        f"{len(data_answers) - n_not_applicable} of {len(items)} items are answered by the data"
        f"{f' and {n_in_part} in part' if n_in_part else ''}"
    )
    if not n_not_applicable:
        return answered_text
    return (
        f"{answered_text}, {n_not_applicable} {'does' if n_not_applicable == 1 else 'do'} not apply"
    )
