"""Problems that draw rows: their draws, their Bayes risks, and the true risks of rules."""

import pickle

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import ncx2
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from truerisk.datasets import (
    FieldProblem,
    FourClassProblem,
    GaussianProblem,
    KearnsProblem,
    make_colon2d,
    make_daily_load,
    make_difficult,
    make_field,
    make_four_class,
    make_highleyman,
    make_kearns,
    make_simple,
    make_sparse_gaussian,
    sparse_gaussian,
)
from truerisk.extend import BadData, Refusal
from truerisk.models import IntervalClassifier

TURNED = make_highleyman.rotated(45)
PLANE = [make_simple, make_difficult, make_highleyman, TURNED, make_colon2d]
PAIRED = FourClassProblem(correlation=0.7, paired=True)
FOUR_CLASSES = [make_four_class, FourClassProblem(0, 0.9), PAIRED]
DRAWN = [*PLANE, make_sparse_gaussian, *FOUR_CLASSES, make_kearns, make_daily_load, make_field]


@pytest.mark.parametrize("problem", [*DRAWN, FieldProblem(task="regression")])
def test_problem_draws_the_rows_of_its_seed(problem):
    (X, y), (same, labels), (other, _) = (problem(30, random_state=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(X, same)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, other)


@pytest.mark.parametrize(
    ("problem", "n_samples", "counts"),
    [
        (make_simple, 50, [25, 25]),
        (make_simple, 7, [4, 3]),
        (make_simple, (3, 9), [3, 9]),
        (make_simple, 2, [1, 1]),
        (make_four_class, 7, [2, 2, 2, 1]),
    ],
)
def test_problem_shares_rows_among_classes_and_mixes_them_unless_asked(problem, n_samples, counts):
    """The first classes get the odd rows."""
    X, y = problem(n_samples, random_state=1)
    ordered, labels = problem(n_samples, shuffle=False, random_state=1)
    assert np.bincount(y).tolist() == counts
    assert labels.tolist() == np.repeat(np.arange(len(counts)), counts).tolist()
    assert len(y) < 10 or y.tolist() != labels.tolist()
    for label in range(len(counts)):
        assert sorted(X[y == label].tolist()) == sorted(ordered[labels == label].tolist())


@pytest.mark.parametrize("problem", [*PLANE, make_sparse_gaussian, make_four_class, PAIRED])
def test_problem_draws_rows_with_the_moments_of_their_class(problem):
    X, y = problem(40_000, random_state=1)
    for label in np.unique(y):
        rows = X[y == label]
        covariance = np.array(getattr(problem, "covariance", None))
        if isinstance(problem, GaussianProblem):
            covariance = np.array(problem.covariances[label])
        spread = np.sqrt(np.diag(covariance))
        error = (rows.mean(axis=0) - problem.means[label]) / spread
        assert np.abs(error).max() < 4.5 / np.sqrt(len(rows))
        correlation = (np.cov(rows.T) - covariance) / np.outer(spread, spread)
        assert np.abs(correlation).max() < 4.5 * np.sqrt(2 / len(rows))


def test_colon2d_has_the_moments_of_two_genes():
    """Normal tissue first."""
    assert make_colon2d.means == ((1.2073, 0.7410), (0.0745, -0.0097))
    normal, tumour = ((0.3042, 0.0592), (0.0592, 0.1765)), ((0.2663, 0.1253), (0.1253, 0.1013))
    assert make_colon2d.covariances == (normal, tumour)


def test_difficult_is_the_stated_rotation():
    """Rows are Z [[1,-1],[1,1]]/sqrt(2) of variances (1, 40), means (3,3) apart."""
    turn = np.array([[1, -1], [1, 1]]) / np.sqrt(2)
    np.testing.assert_allclose(make_difficult.means[1], np.array([3, 3]) @ turn, atol=1e-12)
    expected = turn.T @ np.diag([1, 40]) @ turn
    np.testing.assert_allclose(make_difficult.covariances, [expected, expected])


# ---------------- Bayes risks


@pytest.mark.parametrize(
    ("problem", "distance", "within"),
    [
        (make_simple, 2.0, 1e-11),  # means 2 apart, variances 1
        (make_difficult, np.sqrt(9 + 9 / 40), 1e-11),  # which a rotation does not change
        (make_sparse_gaussian, 4.0, 1e-5),
        (sparse_gaussian(60), 4.0, 1e-5),  # with any number of noise features
    ],
)
def test_bayes_risk_of_one_covariance_is_phi_of_half_the_distance(problem, distance, within):
    assert problem.bayes_risk == pytest.approx(ndtr(-distance / 2), abs=within)


@pytest.mark.parametrize("problem", [*PLANE, make_four_class, PAIRED])
def test_bayes_rule_has_the_bayes_risk(problem):
    """Simulation and formula agree within four standard errors."""
    measured = problem.true_risk(problem.bayes_rule, n_test=40_000)
    assert 0 < measured.std_error < 0.003
    assert abs(measured.value - problem.bayes_risk) < 4 * measured.std_error
    assert measured.n_test == 40_000


@pytest.mark.parametrize(
    ("problem", "sides"),
    [
        # The second class of Highleyman has a standard deviation of .1: its axis is cut short.
        (make_highleyman, [(1, 3, 801), (-8, 8, 801)]),
        (make_colon2d, [(-3.5, 4.5, 641), (-3.5, 4.5, 641)]),
    ],
    ids=["highleyman", "colon-2d"],
)
def test_bayes_risk_is_half_the_overlap_of_the_densities(problem, sides):
    """A plain sum of the smaller density over a fine grid gives the same number."""
    axes = [np.linspace(*side) for side in sides]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    densities = []
    for mean, covariance in zip(problem.means, problem.covariances, strict=True):
        away = grid - np.array(mean)
        squared = np.einsum("abi,ij,abj->ab", away, np.linalg.inv(covariance), away)
        scale = 2 * np.pi * np.sqrt(np.linalg.det(covariance))
        densities.append(np.exp(-squared / 2) / scale)
    cell = np.prod([axis[1] - axis[0] for axis in axes])
    overlap = np.minimum(*densities).sum() * cell
    assert problem.bayes_risk == pytest.approx(overlap / 2, abs=1e-5)


def test_bayes_risk_of_highleyman_is_known_and_kept_by_rotation():
    assert make_highleyman.bayes_risk == pytest.approx(0.0554721408, abs=1e-9)
    assert TURNED.bayes_risk == pytest.approx(make_highleyman.bayes_risk, abs=1e-9)
    assert TURNED.covariances != make_highleyman.covariances


@pytest.mark.parametrize("variance", [4.0, 0.25, 1e-4, 1e-8])
def test_bayes_risk_of_round_classes_is_that_of_a_ball(variance):
    """Where both classes are round the border is a circle: two non-central chi-squares."""
    means = ((0.0, 0.0), (1.0, 0.5))
    round_ = ((variance, 0.0), (0.0, variance))
    problem = GaussianProblem("round", means, (make_simple.covariances[0], round_))
    # |x - m|^2 / v - |x|^2 + 2 log v = 0 is |x - c|^2 = radius
    squared, factor = 1.25, 1 / variance - 1
    away = 1 / (variance * factor)  # c = away * m
    radius = (away**2 * squared) - (squared / variance + 2 * np.log(variance)) / factor
    near = [
        ncx2.cdf(radius, 2, away**2 * squared),
        ncx2.cdf(radius / variance, 2, (away - 1) ** 2 * squared / variance),
    ]
    inside = near[0] + 1 - near[1]
    risk = inside / 2 if variance < 1 else 1 - inside / 2
    assert problem.bayes_risk == pytest.approx(risk, rel=1e-6, abs=1e-10)


def test_bayes_risk_with_one_idle_feature_is_that_of_the_other():
    """A second feature without information leaves N(0,1) against N(0,1/4)."""
    half = ((0.25, 0.0), (0.0, 1.0))
    problem = GaussianProblem("idle", ((0.0, 0.0), (0.0, 0.0)), (make_simple.covariances[0], half))
    border = np.sqrt(np.log(4) / 3)  # x^2 / 2 - 2 x^2 + log 2 = 0
    risk = (2 * ndtr(border) - 1 + 2 * ndtr(-2 * border)) / 2
    assert problem.bayes_risk == pytest.approx(risk, abs=1e-11)


def test_bayes_risk_is_continuous_where_covariances_become_equal():
    nearly = ((1.0 + 1e-7, 0.0), (0.0, 1.0))
    problem = GaussianProblem("near", make_simple.means, (make_simple.covariances[0], nearly))
    assert problem.bayes_risk == pytest.approx(make_simple.bayes_risk, abs=1e-6)


# ---------------- true risks of rules


@pytest.mark.parametrize("problem", PLANE)
def test_true_risk_linear_is_the_measured_risk_of_that_rule(problem):
    """Also of many rules at once; one that says the same everywhere is wrong for one class."""
    slopes = np.array([[1.0, -0.4], [-2.0, 0.1], [0.0, 0.0], [0.0, 0.0]])
    starts = np.array([-0.7, 1.0, 0.0, 3.0])
    risks = problem.true_risks_linear(slopes, starts)
    assert risks.tolist() == [problem.true_risk_linear(*one) for one in zip(slopes, starts)]
    assert risks[2:].tolist() == [0.5, 0.5]
    assert len(set(risks)) == 3
    for coef, intercept, exact in zip(slopes[:2], starts, risks):
        measured = problem.true_risk(lambda X, a=coef, b=intercept: X @ a + b > 0)
        assert abs(measured.value - exact) < 4 * measured.std_error
    unknown = problem.true_risks_linear(np.array([[np.nan, 1.0], [np.inf, 1.0]]), np.zeros(2))
    assert np.isnan(unknown).all()


def test_true_risk_linear_of_the_best_rules_is_the_bayes_risk():
    """x1 > 1 of 'simple'; of sparse classes each pair of features has a distance of its own."""
    assert make_simple.true_risk_linear([1, 0], -1) == pytest.approx(make_simple.bayes_risk)
    assert make_simple.true_risk_linear([-1, 0], 1) == pytest.approx(1 - make_simple.bayes_risk)
    pair = np.linalg.solve([[1, 0.6], [0.6, 1]], [1.2095, 0.0])
    best = np.r_[np.tile(pair, 7), np.zeros(6)]
    assert make_sparse_gaussian.true_risk_linear(best, 0.0) == pytest.approx(ndtr(-2), abs=1e-5)


def test_true_risk_of_a_classifier_is_that_of_its_coefficients():
    model = LinearDiscriminantAnalysis().fit(*make_simple(50, random_state=0))
    exact = make_simple.true_risk_linear(model.coef_, model.intercept_)
    measured = make_simple.true_risk(model)
    assert make_simple.bayes_risk < exact < 0.2
    assert abs(measured.value - exact) < 4 * measured.std_error
    assert measured.n_test == 100_000


@pytest.mark.parametrize(
    ("problem", "n_asked", "n_test", "risk"),
    [(make_simple, 25_001, 25_001, 0.5), (make_four_class, 40_001, 40_004, 0.75)],
)
def test_true_risk_asks_about_every_test_row_once_in_pieces(problem, n_asked, n_test, risk):
    """Of four classes each has as many rows."""
    seen = []

    def rule(X):
        seen.append(len(X))
        return np.zeros(len(X))

    measured = problem.true_risk(rule, n_test=n_asked)
    assert (sum(seen), max(seen)) == (n_test, 10_000)
    assert (measured.value, measured.std_error, measured.n_test) == (risk, 0, n_test)


# ---------------- four classes around a tetrahedron


@pytest.mark.parametrize("problem", FOUR_CLASSES)
def test_four_classes_are_equally_far_from_each_other(problem):
    """In the metric of the common covariance, whatever the correlation."""
    inverse = np.linalg.inv(problem.covariance)
    gaps = [problem.means[c] - problem.means[d] for c in range(4) for d in range(c)]
    assert np.sqrt([gap @ inverse @ gap for gap in gaps]) == pytest.approx(problem.distance)


def test_four_classes_in_pairs_have_features_that_tell_nothing_alone():
    """Means of 0, and the stated correlation with their likes alone."""
    assert not PAIRED.means[:, [3, 4, 5, 9, 10, 11]].any()
    likes = np.argwhere(np.triu(PAIRED.covariance, 1) == 0.7)
    assert likes.tolist() == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8, 11]]
    without = np.delete(PAIRED.means[1] - PAIRED.means[0], [3, 4, 5, 9, 10, 11])
    assert np.sqrt(without @ without) < PAIRED.distance - 0.5
    assert make_four_class.with_noise_features(2)(7)[0].shape == (7, 17)


