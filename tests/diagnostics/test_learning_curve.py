"""`learning_curve`: each size is an estimate of its own, the law, searches, bad input."""

import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.diagnostics.learning_curve import DEFAULT_ARGUMENTS, as_learner
from truerisk.extend import BadArgument, BadData, Refusal, Streams, TrueRiskError, TrueRiskWarning
from truerisk.methods import KFold, MonteCarlo, Nested, Subsampled

X, Y = tr.datasets.make_difficult(100, random_state=0)
KNN = KNeighborsClassifier(3)
GRID = {"n_neighbors": [1, 3, 5]}
SIZES = [12, 24, 48, 80]
SEARCH = tr.HonestSearchCV(KNN, GRID, cv="4-fold")
RARE = np.r_[np.zeros(80, int), np.ones(20, int)]


@pytest.fixture(scope="module")
def curve():
    return tr.learning_curve(KNN, X, Y)


def test_learning_curve_gives_an_estimate_of_its_own_for_every_size(curve):
    """That of `estimate_risk` by `Subsampled`, on the same test sets."""
    assert curve.sizes.tolist() == [10, 13, 18, 24, 33, 44, 59, 80]
    for size, found in zip(curve.sizes, curve.estimates, strict=True):
        same = tr.estimate_risk(KNN, X, Y, cv=Subsampled(int(size)), interval="beta-cv")
        assert (found.value, found.interval) == (same.value, same.interval)
    assert curve.values[-1] == tr.estimate_risk(KNN, X, Y, cv="5-fold").value
    losses = np.array([one.losses for one in curve.estimates])
    assert curve.covariance == pytest.approx(1.8 * np.cov(losses) / 100)
    frame = curve.to_frame()
    assert frame["n_train"].tolist() == curve.sizes.tolist()
    assert (frame["law_low"] < frame["law"]).all()
    assert type(curve).from_json(curve.to_json()).at(300) == curve.at(300)


def test_learning_curve_at_a_size_says_what_to_expect(curve):
    """Within the curve and beyond it, at the level that was asked for."""
    near, far = curve.at(80), curve.at(180)
    assert (near.extrapolated, far.extrapolated) == (False, True)
    assert far.value < near.value
    assert far.value in far.interval
    assert far.interval.width > 0.08
    assert str(far).startswith("with 180 rows expect 0.0")
    lower = tr.learning_curve(KNN, X, Y, confidence_level=0.8)
    assert lower.at(180).interval.width < 0.75 * far.interval.width
    assert lower.at(180).value == far.value


@pytest.mark.parametrize("n", [9, 361, -1, "40", True, float("nan")])
def test_learning_curve_at_a_size_out_of_reach_is_refused(curve, n):
    """Below the smallest size, beyond four times the largest, and what is no number."""
    with pytest.raises((Refusal, BadArgument), match=r"curve\.at\("):
        curve.at(n)


def test_learning_curve_is_the_same_by_engines_workers_and_seed():
    fast, slow, workers, other = (
        tr.learning_curve(KNN, X[:60], Y[:60], sizes=[8, 12, 20, 40], cv="3-fold", **options)
        for options in (
            {},
            {"engine": "generic"},
            {"engine": "generic", "n_jobs": 2},
            {"random_state": 2},
        )
    )
    assert fast.values.tolist() == slow.values.tolist() == workers.values.tolist()
    assert fast.values.tolist() != other.values.tolist()
    assert fast.covariance == pytest.approx(slow.covariance)
    assert (fast.estimates[0].engine, slow.estimates[0].engine) == ("knn", "generic")


# ---------------- searches


@pytest.mark.parametrize("model", [KNN, SEARCH], ids=["model", "search"])
def test_learner_looks_at_the_training_sets_that_test(model):
    """By themselves, and as the outer ones of nested validation."""
    learner = as_learner(model, X, Y, cv=None, groups=None, sample_weight=None, **DEFAULT_ARGUMENTS)
    plan = learner.method_for_size(20).plan(learner.problem.data, Streams(learner.problem.seed))
    tested = plan.select(plan.questions("outer" if model is SEARCH else "test"))
    looked_at = learner.subsampled_plan(20)
    assert tested.n_questions == looked_at.n_questions
    for q in range(tested.n_questions):
        rows = tested.train_rows(int(tested.fit[q]))[0].tolist()
        assert rows == looked_at.train_rows(int(looked_at.fit[q]))[0].tolist()


