"""`time_limit`: the settings that were rated in time are the grid, and the risk is of them."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.contracts import FitCounts
from truerisk.engines.running import fitting
from truerisk.extend import BadArgument, Refusal
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


def searched(limit=None, model=None, grid=GRID, y=Y, **options):
    """A search by five folds: 15 fits for a setting in the pairs of them."""
    model = Ticking() if model is None else model
    given = {"cv": "5-fold", **options}
    search = tr.HonestSearchCV(model, grid, time_limit=limit, **given)
    return search.fit(X, y)


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
def test_time_limit_gives_the_search_of_the_settings_that_were_tried(options):
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


def test_time_limit_leaves_time_for_winners_of_outer_splits():
    searched(100.0, outer="3-fold")
    assert 90 < Ticking.now <= 102


def test_time_limit_with_store_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "search.db"
    first = searched(50.0, store=path)
    Ticking.now = 0.0
    second = searched(50.0, store=path)
    assert len(first.curve_) == 3
    assert len(second.curve_) == 6
    assert second.kept_.reused == first.kept_.added >= 45
    assert searched(store=path).kept_ == FitCounts(
        first.kept_.added + second.kept_.added, 120 - first.kept_.added - second.kept_.added
    )
    assert told(searched(store=path)) == told(searched())


def test_time_limit_with_store_and_own_outer_splits_knows_tried_settings(tmp_path):
    path, options = tmp_path / "search.db", {"outer": "3-fold"}
    part = searched(60.0, store=path, **options)
    assert 0 < len(part.curve_) < len(searched(**options).curve_)
    Ticking.now = 0.0
    whole = searched(1000.0, store=path, **options)
    assert whole.kept_.reused >= part.kept_.added - 3  # another winner is another fit
    assert told(whole) == told(searched(**options))
    assert searched(store=path, **options).kept_ == FitCounts(
        whole.kept_.reused + whole.kept_.added, 0
    )


def test_time_limit_includes_the_final_fit_and_counts_its_seconds():
    found, same = searched(47.0), searched(58.0)
    assert len(found.curve_) == len(same.curve_) == 3
    assert told(found) == told(same)
    Ticking.now = 0.0
    found = searched(50.0)
    assert Ticking.now == 50
    assert found.risk_.notes[1] == "stopped after 50 s: 3 of 8 settings were tried, in grid order."
    assert found.selected_risk_.seconds >= 15
    assert found.risk_.seconds >= 30


KNN = {"model": KNeighborsClassifier(), "grid": {"n_neighbors": list(range(1, 12))}}
RIDGE = {"model": Ridge(), "grid": {"alpha": VALUES}, "y": X[:, 0] + np.sin(np.arange(40))}


@pytest.mark.parametrize(
    ("given", "limit", "n_fits"),
    [
        pytest.param({}, 1000.0, 8 * 15 + 1, id="seconds are fits"),
        pytest.param(KNN, 600.0, 0, id="one pass for all settings"),
        pytest.param({"model": GaussianNB(), "n_jobs": 2}, 600.0, 0, id="workers"),
        pytest.param({**RIDGE, "cv": "aic", "outer": "3-fold"}, 600.0, 0, id="criterion"),
    ],
)
def test_time_limit_that_suffices_changes_nothing(monkeypatch, given, limit, n_fits):
    """The first case counts fits of `Ticking`; the others are timed by the true clock."""
    if given:
        monkeypatch.setattr(time_limit, "time", time)
    plain = searched(**given)
    made, Ticking.fits = Ticking.fits, 0
    found = searched(limit, **given)
    assert Ticking.fits == made == n_fits
    assert told(found) == told(plain)
    assert not any("stopped" in note for note in found.risk_.notes)


REFUSED = [
    *((limit, {}, r"time_limit=.*: give seconds", 0) for limit in (0, -1, "60", True)),
    *((limit, {}, r"more than 0, or None", 0) for limit in (float("nan"), float("inf"))),
    (50.0, {"cv": "three-way", "outer": None}, "compares settings with each other as it goes", 0),
    (7.0, {}, "the first setting takes 15 fits, and 7 of them were made", 7),
]


@pytest.mark.parametrize(("limit", "options", "message", "n_fits"), REFUSED)
def test_time_limit_is_refused_before_the_first_fit_or_setting(limit, options, message, n_fits):
    with pytest.raises((BadArgument, Refusal), match=message):
        searched(limit, **options)
    assert Ticking.fits == n_fits
