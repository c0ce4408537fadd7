"""Racing: the settings that are left have their risks of all folds; the pairs repeat the race."""

from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.extend import Asking, BadArgument, BadData, Family, Refusal
from truerisk.losses.loss_words import as_loss
from truerisk.methods import KFold, Pairs, Racing, racing
from truerisk.methods.parts.averages import average_weights, row_losses
from truerisk.methods.racing import (
    ADDED_DEVIATIONS,
    MIN_DEVIATIONS,
    N_ASSUMED_ROWS,
    RacedPairs,
    find_hopeless_candidates,
)

Y = np.arange(60) % 2
RNG = np.random.default_rng(0)
X = np.column_stack([Y + 0.7 * RNG.normal(size=60), 30 * RNG.normal(size=60)])
DATA = checked(X, Y)
SMOOTHING = {"var_smoothing": np.logspace(-9, 3, 7).tolist()}
FEW = {"var_smoothing": SMOOTHING["var_smoothing"][::2]}
FOREST = RandomForestClassifier(n_estimators=2), {"max_depth": [1, 2, 5], "max_features": [1, 2]}


class Counted(GaussianNB):
    """It notes what it was fitted on."""

    fits: ClassVar[list[tuple[float, bytes]]] = []

    def fit(self, X, y, sample_weight=None):
        self.fits.append((self.var_smoothing, X.tobytes()))
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def counted():
    Counted.fits.clear()


def searched(model=None, grid=SMOOTHING, y=Y, **options):
    """A search by racing, unless the options name another method."""
    given = {"cv": "racing", "engine": "generic", **options}
    return tr.HonestSearchCV(Counted() if model is None else model, grid, **given).fit(X, y)


# ---------------- when a setting leaves


