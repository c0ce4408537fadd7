"""By how much cross-validation of a tuned learner varies more than a mean of independent losses."""

import re
from itertools import count

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk import methods
from truerisk.extend import Refusal

N = 40
ROWS = np.arange(N)
X, Y, NUMBERS = normal_rows(N, seed=1)
GROUPS = ROWS // 4
APART = np.sign(X[:, :1]) * (50 + np.abs(X[:, 1:])), X[:, 0] > 0
KNN, BAYES, LINE = KNeighborsClassifier(3), GaussianNB(), Ridge()


def beta_cv(model=KNN, X=X, y=Y, cv="5-fold", **more):
    return tr.estimate_risk(model, X, y, cv=cv, interval="beta-cv", **more)


def log_cv(model=LINE, X=X, y=NUMBERS, **more):
    return tr.estimate_risk(model, X, y, interval="log-cv", **more)


def ends(found):
    return found.interval.low, found.interval.high


def beta_of(m, size):
    """The ends of Beta(n_e m + ½, n_e (1 − m) + ½)."""
    return pytest.approx(stats.beta.interval(0.95, size * m + 0.5, size * (1 - m) + 0.5))


def singles_of(model, y, method):
    """The losses of every row by each drawing of the folds."""
    each = (methods.KFold(folds=f) for f in method.folds)
    return [tr.estimate_risk(model, X, y, cv=m).losses for m in each]


@pytest.mark.parametrize(
    "cv",
    ["5-fold", "loo", KFold(5), [(ROWS[20:], ROWS[:20]), (ROWS[:20], ROWS[20:])]],
    ids=count(),
)
def test_beta_cv_counts_fewer_rows_where_every_row_is_tested_once(cv):
    """n_e = (n − 1)/1.8, also of scikit-learn's folds and of given splits."""
    found = beta_cv(cv=cv)
    m = found.value
    assert ends(found) == beta_of(m, (N - 1) / 1.8)
    assert found.std_error == pytest.approx(np.sqrt(m * (1 - m) / (N - 1)))
    assert found.interval.method == "beta-cv"


def test_beta_cv_of_repeated_folds_counts_more_rows():
    """What only the folds change is averaged out of a row's loss, and says how unstable it is."""
    draw = np.random.default_rng(1)
    method = methods.KFold(folds=[draw.permutation(N) % 5 for _ in range(4)])
    found, singles = beta_cv(cv=method), singles_of(KNN, Y, method)
    within = np.var(singles, axis=0, ddof=1).mean()
    variance = np.var(np.mean(singles, axis=0), ddof=1)
    unstable, m = within / (variance + within * 3 / 4), found.value
    assert 0 < unstable < 0.22
    size = m * (1 - m) / ((1 + 5 * np.sqrt(5 / 10) * unstable) * variance / N)
    assert size > (N - 1) / 1.8
    assert ends(found) == beta_of(m, size)


def test_beta_cv_of_no_errors_counts_the_rows():
    """Beta(½, n/1.8 + ½), without a standard error; many drawings say nothing of instability."""
    found = beta_cv(KNN, *APART)
    assert (found.value, found.std_error) == (0, None)
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 0.5, N / 1.8 + 0.5))
    assert beta_cv(KNN, *APART, cv="4x5-fold").interval == found.interval


def test_beta_cv_of_a_rule_that_never_changes_has_factor_1():
    """Its errors are the same in every drawing: independent rows test it."""
    found = beta_cv(DummyClassifier(strategy="constant", constant=1), cv="4x5-fold")
    assert found.value == pytest.approx(np.mean(Y != 1))
    assert ends(found) == beta_of(found.value, N - 1)


@pytest.mark.parametrize("method", ["5-fold", "pairs"])
def test_beta_cv_of_probabilities_has_the_size_of_its_spread_and_reaches_further_down(method):
    """The low end of Brier has 1.15 times as many standard errors as the high end."""
    found = beta_cv(BAYES, scoring="brier", cv=method)
    m = found.value
    sizes = np.linspace(5, 500, 200_000)
    highs = stats.beta.ppf(0.975, sizes * m + 0.5, sizes * (1 - m) + 0.5)
    size = sizes[np.abs(highs - found.interval.high).argmin()]
    if method == "5-fold":
        assert size == pytest.approx(m * (1 - m) / (1.8 * found.std_error**2), rel=1e-3)
    size /= 1.15**2
    low = stats.beta.ppf(0.025, size * m + 0.5, size * (1 - m) + 0.5)
    assert found.interval.low == pytest.approx(low, rel=1e-3)


