"""Rows paired in cross-validation: the formula by plain loops, its limits, and what it refuses."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.exceptions import MissingResult, UnknownName
from truerisk.extend import BadArgument, Refusal

N, K = 48, 4
X, Y = tr.datasets.make_difficult(N, random_state=3)
FOLDS = np.arange(N) % K
GROUPS = np.arange(N) // 8 * K + FOLDS  # two rows each, of one fold
WEIGHTS = 1.0 + np.arange(N) % 3
PAIRS = tr.methods.Pairs(tr.methods.KFold(folds=FOLDS))
MODELS = GaussianNB(), LinearDiscriminantAnalysis()


def estimates(*models, y=Y, cv=PAIRS, **options):
    """The honest risks of models on the same splits."""
    return [tr.estimate_risk(model, X, y, cv=cv, **options) for model in models]


def by_hand(models, y, loss, groups=None, weights=None):
    """Difference, its error and degrees of freedom, from fits without each fold and each two."""
    shares = np.full(N, 1 / N) if weights is None else weights / weights.sum()

    def losses(out, tested):
        train, test = ~np.isin(FOLDS, out), tested == FOLDS
        given = {} if weights is None else {"sample_weight": weights[train]}
        told = [loss(m.fit(X[train], y[train], **given).predict(X[test]), y[test]) for m in models]
        return test, told[0] - told[1]

    d, moved = np.zeros(N), np.full((N, K), np.nan)
    for i in range(K):
        test, d[test] = losses([i], i)
    for i, j in permutations(range(K), 2):
        test, moved[i == FOLDS, j] = losses([i, j], i)
    member = np.arange(N) if groups is None else np.unique(groups, return_inverse=True)[1]
    m, mean = member.max() + 1, shares @ d
    phi = np.bincount(member, shares * (d - mean))
    further = np.array([np.bincount(member, shares * moved[:, j]) for j in range(K)])
    within = np.nanvar(np.where(np.isnan(further), np.nan, further), axis=0, ddof=1).sum()
    u = within / ((phi**2).sum() + within)
    c = min(1.6 + 3 * u * np.sqrt(K / 5), 2.0)
    return mean, u, c, m / (m - 1) * (phi**2).sum(), m / c - 1


def wrong(said, y):
    return (said != y).astype(float)


def squared(said, y):
    return (said - y) ** 2


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_paired_cv_is_the_formula(task, groups, weights):
    """D ± t √(c (V + 2h²)), u of the differences; a group's rows are added up, weights count."""
    classes = task == "classes"
    y = Y if classes else X[:, 0] + X[:, 1] ** 2 + 0.3 * np.sin(7.0 * np.arange(N))
    models = (GaussianNB(), GaussianNB(var_smoothing=0.3)) if classes else (Ridge(1), Ridge(300))
    found = tr.compare(*estimates(*models, y=y, groups=groups, sample_weight=weights))
    told = by_hand(models, y, wrong if classes else squared, groups, weights)
    mean, u, c, plain, df = told
    assert found.value == pytest.approx(mean)
    assert found.details["instability"] == pytest.approx(u)
    assert found.details["factor"] == pytest.approx(c)
    shares = np.full(N, 1 / N) if weights is None else weights / weights.sum()
    unseen = 2 * (shares**2).mean() if classes else 0.0
    error = np.sqrt(c * (plain + unseen))
    assert found.std_error == pytest.approx(error)
    assert found.df == pytest.approx(df)
    low, high = mean + student.ppf([0.025, 0.975], df) * error
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert found.interval.method == ("paired-cv" if groups is None else "paired-cv-grouped")
    assert found.p_value == pytest.approx(2 * student.sf(abs(mean) / error, df))
    assert found.better == pytest.approx(student.cdf((-0.01 - mean) / error, df))
    assert found.worse == pytest.approx(student.sf((0.01 - mean) / error, df))


def test_paired_cv_turned_about_is_the_negative():
    a, b = estimates(*MODELS)
    one, other = tr.compare(a, b), tr.compare(b, a)
    assert (a - b) == one
    assert (one.value, one.interval.low) == pytest.approx((-other.value, -other.interval.high))
    assert (one.better, one.worse) == pytest.approx((other.worse, other.better))
    assert one.probability == pytest.approx(other.probability)


