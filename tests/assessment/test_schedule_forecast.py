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
from truerisk.assessment.forecast import forecast, planned_fits
from truerisk.assessment.schedule import Schedule, word_by_size
from truerisk.core.errors import BadData, Refusal
from truerisk.core.family import Family
from truerisk.core.progress import listen
from truerisk.estimation.problem import pose

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
    ("names", "methods", "outer"),
    [
        (["tree", "knn", "bayes"], ["3-fold"], "4-fold"),
        (["knn"], ["loo"], "holdout"),
        (["tree", "bayes"], ["2x3-fold", "loo"], "2x2-fold"),
        (["knn"], [KFold(3)], "loo"),
        (["bayes"], ["monte-carlo"], KFold(3)),
    ],
)
def test_fits_are_counted_exactly(names, methods, outer):
    """For each learner the fits announced are the fits reported."""
    learners = {name: LEARNERS[name] for name in names}
    found = tr.assess(learners, X, Y, cv=methods, outer=outer)
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
    found = tr.assess(learners, X, Y, cv=["3-fold"], outer="4-fold")
    assert planned == sum(one.n_fits for one in found.learners.values())


def test_a_search_is_fitted_once_more_for_its_own_claim():
    """The forecast, the total of the progress and the report count that fit."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)
    counts = []
    with listen(lambda p: counts.append((p.done, p.total))):
        found = tr.assess({"search": search}, X, Y, cv=["3-fold"], outer="4-fold")
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
    tr.assess(learners, X, Y, cv=["3-fold"], outer="4-fold")
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
    one, two = [expected({"slow": Slow()}, ["3-fold"], "4-fold", n_jobs=e)[0] for e in (None, 2)]
    assert one.fits == two.fits == 3 + 4 + 4 + 1
    assert one.seconds > 12 * 0.02
    assert 0 < two.seconds < one.seconds


def test_a_forecast_refuses_what_the_run_would():
    """Too many folds and a missing answer are said at once, with the learner's name."""
    with pytest.raises(BadData, match="40 folds need at least 40 rows"):
        expected(LEARNERS, ["40-fold"], "4-fold")
    with pytest.raises(Refusal, match="svm: SVC gives no probabilities"):
        expected({"svm": SVC()}, ["3-fold"], "4-fold", scoring="log")


def test_the_data_stay_as_they_are():
    """Timing a fit changes neither X nor y."""
    before = X.copy(), Y.copy()
    expected(LEARNERS, ["3-fold"], "4-fold")
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


# ---------------- An assessment's plans are drawn once, from the seed alone


def asked(settings=1, seed=0, **options):
    """The problem of so many settings of one learner."""
    grid = {"var_smoothing": np.geomspace(1e-9, 1e-6, settings)}
    return pose(Family.of(GaussianNB(), grid), X, Y, random_state=seed, **options)


def drawn(methods=("3-fold",), outer="4-fold", several=True, seed=0, **options):
    """The schedule of one problem, or of the same one under two names."""
    problem = asked(seed=seed, **options)
    return Schedule.draw(
        {"a": problem, "b": problem} if several else {"a": problem}, methods, outer
    )


def test_plans_depend_on_the_seed_alone():
    """The same seed draws the same plans, another one others."""
    one, again, other = drawn(seed=1), drawn(seed=1), drawn(seed=2)
    assert one.nested_plan.fingerprint == again.nested_plan.fingerprint
    assert one.plans[0].fingerprint == again.plans[0].fingerprint
    assert one.nested_plan.fingerprint != other.nested_plan.fingerprint


@pytest.mark.parametrize(
    ("several", "settings", "fits"), [(True, 1, 3 + 4 * 4), (False, 1, 3 + 4), (False, 2, 6 + 28)]
)
def test_inner_fits_are_made_where_something_is_chosen(several, settings, fits):
    """One setting of one learner is tested without inner fits; else each setting has them."""
    apparent, again = 1, 4  # the winners are fitted again where no loss asked for probabilities
    assert drawn(several=several).fits(asked(settings, scoring="log")) == fits + apparent
    assert drawn(several=several).fits(asked(settings)) == fits + apparent + again


def test_methods_are_checked_before_anything_is_drawn():
    """What the loss or the data forbid is refused here."""
    with pytest.raises(Refusal, match="cannot be the inner method"):
        drawn(["three-way"])
    assert drawn(["3-fold", "apparent"]).methods[1].word == "apparent"


# ---------------- Many rows get a cheaper plan, which is said; what a user names is what is done


@pytest.mark.parametrize(("n", "word"), [(30, "5-fold"), (10_000, "5-fold"), (10_001, "holdout")])
def test_the_usual_method_follows_the_rows(n, word):
    """Five folds up to 10,000 rows, one hold-out beyond."""
    assert word_by_size(n) == word


def test_an_assessment_uses_the_usual_method():
    """Tuning is by the usual method where none is named, and testing in the pairs of its folds."""
    X, y = tr.datasets.make_simple(2_100, random_state=0)
    tree = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}
    found = tr.assess({"bayes": GaussianNB(), "tree": tree}, X, y)
    assert (found.tuned_by, found.tested_by) == ("5-fold", "pairs")
    named = tr.assess({"bayes": GaussianNB()}, X, y, cv=["3-fold"], outer="holdout")
    assert (named.tuned_by, named.tested_by) == ("3-fold", "holdout")


def test_slow_learners_are_no_default_for_many_rows():
    """A regression on more than 5,000 rows compares lasso in place of support vectors."""
    rng = np.random.default_rng(0)
    for n, word in ((5_000, "svm"), (5_001, "lasso")):
        X = rng.normal(size=(n, 2))
        assert word in families_on(None, X, X[:, 0] + rng.normal(size=n))
