"""By how much cross-validation of a tuned learner varies more than a mean of independent losses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.intervals.calibrated import ONCE, LogCV
from truerisk.losses.loss_words import as_loss

RNG = np.random.default_rng(1)
N = 40
FOLDS = np.arange(N) % 10
FLAT, STEEP = RNG.normal(size=(N, 2)), RNG.normal(size=(N, 27))
Y = FLAT[:, 0] + RNG.normal(size=N)
ALL_ROWS = re.compile(r"With all of them the (\w+) will be about (\S+) (\w+) \((\S+) to (\S+)\):")
TOO_STEEP = "the interval covers less often than it states"


def without(model, X, weights):
    """The losses of fits that lack the row's fold, and of those that lack a further one."""
    losses = np.zeros((2, N))
    for i in range(10):
        for j in range(10):
            seen, tested = ~np.isin(FOLDS, (i, j)), np.isin(FOLDS, i)
            fitted = model.fit(X[seen], Y[seen], sample_weight=weights[seen])
            share = 1 if i == j else 1 / 9
            losses[int(i != j), tested] += share * (Y[tested] - fitted.predict(X[tested])) ** 2
    return losses


@pytest.mark.parametrize("weights", [None, 1.0 + np.arange(N) % 3])
@pytest.mark.parametrize("groups", [None, np.arange(N) % 20])
def test_the_fall_is_told_with_its_noise(weights, groups):
    """By the power law through both sizes, with two standard errors of rows or groups."""
    options = {"cv": tr.methods.Pairs(tr.methods.KFold(folds=FOLDS)), "interval": "log-cv"}
    options |= {"sample_weight": weights, "groups": groups}
    found = tr.estimate_risk(Ridge(1e-6), STEEP, Y, **options)
    shares = np.ones(N) / N if weights is None else weights / weights.sum()
    one, two = without(Ridge(1e-6), STEEP, shares * N)
    value, more = one @ shares, two @ shares
    parts = shares * (two - one - (more - value))
    units = parts if groups is None else np.bincount(groups, parts)
    noise = 2 * np.sqrt((units**2).sum() * len(units) / (len(units) - 1))
    assert more - value > noise
    steepness = np.log(9 / 10) / np.log(8 / 9)
    ends = [value - value * (value / (more + z * noise)) ** steepness for z in (-1, 0, 1)]
    (note,) = (note for note in found.notes if ALL_ROWS.search(note))
    assert "each model saw 90% of the rows" in note
    assert "about {1:.2g} less ({0:.2g} to {2:.2g}): models of 80% have".format(*ends) in note
    assert f"have {more:.3g} where these have {value:.3g}." in note
    half = found.value * np.log(found.interval.high / found.value)
    assert ends[1] > 0.4 * half
    assert f"{TOO_STEEP}. Use interval='ncv'" in note
    flat = tr.estimate_risk(Ridge(), FLAT, Y, **options)
    assert not any(ALL_ROWS.search(note) for note in flat.notes)


X, LABELS = load_digits(return_X_y=True)
KNN = (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})
ROWS = 250


def drawn(seed):
    """A search on some digits, and how far the risk of the others falls from 4/5 of them."""
    order = np.random.default_rng(seed).permutation(len(LABELS))
    mine, others = order[:ROWS], order[ROWS:]
    search = tr.HonestSearchCV(
        *KNN, cv=5, scoring=["zero-one", "balanced-accuracy"], random_state=seed
    )
    search.fit(X[mine], LABELS[mine])
    part = mine[: ROWS * 4 // 5]
    fewer = GridSearchCV(*KNN, cv=5).fit(X[part], LABELS[part])
    fall = search.score(X[others], LABELS[others]) - fewer.score(X[others], LABELS[others])
    return search, fall


def test_drawings_agree_with_the_note():
    """Of steep curves: the sign, the size within its ends, and a score's says as much as more."""
    falls, stated = [], []
    for seed in range(12):
        search, fall = drawn(seed)
        falls.append(fall)
        for estimate, nouns in (
            (search.risk_, ("risk", "less")),
            (search.risk_.scores["balanced-accuracy"], ("score", "more")),
        ):
            for noun, about, way, *ends in ALL_ROWS.findall(" ".join(estimate.notes)):
                assert (noun, way) == nouns
                stated.append([float(about), *map(float, ends)])
    assert len(stated) >= 16
    about, least, most = np.array(stated).T
    assert np.mean((least < np.mean(falls)) & (np.mean(falls) < most)) >= 0.9
    assert np.mean(falls) == pytest.approx(about.mean(), rel=0.5)


RNG_BETA_CV = np.random.default_rng(1)
N_BETA_CV = 40
X_BETA_CV = RNG_BETA_CV.normal(size=(N_BETA_CV, 2))
Y_BETA_CV = (X_BETA_CV[:, 0] + RNG_BETA_CV.normal(size=N_BETA_CV) > 0).astype(int)
KNN_BETA_CV = KNeighborsClassifier(3)


@pytest.mark.parametrize("method", ["5-fold", "loo"])
def test_zero_one_loss_counts_fewer_rows(method):
    """Beta(n_e m + ½, n_e (1 − m) + ½) with n_e = (n − 1)/1.8."""
    found = tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv=method, interval="beta-cv")
    m, size = found.value, (N_BETA_CV - 1) / ONCE
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    assert found.std_error == pytest.approx(np.sqrt(m * (1 - m) / (N_BETA_CV - 1)))
    assert found.interval.method == "beta-cv"


