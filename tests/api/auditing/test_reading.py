"""Every kind of search is read: its claim, its candidates, its scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from truerisk.api.auditing.reading import read_claim
from truerisk.core.errors import Refusal


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
