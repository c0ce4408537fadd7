"""Ctrl-C is heard, workers are kept, and no check fails for a busy machine."""

import contextlib
import gc
import os
import signal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from tests.support.signatures import remember_signatures

import truerisk as tr
from truerisk.engines.workers import processes

with contextlib.suppress(ImportError):  # the tests of partners go without it
    from hypothesis import HealthCheck, settings

    # How long drawing takes says nothing of the facts. Other examples are drawn each time: fifty,
    # where a test does not set their number.
    settings.register_profile(
        "suite", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("suite")

remember_signatures()

# A page names the day on which it is drawn, and two that are compared may lie around midnight.
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"

# Two tests that ask for workers lie minutes apart: the same workers serve them all.
processes.IDLE_SECONDS = 3600

TESTS = Path(__file__).parent
SLOW = {
    "adversary/test_adversary.py",
    "search/test_stored_search.py",
    "search/test_time_limit.py",
    "benchmarks/test_drop_in.py",
    "cli/test_study.py",
    "cli/test_workers.py",
    "engines/workers/test_crews.py",
    "engines/workers/test_dask_cluster.py",
    "engines/workers/test_processes.py",
    "study/test_driving.py",
    "study/test_driving_on_dask.py",
    "study/test_keeping.py",
    "study/test_lock.py",
    "test_contributing.py",
    "test_other_systems.py",
    "test_pages.py",
}
"""Killed processes, clocks, drawn attacks, pages followed to the letter: minutes of waiting
that few changes need. `make test` leaves them out, `make test-slow` runs them, `.ci/run` both.
Long simulations, and checks in worker processes beyond one for each kind, bear the mark alone."""


RELEASES = {
    "engines/workers/test_crews.py",
    "engines/workers/test_dask_cluster.py",
    "study/test_driving_on_dask.py",
}
"""Those that wait and may find that another release of joblib or Dask works otherwise:
`make test-floor` runs them, too."""


@cache
def has_waiting(path: Path) -> bool:
    """Whether a file has tests that wait: it stands in SLOW, or names the mark."""
    listed = path.relative_to(TESTS).as_posix() in SLOW
    return listed or "mark.slow" in path.read_text("utf-8")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file without a test that waits where those alone are asked for."""
    if config.option.markexpr != "slow" or not collection_path.name.startswith("test_"):
        return None
    return None if has_waiting(collection_path) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that wait."""
    waiting, released = ({TESTS / name for name in names} for names in (SLOW, RELEASES))
    assert released <= waiting, "RELEASES names files of SLOW"
    assert all(path.exists() for path in waiting), "a file that waits was moved: name it in SLOW"
    for item in items:
        if item.path in waiting:
            item.add_marker("slow")
        if item.path in released:
            item.add_marker("releases")
        unseen = item.get_closest_marker("slow") and not has_waiting(item.path)
        assert not unseen, f"{item.nodeid} waits: write pytest.mark.slow in its file"
        # Workers of pytest-xdist must collect the same names.
        assert " at 0x" not in item.nodeid, f"{item.nodeid} names an address: give its case an id"


# A shell that starts the tests in the background has them, and every process they start, ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


BEGINNINGS: dict[np.random.Generator, dict[str, Any]] = {}
"""Generators of modules, and where they stood when all was collected."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test draws the same numbers whichever others ran before it, or none."""
    for value in vars(getattr(item, "module", None) or object).values():
        if isinstance(value, np.random.Generator) and value in BEGINNINGS:
            value.bit_generator.state = BEGINNINGS[value]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Where generators stand is noted; ten thousand tests stay, and no collection looks at them."""
    for module in {getattr(item, "module", None) for item in session.items} - {None}:
        for value in vars(module).values():
            if isinstance(value, np.random.Generator):
                BEGINNINGS[value] = value.bit_generator.state
    gc.collect()
    gc.freeze()


# ---------------- searches to audit, fitted once

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


@pytest.fixture(scope="session")
def simple():
    """60 rows of two overlapping classes."""
    return tr.datasets.make_simple(60, random_state=3)


@pytest.fixture(scope="session")
def noise():
    """40 rows of noise whose labels are coin tosses."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 4)), np.arange(40) % 2


@pytest.fixture
def grid_search(simple):
    """A fitted grid search of k nearest neighbours; keywords as GridSearchCV takes them."""

    def made(X=None, y=None, groups=None, estimator=None, grid=None, **options):
        rows = simple if X is None else (X, y)
        learner = KNeighborsClassifier() if estimator is None else estimator
        search = GridSearchCV(learner, grid or GRID, **{"cv": 5, **options})
        return search.fit(*rows, groups=groups)

    return made
