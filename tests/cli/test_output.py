"""Progress, warnings and notes are on stderr, and not more of them than help."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

from truerisk.cli import output
from truerisk.cli.output import say, shown_progress, worded_warnings
from truerisk.core.progress import tell


def test_a_note_goes_to_stderr(capsys):
    """Nothing but results is on stdout."""
    say("a note")
    assert capsys.readouterr() == ("", "a note\n")


def test_progress_is_heard_only_inside(capsys, monkeypatch):
    """The context listens, and stops listening when it is left."""
    monkeypatch.setattr("truerisk.core.progress_line.QUIET", 0.0)
    with shown_progress():
        tell(1, 2)
    tell(2, 2)
    assert capsys.readouterr().err == "1 of 2 fits\n"


def heard(capsys, *given):
    """What is said of these warnings."""
    with worded_warnings():
        for category, text in given:
            warnings.warn(text, category, stacklevel=1)
    return capsys.readouterr().err.splitlines()


def test_warnings_are_sentences(capsys):
    """Each once, on one line, without its file and source."""
    assert heard(capsys, (UserWarning, "two\nlines"), (UserWarning, "two\nlines")) == [
        "warning: two lines"
    ]


@pytest.mark.parametrize("kind", [DeprecationWarning, PendingDeprecationWarning, FutureWarning])
def test_deprecations_are_not_for_users(capsys, kind):
    """What concerns developers of libraries is not said."""
    assert heard(capsys, (kind, "will change"), (UserWarning, "said")) == ["warning: said"]


def test_counts_of_one_warning_are_added(capsys):
    """Fits of several computations that warn alike, but for their numbers, are one line."""
    said = heard(
        capsys,
        (ConvergenceWarning, "gap 1.5e-3 [3 times in 10 fits]"),
        (ConvergenceWarning, "gap 2.0e-3 [40 times in 90 fits]"),
        (UserWarning, "2 rows"),
        (UserWarning, "3 rows"),
    )
    assert said == [
        "warning: gap 1.5e-3 [43 times in 100 fits]",
        "warning: 2 rows",
        "warning: 3 rows",
    ]


def test_warnings_are_said_after_an_error(capsys):
    """What was heard before the error is not lost."""

    def warn_and_fail():
        with worded_warnings():
            warnings.warn("before", UserWarning, stacklevel=1)
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        warn_and_fail()
    assert capsys.readouterr().err == "warning: before\n"


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e\x9b"


@pytest.mark.parametrize(
    "command",
    [
        ("validate", "--model", "lda", "--replicates", 2, "--subgroups", f"b{HOSTILE}"),
        ("assess", "--models", "lda", "--validate", "--replicates", 2),
        ("assess", "--models", "lda", "--scoring", f"auc{HOSTILE}"),
        ("roc", "--score", f"b{HOSTILE}", "--positive", f"u{HOSTILE}"),
        ("permute", "--model", "lda", "--permutations", 1),
        ("estimate", "--model", "lda", f"--{HOSTILE}"),
        ("plan", HOSTILE),
    ],
    ids=str,
)
def test_no_name_of_a_file_moves_the_terminal(call, tmp_path, command):
    """Labels, columns, files and words of the command line with control sequences."""
    rows = [f"{i % 7},{i * i % 11},{'uv'[i % 2]}{HOSTILE}" for i in range(40)]
    path = tmp_path / f"t{HOSTILE}.csv"
    path.write_text("\n".join([f"a,b{HOSTILE},y{HOSTILE}", *rows]) + "\n")
    verb, *words = command
    said = call(verb, path, "--target", f"y{HOSTILE}", *words)
    assert all(line.isprintable() for text in (said.out, said.err) for line in text.split("\n"))


def test_everything_is_printed_here():
    """A command that echoes past `show` would pass on what a file says."""
    room = Path(output.__file__).parent
    others = [path for path in room.glob("*.py") if path.name != "output.py"]
    assert not [path.name for path in others if re.search(r"\b(echo|print)\(", path.read_text())]
