"""`store`: a search that was cut off goes on, with the numbers of one that was not."""

import os
import sqlite3
import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from tests.study.learners import Napping, X, Y, _timeless, assessed
from tests.support.cut_off import interrupted_at, killed_at

import truerisk as tr
from truerisk.contracts import FitCounts
from truerisk.core.progress import listen
from truerisk.exceptions import BadStore, MissingResult, StoreLocked
from truerisk.extend import BadArgument, Refusal, TrueRiskWarning
from truerisk.study import versions
from truerisk.study.lock import Lock

GRID = {"var_smoothing": [0.1, 0.5, 1.0]}
N_FITS = 3 * (5 + 10)


def searched(store=None, model=None, grid=GRID, X=X, **options):
    """A small search that no engine makes faster."""
    search = tr.HonestSearchCV(
        Napping() if model is None else model, grid, cv="5-fold", store=store, **options
    )
    return search.fit(X, Y)


def told(search):
    """Everything that is said of a search, but its seconds."""
    results = {k: v for k, v in search.cv_results_.items() if "time" not in k}
    risk = _timeless(search.risk_.to_dict())
    return repr(results), repr(risk), repr(search.outer_), repr(search.best_params_)


@pytest.mark.parametrize("options", [{}, {"scoring": ["zero-one", "log"]}, {"outer": "3-fold"},
                                     {"return_train_score": True}, {"outer": None}],
                         ids=["pairs", "scores", "outer", "training rows", "plain"])  # fmt: skip
def test_store_changes_no_number_and_spares_every_fit_but_the_last(tmp_path, options):
    path = tmp_path / "search.db"
    plain = searched(**options)
    first = searched(path, **options)
    Napping.fits = 0
    again = searched(path, **options)
    assert Napping.fits == 1
    assert first.kept_ == FitCounts(0, again.kept_.reused)
    assert again.kept_.added == 0
    for one in (first, again):
        if options.get("outer", "pairs") is None:
            np.testing.assert_array_equal(one.curve_.values, plain.curve_.values)
        else:
            assert told(one) == told(plain)


SLOW = """
import sys
from tests.search.test_stored_search import searched
from truerisk.study import keeping
keeping.COMMIT_PAUSE_FACTOR = 0  # on a busy machine all fits would end between two commits
searched(sys.argv[1], n_jobs=eval(sys.argv[2]))
"""


@pytest.mark.parametrize("executor", [None, 2])
def test_store_of_killed_search_spares_what_was_fitted(tmp_path, executor):
    path = tmp_path / "search.db"
    kept = killed_at(5, SLOW, path, executor, nap=0.15)
    assert 5 <= kept < N_FITS
    Napping.fits = 0
    found = searched(path)
    assert found.kept_ == FitCounts(kept, N_FITS - kept)
    assert Napping.fits == N_FITS - kept + 1
    assert told(found) == told(searched())


@pytest.mark.parametrize(
    "change",
    [
        {"X": X + 0.5},
        {"model": Napping(priors=[0.5, 0.5])},
        {"grid": {"var_smoothing": [0.2, 0.3]}},
        {"random_state": 5},
        {"scoring": "log"},
    ],
    ids=["data", "model", "grid", "seed", "response"],
)
def test_store_is_not_used_by_another_search_which_is_warned(tmp_path, change):
    path = tmp_path / "search.db"
    searched(path)
    with pytest.warns(TrueRiskWarning, match="search.db holds fits, and none of this search"):
        other = searched(path, **change)
    assert other.kept_.reused == 0
    assert told(other) == told(searched(**change))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(path).kept_ == FitCounts(N_FITS, 0)


def test_store_of_version_1_is_refused(tmp_path):
    searching, assessing = tmp_path / "search.db", tmp_path / "assess.db"
    calls = {
        searching: lambda: searched(searching),
        assessing: lambda: assessed(assessing, {"bayes": GaussianNB()}),
    }
    for path, call in calls.items():
        call()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 1")
        connection.close()
        with pytest.raises(BadStore, match=f"{path.name} was written by truerisk 0.1 .*anew"):
            call()