def test_repetitions_count_more_rows():
    """What only the folds change is averaged out of a row's loss, and says how unstable it is."""
    method = tr.methods.KFold(folds=[RNG_BETA_CV.permutation(N_BETA_CV) % 5 for _ in range(4)])
    found = tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv=method, interval="beta-cv")
    singles = [
        tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv=tr.methods.KFold(folds=f)).losses
        for f in method.folds
    ]
    within = np.var(singles, axis=0, ddof=1).mean()
    variance = np.var(np.mean(singles, axis=0), ddof=1)
    unstable = within / (variance + within * 3 / 4)
    assert 0 < unstable < 0.16
    m = found.value
    more = 1 + 5 * np.sqrt(5 / 10) * unstable
    size = m * (1 - m) / (more * variance / N_BETA_CV)
    assert size > (N_BETA_CV - 1) / ONCE
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_no_errors_count_the_rows():
    """No error in n rows: Beta(½, n/1.8 + ½), without a standard error."""
    x = np.sign(X_BETA_CV[:, :1]) * (50 + RNG_BETA_CV.random((N_BETA_CV, 1)))
    found = tr.estimate_risk(KNN_BETA_CV, x, X_BETA_CV[:, 0] > 0, cv="5-fold", interval="beta-cv")
    assert (found.value, found.std_error) == (0, None)
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 0.5, N_BETA_CV / 1.8 + 0.5))


def test_no_errors_in_many_drawings_say_nothing_of_instability():
    """The factor is that of one drawing, not that of a stable learner."""
    x = np.sign(X_BETA_CV[:, :1]) * (50 + RNG_BETA_CV.random((N_BETA_CV, 1)))
    given = {"model": KNN_BETA_CV, "X": x, "y": X_BETA_CV[:, 0] > 0, "interval": "beta-cv"}
    once = tr.estimate_risk(**given, cv="5-fold")
    assert tr.estimate_risk(**given, cv="4x5-fold").interval == once.interval


def test_a_rule_that_never_changes_is_tested_by_independent_rows():
    """Its errors are the same in every drawing: the factor is 1."""
    rule = DummyClassifier(strategy="constant", constant=1)
    found = tr.estimate_risk(rule, X_BETA_CV, Y_BETA_CV, cv="4x5-fold", interval="beta-cv")
    m, size = np.mean(Y_BETA_CV != 1), N_BETA_CV - 1
    assert found.value == pytest.approx(m)
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)


def test_a_bounded_loss_has_the_size_of_its_spread():
    """Brier losses vary less than errors, so they count for more rows than there are."""
    found = tr.estimate_risk(
        GaussianNB(), X_BETA_CV, Y_BETA_CV, cv="5-fold", scoring="brier", interval="beta-cv"
    )
    m, variance = found.value, 1.8 * found.losses.var(ddof=1) / N_BETA_CV
    size = m * (1 - m) / variance
    expected = stats.beta.ppf(0.975, size * m + 0.5, size * (1 - m) + 0.5)
    assert found.interval.high == pytest.approx(expected)


