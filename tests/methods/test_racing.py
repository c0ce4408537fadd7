"""Racing: the settings that are left have their risks of all folds; the pairs repeat the race."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.asking import Asking
from truerisk.losses.loss_words import as_loss
from truerisk.methods import Pairs, Racing, racing
from truerisk.methods.parts.averages import average_weights, row_losses
from truerisk.methods.racing import RacedPairs, hopeless

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = np.column_stack([Y + 0.7 * RNG.normal(size=60), 30 * RNG.normal(size=60)])
SMOOTHING = {"var_smoothing": np.logspace(-9, 3, 7).tolist()}
FEW = {"var_smoothing": SMOOTHING["var_smoothing"][::2]}
FOREST = RandomForestClassifier(n_estimators=2), {"max_depth": [1, 2, 5], "max_features": [1, 2]}


class Counted(GaussianNB):
    """It says what it was fitted on."""

    fits: ClassVar[list[tuple[float, bytes]]] = []

    def fit(self, X, y, sample_weight=None):
        self.fits.append((self.var_smoothing, X.tobytes()))
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def counted():
    Counted.fits.clear()


def searched(model=None, grid=SMOOTHING, y=Y, **options):
    """A search by five folds, unless it says otherwise."""
    model = Counted() if model is None else model
    given = {"cv": "racing", "engine": "generic", **options}
    return tr.HonestSearchCV(model, grid, **given).fit(X, y)


# ---------------------------------------------------------------- the race on all rows


def test_who_is_left_has_the_risk_of_all_folds():
    """The others have none, a note says when they left, and their other fits are not made."""
    raced = tr.risk_curve(Counted(), SMOOTHING, X, Y, cv="racing")
    fits = [*Counted.fits]
    Counted.fits.clear()
    full = tr.risk_curve(Counted(), SMOOTHING, X, Y, cv="10-fold")
    left = np.isnan(raced.values)
    assert 0 < left.sum() < 7
    assert raced.best == full.best
    np.testing.assert_array_equal(raced.values[~left], full.values[~left])
    assert len(fits) == len(set(fits)) == raced.common.n_fits < 70
    assert set(fits) < set(Counted.fits)
    for c in range(7):
        gone = [note for note in raced[c].notes if "left the race after" in note]
        assert len(gone) == left[c]
        assert (raced[c].value is None) == left[c]


def test_models_that_draw_draw_as_in_all_folds():
    """Fits keep their numbers, and with them their random numbers."""
    raced = tr.risk_curve(*FOREST, X, Y, cv="racing", engine="generic")
    full = tr.risk_curve(*FOREST, X, Y, cv="10-fold", engine="generic")
    left = np.isnan(raced.values)
    assert 0 < left.sum() < 6
    np.testing.assert_array_equal(raced.values[~left], full.values[~left])


def test_a_forest_that_answers_several_settings_is_grown_once():
    """The ensemble engine leaves out what nobody asks, and says the same."""
    grid = {"n_estimators": [1, 2, 5], "max_depth": [1, 3, 5]}
    model = RandomForestClassifier(random_state=0)
    one = tr.risk_curve(model, grid, X, Y, cv="racing")
    other = tr.risk_curve(model, grid, X, Y, cv="racing", engine="generic")
    assert one.common.engine == "ensemble"
    np.testing.assert_array_equal(one.values, other.values)
    assert one.common.n_fits == other.common.n_fits


def test_the_search_says_on_how_many_folds_a_setting_was_rated():
    """`cv_results_` has NaN where nothing was fitted, and `n_resources` as halving searches."""
    search = searched(outer=None)
    results = search.cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(10)])
    rated = np.isfinite(scores).sum(axis=0)
    assert results["n_resources"].tolist() == rated.tolist()
    assert 1 <= rated.min() < 10 == rated.max()
    np.testing.assert_array_equal(np.isnan(results["mean_test_score"]), rated < 10)
    assert results["rank_test_score"][search.best_index_] == 1
    assert results["rank_test_score"][rated < 10].min() > (rated == 10).sum()
    assert np.isfinite(results["mean_fit_time"]).all()
    assert "n_resources" not in searched(cv="10-fold", outer=None).cv_results_
    assert len(Counted.fits) == rated.sum() + 1 + 70 + 1


def test_what_is_printed_is_what_was_fitted(capsys):
    """`verbose` names the fits that were made, and no others."""
    search = searched(outer=None, verbose=2)
    said = capsys.readouterr().out.splitlines()
    made = int(search.cv_results_["n_resources"].sum())
    assert said[0] == f"Fitting up to 10 folds for each of 7 candidates, totalling {made} fits"
    assert len(said) == made + 1


# ---------------------------------------------------------------- the pairs of the race


def all_fits(family, data, folds):
    """The answers of every setting to every question inside an outer fold."""
    plan = Pairs(folds).plan(data, Streams(0))
    asking = Asking(family, data, as_loss(None, data), engine="generic", passes=1)
    return asking(plan.only(plan.questions("inner")))


def by_hand(family, data, inner, outer):
    """The winner inside an outer fold: a race over the other folds, written out."""
    loss = as_loss(None, data)
    k = int(inner.plan.unit.max()) + 1
    near = sorted(range(1, k), key=lambda ahead: (min(ahead, k - ahead), ahead))
    order = [
        int(
            np.flatnonzero((inner.plan.unit == outer) & (inner.plan.fold == (outer + ahead) % k))[0]
        )
        for ahead in near
    ]
    total = sum(int(inner.plan.test_sizes[q]) for q in order)
    alive, needed = np.arange(len(family)), set()
    for turn in range(k - 1):
        seen = inner.only(np.array(order[: turn + 1]))
        needed |= {(int(c), int(inner.plan.fit[order[turn]])) for c in alive}
        if turn == k - 2:
            break
        losses = row_losses(seen, data, loss)[alive]
        weights = average_weights(data, seen.plan, "pooled")[0]
        alive = alive[~hopeless(losses, weights, float(total))]
    risks = row_losses(inner.only(np.array(order)), data, loss).mean(axis=1)[alive]
    return int(alive[int(np.argmax(risks <= risks.min() + 1e-12))]), needed


@pytest.mark.parametrize(("name", "folds"), [("bayes", "6-fold"), ("forest", "5-fold")])
def test_inside_every_outer_fold_the_same_race_chooses(name, folds):
    """By hand, from all fits: the winners, and the fits that the races need in all."""
    model, grid = {"bayes": (Counted(), SMOOTHING), "forest": FOREST}[name]
    family = Family.of(model, grid)
    data = Data.check(X, Y, task="classification")
    k = int(folds[0])
    inner = all_fits(family, data, folds)
    races = [by_hand(family, data, inner, outer) for outer in range(k)]
    Counted.fits.clear()
    curve = tr.risk_curve(model, grid, X, Y, cv=RacedPairs(Racing(folds)), engine="generic")
    winners = [unit.candidate for unit in curve.evaluation.units]
    assert winners == [winner for winner, _ in races]
    inside = len(set().union(*(needed for _, needed in races)))
    search = tr.risk_curve(model, grid, X, Y, cv=Racing(folds), engine="generic")
    lacking = sum(
        "left the race" in " ".join(search[c].notes)
        and search.evaluation.answers.made[c, fold] == 0
        for fold, c in enumerate(winners)
    )
    assert curve.procedure.n_fits == search.common.n_fits + inside + lacking
    np.testing.assert_array_equal(curve.values, search.values)
    if name == "bayes":
        fits = Counted.fits[: curve.procedure.n_fits]
        assert len(set(fits)) == len(fits)


def test_who_left_a_race_does_not_come_back(monkeypatch):
    """In a bold race some leave the race inside one fold and win all others, which fit them."""
    monkeypatch.setattr(racing, "LEAST", 0.3)
    monkeypatch.setattr(racing, "MORE", 0.0)
    family = Family.of(GaussianNB(), SMOOTHING)
    x = np.column_stack([X[:, 0], X[:, 1] / 10])
    data = Data.check(x, Y, task="classification")
    curve = tr.risk_curve(GaussianNB(), SMOOTHING, x, Y, cv=RacedPairs(Racing("5-fold")))
    inner = all_fits(family, data, "5-fold")
    found = [by_hand(family, data, inner, outer) for outer in range(5)]
    assert [unit.candidate for unit in curve.evaluation.units] == [winner for winner, _ in found]


def test_the_risk_is_that_of_the_winners_of_the_races():
    """Row losses are those of their fits without the outer fold, by single refits."""
    race = RacedPairs(Racing("5-fold"))
    curve = tr.risk_curve(Counted(), SMOOTHING, X, Y, cv=race)
    data = Data.check(X, Y, task="classification")
    plan = race.plan(data, Streams(0))
    losses = np.full(len(Y), np.nan)
    for unit in curve.evaluation.units:
        test = plan.test_rows(unit.fold)[0]
        train = np.setdiff1d(np.arange(len(Y)), test)
        value = SMOOTHING["var_smoothing"][unit.candidate]
        losses[test] = (
            GaussianNB(var_smoothing=value).fit(X[train], Y[train]).predict(X[test]) != Y[test]
        )
    np.testing.assert_array_equal(curve.procedure.losses, losses)
    assert curve.procedure.interval.method == "beta-cv"


def test_where_nobody_leaves_it_is_the_search_of_all_folds():
    """Two settings that are equally good: every number is that of the pairs."""
    grid = {"var_smoothing": [1e-9, 1e-8]}
    raced, full = searched(grid=grid), searched(grid=grid, cv="10-fold")
    assert raced.risk_.value == full.risk_.value
    assert raced.risk_.interval == full.risk_.interval
    assert raced.risk_.n_fits == full.risk_.n_fits
    np.testing.assert_array_equal(raced.curve_.values, full.curve_.values)


def test_no_fit_is_made_twice_and_few_are_made():
    """The search knows its fits when the honest risk asks; the notes count them."""
    search = searched()
    assert len(Counted.fits) == len(set(Counted.fits)) == search.risk_.n_fits + 1
    assert search.risk_.n_fits < 0.8 * 7 * 55
    assert search.risk_.method == "raced pairs (10-fold)"
    made = int(search.cv_results_["n_resources"].sum())
    assert search.risk_.notes[1] == (
        f"{search.risk_.n_fits} fits; without a race 385. The race on all rows made {made}."
    )


def test_what_an_outer_fold_holds_is_unknown_to_its_race():
    """Other labels in an outer fold change no choice inside it."""
    data = Data.check(X, Y, task="classification")
    plan = RacedPairs(Racing("5-fold")).plan(data, Streams(0))
    folds = np.empty(len(Y), dtype=int)
    for q in plan.questions("outer"):
        folds[plan.test_rows(int(q))[0]] = q
    race = RacedPairs(Racing(tr.methods.KFold(folds=folds)))
    given = {"cv": race, "engine": "generic"}
    plain = tr.risk_curve(GaussianNB(), SMOOTHING, X, Y, **given)
    for fold in range(5):
        turned = np.where(folds == fold, 1 - Y, Y)
        other = tr.risk_curve(GaussianNB(), SMOOTHING, X, turned, **given)
        mine, theirs = plain.evaluation.units[fold], other.evaluation.units[fold]
        assert (mine.candidate, mine.inner_risk) == (theirs.candidate, theirs.inner_risk)


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": ["zero-one", "log", "auc"]},
        {"scoring": "log"},
        {"n_jobs": 2},
        {"groups": np.arange(60) // 2},
        {"sample_weight": np.linspace(1, 2, 60), "cv": "racing"},
        {"cv": Racing(tr.methods.KFold(6))},
    ],
    ids=["scores", "loss", "workers", "groups", "weights", "a method"],
)
def test_it_goes_with_the_other_words(options):
    """The winner's risk is its risk in all folds, with the same scores, weights and groups."""
    fit = {name: options.pop(name) for name in ("groups", "sample_weight") if name in options}
    given = {"engine": "generic", **options}
    folds = given.pop("cv", Racing(tr.methods.KFold(5)))
    race = tr.HonestSearchCV(GaussianNB(), FEW, cv=folds, **given).fit(X, Y, **fit)
    full = "10-fold" if folds == "racing" else folds.folds
    other = tr.HonestSearchCV(GaussianNB(), FEW, cv=full, **given).fit(X, Y, **fit)
    b = race.best_index_
    assert race.curve_.values[b] == pytest.approx(other.curve_.values[b], abs=1e-12)
    assert race.risk_.n_fits < other.risk_.n_fits
    assert list(race.scores_) == list(other.scores_)
    if [f.best_index for f in race.outer_] == [f.best_index for f in other.outer_]:
        assert race.risk_.value == pytest.approx(other.risk_.value, abs=1e-12)
        assert race.risk_.interval.low == pytest.approx(other.risk_.interval.low, abs=1e-12)
        for name, score in race.scores_.items():
            assert score.value == pytest.approx(other.scores_[name].value, abs=1e-12)


