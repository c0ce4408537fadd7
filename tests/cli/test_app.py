"""Exit codes, what goes where, and what a help text costs."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import numpy as np
import pytest
from tests.cli.conftest import check_names_options
from tests.support.cut_off import begun

from truerisk.cli import app
from truerisk.core.errors import (
    BadArgument,
    BadData,
    FitFailed,
    MissingExtra,
    Refusal,
    UnknownName,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
TRUERISK = [sys.executable, "-m", "truerisk"]


def command(*words, **options):
    """A real process."""
    return subprocess.run(
        [*TRUERISK, *words], capture_output=True, text=True, check=False, timeout=120, **options
    )


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["assess", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words):
    """Help needs neither numpy nor scipy nor scikit-learn, and leaves with 0."""
    code = (
        "import sys\n"
        "from truerisk.cli.app import run\n"
        f"try: run({words!r})\n"
        "except SystemExit as left: assert left.code == 0, left.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_help_lists_every_command_and_exit_code(call):
    """`--help` names all commands with a sentence, and the exit codes."""
    said = call("--help")
    assert said.code == 0
    for name in ("assess", "estimate", "methods", "engines", "datasets"):
        assert f"\n  {name} " in said.out
        assert call(name, "--help").code == 0
    codes = (
        "0 ok, 1 failure, 2 usage, 3 bad data, 4 claim refuted, 5 study incomplete, "
        "130 interrupted, 143 terminated"
    )
    assert codes in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["asses"], "did you mean 'assess'?"),
        (["qqqq"], "No such command 'qqqq'."),
        ([], "Usage: truerisk"),
        (["assess"], "give a FILE with --target COL, or --dataset NAME."),
        (["assess", "x.csv"], "--target COL is missing"),
        (["assess", "x.csv", "--targt", "y"], "--target"),
        (["assess", "x.csv", "--dataset", "iris"], "not both"),
        (["assess", "--dataset", "iris", "--target", "y"], "has its own target"),
        (["assess", "--dataset", "irsi"], "did you mean 'iris'?"),
        (["assess", "-", "--target", "y"], "FILE cannot be stdin: save the table as a file"),
        (["assess", "", "--target", "y"], "give a FILE with --target COL"),
        (["assess", "x.csv", "--target", "y", "--target", "z"], "one target is predicted"),
        (["assess", "--dataset", "iris", "--models", "knn,knn"], "'knn' is named twice"),
        (["plan", "--error", "2", "--width", ".1"], "--error 2.0: an error is a share"),
        (["plan", "--error", ".2", "--width", "0"], "--width 0.0: an interval"),
        (["assess", "--dataset", "iris", "--seed", "-1"], "'--seed'"),
        (["assess", "--dataset", "iris", "--jobs", "0"], "'--n-jobs' / '--jobs'"),
        (["assess", "x.csv", "--target", "y", "--delimiter", ";;"], "is not one character"),
    ],
)
def test_usage_mistakes_leave_with_2(call, words, hint):
    """What was mistyped is named, with the nearest word; nothing is on stdout."""
    said = call(*words)
    assert (said.code, said.out) == (2, "")
    assert hint in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadData("it\nis bad."), 3),
        (BadArgument("it\nis bad."), 2),
        (UnknownName("it\nis bad."), 2),
        (Refusal("it\nis bad."), 1),
        (FitFailed("it\nis bad."), 1),
        (MissingExtra("it\nis bad."), 1),
        (KeyboardInterrupt(), 130),
        (MemoryError(), 1),
    ],
)
def test_every_error_has_its_exit_code(monkeypatch, call, error, code):
    """An error is one line on stderr and its kind the exit code."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(app.cli, "main", fail)
    said = call("assess")
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("truerisk: ")
    assert said.err.count("\n") == 1


def test_a_full_disk_is_a_sentence(monkeypatch, call):
    """Where stdout has no room, one line says so; other errors of the system keep their trace."""

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(app.cli, "main", fail)
    said = call("methods")
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        "truerisk: the output is incomplete: No space left on device. Make room, or write it "
        "elsewhere, and run the command again.\n"
    )
    monkeypatch.setattr(app, "_FULL", ())
    with pytest.raises(OSError, match="No space left"):
        app.run(["methods"])


