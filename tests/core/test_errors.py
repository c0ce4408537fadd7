"""An error of one learner among several says which, and stays the error it was."""

from __future__ import annotations

import pytest

from truerisk.core.errors import (
    BadData,
    FitFailed,
    MissingExtra,
    NotWritten,
    Refusal,
    TrueRiskWarning,
    first_line,
    named,
)


@pytest.mark.parametrize(
    "error",
    [BadData("no."), Refusal("no."), MissingExtra("no."), FitFailed.like("ValueError", "no.", "t")],
)
def test_the_name_comes_first(error):
    """The kind and the notes are kept."""
    with pytest.raises(type(error)) as caught, named("kn\nn"):
        raise error
    assert str(caught.value) == "kn\\x0an: no."
    assert getattr(caught.value, "__notes__", []) == getattr(error, "__notes__", [])
    assert caught.value.__cause__ is error


def test_other_errors_pass():
    """What truerisk did not word is not touched."""
    with pytest.raises(ZeroDivisionError, match="^division by zero$"), named("knn"):
        _ = 1 / 0


def test_what_others_say_is_cut_at_a_word():
    """A word that is half there may be another one."""
    said = first_line(ValueError("fold " * 100))
    assert said == "fold " * 59 + "fold …"
    assert first_line(ValueError("f" * 400)) == "f" * 300 + " …"


@pytest.mark.parametrize("kind", [BadData, MissingExtra, NotWritten, TrueRiskWarning])
def test_no_name_in_a_message_drives_the_terminal(kind):
    """A path or a label may hold control sequences; the lines of the message itself stay."""
    assert str(kind("a\x1b[31mb\nc")) == "a\\x1b[31mb\nc"
