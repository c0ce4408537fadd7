"""Logistic regression by Newton's steps is that of R, and knows when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.rms_data import RMS, drawn, foreign

from truerisk.validation.calibration_fits import LogisticFit

X, Y, _ = drawn()
LOGIT = np.log(foreign(X) / (1 - foreign(X)))
LINE = np.column_stack([np.ones(len(Y)), LOGIT])
ONES = np.ones(len(Y))


def test_it_is_glm_and_its_sandwich():
    """Coefficients of val.prob, standard errors of the sandwich written out in R."""
    fit = LogisticFit.of(LINE, Y, ONES)
    by_hand = RMS["by hand"]
    assert fit.coef == pytest.approx([RMS["val.prob"][n] for n in ("Intercept", "Slope")], abs=1e-7)
    errors = np.sqrt(np.diag(fit.covariance(np.arange(len(Y)))))
    assert errors == pytest.approx([by_hand["se.(Intercept)"], by_hand["se.lp"]], abs=1e-7)
    large = LogisticFit.of(ONES[:, None], Y, ONES, LOGIT)
    assert large.coef[0] == pytest.approx(by_hand["large"], abs=1e-7)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_weights_are_copies(seed):
    """A weight of 2 is the row twice; its members' sums are what the copies' sums are."""
    times = np.random.default_rng(seed).integers(1, 4, len(Y))
    twice = np.repeat(np.arange(len(Y)), times)
    weighted, copied = (
        LogisticFit.of(LINE, Y, times.astype(float)),
        LogisticFit.of(LINE[twice], Y[twice], np.ones(len(twice))),
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
def test_none_where_there_is_no_maximum(columns, y):
    """A maximum at infinity, or not in one place, is not found."""
    assert LogisticFit.of(columns, np.array(y, float), np.ones(4)) is None
