"""The paper's numbers stand on the pages that it names, and its references in its bibliography."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAPER = (ROOT / "paper" / "paper.md").read_text("utf-8")
SOURCE = re.compile(r"^<!-- (docs/\S+): (.*) -->$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
WORDS = {"2", "60", "200", "20", "10", "1"}  # sizes that are part of what is told, not found
PARAGRAPHS = re.findall(r"^# Summary$.*", PAPER, re.MULTILINE | re.DOTALL)[0].split("\n\n")


@pytest.mark.parametrize(("page", "quoted"), SOURCE.findall(PAPER))
def test_paper_numbers_are_printed_on_the_named_page(page, quoted):
    """Every piece that is quoted stands on the page, which names the command that made it."""
    text = (ROOT / page).read_text("utf-8")
    pieces = [quoted] if quoted in text else quoted.split(" | ")
    assert not [piece for piece in pieces if piece.strip("| ") not in text]


def told(paragraph):
    """The numbers of a paragraph, without those of its commands and references."""
    plain = re.sub(r"`[^`]*`|\[@[^\]]*\]|K\(K − 1\)/2", "", paragraph)
    return {number.replace(",", "") for number in NUMBER.findall(plain)}


def test_paper_numbers_are_quoted_below_their_paragraph():
    """Sizes aside."""
    quoted = {n for _, text in SOURCE.findall(PAPER) for n in told(text.replace("`", ""))}
    found = set().union(*(told(p) for p in PARAGRAPHS if not p.startswith("<!--")))
    assert found - WORDS - quoted == set()
    assert told("In 95.8 % of 4,500 `x[3]`, see [@bates2023].") == {"95.8", "4500"}


def test_paper_references_are_those_of_the_bibliography():
    cited = set(re.findall(r"@(\w+\d{4})", PAPER))
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text("utf-8"), re.M)
    assert cited == set(listed)
