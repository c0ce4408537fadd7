"""Intervals of losses that depend on those before them, or on those beside them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal, TimeLeakWarning
from truerisk.intervals.components import spatial_components
from truerisk.intervals.in_time import HAC
from truerisk.statistics.long_run import long_run

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N)


def estimate(y=Y, X=X, **more):
    return tr.estimate_risk(LinearRegression(), X, y, cv="forward-5", **more)


def test_it_is_the_error_of_the_series_of_losses():
    """By the factor of their memory, on the scale of 1/√risk of squared losses."""
    found = estimate()
    series = long_run(found.losses - found.value)
    assert found.std_error == pytest.approx(series.std_error, rel=1e-12)
    half = series.factor(0.95) * series.std_error / 2 / found.value**1.5
    assert found.interval.method == "hac"
    assert found.interval.low**-0.5 == pytest.approx(found.value**-0.5 + half)
    assert found.interval.high**-0.5 == pytest.approx(found.value**-0.5 - half)


def test_rows_of_one_time_are_one_value_of_the_series():
    """Losses that come in threes say what a third as many say."""
    times = np.repeat(np.arange(N), 3)
    found = estimate(np.repeat(Y, 3), np.repeat(X, 3, axis=0), time=times)
    once = estimate(time=np.arange(N))
    assert found.value == pytest.approx(once.value)
    assert found.std_error == pytest.approx(once.std_error)


def test_the_order_of_the_rows_does_not_matter():
    """But that of their times does."""
    order = RNG.permutation(N)
    found, same = estimate(time=np.arange(N)), estimate(Y[order], X[order], time=order)
    assert found.std_error == pytest.approx(same.std_error)
    assert estimate(Y[order], X[order]).std_error != pytest.approx(found.std_error)


def test_weights_count():
    """The interval is around the weighted mean, by the weighted losses."""
    weight = RNG.integers(1, 4, N).astype(float)
    found = estimate(sample_weight=weight)
    shares = weight[found.loss_rows] / weight[found.loss_rows].sum()
    parts = shares * (found.losses - found.value)
    assert found.std_error == pytest.approx(len(parts) * long_run(parts).std_error)


def test_dependent_losses_have_a_wider_interval():
    """Noise that remembers makes fewer news of the same rows."""
    noise = np.zeros(N)
    for i in range(1, N):
        noise[i] = 0.6 * noise[i - 1] + RNG.normal()
    plain, found = estimate(), estimate(X[:, 0] + noise)
    assert found.interval.width / found.value > 1.1 * plain.interval.width / plain.value


def test_groups_that_follow_one_another_are_stretches_of_time():
    """They are none that could be met again; in any order of the table."""
    found = estimate(groups=np.arange(N) // 2)
    assert found.interval is not None
    order = RNG.permutation(N)
    times = np.arange(N)[order]
    shuffled = estimate(Y[order], X[order], time=times, groups=times // 2)
    assert shuffled.std_error == pytest.approx(found.std_error)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: estimate(Y[:100], X[:100]), "rows of 80 different times were tested: of fewer"),
        (lambda: estimate(groups=np.arange(N) % 400), "groups are met again later"),
        (
            lambda: estimate(np.cumsum(np.random.default_rng(1).normal(size=N))),
            "depend on those before them for so long",
        ),
        (
            lambda: estimate(np.where(np.abs(np.arange(N) - 400) < 15, 1e2, 1.0) * Y),
            "an upper limit of their mean",
        ),
        (
            lambda: tr.estimate_risk(DummyRegressor(), X, np.zeros(N), cv="forward-5"),
            "every row has the same loss",
        ),
    ],
    ids=["few", "groups", "lasting", "unbounded", "alike"],
)
def test_there_is_none_where_the_series_does_not_tell(make, reason):
    """A sentence says why."""
    found = make()
    assert (found.interval, found.std_error) == (None, None)
    assert any(reason in note for note in found.notes)


def test_rows_with_times_have_it_whatever_splits_them():
    """Losses of rows near in time depend on each other in shuffled folds, too."""
    time = np.arange(N)
    with pytest.warns(TimeLeakWarning):
        found = tr.estimate_risk(LinearRegression(), X, Y, cv="5-fold", time=time)
    assert found.interval.method == "hac"


def test_no_order_no_interval():
    """Asked for by name of rows that stand in no order, it is refused before any fit."""
    with pytest.raises(Refusal, match="needs rows in the order of time, which method '5-fold'"):
        tr.estimate_risk(LinearRegression(), X, Y, interval="hac")
    with pytest.raises(Refusal, match="interval 'wald' needs rows that do not depend on each"):
        estimate(interval="wald")


@pytest.mark.filterwarnings("ignore::truerisk.core.errors.SpaceLeakWarning")
@pytest.mark.parametrize(
    ("given", "met"),
    [
        ({"block": np.random.default_rng(0).uniform(size=(N, 2))}, "places"),
        ({"block": np.arange(N) % 400}, "blocks"),
    ],
    ids=["coordinates", "labels"],
)
def test_places_are_not_called_groups(given, met):
    """What is met again is said in the words of what was given."""
    found = estimate(**given)
    assert found.interval is None
    assert found.notes[-1].startswith(f"{met} are met again later")


def test_both_sources_are_cited():
    """Whoever had the idea of the factor, too."""
    reference = HAC.reference
    assert "Lazarus" in reference
    assert "Müller UK, Watson MW (2022)" in reference


X_SPATIAL, Y_SPATIAL = tr.datasets.make_field(120, random_state=4)
PLACES, FEATURES = X_SPATIAL[:, :2], X_SPATIAL[:, 2:]
MODEL = LogisticRegression()


def logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def test_by_places_it_is_the_formula():
    """Value ± factor · se on the logit scale, from components of the tested places."""
    found = tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=PLACES)
    value, components = found.value, spatial_components(PLACES, 0.95)
    error = components.std_error((found.losses - value) / 120)
    half = components.critical * error / (value * (1 - value))
    assert found.interval.method == "spatial"
    assert found.std_error == pytest.approx(error)
    assert logit(found.interval.low) == pytest.approx(logit(value) - half)
    assert logit(found.interval.high) == pytest.approx(logit(value) + half)


def test_by_labels_it_is_the_formula():
    """T of the sums of blocks, the variance 1.8 times as large."""
    labels = np.random.default_rng(1).integers(9, size=120)
    found = tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=labels, cv="blocks-3")
    sums = np.bincount(labels, found.losses - found.value) / 120
    error = np.sqrt(1.8 * 9 / 8 * (sums**2).sum())
    half = t.ppf(0.975, 8) * error / (found.value * (1 - found.value))
    assert found.std_error == pytest.approx(error)
    assert logit(found.interval.high) == pytest.approx(logit(found.value) + half)


def test_squared_losses_are_taken_on_the_scale_of_one_over_their_root():
    """Where the logarithm would be too small still."""
    numbers = FEATURES[:, 0] + X_SPATIAL[:, 0]
    found = tr.estimate_risk(DummyRegressor(), FEATURES, numbers, block=PLACES)
    components = spatial_components(PLACES, 0.95)
    value, error = found.value, components.std_error((found.losses - found.value) / 120)
    half = components.critical * error / 2 / value**1.5
    assert found.std_error == pytest.approx(error)
    assert found.interval.low**-0.5 == pytest.approx(value**-0.5 + half)
    assert found.interval.high**-0.5 == pytest.approx(value**-0.5 - half)


def test_one_clump_of_large_losses_has_no_upper_end():
    """Then there is no interval, and a note says so."""
    numbers = np.where(PLACES[:, 0] < 0.2, 1e3, 1.0) * FEATURES[:, 0]
    found = tr.estimate_risk(DummyRegressor(), FEATURES, numbers, block=PLACES)
    assert (found.interval, found.std_error) == (None, None)
    assert any("an upper limit of their mean" in note for note in found.notes)


def test_labels_say_what_they_are_taken_for():
    """Who are neighbours they do not tell; coordinates do, and need no such note."""
    labels = np.random.default_rng(1).integers(9, size=120)
    for block, said in ((labels, True), (PLACES, False)):
        found = tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=block, cv="blocks-3")
        assert found.interval is not None
        assert (
            any("treats the blocks of block= as independent" in note for note in found.notes)
            == said
        )


def test_it_is_that_of_every_method_where_there_are_places():
    """Of blocks in pairs, nested, buffered; of random folds, which are warned of; of scores."""
    knn = KNeighborsClassifier()
    for outer in ("pairs", "blocks-3", tr.methods.Buffered(0.1, k=3)):
        search = tr.HonestSearchCV(
            knn,
            {"n_neighbors": [1, 9]},
            cv="blocks-4",
            outer=outer,
            scoring=["zero-one", "auc", "brier"],
        ).fit(X_SPATIAL, Y_SPATIAL, block=PLACES)
        assert search.risk_.interval.method == "spatial"
        assert [search.scores_[s].interval.method for s in ("auc", "brier")] == ["spatial"] * 2
    with pytest.warns(tr.core.errors.SpaceLeakWarning):
        folds = tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=PLACES, cv="5-fold")
    assert folds.interval.method == "spatial"
    holdout = tr.methods.KFold(folds=PLACES[:, 0] > 0.5)
    assert (
        tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=PLACES, cv=holdout).interval is not None
    )


def test_every_candidate_of_a_curve_has_its_own():
    """From one set of components."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 9]}, X_SPATIAL, Y_SPATIAL, block=PLACES
    )
    assert [one.interval.method for one in curve] == ["spatial", "spatial"]
    assert curve[0].interval != curve[1].interval


