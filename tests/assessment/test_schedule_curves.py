"""Learning curves of an assessment: whose, what they take, what they say, and bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.families import families_on

import truerisk as tr
from truerisk.assessment.assess import Interrupted
from truerisk.assessment.forecast import forecast, planned_fits
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName
from truerisk.core.progress import listen
from truerisk.estimation.problem import pose

X, Y = tr.datasets.make_simple(60, random_state=0)
LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "lda": LinearDiscriminantAnalysis(),
}
METHODS = ["4-fold"]


@pytest.fixture(scope="module")
def cheap() -> tr.Assessment:
    """The curves that engines answer together."""
    return tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve="cheap")


def test_nothing_is_measured_unless_asked_for() -> None:
    """No curve, no reason, no line, no fit more."""
    found = tr.assess({"lda": LEARNERS["lda"]}, X, Y, cv=METHODS)
    one = found.learners["lda"]
    assert found.learning_curves == {}
    assert (one.learning_curve, one.no_learning_curve, one.expected) == (None, None, ())
    assert "rows expect" not in str(found)
    with pytest.raises(Refusal, match=r"assess with learning_curve=\['lda'\]"):
        found.plot_learning_curve()


def test_cheap_leaves_out_learners_whose_fits_are_made_one_by_one(cheap) -> None:
    """Neighbours and discriminants have curves; of the tree it is said why not, in print and JSON.

    What was measured is the same as without curves.
    """
    assert list(cheap.learning_curves) == ["knn", "lda"]
    why = cheap.learners["tree"].no_learning_curve
    assert why == (
        f"it takes {_fits('tree'):,} fits, and engine 'tree' makes each by itself; ask for it by "
        "the learner's name."
    )
    assert f"tree: no learning curve: {why[:20]}" in str(cheap)
    assert json.loads(cheap.to_json())["learners"]["tree"]["no_learning_curve"] == why
    plain = tr.assess(LEARNERS, X, Y, cv=METHODS)
    assert {n: r.value for n, r in plain.risks.items()} == {
        n: r.value for n, r in cheap.risks.items()
    }


def _fits(name: str) -> int:
    named = families_on({name: LEARNERS[name]}, X, Y)
    return planned_fits({n: pose(f, X, Y) for n, f in named.items()}, METHODS, None, "all")[1]


def test_the_last_point_of_a_learner_of_one_setting_is_its_honest_risk(cheap) -> None:
    """The folds are those of the assessment, not drawn anew."""
    assert cheap.learning_curves["lda"].values[-1] == cheap.risks["lda"].value


def test_a_curve_of_given_folds_is_that_of_learning_curve(cheap) -> None:
    """Tuned inside by the method that tunes on all rows; what comes of it is one number."""
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
def test_fits_are_counted_exactly(asked, outer) -> None:
    """Forecast, total of the progress and report count the fits of the curves."""
    problems = {n: pose(f, X, Y) for n, f in families_on(LEARNERS, X, Y).items()}
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


def test_it_is_carried_on_to_twice_the_rows(cheap) -> None:
    """In print, in the JSON and in the picture; the JSON is a learning curve that can be read."""
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


def test_a_curve_without_a_law_says_why() -> None:
    """A risk that does not depend on the rows as the law wants it is told without a promise."""

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


def test_an_interruption_keeps_the_assessment() -> None:
    """What the curves lack is named; every risk is there."""

    def stop(progress) -> None:
        if "learning curve" in progress.stage:
            raise KeyboardInterrupt

    with listen(stop), pytest.raises(Interrupted) as stopped:
        tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve="all")
    assert stopped.value.missing == tuple(f"learning curve of {name}" for name in LEARNERS)
    assert set(stopped.value.partial.risks) == set(LEARNERS)


@pytest.mark.parametrize("given", ["knn", True, [], 3, {"knn"}, np.array(["knn"])])
def test_what_is_no_list_of_learners(given) -> None:
    """A word, a flag, a number: the words there are, and how a learner is named."""
    with pytest.raises(BadArgument, match=r"give 'cheap' .* 'all', or a list of learners"):
        tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve=given)


@pytest.mark.parametrize(("given", "near"), [(["kmn"], "did you mean 'knn'"), ([1], "learner 1")])
def test_unknown_learners(given, near) -> None:
    """The name that is there no learner of, and those that are."""
    with pytest.raises(UnknownName, match=rf"{near}.*Assessed: knn, tree, lda"):
        tr.assess(LEARNERS, X, Y, cv=METHODS, learning_curve=given)


@pytest.mark.parametrize(
    ("rows", "outer", "error", "message"),
    [
        (60, "monte-carlo", Refusal, "does not test all rows equally often"),
        (14, None, BadData, "training rows are too few for a learning curve"),
    ],
)
def test_where_there_can_be_none(rows, outer, error, message) -> None:
    """Refused before the first fit, by the learner's name; "cheap" says it and goes on."""
    kept = np.r_[np.flatnonzero(Y == 0)[: rows // 2], np.flatnonzero(Y == 1)[: rows // 2]]
    learners, asked = {"lda": LEARNERS["lda"]}, {"cv": METHODS, "outer": outer}
    with pytest.raises(error, match=f"lda: .*{message}"):
        tr.assess(learners, X[kept], Y[kept], learning_curve="all", **asked)
    found = tr.assess(learners, X[kept], Y[kept], learning_curve="cheap", **asked)
    assert message in found.learners["lda"].no_learning_curve
