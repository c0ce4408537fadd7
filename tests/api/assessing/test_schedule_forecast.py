"""A forecast counts exactly the fits that are then made."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.families import families_on

import truerisk as tr
from truerisk.api.assessing.schedule import forecast, planned_fits
from truerisk.core.errors import BadData, Refusal
from truerisk.core.progress import listen
from truerisk.run.problem import pose

X, Y = tr.datasets.make_simple(36, random_state=0)
LEARNERS = {
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}),
    "bayes": GaussianNB(),
}


def expected(learners, methods, outer, **options):
    """The forecast of what assess would do."""
    problems = {n: pose(f, X, Y, **options) for n, f in families_on(learners, X, Y).items()}
    return forecast(problems, methods, outer)


@pytest.mark.parametrize(
    ("methods", "outer"),
    [
        (["3-fold"], "4-fold"),
        (["loo"], "holdout"),
        (["2x3-fold", "loo"], "2x2-fold"),
        ([KFold(3)], "loo"),
        (["monte-carlo"], KFold(3)),
    ],
)
@pytest.mark.parametrize("names", [["tree", "knn", "bayes"], ["knn"], ["bayes"]])
def test_fits_are_counted_exactly(names, methods, outer):
    """For each learner the fits announced are the fits reported."""
    learners = {name: LEARNERS[name] for name in names}
    found = tr.assess(learners, X, Y, methods=methods, outer=outer)
    said = expected(learners, methods, outer)
    assert {f.learner: f.fits for f in said} == {n: o.n_fits for n, o in found.learners.items()}
    assert [f.settings for f in said] == [len(found.curves[name]) for name in names]


def test_the_note_of_planned_fits_counts_each_learner_as_it_is_made():
    """A search is fitted for its claim; who gives no probabilities, not again."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)
    learners = {"codes": OutputCodeClassifier(GaussianNB(), random_state=0), "search": search}
    problems = {name: pose(f, X, Y) for name, f in families_on(learners, X, Y).items()}
    planned, of_curves = planned_fits(problems, ["3-fold"], "4-fold")
    assert planned == sum(one.fits for one in forecast(problems, ["3-fold"], "4-fold"))
    assert of_curves == 0
    found = tr.assess(learners, X, Y, methods=["3-fold"], outer="4-fold")
    assert planned == sum(one.n_fits for one in found.learners.values())


def test_a_search_is_fitted_once_more_for_its_own_claim():
    """The forecast, the total of the progress and the report count that fit."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)
    counts = []
    with listen(lambda p: counts.append((p.done, p.total))):
        found = tr.assess({"search": search}, X, Y, methods=["3-fold"], outer="4-fold")
    (said,) = expected({"search": search}, ["3-fold"], "4-fold")
    fits = found.learners["search"].n_fits
    assert said.fits == fits == 3 + 4 + 4 + 1 + 1
    assert {total for _, total in counts} == {fits}


def test_fits_are_those_the_models_saw():
    """Counted in the models themselves, not in our own books."""

    class Counting(GaussianNB):
        seen = 0

        def fit(self, X, y, sample_weight=None):
            Counting.seen += 1
            return super().fit(X, y)

    learners = {"counting": (Counting(), {"var_smoothing": [1e-9, 1e-3]})}
    (said,) = expected(learners, ["3-fold"], "4-fold")
    Counting.seen = 0
    tr.assess(learners, X, Y, methods=["3-fold"], outer="4-fold")
    tuning, testing, scores, apparent = 2 * 3, 4 * (2 * 3 + 1), 4, 1
    assert Counting.seen == said.fits == tuning + testing + scores + apparent


def test_workers_share_the_seconds():
    """Seconds are of one fit times the fits, divided among the workers."""

    class Slow(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            threading_event.wait(0.02)
            return super().fit(X, y)

    import threading

    threading_event = threading.Event()
    one, two = [expected({"slow": Slow()}, ["3-fold"], "4-fold", executor=e)[0] for e in (None, 2)]
    assert one.fits == two.fits == 3 + 4 + 4 + 1
    assert one.seconds > 12 * 0.02
    assert 0 < two.seconds < one.seconds


def test_a_forecast_refuses_what_the_run_would():
    """Too many folds and a missing answer are said at once, with the learner's name."""
    with pytest.raises(BadData, match="40 folds need at least 40 rows"):
        expected(LEARNERS, ["40-fold"], "4-fold")
    with pytest.raises(Refusal, match="svm: SVC gives no probabilities"):
        expected({"svm": SVC()}, ["3-fold"], "4-fold", loss="log")


def test_the_data_stay_as_they_are():
    """Timing a fit changes neither X nor y."""
    before = X.copy(), Y.copy()
    expected(LEARNERS, ["3-fold"], "4-fold")
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])