@pytest.mark.parametrize("method", ["5-fold", "pairs"])
def test_beta_cv_of_probabilities_reaches_further_down(method):
    """The low end of Brier has 1.15 times as many standard errors as the high end."""
    given = {"scoring": "brier", "interval": "beta-cv", "cv": method}
    found = tr.estimate_risk(GaussianNB(), X_BETA_CV, Y_BETA_CV, **given)
    m, high = found.value, found.interval.high
    sizes = np.linspace(5, 500, 200_000)
    highs = stats.beta.ppf(0.975, sizes * m + 0.5, sizes * (1 - m) + 0.5)
    size = sizes[np.abs(highs - high).argmin()] / 1.15**2
    low = stats.beta.ppf(0.025, size * m + 0.5, size * (1 - m) + 0.5)
    assert found.interval.low == pytest.approx(low, rel=1e-3)


def test_log_cv_of_log_loss_reaches_further_down():
    """Squared errors have equal numbers of standard errors on both sides."""
    given = {"interval": "log-cv", "cv": "5-fold"}
    found = tr.estimate_risk(GaussianNB(), X_BETA_CV, Y_BETA_CV, scoring="log", **given)
    down, up = (np.log(found.value / found.interval.low), np.log(found.interval.high / found.value))
    assert down == pytest.approx(1.15 * up)
    squared = tr.estimate_risk(Ridge(), FLAT, Y, **given)
    assert squared.value**2 == pytest.approx(squared.interval.low * squared.interval.high)


def test_finished_model_has_equal_sides_and_the_t_quantile_of_groups():
    """Brier of 10 groups: t with 9 degrees takes the place of the normal quantile."""
    model, groups = GaussianNB().fit(X_BETA_CV, Y_BETA_CV), np.arange(N_BETA_CV) % 10
    found = tr.validate(model, X_BETA_CV, Y_BETA_CV, prefit=True, groups=groups)
    brier = found.calibration["brier"]
    enlarged = brier.std_error * stats.t.ppf(0.975, 9) / stats.norm.ppf(0.975)
    m = brier.honest
    size = m * (1 - m) / enlarged**2
    expected = stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5)
    assert (brier.interval.low, brier.interval.high) == pytest.approx(expected)
    log = found.risk
    half = stats.t.ppf(0.975, 9) * log.std_error / log.value
    assert log.interval.method == "log-cv-grouped"
    ends = np.log([log.value / log.interval.low, log.interval.high / log.value])
    assert ends == pytest.approx(half)


def test_groups_are_added_up_first():
    """With groups the variance is that of the sums of groups."""
    groups = np.arange(N_BETA_CV) // 4
    given = {"interval": "beta-cv", "groups": groups}
    found = tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv="5-fold", **given)
    wald = tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv="5-fold", groups=groups)
    assert found.std_error == pytest.approx(wald.std_error)
    m = found.value
    size = m * (1 - m) / (1.8 * wald.std_error**2)
    assert found.interval.low == pytest.approx(
        stats.beta.ppf(0.025, size * m + 0.5, size * (1 - m) + 0.5)
    )
    assert found.interval.method == "beta-cv-grouped"


LACKING = "interval 'beta-cv' needs rows that are tested equally often, which method '"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"model": Ridge(), "y": X_BETA_CV[:, 0]}, "largest value"),
        ({"cv": ShuffleSplit(5, random_state=0)}, LACKING),
        ({"cv": [(np.arange(20), np.arange(20, 40))] * 2 + [(np.arange(9), [9])]}, LACKING),
        ({"cv": "monte-carlo"}, LACKING),
    ],
)
def test_other_losses_and_splits_are_refused(more, message):
    """Losses without a bound, and rows tested unequally often."""
    given = {"model": KNN_BETA_CV, "X": X_BETA_CV, "y": Y_BETA_CV, "interval": "beta-cv", **more}
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**given)


def test_equal_losses_between_the_bounds_say_nothing():
    """A spread of 0 between the bounds gives no interval."""
    found = tr.estimate_risk(
        GaussianNB(), X_BETA_CV, Y_BETA_CV, cv="5-fold", scoring=lambda y, f: np.full(len(y), 0.5)
    )
    assert found.interval is None


@pytest.mark.parametrize(
    "splitter", [KFold(5), [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]]
)
def test_splitters_that_test_every_row_have_it(splitter):
    """scikit-learn's K-folds and given splits that test every row once are cross-validation."""
    found = tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv=splitter, interval="beta-cv")
    assert found.interval.method == "beta-cv"


