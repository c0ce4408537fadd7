"""`n_iter`: settings drawn once make a grid like any other."""

import numpy as np
import pytest
import scipy.stats
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import truerisk as tr
from truerisk.extend import BadArgument, TrueRiskWarning

PENALTIES = {"C": scipy.stats.loguniform(0.01, 100)}
SPACE = [
    {"C": scipy.stats.loguniform(0.01, 100), "kernel": ["linear"]},
    {"C": scipy.stats.loguniform(0.01, 100), "gamma": [0.1, 1.0]},
]


@pytest.mark.parametrize("seed", [0, 3])
def test_n_iter_search_is_randomized_search(simple, seed):
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


def test_n_iter_search_has_risk_of_same_settings_as_grid(simple):
    space = {"n_neighbors": scipy.stats.randint(1, 30)}
    drawn = tr.HonestSearchCV(KNeighborsClassifier(), space, n_iter=12).fit(*simple)
    grid = [{name: [v] for name, v in one.items()} for one in drawn.cv_results_["params"]]
    listed = tr.HonestSearchCV(KNeighborsClassifier(), grid).fit(*simple)
    assert drawn.risk_.engine == "knn"
    assert drawn.risk_.value == listed.risk_.value
    assert drawn.best_params_ == listed.best_params_
    assert "choose among 12 settings" in drawn.risk_.notes[0]


def test_n_iter_settings_depend_on_seed_alone_and_are_those_of_assess(simple):
    def settings(seed=0, **options):
        words = {"n_iter": 4, "outer": None, "random_state": seed, **options}
        return tr.HonestSearchCV(SVC(), PENALTIES, **words).fit(*simple).cv_results_["params"]

    assert settings() == settings(cv="3-fold")
    assert settings() != settings(1)
    assert settings() != settings(cv=3)
    assert settings(np.random.default_rng(5)) == settings(np.random.default_rng(5))
    assert settings(2**40, cv=3) == settings(2**40)
    found = tr.assess({"svm": (SVC(), PENALTIES, 4), "knn": KNeighborsClassifier()}, *simple)
    assert list(found.curves["svm"].candidates) == settings()
    search = tr.HonestSearchCV(SVC(), PENALTIES, n_iter=4).fit(*simple)
    assert found.risks["svm"].value == search.risk_.value


def test_n_iter_search_is_repeated_by_the_seed_of_its_risk(simple):
    space = {"n_neighbors": scipy.stats.randint(1, 30)}
    search = tr.HonestSearchCV(KNeighborsClassifier(), space, n_iter=5, random_state=None)
    first = clone(search).fit(*simple)
    again = search.set_params(random_state=first.risk_.seed).fit(*simple)
    assert again.cv_results_["params"] == first.cv_results_["params"]
    assert again.risk_.value == first.risk_.value


def test_n_iter_is_checked(simple):
    with pytest.raises(BadArgument, match="svm: n_iter=0"):
        tr.assess({"svm": (SVC(), PENALTIES, 0)}, *simple)
    with pytest.raises(BadArgument, match=r"\(model, distributions, 60\)"):
        tr.assess({"svm": (SVC(), PENALTIES)}, *simple)
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, n_iter=9)
    with pytest.warns(TrueRiskWarning, match="has 2 settings") as said:
        search.fit(*simple)
    assert [warning.filename for warning in said] == [__file__]
    assert len(search.curve_) == 2
