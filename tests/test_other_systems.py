"""What only Unix has is asked for where it is used: Windows has workers, limits and locks, too."""

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import truerisk as tr

SOURCES = sorted(Path(tr.__file__).parent.rglob("*.py"))
UNIX = ("fcntl", "resource", "pwd", "grp", "termios", "posix")
WITHOUT = f"""
import builtins

given = builtins.__import__

def lacking(name, globals=None, *rest, **named):
    if name in {UNIX} and (globals or {{}}).get("__name__", "").startswith("truerisk"):
        raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    return given(name, globals, *rest, **named)

builtins.__import__ = lacking
"""
ONLY_UNIX = {"SIGKILL", "SIGHUP", "SIGALRM", "fork", "killpg", "getuid", "geteuid"}


@pytest.fixture
def elsewhere(tmp_path):
    """Run a script where truerisk finds no module of Unix, nor do the processes it starts."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)

    def call(script):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


def test_modules_are_imported_without_those_of_unix(elsewhere):
    """But for the learners of packages that are not installed."""
    modules = [
        ".".join(path.relative_to(SOURCES[0].parents[1]).with_suffix("").parts)
        for path in SOURCES
        if path.stem not in ("__main__", "xgboost", "lightgbm", "catboost")
        and path.parent.name != "partners"
    ]
    wanted = [name.removesuffix(".__init__") for name in modules if name.startswith("truerisk")]
    said = elsewhere(f"""
        from importlib import import_module
        lacking = set()
        for name in {wanted}:
            try:
                import_module(name)
            except ModuleNotFoundError as missing:
                lacking.add(missing.name)
        print(lacking & set({UNIX}))
    """)
    assert said == "set()\n"


def test_workers_and_locks_do_their_work_without_unix(elsewhere):
    """Two workers answer as this process does; and a lock is freed."""
    said = elsewhere("""
        import truerisk as tr
        from pathlib import Path
        from sklearn.naive_bayes import GaussianNB

        if __name__ == "__main__":
            X, y = tr.datasets.make_simple(40, random_state=1)
            found = [tr.estimate_risk(GaussianNB(), X, y, n_jobs=e).value for e in (None, 2)]
            assert found[0] == found[1]
            from truerisk.study.lock import Lock
            lock = Lock(Path("runs.db")).acquire()
            assert lock.path.exists()
            lock.release()
            assert not lock.path.exists()
            Lock(Path("runs.db")).acquire().release()
            print("done")
    """)
    assert said == "done\n"


def test_sources_name_nothing_of_unix_without_a_look():
    """`signal.SIGKILL` and the like are attributes that Windows lacks."""
    named = [
        f"{path.name}: {node.attr}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ONLY_UNIX
    ]
    assert named == []
