"""`n_iter`: settings drawn once make a grid like any other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core.errors import BadArgument, TrueRiskWarning

SPACE = [
    {"C": scipy.stats.loguniform(0.01, 100), "kernel": ["linear"]},
    {"C": scipy.stats.loguniform(0.01, 100), "gamma": [0.1, 1.0]},
]


@pytest.mark.parametrize("seed", [0, 3])
def test_by_the_words_of_grid_search_it_is_randomized_search(simple, seed):
    """The same settings in the same order, scores, choice, and masks of parameters not set."""
    theirs = RandomizedSearchCV(SVC(), SPACE, n_iter=8, cv=5, random_state=seed).fit(*simple)
    ours = tr.HonestSearchCV(SVC(), SPACE, n_iter=8, cv=5, random_state=seed).fit(*simple)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if name.startswith("param_"):
            np.testing.assert_array_equal(ours.cv_results_[name].mask, column.mask)
            assert list(ours.cv_results_[name].compressed()) == list(column.compressed())
        elif "test" in name:
            np.testing.assert_allclose(ours.cv_results_[name], column, atol=1e-12)
    assert (ours.predict(simple[0]) == theirs.predict(simple[0])).all()


def test_the_fast_engine_and_the_pairs_serve_them(simple):
    """The risk is that of the same settings written as a grid, by the same engine."""
    space = {"n_neighbors": scipy.stats.randint(1, 30)}
    drawn = tr.HonestSearchCV(KNeighborsClassifier(), space, n_iter=12).fit(*simple)
    grid = [{name: [v] for name, v in one.items()} for one in drawn.cv_results_["params"]]
    listed = tr.HonestSearchCV(KNeighborsClassifier(), grid).fit(*simple)
    assert drawn.risk_.engine == "knn"
    assert drawn.risk_.value == listed.risk_.value
    assert drawn.best_params_ == listed.best_params_
    assert "choose among 12 settings" in drawn.risk_.notes[0]


def test_the_settings_come_from_a_stream_of_their_own(simple):
    """Of the seed, whatever the folds; not those that scikit-learn draws with the very seed."""
    space = {"C": scipy.stats.loguniform(0.01, 100)}

    def settings(**options):
        search = tr.HonestSearchCV(SVC(), space, n_iter=4, outer=None, **options)
        return search.fit(*simple).cv_results_["params"]

    assert settings() == settings(cv="3-fold")
    assert settings() != settings(random_state=1)
    assert settings() != settings(cv=3)
    assert settings(random_state=np.random.default_rng(5)) == settings(
        random_state=np.random.default_rng(5)
    )
    assert settings(random_state=2**40, cv=3) == settings(random_state=2**40)


def test_a_seed_that_was_drawn_draws_the_settings_again(simple):
    """`risk_.seed` repeats the whole search, settings and folds."""
    space = {"n_neighbors": scipy.stats.randint(1, 30)}
    first = tr.HonestSearchCV(KNeighborsClassifier(), space, n_iter=5, random_state=None)
    first.fit(*simple)
    again = tr.HonestSearchCV(
        KNeighborsClassifier(), space, n_iter=5, random_state=first.risk_.seed
    ).fit(*simple)
    assert again.cv_results_["params"] == first.cv_results_["params"]
    assert again.risk_.value == first.risk_.value


def test_an_assessment_draws_the_same(simple):
    """(model, distributions, n) are the settings of the search with this seed, for each learner."""
    space = {"C": scipy.stats.loguniform(0.01, 100)}
    found = tr.assess({"svm": (SVC(), space, 6), "knn": KNeighborsClassifier()}, *simple)
    search = tr.HonestSearchCV(SVC(), space, n_iter=6).fit(*simple)
    assert list(found.curves["svm"].candidates) == search.cv_results_["params"]
    assert found.risks["svm"].value == search.risk_.value
    with pytest.raises(BadArgument, match="svm: n_iter=0"):
        tr.assess({"svm": (SVC(), space, 0)}, *simple)
    with pytest.raises(BadArgument, match=r"\(model, distributions, 60\)"):
        tr.assess({"svm": (SVC(), space)}, *simple)


def test_a_small_grid_is_said_at_the_line_of_the_caller(simple):
    """The warning points to the call of `fit`."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, n_iter=9)
    with pytest.warns(TrueRiskWarning, match="has 2 settings") as said:
        search.fit(*simple)
    assert [warning.filename for warning in said] == [__file__]
    assert len(search.curve_) == 2