@pytest.mark.parametrize(
    ("model", "n_inner"), [(SEARCH, 4), (tr.HonestSearchCV(KNN, {"n_neighbors": [3]}), 0), (KNN, 0)]
)
def test_learner_compares_inside_by_the_folds_of_the_search(model, n_inner):
    """None where a single setting is not compared."""
    learner = as_learner(model, X, Y, cv=None, groups=None, sample_weight=None, **DEFAULT_ARGUMENTS)
    assert learner.n_inner_folds == n_inner


def test_learning_curve_tunes_a_search_anew_at_every_size():
    """Each size is nested validation over subsamples; the folds are those that it chooses by."""
    search = tr.HonestSearchCV(KNN, GRID, cv="5-fold", random_state=3)
    found = tr.learning_curve(search, X, Y, sizes=SIZES)
    method = Nested(Subsampled(24, KFold(5)), KFold(5, average="rows by fold"))
    same = tr.risk_curve(KNN, GRID, X, Y, cv=method, random_state=3)
    assert found.estimates[1].value == same.procedure.value
    assert found.estimates[1].loss_rows.tolist() == list(range(100))
    assert not hasattr(search, "risk_")


def test_learning_curve_takes_the_loss_the_level_and_the_splits_of_a_search():
    search = tr.HonestSearchCV(
        KNN, GRID, cv=3, scoring="roc_auc", outer="4-fold", confidence_level=0.9
    )
    found = tr.learning_curve(search, X, Y, sizes=[12, 24, 48, 75])
    assert found.estimates[0].scoring == "roc_auc"
    assert found.confidence_level == found.at(75).interval.confidence_level == 0.9
    assert "75 rows of 4-fold" in found.estimates[-1].method


def test_learning_curve_searches_by_grid_search_cv_in_every_subsample():
    search = GridSearchCV(KNN, {"n_neighbors": [1, 3]}, cv=2)
    found = tr.learning_curve(search, X[:60], Y[:60], sizes=[8, 16, 24, 40], cv="3-fold")
    plan = Subsampled(16, "3-fold")
    assert found.estimates[1].value == tr.estimate_risk(search, X[:60], Y[:60], cv=plan).value


# ---------------- the law and its band


def test_learning_curve_has_a_band_for_scores_and_numbers():
    """AUC by its influences, squared errors by theirs; a score is said as a score."""
    auc = tr.learning_curve(GaussianNB(), X, Y, scoring="auc", sizes=SIZES)
    further = auc.at(160)
    assert auc.values[-1] < further.value < further.interval.high <= 1
    assert str(further) == f"with 160 rows expect {further.value:.4f} {further.interval}"
    target = X[:, 0] + 0.1 * X[:, 1]
    squared = tr.learning_curve(KNeighborsRegressor(2), X, target, sizes=SIZES)
    assert squared.law is not None
    assert squared.estimates[0].scoring == "squared"


@pytest.mark.parametrize("loss", ["zero-one", "auc"])
def test_learning_curve_prints_one_law_on_one_scale(loss):
    """The printed law gives the number that is expected, as an error or as an AUC."""
    line = str(tr.learning_curve(KNN, X, Y, scoring=loss)).splitlines()[-1]
    number = r"(-?[\d.]+(?:e-?\d+)?)"
    said = re.match(
        rf"law {number} ([+-]) {number} n\^-{number}; with (\d+) rows expect {number}", line
    )
    a, sign, b, c, n, expected = said.groups()
    assert sign == ("-" if loss == "auc" else "+")
    told = float(a) + float(sign + b) * float(n) ** -float(c)
    assert told == pytest.approx(float(expected), abs=2e-4)


