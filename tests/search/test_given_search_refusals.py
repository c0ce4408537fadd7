"""What a search that is given may not bring: sentences, before it is fitted where that is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from tests.support.searches import Climbing, Private, Remembering

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal, TrueRiskError

KNN = KNeighborsClassifier()
GRID = {"n_neighbors": [1, 5]}


class Never(GridSearchCV):
    """A search that says so where it is fitted."""

    def fit(self, X, y=None, **params):
        raise AssertionError("it was fitted")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("cv", "5-fold"),
        ("cv", tr.methods.KFold(5)),
        ("rule", "1-se"),
        ("cv", 5),
        ("time_limit", 9),
        ("store", "search.db"),
        ("error_score", np.nan),
        ("return_train_score", True),
        ("verbose", 1),
        ("refit", lambda results: 0),
    ],
)
def test_words_on_how_to_compare_are_its_own(simple, option, value):
    """Said to the wrong one they would be ignored: refused before a fit that may take long."""
    search = tr.HonestSearchCV(Never(KNN, GRID), outer=None, **{option: value})
    with pytest.raises(BadArgument, match=f"{option}=.* Never"):
        search.fit(*simple)
    late = tr.HonestSearchCV(Climbing(KNN), outer=None, **{option: value})
    with pytest.raises(BadArgument, match=f"{option}=.* Climbing"):
        late.fit(*simple)


def test_what_it_does_not_hear_need_not_be_said_to_it(simple):
    """It has a cv, and keeps no store."""
    with pytest.raises(BadArgument, match="tries its own: set it in Never, or give a model and a"):
        tr.HonestSearchCV(Never(KNN, GRID), verbose=1).fit(*simple)
    with pytest.raises(BadArgument, match="tries its own: give a model and a grid"):
        tr.HonestSearchCV(Never(KNN, GRID), store="search.db").fit(*simple)


@pytest.mark.parametrize(
    "option",
    [
        {"outer": "apparent"},
        {"outer": "10-flod"},
        {"interval": "wal"},
        {"confidence_level": 95},
        {"scoring": "zero-on"},
        {"scoring": ["accuracy", "au"]},
        {"random_state": -1},
        {"n_jobs": "tomorrow"},
    ],
    ids=str,
)
def test_what_is_wrong_is_said_before_a_fit_that_may_take_long(simple, option):
    """As for a grid."""
    with pytest.raises(TrueRiskError):
        tr.HonestSearchCV(Never(KNN, GRID), **option).fit(*simple)


def test_a_study_is_refused(simple):
    """A clone would go on with what it learned."""
    search = Never(KNN, GRID)
    search.study = object()
    with pytest.raises(Refusal, match="was given a study.*study=None"):
        tr.HonestSearchCV(search).fit(*simple)


def test_an_iterator_is_refused(simple):
    """The first fit would use it up."""
    splits = KFold(3).split(simple[0])
    with pytest.raises(Refusal, match="cv of Never is <generator.*uses up"):
        tr.HonestSearchCV(Never(KNN, GRID, cv=splits)).fit(*simple)


def test_listed_splits_are_refused(simple):
    """Their numbers are those of all rows."""
    splits = list(KFold(3).split(simple[0]))
    with pytest.raises(Refusal, match="cv of Never lists splits"):
        tr.HonestSearchCV(Never(KNN, GRID, cv=splits)).fit(*simple)


def test_a_splitter_that_remembers_is_refused(simple):
    """What a clone changes in the search itself survives into the next clone."""
    search = GridSearchCV(KNN, GRID, cv=Remembering())
    with pytest.raises(Refusal, match="cv of GridSearchCV changed while a clone"):
        tr.HonestSearchCV(search).fit(*simple)


def test_what_cannot_be_written_is_let_pass(simple):
    """A function of one's own in the search hides nothing from a clone."""
    search = GridSearchCV(KNN, GRID, cv=3, scoring=lambda model, X, y: model.score(X, y))
    assert tr.HonestSearchCV(search, outer="3-fold").fit(*simple).risk_.value > 0


def test_a_search_that_takes_no_groups_is_refused_them(simple):
    """Its own splits would cut them."""
    with pytest.raises(Refusal, match=r"Private\.fit takes no groups"):
        tr.HonestSearchCV(Private(KNN)).fit(*simple, groups=np.arange(60) // 2)


def test_a_search_that_fits_no_model_is_refused(simple):
    """There is nothing to test."""
    search = GridSearchCV(KNN, GRID, cv=3, refit=False)
    with pytest.raises(Refusal, match="refit=False.*nothing to test"):
        tr.HonestSearchCV(search).fit(*simple)


def test_a_choice_by_a_function_among_several_scores_claims_none(simple):
    """The audit's sentence."""
    search = GridSearchCV(KNN, GRID, cv=3, scoring=["f1", "roc_auc"], refit=lambda results: 0)
    with pytest.raises(Refusal, match="no single score is claimed"):
        tr.HonestSearchCV(search).fit(*simple)


def test_a_model_that_holds_another_is_no_search(simple):
    """It is tuned from outside, and may be told how."""
    bags = BaggingClassifier(KNN, n_estimators=3, random_state=0)
    found = tr.HonestSearchCV(bags, cv="3-fold").fit(*simple)
    assert found.risk_.method == "pairs (3-fold)"
