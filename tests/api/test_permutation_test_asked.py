"""What is tested: a search by its honest risk, a model by five folds; the rest is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.api.permutation_test import run_to_permute
from truerisk.core.errors import Refusal

X, Y = tr.datasets.make_difficult(60, random_state=0)
KNN = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
AHEAD = TimeSeriesSplit(3)


@pytest.mark.parametrize(
    ("search", "word"),
    [
        (tr.HonestSearchCV(*KNN, select_by="5-fold"), "pairs (5-fold)"),
        (tr.HonestSearchCV(*KNN, outer="4-fold"), "nested (4-fold, inner 5-fold)"),
        (tr.HonestSearchCV(KNN[0], select_by="5-fold"), "5-fold"),
        (KNN[0], "5-fold"),
        (GridSearchCV(*KNN), "5-fold"),
    ],
)
def test_the_method_is_that_of_the_search(search, word):
    """A single setting needs no pairs."""
    assert run_to_permute(search, X, Y, None, {}).testing.word == word


@pytest.mark.parametrize(
    ("search", "params", "why"),
    [
        (tr.HonestSearchCV(*KNN, outer=None), {}, "outer=None leaves out the risk"),
        (tr.HonestSearchCV(*KNN, time_limit=5), {}, "a clock would decide"),
        (tr.HonestSearchCV(*KNN, error_score=np.nan), {}, "use error_score='raise'"),
        (tr.HonestSearchCV(GridSearchCV(*KNN)), {}, "GridSearchCV tunes inside its own fit"),
        (KNN[0], {"colour": 1}, "colour: fit parameters go to a HonestSearchCV"),
        (tr.HonestSearchCV(*KNN, select_by=AHEAD, outer=AHEAD), {}, "go forward in time"),
    ],
)
def test_what_permutations_cannot_test_is_refused(search, params, why):
    """Each with a sentence."""
    with pytest.raises(Refusal, match=why):
        tr.permutation_test(search, X, Y, n_permutations=2, **params)
