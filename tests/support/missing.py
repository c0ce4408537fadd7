"""Clean processes in which a module of truerisk is missing, as if its file had been deleted."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from functools import cache

HIDDEN = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = any(name == one or name.startswith(one + ".") for one in {modules!r})
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""

# Scikit-learn takes a second to import: one process does it, and each task runs in a fork of it.
SERVER = """
import json, os, sys, tempfile, traceback, warnings
warnings.simplefilter("ignore")
import sklearn.ensemble, sklearn.model_selection, sklearn.pipeline

for line in sys.stdin:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            code = 1
            try:
                exec(json.loads(line), {"__name__": "__main__"})
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        told = [each.seek(0) or each.read().decode() for each in (out, errors)]
    print(json.dumps([code, *told]), flush=True)
"""


@cache
def _server() -> subprocess.Popen[str]:
    ours = [sys.executable, "-W", "ignore", "-c", SERVER]
    process = subprocess.Popen(ours, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)
    return process


def output_without(*modules: str, code: str) -> list[str]:
    """Return the lines that Python code prints in a process without these modules."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(HIDDEN.format(modules=modules) + code) + "\n")
    server.stdin.flush()
    status, out, errors = json.loads(server.stdout.readline())
    assert status == 0, errors
    return out.splitlines()
