"""`store`: a search that was cut off goes on, with the numbers of one that was not."""

from __future__ import annotations

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
from truerisk.contracts import Fits
from truerisk.core.errors import (
    BadArgument,
    BadStore,
    MissingResult,
    Refusal,
    StoreLocked,
    TrueRiskWarning,
)
from truerisk.core.progress import listen
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
def test_a_store_changes_no_number_and_spares_every_fit_but_the_last(tmp_path, options):
    """The model on all rows is made again: a store keeps answers, and no models."""
    path = tmp_path / "search.db"
    plain = searched(**options)
    first = searched(path, **options)
    Napping.fits = 0
    again = searched(path, **options)
    assert Napping.fits == 1
    assert first.kept_ == Fits(0, again.kept_.reused)
    assert again.kept_.added == 0
    for one in (first, again):
        if options.get("outer", "pairs") is None:
            np.testing.assert_array_equal(one.curve_.values, plain.curve_.values)
        else:
            assert told(one) == told(plain)


SLOW = """
import sys
from tests.search.test_stored_search import searched
searched(sys.argv[1], n_jobs=eval(sys.argv[2]))
"""


@pytest.mark.parametrize("executor", [None, 2])
def test_a_killed_search_goes_on(tmp_path, executor):
    """After SIGKILL what was stored is not fitted again; the numbers are the undisturbed ones."""
    path = tmp_path / "search.db"
    kept = killed_at(5, SLOW, path, executor, nap=0.15)
    assert 5 <= kept < N_FITS
    Napping.fits = 0
    found = searched(path)
    assert found.kept_ == Fits(kept, N_FITS - kept)
    assert Napping.fits == N_FITS - kept + 1
    assert told(found) == told(searched())


def test_an_interrupted_search_keeps_what_ended(tmp_path):
    """Ctrl-C loses no fit."""
    path = tmp_path / "search.db"

    with listen(interrupted_at(7)), pytest.raises(KeyboardInterrupt):
        searched(path)
    assert searched(path).kept_ == Fits(7, N_FITS - 7)


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
def test_another_search_begins_anew_and_is_told_so(tmp_path, change):
    """What a fit depends on is its key: nothing of another search is used."""
    path = tmp_path / "search.db"
    searched(path)
    with pytest.warns(TrueRiskWarning, match="search.db holds fits, and none of this search"):
        other = searched(path, **change)
    assert other.kept_.reused == 0
    assert told(other) == told(searched(**change))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(path).kept_ == Fits(N_FITS, 0)


def test_a_longer_grid_finds_the_shorter_one(tmp_path):
    """Settings are kept one by one."""
    path = tmp_path / "search.db"
    searched(path, grid={"var_smoothing": [0.5]})
    longer = searched(path, grid={"var_smoothing": [0.01, 0.5]})
    assert longer.kept_ == Fits(15, 15)
    assert told(longer) == told(searched(grid={"var_smoothing": [0.01, 0.5]}))


def test_models_without_a_seed_are_found_by_that_of_the_search(tmp_path):
    """A forest draws by the number of its fit."""
    path, forest = tmp_path / "search.db", RandomForestClassifier(n_estimators=3)
    given = {"model": forest, "grid": {"max_depth": [1, 2]}, "engine": "generic"}
    first, again = searched(path, **given), searched(path, **given)
    assert again.kept_.added == 0
    assert told(first) == told(again) == told(searched(**given))


def test_what_answers_all_settings_at_once_keeps_nothing(tmp_path):
    """It is quick, and begins anew; `kept_` says so."""
    path = tmp_path / "search.db"
    knn = {"model": KNeighborsClassifier(), "grid": {"n_neighbors": [1, 3]}}
    assert searched(path, **knn).kept_ == Fits(0, 0)
    assert told(searched(path, **knn)) == told(searched(**knn))


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (3, "store=3: name a file, such as"),
        ("", "store='': name a file, such as"),
        ("{}", "is a folder: name a file"),
        ("{}/none/search.db", "there is no folder '.*none'; make it first"),
    ],
)
def test_what_is_no_place_for_a_file_is_refused(tmp_path, store, said):
    """Before anything is fitted."""
    store = store.format(tmp_path) if isinstance(store, str) else store
    Napping.fits = 0
    with pytest.raises(BadArgument, match=said):
        searched(store)
    with pytest.raises(BadArgument, match=said):
        tr.assess({"bayes": Napping()}, X, Y, store=store)
    assert Napping.fits == 0


def test_a_file_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    """The system says so before anything is fitted."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(BadArgument, match="cannot be written: name a file that can"):
        searched(tmp_path / "search.db")


def test_a_seed_that_nobody_knows_would_find_nothing(tmp_path):
    """random_state=None draws other folds each time."""
    with pytest.raises(BadArgument, match="random_state=None draws other folds in every run"):
        searched(tmp_path / "search.db", random_state=None)
    with pytest.raises(BadArgument, match="random_state=None draws other folds in every run"):
        tr.assess({"bayes": Napping()}, X, Y, store=tmp_path / "search.db", random_state=None)


def test_a_model_without_a_key_is_refused_by_its_name(tmp_path):
    """Nothing is pickled: what cannot be written down has no key."""
    with pytest.raises(Refusal, match="learner 'SVC': kernel is <function"):
        searched(tmp_path / "search.db", SVC(kernel=lambda a, b: a @ b.T), {"C": [1.0, 2.0]})
    assert not list(tmp_path.iterdir())


def test_foreign_and_locked_files_are_refused(tmp_path):
    """A text, an assessment, and a store that another run writes to."""
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
    lock = Lock(path).take()
    with pytest.raises(StoreLocked, match="in use"):
        searched(path)
    lock.free()


def test_other_versions_are_refused(tmp_path, monkeypatch):
    """Numbers can depend on them; the sentence names no option that a search has not."""
    path = tmp_path / "search.db"
    searched(path)
    now = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**now, "numpy": "9.9"})
    with pytest.raises(BadStore, match=r"\(now 9.9\).*: use the same versions, or a new store.$"):
        searched(path)


def test_store_of_version_1_is_refused(tmp_path):
    """A search and an assessment name the file, and say what to do."""
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


def test_without_a_store_nothing_is_kept():
    """`kept_` says how to get it."""
    with pytest.raises(MissingResult, match="store=None, which keeps no fits"):
        searched().kept_  # noqa: B018
