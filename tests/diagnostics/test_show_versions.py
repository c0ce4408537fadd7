"""`show_versions` and `--version`, with the compiled module and without it."""

import subprocess
import sys
import textwrap

from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

ABSENT = """
    import sys

    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name == "truerisk.kernels._native":
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Absent())
"""
OFF = "knn, interval, logistic-path, svm, elastic-net"


def test_show_versions_names_every_package_and_the_engines(capsys):
    assert tr.show_versions() is None
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["truerisk"] == tr.__version__
    assert {"python", "platform", "numpy", "scipy", "scikit-learn"} <= set(lines)
    assert lines["engines"] == "all are on"


def test_show_versions_tells_of_a_missing_compiled_module_that_costs_time_only():
    """So do `--version` and one warning a process; the numbers are the same."""
    script = """
        import warnings
        import truerisk as tr
        from sklearn.neighbors import KNeighborsClassifier
        from truerisk.cli.app import run
        from truerisk.exceptions import CompiledModuleWarning

        tr.show_versions()
        X, y = tr.datasets.make_simple(40, random_state=1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                found = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, X, y)
        print([w.category is CompiledModuleWarning for w in caught])
        print(found[0].engine, *[one.value for one in found])
        try:
            run(["--version"])
        except SystemExit as left:
            assert left.code == 0
    """
    code = textwrap.dedent(ABSENT) + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    X, y = tr.datasets.make_simple(40, random_state=1)
    here = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, X, y)
    *_, engines, warned, found, version, off = done.stdout.splitlines()
    why = "the compiled module truerisk.kernels._native cannot be imported (No module named"
    assert engines.startswith(f"engines         {OFF} are off: {why}")
    assert warned == "[True]"
    assert found == " ".join(["generic", *[str(one.value) for one in here]])
    assert version == f"truerisk {tr.__version__}"
    assert off.startswith(f"engines {OFF} are off: {why}")
