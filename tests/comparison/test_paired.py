"""Rows paired in cross-validation: the formula by plain loops, its limits, and what it refuses."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument, MissingResult, Refusal, UnknownName

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
def test_it_is_the_formula(task, groups, weights):
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


def test_the_other_way_round_is_the_negative():
    """Interval and probabilities turn about with the sign; minus is compare."""
    a, b = estimates(*MODELS)
    one, other = tr.compare(a, b), tr.compare(b, a)
    assert one.value == -other.value
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert (one.better, one.worse) == pytest.approx((other.worse, other.better))
    assert one.probability == pytest.approx(other.probability)
    assert (a - b) == one


SCORES_OF_SETS = ("auc", "f1", "mcc", "balanced-accuracy")


@pytest.mark.parametrize("loss", [*SCORES_OF_SETS, "brier", "log", "cost"])
def test_every_score_has_a_difference(loss):
    """The value is the difference of the values, and what rows do to it adds up to it."""
    asked = tr.losses.Cost([[0, 1], [3, 0]]) if loss == "cost" else loss
    a, b = estimates(*MODELS, scoring=asked)
    found = a - b
    assert found.test == "paired-cv"
    assert found.value == pytest.approx(a.value - b.value)
    assert a.influences.losses @ a.influences.weights == pytest.approx(a.loss_value)
    assert found.interval.low < found.value < found.interval.high
    assert found.greater_is_better == a.greater_is_better == (loss in SCORES_OF_SETS)


def test_areas_vary_as_the_formula_of_delong_says():
    """Without the factor, of two fixed rankings: close to DeLong's error of paired areas."""
    rng = np.random.default_rng(0)
    n = 400
    y = np.arange(n) % 2
    signal = y + rng.normal(size=n)
    table = np.column_stack([signal + rng.normal(size=n), signal + 0.7 * rng.normal(size=n)])
    risks = [
        tr.estimate_risk(LinearDiscriminantAnalysis(), table[:, [j]], y, cv=PAIRS_5, scoring="auc")
        for j in range(2)
    ]
    from truerisk.comparison.paired import Spread

    curves = [tr.RocCurve.of(y, table[:, j]) for j in range(2)]
    delong = curves[0].minus(curves[1])
    mean = risks[0].loss_value - risks[1].loss_value
    spread = Spread.of(risks[0].influences, risks[1].influences, mean)
    assert np.sqrt(spread.plain) == pytest.approx(delong.std_error, rel=0.1)


PAIRS_5 = tr.methods.Pairs("5-fold")


def test_learners_that_answer_alike_are_not_surely_alike():
    """Labels: as if one more row each way told them apart; of other losses nothing is known."""
    alike = KNeighborsClassifier(5), KNeighborsClassifier(5)
    found = tr.compare(*estimates(*alike))
    half = student.ppf(0.975, N / 1.6 - 1) * np.sqrt(1.6 * 2) / N
    assert (found.value, found.interval.high) == pytest.approx((0.0, half))
    for loss in ("brier", "auc", "average-precision"):
        one, other = estimates(*alike, scoring=loss)
        none = one - other
        assert (none.interval, none.p_value, none.probability) == (None, None, None)
        (note,) = none.notes
        assert note.startswith(
            "no row tells the two apart: every row has the same loss under both, or "
        )
        assert note.endswith("Without a spread there is no interval and no p-value.")


@pytest.mark.parametrize("method", ["4-fold", "pairs"])
def test_errors_that_are_alike_have_an_interval_about_0(method):
    """Without pairs, too, where splits that all differ by 0 have no spread."""
    one, other = estimates(KNeighborsClassifier(5), KNeighborsClassifier(5), cv=method)
    found = one - other
    factor = found.details["factor"]
    half = student.ppf(0.975, N / factor - 1) * np.sqrt(factor * 2) / N
    assert (found.interval.low, found.interval.high) == pytest.approx((-half, half))
    assert found.p_value == 1


def test_without_pairs_the_factor_is_that_of_one_drawing():
    """Splits that are no pairs are compared by their differences, unless it is asked for."""
    a, b = estimates(*MODELS, cv="6-fold")
    assert tr.compare(a, b).test == "nadeau-bengio"
    assert (a - b).interval == tr.compare(a, b, test="bayes").interval
    found = tr.compare(a, b, test="paired-cv")
    assert found.details["factor"] == 1.8
    assert "no models without a further fold" in found.assumed[0]


@pytest.mark.parametrize(
    ("options", "test"),
    [
        ({"cv": "5-fold"}, "paired-cv"),
        ({"cv": "6-fold", "sample_weight": WEIGHTS}, "paired-cv"),
        ({"cv": "2x5-fold", "sample_weight": WEIGHTS}, "bayes"),
    ],
)
def test_the_value_is_the_difference_of_the_values(options, test):
    """Also where splits weigh rows otherwise: unequal folds, and weights."""
    a, b = estimates(GaussianNB(), GaussianNB(var_smoothing=1.0), **options)
    found = a - b
    assert (found.test, found.value) == (test, pytest.approx(a.value - b.value))
    assert (found.interval.low + found.interval.high) / 2 == pytest.approx(found.value)
    splits = tr.compare(a, b, test="bayes")
    assert splits.value != pytest.approx(found.value)
    if test == "bayes":
        assert found.std_error == splits.std_error
        assert "weighs all rows" in found.notes[0]


def search(model, grid=None, **options):
    given = {"cv": "5-fold", "scoring": ["zero-one", "auc"], **options}
    return tr.HonestSearchCV(model, grid, **given).fit(X, Y)