# ---------------- Kearns' intervals


def test_kearns_labels_alternate_and_a_share_of_them_is_wrong():
    X, y = make_kearns.with_noise(0)(1000, random_state=1)
    np.testing.assert_array_equal(y, np.floor(10 * X[:, 0]).astype(int) % 2)
    X, y = make_kearns(20_000, random_state=2)
    wrong = (y != make_kearns.bayes_rule(X)).mean()
    assert abs(wrong - 0.2) < 3.5 * np.sqrt(0.16 / 20_000)
    assert make_kearns.bayes_risk == 0.2


THREE = KearnsProblem(noise=0, n_intervals=3)  # an odd number of intervals ends with a zero
ENDS, LABELS = np.arange(1, 10) / 10, np.arange(10) % 2


@pytest.mark.parametrize(
    ("problem", "ends", "labels", "risk"),
    [
        (make_kearns, ENDS, LABELS, 0.2),
        (make_kearns, ENDS, 1 - LABELS, 0.8),
        (make_kearns, [], [0], 0.5),
        (THREE, [1 / 3, 2 / 3], [0, 1, 0], 0),
    ],
)
def test_kearns_risk_of_intervals_is_exact(problem, ends, labels, risk):
    """Right everywhere costs the noise, wrong everywhere 1 − noise, a constant one half."""
    assert problem.true_risk_intervals(ends, labels) == pytest.approx(risk)
    assert THREE.target([0, 0.5, 1]).tolist() == [0, 1, 0]


