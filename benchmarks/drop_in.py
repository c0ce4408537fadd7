"""scikit-learn's own tests of GridSearchCV, run on HonestSearchCV: `python -m benchmarks.drop_in`.

The tests are those of the installed scikit-learn; nothing of them is copied. While their module is
imported, `sklearn.model_selection.GridSearchCV` is a HonestSearchCV whose defaults are those of
GridSearchCV. Tests that do not speak of GridSearchCV, and cases of a test that are about another
search, are left out. Give a part of a test's name to run these tests only.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import model_selection

from truerisk import HonestSearchCV

THEIRS = model_selection.GridSearchCV
NAME = re.compile(r"\bGridSearchCV\b")
OTHERS = ("RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")


def drop_in(outer: Any) -> type[HonestSearchCV]:
    """HonestSearchCV with the defaults of GridSearchCV, and with this `outer`."""

    class GridSearchCV(HonestSearchCV):
        def __init__(self, estimator: Any, param_grid: Any, **given: Any) -> None:
            theirs = {"cv": 5, "outer": outer, "error_score": np.nan}
            said = {name: value for name, value in given.items() if value is not None}
            super().__init__(estimator, param_grid, **(theirs | said))

        @classmethod
        def _get_param_names(cls) -> list[str]:
            return HonestSearchCV._get_param_names()

    GridSearchCV.__qualname__ = "GridSearchCV"  # where pickle finds it
    globals()["GridSearchCV"] = GridSearchCV
    return GridSearchCV


@dataclass
class Count:
    """What pytest says of every test that speaks of GridSearchCV."""

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if _speaks_of_it(item)]

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid.rpartition("::")[2]
        if report.failed:
            self.failed[name] = _last_line(report)
        elif report.skipped:
            self.skipped.append(name)
        elif report.when == "call":
            self.passed.append(name)


def _speaks_of_it(item: Any) -> bool:
    """Whether a test is about GridSearchCV; its cases that are about another search are not."""
    cases = getattr(item, "callspec", None)
    shown = "" if cases is None else repr(list(cases.params.values()))
    if any(other in shown for other in OTHERS):
        return False
    return "GridSearchCV" in shown or bool(NAME.search(inspect.getsource(item.function)))


def _last_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr) if crash is None else crash.message
    return " ".join(text.split())[:300]


@contextlib.contextmanager
def replaced(outer: Any) -> Iterator[None]:
    """Whoever imports GridSearchCV meanwhile gets the drop-in."""
    model_selection.GridSearchCV = drop_in(outer)
    try:
        yield
    finally:
        model_selection.GridSearchCV = THEIRS


def count(outer: Any, name: str = "", shown: bool = False) -> Count:
    """Run the tests whose names hold `name`, and count."""
    found = Count()
    module = Path(inspect.getfile(model_selection)).parent / "tests" / "test_search.py"
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "-k", name]
    silence = contextlib.nullcontext() if shown else contextlib.redirect_stdout(io.StringIO())
    with replaced(outer), silence:
        pytest.main([str(module), *options], plugins=[found])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.drop_in", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="a part of the names of tests")
    parser.add_argument("--outer", help="the outer splits of the search, such as pairs")
    parser.add_argument("--show", action="store_true", help="print what pytest prints")
    given = parser.parse_args(arguments)
    found = count(given.outer, given.name, given.show)
    for name, why in sorted(found.failed.items()):
        print(f"{name}: {why}")
    total = len(found.passed) + len(found.failed)
    print(
        f"scikit-learn {sklearn.__version__}, outer={given.outer}: {len(found.passed)} of {total} "
        f"pass, {len(found.skipped)} are skipped"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
