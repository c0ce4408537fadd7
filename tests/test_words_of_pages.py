"""The glossary is in order, and the troubleshooting page quotes what is really said."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.test_messages import CALLS, message_of
from tests.test_pages import alike

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
QUOTED = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
TERM = re.compile(r"^(?! |```)(.+)\n  \S", re.MULTILINE)


def quoted() -> list[str]:
    """The messages of the page, in its order."""
    return QUOTED.findall((DOCS / "troubleshooting.md").read_text("utf-8"))


def terms(page: str) -> list[str]:
    """The words that a page's glossary explains."""
    block = page.partition("```{glossary}\n")[2].partition("\n```")[0]
    return TERM.findall(f"{block}\n")


@pytest.mark.parametrize("message", quoted(), ids=lambda message: message[:60])
def test_a_quoted_message_is_one_that_is_said(message):
    """A real call raises it; dots stand for anything."""
    assert any(alike(message, message_of(name)) for name in CALLS)


def test_the_messages_that_matter_are_quoted():
    """At least twenty, none twice, and a message that nobody says is seen."""
    assert len(quoted()) == len(set(quoted())) >= 20
    assert not any(alike("BadData: y has only one class, 1: ...", message_of(c)) for c in CALLS)


def test_the_glossary_is_in_order_and_says_nothing_twice():
    """Sixty words and more; Sphinx itself refuses a link to a word that is not there."""
    words = terms((DOCS / "glossary.md").read_text("utf-8"))
    assert len(words) > 60
    assert words == sorted(set(words), key=lambda word: (word.lower(), word))


def test_a_word_twice_is_seen():
    """The words of a glossary are its unindented lines."""
    page = "# G\n\n```{glossary}\nrisk\n  A mean.\n  Of losses.\n\nfold\n  A part.\n```\nend\n"
    assert terms(page) == ["risk", "fold"]


def test_the_line_under_the_title_is_true():
    """Pythons, scikit-learn and licence of the README are those of the metadata; types are sent."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    said = (ROOT / "README.md").read_text("utf-8").splitlines()[4].split(" · ")
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    needed = {need.partition(">=")[0]: need.partition(">=")[2] for need in project["dependencies"]}
    assert said == [
        f"Python {pythons[0]} to {pythons[-1]}",
        f"scikit-learn {needed['scikit-learn']} or newer",
        project["license"],
        "typed",
    ]
    assert (ROOT / "src" / "truerisk" / "py.typed").exists()