def test_neighbours_that_fail_together_make_it_wide():
    """The same errors scattered over the square have a narrower one."""
    wrong = (PLACES[:, 0] < 0.3).astype(int)
    scattered = np.random.default_rng(0).permutation(wrong)
    widths = []
    for y in (wrong, scattered):
        rule = DummyClassifier(strategy="constant", constant=0)
        found = tr.estimate_risk(rule, FEATURES, y, block=PLACES, cv="blocks-5")
        widths.append(found.interval.width)
    assert widths[0] > 2 * widths[1]


@pytest.mark.parametrize(
    ("block", "method", "said"),
    [
        (PLACES[:15], "blocks-3", "15 places are too few"),
        (np.repeat(PLACES[:5], 12, axis=0), "blocks-2", "5 places are too few"),
        (np.arange(60) % 4, "blocks-4", "4 blocks are too few"),
    ],
    ids=["rows", "places", "labels"],
)
def test_too_few_blocks_or_places_have_none(block, method, said):
    """The note says how many it needs."""
    n = len(block)
    found = tr.estimate_risk(
        DummyClassifier(), X_SPATIAL[:n], np.arange(n) % 2, block=block, cv=method
    )
    assert found.interval is None
    assert any(said in note and "needs" in note for note in found.notes)


def test_equal_losses_have_none():
    """Their spread says nothing."""
    known = np.column_stack([Y_SPATIAL * 100.0, X_SPATIAL])
    perfect = tr.estimate_risk(KNeighborsClassifier(1), known, Y_SPATIAL, block=PLACES)
    assert perfect.value == 0
    assert perfect.interval is None
    assert any("same loss" in note for note in perfect.notes)