SCORES_OF_SETS = ("auc", "f1", "mcc", "balanced-accuracy")


@pytest.mark.parametrize("loss", [*SCORES_OF_SETS, "brier", "log", "cost"])
def test_paired_cv_compares_every_score(loss):
    """The value is the difference of the values, and what rows do to it adds up to it."""
    asked = tr.losses.Cost([[0, 1], [3, 0]]) if loss == "cost" else loss
    a, b = estimates(*MODELS, scoring=asked)
    found = a - b
    assert found.test == "paired-cv"
    assert found.value == pytest.approx(a.value - b.value)
    assert a.influences.losses @ a.influences.weights == pytest.approx(a.loss_value)
    assert found.interval.low < found.value < found.interval.high
    assert found.greater_is_better == a.greater_is_better == (loss in SCORES_OF_SETS)


def test_paired_cv_of_areas_is_close_to_delong():
    """Without the factor, of two fixed rankings: close to DeLong's error of paired areas."""
    rng, y = np.random.default_rng(0), np.arange(400) % 2
    signal = y + rng.normal(size=400)
    table = np.column_stack([signal + rng.normal(size=400), signal + 0.7 * rng.normal(size=400)])
    options = {"cv": tr.methods.Pairs("5-fold"), "scoring": "auc"}
    a, b = (
        tr.estimate_risk(make_pipeline(column, LinearDiscriminantAnalysis()), table, y, **options)
        for column in (ColumnTransformer([("one", "passthrough", [j])]) for j in range(2))
    )
    curves = [tr.RocCurve.from_scores(y, table[:, j]) for j in range(2)]
    delong = curves[0].minus(curves[1])
    independent = (a - b).details["error of independent rows"]
    assert independent == pytest.approx(delong.std_error, rel=0.1)


@pytest.mark.parametrize("cv", [PAIRS, "4-fold"])
def test_paired_cv_of_equal_answers_is_not_surely_zero(cv):
    """Labels: as if one more row each way told them apart; of other losses nothing is known."""
    alike = KNeighborsClassifier(5), KNeighborsClassifier(5)
    one, other = estimates(*alike, cv=cv)
    found = one - other
    factor = found.details["factor"]
    half = student.ppf(0.975, N / factor - 1) * np.sqrt(factor * 2) / N
    assert (found.interval.low, found.interval.high) == pytest.approx((-half, half))
    assert (found.value, found.p_value) == (0, 1)
    for loss in ("brier", "auc", "average-precision"):
        one, other = estimates(*alike, scoring=loss)
        none = one - other
        assert (none.interval, none.p_value, none.probability) == (None, None, None)
        assert none.notes[0].startswith("no row tells the two apart")


def test_paired_cv_without_pairs_takes_the_factor_of_one_drawing():
    """Splits that are no pairs are compared by their differences, unless it is asked for."""
    a, b = estimates(*MODELS, cv="6-fold")
    assert tr.compare(a, b).test == "nadeau-bengio"
    assert (a - b).interval == tr.compare(a, b, test="bayes").interval
    found = tr.compare(a, b, test="paired-cv")
    assert found.details["factor"] == 1.8
    assert "no models without a further fold" in found.assumed[0]
    twice = estimates(*MODELS, cv="2x3-fold")
    with pytest.raises(Refusal, match="tests rows repeatedly"):
        tr.compare(*twice, test="paired-cv")
    assert (twice[0] - twice[1]).test == "bayes"


@pytest.mark.parametrize(
    ("options", "test"),
    [
        ({"cv": "5-fold"}, "paired-cv"),
        ({"cv": "6-fold", "sample_weight": WEIGHTS}, "paired-cv"),
        ({"cv": "2x5-fold", "sample_weight": WEIGHTS}, "bayes"),
    ],
)
def test_minus_is_the_difference_of_the_values(options, test):
    a, b = estimates(GaussianNB(), GaussianNB(var_smoothing=1.0), **options)
    found = a - b
    assert (found.test, found.value) == (test, pytest.approx(a.value - b.value))
    assert (found.interval.low + found.interval.high) / 2 == pytest.approx(found.value)
    splits = tr.compare(a, b, test="bayes")
    assert splits.value != pytest.approx(found.value)
    if test == "bayes":
        assert found.std_error == splits.std_error
        assert "weighs all rows" in found.notes[0]