def test_numbers_race_too():
    """Squared errors of a regression."""
    y = np.sin(X[:, 0])
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 20]}
    model = RandomForestRegressor(n_estimators=3, random_state=0)
    search = tr.HonestSearchCV(model, grid, cv="racing").fit(X, y)
    assert search.risk_.n_fits < 9 * 55
    assert search.risk_.scoring == "squared"


@pytest.mark.filterwarnings("ignore:.*fits failed")
def test_settings_that_fail_leave():
    """As in a search of all folds they have no risk, and their note says that they failed."""
    grid = {"var_smoothing": [-1.0, 1e-9, 1.0]}
    search = searched(GaussianNB(), grid, error_score=np.nan)
    assert (
        search.best_params_
        == searched(GaussianNB(), grid, error_score=np.nan, cv="10-fold").best_params_
    )
    assert "failed" in search.curve_[0].notes[0] or "failed" in search.curve_[0].notes[1]


def test_a_store_keeps_the_fits_of_a_race(tmp_path):
    """And an undisturbed search finds them."""
    path = tmp_path / "search.db"
    first, again = searched(store=path), searched(store=path)
    assert again.kept_.added == 0
    assert first.risk_.value == again.risk_.value
    full = searched(store=path, cv="10-fold")
    assert full.kept_.reused == first.kept_.added


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": KNeighborsClassifier(), "grid": {"n_neighbors": [1, 3]}, "engine": "auto"},
         "engine 'knn' answers all settings in one pass, so that a race"),
        ({"model": DecisionTreeClassifier(), "grid": {"max_depth": [1, 3]}, "engine": "auto"},
         "engine 'tree' answers all settings in one pass"),
        ({"rule": "1-se"}, "rule '1-se' may choose a setting that a race has dropped"),
        ({"scoring": "auc"}, "'auc' rates whole test sets, and a race compares losses"),
        ({"scoring": "roc_auc"}, "rates whole test sets"),
        ({"outer": "5-fold"}, "is tested in the pairs of its own folds, and '5-fold'"),
        ({"outer": Pairs("5-fold")}, "is tested in the pairs of its own folds"),
        ({"cv": Racing("5x10-fold")}, "tests every row repeatedly"),
        ({"cv": Racing("loo")}, "'loo' has no folds to race over"),
        ({"cv": Racing("holdout")}, "has no folds to race over"),
        ({"time_limit": 60}, "compares settings with each other as it goes"),
    ],
)  # fmt: skip
def test_what_a_race_cannot_do_is_refused(options, said):
    """Nothing is answered as if it had been a race, or as if it had not."""
    with pytest.raises(Refusal, match=said):
        searched(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"return_train_score": True}, "return_train_score=True asks every fit"),
        ({"error_score": 0.5, "outer": None}, "error_score=0.5 is the score of fits that failed"),
    ],
)
def test_options_that_speak_of_all_fits_are_refused(options, said):
    """A race does not make them."""
    with pytest.raises(BadArgument, match=said):
        searched(**options)


@pytest.mark.parametrize("folds", [ShuffleSplit(3, random_state=0), TimeSeriesSplit(3), "2-fold"])
def test_folds_that_are_no_partition_are_refused(folds):
    """A race needs every row once, and three folds."""
    with pytest.raises(BadData, match="are none to race over"):
        searched(cv=Racing(folds), outer=None)


def test_an_assessment_races_in_a_search():
    """It says beforehand how many fits it makes."""
    learners = {"bayes": (GaussianNB(), SMOOTHING)}
    with pytest.raises(Refusal, match="how many fits 'racing .*' takes is known only at its end"):
        tr.assess(learners, X, Y, cv=["racing"])


def test_svm_and_logistic_race_where_the_generic_engine_is_asked_for():
    """The remedy of the refusal works."""
    race = Racing(tr.methods.KFold(3))
    for model in (SVC(), LogisticRegression()):
        search = searched(model, {"C": [0.01, 1.0]}, cv=race)
        assert search.risk_.engine == "generic"
