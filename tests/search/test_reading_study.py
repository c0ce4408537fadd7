"""OptunaSearchCV, by a small double with the attributes that its version 5 has."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import check_cv, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.search.reading import read_study


class StudySearch(BaseEstimator):
    """Tries n_neighbors 1, 3, 5, ...; keeps what OptunaSearchCV keeps, and says no more."""

    def __init__(self, estimator, n_trials=5, cv=5, scoring=None, study=None, subsample=1.0):
        self.estimator = estimator
        self.n_trials = n_trials
        self.cv = cv
        self.scoring = scoring
        self.study = study
        self.subsample = subsample

    def fit(self, X, y):
        """Run the trials on a share of the rows."""
        drawn = np.random.default_rng(0).permutation(len(y))[: int(len(y) * self.subsample)]
        self.sample_indices_ = np.sort(drawn)
        X, y = X[self.sample_indices_], y[self.sample_indices_]
        splitter = check_cv(self.cv, y, classifier=True)
        self.study_ = self.study or SimpleNamespace(trials=[])
        for _ in range(self.n_trials):
            number = len(self.study_.trials)
            params = {"n_neighbors": 2 * number + 1}
            model = clone(self.estimator).set_params(**params)
            scores = cross_val_score(model, X, y, cv=splitter, scoring=self.scoring)
            kept = {f"split{k}_test_score": score for k, score in enumerate(scores)}
            self.study_.trials.append(
                SimpleNamespace(
                    number=number,
                    params=params,
                    value=float(scores.mean()),
                    user_attrs=kept,
                    state=SimpleNamespace(name="COMPLETE"),
                )
            )
        best = max(self.study_.trials, key=lambda trial: trial.value)
        self.best_index_, self.best_score_ = best.number, best.value
        self.classes_ = np.unique(y)
        self.model_ = clone(self.estimator).set_params(**best.params).fit(X, y)
        return self

    def predict(self, X):
        """Labels of the best model."""
        return self.model_.predict(X)


@pytest.fixture
def study_search(simple):
    """A fitted double."""

    def made(**options):
        return StudySearch(KNeighborsClassifier(), **options).fit(*simple)

    return made


def test_the_trials_are_the_candidates(study_search, simple):
    """All three levels; the replay gives the scores of the trials."""
    search = study_search()
    assert read_study(search).best == search.best_index_
    for level in ("scores", "bbc", "nested"):
        u = tr.audit(search, *simple, level=level)
        assert u.claimed.value == pytest.approx(search.best_score_)
        assert "replay-differs" not in u.codes
        assert u.optimism is not None


def test_pruned_trials_are_named(study_search):
    """A trial that is not complete is no candidate, and is counted."""
    search = study_search()
    search.study_.trials[0].state.name = "PRUNED"
    claim = read_study(search)
    assert len(claim.candidates) == 4
    assert "1 trials were pruned" in claim.notes[0]


def test_a_part_of_the_rows_is_replayed_on_that_part(study_search, simple):
    """subsample=0.5: splits are of the rows that the search used."""
    u = tr.audit(study_search(subsample=0.5), *simple)
    assert "replay-differs" not in u.codes


def test_a_reused_study_cannot_be_repeated(study_search, simple):
    """It is found at every level, and refused where it would be repeated."""
    search = study_search(study=study_search().study_)
    assert "state-survives-clone" in tr.audit(search, *simple, level="bbc").codes
    for level in ("pairs", "nested"):
        with pytest.raises(Refusal, match="study=None"):
            tr.audit(search, *simple, level=level)


def test_a_study_without_trials_claims_nothing(study_search):
    """Nothing finished, nothing claimed."""
    search = study_search()
    search.study_.trials.clear()
    with pytest.raises(Refusal, match="no finished trial"):
        read_study(search)


def test_trials_without_split_scores_are_replayed(study_search, simple):
    """Level scores needs the splits, level bbc checks the claim alone."""
    search = study_search()
    search.study_.trials[0].user_attrs.clear()
    assert read_study(search).scores is None
    assert "replay-differs" not in tr.audit(search, *simple).codes
