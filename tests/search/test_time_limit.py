"""`time_limit`: the settings that were rated in time are the grid, and the risk is of them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.contracts import Fits
from truerisk.core.errors import BadArgument, Refusal
from truerisk.engines.running import fitting
from truerisk.search import time_limit

X, Y = tr.datasets.make_difficult(40, random_state=2)
VALUES = np.logspace(-3, 1, 8).tolist()
GRID = {"var_smoothing": VALUES}


class Ticking(GaussianNB):
    """A fit of it takes one second of the clock of these tests."""

    now = 0.0
    fits = 0

    def fit(self, X, y, sample_weight=None):
        if self.var_smoothing < 0:
            raise ValueError("not negative")
        type(self).now += 1.0
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


class TickingForest(RandomForestClassifier):
    """The same, of a model that draws."""

    def fit(self, X, y, sample_weight=None):
        Ticking.now += 1.0
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Seconds are fits."""
    Ticking.now, Ticking.fits = 0.0, 0
    seconds = SimpleNamespace(monotonic=lambda: Ticking.now, perf_counter=lambda: Ticking.now)
    monkeypatch.setattr(time_limit, "time", seconds)
    monkeypatch.setattr(fitting, "time", seconds)


def searched(limit=None, model=None, grid=GRID, **options):
    """A search by five folds: 15 fits for a setting in the pairs of them."""
    model = Ticking() if model is None else model
    given = {"cv": "5-fold", **options}
    search = tr.HonestSearchCV(model, grid, time_limit=limit, **given)
    return search.fit(X, Y)


def told(search):
    """Everything that is said of a search, but its seconds and what was left out."""
    found = [{k: v for k, v in search.cv_results_.items() if "time" not in k}]
    found += [search.best_params_, search.selected_risk_.value, search.curve_.values]
    if search.outer is not None:
        notes = [note for note in search.risk_.notes if "stopped after" not in note]
        left = ("seconds", "notes", "scores")
        risk = {k: v for k, v in search.risk_.to_dict().items() if k not in left}
        found += [risk | {"notes": notes}, search.outer_, search.stability_, search.scores_]
        found[-1] = {name: one.value for name, one in search.scores_.items()}
    return repr(found)


CASES = {
    "pairs": {},
    "scores": {"scoring": ["zero-one", "log", "auc"]},
    "plain": {"outer": None, "limit": 25.0},
    "drawn anew": {"outer": "3-fold"},
    "other folds": {"outer": tr.methods.Pairs("4-fold")},
    "training rows": {"return_train_score": True},
    "failing": {"error_score": np.nan, "grid": {"var_smoothing": [0.1, -1.0, *VALUES]}},
    "random": {"model": TickingForest(3), "grid": {"max_depth": [1, 2, 3, 4, 5]}},
    "random splits": {"cv": "monte-carlo", "outer": "3-fold", "limit": 350.0},
    "bbc": {"interval": "bbc"},
}


@pytest.mark.filterwarnings("ignore:.*fits failed")
@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_a_stopped_search_is_the_search_of_what_was_tried(options):
    """Every number is that of the shorter grid: the honest risk is of choosing in it."""
    given = dict(options)
    limit = given.pop("limit", 55.0)
    found = searched(limit, **given)
    n = len(found.curve_)
    grid = given.pop("grid", GRID)
    ((name, values),) = grid.items()
    assert 1 < n < len(values)
    assert found.selected_risk_.notes[0] == (
        f"stopped after {limit:g} s: {n} of {len(values)} settings were tried, in grid order."
    )
    shorter = searched(grid={name: values[:n]}, **given)
    assert told(found) == told(shorter)
    np.testing.assert_array_equal(found.predict(X), shorter.predict(X))


def test_with_time_enough_nothing_is_otherwise():
    """No note, no number differs, and no fit is made twice."""
    plain = searched()
    made, Ticking.fits = Ticking.fits, 0
    found = searched(1000.0)
    assert Ticking.fits == made == 8 * 15 + 1
    assert told(found) == told(plain)
    assert not any("stopped" in note for note in found.risk_.notes)


def test_it_ends_when_the_time_is_over():
    """The fit on all rows is inside the limit."""
    found = searched(50.0)
    assert Ticking.now == 50
    assert len(found.curve_) == 3
    assert found.risk_.notes[1] == "stopped after 50 s: 3 of 8 settings were tried, in grid order."


