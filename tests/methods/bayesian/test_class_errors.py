"""Class errors: the document's numbers, Monte Carlo over whole posteriors, tails beyond doubles."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, ndtr, stdtr
from scipy.stats import invwishart

from truerisk.methods.bayesian.class_errors import (
    ClassErrors,
    improper_class_errors,
    proper_class_errors,
)

MINUS = np.array([(0, 0), (1, 2), (2, 1), (-1, 1)], dtype=float)
PLUS = np.array([(3, 2), (2, 4), (4, 3)], dtype=float)
SLOPE, START = np.array([1.0, 0.5]), -2.5
SIZE = 20_000


def of_rows(prior, rows, slope, start, sign):
    """The posterior of one rule."""
    given = (rows @ slope + start)[None], np.array([start]), np.array([slope @ slope]), sign
    if prior == "proper":
        return proper_class_errors(*given)
    chosen = slope != 0
    trace = ((rows - rows.mean(axis=0)) ** 2)[:, chosen].sum()
    return improper_class_errors(
        *given, traces=np.array([trace]), n_selected=np.array([chosen.sum()])
    )


@pytest.mark.parametrize(
    ("prior", "sign", "mean", "second"),
    [
        ("improper", -1, 0.071062179600, 0.0115036358),
        ("improper", 1, 0.017143853235, 0.0018729424),
        ("proper", -1, 0.109990606765, 0.0233522000),
        ("proper", 1, 0.209572087443, 0.0677707836),
    ],
)
def test_class_errors_have_the_golden_moments(prior, sign, mean, second):
    """Means and second moments of both priors on seven rows; the length of β does not matter."""
    rows = MINUS if sign < 0 else PLUS
    for factor in (1.0, 1e-8, 1e8):
        found = of_rows(prior, rows, factor * SLOPE, factor * START, sign)
        assert found.mean()[0] == pytest.approx(mean, abs=5e-13)
        assert found.second_moment()[0] == pytest.approx(second, abs=5e-11)


def agrees(found, errors):
    """Return True if both moments are those of drawn errors, within 3 standard errors."""
    moments = np.array([found.mean()[0], found.second_moment()[0]])
    samples = np.stack([errors, errors**2])
    noise = samples.std(axis=1) / np.sqrt(errors.size)
    return (np.abs(samples.mean(axis=1) - moments) < 3 * noise).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sign", [-1, 1])
def test_class_errors_of_the_proper_prior_are_drawn_posteriors(seed, sign):
    """Of (mean, covariance) from the matrix posterior."""
    rng = np.random.default_rng([seed, sign + 1])
    n, p = rng.integers(1, 7), rng.integers(1, 5)
    rows, slope, start = rng.normal(size=(n, p)), rng.normal(size=p), rng.normal()
    mean = rows.mean(axis=0)
    scatter = (rows - mean).T @ (rows - mean)
    scale = scatter + np.eye(p) + 0.5 * n / (n + 0.5) * np.outer(mean, mean)
    drawn = invwishart(df=p + 2 + n, scale=scale).rvs(SIZE, random_state=rng).reshape(SIZE, p, p)
    around = (np.linalg.cholesky(drawn) @ rng.normal(size=(SIZE, p, 1)))[:, :, 0]
    means = n * mean / (n + 0.5) + around / np.sqrt(n + 0.5)
    spread = np.sqrt(np.einsum("i,sij,j->s", slope, drawn, slope))
    errors = ndtr(-sign * (means @ slope + start) / spread)
    assert agrees(of_rows("proper", rows, slope, start, sign), errors)


@pytest.mark.parametrize("seed", range(4))
def test_class_errors_of_the_improper_prior_are_drawn_posteriors(seed):
    """One variance for the selected features, σ² ~ IG(α, tr/2), μ ~ N(mean, σ²/n)."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(2, 7), rng.integers(2, 5)
    rows, slope, start = rng.normal(size=(n, p)), rng.normal(size=p), rng.normal()
    slope[0] = 0.0
    d, trace = p - 1, ((rows - rows.mean(axis=0)) ** 2)[:, 1:].sum()
    variance = trace / 2 / rng.gamma(d * (n + d + 1) / 2 - 1, size=SIZE)
    length = np.linalg.norm(slope)
    scores = rows.mean(axis=0) @ slope + start
    scores = scores + length * np.sqrt(variance / n) * rng.normal(size=SIZE)
    errors = ndtr(-scores / (length * np.sqrt(variance)))
    assert agrees(of_rows("improper", rows, slope, start, 1), errors)


