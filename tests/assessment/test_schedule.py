"""What an assessment will do: fits that are counted beforehand, learning curves, defaults."""

import json
import time

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.families import families_on

import truerisk as tr
from truerisk.assessment.assess import Interrupted
from truerisk.assessment.forecast import forecast, planned_fits
from truerisk.assessment.schedule import Schedule, method_name_by_size
from truerisk.core.progress import listen
from truerisk.estimation.problem import problem_from_arguments
from truerisk.exceptions import UnknownName
from truerisk.extend import BadArgument, BadData, Family, Refusal

X, Y = tr.datasets.make_simple(60, random_state=0)
LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "lda": LinearDiscriminantAnalysis(),
}
METHODS = ["4-fold"]


@pytest.fixture(scope="module")
def cheap():
    return tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve="cheap")


def test_learning_curve_cheap_leaves_out_learners_fitted_one_by_one(cheap):
    assert list(cheap.learning_curves) == ["knn", "lda"]
    why = cheap.learners["tree"].no_learning_curve
    assert why == (
        f"it takes {_fits('tree'):,} fits, and engine 'tree' makes each by itself; ask for it by "
        "the learner's name."
    )
    assert f"tree: no learning curve: {why[:20]}" in str(cheap)
    assert json.loads(cheap.to_json())["learners"]["tree"]["no_learning_curve"] == why
    plain = tr.assess(LEARNERS, X, Y, cv=METHODS)
    one = plain.learners["lda"]
    assert plain.learning_curves == {}
    assert (one.learning_curve, one.no_learning_curve, one.expected) == (None, None, ())
    assert "rows expect" not in str(plain)
    with pytest.raises(Refusal, match=r"assess with learning_curve=\['"):
        plain.plot_learning_curve()
    assert cheap.learning_curves["lda"].values[-1] == cheap.risks["lda"].value
    assert {n: r.value for n, r in plain.risks.items()} == {
        n: r.value for n, r in cheap.risks.items()
    }


def _fits(name):
    named = families_on({name: LEARNERS[name]}, X, Y)
    return planned_fits(
        {n: problem_from_arguments(f, X, Y) for n, f in named.items()}, METHODS, None, "all"
    )[1]


def test_learning_curve_of_given_folds_is_that_of_the_verb(cheap):
    methods = [tr.methods.KFold(4, average="fold")]  # as a search compares settings
    found = tr.assess(
        {"knn": LEARNERS["knn"]}, X, Y, cv=methods, outer="5-fold", learning_curve=["knn"]
    )
    search = tr.HonestSearchCV(*LEARNERS["knn"], cv="4-fold", outer="5-fold")
    same = tr.learning_curve(search, X, Y)
    curve = found.learning_curves["knn"]
    assert curve.sizes.tolist() == same.sizes.tolist()
    assert curve.values.tolist() == same.values.tolist()
    assert curve.covariance == pytest.approx(same.covariance)


@pytest.mark.parametrize(("asked", "outer"), [("cheap", None), (["tree"], "5-fold")])
def test_forecast_counts_fits_of_learning_curves(asked, outer):
    problems = {n: problem_from_arguments(f, X, Y) for n, f in families_on(LEARNERS, X, Y).items()}
    said = forecast(problems, METHODS, outer, asked)
    counts = []
    with listen(lambda p: counts.append((p.done, p.total))):
        found = tr.assess(LEARNERS, X, Y, cv=METHODS, outer=outer, learning_curve=asked)
    made = {n: o.n_fits for n, o in found.learners.items()}
    assert {f.learner: f.fits for f in said} == made
    plain = forecast(problems, METHODS, outer)
    more = {f.learner: f.fits - p.fits for f, p in zip(said, plain, strict=True)}
    assert sum(more.values()) == planned_fits(problems, METHODS, outer, asked)[1]
    for name, curve in found.learning_curves.items():
        assert more[name] == sum(one.n_fits for one in curve.estimates)
    assert {total for _, total in counts} == {sum(made.values())}


