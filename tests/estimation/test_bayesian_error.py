"""`bayesian_error`: goldens, sampling of the whole posterior, and what it refuses."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import truerisk as tr
from truerisk.extend import BadData, Refusal

X = [(0, 0), (1, 2), (2, 1), (-1, 1), (3, 2), (2, 4), (4, 3)]
Y = ["a", "a", "a", "a", "b", "b", "b"]
RULE = [1.0, 0.5], -2.5


@pytest.mark.parametrize(
    ("prior", "minus", "plus", "value"),
    [
        ("improper", 0.071062179600, 0.017143853235, 0.047954325443),
        ("proper", 0.109990606765, 0.209572087443, 0.152668384198),
    ],
)
def test_bayesian_error_equals_the_golden_numbers(prior, minus, plus, value):
    found = tr.bayesian_error(*RULE, X, Y, prior=prior, standardize=False)
    assert found.per_class == pytest.approx((minus, plus), abs=5e-13)
    assert found.value == pytest.approx(value, abs=5e-13)
    assert found.log_value == pytest.approx(np.log(value))
    assert found.classes == ("a", "b")
    assert found.gamma == pytest.approx((4 / 7, 3 / 7))
    assert found.prior == prior


def test_interval_of_bayesian_error_belongs_to_its_distribution():
    found = tr.bayesian_error(*RULE, X, Y, standardize=False)
    interval = found.interval(0.9)
    assert found.cdf(interval.low) == pytest.approx(0.05)
    assert found.cdf(interval.high) == pytest.approx(0.95)
    assert (interval.method, interval.confidence_level) == ("credible", 0.9)


def test_bayesian_error_is_the_method_bee():
    from sklearn.linear_model import RidgeClassifier

    rows = np.array(X, dtype=float) * [1, 30]
    fitted = RidgeClassifier().fit(rows, Y)
    found = tr.bayesian_error(fitted.coef_, fitted.intercept_, rows, Y)
    estimate = tr.estimate_risk(RidgeClassifier(), rows, Y, cv="bee")
    assert estimate.value == pytest.approx(found.value, rel=1e-12)
    assert estimate.std_error == pytest.approx(found.std_error, rel=1e-12)
    sparse = tr.bayesian_error(fitted.coef_, fitted.intercept_, csr_matrix(rows), Y)
    assert sparse.value == pytest.approx(found.value)


def test_bayesian_error_of_several_classes_adds_up_by_class():
    """One score per class; errors by class add up to the pairwise error; no interval."""
    labels = [0, 0, 1, 1, 2, 2, 2]
    slopes = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    starts = np.array([0.0, -1.0, -4.0])
    found = tr.bayesian_error(slopes, starts, X, labels, standardize=False)
    shares = np.array([2, 2, 3]) / 7
    assert found.value == pytest.approx(shares @ found.per_class)
    raw = {"standardize": False}
    pair = tr.bayesian_error(slopes[1] - slopes[0], -1.0, X[:4], labels[:4], **raw)
    rest = tr.bayesian_error(slopes[2] - slopes[0], -4.0, X[:2] + X[4:], [0, 0, 2, 2, 2], **raw)
    assert found.per_class[0] == pytest.approx(pair.per_class[0] + rest.per_class[0])
    assert found.std_error is None
    for ask in (found.interval, lambda: found.cdf(0.1)):
        with pytest.raises(Refusal, match="stated for the pairwise error of 3 classes"):
            ask()


@pytest.mark.parametrize(
    ("rule", "options", "why"),
    [
        (([1.0], -2.5), {}, "1 features and X 2 columns"),
        (([1.0, np.nan], 0.0), {}, "finite"),
        (([[1.0, 2.0], [2.0, 1.0]], 0.0), {}, r"give 1 score\(s\)"),
        (RULE, {"prior": "uniform"}, "unknown"),
        (RULE, {"gamma": 1.5}, "no shares"),
        ((["a", 2.0], -2.5), {}, r"coef=\['a', 2.0\] holds no numbers"),
        (([1.0, 0.5], None), {}, "finite"),
        (([1.0, 0.5], "a"), {}, "intercept='a' holds no numbers"),
        (RULE, {"X": [*X[:-1], (np.nan, 1)]}, "NaN"),
    ],
)
def test_bayesian_error_refuses_bad_input(rule, options, why):
    with pytest.raises(BadData, match=why):
        tr.bayesian_error(*rule, **{"X": X, "y": Y, **options})
