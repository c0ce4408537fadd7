"""Fits of calibration: logistic, least squares and splines are those of R and NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.validation.calibration_fits import (
    LeastSquaresFit,
    LogisticFit,
    knot_quantile_levels,
    spline_columns,
)

X, Y, _ = drawn()
LOGIT = np.log(foreign(X) / (1 - foreign(X)))
LINE = np.column_stack([np.ones(len(Y)), LOGIT])
ONES = np.ones(len(Y))


def test_logistic_fit_is_glm_and_its_sandwich():
    """Coefficients of val.prob, standard errors of the sandwich written out in R."""
    fit = LogisticFit.fit(LINE, Y, ONES)
    by_hand = RMS["by hand"]
    assert fit.coef == pytest.approx([RMS["val.prob"][n] for n in ("Intercept", "Slope")], abs=1e-7)
    errors = np.sqrt(np.diag(fit.covariance(np.arange(len(Y)))))
    assert errors == pytest.approx([by_hand["se.(Intercept)"], by_hand["se.lp"]], abs=1e-7)
    large = LogisticFit.fit(ONES[:, None], Y, ONES, LOGIT)
    assert large.coef[0] == pytest.approx(by_hand["large"], abs=1e-7)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_logistic_fit_weights_are_copies(seed):
    """A weight of 2 is the row twice; its members' sums are what the copies' sums are."""
    times = np.random.default_rng(seed).integers(1, 4, len(Y))
    twice = np.repeat(np.arange(len(Y)), times)
    weighted, copied = (
        LogisticFit.fit(LINE, Y, times.astype(float)),
        LogisticFit.fit(LINE[twice], Y[twice], np.ones(len(twice))),
    )
    np.testing.assert_allclose(weighted.coef, copied.coef, atol=1e-9)
    np.testing.assert_allclose(
        weighted.covariance(np.arange(len(Y))), copied.covariance(twice), atol=1e-9
    )


@pytest.mark.parametrize(
    ("columns", "y"),
    [
        (np.column_stack([np.ones(4), [1.0, 2, 3, 4]]), [0, 0, 1, 1]),
        (np.column_stack([np.ones(4), np.ones(4)]), [0, 1, 0, 1]),
        (np.column_stack([np.ones(4), [1.0, 2, np.inf, 4]]), [0, 1, 0, 1]),
    ],
    ids=["separated", "one column twice", "infinite"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logistic_fit_is_none_where_there_is_no_maximum(columns, y):
    assert LogisticFit.fit(columns, np.array(y, float), np.ones(4)) is None


RNG = np.random.default_rng(3)
WIDE = np.column_stack([np.ones(40), RNG.normal(size=40), 1e6 * RNG.normal(size=40)])
VALUES, W = RNG.normal(size=40), RNG.uniform(0.5, 2, 40)


def test_least_squares_fit_is_lstsq_and_its_sandwich():
    """Weighted, with an offset, of columns of very different size; equal columns have no fit.

    (XᵀWX)⁻¹ Σ_g s_g s_gᵀ (XᵀWX)⁻¹ G/(G − 1), s_g the sum of a member's w x r.
    """
    root, offset, members = np.sqrt(W), np.linspace(0, 1, 40), np.arange(40) // 4
    found = LeastSquaresFit.fit(WIDE, VALUES, W, offset)
    expected = np.linalg.lstsq(WIDE * root[:, None], (VALUES - offset) * root, rcond=None)[0]
    assert found.coef == pytest.approx(expected)
    found = LeastSquaresFit.fit(WIDE, VALUES, W)
    scores = WIDE * (W * (VALUES - WIDE @ found.coef))[:, None]
    summed = np.array([scores[members == g].sum(axis=0) for g in range(10)])
    bread = np.linalg.inv(WIDE.T @ (WIDE * W[:, None]))
    expected = bread @ summed.T @ summed @ bread * 10 / 9
    np.testing.assert_allclose(found.covariance(members), expected, rtol=1e-6)
    for columns in (WIDE[:, [0, 1, 1]], np.column_stack([WIDE, np.zeros(40)])):
        assert LeastSquaresFit.fit(columns, VALUES, W) is None


KNOTS = np.array([-1.0, 0.0, 0.5, 2.0])


def test_spline_columns_are_rcspline_eval():
    """Rscript -e 'library(Hmisc); rcspline.eval(c(-2,.3,1,3), knots=c(-1,0,.5,2))' of Hmisc 4.8.

    Second differences vanish beyond the outer knots, and nowhere inside; few rows have few knots.
    """
    found = spline_columns(np.array([-2.0, 0.3, 1.0, 3.0]), KNOTS)[:, 2:]
    first = [0.0, 0.2441111111, 0.8611111111, 3.75]
    second = [0.0, 0.003, 0.0925925926, 0.7222222222]
    assert found == pytest.approx(np.column_stack([first, second]), abs=1e-9)
    for place, straight in ((-3.0, True), (2.5, True), (1.0, False)):
        around = spline_columns(place + np.array([-0.1, 0.0, 0.1]), KNOTS)[:, 2]
        assert bool(abs(around[0] - 2 * around[1] + around[2]) < 1e-12) is straight
    assert (len(knot_quantile_levels(99)), len(knot_quantile_levels(100))) == (3, 4)
    assert spline_columns(np.arange(3.0), np.array([0.0, 1.0])).shape == (3, 2)
