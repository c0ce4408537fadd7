"""Settings of a step that are read off one fit of it are what fits of their own give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from truerisk.engines.running.read_off import reading_of

STEPS = [
    (PCA(), [1, 2, 4, 5, 50, 0.5, None, "mle", np.int64(3)]),
    (PCA(svd_solver="full", whiten=True), [1, 3, 5]),
    (PCA(svd_solver="covariance_eigh"), [1, 3, 5]),
    (PCA(svd_solver="randomized", random_state=0), [1, 3, 5]),
    (SelectKBest(), [0, 1, 3, 5, 9, "all"]),
    (SelectPercentile(), [0, 10, 50.0, 100]),
    (SelectFpr(), [0.0, 0.3, 1.0]),
    (SelectFdr(), [0.01, 0.9]),
    (SelectFwe(), [0.01, 0.9]),
    (SelectFromModel(LogisticRegression()), ["mean", "0.5*median", 0.2, None]),
    (SelectFromModel(RandomForestClassifier(3, random_state=0), max_features=2), [0.1, "mean"]),
]


@pytest.mark.filterwarnings("ignore")  # of a step that keeps no column
@given(
    seed=st.integers(0, 2**31),
    case=st.sampled_from(STEPS),
    shape=st.sampled_from([(60, 5), (30, 5), (12, 40), (600, 61)]),
    single=st.booleans(),
    fortran=st.booleans(),
)
def test_what_is_read_off_is_what_a_fit_of_its_own_gives(seed, case, shape, single, fortran):
    """To the last bit: the table, and what is made of other rows."""
    step, values = case
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * rng.exponential(size=shape[1])
    X = np.asarray(X, dtype=np.float32 if single else np.float64, order="F" if fortran else "C")
    y, other = rng.permutation(np.arange(shape[0]) % 2), rng.normal(size=(7, shape[1]))
    reading = reading_of(step)
    at = reading.fitted_at(step, values, X)
    if at is None:
        assert "PCA" in repr(step)
        return
    widest = clone(step).set_params(**{reading.parameter: at})
    table = widest.fit_transform(X.copy(order="K"), y)
    for value in values:
        read = reading.read(widest, value, table)
        if read is None:
            continue
        own = clone(step).set_params(**{reading.parameter: value})
        expected = own.fit_transform(X.copy(order="K"), y)
        found, given_out = read
        given_out = found.transform(X.copy(order="K")) if given_out is None else given_out
        np.testing.assert_array_equal(given_out, expected)
        np.testing.assert_array_equal(found.transform(other), own.transform(other))
        assert repr(found.get_params()) == repr(own.get_params())
        if "PCA" in repr(step):
            np.testing.assert_allclose(found.noise_variance_, own.noise_variance_, rtol=1e-4)
            np.testing.assert_array_equal(found.singular_values_, own.singular_values_)


def test_what_depends_on_the_setting_is_not_read_off():
    """The randomised solver; a number of columns that is warned of; values of another kind."""
    X = np.random.default_rng(0).normal(size=(600, 61))
    assert reading_of(PCA()).fitted_at(PCA(), [2, 3], X) is None  # drawn for so many rows
    assert reading_of(PCA()).fitted_at(PCA(svd_solver="arpack"), [2, 3], X) is None
    best = SelectKBest(k=2).fit(X, np.arange(600) % 2)
    reading = reading_of(best)
    assert reading.read(best, 62, None) is None
    assert reading.read(best, True, None) is None
    assert reading.read(best, "all", None) is None
    assert reading.fitted_at(best, [99, 100], X) is None
    percentile = SelectPercentile().fit(X, np.arange(600) % 2)
    assert reading_of(percentile).read(percentile, 101, None) is None


def test_other_steps_and_kinds_of_these_are_fitted_for_each_setting():
    class Own(PCA):
        pass

    assert reading_of(StandardScaler()) is None
    assert reading_of(Own()) is None