@pytest.fixture(scope="module")
def searches():
    """Two tuned learners, searched on the same rows."""
    return search(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}), search(GaussianNB())


def test_searches_are_compared_by_their_honest_risks(searches):
    """As the estimates of the whole procedures; a score by its name; the usual tests as well."""
    a, b = searches
    assert tr.compare(a, b) == tr.compare(a.risk_, b.risk_) == a.risk_ - b.risk_
    auc = tr.compare(a, b, score="auc")
    assert auc == tr.compare(a.scores_["auc"], b.scores_["auc"])
    assert auc.value == pytest.approx(a.scores_["auc"].value - b.scores_["auc"].value)
    for test in ("nadeau-bengio", "bayes", "mcnemar"):
        usual = tr.compare(a, b, test=test)  # folds of 9 and 10 rows count alike there
        assert usual.value == pytest.approx(tr.compare(a, b).value, abs=0.01)


@pytest.mark.parametrize(
    ("other", "options", "error", "message"),
    [
        (lambda: search(GaussianNB(), random_state=1), {}, Refusal, "different splits"),
        (lambda: search(GaussianNB(), cv="4-fold"), {}, Refusal, "different splits"),
        (lambda: search(GaussianNB(), scoring="brier"), {}, Refusal, "losses differ"),
        (lambda: search(GaussianNB(), outer=None), {}, MissingResult, "no risk_"),
        (lambda: tr.HonestSearchCV(GaussianNB()), {}, MissingResult, "before it is fitted"),
        (lambda: GridSearchCV(GaussianNB(), {}), {}, BadArgument, "GridSearchCV keeps no losses"),
        (lambda: search(GaussianNB()), {"score": "f1"}, UnknownName, "score='f1' was not asked"),
        (lambda: np.zeros(N), {}, UnknownName, "not one of each"),
        (lambda: search(GaussianNB()), {"test": "sharp"}, Refusal, "needs repeated halves"),
    ],
)
def test_searches_that_do_not_pair_are_refused(searches, other, options, error, message):
    """Other splits, losses, scores, and what holds no honest risk; the difference is named."""
    with pytest.raises(error, match=message):
        tr.compare(searches[0], other(), **options)


def test_other_rows_are_refused(searches):
    """A search on other rows has another fingerprint."""
    other = tr.HonestSearchCV(GaussianNB(), cv="5-fold").fit(X[::-1] + 1, Y)
    with pytest.raises(Refusal, match="of different data"):
        tr.compare(searches[0], other)
    with pytest.raises(Refusal, match="of different data"):
        _ = searches[0].risk_ - other.risk_
    with pytest.raises(TypeError):
        _ = searches[0].risk_ - 0.1


def test_what_a_file_holds_is_compared_by_splits(searches):
    """Influences are not written: the pairs are refused there, and the splits still compare."""
    again = [tr.RiskEstimate.from_json(one.risk_.to_json()) for one in searches]
    with pytest.raises(Refusal, match="read from a file"):
        tr.compare(*again, test="paired-cv")
    assert tr.compare(*again).test == "nadeau-bengio"


def test_rows_that_are_tested_repeatedly_are_refused():
    """Several drawings of the folds have no such rule; splits compare them."""
    a, b = estimates(*MODELS, cv="2x3-fold")
    with pytest.raises(Refusal, match="tests rows repeatedly"):
        tr.compare(a, b, test="paired-cv")
    assert (a - b).test == "bayes"


def test_losses_alone_do_not_say_how_they_move():
    """Arrays have no models without a further fold; a score is none of theirs."""
    with pytest.raises(Refusal, match="losses alone"):
        tr.compare(np.zeros(9), np.ones(9), folds=np.arange(9) % 3, test="paired-cv")
    with pytest.raises(UnknownName, match="not of losses"):
        tr.compare(np.zeros(9), np.ones(9), folds=np.arange(9) % 3, score="auc")


def test_what_no_formula_knows_has_a_value_alone():
    """A score of scikit-learn that tells no influences: no interval, and the reason."""
    a, b = estimates(*MODELS, cv="4-fold", scoring="jaccard")
    found = a - b
    assert found.value == pytest.approx(a.value - b.value)
    assert (found.interval, found.probability) == (None, None)
    assert "no losses of single rows" in found.notes[0]


@pytest.mark.parametrize("loss", ["auc", "f1"])
def test_compare_takes_paired_cv_by_itself_for_scores_without_row_losses(loss):
    """Of estimates and of searches by outer folds; what a file does not hold is told."""
    X, y = tr.datasets.make_difficult(80, random_state=0)
    a, b = (tr.estimate_risk(m, X, y, scoring=loss) for m in (GaussianNB(), KNeighborsClassifier()))
    assert tr.compare(a, b).test == "paired-cv"
    assert tr.compare(a, b).interval == tr.compare(a, b, test="paired-cv").interval
    searches = [
        tr.HonestSearchCV(m, grid, scoring=loss, outer="5-fold").fit(X, y)
        for m, grid in (
            (GaussianNB(), {"var_smoothing": [1e-9, 1.0]}),
            (KNeighborsClassifier(), {"n_neighbors": [3, 9]}),
        )
    ]
    assert tr.compare(*searches).test == "paired-cv"
    stored = [tr.RiskEstimate.from_json(risk.to_json()) for risk in (a, b)]
    with pytest.raises(Refusal, match="read from a file") as refused:
        tr.compare(*stored)
    assert "test='paired-cv'" not in str(refused.value)
