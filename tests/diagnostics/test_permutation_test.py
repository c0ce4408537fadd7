"""`permutation_test`: small where there is something to learn, uniform where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal, TrueRiskWarning
from truerisk.data.data import Data
from truerisk.diagnostics.permutation_test import problem_to_permute
from truerisk.diagnostics.permutations import Orders

X, Y = tr.datasets.make_difficult(60, random_state=0)
SEARCH = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv="3-fold")


def test_something_to_learn_has_a_small_p_value():
    """No permutation of labels that can be told is told as well."""
    found = tr.permutation_test(SEARCH, X, Y, n_permutations=99)
    assert found.p_value == 0.01
    assert abs(found.null.mean() - 0.5) < 0.05
    assert found.notes == ()


@pytest.mark.slow
def test_p_values_of_noise_are_uniform():
    """Over data sets without anything to learn no level is exceeded more often than it says."""
    p_values = []
    for seed in range(60):
        draw = np.random.default_rng(seed)
        noise, y = draw.normal(size=(24, 2)), draw.integers(0, 2, 24)
        y[:6] = [0, 0, 0, 1, 1, 1]
        found = tr.permutation_test(SEARCH, noise, y, n_permutations=19, random_state=seed)
        p_values.append(found.p_value)
    for level in (0.1, 0.25, 0.5, 0.75):
        error = np.sqrt(level * (1 - level) / 60)
        assert np.mean(np.array(p_values) <= level) < level + 3 * error
    assert 0.4 < np.mean(p_values) < 0.65


@pytest.mark.parametrize("n", [0, -3, 2.5, "many", True])
def test_a_number_of_permutations_is_one_or_more(n):
    """Anything else is refused by name."""
    with pytest.raises(Exception, match="n_permutations"):
        tr.permutation_test(SEARCH, X, Y, n_permutations=n)


def test_labels_without_a_choice_are_refused():
    """One class, and groups that cannot change places."""
    with pytest.raises(BadData, match="y has only one class"):
        tr.permutation_test(SEARCH, X, np.ones(60), n_permutations=3)
    groups = np.repeat(np.arange(10), np.arange(1, 11))
    with pytest.raises(BadData, match="groups all differ in size"):
        tr.permutation_test(SEARCH, X[:55], Y[:55], groups=groups, n_permutations=3)


def test_places_are_refused():
    """Labels of rows in space have no order that keeps their dependence."""
    with pytest.raises(Refusal, match="block: no order of labels in space"):
        tr.permutation_test(SEARCH, X, Y, block=np.arange(60.0))


# ---------------------------------------------------------------- rows in the order of time

N = 240
LOAD = tr.datasets.make_daily_load
DAYS, WATTS = LOAD(N, random_state=0)
TIMES = np.random.default_rng(0).permutation(N)


def in_time(search=None, X=DAYS, y=WATTS, **given):
    given = {"time": TIMES, "n_permutations": 19} | given
    return tr.permutation_test(LinearRegression() if search is None else search, X, y, **given)


def test_labels_in_time_are_taken_on_as_a_whole():
    """Every order is that of time, begun somewhere else; the same number, the same order."""
    data = Data.check(DAYS, WATTS, task="regression", time=TIMES)
    orders, by_time = Orders.of(data, 7), np.argsort(TIMES)
    begun = set()
    for number in range(20):
        taken = orders.of_number(number)[by_time]  # the row whose label the first, second, ... has
        steps = np.diff(np.append(TIMES[taken], TIMES[taken[0]])) % N
        assert (steps == 1).all()
        begun.add(int(TIMES[taken[0]]))
        assert (orders.of_number(number) == Orders.of(data, 7).of_number(number)).all()
    assert len(begun) > 10


def test_a_relation_in_time_is_found():
    """By the forward risk of a model, or of a search, whose splits go forward inside."""
    found = in_time()
    assert found.permuted == "shifts in time"
    assert found.method == "forward-5"
    assert found.p_value == 0.05
    assert any("assumed stationary" in note for note in found.notes)
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 10.0]})
    searched = in_time(search, n_permutations=4)
    assert searched.method == "nested (forward-5, inner forward-5)"
    assert searched.p_value == 0.2
    assert searched.observed == search.fit(DAYS, WATTS, time=TIMES).risk_.value


def test_two_series_without_a_relation_are_not_told_apart_from_chance():
    """Both remember; the share of p at most .1 in 20 pairs is that of chance."""
    small = []
    for seed in range(20):
        noise = np.random.default_rng(seed).standard_normal((N, 2))
        for t in range(1, N):
            noise[t] += 0.8 * noise[t - 1]
        found = in_time(
            X=noise[:, :1], y=noise[:, 1], time=np.arange(N), random_state=seed, n_permutations=9
        )
        small.append(found.p_value <= 0.1)
    assert np.sum(small) <= 6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"time": np.arange(N) // 2}, "rows 0 and 1 have one time"),
        ({"groups": np.arange(N) // 2}, "groups and times"),
        ({"X": DAYS[:150], "y": WATTS[:150], "time": np.arange(150)}, "150 times: with fewer than"),
    ],
)
def test_times_without_an_honest_null_are_refused(given, message):
    """Ties, groups, and series of which the break is a large part."""
    with pytest.raises(Refusal, match=message):
        in_time(**given)


def test_few_groups_are_told():
    """Four groups have few orders, and no number of permutations makes their p-value small."""
    groups = np.repeat(np.arange(4), 15)
    found = tr.permutation_test(SEARCH, X, np.repeat([0, 1, 0, 1], 15), groups=groups,
                                n_permutations=5)  # fmt: skip
    assert found.permuted == "labels of groups"
    assert found.notes == ("4 groups change places: the same orders are drawn repeatedly.",)


class Slow(ClassifierMixin, BaseEstimator):
    """Says that it is slow, and is not."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_hours_are_foretold(monkeypatch):
    """What the labels as they are took says how long the permutations will take."""
    monkeypatch.setattr("truerisk.diagnostics.permutation_test.LONG", 0.0)
    with pytest.warns(TrueRiskWarning, match=r"will take about .* \(engine 'generic'\)"):
        tr.permutation_test(Slow(), X, Y, n_permutations=2)


