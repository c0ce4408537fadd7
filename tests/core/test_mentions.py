"""Sentences keep their mentions of arguments apart from text that looks alike."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
from pathlib import Path

import pytest

import truerisk
from truerisk.core import errors
from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, NoEngine, NotWritten, TrueRiskError
from truerisk.core.formats import named
from truerisk.core.mentions import Mention, Sentence
from truerisk.readers.table import NoFeatures

SOURCE = Path(truerisk.__file__).parent
SAID = f"a='b': use {mention('cv', '10-fold')} or {mention('outer')}."
MARKS = "\ufdd0\ufdd1\ufdd2"


def test_sentence_reads_as_python():
    said = Sentence(SAID)
    assert said == "a='b': use cv='10-fold' or outer=."
    assert said.parts == (
        "a='b': use ",
        Mention("cv", "'10-fold'", " 10-fold"),
        " or ",
        Mention("outer", "", ""),
        ".",
    )
    assert said.marked == SAID
    assert Sentence(said).parts == said.parts
    assert Sentence("").parts == ("",)


@pytest.mark.parametrize("foreign", [*MARKS, MARKS, "\ufdd0a\ufdd1b\ufdd2", "\ufdd0a"])
def test_sentence_keeps_a_quoted_mark_as_text(foreign):
    said = Sentence(f"column '{foreign}': use {mention('cv', 1)}.")
    assert said == f"column '{foreign}': use cv=1."
    assert Sentence(said.marked).parts[-2:] == (Mention("cv", "1", " 1"), ".")


@pytest.mark.parametrize("kind", [BadData, BadArgument, NotWritten, NoEngine])
def test_error_shows_no_mark_and_keeps_its_mentions(kind):
    """In its text, its arguments, its repr and its pickle, in whichever way it is copied."""
    error = kind(SAID)
    pickled = pickle.dumps(error)
    for each in (error, copy.copy(error), copy.deepcopy(error), pickle.loads(pickled)):
        assert type(each) is kind
        assert str(each) == each.args[0] == "a='b': use cv='10-fold' or outer=."
        assert each.sentence.parts == Sentence(SAID).parts
        assert not set(MARKS) & set(f"{each!r}{each.args}{vars(each)}")
    assert not any(mark.encode() in pickled for mark in MARKS)
    assert NoEngine(SAID).reason == str(Sentence(SAID))


def test_named_keeps_the_mentions():
    with pytest.raises(BadData) as refused, named("svm"):
        raise BadData(SAID)
    assert refused.value.sentence.parts == ("svm: a='b': use ", *Sentence(SAID).parts[1:])


ERRORS = {
    name
    for name, kind in {**vars(errors), "NoFeatures": NoFeatures}.items()
    if inspect.isclass(kind) and issubclass(kind, TrueRiskError)
}
ELSEWHERE = {
    "assessment/assessment.py:NO_BOXES",
    "comparison/pairing.py:_of_splits",
    "comparison/pairing.py:_why_no_influences",
    "data/times.py:as_span",
    "engines/running/listed_draws.py:INSTEAD",
    "intervals/form.py:OF_DATA",
    "intervals/in_space.py:Spatial",
    "intervals/posterior.py:BetaPosterior",
    "intervals/refitted.py:Bootstrap632",
    "intervals/refitted.py:OF_PAIRS",
    "losses/loss.py:NO_PREDICTIONS",
    "methods/criteria.py:of",
    "methods/pairs.py:plan",
    "planning/plan_model.py:_expected_r2",
    "planning/plan_model.py:check_foreseen",
    "readers/roles.py:_classes",
    "readers/roles.py:_on_numbers",
    "readers/roles.py:_reading",
    "readers/roles.py:_regression",
    "readers/roles.py:_too_many",
    "readers/table.py:_notes",
    "results/error_posterior.py:_counted",
    "search/claim.py:draw_splits",
    "search/stored_search.py:check_store",
    "study/versions.py:begin",
    "validation/honest.py:NO_PAIRS",
}
"""Functions and constants whose text only errors and sentences take."""


def unwrapped(path: Path) -> set[str]:
    """Return where a file mentions arguments outside the call that makes an error or a sentence."""
    found: set[str] = set()

    def visit(node: ast.AST, place: str) -> None:
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.ClassDef) and not place):
            place = node.name
        elif not place and isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            place = ast.unparse(target)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in {*ERRORS, "Sentence", "check_known", "self.refuse"}:
                return
            if called == "mention":
                found.add(f"{path.relative_to(SOURCE).as_posix()}:{place}")
        for child in ast.iter_child_nodes(node):
            visit(child, place)

    visit(ast.parse(path.read_text(encoding="utf-8")), "")
    return found


def test_mention_stands_in_errors_and_sentences_alone():
    """Results, warnings and reports would show its marks."""
    assert set().union(*map(unwrapped, SOURCE.rglob("*.py"))) == ELSEWHERE


def test_unwrapped_finds_a_mention_in_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.core.test_mentions.SOURCE", tmp_path)
    path = tmp_path / "a.py"
    path.write_text("def f():\n    BadData(mention('a'))\n    return f'{mention(1)}'\n")
    assert unwrapped(path) == {"a.py:f"}
