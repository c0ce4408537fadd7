"""Two Gaussian classes: draws, the Bayes risk, also of unequal covariances, true risks of rules."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from truerisk.core.errors import BadData, Refusal
from truerisk.datasets import make_difficult, make_highleyman, make_simple
from truerisk.datasets.gaussian import GaussianProblem

PROBLEMS = [make_simple, make_difficult, make_highleyman, make_highleyman.rotated(45)]
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)


@each_problem
def test_the_same_seed_draws_the_same_rows(problem: GaussianProblem) -> None:
    """A seed fixes rows and labels; another seed draws others."""
    X, y = problem(30, random_state=4)
    again = problem(30, random_state=4)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert not np.array_equal(X, problem(30, random_state=5)[0])


@pytest.mark.parametrize(
    ("n_samples", "counts"), [(50, [25, 25]), (7, [4, 3]), ((3, 9), [3, 9]), (2, [1, 1])]
)
def test_classes_share_the_rows(n_samples: int | tuple[int, int], counts: list[int]) -> None:
    """A total is halved, class 0 gets the odd row, a pair is taken as it is."""
    X, y = make_simple(n_samples, random_state=0)
    assert np.bincount(y).tolist() == counts
    assert X.shape == (sum(counts), 2)


def test_rows_are_mixed_unless_asked_otherwise() -> None:
    """`shuffle=False` gives the same rows with class 0 first."""
    X, y = make_simple(20, random_state=0)
    ordered, labels = make_simple(20, shuffle=False, random_state=0)
    assert labels.tolist() == [0] * 10 + [1] * 10
    assert y.tolist() != labels.tolist()
    assert sorted(X[y == 1].tolist()) == sorted(ordered[10:].tolist())


@each_problem
def test_rows_have_the_stated_moments(problem: GaussianProblem) -> None:
    """Means and covariances of 20,000 rows per class are those of the problem."""
    X, y = problem(40_000, random_state=1)
    for label in (0, 1):
        rows = X[y == label]
        spread = np.sqrt(np.diag(problem.covariances[label]))
        error = (rows.mean(axis=0) - problem.means[label]) / spread
        assert np.abs(error).max() < 4 / np.sqrt(20_000)
        correlation = (np.cov(rows.T) - problem.covariances[label]) / np.outer(spread, spread)
        assert np.abs(correlation).max() < 4 * np.sqrt(2 / 20_000)


@each_problem
def test_the_bayes_rule_has_the_bayes_risk(problem: GaussianProblem) -> None:
    """Simulation and formula agree within four standard errors."""
    measured = problem.true_risk(problem.bayes_rule)
    assert 0 < measured.std_error < 0.002
    assert abs(measured.value - problem.bayes_risk) < 4 * measured.std_error


@each_problem
def test_a_linear_rule_has_its_exact_risk(problem: GaussianProblem) -> None:
    """The exact risk of a linear rule is within four standard errors of the measured one."""
    coef, intercept = np.array([1.0, -0.4]), -0.7
    measured = problem.true_risk(lambda X: X @ coef + intercept > 0)
    exact = problem.true_risk_linear(coef, intercept)
    assert 0.05 < exact < 0.95
    assert abs(measured.value - exact) < 4 * measured.std_error


@each_problem
def test_many_linear_rules_have_their_risks_at_once(problem: GaussianProblem) -> None:
    """Each its own; a rule that says the same everywhere is wrong for one class."""
    slopes = np.array([[1.0, -0.4], [-2.0, 0.1], [0.0, 0.0], [0.0, 0.0]])
    starts = np.array([-0.7, 1.0, 0.0, 3.0])
    risks = problem.true_risks_linear(slopes, starts)
    assert risks.tolist() == [problem.true_risk_linear(*one) for one in zip(slopes, starts)]
    assert risks[2:].tolist() == [0.5, 0.5]
    assert len(set(risks)) == 3
    slopes = np.array([[np.nan, 1.0], [np.inf, 1.0]])
    unknown = problem.true_risks_linear(slopes, np.zeros(2))
    assert np.isnan(unknown).all()


def test_a_fitted_classifier_is_measured_like_its_coefficients() -> None:
    """A fitted linear classifier goes in as it is, or by its coefficients, exactly."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = make_simple(50, random_state=0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    exact = make_simple.true_risk_linear(model.coef_, model.intercept_)
    measured = make_simple.true_risk(model)
    assert make_simple.bayes_risk < exact < 0.2
    assert abs(measured.value - exact) < 4 * measured.std_error
    assert measured.n_test == 100_000