def test_without_places_or_for_other_losses_it_is_refused():
    """The sentence says who lacks what."""
    with pytest.raises(Refusal, match=r"needs places of the rows, which data without block="):
        tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, interval="spatial")
    with pytest.raises(Refusal, match=r"needs a loss with a formula.*loss 'jaccard'"):
        tr.estimate_risk(
            MODEL, FEATURES, Y_SPATIAL, block=PLACES, interval="spatial", scoring="jaccard"
        )
    with pytest.raises(Refusal, match=r"needs a mean of cross-validated losses"):
        tr.estimate_risk(
            MODEL, FEATURES, Y_SPATIAL, block=PLACES, interval="spatial", cv="apparent"
        )


def test_groups_that_lie_at_several_places_have_no_interval():
    """A group at one place is counted by that place; one that is met elsewhere is not."""
    at = np.repeat(PLACES[:60], 2, axis=0)
    groups = np.repeat(np.arange(60), 2)
    found = tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=at, groups=groups)
    assert found.interval is not None
    apart = ((PLACES[:60, None] - PLACES[:60]) ** 2).sum(axis=2) + 9 * np.eye(60)
    one, other = np.unravel_index(apart.argmin(), apart.shape)
    groups[groups == other] = one
    met = tr.estimate_risk(MODEL, FEATURES, Y_SPATIAL, block=at, groups=groups)
    assert met.interval is None
    assert any("rows of one group lie at several places" in note for note in met.notes)


@pytest.mark.parametrize("score", ["average_precision", "f1"])
def test_scores_that_were_not_calibrated_on_fields_have_none(score):
    """Those of average precision hold too rarely where fields reach far; others were not tried."""
    rng = np.random.default_rng(0)
    places = rng.random((120, 2))
    X_SPATIAL = np.column_stack([np.sin(4 * places[:, 0]), rng.normal(size=120)])
    y = X_SPATIAL[:, 0] + rng.normal(size=120) > 0.3
    model = KNeighborsClassifier(9)
    for block in (places, (10 * places[:, 0]).astype(int)):
        found = tr.estimate_risk(model, X_SPATIAL, y, block=block, scoring=[score, "auc"])
        assert found.interval is None
        assert "no standard error is justified" in found.notes[-1]
        assert found.scores["auc"].interval.method == "spatial"