@pytest.mark.parametrize("prior", ["proper", "improper"])
@pytest.mark.parametrize(("start", "said"), [(2.0, 1), (-2.0, -1), (0.0, -1)])
def test_class_errors_of_a_rule_without_coefficients_are_sure(prior, start, said):
    """It is right on one class and wrong on the other; on the boundary it says the first."""
    for sign, rows in ((-1, MINUS), (1, PLUS)):
        found = of_rows(prior, rows, np.zeros(2), start, sign)
        assert found.mean()[0] == (said != sign)
        assert found.variance()[0] == 0
        assert found.is_certain[0]


def test_class_errors_of_one_row_have_a_proper_posterior():
    found = of_rows("proper", PLUS[:1], SLOPE, START, 1)
    assert found.mean()[0] == pytest.approx(stdtr(4, found.mean_quantile[0]))
    assert 0 < found.mean()[0] < 1


def with_freedom(alpha, h, nu):
    return ClassErrors(np.full(len(h), alpha), np.full(len(h), alpha), np.full(len(h), nu), h)


NEAR = -np.r_[-20, -4, -1, -0.1, -1e-3, -1e-7, 0, 1e-5, 0.3, 2, 9]
FAR = np.array([0.24, 0.26, 0.999, 1.0, 1.5, 3.0, 8.0])


def tail_of_t(alpha, h):
    return stdtr(2 * alpha, -h)


def tail_of_beta(alpha, h):
    """Compute the same tail as `tail_of_t`, for h above 0 only, but to the last digits."""
    return 0.5 * betainc(alpha, 0.5, 2 * alpha / (2 * alpha + h**2))


@pytest.mark.parametrize(
    ("alpha", "h", "nu", "tail", "within"),
    [
        *(
            pytest.param(alpha, NEAR, 1e12, tail_of_t, 1e-9, id=f"both sides {alpha}")
            for alpha in (1.0, 2.5, 20.0, 300.0, 1e5)
        ),
        *(
            pytest.param(alpha, FAR, 1e15, tail_of_beta, 2e-12, id=f"fewer nodes {alpha}")
            for alpha in (2.0, 7.5, 8.0, 51.5, 2000.0)
        ),
    ],
)
def test_class_errors_have_the_mean_of_students_t(alpha, h, nu, tail, within):
    """The mean is the tail probability of Student's t with 2α degrees of freedom.

    The cases lie on both sides of h = 0 and next to it. The other cases lie on both sides of the
    points at which the quadrature nodes change; each entry has 12 correct digits.
    """
    np.testing.assert_allclose(with_freedom(alpha, h, nu).mean(), tail(alpha, h), rtol=within)


def test_class_errors_joined_have_the_moments_that_each_has():
    parts = [of_rows("proper", rows, SLOPE, START, s) for rows, s in ((MINUS, -1), (PLUS, 1))]
    both = ClassErrors.concatenate(parts)
    assert both.mean().tolist() == [float(part.mean()[0]) for part in parts]
    each = [float(part.variance()[0]) for part in parts]
    np.testing.assert_allclose(both.variance(), each, rtol=1e-11)  # sums of other lengths


@pytest.mark.parametrize(
    ("alpha", "nu", "t"), [(2.0, 1.5, 0.4), (3.5, 4.0, -0.7), (20.0, 9.0, 0.2)]
)
def test_class_errors_have_the_second_moment_of_a_bivariate_t(alpha, nu, t):
    """Against quadrature over G of E[Φ(−W)² | G], itself by quadrature over Z."""
    z, weight = np.polynomial.hermite_e.hermegauss(60)

    def density(g):
        return np.exp((alpha - 1) * np.log(g) - g)

    def given(g):
        return ndtr(-(t * np.sqrt(g) + z / np.sqrt(nu))) ** 2 @ weight / weight.sum() * density(g)

    total = quad(given, 0, 80)[0] / quad(density, 0, 80)[0]
    found = ClassErrors(*np.array([[alpha], [1.0], [nu], [t]]))
    assert found.second_moment()[0] == pytest.approx(total, rel=1e-8)


# R 4: for (z in list(c(16e6,60), c(2000,500), c(16e6,3), c(4,1e3), c(16e6,3000)))
#        pt(-z[2], z[1], log.p = TRUE)
@pytest.mark.parametrize(
    ("freedom", "h", "log"),
    [
        (16e6, 60.0, -1804.81097857869),
        (2000.0, 500.0, -4840.99744162559),
        (16e6, 3.0, -6.60772468255841),
        (4.0, 1e3, -26.5324154939143),
        (16e6, 3000.0, -3570305.52319003),
    ],
)
def test_class_errors_have_the_log_tails_of_r(freedom, h, log):
    """Where the tail itself underflows."""
    found = with_freedom(freedom / 2, np.array([h]), 1e15)
    assert found.log_mean()[0] == pytest.approx(log, rel=1e-12)
