"""Ctrl-C at any step leaves no lock taken, no worker alive and nobody waiting."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from truerisk.engines.running.executors import run_batches
from truerisk.engines.workers.processes import delay_signals, wait_for_futures

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_uninterrupted_block_ends_before_ctrl_c_is_heard():
    """Also within another such block, and where the block fails; other threads hold no signals."""
    steps = []
    with pytest.raises(KeyboardInterrupt):
        _two_blocks(steps)
    assert steps == ["inner", "outer"]
    with pytest.raises(KeyboardInterrupt) as raised:
        _block_that_fails()
    assert isinstance(raised.value.__context__, ValueError)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ThreadPoolExecutor(1) as threads:
        threads.submit(_two_blocks_in_peace).result()


def test_uninterrupted_block_has_every_signal_heard_with_its_frame():
    """Also where the handler of the first one raises, as that of Ctrl-C does."""
    lines = []
    before = signal.signal(signal.SIGTERM, lambda _, frame: lines.append(frame.f_lineno))
    try:
        with pytest.raises(KeyboardInterrupt):
            _both_signals()
    finally:
        heard = signal.signal(signal.SIGTERM, before)
    assert len(lines) == 1
    assert callable(heard)


def _both_signals():
    with delay_signals():
        ctrl_c()
        signal.raise_signal(signal.SIGTERM)


def _two_blocks(steps):
    with delay_signals():
        with delay_signals():
            ctrl_c()
            steps.append("inner")
        steps.append("outer")


def _two_blocks_in_peace():
    with delay_signals(), delay_signals():
        pass


def _block_that_fails():
    with delay_signals():
        ctrl_c()
        raise ValueError("of the block")


def test_done_of_hears_ctrl_c_and_lets_go_of_the_future():
    """Whoever sets its result afterwards is not kept waiting for its lock."""
    future = Future()
    threading.Timer(0.3, ctrl_c).start()
    with pytest.raises(KeyboardInterrupt):
        wait_for_futures([future])
    setter = threading.Thread(target=future.set_result, args=(1,), daemon=True)
    setter.start()
    setter.join(10)
    assert not setter.is_alive()


def test_done_of_waits_for_the_first_for_all_or_for_seconds():
    """None of no futures; what is done where the seconds are over."""
    done = Future()
    done.set_result(1)
    open_ = Future()
    assert wait_for_futures([]) == set()
    assert wait_for_futures([done, open_]) == {done}
    assert wait_for_futures([open_], 0.15) == set()
    assert wait_for_futures([done, open_], 0.15, waits_for_all=True) == {done}
    assert wait_for_futures([done], waits_for_all=True) == {done}


AT_STEP = """
import signal, sys, threading, time
from truerisk.engines.running.executors import run_batches

step, taken = int(sys.argv[1]), 0

def traced(frame, event, _):
    global taken
    if "loky" not in frame.f_code.co_filename and "logging" not in frame.f_code.co_filename:
        return traced if event == "call" else None
    if event == "line":
        taken += 1
        if taken == step:
            signal.raise_signal(signal.SIGINT)
    return traced

import loky
sys.settrace(traced)
try:
    for _ in run_batches(2, time.sleep, (), [0.01] * 3 if step < 0 else [60.0] * 9):
        pass
except KeyboardInterrupt:
    print("interrupted", end="")
sys.settrace(None)
if step < 0:
    print(taken, end="")
"""


def at_step(step):
    words = [sys.executable, "-c", AT_STEP, str(step)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def without_gone(stderr):
    """What was printed, but for semaphores that were gone when loky's tracker came to remove them.

    loky 3.4 removes a semaphore and tells its tracker so in two steps. A thread that the end of the
    program stops between the two leaves a name behind, and nothing of that name. A semaphore that
    is still there is a leak, and so is one more than those that are gone.
    """
    gone = re.findall(r"resource_tracker: /loky\S+: FileNotFoundError", stderr)
    counted = re.findall(r"resource_tracker: There appear to be (\d+) leaked semlock", stderr)
    if counted != [str(len(gone))]:
        return stderr
    lines = stderr.splitlines()
    return "".join(x for x in lines if "resource_tracker: " not in x and x != "  warnings.warn(")


def test_semaphore_that_is_still_there_is_a_leak():
    """One that is gone is none, unless there was another one beside it."""
    at = "tracker.py:314: UserWarning: resource_tracker: "
    one, two = (f"{at}There appear to be {n} leaked semlock objects\n" for n in (1, 2))
    gone = f"  warnings.warn(\n{at}/loky-1-abc: FileNotFoundError(2, 'No such file')\n"
    assert without_gone(one + gone) == ""
    assert without_gone(one) == one
    assert without_gone(two + gone) == two + gone
    assert without_gone(one + gone + "more\n") == "more"


@posix
def test_pool_may_be_interrupted_at_any_of_its_steps():
    """At several of the hundreds of lines that begin it: the program ends, and says nothing."""
    steps = int(at_step(-1).stdout)
    assert steps > 100
    for step in range(1, steps, steps // 6):
        done = at_step(step)
        printed = done.stdout, without_gone(done.stderr), done.returncode
        assert printed == ("interrupted", "", 0), step


@posix
def test_run_batches_ends_what_still_runs_where_its_reader_stops():
    """Batches of a minute are not waited for: workers are there for the next run."""
    started = time.monotonic()
    coming = run_batches(2, time.sleep, (), [0.5, *[60.0] * 5])
    assert next(coming) == (0, None)
    coming.close()
    assert dict(run_batches(2, _process, (), [0])) != {0: os.getpid()}
    assert time.monotonic() - started < 20


@posix
def test_workers_ignore_ctrl_c_but_do_not_block_it():
    """Whatever a fit begins in turn may be interrupted."""
    assert dict(run_batches(2, _dealing_with_ctrl_c, (), [0])) == {0: (True, False)}


def _process(_):
    return os.getpid()


def _dealing_with_ctrl_c(_):
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN, signal.SIGINT in blocked


def test_deafness_outlasts_what_a_pool_begins_first():
    """The tracker of resources lets SIGINT through in its parent once it runs."""
    script = """
import signal
from multiprocessing import resource_tracker
from truerisk.engines.workers.processes import block_ctrl_c

with block_ctrl_c():
    resource_tracker.ensure_running()
    assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


WATCHING = """
import os, subprocess, sys, time
from truerisk.engines.workers import processes

if sys.argv[1:]:
    processes.LOOK_EVERY = 0.5 if sys.argv[1] == "asked" else 1000.0
    if sys.argv[1] == "asked" and hasattr(os, "pidfd_open"):
        del os.pidfd_open
        os.pidfd_open = lambda _: os.close(-1)
    processes.end_with_parent(os.getppid())
    print("watches", flush=True)
    time.sleep(1000)
else:
    subprocess.run([sys.executable, __file__, os.environ["HOW"]])
"""


@posix
@pytest.mark.parametrize("how", ["told", "asked"])
def test_worker_ends_with_its_parent(tmp_path, how):
    """A killed parent takes its workers along: at once on Linux, within a second elsewhere."""
    if how == "told" and not hasattr(os, "pidfd_open"):
        pytest.skip("only Linux tells")
    script = tmp_path / "watching.py"
    script.write_text(WATCHING)
    words = {"stdout": subprocess.PIPE, "env": {**os.environ, "HOW": how}}
    with subprocess.Popen([sys.executable, str(script)], **words) as parent:
        assert parent.stdout.readline() == b"watches\n"
        parent.kill()
        started = time.monotonic()
        assert parent.stdout.read() == b""  # ends with the last process that holds the pipe
        assert time.monotonic() - started < 30