def distances(losses, n_left):
    """The z of every candidate, from n rows of the same weight."""
    n, best = losses.shape[1], losses[losses.sum(1).argmin()]
    more = losses - best
    typical = (more[more != 0] ** 2).mean()
    spread = ((more - more.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / n
    variance = (spread + N_ASSUMED_ROWS * typical / n) * n_left * (n + n_left) / n
    return more.mean(axis=1) * (n + n_left) / np.sqrt(variance)


@pytest.mark.parametrize("n_left", [5, 40, 400])
def test_hopeless_is_its_formula(n_left):
    """The difference on all rows is foretold from those that were seen."""
    rng = np.random.default_rng(0)
    losses = (rng.random((8, 30)) < np.linspace(0.1, 0.5, 8)[:, None]) * 1.0
    found = find_hopeless_candidates(losses, np.ones(30), 30.0 + n_left)
    limit = MIN_DEVIATIONS + ADDED_DEVIATIONS * 30 / (30 + n_left)
    assert found.tolist() == (distances(losses, n_left) > limit).tolist()
    assert 0 < found.sum() < 8


def test_hopeless_spares_the_best_and_its_equals():
    """Whatever is left; also where none differs from another, or all failed."""
    losses = np.array([[0.0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
    for total in (4.001, 10, 1000):
        assert not find_hopeless_candidates(losses, np.ones(4), total)[:2].any()
    assert not find_hopeless_candidates(np.ones((3, 5)), np.ones(5), 50.0).any()
    assert not find_hopeless_candidates(np.full((2, 3), np.nan), np.ones(3), 30.0).any()
    failed = np.array([[np.nan, 0, 0, 0], [0.0, 1, 0, 0], [0.0, 1, 0, 1]])
    assert find_hopeless_candidates(failed, np.ones(4), 40.0).tolist() == [True, False, False]


def test_hopeless_does_not_depend_on_units_of_losses_and_weights():
    rng = np.random.default_rng(0)
    losses = rng.gamma(2, size=(6, 20)) * np.linspace(1, 3, 6)[:, None]
    weights = rng.random(20) + 0.5
    found = find_hopeless_candidates(losses, weights, 50.0)
    assert 0 < found.sum() < 6
    assert find_hopeless_candidates(losses * 1e6, weights * 3, 150.0).tolist() == found.tolist()


def test_hopeless_takes_copies_in_one_group_as_a_row_of_weight_two():
    rng = np.random.default_rng(0)
    losses = (rng.random((6, 15)) < np.linspace(0.1, 0.6, 6)[:, None]) * 1.0
    twice = np.repeat(losses, 2, axis=1)
    grouped = find_hopeless_candidates(twice, np.ones(30), 60.0, np.repeat(np.arange(15)[::-1], 2))
    assert grouped.tolist() == find_hopeless_candidates(losses, np.full(15, 2.0), 60.0).tolist()
    assert find_hopeless_candidates(twice, np.ones(30), 60.0).sum() > grouped.sum()


# ---------------- the race on all rows


@pytest.mark.parametrize(
    ("model", "grid", "engine"),
    [
        pytest.param(Counted(), SMOOTHING, "auto", id="bayes"),
        pytest.param(*FOREST, "generic", id="forest"),
    ],
)
def test_racing_gives_those_left_the_risk_of_all_folds(model, grid, engine):
    """Settings that left the race have no risk, and a note says when they left.

    Their remaining fits are not made. The other fits keep their numbers, and with them the random
    numbers of a forest.
    """
    raced = tr.risk_curve(model, grid, X, Y, cv="racing", engine=engine)
    fits = [*Counted.fits]
    Counted.fits.clear()
    full = tr.risk_curve(model, grid, X, Y, cv="10-fold", engine=engine)
    left = np.isnan(raced.values)
    assert 0 < left.sum() < len(left)
    assert raced.best == full.best
    np.testing.assert_array_equal(raced.values[~left], full.values[~left])
    assert raced.common.n_fits < full.common.n_fits == 10 * len(left)
    for point, has_left in zip(raced, left, strict=True):
        assert sum("left the race after" in note for note in point.notes) == has_left
        assert (point.value is None) == has_left
    if isinstance(model, Counted):
        assert len(fits) == len(set(fits)) == raced.common.n_fits
        assert set(fits) < set(Counted.fits)


def test_racing_grows_a_forest_of_several_settings_once():
    """The ensemble engine leaves out what nobody asks, and says the same."""
    grid, model = {"n_estimators": [1, 2, 5], "max_depth": [1, 3, 5]}, RandomForestClassifier()
    one, other = (
        tr.risk_curve(model, grid, X, Y, cv="racing", engine=engine)
        for engine in ("auto", "generic")
    )
    assert one.common.engine == "ensemble"
    np.testing.assert_array_equal(one.values, other.values)
    assert one.common.n_fits == other.common.n_fits


def test_racing_search_says_on_how_many_folds_a_setting_was_rated(capsys):
    """NaN where nothing was fitted, `n_resources` as halving searches, and what is printed."""
    search = searched(outer=None, verbose=2)
    results = search.cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(10)])
    rated = np.isfinite(scores).sum(axis=0)
    assert results["n_resources"].tolist() == rated.tolist()
    assert 1 <= rated.min() < 10 == rated.max()
    np.testing.assert_array_equal(np.isnan(results["mean_test_score"]), rated < 10)
    assert results["rank_test_score"][search.best_index_] == 1
    assert results["rank_test_score"][rated < 10].min() > (rated == 10).sum()
    assert np.isfinite(results["mean_fit_time"]).all()
    said, made = capsys.readouterr().out.splitlines(), int(rated.sum())
    assert said[0] == f"Fitting up to 10 folds for each of 7 candidates, totalling {made} fits"
    assert len(said) == made + 1
    assert "n_resources" not in searched(cv="10-fold", outer=None).cv_results_
    assert len(Counted.fits) == made + 1 + 70 + 1


# ---------------- the pairs of the race


def all_fits(family, data, folds):
    """The answers of every setting to every question inside an outer fold."""
    plan = drawn(Pairs(folds), data)
    asking = Asking(family, data, as_loss(None, data), engine="generic", passes=1)
    return asking(plan.select(plan.questions("inner")))


def race_inside(family, data, inner, outer):
    """The winner inside an outer fold, and the fits that its race needs, written out."""
    loss, plan = as_loss(None, data), inner.plan
    k = int(plan.unit.max()) + 1
    near = sorted(range(1, k), key=lambda ahead: (min(ahead, k - ahead), ahead))
    at = [(plan.unit == outer) & (plan.fold == (outer + ahead) % k) for ahead in near]
    order = [int(np.flatnonzero(one)[0]) for one in at]
    total = float(plan.test_sizes[order].sum())
    alive, needed = np.arange(len(family)), set()
    for turn in range(k - 1):
        seen = inner.select(np.array(order[: turn + 1]))
        needed |= {(int(c), int(plan.fit[order[turn]])) for c in alive}
        if turn < k - 2:
            losses = row_losses(seen, data, loss)[alive]
            weights = average_weights(data, seen.plan, "pooled")[0]
            alive = alive[~find_hopeless_candidates(losses, weights, total)]
    risks = row_losses(inner.select(np.array(order)), data, loss).mean(axis=1)[alive]
    return int(alive[int(np.argmax(risks <= risks.min() + 1e-12))]), needed


@pytest.mark.parametrize(("name", "folds"), [("bayes", "6-fold"), ("forest", "5-fold")])
def test_raced_pairs_choose_inside_every_outer_fold_by_the_same_race(name, folds):
    """By hand, from all fits: the winners, and the fits that the races need in all."""
    model, grid = {"bayes": (Counted(), SMOOTHING), "forest": FOREST}[name]
    family, k = Family.from_grid(model, grid), int(folds[0])
    inner = all_fits(family, DATA, folds)
    races = [race_inside(family, DATA, inner, outer) for outer in range(k)]
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


def test_raced_pairs_let_nobody_back_who_left(monkeypatch):
    """In a bold race some leave the race inside one fold and win all others, which fit them."""
    monkeypatch.setattr(racing, "MIN_DEVIATIONS", 0.3)
    monkeypatch.setattr(racing, "ADDED_DEVIATIONS", 0.0)
    family, x = Family.from_grid(GaussianNB(), SMOOTHING), np.column_stack([X[:, 0], X[:, 1] / 10])
    data = checked(x, Y)
    curve = tr.risk_curve(GaussianNB(), SMOOTHING, x, Y, cv=RacedPairs(Racing("5-fold")))
    inner = all_fits(family, data, "5-fold")
    found = [race_inside(family, data, inner, outer)[0] for outer in range(5)]
    assert [unit.candidate for unit in curve.evaluation.units] == found


def test_raced_pairs_have_the_losses_of_the_winners_by_single_refits():
    race = RacedPairs(Racing("5-fold"))
    curve = tr.risk_curve(Counted(), SMOOTHING, X, Y, cv=race)
    losses, outer = np.full(60, np.nan), splits_of(drawn(race, DATA), "outer")
    for unit in curve.evaluation.units:
        test = outer[unit.fold][1]
        train = np.setdiff1d(np.arange(60), test)
        model = GaussianNB(var_smoothing=SMOOTHING["var_smoothing"][unit.candidate])
        losses[test] = model.fit(X[train], Y[train]).predict(X[test]) != Y[test]
    np.testing.assert_array_equal(curve.procedure.losses, losses)
    assert curve.procedure.interval.method == "beta-cv"


def test_raced_pairs_without_a_leaver_are_the_search_of_all_folds():
    grid = {"var_smoothing": [1e-9, 1e-8]}
    raced, full = searched(grid=grid), searched(grid=grid, cv="10-fold")
    for name in ("value", "interval", "n_fits"):
        assert getattr(raced.risk_, name) == getattr(full.risk_, name)
    np.testing.assert_array_equal(raced.curve_.values, full.curve_.values)


def test_raced_pairs_make_no_fit_twice():
    """The search knows its fits when the honest risk asks; the notes count them."""
    search = searched()
    n = search.risk_.n_fits
    assert len(Counted.fits) == len(set(Counted.fits)) == n + 1
    assert n < 0.8 * 7 * 55
    assert search.risk_.method == "raced pairs (10-fold)"
    made = int(search.cv_results_["n_resources"].sum())
    note = f"{n} fits; without a race 385. The race on all rows made {made}."
    assert search.risk_.notes[1] == note


def test_raced_pairs_know_nothing_of_the_outer_fold():
    """Other labels in an outer fold change no choice inside it."""
    folds = np.empty(60, dtype=int)
    for q, (_, test) in enumerate(splits_of(drawn(RacedPairs(Racing("5-fold")), DATA), "outer")):
        folds[test] = q
    given = {"cv": RacedPairs(Racing(KFold(folds=folds))), "engine": "generic"}
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
        {"cv": Racing(KFold(6))},
    ],
    ids=["scores", "loss", "workers", "groups", "weights", "a method"],
)
def test_racing_search_has_the_risk_of_all_folds_for_its_winner(options):
    fit = {name: options.pop(name) for name in ("groups", "sample_weight") if name in options}
    given = {"engine": "generic", **options}
    folds = given.pop("cv", Racing(KFold(5)))
    race, other = (
        tr.HonestSearchCV(GaussianNB(), FEW, cv=cv, **given).fit(X, Y, **fit)
        for cv in (folds, "10-fold" if folds == "racing" else folds.folds)
    )
    b = race.best_index_
    assert race.curve_.values[b] == pytest.approx(other.curve_.values[b], abs=1e-12)
    assert race.risk_.n_fits < other.risk_.n_fits
    assert list(race.scores_) == list(other.scores_)
    if [f.best_index for f in race.outer_] == [f.best_index for f in other.outer_]:
        assert race.risk_.value == pytest.approx(other.risk_.value, abs=1e-12)
        assert race.risk_.interval.low == pytest.approx(other.risk_.interval.low, abs=1e-12)
        for name, score in race.scores_.items():
            assert score.value == pytest.approx(other.scores_[name].value, abs=1e-12)


def test_racing_search_of_numbers_makes_fewer_fits():
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 20]}
    model = RandomForestRegressor(n_estimators=3, random_state=0)
    search = tr.HonestSearchCV(model, grid, cv="racing").fit(X, np.sin(X[:, 0]))
    assert search.risk_.n_fits < 9 * 55
    assert search.risk_.scoring == "squared"