def search(model, grid=None, X=X, **options):
    given = {"cv": "5-fold", "scoring": ["zero-one", "auc"], **options}
    return tr.HonestSearchCV(model, grid, **given).fit(X, Y)


@pytest.fixture(scope="module")
def searches():
    """Two tuned learners, searched on the same rows."""
    return search(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}), search(GaussianNB())


def test_compare_of_searches_takes_their_honest_risks(searches):
    a, b = searches
    assert tr.compare(a, b) == tr.compare(a.risk_, b.risk_) == a.risk_ - b.risk_
    auc = tr.compare(a, b, score="auc")
    assert auc == tr.compare(a.scores_["auc"], b.scores_["auc"])
    assert auc.value == pytest.approx(a.scores_["auc"].value - b.scores_["auc"].value)
    with pytest.raises(TypeError):
        _ = a.risk_ - 0.1


@pytest.mark.parametrize(
    ("other", "options", "error", "message"),
    [
        (lambda: search(GaussianNB(), random_state=1), {}, Refusal, "different splits"),
        (lambda: search(GaussianNB(), X=X + 1), {}, Refusal, "of different data"),
        (lambda: search(GaussianNB(), outer=None), {}, MissingResult, "no risk_"),
        (lambda: tr.HonestSearchCV(GaussianNB()), {}, MissingResult, "before it is fitted"),
        (lambda: GridSearchCV(GaussianNB(), {}), {}, BadArgument, "GridSearchCV keeps no losses"),
        (lambda: search(GaussianNB()), {"score": "f1"}, UnknownName, "score='f1' was not asked"),
        (lambda: np.zeros(N), {}, UnknownName, "not one of each"),
        (lambda: search(GaussianNB()), {"test": "sharp"}, Refusal, "needs repeated halves"),
    ],
)
def test_compare_refuses_searches_that_do_not_pair(searches, other, options, error, message):
    with pytest.raises(error, match=message):
        tr.compare(searches[0], other(), **options)


def test_compare_of_stored_estimates_goes_by_splits(searches):
    """Influences are not written: the pairs are refused there, and the splits still compare."""
    usual = [one.risk_ for one in searches]
    again = [tr.RiskEstimate.from_json(one.to_json()) for one in usual]
    with pytest.raises(Refusal, match="read from a file"):
        tr.compare(*again, test="paired-cv")
    by_splits = tr.compare(*usual, test="nadeau-bengio")
    assert tr.compare(*again) == by_splits
    assert by_splits.value == pytest.approx(tr.compare(*usual).value, abs=0.01)  # 9 or 10 rows


def test_minus_without_a_formula_has_a_value_alone():
    """A score of scikit-learn that tells no influences: no interval, and the reason."""
    a, b = estimates(*MODELS, cv="4-fold", scoring="jaccard")
    found = a - b
    assert found.value == pytest.approx(a.value - b.value)
    assert (found.interval, found.probability) == (None, None)
    assert "no losses of single rows" in found.notes[0]


@pytest.mark.parametrize("loss", ["auc", "f1"])
def test_compare_takes_paired_cv_for_scores_without_row_losses(loss):
    """Of estimates and of searches by outer folds; what a file does not hold is told."""
    models = GaussianNB(), KNeighborsClassifier()
    a, b = estimates(*models, cv="5-fold", scoring=loss)
    assert tr.compare(a, b).test == "paired-cv"
    assert tr.compare(a, b).interval == tr.compare(a, b, test="paired-cv").interval
    outer = [search(model, scoring=loss, outer="5-fold") for model in models]
    assert tr.compare(*outer).test == "paired-cv"
    stored = [tr.RiskEstimate.from_json(risk.to_json()) for risk in (a, b)]
    with pytest.raises(Refusal, match="read from a file") as refused:
        tr.compare(*stored)
    assert "test='paired-cv'" not in str(refused.value)