def test_log_cv_of_log_loss_reaches_further_down():
    """Squared errors have equal numbers of standard errors on both sides."""
    log, squared = log_cv(BAYES, y=Y, scoring="log", cv="5-fold"), log_cv(cv="5-fold")
    down, up = np.log([log.value / log.interval.low, log.interval.high / log.value])
    assert down == pytest.approx(1.15 * up)
    assert squared.value**2 == pytest.approx(squared.interval.low * squared.interval.high)


def test_calibrated_interval_of_a_finished_model_has_equal_sides_and_the_t_of_groups():
    """Brier of 10 groups: t with 9 degrees takes the place of the normal quantile."""
    found = tr.validate(BAYES.fit(X, Y), X, Y, prefit=True, groups=ROWS % 10)
    brier, log = found.calibration["brier"], found.risk
    t, m = stats.t.ppf(0.975, 9), brier.honest
    enlarged = brier.std_error * t / stats.norm.ppf(0.975)
    assert ends(brier) == beta_of(m, m * (1 - m) / enlarged**2)
    assert log.interval.method == "log-cv-grouped"
    sides = np.log([log.value / log.interval.low, log.interval.high / log.value])
    assert sides == pytest.approx(t * log.std_error / log.value)


def test_beta_cv_adds_up_groups_first():
    found = beta_cv(groups=GROUPS)
    m, sums = found.value, np.bincount(GROUPS, found.losses - found.value) / N
    variance = 10 / 9 * (sums**2).sum()
    assert found.std_error == pytest.approx(variance**0.5)
    assert ends(found) == beta_of(m, m * (1 - m) / (1.8 * variance))
    assert found.interval.method == "beta-cv-grouped"


def test_beta_cv_gives_every_setting_of_a_curve_its_own_instability():
    given, ks = {"cv": "4x5-fold", "random_state": 0}, (1, 5, 15)
    curve = tr.risk_curve(KNN, {"n_neighbors": ks}, X, Y, interval="beta-cv", **given)
    for point, k in zip(curve, ks, strict=True):
        assert ends(point) == pytest.approx(ends(beta_cv(KNeighborsClassifier(k), **given)))
    assert len({note for point in curve for note in point.notes if "instability" in note}) == 3


def signed(y, answers):
    """Return signed differences, a loss without a least value, whose logarithm does not exist."""
    return y - answers


UNEQUAL = [(ROWS[20:], ROWS[:20]), (ROWS[:20], ROWS[20:]), (ROWS[9:], ROWS[:9])]


@pytest.mark.parametrize(
    ("word", "more", "message"),
    [
        ("beta-cv", {"model": LINE, "y": NUMBERS}, "largest value"),
        ("beta-cv", {"cv": ShuffleSplit(5, random_state=0)}, "tested equally often, which method"),
        ("beta-cv", {"cv": "monte-carlo"}, "tested equally often, which method"),
        ("beta-cv", {"cv": UNEQUAL}, "equally often"),
        ("log-cv", {"cv": UNEQUAL}, "equally often"),
        ("log-cv", {"model": LINE, "y": NUMBERS, "scoring": signed}, "never negative"),
    ],
    ids=count(),
)
def test_calibrated_interval_is_refused_without_bounds_or_with_unequal_tests(word, more, message):
    """Rows tested unequally often have no common variance, and no instability."""
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(**{"model": KNN, "X": X, "y": Y, "interval": word} | more)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_log_cv_is_normal_on_the_log_scale(level, groups):
    """Value · exp(± z se/value), the variance of rows or of groups enlarged by 1.8."""
    found = log_cv(confidence_level=level, groups=groups)
    parts = (found.losses - found.value) / N
    sums = parts if groups is None else np.bincount(groups, parts)
    error = np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum())
    factor = np.exp(stats.norm.ppf((1 + level) / 2) * np.sqrt(1.8) * error / found.value)
    assert found.std_error == pytest.approx(error)
    assert ends(found) == pytest.approx((found.value / factor, found.value * factor))
    assert found.interval.method == ("log-cv" if groups is None else "log-cv-grouped")