def test_every_test_row_is_asked_once() -> None:
    """The rule sees n_test rows, half of each class, in pieces that fit in memory."""
    seen: list[int] = []

    def rule(X: np.ndarray) -> np.ndarray:
        seen.append(len(X))
        return np.zeros(len(X))

    measured = make_simple.true_risk(rule, n_test=25_001)
    assert (sum(seen), max(seen)) == (25_001, 10_000)
    assert (measured.value, measured.std_error, measured.n_test) == (0.5, 0, 25_001)


def test_a_problem_is_a_value() -> None:
    """A generator pickles, compares and hashes by what it says."""
    copy = pickle.loads(pickle.dumps(make_highleyman))
    assert copy == make_highleyman
    assert hash(copy) == hash(make_highleyman)
    assert copy != make_simple


def test_what_cannot_be_drawn_or_computed_is_refused() -> None:
    """Too few rows, the wrong number of coefficients, three features with unequal covariances."""
    with pytest.raises(BadData, match=r"n_samples=1: give at least 2"):
        make_simple(1)
    with pytest.raises(BadData, match=r"n_samples=\(0, 4\)"):
        make_simple((0, 4))
    with pytest.raises(BadData, match=r"coef has 3 entries and simple has 2 features"):
        make_simple.true_risk_linear([1, 2, 3], 0)
    eye = tuple(tuple(row) for row in np.eye(3).tolist())
    double = tuple(tuple(row) for row in (2 * np.eye(3)).tolist())
    solid = GaussianProblem("solid", ((0.0,) * 3, (1.0,) * 3), (eye, double))
    with pytest.raises(Refusal, match=r"3 features with unequal covariances.*true_risk"):
        _ = solid.bayes_risk
    with pytest.raises(BadData, match=r"solid has 3 features; only a plane is rotated"):
        solid.rotated(10)


@pytest.mark.parametrize("variance", [4.0, 0.25, 1e-4, 1e-8])
def test_bayes_risk_of_round_classes_is_that_of_a_ball(variance: float) -> None:
    """Where both classes are round the border is a circle: two non-central chi-squares."""
    from scipy.stats import ncx2

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


def test_bayes_risk_with_one_idle_feature_is_that_of_the_other() -> None:
    """A second feature without information leaves N(0,1) against N(0,1/4)."""
    from scipy.special import ndtr

    half = ((0.25, 0.0), (0.0, 1.0))
    problem = GaussianProblem("idle", ((0.0, 0.0), (0.0, 0.0)), (make_simple.covariances[0], half))
    border = np.sqrt(np.log(4) / 3)  # x^2 / 2 - 2 x^2 + log 2 = 0
    risk = (2 * ndtr(border) - 1 + 2 * ndtr(-2 * border)) / 2
    assert problem.bayes_risk == pytest.approx(risk, abs=1e-11)


def test_quadratic_and_linear_formulas_meet() -> None:
    """Covariances that differ by nothing to speak of have the risk of equal ones."""
    nearly = ((1.0 + 1e-7, 0.0), (0.0, 1.0))
    problem = GaussianProblem("near", make_simple.means, (make_simple.covariances[0], nearly))
    assert problem.bayes_risk == pytest.approx(make_simple.bayes_risk, abs=1e-6)