def test_store_keeps_what_ended_before_ctrl_c_and_each_setting_by_itself(tmp_path):
    path, other, short = tmp_path / "a.db", tmp_path / "b.db", {"var_smoothing": [0.5]}
    with listen(interrupted_at(7)), pytest.raises(KeyboardInterrupt):
        searched(path)
    assert searched(path).kept_ == FitCounts(7, N_FITS - 7)
    searched(other, grid=short)
    longer = searched(other, grid={"var_smoothing": [0.01, 0.5]})
    assert longer.kept_ == FitCounts(15, 15)
    assert told(longer) == told(searched(grid={"var_smoothing": [0.01, 0.5]}))
    with pytest.raises(MissingResult, match="store=None, which keeps no fits"):
        searched(grid=short).kept_  # noqa: B018


FOREST = {"model": RandomForestClassifier(3), "grid": {"max_depth": [1, 2]}, "engine": "generic"}
NEAREST = {"model": KNeighborsClassifier(), "grid": {"n_neighbors": [1, 3]}}


@pytest.mark.parametrize(("given", "n_kept"), [(FOREST, 30), (NEAREST, 0)])
def test_store_knows_unseeded_models_and_keeps_nothing_of_quick_engines(tmp_path, given, n_kept):
    first, again = (searched(tmp_path / "search.db", **given) for _ in range(2))
    assert (first.kept_, again.kept_) == (FitCounts(0, n_kept), FitCounts(n_kept, 0))
    assert told(first) == told(again) == told(searched(**given))


@pytest.mark.parametrize(
    ("store", "options", "said"),
    [
        (3, {}, "store=3: name a file, such as"),
        ("", {}, "store='': name a file, such as"),
        ("{}", {}, "is a folder: name a file"),
        ("{}/none/search.db", {}, "there is no folder '.*none'; make it first"),
        ("{}/a.db", {"random_state": None}, "random_state=None draws other folds in every run"),
    ],
)
def test_store_is_checked_before_the_first_fit_of_search_and_assessment(
    tmp_path, store, options, said
):
    store = store.format(tmp_path) if isinstance(store, str) else store
    Napping.fits = 0
    with pytest.raises(BadArgument, match=said):
        searched(store, **options)
    with pytest.raises(BadArgument, match=said):
        tr.assess({"bayes": Napping()}, X, Y, store=store, **options)
    assert Napping.fits == 0


def test_store_refuses_models_without_a_key_and_files_without_leave(tmp_path, monkeypatch):
    path = tmp_path / "search.db"
    with pytest.raises(Refusal, match="learner 'SVC': kernel is <function"):
        searched(path, SVC(kernel=lambda a, b: a @ b.T), {"C": [1.0, 2.0]})
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(BadArgument, match="cannot be written: name a file that can"):
        searched(path)


def test_store_that_is_foreign_locked_or_of_other_versions_is_refused(tmp_path, monkeypatch):
    text, other, path = (tmp_path / name for name in ("a.csv", "assess.db", "search.db"))
    text.write_text("a,b\n1,2\n" * 50)
    with pytest.raises(BadStore, match="it is no SQLite file"):
        searched(text)
    assessed(other, {"bayes": GaussianNB()})
    with pytest.raises(BadStore, match="holds an assessment, not a search"):
        searched(other)
    searched(path)
    with pytest.raises(BadStore, match="holds a search, not an assessment"):
        assessed(path, {"bayes": GaussianNB()})
    with pytest.raises(BadStore, match=r"fits of a search, not a study: HonestSearchCV\(..., sto"):
        tr.Study(None, path)
    lock = Lock(path).acquire()
    with pytest.raises(StoreLocked, match="in use"):
        searched(path)
    lock.release()
    now = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**now, "numpy": "9.9"})
    with pytest.raises(BadStore, match=r"\(now 9.9\).*: use the same versions, or a new store.$"):
        searched(path)
