"""Progress, warnings and notes are on stderr, and not more of them than help."""

from __future__ import annotations

import itertools
import re
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

from truerisk.cli import output
from truerisk.cli.output import ProgressLine, say, shown_progress, worded_warnings
from truerisk.core.progress import Progress, duration, tell


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def played(seconds, total=1000, *, live=False, every=0.1):
    """The line told of an even run of so many seconds."""
    clock = Clock()
    line = ProgressLine(live=live, clock=clock)
    n_events = round(seconds / every)
    for event in range(n_events + 1):
        clock.now = 100 + event * every
        line(Progress("knn: testing", round(total * event / n_events), total))
    return line


def test_a_closed_stderr_is_no_terminal(monkeypatch):
    """Python has None for it, and nothing is drawn there."""
    monkeypatch.setattr("sys.stderr", None)
    assert ProgressLine().live is False


def test_a_note_goes_to_stderr(capsys):
    """Nothing but results is on stdout."""
    say("a note")
    assert capsys.readouterr() == ("", "a note\n")


@pytest.mark.parametrize("live", [True, False])
def test_a_short_run_shows_no_progress(capsys, live):
    """Below two seconds nothing is shown, on a terminal or not, nor wiped."""
    played(1.9, live=live).close()
    assert capsys.readouterr() == ("", "")


def test_a_finished_run_has_no_time_left(capsys):
    """The last line says that all fits are done, and no guess beside it."""
    played(16, live=False, every=2).close()
    assert capsys.readouterr().err.splitlines()[-1] == "knn: testing: 1000 of 1000 fits"


def test_lines_in_a_pipe_come_ever_more_rarely(capsys):
    """Four minutes make eight lines, none a rewritten one, each with the time left."""
    played(240, live=False, every=0.5).close()
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 8
    assert "\r" not in err
    assert lines[0] == "knn: testing: 8 of 1000 fits, about 4 min left"
    done = [int(line.split()[2]) for line in lines]
    gaps = [round(0.24 * (b - a)) for a, b in itertools.pairwise(done)]
    assert gaps == [2, 4, 8, 16, 32, 60, 60]


def test_a_terminal_has_one_rewritten_line(capsys):
    """Every text starts at the line's begin and covers the one before; the end wipes it."""
    played(4, live=True).close()
    err = capsys.readouterr().err
    assert "\n" not in err
    assert err.startswith("\rknn: testing: 500 of 1000 fits, about 2 s left")
    assert err.endswith(" \r")
    shown = err.split("\r")[1:-2]
    assert len(shown) > 15
    pairs = itertools.pairwise(shown)
    assert all(len(after) >= len(before.rstrip()) for before, after in pairs)
    assert len({len(text.rstrip()) for text in shown}) > 1


def test_a_rewritten_line_never_wraps(capsys, monkeypatch):
    """On a narrow terminal the text is cut: what wraps cannot be rewritten."""
    monkeypatch.setenv("COLUMNS", "20")
    played(4, live=True).close()
    assert max(map(len, capsys.readouterr().err.split("\r"))) == 19


def test_time_left_ignores_the_start_of_workers(capsys):
    """The pace is that since the first fits were done: waiting before them is none."""
    clock = Clock()
    line = ProgressLine(live=False, clock=clock)
    for now, done in [(0, 0), (9, 10), (10, 20), (11, 30), (20, 40)]:
        clock.now = 100 + now
        line(Progress("", done, 100))
    assert "40 of 100 fits, about 22 s left" in capsys.readouterr().err


def test_a_new_total_starts_anew(capsys):
    """The pace of one computation is not that of the next."""
    clock = Clock()
    line = ProgressLine(live=False, clock=clock)
    for now, done, total in [(0, 1, 9), (50, 9, 9), (51, 1, 30), (54, 2, 30), (60, 11, 30)]:
        clock.now = 100 + now
        line(Progress("", done, total))
    assert capsys.readouterr().err.splitlines()[-1] == "11 of 30 fits, about 17 s left"


def test_a_hostile_stage_stays_on_its_line(capsys):
    """A learner's name cannot move the cursor."""
    clock = Clock()
    line = ProgressLine(live=True, clock=clock)
    clock.now += 5
    line(Progress("a\x1b[2J\n\u202e", 1, 2))
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\n" not in err
    assert "\u202e" not in err


def test_progress_is_heard_only_inside(capsys, monkeypatch):
    """The context listens, and stops listening when it is left."""
    monkeypatch.setattr("truerisk.cli.output.QUIET", 0.0)
    with shown_progress():
        tell(1, 2)
    tell(2, 2)
    assert capsys.readouterr().err == "1 of 2 fits\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "1 s"), (1.4, "1 s"), (99, "99 s"), (100, "2 min"), (3599, "60 min"), (9000, "2.5 h")],
)
def test_durations_are_rounded(value, expected):
    """No decimals that a guess does not deserve."""
    assert duration(value) == expected


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
        ("assess", "--models", "lda", "--scores", f"auc{HOSTILE}"),
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
