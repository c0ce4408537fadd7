"""Sentences of the checklists: how one is chosen, and that the files name only what is known."""

from collections.abc import Iterator
from string import Formatter
from typing import Any

import pytest
from tests.support.checklists import FACTS, changed

from truerisk.validation.checklists.checklist import GUIDELINE_FILES
from truerisk.validation.checklists.study_words import Sentences, read_toml

NO_SENTENCES = ("number", "asks", "name", "sections", "software", "responses", "paragraph")


def choices_in(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the condition and the text of every sentence of a file."""
    if isinstance(data, str):
        yield "", data
    elif isinstance(data, list):
        for one in data:
            yield from choices_in(one)
    elif "say" in data:
        yield data.get("when", ""), data["say"]
    else:
        for name, value in data.items():
            if name not in NO_SENTENCES:
                yield from choices_in(value)


@pytest.mark.parametrize("file", ["study_words", *GUIDELINE_FILES])
def test_sentences_file_names_only_what_is_known(file):
    """A misspelt fact would be found only by the study that it matters to."""
    said = Sentences(FACTS, *GUIDELINE_FILES)
    found = list(choices_in(read_toml(file)))
    assert len(found) > 30
    for when, say in found:
        for fact in filter(None, when.split(", ")):
            assert fact.removeprefix("not ") in said.facts, (when, say)
        for _, field, _, _ in Formatter().parse(say):
            assert field is None or field in said.facts or field in said.words, say


def test_sentences_words_are_all_used_and_are_no_facts():
    """A word that no sentence says is left over, and one that is a fact would hide it."""
    texts = [
        say for file in ("study_words", *GUIDELINE_FILES) for _, say in choices_in(read_toml(file))
    ]
    used = {field for say in texts for _, field, _, _ in Formatter().parse(say)}
    used |= {*read_toml("study_words")["paragraph"]}
    said = Sentences(FACTS, *GUIDELINE_FILES)
    assert {*said.words} <= used
    assert not {*said.words} & {*said.facts}


def test_sentences_fill_says_the_first_that_fits():
    """Its facts hold, and every word in it is known; where none fits, nothing is said."""
    said = Sentences(changed(FACTS, n_groups=None, n_cut=0), *GUIDELINE_FILES)
    choices = ["{n_groups} groups", {"when": "n_cut", "say": "cut"}, "{n_rows} rows", "never"]
    assert said.fill(choices) == "200 rows"
    assert said.fill([{"when": "no_gaps, not n_cut", "say": "both"}]) == "both"
    assert said.fill([{"when": "no_gaps, n_cut", "say": "both"}]) is None
    assert said.fill(choices[:2]) is None
    assert said.fill([]) is None
    with pytest.raises(KeyError):
        said.fill("{no_such_word}")
