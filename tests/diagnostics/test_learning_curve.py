"""`learning_curve`: each size is an estimate of its own, the law, searches, bad input."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, Refusal, TrueRiskWarning
from truerisk.methods import KFold, MonteCarlo, Nested, Subsampled

X, Y = tr.datasets.make_difficult(100, random_state=0)
GRID = {"n_neighbors": [1, 3, 5]}
SIZES = [12, 24, 48, 80]


@pytest.fixture(scope="module")
def curve() -> tr.LearningCurve:
    """That of three nearest neighbours."""
    return tr.learning_curve(KNeighborsClassifier(3), X, Y)


def test_every_size_is_an_estimate_of_its_own(curve) -> None:
    """The risk at a size is that of `estimate_risk` by `Subsampled`, on the same test sets."""
    assert curve.sizes.tolist() == [10, 13, 18, 24, 33, 44, 59, 80]
    for size, found in zip(curve.sizes, curve.estimates, strict=True):
        same = tr.estimate_risk(
            KNeighborsClassifier(3), X, Y, cv=Subsampled(int(size)), interval="beta-cv"
        )
        assert (found.value, found.interval) == (same.value, same.interval)
    whole = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv="5-fold")
    assert curve.values[-1] == whole.value


def test_the_covariance_is_that_of_the_losses(curve) -> None:
    """1.8 times that of the rows' mean losses at any two sizes, over the rows."""
    losses = np.array([one.losses for one in curve.estimates])
    assert curve.covariance == pytest.approx(1.8 * np.cov(losses) / 100)


def test_what_to_expect(curve) -> None:
    """Within the curve and beyond it, at the level that was asked for."""
    near, far = curve.at(80), curve.at(180)
    assert (near.extrapolated, far.extrapolated) == (False, True)
    assert far.value < near.value
    assert far.value in far.interval
    assert far.interval.width > 0.08
    assert str(far).startswith("with 180 rows expect 0.0")
    lower = tr.learning_curve(KNeighborsClassifier(3), X, Y, confidence_level=0.8)
    assert lower.at(180).interval.width < 0.75 * far.interval.width
    assert lower.at(180).value == far.value


def test_engines_and_executors_agree() -> None:
    """The fast engine, the generic one and two workers say the same numbers."""
    options = {"sizes": SIZES}
    model = KNeighborsClassifier(3)
    fast, slow, other = (
        tr.learning_curve(model, X, Y, **options, **asked)
        for asked in ({}, {"engine": "generic"}, {"engine": "generic", "n_jobs": 2})
    )
    assert fast.values.tolist() == slow.values.tolist() == other.values.tolist()
    assert fast.covariance == pytest.approx(slow.covariance)
    assert (fast.estimates[0].engine, slow.estimates[0].engine) == ("knn", "generic")


def test_a_seed_draws_other_subsamples() -> None:
    """The same seed repeats every number, another one does not."""
    curves = [
        tr.learning_curve(GaussianNB(), X, Y, sizes=SIZES, random_state=s).values for s in (1, 1, 2)
    ]
    assert curves[0].tolist() == curves[1].tolist() != curves[2].tolist()