def test_learning_curve_is_extrapolated_to_twice_the_rows(cheap):
    one = cheap.learners["knn"]
    last = one.expected[-1]
    assert last == one.learning_curve.at(120.0)
    assert f"knn: {last}" in str(cheap).splitlines()
    stored = json.loads(cheap.to_json())["learners"]["knn"]["learning_curve"]
    assert stored["expected"][-1] == {
        "n_train": 120.0,
        "value": last.value,
        "low": last.interval.low,
        "high": last.interval.high,
    }
    assert 60.0 in [at["n_train"] for at in stored["expected"]]
    again = tr.LearningCurve.from_dict(stored)
    assert again.at(120) == one.learning_curve.at(120)
    axes = cheap.plot_learning_curve("knn")
    assert axes.get_xlim()[1] >= 120
    with pytest.raises(Refusal, match="no learning curve of 'tree': it takes"):
        cheap.plot_learning_curve("tree")


def test_learning_curve_without_a_law_is_not_extrapolated():
    class Worse(LinearDiscriminantAnalysis):
        """Wrong where it has many rows."""

        def predict(self, X):
            said = super().predict(X)
            return said if self.n_rows_ < 30 else 1 - said

        def fit(self, X, y):
            self.n_rows_ = len(X)
            return super().fit(X, y)

    found = tr.assess({"worse": Worse()}, X, Y, cv=METHODS, learning_curve=["worse"])
    assert found.learners["worse"].expected == ()
    assert "worse: its learning curve is not extrapolated: a + b n^-c does not fit" in str(found)
    assert json.loads(found.to_json())["learners"]["worse"]["learning_curve"]["expected"] == []


def test_learning_curve_that_is_interrupted_keeps_the_assessment():
    def stop(progress):
        if "learning curve" in progress.stage:
            raise KeyboardInterrupt

    with listen(stop), pytest.raises(Interrupted) as stopped:
        tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve="all")
    assert stopped.value.missing == tuple(f"learning curve of {name}" for name in LEARNERS)
    assert set(stopped.value.partial.risks) == set(LEARNERS)


@pytest.mark.parametrize(
    ("rows", "outer", "error", "message"),
    [
        (60, "monte-carlo", Refusal, "does not test all rows equally often"),
        (14, None, BadData, "training rows are too few for a learning curve"),
    ],
)
def test_learning_curve_is_refused_or_left_out_with_reason(rows, outer, error, message):
    kept = np.r_[np.flatnonzero(Y == 0)[: rows // 2], np.flatnonzero(Y == 1)[: rows // 2]]
    learners, asked = {"lda": LEARNERS["lda"]}, {"cv": METHODS, "outer": outer}
    with pytest.raises(error, match=f"lda: .*{message}"):
        tr.assess(learners, X[kept], Y[kept], learning_curve="all", **asked)
    found = tr.assess(learners, X[kept], Y[kept], learning_curve="cheap", **asked)
    assert message in found.learners["lda"].no_learning_curve


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        *(
            (given, BadArgument, r"give 'cheap' .* 'all', or a list of learners")
            for given in ("knn", True, [], 3, {"knn"}, np.array(["knn"]))
        ),
        (["kmn"], UnknownName, "did you mean 'knn'.*Assessed: knn, tree, lda"),
        ([1], UnknownName, "learner 1.*Assessed: knn, tree, lda"),
    ],
)
def test_learning_curve_option_is_checked(given, kind, message):
    with pytest.raises(kind, match=message):
        tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve=given)


FEW, LABELS = tr.datasets.make_simple(36, random_state=0)
MODELS = {
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}),
    "bayes": GaussianNB(),
}


def expected(learners, methods, outer, **options):
    """The forecast of what assess would do."""
    problems = {
        n: problem_from_arguments(f, FEW, LABELS, **options)
        for n, f in families_on(learners, FEW, LABELS).items()
    }
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
def test_forecast_counts_fits_exactly(names, methods, outer):
    learners = {name: MODELS[name] for name in names}
    found = tr.assess(learners, FEW, LABELS, cv=methods, outer=outer)
    said = expected(learners, methods, outer)
    assert {f.learner: f.fits for f in said} == {n: o.n_fits for n, o in found.learners.items()}
    assert [f.settings for f in said] == [len(found.curves[name]) for name in names]


