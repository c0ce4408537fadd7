"""Errors and warnings: which learner, which line, and the arguments that they mention."""

import ast
import copy
import inspect
import pickle
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.core import errors
from truerisk.core.arguments import mention
from truerisk.core.errors import first_line, warn
from truerisk.core.formats import prefix_errors
from truerisk.core.mentions import Mention, Sentence
from truerisk.exceptions import FitFailed, MissingExtra, NoEngine, NotWritten
from truerisk.extend import BadArgument, BadData, Refusal, TrueRiskError, TrueRiskWarning
from truerisk.readers.table import NoFeatures

SAID = f"a='b': use {mention('cv', '10-fold')} or {mention('outer')}."
MARKS = "\ufdd0\ufdd1\ufdd2"


@pytest.mark.parametrize(
    "error",
    [
        BadData(SAID),
        Refusal("no."),
        MissingExtra("no."),
        FitFailed.with_kind("ValueError", "no.", "t"),
        ZeroDivisionError("no."),
    ],
)
def test_named_puts_the_learner_before_errors_of_truerisk(error):
    """The kind, the notes and the mentions are kept, and errors of others pass unchanged."""
    with pytest.raises(type(error)) as caught, prefix_errors("kn\nn"):
        raise error
    is_ours = isinstance(error, TrueRiskError)
    assert str(caught.value) == ("kn\\x0an: " if is_ours else "") + str(error)
    assert getattr(caught.value, "__notes__", []) == getattr(error, "__notes__", [])
    assert not is_ours or caught.value.__cause__ is error
    if isinstance(error, BadData):
        assert caught.value.sentence.parts[1:] == error.sentence.parts[1:]


def test_first_line_is_cut_at_a_word():
    said = first_line(ValueError("fold " * 100))
    assert said == "fold " * 59 + "fold …"
    assert first_line(ValueError("f" * 400)) == "f" * 300 + " …"


@pytest.mark.parametrize("kind", [BadData, MissingExtra, NotWritten, TrueRiskWarning])
def test_error_escapes_control_sequences(kind):
    assert str(kind("a\x1b[31mb\nc")) == "a\\x1b[31mb\nc"


def test_warning_points_to_the_line_of_the_user():
    """An engine some thirty calls below warns, or a block when it ends."""

    @contextmanager
    def block():
        yield
        warn("at the end", UserWarning)

    rows = np.repeat(np.arange(20.0)[:, None], 2, axis=0)
    with pytest.warns(TrueRiskWarning) as said:
        tr.estimate_risk(DummyClassifier(), rows, np.arange(40) // 2 % 2, cv="5-fold")
    with pytest.warns(UserWarning, match="at the end") as ended, block():
        pass
    assert {warning.filename for warning in [*said, *ended]} == {__file__}


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
    assert said.marked_text == SAID
    assert Sentence(said).parts == said.parts
    assert Sentence("").parts == ("",)


@pytest.mark.parametrize("foreign", [*MARKS, MARKS, "\ufdd0a\ufdd1b\ufdd2", "\ufdd0a"])
def test_sentence_keeps_a_quoted_mark_as_text(foreign):
    said = Sentence(f"column '{foreign}': use {mention('cv', 1)}.")
    assert said == f"column '{foreign}': use cv=1."
    assert Sentence(said.marked_text).parts[-2:] == (Mention("cv", "1", " 1"), ".")


@pytest.mark.parametrize("kind", [BadData, BadArgument, NotWritten, NoEngine])
def test_error_shows_no_mark_and_keeps_its_mentions(kind):
    error = kind(SAID)
    pickled = pickle.dumps(error)
    for each in (error, copy.copy(error), copy.deepcopy(error), pickle.loads(pickled)):
        assert type(each) is kind
        assert str(each) == each.args[0] == "a='b': use cv='10-fold' or outer=."
        assert each.sentence.parts == Sentence(SAID).parts
        assert not set(MARKS) & set(f"{each!r}{each.args}{vars(each)}")
    assert not any(mark.encode() in pickled for mark in MARKS)
    assert NoEngine(SAID).reason == str(Sentence(SAID))


ERRORS = {
    name
    for name, kind in {**vars(errors), "NoFeatures": NoFeatures}.items()
    if inspect.isclass(kind) and issubclass(kind, TrueRiskError)
}
ELSEWHERE = """
    ALTERNATIVES BASES_OF_DATA BetaPosterior Bootstrap632 NO_BOXES NO_PAIRS_REASON
    NO_PREDICTIONS_MESSAGE PAIR_NEEDS Spatial _collect_notes
    _make_regression_target _mention_event _of_splits _read_class_target _read_regression_target
    _too_many_classes_error _why_no_influences
    check_store convert_time_span corrected_auc_risk draw_splits from_answers initialise_store plan
    _submit read_candidate_table zero_one_losses
"""
"""Functions and constants whose text only errors and sentences take."""


def unwrapped(source: str) -> set[str]:
    """Return where a file mentions arguments outside the call that makes an error or a sentence."""
    found: set[str] = set()

    def visit(node: ast.AST, place: str):
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
                found.add(place)
        for child in ast.iter_child_nodes(node):
            visit(child, place)

    visit(ast.parse(source), "")
    return found


def test_mention_stands_in_errors_and_sentences_alone():
    """Results, warnings and reports would show its marks."""
    assert unwrapped("def f():\n    BadData(mention('a'))\n    return f'{mention(1)}'\n") == {"f"}
    sources = Path(tr.__file__).parent.rglob("*.py")
    assert set().union(*(unwrapped(path.read_text("utf-8")) for path in sources)) == {
        *ELSEWHERE.split()
    }
