"""One listener hears every fit, under the name of the stage."""

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
    PROGRESS_VARIABLE,
    Progress,
    count_fits,
    displays_progress,
    listen,
    report_progress,
    stage,
)
from truerisk.core.progress_line import ProgressLine

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2


def test_stages_are_nested_by_name_and_end_with_an_error():
    heard: list[Progress] = []
    with listen(heard.append), stage("knn"):
        report_progress(0, 2)
        with stage("outer"):
            report_progress(1, 2)
        with suppress(ZeroDivisionError), stage("failing"):
            _ = 1 / 0
        report_progress(2, 2)
    report_progress(9, 9)
    assert heard == [Progress("knn", 0, 2), Progress("knn: outer", 1, 2), Progress("knn", 2, 2)]


@pytest.mark.parametrize("executor", [None, 2])
def test_listen_hears_every_fit(executor):
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


@pytest.mark.parametrize(
    ("n_fits", "events", "done"),
    [
        # The second computation is an engine that answers six fits at a stroke.
        (10, [(0, 4), (4, 4), 4, (0, 1), (1, 1), 6, (0, 1)], [0, 4, 4, 5, 10]),
        (5, [(0, 3), (3, 3), (0, 9), (1, 9), (9, 9)], [0, 3, 3, 4, 5]),
    ],
    ids=["several computations", "never back nor beyond"],
)
def test_counting_adds_fits_of_several_computations(n_fits, events, done):
    """In `events` a pair is reported progress, and a single number is a count of finished fits."""
    heard: list[Progress] = []
    with listen(heard.append), count_fits(n_fits) as count:
        for event in events:
            count.finish(event) if isinstance(event, int) else report_progress(*event)
    assert [event.done for event in heard] == done
    assert {event.total for event in heard} == {n_fits}


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


@pytest.mark.parametrize("live", [True, False])
def test_progress_line_shows_nothing_of_a_short_run(capsys, monkeypatch, live):
    monkeypatch.setattr("sys.stderr", None)  # a closed stream, which is no terminal
    assert progress._progress_display_kind() is None
    monkeypatch.undo()
    played(1.9, live=live).close()
    assert capsys.readouterr() == ("", "")


def test_progress_lines_in_a_pipe_come_ever_more_rarely(capsys):
    """Four minutes make eight lines. The last one, of a finished run, has no time left."""
    played(240, live=False, every=0.5).close()
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (out, len(lines), "\r" in err) == ("", 8, False)
    assert lines[0] == "knn: testing: 8 of 1000 fits, about 4 min left"
    done = [int(line.split()[2]) for line in lines]
    gaps = [round(0.24 * (b - a)) for a, b in itertools.pairwise(done)]
    assert gaps == [2, 4, 8, 16, 32, 60, 60]
    played(16, live=False, every=2).close()
    assert capsys.readouterr().err.splitlines()[-1] == "knn: testing: 1000 of 1000 fits"


def test_progress_line_on_a_terminal_covers_the_one_before_and_never_wraps(capsys, monkeypatch):
    """What wraps cannot be rewritten, so that the text is cut on a narrow terminal."""
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
    monkeypatch.setenv("COLUMNS", "20")
    played(4, live=True).close()
    assert max(map(len, capsys.readouterr().err.split("\r"))) == 19


@pytest.mark.parametrize(
    ("events", "said"),
    [
        # The pace is that since the first fits were done: workers may have started before them.
        ([(0, 0, 99), (9, 10, 99), (10, 20, 99), (11, 30, 99), (20, 39, 99)], "39 of 99 .* 23 s"),
        # The pace of one computation is not that of the next.
        ([(0, 1, 9), (50, 9, 9), (51, 1, 30), (54, 2, 30), (60, 11, 30)], "11 of 30 .* 17 s"),
    ],
)
def test_time_left_follows_the_pace_of_fits_in_one_computation(capsys, events, said):
    clock = Clock()
    line = ProgressLine(live=False, clock=clock)
    for now, done, total in events:
        clock.now = 100 + now
        line(Progress("", done, total))
    assert re.fullmatch(f"{said} left", capsys.readouterr().err.splitlines()[-1])


def test_progress_line_escapes_a_hostile_stage(capsys):
    clock = Clock()
    line = ProgressLine(live=True, clock=clock)
    clock.now += 5
    line(Progress("a\x1b[2J\n\u202e", 1, 2))
    assert not {"\x1b", "\n", "\u202e"} & set(capsys.readouterr().err)


CALLS = """
import sys, time
import numpy as np, truerisk as tr
from truerisk.core import progress_line
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
progress_line.SECONDS_BEFORE_FIRST_LINE = 0.0
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
progress_line.SECONDS_BEFORE_FIRST_LINE = 0.0

@progress.displays_progress
def verb():
    for fit in range(6):
        progress.report_progress(fit, 5)

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


def test_progress_of_every_verb_is_shown_on_a_terminal_and_wiped():
    written = on_a_terminal(CALLS).split("\n")
    shown = {line.rpartition("|")[2].strip(): line for line in written if "|" in line}
    assert len(shown) == 8
    for name, line in shown.items():
        assert re.search(r"\d+ of \d+ (fits|permutations|pairs)", line), name
        assert re.search(r"\r *\r\|\w+\r$", line), name


def test_progress_switch_shows_it_in_files_or_hides_it_everywhere():
    command = [sys.executable, "-c", FIVE_FITS]
    names = {key: value for key, value in os.environ.items() if key != PROGRESS_VARIABLE}
    for environment, is_shown in [(names, False), ({**names, PROGRESS_VARIABLE: "1"}, True)]:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert ("\n0 of 5 fits\n" in f"\n{ran.stderr}") is is_shown, ran.stderr
        assert "\r" not in ran.stderr
        assert ran.stdout == ""
    assert on_a_terminal(FIVE_FITS, **{PROGRESS_VARIABLE: "0"}).strip() == "|done"


def test_progress_in_a_notebook_is_one_output_that_ends_empty(monkeypatch):
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
    monkeypatch.setattr("truerisk.core.progress_line.SECONDS_BEFORE_FIRST_LINE", 0.0)
    monkeypatch.setattr("truerisk.core.progress_line.SECONDS_BETWEEN_UPDATES", 0.0)

    @displays_progress
    def call():
        report_progress(0, 2)
        report_progress(1, 2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call()
    assert shown == [("new", "0 of 2 fits"), ("changed", "1 of 2 fits"), ("changed", "")]
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError):
        pool.submit(call).result()
    with listen(lambda _: None), pytest.raises(ZeroDivisionError):
        call()
    assert len(shown) == 3  # threads beside it, and calls to which somebody listens, show nothing