def test_forecast_divides_seconds_among_workers():
    class Slow(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            time.sleep(0.02)
            return super().fit(X, y)

    one, two = [expected({"slow": Slow()}, ["3-fold"], "4-fold", n_jobs=e)[0] for e in (None, 2)]
    assert one.fits == two.fits == 3 + 4 + 4 + 1
    assert one.seconds > 12 * 0.02
    assert 0 < two.seconds < one.seconds


def asked(settings=1, seed=0, **options):
    """The problem of so many settings of one learner."""
    grid = {"var_smoothing": np.geomspace(1e-9, 1e-6, settings)}
    return problem_from_arguments(
        Family.from_grid(GaussianNB(), grid), FEW, LABELS, random_state=seed, **options
    )


def drawn(methods=("3-fold",), outer="4-fold", several=True, seed=0, **options):
    """The schedule of one problem, or of the same one under two names."""
    problem = asked(seed=seed, **options)
    return Schedule.draw(
        {"a": problem, "b": problem} if several else {"a": problem}, methods, outer
    )


@pytest.mark.parametrize(
    ("several", "settings", "fits"), [(True, 1, 3 + 4 * 4), (False, 1, 3 + 4), (False, 2, 6 + 28)]
)
def test_schedule_makes_inner_fits_only_if_something_is_chosen(several, settings, fits):
    apparent, again = 1, 4  # the winners are fitted again where no loss asked for probabilities
    assert drawn(several=several).n_fits(asked(settings, scoring="log")) == fits + apparent
    assert drawn(several=several).n_fits(asked(settings)) == fits + apparent + again


class Counting(GaussianNB):
    """Counts the fits of all of its kind."""

    seen = 0

    def fit(self, X, y, sample_weight=None):
        Counting.seen += 1
        return super().fit(X, y)


def test_forecast_counts_the_fits_that_models_and_progress_see():
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2)
    learners = {
        "codes": OutputCodeClassifier(GaussianNB(), random_state=0),
        "search": search,
        "counting": (Counting(), {"var_smoothing": [1e-9, 1e-3]}),
    }
    problems = {
        name: problem_from_arguments(f, FEW, LABELS)
        for name, f in families_on(learners, FEW, LABELS).items()
    }
    said = forecast(problems, ["3-fold"], "4-fold")
    Counting.seen, counts = 0, []
    with listen(lambda p: counts.append(p.total)):
        found = tr.assess(learners, FEW, LABELS, cv=["3-fold"], outer="4-fold")
    made = {name: one.n_fits for name, one in found.learners.items()}
    assert {one.learner: one.fits for one in said} == made
    assert planned_fits(problems, ["3-fold"], "4-fold") == (sum(made.values()), 0)
    assert set(counts) == {sum(made.values())}
    tuning, testing, scores, apparent = 2 * 3, 4 * (2 * 3 + 1), 4, 1
    assert Counting.seen == made["counting"] == tuning + testing + scores + apparent


def test_forecast_and_schedule_refuse_what_the_run_would():
    with pytest.raises(BadData, match="40 folds need at least 40 rows"):
        expected(MODELS, ["40-fold"], "4-fold")
    with pytest.raises(Refusal, match="svm: SVC gives no probabilities"):
        expected({"svm": SVC()}, ["3-fold"], "4-fold", scoring="log")
    with pytest.raises(Refusal, match="cannot be the inner method"):
        drawn(["three-way"])
    assert drawn(["3-fold", "apparent"]).methods[1].name == "apparent"


def test_schedule_depends_on_the_seed_alone():
    one, again, other = drawn(seed=1), drawn(seed=1), drawn(seed=2)
    assert one.nested_plan.fingerprint == again.nested_plan.fingerprint
    assert one.plans[0].fingerprint == again.plans[0].fingerprint
    assert one.nested_plan.fingerprint != other.nested_plan.fingerprint


def test_default_methods_and_learners_follow_the_number_of_rows():
    assert [method_name_by_size(n) for n in (30, 10_000, 10_001)] == ["5-fold", "5-fold", "holdout"]
    found = tr.assess({"bayes": GaussianNB(), "tree": MODELS["tree"]}, FEW, LABELS)
    assert (found.tuned_by, found.tested_by) == ("5-fold", "pairs")
    rng = np.random.default_rng(0)
    for n, word in ((5_000, "svm"), (5_001, "lasso")):
        table = rng.normal(size=(n, 2))
        assert word in families_on(None, table, table[:, 0] + rng.normal(size=n))
