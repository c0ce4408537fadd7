"""Fresh processes in which a module of truerisk is missing, as if its file had been deleted."""

from __future__ import annotations

import subprocess
import sys

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


def output_without(*modules: str, code: str) -> list[str]:
    """Return the lines that Python code prints in a process without these modules."""
    whole = HIDDEN.format(modules=modules) + code
    ours = [sys.executable, "-W", "ignore", "-c", whole]
    done = subprocess.run(ours, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
