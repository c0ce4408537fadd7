"""What is warned of is the plan that is run, of a model and of a search."""

from __future__ import annotations

import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument
from truerisk.diagnostics.learning_curve import UNSAID, as_learner

X, Y = tr.datasets.make_difficult(60, random_state=0)
KNN = KNeighborsClassifier()
SEARCH = tr.HonestSearchCV(KNN, {"n_neighbors": [1, 3]}, cv="4-fold")
ROWS = {"groups": None, "sample_weight": None}


@pytest.mark.parametrize("model", [KNN, SEARCH], ids=["model", "search"])
def test_the_splits_that_are_looked_at_are_those_that_test(model) -> None:
    """The training sets of a size, by themselves and as the outer ones of nested validation."""
    learner = as_learner(model, X, Y, cv=None, **ROWS, **UNSAID)
    plan = learner.testing(20).plan(learner.problem.data, Streams(learner.problem.seed))
    tested = plan.only(plan.questions("outer" if model is SEARCH else "test"))
    looked_at = learner.cut(20)
    assert tested.n_questions == looked_at.n_questions
    for q in range(tested.n_questions):
        rows = tested.train_rows(int(tested.fit[q]))[0].tolist()
        assert rows == looked_at.train_rows(int(looked_at.fit[q]))[0].tolist()


def test_how_many_folds_compare_inside() -> None:
    """Those of the search; none where a single setting is not compared."""
    alone = tr.HonestSearchCV(KNN, {"n_neighbors": [3]})
    found = [as_learner(m, X, Y, cv=None, **ROWS, **UNSAID).n_inner for m in (SEARCH, alone, KNN)]
    assert found == [4, 0, 0]


@pytest.mark.parametrize(
    "said",
    [
        {"scoring": "accuracy"},
        {"engine": "generic"},
        {"n_jobs": 2},
        {"confidence_level": 0.9},
        {"store": "x.db"},
    ],
)
def test_words_that_a_search_has_itself(said) -> None:
    """None of them is said twice."""
    with pytest.raises(BadArgument, match=f"the search has {next(iter(said))}="):
        as_learner(SEARCH, X, Y, cv=None, **ROWS, **{**UNSAID, **said})