def test_the_winners_of_outer_splits_are_fitted_in_time():
    """Folds drawn anew need fits after the choice: time is left for them."""
    searched(100.0, outer="3-fold")
    assert 90 < Ticking.now <= 102


def test_the_number_of_settings_decides_and_not_the_clock():
    """Two limits after the same setting give the same numbers."""
    one, other = searched(47.0), searched(58.0)
    assert len(one.curve_) == len(other.curve_) == 3
    assert told(one) == told(other)


def test_less_than_a_setting_is_refused():
    """There would be nothing to choose, and its risk is not known."""
    with pytest.raises(Refusal, match="the first setting takes 15 fits, and 7 of them were made"):
        searched(7.0)
    assert Ticking.fits == 7


def test_with_a_store_it_goes_on_where_it_stopped(tmp_path):
    """What was rated costs no time the second time."""
    path = tmp_path / "search.db"
    first = searched(50.0, store=path)
    Ticking.now = 0.0
    second = searched(50.0, store=path)
    assert len(first.curve_) == 3
    assert len(second.curve_) == 6
    assert second.kept_.reused == first.kept_.added >= 45
    assert searched(store=path).kept_ == Fits(
        first.kept_.added + second.kept_.added, 120 - first.kept_.added - second.kept_.added
    )
    assert told(searched(store=path)) == told(searched())


def test_a_store_knows_the_settings_that_were_tried(tmp_path):
    """The winners in outer splits of their own are asked among them, and ended in a KeyError."""
    path, options = tmp_path / "search.db", {"outer": "3-fold"}
    part = searched(60.0, store=path, **options)
    assert 0 < len(part.curve_) < len(searched(**options).curve_)
    Ticking.now = 0.0
    whole = searched(1000.0, store=path, **options)
    assert whole.kept_.reused >= part.kept_.added - 3  # another winner is another fit
    assert told(whole) == told(searched(**options))
    assert searched(store=path, **options).kept_ == Fits(whole.kept_.reused + whole.kept_.added, 0)


def test_engines_of_one_pass_answer_many_settings_at_once(monkeypatch):
    """By the true clock: their numbers are those without a limit."""
    monkeypatch.setattr(time_limit, "time", time)
    knn = {"model": KNeighborsClassifier(), "grid": {"n_neighbors": list(range(1, 12))}}
    found = searched(60.0, **knn)
    assert found.risk_.engine == "knn"
    assert told(found) == told(searched(**knn))


def test_workers_are_stopped_as_well(monkeypatch):
    """By the true clock; the numbers are those of this process."""
    monkeypatch.setattr(time_limit, "time", time)
    given = {"model": GaussianNB(), "n_jobs": 2}
    assert told(searched(600.0, **given)) == told(searched(model=GaussianNB()))


def test_a_criterion_is_rated_setting_by_setting(monkeypatch):
    """It asks its fits for degrees of freedom; outer splits test the choice."""
    monkeypatch.setattr(time_limit, "time", time)
    y = X[:, 0] + np.sin(np.arange(40))
    given = {"cv": "aic", "outer": "3-fold", "engine": "generic"}
    plain, found = (
        tr.HonestSearchCV(Ridge(), {"alpha": VALUES}, time_limit=limit, **given).fit(X, y)
        for limit in (None, 600.0)
    )
    assert told(found) == told(plain)


def test_its_seconds_are_counted():
    """Those of rating belong to the risks, as without a limit."""
    found = searched(50.0)
    assert found.selected_risk_.seconds >= 15
    assert found.risk_.seconds >= 30


@pytest.mark.parametrize("limit", [0, -1, "60", True, float("nan"), float("inf")])
def test_what_is_no_limit_is_refused(limit):
    """A sentence, before anything is fitted."""
    with pytest.raises(BadArgument, match=r"time_limit=.*: give seconds, more than 0, or None"):
        searched(limit)
    assert Ticking.fits == 0


def test_a_method_that_goes_by_what_it_found_is_refused():
    """It compares settings as it goes; they cannot be tried one after the other."""
    search = tr.HonestSearchCV(Ticking(), GRID, cv="three-way", outer=None, time_limit=50.0)
    with pytest.raises(Refusal, match="compares settings with each other as it goes"):
        search.fit(X, Y)
