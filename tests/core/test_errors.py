"""An error of one learner among several says which, and stays the error it was."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.core.errors import (
    BadData,
    FitFailed,
    MissingExtra,
    NotWritten,
    Refusal,
    TrueRiskWarning,
    first_line,
    warn,
)
from truerisk.core.formats import named


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


def test_a_warning_points_to_the_call():
    """Here it is raised by the engine, some thirty calls below."""
    rows = np.repeat(np.arange(20.0)[:, None], 2, axis=0)
    with pytest.warns(TrueRiskWarning) as said:
        tr.estimate_risk(DummyClassifier(), rows, np.arange(40) % 2, cv="5-fold")
    assert {warning.filename for warning in said} == {__file__}


def test_calls_through_contextlib_are_inside():
    """A block that warns at its end points to the block."""

    @contextmanager
    def block():
        yield
        warn("at the end", UserWarning)

    with pytest.warns(UserWarning, match="at the end") as said, block():
        pass
    assert said[0].filename == __file__