# What is tested: a search by its honest risk, a model by five folds; the rest is refused


KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
AHEAD = TimeSeriesSplit(3)


@pytest.mark.parametrize(
    ("search", "word"),
    [
        (tr.HonestSearchCV(*KNN, cv="5-fold"), "pairs (5-fold)"),
        (tr.HonestSearchCV(*KNN, outer="4-fold"), "nested (4-fold, inner 5-fold)"),
        (tr.HonestSearchCV(KNN[0], cv="5-fold"), "5-fold"),
        (KNN[0], "5-fold"),
        (GridSearchCV(*KNN), "5-fold"),
    ],
)
def test_the_method_is_that_of_the_search(search, word):
    """A single setting needs no pairs."""
    assert problem_to_permute(search, X, Y, None, {}).testing.word == word


@pytest.mark.parametrize(
    ("search", "params", "why"),
    [
        (tr.HonestSearchCV(*KNN, outer=None), {}, "outer=None leaves out the risk"),
        (tr.HonestSearchCV(*KNN, time_limit=5), {}, "a clock would decide"),
        (tr.HonestSearchCV(*KNN, error_score=np.nan), {}, "use error_score='raise'"),
        (tr.HonestSearchCV(GridSearchCV(*KNN)), {}, "GridSearchCV tunes inside its own fit"),
        (KNN[0], {"colour": 1}, "colour: fit parameters go to a HonestSearchCV"),
        (tr.HonestSearchCV(*KNN, cv=AHEAD, outer=AHEAD), {}, "go forward in time"),
    ],
)
def test_what_permutations_cannot_test_is_refused(search, params, why):
    """Each with a sentence."""
    with pytest.raises(Refusal, match=why):
        tr.permutation_test(search, X, Y, n_permutations=2, **params)