def test_log_cv_of_repeated_folds_averages_the_losses_of_a_row():
    """s² is the variance of the rows' mean losses: what only the folds change is averaged out."""
    method = methods.KFold(folds=[ROWS % 5, ROWS // 8])
    both, singles = log_cv(cv=method), singles_of(LINE, NUMBERS, method)
    s2 = np.mean(singles, axis=0).var(ddof=1)
    assert both.std_error == pytest.approx(np.sqrt(s2 / N))
    within = np.var(singles, axis=0, ddof=1).mean()
    more = 1.3 + 5 * np.sqrt(5 / 10) * within / (s2 + within / 2)
    assert 1.3 < more < 1.8
    times = np.exp(1.959963984540054 * np.sqrt(more * s2 / N) / both.value)
    assert both.interval.high == pytest.approx(both.value * times)


def test_calibrated_interval_of_equal_losses_is_none():
    """A spread of 0 says nothing, between the bounds or without any."""
    rule, folds = DummyRegressor(strategy="constant", constant=0.0), methods.KFold(folds=ROWS // 8)
    equal = log_cv(rule, y=np.tile([1.0, -1.0], N // 2), cv=folds)
    assert (equal.interval, equal.std_error) == (None, None)
    half = tr.estimate_risk(BAYES, X, Y, cv="5-fold", scoring=lambda y, f: np.full(len(y), 0.5))
    assert half.interval is None


# ---------------- how far the risk falls with all rows

FOLDS = ROWS % 10
STEEP = np.random.default_rng(1).normal(size=(N, 27))
ALL_ROWS = re.compile(r"should have a (\w+) about (\S+) (\w+) \((\S+) to (\S+)\):")


def without(model, X, y, weights):
    """The losses of fits that lack the row's fold, and of those that lack a further one."""
    losses = np.zeros((2, N))
    for i in range(10):
        for j in range(10):
            seen, tested = ~np.isin(FOLDS, (i, j)), np.isin(FOLDS, i)
            fitted = model.fit(X[seen], y[seen], sample_weight=weights[seen])
            share = 1 if i == j else 1 / 9
            losses[int(i != j), tested] += share * (y[tested] - fitted.predict(X[tested])) ** 2
    return losses


@pytest.mark.parametrize("weights", [None, 1.0 + ROWS % 3], ids=["plain", "weighted"])
@pytest.mark.parametrize("groups", [None, ROWS % 20], ids=["rows", "groups"])
def test_note_tells_the_fall_of_the_risk_with_its_noise(weights, groups):
    """By the power law through both sizes, with two standard errors of rows or groups."""
    options = {"cv": methods.Pairs(methods.KFold(folds=FOLDS))}
    options |= {"sample_weight": weights, "groups": groups}
    found = log_cv(Ridge(1e-6), STEEP, **options)
    shares = np.ones(N) / N if weights is None else weights / weights.sum()
    one, two = without(Ridge(1e-6), STEEP, NUMBERS, shares * N)
    value, more = one @ shares, two @ shares
    parts = shares * (two - one - (more - value))
    units = parts if groups is None else np.bincount(groups, parts)
    noise = 2 * np.sqrt((units**2).sum() * len(units) / (len(units) - 1))
    assert more - value > noise
    steepness = np.log(9 / 10) / np.log(8 / 9)
    fall = [value - value * (value / (more + z * noise)) ** steepness for z in (-1, 0, 1)]
    (note,) = (note for note in found.notes if ALL_ROWS.search(note))
    assert "the models tested here saw 90% of the rows" in note
    assert "about {1:.2g} lower ({0:.2g} to {2:.2g}): models trained on 80%".format(*fall) in note
    assert f"have {more:.3g}, and those tested here {value:.3g}." in note
    assert fall[1] > 0.4 * found.value * np.log(found.interval.high / found.value)
    assert "the interval covers less often than it states. Use interval='ncv'" in note
    assert not any(ALL_ROWS.search(note) for note in log_cv(**options).notes)


def test_note_on_the_fall_of_the_risk_agrees_with_drawings():
    """Of steep curves: the sign, the size within its ends, and a score's says as much as more."""
    digits, labels = load_digits(return_X_y=True)
    knn, falls, stated = (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}), [], []
    scores = ["zero-one", "balanced-accuracy"]
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(labels))
        mine, part, others = order[:250], order[:200], order[250:]
        search = tr.HonestSearchCV(*knn, cv=5, scoring=scores, random_state=seed)
        search.fit(digits[mine], labels[mine])
        fewer = GridSearchCV(*knn, cv=5).fit(digits[part], labels[part])
        rest = digits[others], labels[others]
        falls.append(search.score(*rest) - fewer.score(*rest))
        for estimate, nouns in (
            (search.risk_, ("risk", "lower")),
            (search.risk_.scores["balanced-accuracy"], ("score", "higher")),
        ):
            for noun, about, way, *around in ALL_ROWS.findall(" ".join(estimate.notes)):
                assert (noun, way) == nouns
                stated.append([float(about), *map(float, around)])
    assert len(stated) >= 16
    about, least, most = np.array(stated).T
    assert np.mean((least < np.mean(falls)) & (np.mean(falls) < most)) >= 0.9
    assert np.mean(falls) == pytest.approx(about.mean(), rel=0.5)
