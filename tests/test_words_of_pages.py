"""Pages have words in order, quote what is really said, and show what is there today."""

import re
import tomllib
from importlib import import_module
from inspect import signature
from pathlib import Path

import click
import pytest
from tests.test_messages import CALLS as WRONG_CALLS
from tests.test_messages import message_of
from tests.test_pages import alike

import truerisk as tr
from truerisk.cli.app import _COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
QUOTED = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
TERM = re.compile(r"^(?! |```)(.+)\n  \S", re.MULTILINE)
MESSAGES = QUOTED.findall((DOCS / "troubleshooting.md").read_text("utf-8"))


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message[:60])
def test_troubleshooting_quotes_messages_that_are_said(message):
    """A real call raises it; dots stand for anything."""
    assert any(alike(message, message_of(name)) for name in WRONG_CALLS)


def test_troubleshooting_quotes_the_messages_that_matter_once():
    """A message that nobody says is seen."""
    unsaid = "BadData: y has only one class, 1: ..."
    assert len(MESSAGES) == len(set(MESSAGES)) >= 20
    assert not any(alike(unsaid, message_of(name)) for name in WRONG_CALLS)


def terms(page):
    """The words that a page's glossary explains: its unindented lines."""
    block = page.partition("```{glossary}\n")[2].partition("\n```")[0]
    return TERM.findall(f"{block}\n")


def test_glossary_is_in_order_and_says_nothing_twice():
    """Sphinx itself refuses a link to a word that is not there."""
    page = "# G\n\n```{glossary}\nrisk\n  A mean.\n  Of losses.\n\nfold\n  A part.\n```\nend\n"
    assert terms(page) == ["risk", "fold"]
    words = terms((DOCS / "glossary.md").read_text("utf-8"))
    assert len(words) > 60
    assert words == sorted(set(words), key=lambda word: (word.lower(), word))


def test_readme_names_the_pythons_and_the_licence_of_the_metadata():
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


# ---------------- one word for a thing in every call: the table of CONTRIBUTING

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[1:-1]]
    for row in PAGE.partition("## One vocabulary")[2].splitlines()
    if row.startswith("| `")
]
CALLS = {
    name: [
        word
        for word, parameter in signature(getattr(tr, name)).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    for name in tr.__all__
    if callable(getattr(tr, name))
    and (name == "HonestSearchCV" or not isinstance(getattr(tr, name), type))
}
COMMANDS = {
    name: {
        option
        for parameter in getattr(
            import_module(f"truerisk.cli.{module}"), name.rpartition(" ")[2].replace("-", "_")
        ).params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    for name, (module, _) in _COMMANDS.items()
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][0])
def test_vocabulary_is_taken_by_the_calls_and_commands_of_the_table_alone(row):
    """Six words, those of scikit-learn first."""
    (word,), (option,), _, calls, commands = row
    assert {name for name, words in CALLS.items() if word in words} == set(calls)
    assert {name for name, options in COMMANDS.items() if option in options} == set(commands)
    assert [row[0][0] for row in ROWS][:2] == ["cv", "scoring"]
    assert len(ROWS) == 6
