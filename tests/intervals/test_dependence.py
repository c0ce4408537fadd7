"""Intervals of losses that depend on those before them, or on those beside them."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import t
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.exceptions import SpaceLeakWarning, TimeLeakWarning
from truerisk.extend import Refusal
from truerisk.intervals import as_form
from truerisk.intervals.components import spatial_components
from truerisk.statistics.long_run import long_run_std_error

N = 600
X, _, Y = normal_rows(N)
RNG = np.random.default_rng(0)


def hac(y=Y, X=X, model=None, **more):
    return tr.estimate_risk(model or LinearRegression(), X, y, **{"cv": "forward-5"} | more)


def is_around(found, value, half):
    """Return True if the ends lie at a distance from the value on the scale of 1/√risk."""
    low, high = found.interval.low**-0.5, found.interval.high**-0.5
    return (low, high) == pytest.approx((value**-0.5 + half, value**-0.5 - half))


@pytest.mark.parametrize(
    "weight",
    [
        pytest.param(None, id="plain"),
        pytest.param(np.random.default_rng(7).integers(1, 4, N).astype(float), id="weighted"),
    ],
)
def test_hac_is_the_error_of_the_series_of_losses(weight):
    """The interval of squared losses is symmetric on the scale of 1/√risk.

    Its quantile grows with the memory of the series. Weighted losses give an interval around the
    weighted mean.
    """
    found = hac(sample_weight=weight)
    shares = (np.ones(N) if weight is None else weight)[found.loss_rows]
    parts = shares / shares.sum() * (found.losses - found.value)
    assert parts.sum() == pytest.approx(0, abs=1e-12)
    series = long_run_std_error(parts * len(parts))
    assert found.std_error == pytest.approx(series.std_error, rel=1e-12)
    assert found.interval.method == "hac"
    half = series.critical_value(0.95) * series.std_error / 2 / found.value**1.5
    assert is_around(found, found.value, half)


def test_hac_has_an_interval_from_100_tested_times_on():
    found = hac(Y[:120], X[:120])
    assert len(found.losses) == 100
    assert found.interval is not None


def test_hac_takes_rows_of_one_time_as_one_value_of_the_series():
    """Losses that come in threes say what a third as many say."""
    twice = hac(np.repeat(Y, 3), np.repeat(X, 3, axis=0), time=np.repeat(np.arange(N), 3))
    once = hac(time=np.arange(N))
    assert (twice.value, twice.std_error) == pytest.approx((once.value, once.std_error))


def test_hac_depends_on_the_order_of_times_and_not_of_rows():
    """Groups that follow one another are stretches of time, in any order of the table."""
    order, pairs = RNG.permutation(N), np.arange(N) // 2
    found, same = hac(time=np.arange(N)), hac(Y[order], X[order], time=order)
    assert found.std_error == pytest.approx(same.std_error)
    assert hac(Y[order], X[order]).std_error != pytest.approx(found.std_error)
    grouped, same = hac(groups=pairs), hac(Y[order], X[order], time=order, groups=pairs[order])
    assert grouped.interval is not None
    assert same.std_error == pytest.approx(grouped.std_error)


def test_hac_of_dependent_losses_is_wider():
    """Noise that remembers makes fewer news of the same rows."""
    noise = np.zeros(N)
    for i in range(1, N):
        noise[i] = 0.6 * noise[i - 1] + RNG.normal()
    plain, found = hac(), hac(X[:, 0] + noise)
    assert found.interval.width / found.value > 1.1 * plain.interval.width / plain.value


WALK = np.cumsum(np.random.default_rng(1).normal(size=N))
CLUMP = np.where(np.abs(np.arange(N) - 400) < 15, 1e2, 1.0) * Y


def test_hac_cites_whoever_had_the_idea_of_the_factor():
    reference = as_form("hac").reference
    assert "Lazarus" in reference
    assert "Müller UK, Watson MW (2022)" in reference


# ---------------- in space

FIELD, CLASSES = tr.datasets.make_field(120, random_state=4)
PLACES, FEATURES = FIELD[:, :2], FIELD[:, 2:]
LABELS = np.random.default_rng(1).integers(9, size=120)
COMPONENTS = spatial_components(PLACES, 0.95)
MODEL = LogisticRegression()
BY_LABELS = {"block": LABELS, "cv": "blocks-3"}


def spatial(y=CLASSES, X=FEATURES, model=MODEL, **more):
    return tr.estimate_risk(model, X, y, **{"block": PLACES} | more)


def test_spatial_by_places_is_the_formula():
    """Value ± factor · se on the logit scale, from components of the tested places."""
    found = spatial()
    error = COMPONENTS.std_error((found.losses - found.value) / 120)
    half = COMPONENTS.critical_value * error / (found.value * (1 - found.value))
    assert found.interval.method == "spatial"
    assert found.std_error == pytest.approx(error)
    assert logit(found.interval.low) == pytest.approx(logit(found.value) - half)
    assert logit(found.interval.high) == pytest.approx(logit(found.value) + half)


def test_spatial_by_labels_is_the_formula():
    """T of the sums of blocks, the variance 1.8 times as large.

    Who are neighbours labels do not tell; coordinates do, and need no such note.
    """
    found, note = spatial(**BY_LABELS), "treats the blocks of block= as independent"
    sums = np.bincount(LABELS, found.losses - found.value) / 120
    error = np.sqrt(1.8 * 9 / 8 * (sums**2).sum())
    half = t.ppf(0.975, 8) * error / (found.value * (1 - found.value))
    assert found.std_error == pytest.approx(error)
    assert logit(found.interval.high) == pytest.approx(logit(found.value) + half)
    assert any(note in one for one in found.notes)
    assert not any(note in one for one in spatial().notes)


def test_spatial_takes_squared_losses_on_the_scale_of_one_over_their_root():
    """Where the logarithm would be too small still."""
    found = spatial(FEATURES[:, 0] + FIELD[:, 0], model=DummyRegressor())
    error = COMPONENTS.std_error((found.losses - found.value) / 120)
    assert found.std_error == pytest.approx(error)
    assert is_around(found, found.value, COMPONENTS.critical_value * error / 2 / found.value**1.5)


@pytest.mark.parametrize("outer", ["pairs", "blocks-3", tr.methods.Buffered(0.1, k=3)])
def test_spatial_is_the_interval_of_every_method_where_there_are_places(outer):
    """Of blocks in pairs, nested, buffered; and of scores."""
    given = {"cv": "blocks-4", "outer": outer, "scoring": ["zero-one", "auc", "brier"]}
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, **given)
    search.fit(FIELD, CLASSES, block=PLACES)
    risks = search.risk_, search.scores_["auc"], search.scores_["brier"]
    assert [risk.interval.method for risk in risks] == ["spatial"] * 3


@pytest.mark.parametrize(
    ("estimate", "given", "word", "warning"),
    [
        pytest.param(
            hac,
            {"cv": "5-fold", "time": np.arange(N)},
            "hac",
            TimeLeakWarning,
            id="times",
        ),
        pytest.param(spatial, {"cv": "5-fold"}, "spatial", SpaceLeakWarning, id="places"),
        pytest.param(
            spatial,
            {"cv": tr.methods.KFold(folds=PLACES[:, 0] > 0.5)},
            "spatial",
            None,
            id="halves of the map",
        ),
    ],
)
def test_dependent_interval_is_that_of_rows_whatever_splits_them(estimate, given, word, warning):
    """Losses of rows near in time or space depend on each other in random folds, too.

    A warning is given if random folds put such rows on both sides of a split.
    """
    with pytest.warns(warning) if warning else nullcontext():
        assert estimate(**given).interval.method == word


def test_spatial_gives_every_candidate_of_a_curve_its_own():
    grid = {"n_neighbors": [1, 9]}
    one, nine = tr.risk_curve(KNeighborsClassifier(), grid, FIELD, CLASSES, block=PLACES)
    assert one.interval.method == nine.interval.method == "spatial"
    assert one.interval != nine.interval


def test_spatial_is_wide_where_neighbours_fail_together():
    """The same errors scattered over the square have a narrower one."""
    wrong, rule = (PLACES[:, 0] < 0.3).astype(int), DummyClassifier(strategy="constant", constant=0)
    together, scattered = (
        spatial(y, model=rule, cv="blocks-5").interval.width
        for y in (wrong, np.random.default_rng(0).permutation(wrong))
    )
    assert together > 2 * scattered


KNOWN = np.column_stack([CLASSES * 100.0, FIELD])
PATCH = np.where(PLACES[:, 0] < 0.2, 1e3, 1.0) * FEATURES[:, 0]


def few(n, **more):
    """Return the first n places, two alternating classes and a model that ignores the features."""
    given = {"y": np.arange(n) % 2, "X": FEATURES[:n], "block": PLACES[:n]}
    return given | {"model": DummyClassifier()} | more


@pytest.mark.filterwarnings("ignore::truerisk.exceptions.SpaceLeakWarning")
@pytest.mark.parametrize(
    ("estimate", "given", "reason"),
    [
        pytest.param(
            hac,
            {"y": Y[:100], "X": X[:100]},
            "rows at 80 different times were tested, and with fewer",
            id="few times",
        ),
        pytest.param(
            hac, {"groups": np.arange(N) % 400}, "groups are met again later", id="groups in time"
        ),
        pytest.param(
            hac,
            {"block": np.random.default_rng(0).uniform(size=(N, 2))},
            "places are met again later",
            id="places in time",
        ),
        pytest.param(
            hac, {"block": np.arange(N) % 400}, "blocks are met again later", id="blocks in time"
        ),
        pytest.param(hac, {"y": WALK}, "depend on those before them for so long", id="lasting"),
        pytest.param(hac, {"y": CLUMP}, "an upper limit of their mean", id="clump in time"),
        pytest.param(
            hac,
            {"y": np.zeros(N), "model": DummyRegressor()},
            "every row has the same loss",
            id="alike in time",
        ),
        pytest.param(spatial, few(15, cv="blocks-3"), "15 places are too few", id="few rows"),
        pytest.param(
            spatial,
            few(60, block=np.repeat(PLACES[:5], 12, axis=0), cv="blocks-2"),
            "5 places are too",
            id="few places",
        ),
        pytest.param(
            spatial,
            few(60, block=np.arange(60) % 4, cv="blocks-4"),
            "4 blocks are too few",
            id="few labels",
        ),
        pytest.param(
            spatial,
            {"model": KNeighborsClassifier(1), "X": KNOWN},
            "same loss",
            id="alike in space",
        ),
        pytest.param(
            spatial,
            {"model": DummyRegressor(), "y": PATCH},
            "an upper limit of their mean",
            id="clump in space",
        ),
    ],
)
def test_dependent_interval_is_none_where_times_or_places_do_not_tell(estimate, given, reason):
    """The interval is refused if times or places are too few, or recur later.

    It is also refused for equal losses, for long memory and for one clump of large losses.
    """
    found = estimate(**given)
    assert (found.interval, found.std_error) == (None, None)
    assert any(reason in note for note in found.notes)


def test_spatial_is_none_for_groups_that_lie_at_several_places():
    """A group at one place is counted by that place; one that is met elsewhere is not."""
    at, groups = np.repeat(PLACES[:60], 2, axis=0), np.repeat(np.arange(60), 2)
    assert spatial(block=at, groups=groups).interval is not None
    apart = ((PLACES[:60, None] - PLACES[:60]) ** 2).sum(axis=2) + 9 * np.eye(60)
    one, other = np.unravel_index(apart.argmin(), apart.shape)
    met = spatial(block=at, groups=np.where(groups == other, one, groups))
    assert met.interval is None
    assert any("rows of one group lie at several places" in note for note in met.notes)


@pytest.mark.parametrize("score", ["average_precision", "f1"])
def test_spatial_is_none_for_scores_that_were_not_calibrated_on_fields(score):
    """Those of average precision hold too rarely where fields reach far; others were not tried."""
    rng = np.random.default_rng(0)
    places = rng.random((120, 2))
    rows = np.column_stack([np.sin(4 * places[:, 0]), rng.normal(size=120)])
    y, knn = rows[:, 0] + rng.normal(size=120) > 0.3, KNeighborsClassifier(9)
    for block in (places, (10 * places[:, 0]).astype(int)):
        found = spatial(y, rows, knn, block=block, scoring=[score, "auc"])
        assert found.interval is None
        assert "there is no standard error" in found.notes[-1]
        assert found.scores["auc"].interval.method == "spatial"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval": "spatial", "block": None}, "needs places of the rows, which data without"),
        ({"interval": "spatial", "scoring": "jaccard"}, "needs a loss with a formula.*'jaccard'"),
        ({"interval": "spatial", "cv": "apparent"}, "needs a mean of cross-validated losses"),
        (
            {"interval": "hac", "block": None},
            "needs rows in the order of time, which method '5-fold'",
        ),
        (
            {"interval": "wald", "block": None, "cv": "forward-5"},
            "interval 'wald' needs rows that do not depend on each",
        ),
    ],
    ids=["places", "loss", "mean", "order", "independent"],
)
def test_dependent_interval_is_refused_where_a_need_is_lacking(given, message):
    with pytest.raises(Refusal, match=message):
        spatial(**given)
