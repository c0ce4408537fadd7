"""One word for a thing in every call, one option in every command: the table of CONTRIBUTING."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import click
import pytest

import truerisk as tr
from truerisk.cli.app import _COMMANDS

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text("utf-8")
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
            import_module(f"truerisk.cli.{module}"), name.rpartition(" ")[2]
        ).params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    for name, (module, _) in _COMMANDS.items()
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][0])
def test_a_word_is_taken_where_the_table_says(row):
    """By these calls and commands, and by no others."""
    (word,), (option,), _, calls, commands = row
    assert {name for name, words in CALLS.items() if word in words} == set(calls)
    assert {name for name, options in COMMANDS.items() if option in options} == set(commands)


def test_the_table_is_read():
    """Six words, those of scikit-learn first."""
    assert [row[0][0] for row in ROWS][:2] == ["cv", "scoring"]
    assert len(ROWS) == 6