def test_a_search_is_tuned_anew_at_every_size() -> None:
    """Each size is nested validation over subsamples; the folds are those that it chooses by."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, cv="5-fold", random_state=3)
    found = tr.learning_curve(search, X, Y, sizes=SIZES)
    method = Nested(Subsampled(24, KFold(5)), KFold(5, average="rows by fold"))
    same = tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, cv=method, random_state=3)
    assert found.estimates[1].value == same.procedure.value
    assert found.estimates[1].loss_rows.tolist() == list(range(100))
    assert not hasattr(search, "risk_")


def test_the_words_of_a_search_hold() -> None:
    """Its loss, its rule, its level and its outer splits; said twice they are refused."""
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), GRID, cv=3, scoring="roc_auc", outer="4-fold", confidence_level=0.9
    )
    found = tr.learning_curve(search, X, Y, sizes=[12, 24, 48, 75])
    assert found.estimates[0].scoring == "roc_auc"
    assert found.confidence_level == found.at(75).interval.confidence_level == 0.9
    assert "75 rows of 4-fold" in found.estimates[-1].method
    with pytest.raises(BadArgument, match="the search has scoring='roc_auc'; set it there"):
        tr.learning_curve(search, X, Y, scoring="log")
    for words, why in (
        ({"time_limit": 5.0}, "of another search at each size"),
        ({"refit": len, "outer": None}, "choose by rule="),
    ):
        asked = tr.HonestSearchCV(KNeighborsClassifier(), GRID, **words)
        with pytest.raises(BadArgument, match=why):
            tr.learning_curve(asked, X, Y)


def test_a_search_of_scikit_learn_is_a_learner() -> None:
    """GridSearchCV searches anew in every subsample, by its own fit."""
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=3)
    found = tr.learning_curve(search, X[:60], Y[:60], sizes=[12, 16, 24, 40], cv="3-fold")
    plan = Subsampled(16, "3-fold")
    assert found.estimates[1].value == tr.estimate_risk(search, X[:60], Y[:60], cv=plan).value


def test_scores_and_regressions_have_a_band() -> None:
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
def test_learning_curve_prints_one_law_on_one_scale(loss) -> None:
    """The printed law gives the number that is expected, as an error or as an AUC."""
    found = tr.learning_curve(KNeighborsClassifier(3), X, Y, scoring=loss)
    line = str(found).splitlines()[-1]
    number = r"(-?[\d.]+(?:e-?\d+)?)"
    said = re.match(
        rf"law {number} ([+-]) {number} n\^-{number}; with (\d+) rows expect {number}", line
    )
    a, sign, b, c, n, expected = said.groups()
    assert sign == ("-" if loss == "auc" else "+")
    told = float(a) + float(sign + b) * float(n) ** -float(c)
    assert told == pytest.approx(float(expected), abs=2e-4)


def test_groups_and_weights_reach_every_size() -> None:
    """Groups are units of the covariance and stay whole; weights weigh the losses."""
    groups, weights = np.arange(100) // 4, np.linspace(0.2, 2, 100)
    found = tr.learning_curve(
        GaussianNB(), X, Y, groups=groups, sample_weight=weights, sizes=SIZES, cv="5-fold"
    )
    method = Subsampled(24, "5-fold")
    same = tr.estimate_risk(GaussianNB(), X, Y, groups=groups, sample_weight=weights, cv=method)
    assert found.estimates[1].value == same.value
    assert found.sizes[1] == 24
    losses = (same.losses - same.value) * weights / weights.sum()
    units = np.bincount(groups, losses)
    assert found.covariance[1, 1] == pytest.approx(1.8 * 25 / 24 * (units**2).sum())


def test_the_usual_sizes_hold_a_group_for_every_inner_fold() -> None:
    """A search over groups has enough of them in its smallest training set."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, cv="5-fold")
    found = tr.learning_curve(search, X, Y, groups=np.arange(100) // 3)
    assert found.sizes[0] == pytest.approx(21, abs=2)
    assert found.law is not None


def test_without_an_error_little_is_known() -> None:
    """A rule that is never wrong in 100 rows may have a risk of 4 %, at every size."""
    found = tr.learning_curve(KNeighborsClassifier(1), Y[:, None] * 9.0 + X[:, :1] / 99, Y)
    assert found.values.tolist() == [0.0] * len(found)
    assert 0.03 < found.at(90).interval.high < 0.05


def test_a_store_makes_no_fit_twice(tmp_path, monkeypatch) -> None:
    """A curve that was cut off finds its fits again: a forest that cannot be fitted is not."""
    model = RandomForestClassifier(3, random_state=0)
    options = {"sizes": SIZES, "cv": "5-fold", "store": tmp_path / "fits.db"}
    first = tr.learning_curve(model, X, Y, **options)

    def fails(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(RandomForestClassifier, "fit", fails)
    assert tr.learning_curve(model, X, Y, **options).values.tolist() == first.values.tolist()


def test_it_is_written_and_read(curve) -> None:
    """JSON and back: the numbers, the band, the text; a frame has a line for each size."""
    content = json.loads(curve.to_json())
    again = tr.LearningCurve.from_dict(content)
    assert str(again) == str(curve)
    assert again.at(300) == curve.at(300)
    assert content["law"].keys() == {"a", "b", "c"}
    frame = curve.to_frame()
    assert frame["n_train"].tolist() == curve.sizes.tolist()
    assert (frame["law_low"] < frame["law"]).all()
    assert "training rows" in curve._repr_html_()
    with pytest.raises(BadData, match="not of truerisk"):
        tr.LearningCurve.from_dict({"schema": "x"})
    with pytest.raises(BadData, match="they lack 'covariance'"):
        tr.LearningCurve.from_dict({k: v for k, v in content.items() if k != "covariance"})


def test_a_curve_that_rises_has_no_band() -> None:
    """Least squares gets worse as rows come near to columns: it is said, and nothing carried on."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(120, 40))
    target = wide @ rng.normal(size=40) + rng.normal(size=120)
    found = tr.learning_curve(LinearRegression(), wide, target, sizes=[10, 15, 22, 30, 38])
    assert found.law is None
    assert "it rises from" in found.lacking
    assert "note: a + b n^-c does not fit" in str(found)
    assert found.to_frame()["law"].isna().all()
    with pytest.raises(Refusal, match="no law that predicts a risk: .* rises"):
        found.at(60)


def test_a_scorer_without_influences_has_no_band() -> None:
    """The risks are there; how their errors go together is not known."""

    def worst(model, X, y):
        return min(model.score(X[y == c], y[y == c]) for c in (0, 1))

    found = tr.learning_curve(GaussianNB(), X, Y, scoring=worst, sizes=SIZES)
    assert found.covariance is None
    assert "has no formula for what a single row does to it" in found.lacking
    with pytest.raises(Refusal, match="has no formula"):
        found.at(100)


@pytest.mark.parametrize(
    ("sizes", "kind", "message"),
    [
        ([20, 40, 60], BadArgument, "three unknowns, and 3 sizes do not determine them"),
        ([20, 20, 40, 60], BadArgument, "and 3 sizes"),
        ([20, 40, 60, 91], BadData, "no 91 training rows. Of 100 rows the training sets hold 80"),
        ([0.1, 0.5, 0.7, 1.0], BadArgument, "whole and at least one"),
        (8, BadArgument, "give a list of numbers"),
        ("10, 20", BadArgument, "give a list of numbers"),
        ([0, 20, 40, 60], BadArgument, "whole and at least one"),
    ],
)
def test_sizes_that_cannot_be(sizes, kind, message) -> None:
    """Too few, too large, shares, no list."""
    with pytest.raises(kind, match=message):
        tr.learning_curve(GaussianNB(), X, Y, sizes=sizes)


def test_too_few_rows_for_the_usual_sizes() -> None:
    """A rare class, or few rows, leave no range of sizes."""
    with pytest.raises(BadData, match="16 training rows are too few for a learning curve"):
        tr.learning_curve(GaussianNB(), X[:20], Y[:20], cv="5-fold")
    rare = np.r_[np.zeros(97, int), 1, 1, 1]
    with pytest.raises(BadData, match="the smallest size that keeps some rows of every class"):
        tr.learning_curve(GaussianNB(), X, rare, cv="3-fold")


def test_a_class_missing_in_small_subsamples_is_said() -> None:
    """Which class, in how many fits, with how many rows."""
    rare = np.r_[np.zeros(80, int), np.ones(20, int)]
    with pytest.warns(TrueRiskWarning, match="with 3 training rows .* fits have no row of class 1"):
        tr.learning_curve(GaussianNB(), X, rare, sizes=[3, 20, 40, 80])


def test_a_fit_that_fails_names_its_size() -> None:
    """More neighbours than rows, one class only: the size and what to do."""
    with pytest.raises(tr.core.errors.TrueRiskError, match="with 10 training rows"):
        tr.learning_curve(KNeighborsClassifier(60), X, Y)
    with pytest.raises(tr.core.errors.TrueRiskError, match="with 12 training rows"):
        tr.learning_curve(KNeighborsClassifier(20), X, Y, sizes=SIZES)
    rare = np.r_[np.zeros(80, int), np.ones(20, int)]
    with (
        pytest.warns(TrueRiskWarning, match="no row of class"),
        pytest.raises(tr.core.errors.TrueRiskError, match="with 3 training rows"),
    ):
        tr.learning_curve(LogisticRegression(), X, rare, sizes=[3, 20, 40, 80])


@pytest.mark.parametrize("tuned", [False, True])
def test_usual_sizes_are_those_that_every_setting_has(tuned) -> None:
    """20 neighbours need 20 rows: in the fits themselves, or in those that compare settings."""
    model, grid = KNeighborsClassifier(20), {"n_neighbors": [1, 20]}
    curve = tr.learning_curve(tr.HonestSearchCV(model, grid, cv="5-fold") if tuned else model, X, Y)
    smallest = curve.sizes[0] * 4 // 5 if tuned else curve.sizes[0]
    assert 20 <= smallest < 20 * 1.25**2


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (TimeSeriesSplit(5), "go forward in time"),
        (MonteCarlo(10), "does not test all rows equally often"),
        ("pairs", "cannot be cut to a size"),
        (".632+", "cannot be cut to a size"),
    ],
)
def test_splits_that_do_not_serve(method, message) -> None:
    """Those that follow a date, that test rows unequally often, that tune or sample."""
    with pytest.raises(Refusal, match=message):
        tr.learning_curve(GaussianNB(), X, Y, cv=method)


def test_groups_too_large_for_the_sizes() -> None:
    """Two sizes that whole groups make alike are refused."""
    groups = np.arange(100) // 20
    with pytest.raises(BadData, match="10 and 15 are fitted on equally many rows, 20 on average"):
        tr.learning_curve(GaussianNB(), X, Y, groups=groups, cv="5-fold", sizes=[10, 15, 45, 80])


@pytest.mark.parametrize("n", [9, 361, -1, "40", True, float("nan")])
def test_sizes_that_cannot_be_read(curve, n) -> None:
    """Below the smallest size, beyond four times the largest, and what is no number."""
    with pytest.raises((Refusal, BadArgument), match=r"curve\.at\("):
        curve.at(n)


def test_leaks_are_said_once() -> None:
    """Copies of rows are warned of with the largest size, not with each."""
    copies = np.r_[np.arange(50), np.arange(50)]
    with pytest.warns(TrueRiskWarning) as said:
        tr.learning_curve(GaussianNB(), X[copies], Y[copies], sizes=SIZES)
    assert len([one for one in said if "cop" in str(one.message)]) == 1


@pytest.mark.parametrize(("name", "instead"), [("time", "Forward"), ("block", "Blocks")])
def test_times_and_places_are_refused(name, instead):
    """With what tells the risk by length of history, or by distance."""
    with pytest.raises(Refusal, match=rf"^{name}: rows drawn from .*{instead}"):
        tr.learning_curve(KNeighborsClassifier(), X, Y, **{name: np.arange(len(Y))})