def test_what_truerisk_does_not_word_is_not_hidden(monkeypatch):
    """A bug keeps its traceback."""
    monkeypatch.setattr(app.cli, "main", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        app.run(["assess"])


def test_a_closed_pipe_is_no_traceback():
    """A reader that leaves early, such as `head`, makes no noise."""
    with subprocess.Popen(
        [*TRUERISK, "methods"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        complaint = process.stderr.read()
        process.wait(timeout=60)
    assert complaint == ""
    assert process.returncode == 1


def test_a_process_separates_result_and_remarks(table, quick):
    """Only JSON is on stdout, only notes are on stderr, and both are UTF-8 text without colours.

    A busy machine takes more than two seconds, and then lines of progress are among the notes.
    """
    done = command("assess", str(table), "--target", "y", "--models", "lda", "--json", *quick)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('{"schema": "truerisk.assessment/2"')
    assert done.stdout.count("\n") == 1
    remark = re.compile(r"note: |(.*: )?\d+ of \d+ \w+(, about .* left)?$")
    assert [line for line in done.stderr.splitlines() if not remark.match(line)] == []
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "code"), [(["assess", "none.csv", "--target", "y"], 3), (["asses"], 2)]
)
def test_a_process_leaves_with_the_code(words, code):
    """The exit code reaches the shell."""
    done = command(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("module", ["truerisk", "truerisk.cli"])
def test_the_module_is_the_command(module):
    """`python -m truerisk` does what `truerisk` does: same text, same exit code."""
    place = [sys.executable, "-m", module]
    said = [
        subprocess.run([*place, *words], capture_output=True, text=True, check=False, timeout=120)
        for words in (["--help"], ["asses"])
    ]
    assert [done.returncode for done in said] == [0, 2]
    assert said[0].stdout.startswith("Usage: truerisk ")
    assert said[1].stderr.startswith("Usage: truerisk ")


@pytest.mark.parametrize("module", ["click", "truerisk.cli.output", "truerisk.core.version"])
def test_ctrl_c_while_the_command_is_loaded(module):
    """Exit code 130 without a trace, whatever was being imported."""
    script = f"""
import os, signal, sys
from truerisk.cli import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.modules.pop({module!r}, None)
main()
"""
    with begun("-c", script, stderr=subprocess.PIPE) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")


@posix
@pytest.mark.parametrize("module", ["click", "truerisk.cli.output", "truerisk.core.version"])
def test_sigterm_while_the_command_is_loaded(module):
    """Exit code 143 without a trace, whatever was being imported."""
    script = f"""
import os, signal, sys
from truerisk.cli import main

class Terminating:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, Terminating())
sys.modules.pop({module!r}, None)
main()
"""
    with begun("-c", script, stderr=subprocess.PIPE) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (143, "")


@posix
@pytest.mark.parametrize("workers", [(), ("--n-jobs", "2")], ids=["here", "workers"])
def test_sigterm_is_a_sentence(table, workers):
    """A terminated assessment without a store says so, exits with 143, and leaves no process."""
    words = ["assess", str(table), "--target", "y", "--models", "forest", "--cv", "holdout"]
    words += ["--outer", "100x5-fold", *workers]
    environment = {**os.environ, "TRUERISK_PROGRESS": "1"}
    with begun(
        "-m", "truerisk.cli", *words, stderr=subprocess.PIPE, start_new_session=True,
        env=environment,
    ) as process:  # fmt: skip
        seen = ""
        while " fits" not in seen.rpartition("planned")[2] and (line := process.stderr.readline()):
            seen += line
        os.kill(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143, seen + err
    assert err.strip().splitlines()[-1] == ("truerisk: terminated (SIGTERM); nothing was kept."), (
        err
    )
    assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while _has_processes(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _has_processes(process.pid)


def _has_processes(group):
    """Return True if a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("words", [("estimate", "--model", "knn"), ("assess", "--models", "knn")])
def test_no_checks_leaves_the_checks_of_rows_out(call, tmp_path, words):
    """Near copies are said once, in the text or beside the JSON, unless --no-checks is given."""
    rng = np.random.default_rng(0)
    patients, y = np.repeat(rng.normal(size=(40, 5)), 4, axis=0), np.repeat(np.arange(40) % 2, 4)
    rows = np.c_[patients + 0.1 * rng.normal(size=patients.shape), y][rng.permutation(160)]
    file = tmp_path / "visits.csv"
    np.savetxt(file, rows, delimiter=",", header="a,b,c,d,e,y", comments="", fmt="%.5g")
    verb, *more = words
    asked = (verb, file, "--target", "y", *more)
    said = call(*asked)
    assert "warning" in said.out
    assert "give groups" in said.out
    assert "give groups" not in said.err
    stored = call(*asked, "--json")
    assert "[near-copies]" in stored.err
    assert "near-copies" in str(stored.content["findings"])
    silent = call(*asked, "--no-checks")
    assert "give groups" not in silent.out + silent.err


@pytest.mark.parametrize(
    ("error", "is_named"),
    [
        ("give cv='5-fold'", True),
        ("(cv=5)", True),
        ("give cv=.", True),
        ("KFold(cv=5), a.cv=5, incv=5, max_bytes= of from_json(), cv={1: 2}", False),
        ("column 'y=cv=3'", False),
    ],
)
def test_check_names_options_finds_the_arguments_of_python(error, is_named):
    words = ["assess", "a.csv", "--target", "y=cv=3"]
    with pytest.raises(AssertionError) if is_named else nullcontext():
        check_names_options(words, f"note: cv=1\ntruerisk: {error}\n")
