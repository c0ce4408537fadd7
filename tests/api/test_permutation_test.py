"""`permutation_test`: small where there is something to learn, uniform where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal, TrueRiskWarning

X, Y = tr.datasets.make_difficult(60, random_state=0)
SEARCH = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, select_by="3-fold")


def test_something_to_learn_has_a_small_p_value():
    """No permutation of labels that can be told is told as well."""
    found = tr.permutation_test(SEARCH, X, Y, n_permutations=99)
    assert found.p_value == 0.01
    assert abs(found.null.mean() - 0.5) < 0.05
    assert found.notes == ()


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


@pytest.mark.parametrize("name", ["time", "block"])
def test_rows_that_depend_on_each_other_are_refused(name):
    """Their labels do not change places as those of independent rows."""
    with pytest.raises(Refusal, match=f"{name}: rows are taken as independent here"):
        tr.permutation_test(SEARCH, X, Y, **{name: np.arange(60.0)})


def test_few_groups_are_told():
    """Four groups have few orders, and no number of permutations makes their p-value small."""
    groups = np.repeat(np.arange(4), 15)
    found = tr.permutation_test(SEARCH, X, np.repeat([0, 1, 0, 1], 15), groups=groups,
                                n_permutations=5)  # fmt: skip
    assert found.permuted == "labels of groups"
    assert found.notes == ("4 groups change places: their orders come again and again.",)


class Slow(ClassifierMixin, BaseEstimator):
    """Says that it is slow, and is not."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_hours_are_foretold(monkeypatch):
    """What the labels as they are took says how long the permutations will take."""
    monkeypatch.setattr("truerisk.api.permutation_test.LONG", 0.0)
    with pytest.warns(TrueRiskWarning, match=r"will take about .* \(engine 'generic'\)"):
        tr.permutation_test(Slow(), X, Y, n_permutations=2)
