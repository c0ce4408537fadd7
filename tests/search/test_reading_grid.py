"""Searches with cv_results_."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.auditing.on_scores import score_findings
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.search.claim import scale_of
from truerisk.search.reading import read_claim, read_grid

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


def test_a_grid_search_is_read_as_it_says(grid_search):
    """Score, setting and split scores are those of cv_results_."""
    search = grid_search()
    claim = read_grid(search)
    assert claim.score == search.best_score_
    assert claim.best_params == search.best_params_
    assert claim.scores.shape == (5, 5)
    assert claim.means == pytest.approx(search.cv_results_["mean_test_score"], abs=1e-15)


def test_ten_splits_are_in_order(grid_search):
    """split10 stands after split9, not after split1."""
    search = grid_search(cv=12)
    scores = read_grid(search).scores
    assert scores[:, 11].tolist() == search.cv_results_["split11_test_score"].tolist()


def test_several_metrics_are_read_by_the_one_that_chose(grid_search):
    """The other one is named in a finding; one metric alone is none."""
    search = grid_search(scoring=["accuracy", "roc_auc"], refit="roc_auc")
    claim = read_grid(search)
    assert claim.score == search.best_score_
    assert "several-metrics" in [f.code for f in claim.findings]
    assert "several-metrics" not in [f.code for f in read_grid(grid_search()).findings]
    assert scale_of(claim).word == "auc"


def test_several_metrics_without_a_choice_claim_nothing(grid_search):
    """refit=False, or a function: no single score is claimed."""
    with pytest.raises(Refusal, match="no single score is claimed"):
        read_grid(grid_search(scoring=["accuracy", "f1"], refit=False))
    with pytest.raises(Refusal, match="no single score is claimed"):
        read_grid(grid_search(scoring=["accuracy", "f1"], refit=lambda results: 0))


def test_a_choice_by_a_function_is_seen(grid_search):
    """refit=function: the chosen setting's own mean is the claim, and it is not the best one."""
    claim = read_grid(grid_search(refit=lambda results: int(results["mean_test_score"].argmin())))
    assert claim.score == pytest.approx(claim.means.min())
    found = score_findings(claim, scale_of(claim), np.nan)
    assert "choice-differs" in [f.code for f in found]


def test_a_randomised_search_is_read(simple):
    """Its drawn settings are the candidates."""
    search = RandomizedSearchCV(KNeighborsClassifier(), GRID, n_iter=3, random_state=0, cv=3)
    claim = read_grid(search.fit(*simple))
    assert [dict(c) for c in claim.candidates] == search.cv_results_["params"]


def test_a_halving_search_is_read_by_its_last_round(simple):
    """The rows of that round are drawn as the search drew them."""
    X, y = simple
    search = HalvingGridSearchCV(
        KNeighborsClassifier(), GRID, random_state=0, cv=3, min_resources=30, factor=2
    ).fit(X, y)
    claim = read_grid(search)
    last = np.asarray(search.cv_results_["iter"]) == search.n_iterations_ - 1
    assert len(claim.candidates) == last.sum() < len(last)
    assert claim.score == search.best_score_
    plan = claim.plan(Data.check(X, y, task="classification"))
    used = plan.train_sizes[plan.fit[0]] + plan.test_sizes[0]
    assert used == pytest.approx(search.n_resources_[-1], abs=1)
    assert "halving" in claim.notes[0]


def test_our_own_search_keeps_its_curve(simple):
    """The losses are there already: nothing will be fitted again."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, outer=None).fit(*simple)
    claim = read_grid(search)
    assert claim.curve is search.curve_
    assert claim.score == search.best_score_


# ---------------- Every kind of search is read: its claim, its candidates, its scores


def test_a_search_that_is_not_fitted_is_refused():
    """There is no claim yet."""
    with pytest.raises(Refusal, match=r"is not fitted.*Call fit"):
        read_claim(GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}))


@pytest.mark.parametrize("thing", [GridSearchCV, "search", None])
def test_what_is_no_search_is_refused(thing):
    """A class, a word, nothing."""
    with pytest.raises(Refusal, match="is no search"):
        read_claim(thing)


def test_a_model_without_a_search_is_refused_with_the_list():
    """A fitted model holds nothing to audit; the sentence says what does."""
    with pytest.raises(Refusal, match=r"holds nothing to audit.*HonestSearchCV"):
        read_claim(PCA().fit(np.eye(3)))


def test_each_kind_goes_to_its_reader(grid_search):
    """The claim carries the class of the search."""
    claim = read_claim(grid_search())
    assert claim.search == "GridSearchCV"
    assert claim.exact
