"""One listener hears every fit, under the name of the stage."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.core import progress
from truerisk.core.progress import (
    SWITCH,
    Progress,
    counting,
    listen,
    shows_progress,
    stage,
    tell,
)
from truerisk.core.progress_line import ProgressLine, duration

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2


def test_nobody_listens_by_default() -> None:
    """Telling without a listener does nothing."""
    tell(1, 2)


def test_stages_are_nested_by_name() -> None:
    """Inner stages are joined to the outer one; leaving a stage leaves its name."""
    heard: list[Progress] = []
    with listen(heard.append), stage("knn"):
        tell(0, 2)
        with stage("outer"):
            tell(1, 2)
        tell(2, 2)
    tell(9, 9)
    assert heard == [Progress("knn", 0, 2), Progress("knn: outer", 1, 2), Progress("knn", 2, 2)]


def test_a_stage_ends_with_an_error() -> None:
    """An error inside leaves no stage and no listener behind."""
    heard: list[Progress] = []
    with pytest.raises(ZeroDivisionError), listen(heard.append), stage("knn"):
        _ = 1 / 0
    tell(1, 1)
    assert heard == []


@pytest.mark.parametrize("executor", [None, 2])
def test_every_fit_is_heard(executor) -> None:
    """Events count up to the number of fits, on any executor."""
    heard: list[Progress] = []
    with listen(heard.append):
        grid = {"constant": [0, 1]}
        model = DummyClassifier(strategy="constant")
        tr.risk_curve(model, grid, X, Y, cv="5-fold", n_jobs=executor)
    done = [event.done for event in heard]
    assert done[0] == 0
    assert done[-1] == 10
    assert done == sorted(done)
    assert {event.total for event in heard} == {10}


def test_fits_of_several_computations_are_added_up() -> None:
    """Inside `counting` events go from 0 to the whole, also where an engine tells of other fits."""
    heard: list[Progress] = []
    with listen(heard.append), counting(10) as count:
        tell(0, 4)
        tell(4, 4)
        count.finish(4)
        tell(0, 1)  # an engine that answers six fits at a stroke
        tell(1, 1)
        count.finish(6)
        tell(0, 1)
    assert [event.done for event in heard] == [0, 4, 4, 5, 10]
    assert {event.total for event in heard} == {10}


def test_counting_never_goes_back_nor_beyond() -> None:
    """Two passes of one computation add up; more events than fits stop at the whole."""
    heard: list[Progress] = []
    with listen(heard.append), counting(5):
        for done, total in [(0, 3), (3, 3), (0, 9), (1, 9), (9, 9)]:
            tell(done, total)
    assert [event.done for event in heard] == [0, 3, 3, 4, 5]


def test_counting_without_a_listener() -> None:
    """Nobody need listen."""
    with counting(3) as count:
        tell(1, 3)
        count.finish(3)


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
    assert progress._place_of_viewer() is None


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "1 s"), (1.4, "1 s"), (99, "99 s"), (100, "2 min"), (3599, "60 min"), (9000, "2.5 h")],
)
def test_durations_are_rounded(value, expected):
    """No decimals that a guess does not deserve."""
    assert duration(value) == expected


CALLS = """
import sys, time
import numpy as np, truerisk as tr
from truerisk.core import progress_line
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
progress_line.QUIET = 0.0
X, y = tr.datasets.make_simple(40, random_state=0)
grid = {"var_smoothing": [1e-9, 0.1]}
scores = np.random.default_rng(0).normal(size=(6, 3, 5))
calls = {
    "assess": lambda: tr.assess({"bayes": (GaussianNB(), grid)}, X, y),
    "search": lambda: tr.HonestSearchCV(GaussianNB(), grid).fit(X, y),
    "audit": lambda: tr.audit(GridSearchCV(GaussianNB(), grid).fit(X, y), X, y),
    "validate": lambda: tr.validate(GaussianNB(), X, y, replicates=3),
    "estimate": lambda: tr.estimate_risk(GaussianNB(), X, y),
    "permutation": lambda: tr.permutation_test(GaussianNB(), X, y, n_permutations=5),
    "curve": lambda: tr.learning_curve(GaussianNB(), X, y),
    "many": lambda: tr.compare_many(scores, correlation=0.2),
}
for name, call in calls.items():
    call()
    print(f"|{name}", file=sys.stderr, flush=True)
"""

FIVE_FITS = """
import sys
from truerisk.core import progress, progress_line
progress_line.QUIET = 0.0

@progress.shows_progress
def verb():
    for fit in range(6):
        progress.tell(fit, 5)

verb()
print("|done", file=sys.stderr)
"""


def on_a_terminal(code: str, **environment: str) -> str:
    """What a program writes on the terminal on which it runs."""
    ours, theirs = pytest.importorskip("pty", reason="terminals of POSIX").openpty()
    command, written = [sys.executable, "-W", "ignore", "-c", code], b""
    with subprocess.Popen(command, stderr=theirs, env={**os.environ, **environment}) as program:
        os.close(theirs)
        with suppress(OSError):  # how a terminal ends that nobody holds
            while part := os.read(ours, 4096):
                written += part
    os.close(ours)
    assert program.returncode == 0, written
    return written.decode()


def test_every_verb_shows_its_progress_on_a_terminal_and_wipes_it() -> None:
    """What stands before a name is rewritten, says how much is done, and is empty at the end."""
    written = on_a_terminal(CALLS).split("\n")
    shown = {line.rpartition("|")[2].strip(): line for line in written if "|" in line}
    assert len(shown) == 8
    for name, line in shown.items():
        assert re.search(r"\d+ of \d+ (fits|permutations|pairs)", line), name
        assert re.search(r"\r *\r\|\w+\r$", line), name


def test_no_file_holds_progress_unless_it_is_wanted_and_one_switch_hides_all() -> None:
    """TRUERISK_PROGRESS: 0 nowhere, 1 everywhere, as lines that follow each other in a file."""
    command = [sys.executable, "-c", FIVE_FITS]
    names = {key: value for key, value in os.environ.items() if key != SWITCH}
    for environment, is_shown in [(names, False), ({**names, SWITCH: "1"}, True)]:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert ("\n0 of 5 fits\n" in f"\n{ran.stderr}") is is_shown, ran.stderr
        assert "\r" not in ran.stderr
        assert ran.stdout == ""
    assert on_a_terminal(FIVE_FITS, **{SWITCH: "0"}).strip() == "|done"


def test_a_notebook_shows_it_in_an_output_that_ends_empty(monkeypatch) -> None:
    """One output, shown once and changed after that; an error empties it as well."""
    shown: list[tuple[str, str]] = []

    class Cell:
        def update(self, content, raw):
            shown.append(("changed", content["text/plain"]))

    def display(content, raw, display_id):
        shown.append(("new", content["text/plain"]))
        return Cell()

    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    monkeypatch.setattr("truerisk.core.progress_line.QUIET", 0.0)
    monkeypatch.setattr("truerisk.core.progress_line.LIVE_EVERY", 0.0)

    @shows_progress
    def call() -> None:
        tell(0, 2)
        tell(1, 2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call()
    assert shown == [("new", "0 of 2 fits"), ("changed", "1 of 2 fits"), ("changed", "")]
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError):
        pool.submit(call).result()
    with listen(lambda _: None), pytest.raises(ZeroDivisionError):
        call()
    assert len(shown) == 3  # threads beside it, and calls to which somebody listens, show nothing