def test_every_candidate_has_its_own_instability():
    """The interval of a point of a curve is that of the setting by itself."""
    given = {"cv": "4x5-fold", "interval": "beta-cv", "random_state": 0}
    grid = {"n_neighbors": [1, 5, 15]}
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X_BETA_CV, Y_BETA_CV, **given)
    alone = [
        tr.estimate_risk(KNeighborsClassifier(k), X_BETA_CV, Y_BETA_CV, **given) for k in (1, 5, 15)
    ]
    for point, one in zip(curve, alone, strict=True):
        assert point.interval.low == pytest.approx(one.interval.low, rel=1e-12)
        assert point.interval.high == pytest.approx(one.interval.high, rel=1e-12)
    assert len({note for point in curve for note in point.notes if "instability" in note}) == 3


@pytest.mark.parametrize("word", ["beta-cv", "log-cv"])
def test_rows_that_are_tested_unequally_often_are_refused(word):
    """Their means have no common variance, and no instability."""
    rows = np.arange(N_BETA_CV)
    splits = [(rows[20:], rows[:20]), (rows[:20], rows[20:]), (rows[9:], rows[:9])]
    with pytest.raises(Refusal, match="equally often"):
        tr.estimate_risk(KNN_BETA_CV, X_BETA_CV, Y_BETA_CV, cv=splits, interval=word)


RNG_LOG_CV = np.random.default_rng(1)
N_LOG_CV = 40
X_LOG_CV = RNG_LOG_CV.normal(size=(N_LOG_CV, 2))
Y_LOG_CV = X_LOG_CV[:, 0] + RNG_LOG_CV.normal(size=N_LOG_CV)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_it_is_normal_on_the_log_scale(level):
    """Value · exp(± z se/value) with se² = 1.8 s²/n for one repetition."""
    from scipy.special import ndtri

    found = tr.estimate_risk(Ridge(), X_LOG_CV, Y_LOG_CV, interval="log-cv", confidence_level=level)
    error = np.sqrt(1.8 * found.losses.var(ddof=1) / N_LOG_CV)
    factor = np.exp(ndtri((1 + level) / 2) * error / found.value)
    assert found.std_error == pytest.approx(error / np.sqrt(1.8))
    assert found.interval.low == pytest.approx(found.value / factor)
    assert found.interval.high == pytest.approx(found.value * factor)


def test_repetitions_average_the_losses_of_a_row():
    """s² is the variance of the rows' mean losses: what only the folds change is averaged out."""
    method = tr.methods.KFold(folds=[np.arange(N_LOG_CV) % 5, np.arange(N_LOG_CV) // 8])
    both = tr.estimate_risk(Ridge(), X_LOG_CV, Y_LOG_CV, cv=method, interval="log-cv")
    singles = [
        tr.estimate_risk(Ridge(), X_LOG_CV, Y_LOG_CV, cv=tr.methods.KFold(folds=f)).losses
        for f in method.folds
    ]
    s2 = np.mean(singles, axis=0).var(ddof=1)
    assert both.std_error == pytest.approx(np.sqrt(s2 / N_LOG_CV))
    within = np.var(singles, axis=0, ddof=1).mean()
    more = 1.3 + 5 * np.sqrt(5 / 10) * within / (s2 + within / 2)
    assert 1.3 < more < 1.8
    times = np.exp(1.959963984540054 * np.sqrt(more * s2 / N_LOG_CV) / both.value)
    assert both.interval.high == pytest.approx(both.value * times)


def test_groups_are_added_up_first_of_log_cv():
    """Its name and its error say so."""
    groups = np.arange(N_LOG_CV) // 4
    found = tr.estimate_risk(Ridge(), X_LOG_CV, Y_LOG_CV, interval="log-cv", groups=groups)
    wald = tr.estimate_risk(Ridge(), X_LOG_CV, Y_LOG_CV, groups=groups, interval="wald")
    assert found.std_error == pytest.approx(wald.std_error)
    assert found.interval.width > wald.interval.width
    assert found.interval.method == "log-cv-grouped"


def test_losses_that_may_be_negative_are_refused():
    """A callable that knows no least value has no logarithm."""
    data = Data.check(X_LOG_CV, Y_LOG_CV, task="regression")
    loss = as_loss(lambda y, f: y - f, data)
    assert loss.lower is None
    with pytest.raises(Refusal, match="never negative"):
        LogCV().check(data, loss)


def test_no_spread_has_none():
    """Equal losses have no interval."""
    y = np.tile([1.0, -1.0], N_LOG_CV // 2)
    folds = np.arange(N_LOG_CV) // 8
    found = tr.estimate_risk(
        DummyRegressor(strategy="constant", constant=0.0),
        X_LOG_CV,
        y,
        cv=tr.methods.KFold(folds=folds),
        interval="log-cv",
    )
    assert (found.interval, found.std_error) == (None, None)
