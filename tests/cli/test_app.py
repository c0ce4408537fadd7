"""Exit codes, what goes where, what a help text costs, and how signals end a command."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import pytest
from tests.cli.conftest import TRUERISK, check_names_options
from tests.support.cut_off import begun

from truerisk import datasets, engines, methods
from truerisk.cli import app
from truerisk.exceptions import FitFailed, MissingExtra, UnknownName
from truerisk.extend import BadArgument, BadData, Refusal

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def process(*words):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, timeout=120
    )


def test_help_imports_nothing_heavy():
    """Help needs neither numpy nor scipy nor scikit-learn, and leaves with 0."""
    done = process(
        "-c",
        "import sys\n"
        "from truerisk.cli.app import run\n"
        "for words in (['--help'], ['-h'], ['assess', '--help'], ['--version']):\n"
        "    try: run(words)\n"
        "    except SystemExit as left: assert left.code == 0, left.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_help_lists_every_command_and_exit_code(call):
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


@pytest.mark.parametrize("room", [methods, engines, datasets], ids=lambda room: room.__name__)
def test_registry_prints_every_word_with_its_sentence(call, room):
    name, registry = room.__name__.rpartition(".")[2], room.registry
    said = call(name)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == registry.names()
    for line, (_, entry) in zip(lines, registry.items(), strict=True):
        assert line.endswith(entry.summary)
    assert call(name, "--json").content == {word: line.summary for word, line in registry.items()}


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
        (OSError(errno.ENOSPC, "No space left on device"), 1),
    ],
    ids=lambda given: type(given).__name__,
)
def test_run_has_an_exit_code_and_a_sentence_for_every_error(monkeypatch, call, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(app.cli, "main", fail)
    said = call("assess")
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("truerisk: ")
    assert said.err.count("\n") == 1
    if code == 1 and isinstance(error, OSError):
        assert "the output is incomplete: No space left on device. Make room, or" in said.err


def test_run_keeps_the_traceback_of_a_bug(monkeypatch):
    for error in (ZeroDivisionError("a bug"), OSError(errno.EACCES, "of another kind")):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(app.cli, "main", fail)
        with pytest.raises(type(error)):
            app.run(["assess"])


def test_process_of_a_closed_pipe_is_no_traceback():
    """A reader that leaves early, such as `head`, makes no noise."""
    words = [sys.executable, *TRUERISK, "methods"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as begun_process:
        begun_process.stdout.close()
        complaint = begun_process.stderr.read()
        begun_process.wait(timeout=60)
    assert complaint == ""
    assert begun_process.returncode == 1


@pytest.mark.parametrize(
    ("module", "words", "code", "start"),
    [
        ("truerisk", ["--help"], 0, "Usage: truerisk "),
        ("truerisk.cli", ["asses"], 2, "Usage: truerisk "),
        ("truerisk", ["assess", "none.csv", "--target", "y"], 3, "truerisk: "),
    ],
)
def test_process_of_a_module_is_the_command(module, words, code, start):
    """`python -m truerisk` does what `truerisk` does: same text, same exit code."""
    done = process("-m", module, *words)
    assert done.returncode == code
    assert (done.stderr if code else done.stdout).startswith(start)
    assert (done.stdout if code else done.stderr) == ""


@posix
@pytest.mark.parametrize(
    ("module", "sent", "code"),
    [
        ("click", signal.SIGINT, 130),
        ("truerisk.cli.output", signal.SIGINT, 130),
        ("click", signal.SIGTERM, 143),
        ("truerisk.core.version", signal.SIGTERM, 143),
    ],
)
def test_signal_while_the_command_is_loaded_is_an_exit_code(module, sent, code):
    """Without a trace, whatever was being imported."""
    script = f"""
import os, sys
from truerisk.cli import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), {int(sent)})

sys.meta_path.insert(0, Interrupting())
sys.modules.pop({module!r}, None)
main()
"""
    with begun("-c", script, stderr=subprocess.PIPE) as running:
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (code, "")


@posix
@pytest.mark.parametrize("workers", [(), ("--n-jobs", "2")], ids=["here", "workers"])
def test_sigterm_without_a_store_is_a_sentence(table, workers):
    """The assessment exits with 143, and leaves no process."""
    words = ["assess", str(table), "--target", "y", "--models", "forest", "--cv", "holdout"]
    words += ["--outer", "100x5-fold", *workers]
    environment = {**os.environ, "TRUERISK_PROGRESS": "1"}
    with begun(
        "-m", "truerisk.cli", *words, stderr=subprocess.PIPE, start_new_session=True,
        env=environment,
    ) as running:  # fmt: skip
        seen = ""
        while " fits" not in seen.rpartition("planned")[2] and (line := running.stderr.readline()):
            seen += line
        os.kill(running.pid, signal.SIGTERM)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 143, seen + err
    assert err.strip().splitlines()[-1] == "truerisk: terminated (SIGTERM); nothing was kept.", err
    assert "Traceback" not in err
    deadline = time.monotonic() + 10
    while _has_processes(running.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _has_processes(running.pid)


def _has_processes(group):
    """Return True if a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


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