def test_kearns_risk_of_a_fitted_rule_is_the_measured_one():
    rule = IntervalClassifier(k=12).fit(*make_kearns(60, random_state=4))
    exact, measured = make_kearns.true_risk(rule), make_kearns.true_risk(rule.predict)
    assert exact.std_error == 0
    assert abs(exact.value - measured.value) < 3.5 * measured.std_error


def test_kearns_share_of_ones_adds_up():
    """Half of [0, 1]; ends outside count to its edge."""
    ends = np.sort(np.random.default_rng(5).random(30))
    assert make_kearns.share_of_ones(ends).sum() == pytest.approx(0.5)
    assert make_kearns.share_of_ones([0.05, 0.15, 0.25]) == pytest.approx([0, 0.05, 0.05, 0.4])
    assert make_kearns.share_of_ones([-1, 2]) == pytest.approx([0, 0.5, 0])


# ---------------- values and refusals


def test_problem_pickles_compares_and_hashes_by_what_it_says():
    copy = pickle.loads(pickle.dumps(make_highleyman))
    assert copy == make_highleyman
    assert hash(copy) == hash(make_highleyman)
    assert copy != make_simple


EYES = [tuple(map(tuple, (size * np.eye(3)).tolist())) for size in (1, 2)]
SOLID = GaussianProblem("solid", ((0.0,) * 3, (1.0,) * 3), tuple(EYES))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: make_simple(1), BadData, "n_samples=1: give at least 2"),
        (lambda: make_simple((0, 4)), BadData, r"n_samples=\(0, 4\)"),
        (lambda: make_simple.true_risk_linear([1, 2, 3], 0), BadData, "coef has 3 entries and sim"),
        (lambda: SOLID.bayes_risk, Refusal, "3 features with unequal covariances.*true_risk"),
        (lambda: SOLID.rotated(10), BadData, "solid has 3 features; only a plane is rotated"),
        (lambda: sparse_gaussian(-1), BadData, "no number of features"),
        (lambda: FourClassProblem(n_noise=-1), BadData, "n_noise=-1: it is no number of features"),
        (lambda: FourClassProblem(correlation=1.0), BadData, "not in 0 <= correlation < 1"),
        (lambda: FourClassProblem(paired="yes"), BadData, "paired='yes': use True or False"),
        (lambda: make_four_class(3), BadData, "n_samples=3: give at least 4"),
        (lambda: KearnsProblem(noise=0.6), BadData, "no share of wrong labels"),
        (lambda: KearnsProblem(n_intervals=0), BadData, "at least one interval"),
        (lambda: make_kearns(0), BadData, "n_samples=0: a whole number"),
        (lambda: make_kearns.true_risk_intervals([0.5], [0]), BadData, "make 2 intervals"),
        (lambda: make_kearns.true_risk_intervals([0.5], [0, 2]), BadData, "0 or 1"),
        (lambda: make_kearns.true_risk_intervals([0.5, 0.1], [0, 1, 0]), BadData, "ascending"),
    ],
)
def test_problem_refuses_what_it_cannot_draw_or_compute(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