def test_learning_curve_without_an_error_knows_little():
    """A rule that is never wrong in 100 rows may have a risk of 4 %, at every size."""
    found = tr.learning_curve(KNeighborsClassifier(1), Y[:, None] * 9.0 + X[:, :1] / 99, Y)
    assert found.values.tolist() == [0.0] * len(found)
    assert 0.03 < found.at(90).interval.high < 0.05


def rising():
    """Least squares gets worse as rows come near to columns."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(120, 40))
    target = wide @ rng.normal(size=40) + rng.normal(size=120)
    return tr.learning_curve(LinearRegression(), wide, target, sizes=[10, 15, 22, 30, 38])


def by_scorer():
    """How the errors of a scorer at two sizes go together is not known."""

    def worst(model, X, y):
        return min(model.score(X[y == c], y[y == c]) for c in (0, 1))

    return tr.learning_curve(GaussianNB(), X, Y, scoring=worst, sizes=SIZES)


@pytest.mark.parametrize(
    ("curve_of", "lacking", "refused"),
    [
        (rising, "it rises from", "no law that predicts a risk: .* rises"),
        (by_scorer, "has no formula for what a single row does to it", "has no formula"),
    ],
)
def test_learning_curve_without_a_law_says_why_and_carries_nothing_on(curve_of, lacking, refused):
    found = curve_of()
    assert found.law is None
    assert lacking in found.lacking
    assert "note: " in str(found)
    assert found.to_frame()["law"].isna().all()
    with pytest.raises(Refusal, match=refused):
        found.at(60)


# ---------------- groups, weights, stores, warnings


def test_learning_curve_counts_groups_as_units_and_weighs_losses():
    groups, weights = np.arange(100) // 4, np.linspace(0.2, 2, 100)
    rows = {"groups": groups, "sample_weight": weights}
    found = tr.learning_curve(GaussianNB(), X, Y, sizes=SIZES, cv="5-fold", **rows)
    same = tr.estimate_risk(GaussianNB(), X, Y, cv=Subsampled(24, "5-fold"), **rows)
    assert found.estimates[1].value == same.value
    assert found.sizes[1] == 24
    units = np.bincount(groups, (same.losses - same.value) * weights / weights.sum())
    assert found.covariance[1, 1] == pytest.approx(1.8 * 25 / 24 * (units**2).sum())


def test_learning_curve_begins_with_a_group_for_every_inner_fold():
    search = tr.HonestSearchCV(KNN, GRID, cv="5-fold")
    found = tr.learning_curve(search, X, Y, groups=np.arange(100) // 3)
    assert found.sizes[0] == pytest.approx(21, abs=2)
    assert found.law is not None


@pytest.mark.parametrize("tuned", [False, True])
def test_learning_curve_begins_with_a_size_that_every_setting_has(tuned):
    """20 neighbours need 20 rows: in the fits themselves, or in those that compare settings."""
    model, grid = KNeighborsClassifier(20), {"n_neighbors": [1, 20]}
    found = tr.learning_curve(tr.HonestSearchCV(model, grid, cv="5-fold") if tuned else model, X, Y)
    smallest = found.sizes[0] * 4 // 5 if tuned else found.sizes[0]
    assert 20 <= smallest < 20 * 1.25**2


def test_learning_curve_makes_no_fit_of_a_store_twice(tmp_path, monkeypatch):
    """A curve that was cut off finds its fits again: a forest that cannot be fitted is not."""
    model = RandomForestClassifier(3, random_state=0)
    options = {"sizes": SIZES, "cv": "5-fold", "store": tmp_path / "fits.db"}
    first = tr.learning_curve(model, X, Y, **options)
    monkeypatch.setattr(RandomForestClassifier, "fit", lambda *_: pytest.fail("fitted again"))
    assert tr.learning_curve(model, X, Y, **options).values.tolist() == first.values.tolist()


def test_learning_curve_warns_once_of_copies_and_of_the_size_that_lacks_a_class():
    copies = np.r_[np.arange(50), np.arange(50)]
    with pytest.warns(TrueRiskWarning) as said:
        tr.learning_curve(GaussianNB(), X[copies], Y[copies], sizes=SIZES)
    assert len([one for one in said if "cop" in str(one.message)]) == 1
    with pytest.warns(TrueRiskWarning, match="with 3 training rows .* fits have no row of class 1"):
        tr.learning_curve(GaussianNB(), X, RARE, sizes=[3, 20, 40, 80])


# ---------------- refusals

THREE_ROWS = np.r_[np.zeros(97, int), 1, 1, 1]


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (GaussianNB(), {"sizes": [20, 40, 60]}, BadArgument, "three unknowns, and 3 sizes do not"),
        (GaussianNB(), {"sizes": [20, 20, 40, 60]}, BadArgument, "and 3 sizes"),
        (GaussianNB(), {"sizes": [20, 40, 60, 91]}, BadData, "no 91 training rows. Of 100 rows th"),
        (GaussianNB(), {"sizes": [0.1, 0.5, 0.7, 1.0]}, BadArgument, "whole and at least one"),
        (GaussianNB(), {"sizes": [0, 20, 40, 60]}, BadArgument, "whole and at least one"),
        (GaussianNB(), {"sizes": 8}, BadArgument, "give a list of numbers"),
        (GaussianNB(), {"sizes": "10, 20"}, BadArgument, "give a list of numbers"),
        (GaussianNB(), {"X": X[:20], "y": Y[:20], "cv": "5-fold"}, BadData, "16 training rows are"),
        (
            GaussianNB(),
            {"y": THREE_ROWS, "cv": "3-fold"},
            BadData,
            "the smallest size that keeps some",
        ),
        (
            GaussianNB(),
            {"groups": np.arange(100) // 20, "cv": "5-fold", "sizes": [10, 15, 45, 80]},
            BadData,
            "10 and 15 are fitted on equally many rows, 20 on average",
        ),
        (GaussianNB(), {"cv": TimeSeriesSplit(5)}, Refusal, "go forward in time"),
        (GaussianNB(), {"cv": MonteCarlo(10)}, Refusal, "does not test all rows equally often"),
        (GaussianNB(), {"cv": "pairs"}, Refusal, "cannot be cut to a size"),
        (GaussianNB(), {"cv": ".632+"}, Refusal, "cannot be cut to a size"),
        (KNN, {"time": np.arange(100)}, Refusal, "^time: rows drawn from .*Forward"),
        (KNN, {"block": np.arange(100)}, Refusal, "^block: rows drawn from .*Blocks"),
        (KNeighborsClassifier(60), {}, TrueRiskError, "with 10 training rows"),
        (KNeighborsClassifier(20), {"sizes": SIZES}, TrueRiskError, "with 12 training rows"),
        (SEARCH, {"scoring": "accuracy"}, BadArgument, "the search has scoring=None; set it there"),
        (SEARCH, {"engine": "generic"}, BadArgument, "the search has engine="),
        (SEARCH, {"n_jobs": 2}, BadArgument, "the search has n_jobs="),
        (SEARCH, {"confidence_level": 0.9}, BadArgument, "the search has confidence_level="),
        (SEARCH, {"store": "x.db"}, BadArgument, "the search has store="),
        (tr.HonestSearchCV(KNN, GRID, time_limit=5.0), {}, BadArgument, "of another search at ea"),
        (tr.HonestSearchCV(KNN, GRID, refit=len, outer=None), {}, BadArgument, "choose by rule="),
    ],
)
def test_learning_curve_refuses_what_has_none(model, options, error, message):
    with pytest.raises(error, match=message):
        tr.learning_curve(model, **{"X": X, "y": Y, **options})


def test_learning_curve_names_the_size_at_which_a_fit_failed():
    with (
        pytest.warns(TrueRiskWarning, match="no row of class"),
        pytest.raises(TrueRiskError, match="with 3 training rows"),
    ):
        tr.learning_curve(LogisticRegression(), X, RARE, sizes=[3, 20, 40, 80])