@pytest.mark.filterwarnings("ignore:.*fits failed")
def test_racing_drops_settings_that_fail():
    """As in a search of all folds they have no risk, and their note says that they failed."""
    grid = {"var_smoothing": [-1.0, 1e-9, 1.0]}
    search, full = (
        searched(GaussianNB(), grid, error_score=np.nan, cv=cv) for cv in ("racing", "10-fold")
    )
    assert search.best_params_ == full.best_params_
    assert "failed" in " ".join(search.curve_[0].notes[:2])


def test_racing_fits_are_kept_in_a_store(tmp_path):
    path = tmp_path / "search.db"
    first, again = searched(store=path), searched(store=path)
    assert again.kept_.added == 0
    assert first.risk_.value == again.risk_.value
    full = searched(store=path, cv="10-fold")
    assert full.kept_.reused == first.kept_.added


TWO = {"var_smoothing": [1e-9, 0.1]}
NEIGHBOURS = {"model": KNeighborsClassifier(), "grid": {"n_neighbors": [1, 3]}, "engine": "auto"}
TREES = {"model": DecisionTreeClassifier(), "grid": {"max_depth": [1, 3]}, "engine": "auto"}


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (NEIGHBOURS, Refusal, "engine 'knn' answers all settings in one pass, so that a race"),
        (TREES, Refusal, "engine 'tree' answers all settings in one pass"),
        ({"rule": "1-se", "grid": TWO}, Refusal, "'1-se' may choose a setting that a race has dr"),
        ({"scoring": "auc"}, Refusal, "'auc' rates whole test sets, and a race compares losses"),
        ({"scoring": "roc_auc"}, Refusal, "rates whole test sets"),
        ({"outer": "5-fold"}, Refusal, "is tested in the pairs of its own folds, and '5-fold'"),
        ({"outer": Pairs("5-fold")}, Refusal, "is tested in the pairs of its own folds"),
        ({"cv": Racing("2x10-fold")}, Refusal, "tests every row repeatedly"),
        ({"cv": Racing("loo")}, Refusal, "'loo' has no folds to race over"),
        ({"cv": Racing("holdout")}, Refusal, "has no folds to race over"),
        ({"time_limit": 60}, Refusal, "compares settings with each other as it goes"),
        ({"return_train_score": True}, BadArgument, "return_train_score=True asks every fit"),
        ({"error_score": 0.5, "outer": None}, BadArgument, "error_score=0.5 is the score of fits"),
        ({"cv": Racing(ShuffleSplit(3)), "outer": None}, BadData, "are none to race over"),
        ({"cv": Racing(TimeSeriesSplit(3)), "outer": None}, BadData, "are none to race over"),
        ({"cv": Racing("2-fold"), "outer": None}, BadData, "are none to race over"),
    ],
    ids=count(),
)
def test_racing_refuses_what_a_race_cannot_do(options, error, said):
    with pytest.raises(error, match=said):
        searched(**options)


def test_racing_assessment_is_refused_as_it_cannot_count_its_fits():
    with pytest.raises(Refusal, match="how many fits 'racing .*' takes is known only at its end"):
        tr.assess({"bayes": (GaussianNB(), SMOOTHING)}, X, Y, cv=["racing"])
