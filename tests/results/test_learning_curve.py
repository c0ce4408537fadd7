"""The law of a learning curve: its posterior against sums over a grid, and what it refuses."""

import numpy as np
import pytest

from truerisk.extend import Refusal
from truerisk.results.learning_curve import MAX_EXPONENT, MIN_EXPONENT, N_EXPONENTS, PowerLaw

SIZES = np.array([10.0, 20.0, 40.0, 80.0, 160.0])
CORRELATED = 4e-4 * (0.6 + 0.4 * np.eye(5))


def by_a_grid(law: PowerLaw, n: float) -> tuple[float, float, float]:
    """Mean and 95 % interval of a + b n^-c by sums over a, b and c: flat in last risk and fall."""
    W, one, risks, weights = law._precision, np.ones(len(law.sizes)), [], []
    level = np.linspace(0.001, 0.3, 150)[:, None]
    fall = np.linspace(0.0, 0.6, 151)[None, :] + 0.002
    for c in np.linspace(MIN_EXPONENT, MAX_EXPONENT, N_EXPONENTS):
        x = (law.sizes / law.sizes[-1]) ** -c
        b = fall / (x[0] - 1)
        a = level - b
        r = law.values
        misfit = (
            r @ W @ r
            + a**2 * (one @ W @ one)
            + b**2 * (x @ W @ x)
            + 2 * a * b * (one @ W @ x)
            - 2 * a * (one @ W @ r)
            - 2 * b * (x @ W @ r)
        )
        weights.append(np.where(a >= 0, np.exp(-0.5 * misfit), 0).ravel())
        risks.append((a + b * (n / law.sizes[-1]) ** -c).ravel())
    risk, weight = np.concatenate(risks), np.concatenate(weights)
    order = np.argsort(risk)
    below = np.cumsum(weight[order]) / weight.sum()
    low, high = (risk[order][np.searchsorted(below, tail)] for tail in (0.025, 0.975))
    return float(risk @ weight / weight.sum()), float(low), float(high)


@pytest.mark.parametrize("n", [10, 50, 160, 640])
@pytest.mark.parametrize(
    "values",
    [0.1 + 1 / SIZES, np.full(5, 0.15), 0.8 * SIZES**-0.5, np.array([0.1, 0.11, 0.11, 0.12, 0.12])],
    ids=["falls", "flat", "to nothing", "rises a little"],
)
def test_power_law_posterior_is_that_of_sums_over_a_grid(values, n):
    law = PowerLaw(SIZES, values, CORRELATED, 0.0)
    mean, low, high = by_a_grid(law, n)
    assert law.mean(n) == pytest.approx(mean, abs=2e-3)
    assert law.interval(n, 0.95) == pytest.approx((low, high), abs=3e-3)


def test_power_law_finds_its_parameters():
    law = PowerLaw(SIZES, 0.12 + 0.9 * SIZES**-0.75, CORRELATED / 1e4, 0.0)
    assert (law.a, law.b, law.c) == pytest.approx((0.12, 0.9, 0.75), abs=0.02)


def test_power_law_keeps_the_bounds_of_a_and_b():
    """The least loss bounds a, and 0 b; without a least loss a may be negative."""
    falling, rising = 1 - 0.12 * np.log(SIZES), 0.1 + 0.001 * np.arange(5)
    assert PowerLaw(SIZES, falling - 0.4, CORRELATED, 0.0).a >= 0
    assert PowerLaw(SIZES, falling - 0.4, CORRELATED, None).a < -0.05
    assert PowerLaw(SIZES, rising, CORRELATED, 0.0).b >= 0
    assert PowerLaw(SIZES, np.zeros(5), CORRELATED, 0.0).interval(640, 0.95)[0] >= 0


def test_power_law_interval_grows_with_the_distance():
    widths = [
        np.ptp(PowerLaw(SIZES, 0.1 + 2 / SIZES, CORRELATED / 9, 0.0).interval(n, 0.95))
        for n in (80, 160, 320, 640)
    ]
    assert widths == sorted(widths)


def test_power_law_is_not_pulled_by_lucky_sizes():
    """Sizes whose variance is small by chance: the law stays among the risks.

    With the variances as they are it would lie below all of them, since the risks are correlated.
    """
    values = np.array([0.20, 0.21, 0.17, 0.20, 0.16])
    spread = np.sqrt(values * (1 - values) / 100) * np.array([1.0, 1.0, 0.8, 1.0, 0.7])
    covariance = np.outer(spread, spread) * (0.8 + 0.2 * np.eye(5))
    assert PowerLaw(SIZES, values, covariance, 0.0).mean(160) > 0.17


@pytest.mark.parametrize(
    "values", [0.1 + 1 / SIZES, 0.8 * SIZES**-0.5, np.array([0.3, 0.22, 0.2, 0.18, 0.18])]
)
def test_power_law_in_one_line_is_the_forecast(values):
    """One line gives the expected risk at the largest size and twice it, and nearly elsewhere."""
    law = PowerLaw(SIZES, values, CORRELATED, 0.0)
    for n in (160.0, 320.0):
        assert law.a + law.b * n**-law.c == pytest.approx(law.mean(n), abs=1e-9)
    for n in (10.0, 40.0, 640.0):
        assert law.a + law.b * n**-law.c == pytest.approx(law.mean(n), abs=0.01)
    score = PowerLaw(SIZES, values, CORRELATED, 0.0, perfect=1.0)
    assert (score.a, score.b, score.c) == (1 - law.a, law.b, law.c)
    assert score.a - score.b * 160**-score.c == pytest.approx(1 - law.mean(160.0), abs=1e-9)


@pytest.mark.parametrize(
    ("values", "perfect", "said"),
    [
        ([0.2, 0.21, 0.25, 0.3, 0.32], None, r"rises from 0\.2 at 10 rows to 0\.32 at 160"),
        ([0.2, 0.21, 0.25, 0.3, 0.32], 1.0, r"a - b n\^-c .* falls from 0\.8 at 10 rows to 0\.68"),
        ([0.5, 0.5, 0.5, 0.5, 0.1], None, "it falls, but not by a power law"),
    ],
)
def test_power_law_refuses_a_curve_that_rises_by_more_than_chance(values, perfect, said):
    """An AUC that falls is a risk that rises."""
    more = {} if perfect is None else {"perfect": perfect}
    with pytest.raises(Refusal, match=said):
        PowerLaw(SIZES, np.array(values), np.eye(5) * 1e-4, 0.0, **more).check()
    PowerLaw(SIZES, np.array([0.2, 0.21, 0.2, 0.22, 0.21]), np.eye(5) * 1e-4, 0.0).check()
